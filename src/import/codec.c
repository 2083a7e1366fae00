// SPDX-License-Identifier: GPL-2.0-or-later
/* Plain, gzip (zlib) and zstd input behind one read call. Several members or frames in a row count
 * as one stream, as gzip -d and zstd -d take them; zeros after the last gzip member are padding. */
#include "import/codec.h"
#include "base/cleanup.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#define CODEC_BYTES (256 << 10) /* compressed bytes taken at a time */
#define PEEK_BYTES  4           /* enough for every magic */

struct codec_kind {
	const char *name;
	unsigned char magic[PEEK_BYTES], mask[PEEK_BYTES];
	int (*start)(struct loci_codec *codec, struct loci_err *err);
	/* Turns some of in[pos..end) into bytes; 0 with *ret_size 0 means that it needs more. */
	int (*step)(struct loci_codec *codec, void *data, size_t size, size_t *ret_size,
		struct loci_err *err);
	void (*stop)(struct loci_codec *codec);
};

struct loci_codec {
	const struct codec_kind *kind;
	const char *name;
	int fd;
	uint64_t taken;
	bool eof;     /* of fd */
	bool between; /* between members or frames: the input may end here */
	z_stream gzip;
	ZSTD_DStream *zstd;
	size_t pos, end;
	unsigned char in[CODEC_BYTES];
};

static int take(
	struct loci_codec *codec, void *data, size_t size, size_t *ret_size, struct loci_err *err)
{
	ssize_t n = read(codec->fd, data, size);

	if (n < 0 && errno == EINTR)
		return -EINTR;
	if (n < 0)
		return loci_err_set(err, errno, "cannot read %s: %s", codec->name, strerror(errno));
	codec->taken += (uint64_t)n;
	codec->eof = n == 0;
	*ret_size = (size_t)n;
	return 0;
}

static int damaged(struct loci_codec *codec, const char *why, struct loci_err *err)
{
	return loci_err_set(err, EBADMSG, "%s: the %s data is damaged before byte %llu: %s",
		codec->name, codec->kind->name,
		(unsigned long long)(codec->taken - (codec->end - codec->pos)), why);
}

static int plain_step(
	struct loci_codec *codec, void *data, size_t size, size_t *ret_size, struct loci_err *err)
{
	size_t n = codec->end - codec->pos;

	if (n > size)
		n = size;
	memcpy(data, codec->in + codec->pos, n);
	codec->pos += n;
	*ret_size = n;
	return 0;
}

static int gzip_start(struct loci_codec *codec, struct loci_err *err)
{
	return inflateInit2(&codec->gzip, 15 + 16) == Z_OK ? 0 : loci_err_nomem(err);
}

static int gzip_step(
	struct loci_codec *codec, void *data, size_t size, size_t *ret_size, struct loci_err *err)
{
	z_stream *z = &codec->gzip;
	int r;

	if (codec->between)
		while (codec->pos < codec->end && !codec->in[codec->pos])
			codec->pos++;
	*ret_size = 0;
	if (codec->pos == codec->end)
		return 0;
	if (codec->between && inflateReset(z) != Z_OK)
		return loci_err_nomem(err);
	codec->between = false;
	z->next_in = codec->in + codec->pos;
	z->avail_in = (uInt)(codec->end - codec->pos);
	z->next_out = data;
	z->avail_out = size < UINT32_MAX ? (uInt)size : UINT32_MAX;
	r = inflate(z, Z_NO_FLUSH);
	codec->pos = codec->end - z->avail_in;
	*ret_size = (size_t)(z->next_out - (unsigned char *)data);
	if (r == Z_STREAM_END)
		codec->between = true;
	else if (r == Z_MEM_ERROR)
		return loci_err_nomem(err);
	else if (r != Z_OK && r != Z_BUF_ERROR)
		return damaged(codec, z->msg ? z->msg : "not gzip", err);
	return 0;
}

static void gzip_stop(struct loci_codec *codec)
{
	inflateEnd(&codec->gzip);
}

static int zstd_start(struct loci_codec *codec, struct loci_err *err)
{
	codec->zstd = ZSTD_createDStream();
	return codec->zstd ? 0 : loci_err_nomem(err);
}

static int zstd_step(
	struct loci_codec *codec, void *data, size_t size, size_t *ret_size, struct loci_err *err)
{
	ZSTD_inBuffer in = { codec->in, codec->end, codec->pos };
	ZSTD_outBuffer out = { data, size, 0 };
	size_t r;

