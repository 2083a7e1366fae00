// SPDX-License-Identifier: GPL-2.0-or-later
#include "import/input.h"
#include "base/cleanup.h"
#include "import/codec.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

static int open_file(struct loci_input *input, const char *path, struct loci_err *err)
{
	bool is_stdin = !strcmp(path, "-");
	struct stat st;

	input->name = input->name_buf = strdup(is_stdin ? "standard input" : path);
	if (!input->name)
		return loci_err_nomem(err);
	input->fd = is_stdin ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
			     : open(path, O_RDONLY | O_CLOEXEC);
	if (input->fd < 0)
		return loci_err_set(err, errno, "cannot open %s: %s", input->name, strerror(errno));
	if (fstat(input->fd, &st) < 0)
		return loci_err_set(err, errno, "cannot read %s: %s", input->name, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return loci_err_set(
			err, EISDIR, "%s is a directory; give a trace file", input->name);
	if (S_ISREG(st.st_mode) && st.st_size > 0) {
		off_t at = lseek(input->fd, 0, SEEK_CUR);

		input->start = at > 0 && at < st.st_size ? at : 0;
		input->total = (uint64_t)(st.st_size - input->start);
	}
	return 0;
}

int loci_input_open(const char *path, struct loci_input **ret, struct loci_err *err)
{
	struct loci_input *input = calloc(1, sizeof(*input));
	int r;

	if (!input)
		return loci_err_nomem(err);
	input->fd = -1;
	/* Zeroed, so that what a parser sees of the padding is defined. */
	input->memory = calloc(1, LOCI_INPUT_BYTES + 2 * LOCI_INPUT_PAD);
	r = input->memory ? open_file(input, path, err) : loci_err_nomem(err);
	if (r == 0) {
		input->data = (char *)input->memory + LOCI_INPUT_PAD;
		r = loci_codec_open(input->fd, input->name, &input->codec, err);
	}
	if (r == 0)
		r = loci_input_more(input, err);
	if (r == 0 && !input->end)
		r = loci_err_set(err, ENODATA, "%s is empty", input->name);
	if (r < 0) {
		loci_input_close(input);
		return r;
	}
	*ret = input;
	return 0;
}

void loci_input_close(struct loci_input *input)
{
	if (!input)
		return;
	loci_codec_close(input->codec);
	if (input->fd >= 0)
		close(input->fd);
	free(input->name_buf);
	free(input->memory);
	free(input);
}

int loci_input_more(struct loci_input *input, struct loci_err *err)
{
	size_t kept = input->end - input->pos;

	memmove(input->data, input->data + input->pos, kept);
	input->offset += input->pos;
	input->pos = 0;
	input->end = kept;
	while (!input->eof && !input->failed && input->end < LOCI_INPUT_BYTES) {
		ssize_t n = loci_codec_read(input->codec, input->data + input->end,
			LOCI_INPUT_BYTES - input->end, &input->err);

		if (n == -EINTR && input->end > kept)
			return 0; /* what came before the signal first */
		if (n == -EINTR)
			return loci_err_set(err, EINTR, "interrupted");
		if (n < 0)
			input->failed = (int)n;
		else
			input->end += (size_t)n;
		input->eof = n == 0;
	}
	if (input->failed && input->end == kept)
		return loci_err_set(err, -input->failed, "%s", input->err.text);
	return 0;
}

void loci_input_progress(const struct loci_input *input, uint64_t *ret_done, uint64_t *ret_total)
{
	uint64_t waiting = loci_codec_name(input->codec) ? 0 : input->end - input->pos;

	*ret_done = loci_codec_taken(input->codec) - waiting;
	*ret_total = input->total;
}

static int write_all(int fd, const char *data, size_t size)
{
	while (size) {
		ssize_t n = write(fd, data, size);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0) {
			data += n;
			size -= (size_t)n;
		}
	}
	return 0;
}

/* A temporary file without a name. */
static int open_temporary(const char *dir)
{
	loci_autofree char *path = NULL;
	int fd;

	if (asprintf(&path, "%s/loci-XXXXXX", dir) < 0) {
		path = NULL;
		errno = ENOMEM;
		return -1;
	}
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

static int spool(struct loci_input *input, int *ret_fd, struct loci_err *err)
{
	const char *dir = getenv("TMPDIR");
	loci_autoclose int fd = -1;
	int r;

	if (!dir || !*dir)
		dir = "/tmp";
	fd = open_temporary(dir);
	if (fd < 0)
		return loci_err_set(err, errno,
			"cannot create a temporary file in %s for %s: %s (TMPDIR names another "
			"place)",
			dir, input->name, strerror(errno));
	do {
		r = write_all(fd, input->data + input->pos, input->end - input->pos);
		if (r < 0)
			return loci_err_set(err, -r,
				"cannot write a temporary file in %s for %s: %s (TMPDIR names "
				"another place)",
				dir, input->name, strerror(-r));
		input->pos = input->end;
		r = loci_input_more(input, err);
		if (r < 0)
			return r;
	} while (input->end);
	if (lseek(fd, 0, SEEK_SET) < 0)
		return loci_err_set(
			err, errno, "cannot read a temporary file in %s: %s", dir, strerror(errno));
	*ret_fd = fd;
	fd = -1;
	return 0;
}

int loci_input_take_fd(struct loci_input *input, int *ret_fd, struct loci_err *err)
{
	if (loci_codec_name(input->codec) || lseek(input->fd, input->start, SEEK_SET) < 0)
		return spool(input, ret_fd, err);
	*ret_fd = input->fd;
	input->fd = -1;
	return 0;
}
