/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bytes of a foreign trace, decompressed, in one large buffer that parsers read in place. */
#ifndef LOCI_IMPORT_INPUT_H
#define LOCI_IMPORT_INPUT_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOCI_INPUT_BYTES (1u << 20) /* also the longest line */
#define LOCI_INPUT_PAD   64         /* bytes that may be read before and after the buffer */

struct loci_codec;

struct loci_input {
	char *data;      /* LOCI_INPUT_BYTES, padded on both sides */
	size_t pos, end; /* data[pos..end) is not used up yet */
	uint64_t offset; /* of data[0] in the decompressed input */
	bool eof;        /* nothing follows data[end] */
	const char *name;
	/* Private. */
	int fd;
	struct loci_codec *codec;
	uint64_t total; /* bytes of the file, 0: unknown */
	int64_t start;  /* where in the file we began */
	int failed;     /* an error kept back */
	struct loci_err err;
	char *name_buf;
	void *memory;
};

/* Opens path ("-" is standard input) and reads the first bytes. An empty file and a directory are
 * errors. */
int loci_input_open(const char *path, struct loci_input **ret, struct loci_err *err);
void loci_input_close(struct loci_input *input); /* NULL allowed */

/* Moves what is unused to the front and reads on until the buffer is full or the input ends. An
 * error is kept back until everything before it has been given. */
int loci_input_more(struct loci_input *input, struct loci_err *err);

void loci_input_progress(const struct loci_input *input, uint64_t *ret_done, uint64_t *ret_total);

/* Gives the descriptor of a file with the same bytes, positioned at its start: the file itself
 * where that will do, else (a pipe, compressed) an unnamed temporary one. The caller owns it; the
 * input is good only for closing afterwards. */
int loci_input_take_fd(struct loci_input *input, int *ret_fd, struct loci_err *err);

#endif
