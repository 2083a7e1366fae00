/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compressed input: from a file descriptor to plain bytes, recognised by its first bytes. */
#ifndef LOCI_IMPORT_CODEC_H
#define LOCI_IMPORT_CODEC_H

#include "base/err.h"

#include <stdint.h>
#include <sys/types.h>

struct loci_codec;

/* Reads the first bytes of fd to see what it is. The codec does not own fd; name (borrowed) is for
 * messages. */
int loci_codec_open(int fd, const char *name, struct loci_codec **ret, struct loci_err *err);
void loci_codec_close(struct loci_codec *codec); /* NULL allowed */

/* Fills at most size bytes; returns how many, 0 at the end, or -errno. Compressed input that ends
 * too early is an error. After -EINTR (a signal came) the call may be repeated. */
ssize_t loci_codec_read(struct loci_codec *codec, void *data, size_t size, struct loci_err *err);

/* "gzip", "zstd", or NULL where the bytes are as they are. */
const char *loci_codec_name(const struct loci_codec *codec);

/* Bytes taken from fd so far. */
uint64_t loci_codec_taken(const struct loci_codec *codec);

#endif