	if (codec->between && codec->pos == codec->end) {
		*ret_size = 0;
		return 0;
	}
	r = ZSTD_decompressStream(codec->zstd, &out, &in);
	codec->pos = in.pos;
	*ret_size = out.pos;
	if (ZSTD_getErrorCode(r) == ZSTD_error_frameParameter_windowTooLarge)
		return loci_err_set(err, ENOMEM,
			"%s needs more than 128 MiB to decompress; if it is no forgery, zstd -d "
			"--long=31 -c %s | loci analyse - reads it",
			codec->name, codec->name);
	if (ZSTD_isError(r))
		return damaged(codec, ZSTD_getErrorName(r), err);
	codec->between = r == 0;
	return 0;
}

static void zstd_stop(struct loci_codec *codec)
{
	ZSTD_freeDStream(codec->zstd);
}

static const struct codec_kind kinds[] = {
	{ "gzip", { 0x1f, 0x8b, 0x08 }, { 0xff, 0xff, 0xff }, gzip_start, gzip_step, gzip_stop },
	{ "zstd", { 0x28, 0xb5, 0x2f, 0xfd }, { 0xff, 0xff, 0xff, 0xff }, zstd_start, zstd_step,
		zstd_stop },
	/* A skippable frame, which zstd's seekable and parallel writers put first. */
	{ "zstd", { 0x50, 0x2a, 0x4d, 0x18 }, { 0xf0, 0xff, 0xff, 0xff }, zstd_start, zstd_step,
		zstd_stop },
	{ NULL, { 0 }, { 0 }, NULL, plain_step, NULL }, /* matches everything */
};

static bool matches(const struct codec_kind *kind, const struct loci_codec *codec)
{
	for (unsigned i = 0; i < PEEK_BYTES; i++)
		if ((codec->in[i] & kind->mask[i]) != kind->magic[i])
			return false;
	return true;
}

int loci_codec_open(int fd, const char *name, struct loci_codec **ret, struct loci_err *err)
{
	struct loci_codec *codec = calloc(1, sizeof(*codec));
	int r = 0;

	if (!codec)
		return loci_err_nomem(err);
	codec->fd = fd;
	codec->name = name;
	while (codec->end < PEEK_BYTES && !codec->eof) {
		size_t n = 0;

		r = take(codec, codec->in + codec->end, CODEC_BYTES - codec->end, &n, err);
		if (r < 0) {
			free(codec);
			return r == -EINTR ? loci_err_set(err, EINTR, "interrupted") : r;
		}
		codec->end += n;
	}
	codec->kind = kinds;
	while (!matches(codec->kind, codec))
		codec->kind++;
	if (codec->kind->start)
		r = codec->kind->start(codec, err);
	if (r < 0) {
		free(codec);
		return r;
	}
	*ret = codec;
	return 0;
}

void loci_codec_close(struct loci_codec *codec)
{
	if (!codec)
		return;
	if (codec->kind->stop)
		codec->kind->stop(codec);
	free(codec);
}

static int refill(struct loci_codec *codec, struct loci_err *err)
{
	codec->pos = codec->end = 0;
	return take(codec, codec->in, CODEC_BYTES, &codec->end, err);
}

ssize_t loci_codec_read(struct loci_codec *codec, void *data, size_t size, struct loci_err *err)
{
	for (;;) {
		size_t n = 0;
		int r;

		/* Plain bytes need no copy through our buffer once what was peeked at is gone. */
		if (!codec->kind->name && codec->pos == codec->end) {
			r = codec->eof ? 0 : take(codec, data, size, &n, err);
			return r < 0 ? r : (ssize_t)n;
		}
		r = codec->kind->step(codec, data, size, &n, err);
		if (r < 0)
			return r;
		if (n)
			return (ssize_t)n;
		if (codec->pos < codec->end)
			continue;
		if (!codec->eof)
			r = refill(codec, err);
		if (r < 0)
			return r;
		if (codec->eof && codec->between)
			return 0;
		if (codec->eof)
			return loci_err_set(err, EBADMSG,
				"%s: the %s data ends too early, after %llu bytes: the file is "
				"truncated",
				codec->name, codec->kind->name, (unsigned long long)codec->taken);
	}
}

const char *loci_codec_name(const struct loci_codec *codec)
{
	return codec->kind->name;
}

uint64_t loci_codec_taken(const struct loci_codec *codec)
{
	return codec->taken;
}
