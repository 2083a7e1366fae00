// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

int loci_err_set(struct loci_err *err, int code, const char *fmt, ...)
{
	va_list args;

	if (err && !err->text[0]) {
		va_start(args, fmt);
		vsnprintf(err->text, sizeof(err->text), fmt, args);
		va_end(args);
	}
	return -code;
}

int loci_err_nomem(struct loci_err *err)
{
	return loci_err_set(err, ENOMEM, "out of memory");
}
