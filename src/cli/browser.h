/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Browsers: one to show a page to the user, one to draw a picture of it. */
#ifndef LOCI_CLI_BROWSER_H
#define LOCI_CLI_BROWSER_H

#include "base/err.h"

/* Asks the desktop to show it, and does not wait. */
int loci_browser_open(const char *url, struct loci_err *err);

/* A picture of a page, by a Chromium that shows no window. Paths are of files. */
int loci_browser_picture(const char *page, const char *png, struct loci_err *err);

#endif
