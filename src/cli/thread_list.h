/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads as people name them: "1,3-5". */
#ifndef LOCI_CLI_THREAD_LIST_H
#define LOCI_CLI_THREAD_LIST_H

#include "profile/profile.h"

/* Their ids, ascending, each once. Says what is wrong with the text, and names the threads there
 * are where one is not among them. Free *ret. */
int loci_thread_list(const struct loci_profile *profile, const char *text, int64_t **ret,
	size_t *ret_n, struct loci_err *err);

#endif
