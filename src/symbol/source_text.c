/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/source_text.h"

#include "base/cleanup.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#define PART_LINES 256
#define READ_BYTES 65536

/* So many lines, the last part fewer. */
struct part {
	uint64_t begin, end; /* in the file */
	char *text;          /* its newlines are zeros then; NULL: not yet asked for */
	const char **lines;
};

struct loci_source_file {
	char *name;
	struct stat was; /* when its lines were counted */
	struct part *parts;
	size_t n_parts;
	size_t n_lines;
};

static void file_free(struct loci_source_file *file)
{
	if (!file)
		return;
	for (size_t i = 0; i < file->n_parts; i++) {
		free(file->parts[i].text);
		free(file->parts[i].lines);
	}
	free(file->parts);
	free(file->name);
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

/* Of a regular file; else -1. */
static int open_file(const char *name, struct stat *ret)
{
	/* Nonblocking: a name in debug information may be that of a pipe. */
	int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0 || (fstat(fd, ret) == 0 && S_ISREG(ret->st_mode) && ret->st_size >= 0))
		return fd;
	close(fd);
	return -1;
}

static int begin_part(struct loci_source_file *file, uint64_t at)
{
	size_t n = file->n_parts;

	if ((n & (n - 1)) == 0) {
		void *parts = realloc(file->parts, (n ? 2 * n : 1) * sizeof(struct part));

		if (!parts)
			return -1;
		file->parts = parts;
	}
	file->parts[file->n_parts++] = (struct part){ .begin = at, .end = at };
	return 0;
}

/* The lines that begin in so many bytes; *in_line: one goes on. */
static int count_lines(
	struct loci_source_file *file, const char *text, size_t bytes, uint64_t at, bool *in_line)
{
	for (size_t i = 0; i < bytes;) {
		const char *end = memchr(text + i, '\n', bytes - i);

		if (!*in_line) {
			if (file->n_lines % PART_LINES == 0 && begin_part(file, at + i) < 0)
				return -1;
			file->n_lines++;
		}
		*in_line = !end;
		i = end ? (size_t)(end - text) + 1 : bytes;
		file->parts[file->n_parts - 1].end = at + i;
	}
	return 0;
}

/* Where the parts are. 0, or -1: no memory. */
static int divide(struct loci_source_file *file)
{
	loci_autoclose int fd = open_file(file->name, &file->was);
	loci_autofree char *text = NULL;
	bool in_line = false;
	uint64_t at = 0;
	ssize_t got;

	if (fd < 0 || (uint64_t)file->was.st_size > LOCI_SOURCE_BYTES_MAX)
		return 0;
	text = malloc(READ_BYTES);
	if (!text)
		return -1;
	while ((got = read(fd, text, READ_BYTES)) > 0) {
		if (count_lines(file, text, (size_t)got, at, &in_line) < 0)
			return -1;
		at += (uint64_t)got;
	}
	return 0;
}

static bool is_as_it_was(const struct stat *now, const struct stat *was)
{
	return now->st_size == was->st_size && now->st_mtim.tv_sec == was->st_mtim.tv_sec &&
		now->st_mtim.tv_nsec == was->st_mtim.tv_nsec;
}

static void split(struct part *part, size_t bytes)
{
	size_t n = 0;

	for (size_t at = 0; at < bytes && n < PART_LINES;) {
		char *end = memchr(part->text + at, '\n', bytes - at);
		size_t length = end ? (size_t)(end - part->text) - at : bytes - at;

		part->lines[n++] = part->text + at;
		part->text[at + length] = '\0';
		if (length && part->text[at + length - 1] == '\r')
			part->text[at + length - 1] = '\0';
		at += length + 1;
	}
}

/* False: the file is another now, or there is no room. */
static bool read_part(
	struct loci_source_text *sources, const struct loci_source_file *file, struct part *part)
{
	size_t bytes = (size_t)(part->end - part->begin);
	struct stat now;
	loci_autoclose int fd = open_file(file->name, &now);

	if (fd < 0 || !is_as_it_was(&now, &file->was) ||
		bytes > LOCI_SOURCE_BYTES_MAX - sources->bytes)
		return false;
	part->text = malloc(bytes + 1);
	part->lines = calloc(PART_LINES, sizeof(*part->lines));
	if (!part->text || !part->lines ||
		pread(fd, part->text, bytes, (off_t)part->begin) != (ssize_t)bytes) {
		free(part->text);
		free(part->lines);
		part->text = NULL;
		part->lines = NULL;
		return false;
	}
	part->text[bytes] = '\0';
	split(part, bytes);
	sources->bytes += bytes;
	return true;
}

static struct loci_source_file *load(const char *name)
{
	struct loci_source_file *file = calloc(1, sizeof(*file));

	if (!file)
		return NULL;
	file->name = strdup(name);
	if (!file->name || divide(file) < 0) {
		file_free(file);
		return NULL;
	}
	return file;
}

const char *loci_source_text_line(struct loci_source_text *sources, const char *file, unsigned line)
{
	struct loci_source_file *found;
	struct part *part;
	size_t at;

	if (!file || !line || (sources->n * 2 >= sources->cap && grow(sources) < 0))
		return NULL;
	at = place(sources, file);
	if (!sources->files[at]) {
		sources->files[at] = load(file);
		if (!sources->files[at])
			return NULL;
		sources->n++;
	}
	found = sources->files[at];
	if (line > found->n_lines)
		return NULL;
	part = &found->parts[(line - 1) / PART_LINES];
	if (!part->text && !read_part(sources, found, part))
		return NULL;
	return part->lines[(line - 1) % PART_LINES];
}
