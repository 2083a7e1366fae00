// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "stream/rundir.h"

#include "base/cleanup.h"
#include "stream/ring.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

/* A directory gets its name once it is locked; until then it has another, and is let alone unless
 * it is old. */
#define PREFIX      "loci-run-"
#define NEW_PREFIX  "loci-new-"
#define LOCK        "lock"
#define NEW_SECONDS 3600

struct loci_rundir {
	char path[PATH_MAX];
	char lock_path[PATH_MAX + 8];
	int lock;
	pid_t owner;
};

/* Whether the directory is left over: ours, and nobody holds its lock. */
static bool is_dead(int fd, bool is_new)
{
	loci_autoclose int lock = -1;
	struct stat st;

	if (fstat(fd, &st) < 0 || st.st_uid != geteuid())
		return false;
	if (is_new && time(NULL) - st.st_mtime < NEW_SECONDS)
		return false;
	lock = openat(fd, LOCK, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (lock < 0)
		return errno == ENOENT;
	return flock(lock, LOCK_EX | LOCK_NB) == 0;
}

/* Run directories hold files only. */
static void remove_files(int fd)
{
	DIR *dir = fdopendir(dup(fd));
	struct dirent *entry;

	if (!dir)
		return;
	while ((entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..")) {
			loci_ring_abandon(fd, entry->d_name);
			unlinkat(fd, entry->d_name, 0);
		}
	closedir(dir);
}

static void clean(const char *base)
{
	DIR *dir = opendir(base);
	struct dirent *entry;

	if (!dir)
		return;
	while ((entry = readdir(dir))) {
		bool is_new = !strncmp(entry->d_name, NEW_PREFIX, strlen(NEW_PREFIX));
		loci_autoclose int fd = -1;

		if (!is_new && strncmp(entry->d_name, PREFIX, strlen(PREFIX)))
			continue;
		fd = openat(
			dirfd(dir), entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0 || !is_dead(fd, is_new))
			continue;
		remove_files(fd);
		unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR);
	}
	closedir(dir);
}

static int make(struct loci_rundir *dir, const char *base)
{
	char path[PATH_MAX], final[PATH_MAX], lock[PATH_MAX + 8];
	int r;

	if (snprintf(path, sizeof(path), "%s/" NEW_PREFIX "XXXXXX", base) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	if (!mkdtemp(path)) /* 0700 */
		return -errno;
	snprintf(lock, sizeof(lock), "%s/" LOCK, path);
	dir->lock = open(lock, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (dir->lock < 0 || flock(dir->lock, LOCK_EX | LOCK_NB) < 0)
		goto failed;
	/* The letters that mkdtemp chose, after the other prefix. */
	if (snprintf(final, sizeof(final), "%s/" PREFIX "%ld-%s", base, (long)getpid(),
		    strrchr(path, '-') + 1) >= (int)sizeof(final)) {
		errno = ENAMETOOLONG;
		goto failed;
	}
	if (rename(path, final) < 0)
		goto failed;
	strcpy(dir->path, final);
	snprintf(dir->lock_path, sizeof(dir->lock_path), "%s/" LOCK, final);
	return 0;

failed:
	r = -errno;
	unlink(lock);
	rmdir(path);
	return r;
}

int loci_rundir_new_in(const char *base, struct loci_rundir **ret, struct loci_err *err)
{
	struct loci_rundir *dir = calloc(1, sizeof(*dir));
	int r;

	if (!dir)
		return loci_err_nomem(err);
	dir->lock = -1;
	dir->owner = getpid();
	clean(base);
	r = make(dir, base);
	if (r < 0) {
		loci_rundir_free(dir);
		return loci_err_set(
			err, -r, "%s: cannot make a directory for the run: %s", base, strerror(-r));
	}
	*ret = dir;
	return 0;
}

int loci_rundir_new(struct loci_rundir **ret, struct loci_err *err)
{
	const char *base = getenv("TMPDIR");

	if (loci_rundir_new_in("/dev/shm", ret, NULL) == 0)
		return 0;
	return loci_rundir_new_in(base && *base ? base : "/tmp", ret, err);
}

void loci_rundir_free(struct loci_rundir *dir)
{
	if (!dir)
		return;
	if (dir->path[0] && dir->owner == getpid()) {
		loci_autoclose int fd = open(dir->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		if (fd >= 0)
			remove_files(fd);
		rmdir(dir->path);
	}
	if (dir->lock >= 0)
		close(dir->lock);
	free(dir);
}

const char *loci_rundir_path(const struct loci_rundir *dir)
{
	return dir->path;
}

const char *loci_rundir_lock_path(const struct loci_rundir *dir)
{
	return dir->lock_path;
}
