// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/lines.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define BYTES_MAX (64 << 20)

static int read_all(int fd, char *text, size_t n)
{
	size_t done = 0;

	while (done < n) {
		ssize_t got = read(fd, text + done, n - done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			break;
		done += (size_t)got;
	}
	memset(text + done, 0, n + 1 - done);
	return 0;
}

static int split(struct loci_lines *lines, size_t bytes)
{
	size_t n = 1;

	for (size_t i = 0; i < bytes; i++)
		n += lines->text[i] == '\n';
	lines->line = calloc(n, sizeof(*lines->line));
	if (!lines->line)
		return -ENOMEM;
	for (char *s = lines->text, *end = lines->text + bytes; s < end;) {
		char *newline = memchr(s, '\n', (size_t)(end - s));

		lines->line[lines->n++] = s;
		if (!newline)
			break;
		*newline = '\0';
		if (newline > s && newline[-1] == '\r')
			newline[-1] = '\0';
		s = newline + 1;
	}
	return 0;
}

int loci_lines_read(const char *path, struct loci_lines *ret)
{
	loci_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	int r;

	*ret = (struct loci_lines){ 0 };
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	if (st.st_size > BYTES_MAX)
		return -EFBIG;
	ret->text = malloc((size_t)st.st_size + 1);
	if (!ret->text)
		return -ENOMEM;
	ret->changed = st.st_mtime;
	r = read_all(fd, ret->text, (size_t)st.st_size);
	if (r == 0)
		r = split(ret, (size_t)st.st_size);
	if (r < 0)
		loci_lines_fini(ret);
	return r;
}

void loci_lines_fini(struct loci_lines *lines)
{
	free(lines->text);
	free(lines->line);
	*lines = (struct loci_lines){ 0 };
}

const char *loci_lines_at(const struct loci_lines *lines, unsigned number)
{
	return number && number <= lines->n ? lines->line[number - 1] : NULL;
}
