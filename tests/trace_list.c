// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes a trace down as text:	trace_list TRACE */
#include "stream_listing.h"

#include "stream/trace.h"

#include <fcntl.h>

int main(int argc, char **argv)
{
	struct loci_source *source = NULL;
	struct loci_err err = { 0 };
	int fd = argc == 2 ? open(argv[1], O_RDONLY) : -1, r = -1;

	if (fd >= 0 && loci_trace_open_fd(fd, argv[1], &source, &err) == 0)
		r = listing_source(stdout, source, 4096, &err);
	if (r < 0)
		fprintf(stderr, "trace_list: %s\n", err.text);
	if (source)
		loci_source_close(source);
	return r < 0;
}
