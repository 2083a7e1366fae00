/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One page over HTTP, on the loopback interface and nowhere else, at a path that nobody can guess.
 * A request is read up to its empty line and answered; anything but a GET of that path by the name
 * of this machine is refused. Slow and silent clients are dropped and never keep others waiting. */
#ifndef LOCI_CLI_SERVE_H
#define LOCI_CLI_SERVE_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

#define LOCI_SERVE_TOKEN 32 /* hexadecimal digits */

struct loci_server {
	int fd;        /* listens */
	uint16_t port; /* chosen by the system */
	char token[LOCI_SERVE_TOKEN + 1];
	const char *page; /* borrowed */
	size_t length;
};

/* fd is -1 after a failure. */
int loci_server_open(
	struct loci_server *server, const char *page, size_t length, struct loci_err *err);
void loci_server_close(struct loci_server *server);
/* Until stop_fd is readable. */
int loci_server_run(struct loci_server *server, int stop_fd, struct loci_err *err);

#endif
