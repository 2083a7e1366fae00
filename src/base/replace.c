// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/replace.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#define ATTEMPTS 100

static int fail(struct loci_err *err, int code, const char *path)
{
	return loci_err_set(err, code, "%s: cannot write: %s", path, strerror(code));
}

/* The directory part of path, with its slash: "" for the current directory. */
static size_t directory_length(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (size_t)(slash - path) + 1 : 0;
}

static int resolve(struct loci_replace *replace, const char *path, struct loci_err *err)
{
	struct stat st;

	if (!path[0])
		return loci_err_set(err, EINVAL, "the name of the file to write is empty");
	if (!strcmp(path, "-"))
		return loci_err_set(err, EINVAL,
			"this cannot be written to standard output; name a file (./- for one named "
			"-)");
	if (stat(path, &st) == 0) {
		if (S_ISDIR(st.st_mode))
			return loci_err_set(err, EISDIR,
				"%s: cannot write: it is a directory; name a file in it", path);
		if (!S_ISREG(st.st_mode))
			return loci_err_set(
				err, EINVAL, "%s: cannot write: it is not a regular file", path);
		replace->path = realpath(path, NULL);
	} else if (path[strlen(path) - 1] == '/') {
		return loci_err_set(err, EISDIR,
			"%s: cannot write: it names a directory; name a file in it", path);
	} else {
		replace->path = strdup(path);
	}
	return replace->path ? 0 : fail(err, errno, path);
}

/* A hidden name, so that a leftover of a killed process is not taken for the real thing. The
 * target's own name is cut where the whole would get too long. */
static int create_temporary(struct loci_replace *replace)
{
	size_t directory = directory_length(replace->path);
	uint64_t random;

	for (int i = 0; i < ATTEMPTS; i++) {
		char *name;

		if (getrandom(&random, sizeof(random), 0) != sizeof(random))
			return -errno;
		if (asprintf(&name, "%.*s.%.200s.%016llx.tmp", (int)directory, replace->path,
			    replace->path + directory, (unsigned long long)random) < 0)
			return -ENOMEM;
		replace->fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (replace->fd >= 0) {
			replace->temporary = name;
			return 0;
		}
		free(name);
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

int loci_replace_begin(struct loci_replace *replace, const char *path, struct loci_err *err)
{
	int r;

	*replace = (struct loci_replace){ .fd = -1 };
	r = resolve(replace, path, err);
	if (r < 0)
		return r;
	r = create_temporary(replace);
	return r < 0 ? fail(err, -r, path) : 0;
}

/* So that the new name survives a crash of the machine. Best effort: some file systems cannot. */
static void sync_directory(const char *path)
{
	size_t length = directory_length(path);
	loci_autofree char *directory = length ? strndup(path, length) : strdup(".");
	loci_autoclose int fd = -1;

	if (!directory)
		return;
	fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
		fsync(fd);
}

int loci_replace_commit(struct loci_replace *replace, struct loci_err *err)
{
	int fd = replace->fd, failed;

	failed = fsync(fd) < 0 && errno != EINVAL ? errno : 0;
	replace->fd = -1;
	if (close(fd) < 0 && !failed)
		failed = errno;
	if (!failed && rename(replace->temporary, replace->path) < 0)
		failed = errno;
	if (failed)
		return fail(err, failed, replace->path);
	free(replace->temporary);
	replace->temporary = NULL;
	sync_directory(replace->path);
	return 0;
}

void loci_replace_fini(struct loci_replace *replace)
{
	if (replace->fd >= 0)
		close(replace->fd);
	if (replace->temporary)
		unlink(replace->temporary);
	free(replace->temporary);
	free(replace->path);
	*replace = (struct loci_replace){ .fd = -1 };
}
