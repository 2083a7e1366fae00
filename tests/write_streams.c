// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes the streams of watched_streams.h as traces, DIR/00.trace and so on, and their names:
 *
 *	write_streams DIR */
#include "watched_streams.h"

#include "stream/trace.h"

static int write_stream(const char *path, struct loci_err *err)
{
	struct memory memory = { .source = { .ops = &memory_ops,
					 .info = { .version = LOCI_STREAM_VERSION } } };
	struct loci_trace_writer *writer = NULL;
	static uint64_t words[4096];
	ssize_t n;
	int r = loci_trace_create(path, &memory.source.info, &writer, err);

	while (r == 0 && (n = memory_read(&memory.source, words, 4096, err)) > 0)
		r = loci_trace_write(writer, words, (size_t)n, err);
	if (r == 0)
		return loci_trace_close(writer, err);
	loci_trace_free(writer);
	return r;
}

int main(int argc, char **argv)
{
	for (unsigned i = 0; argc == 2 && i < STREAMS; i++) {
		struct loci_err err = { "" };
		char path[4096];

		printf("%02u %s\n", i, make(i));
		snprintf(path, sizeof(path), "%s/%02u.trace", argv[1], i);
		if (write_stream(path, &err) < 0) {
			fprintf(stderr, "write_streams: %s\n", err.text);
			return 1;
		}
	}
	return argc == 2 ? 0 : 2;
}
