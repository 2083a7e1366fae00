/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/source_text.h"

#include "base/cleanup.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

struct loci_source_file {
	char *name;
	char *text; /* its newlines are zeros now; NULL: not to be had */
	const char **lines;
	size_t n_lines;
};

static void file_free(struct loci_source_file *file)
{
	if (!file)
		return;
	free(file->name);
	free(file->text);
	free(file->lines);
	free(file);
}

void loci_source_text_fini(struct loci_source_text *sources)
{
	for (size_t i = 0; i < sources->cap; i++)
		file_free(sources->files[i]);
	free(sources->files);
	memset(sources, 0, sizeof(*sources));
}

static size_t place(const struct loci_source_text *sources, const char *name)
{
	size_t h = 5381, at;

	for (const char *c = name; *c; c++)
		h = h * 33 + (unsigned char)*c;
	for (at = h & (sources->cap - 1); sources->files[at]; at = (at + 1) & (sources->cap - 1))
		if (!strcmp(sources->files[at]->name, name))
			break;
	return at;
}

static int grow(struct loci_source_text *sources)
{
	struct loci_source_text larger = *sources;

	larger.cap = sources->cap ? sources->cap * 2 : 64;
	larger.files = calloc(larger.cap, sizeof(struct loci_source_file *));
	if (!larger.files)
		return -1;
	for (size_t i = 0; i < sources->cap; i++)
		if (sources->files[i])
			larger.files[place(&larger, sources->files[i]->name)] = sources->files[i];
	free(sources->files);
	*sources = larger;
	return 0;
}

static char *read_all(const char *name, size_t bytes_max, size_t *ret_bytes)
{
	/* Nonblocking: a name in debug information may be that of a pipe. */
	loci_autoclose int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	char *text;
	size_t n = 0;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size < 0 ||
		(size_t)st.st_size > bytes_max)
		return NULL;
	text = malloc((size_t)st.st_size + 1);
	while (text && n < (size_t)st.st_size) {
		ssize_t got = read(fd, text + n, (size_t)st.st_size - n);

		if (got <= 0)
			break;
		n += (size_t)got;
	}
	if (text)
		text[n] = '\0';
	*ret_bytes = n;
	return text;
}

static int split(struct loci_source_file *file, size_t bytes)
{
	size_t n = 0;

	for (size_t i = 0; i < bytes; i++)
		n += file->text[i] == '\n';
	n += bytes && file->text[bytes - 1] != '\n';
	file->lines = malloc((n ? n : 1) * sizeof(*file->lines));
	if (!file->lines)
		return -1;
	for (size_t at = 0; at < bytes;) {
		char *end = memchr(file->text + at, '\n', bytes - at);
		size_t length = end ? (size_t)(end - file->text) - at : bytes - at;

		file->lines[file->n_lines++] = file->text + at;
		file->text[at + length] = '\0';
		if (length && file->text[at + length - 1] == '\r')
			file->text[at + length - 1] = '\0';
		at += length + 1;
	}
	return 0;
}

static struct loci_source_file *load(struct loci_source_text *sources, const char *name)
{
	struct loci_source_file *file = calloc(1, sizeof(*file));
	size_t bytes = 0;

	if (!file)
		return NULL;
	file->name = strdup(name);
	if (!file->name) {
		free(file);
		return NULL;
	}
	file->text = read_all(name, LOCI_SOURCE_BYTES_MAX - sources->bytes, &bytes);
	if (file->text && split(file, bytes) < 0) {
		file_free(file);
		return NULL;
	}
	if (file->text)
		sources->bytes += bytes;
	return file;
}

const char *loci_source_text_line(struct loci_source_text *sources, const char *file, unsigned line)
{
	struct loci_source_file *found;
	size_t at;

	if (!file || !line || (sources->n * 2 >= sources->cap && grow(sources) < 0))
		return NULL;
	at = place(sources, file);
	if (!sources->files[at]) {
		sources->files[at] = load(sources, file);
		if (!sources->files[at])
			return NULL;
		sources->n++;
	}
	found = sources->files[at];
	return line <= found->n_lines ? found->lines[line - 1] : NULL;
}
