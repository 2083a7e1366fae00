/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Errors a person must understand. The deepest function that knows the cause fills the struct
 * once; everyone above passes it on; only src/cli prints it. Functions return 0 or -errno. */
#ifndef LOCI_BASE_ERR_H
#define LOCI_BASE_ERR_H

struct loci_err {
	char text[1024]; /* what, where and what to do; no trailing newline; "" when unset */
};

/* Fills err (NULL is allowed) unless it is filled already, and returns -code, so that
 * `return loci_err_set(err, EINVAL, "...")` reads well. */
int loci_err_set(struct loci_err *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The same for allocation failure. */
int loci_err_nomem(struct loci_err *err);

#endif
