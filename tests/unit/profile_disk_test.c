// SPDX-License-Identifier: GPL-2.0-or-later
/* Writing where it cannot be done: a message, nothing left behind, an old profile untouched. */
#include "check.h"

#include "base/cleanup.h"
#include "base/replace.h"
#include "profile/profile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char directory[] = "/tmp/loci-disk-XXXXXX";

static const struct loci_run run = { .command = "x", .unit = "byte", .merged = 1 };
static const struct loci_grain grain = { .block_bytes = 64, .sampling_rate = 1 };

static unsigned count_files(const char *where)
{
	DIR *dir = opendir(where);
	unsigned n = 0;

	while (dir && readdir(dir))
		n++;
	closedir(dir);
	return n - 2;
}

/* Creates, fills and, if wanted, commits a profile of many bins. */
static int write_profile(const char *path, bool commit, struct loci_err *err)
{
	loci_cleanup(loci_profile_closep) struct loci_profile *profile = NULL;
	loci_cleanup(loci_hist_fini) struct loci_hist hist;
	struct loci_hist_key key = { .block_bytes = 64, .owner = LOCI_OWNER_THREAD };
	int r = loci_profile_create(path, &profile, err);

	loci_hist_init(&hist, LOCI_SCHEME_FINE);
	for (uint64_t d = 0; d < 100000; d++)
		CHECK(loci_hist_add(&hist, d, 1e6) == 0);
	if (r == 0)
		r = loci_profile_put_run(profile, &run, err);
	if (r == 0)
		r = loci_profile_put_grain(profile, &grain, err);
	for (key.owner_id = 0; r == 0 && key.owner_id < 40; key.owner_id++)
		r = loci_profile_put_hist(profile, &key, &hist, err);
	return r < 0 || !commit ? r : loci_profile_commit(profile, err);
}

static void expect_failure(const char *path, const char *want)
{
	struct loci_err err = { "" };

	CHECK(write_profile(path, true, &err) < 0);
	if (!strstr(err.text, want) || strncmp(err.text, path, strlen(path)))
		CHECK_FAIL("says \"%s\", want \"%s\"", err.text, want);
}

static void write_text(const char *path, const char *text)
{
	loci_autofclose FILE *file = fopen(path, "w");

	CHECK(file && fputs(text, file) >= 0);
}

static void expect_text(const char *path, const char *want)
{
	loci_autofclose FILE *file = fopen(path, "r");
	char text[64] = "";

	CHECK(file && fgets(text, sizeof(text), file));
	CHECK_STR(text, want);
}

static void check_places(void)
{
	char path[128], link[128];
	struct loci_err err = { "" };
	struct stat st;

	expect_failure(directory, "it is a directory");
	expect_failure("/proc/none/x.loci", "No such file or directory");
	expect_failure("/dev/null", "it is not a regular file");
	snprintf(path, sizeof(path), "%s/", directory);
	expect_failure(path, "it is a directory");
	snprintf(path, sizeof(path), "%s/none/", directory);
	expect_failure(path, "names a directory");
	CHECK(write_profile("", true, &err) == -EINVAL);
	CHECK(stat("/dev/null", &st) == 0 && S_ISCHR(st.st_mode));
	if (geteuid() != 0) {
		chmod(directory, 0500);
		snprintf(path, sizeof(path), "%s/x.loci", directory);
		expect_failure(path, "Permission denied");
		chmod(directory, 0700);
	}
	CHECK_U64(count_files(directory), 0);

	/* through a link: the link stays, its target is replaced; permissions as umask says */
	snprintf(path, sizeof(path), "%s/x.loci", directory);
	snprintf(link, sizeof(link), "%s/link", directory);
	write_text(path, "old");
	CHECK(symlink("x.loci", link) == 0);
	umask(027);
	err.text[0] = '\0';
	CHECK(write_profile(link, true, &err) == 0);
	CHECK_STR(err.text, "");
	CHECK(lstat(link, &st) == 0 && S_ISLNK(st.st_mode));
	CHECK(stat(path, &st) == 0 && st.st_size > 100000);
	CHECK_U64(st.st_mode & 0777, 0640);
	CHECK_U64(count_files(directory), 2);
	unlink(link);
	unlink(path);
}

/* A name as long as names may be leaves no room for a suffix. */
static void check_long_name(void)
{
	char path[512];
	struct loci_err err = { "" };
	int n = snprintf(path, sizeof(path), "%s/", directory);

	memset(path + n, 'x', 255);
	path[n + 255] = '\0';
	CHECK(write_profile(path, true, &err) == 0);
	CHECK_STR(err.text, "");
	unlink(path);
	strcat(path, "y");
	expect_failure(path, "File name too long");
	CHECK_U64(count_files(directory), 0);
}

static void check_abandoned(void)
{
	char path[128];
	struct loci_err err = { "" };
	int status;
	pid_t child;

	snprintf(path, sizeof(path), "%s/x.loci", directory);
	write_text(path, "old");
	CHECK(write_profile(path, false, &err) == 0);
	expect_text(path, "old");
	CHECK_U64(count_files(directory), 1);
	child = fork();
	if (child == 0) {
		struct loci_profile *profile;

		if (loci_profile_create(path, &profile, &err) == 0 &&
			loci_profile_put_run(profile, &run, &err) == 0)
			kill(getpid(), SIGKILL);
		_exit(1);
	}
	CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
	expect_text(path, "old");
	unlink(path);
}

/* A limit on the size of files, at every kind of moment: the schema, the rows, the end. */
static void check_file_limit(void)
{
	static const rlim_t limits[] = { 0, 1024, 30000, 100000, 1000000 };
	struct rlimit old, limit;
	char path[128];

	snprintf(path, sizeof(path), "%s/x.loci", directory);
	write_text(path, "old");
	signal(SIGXFSZ, SIG_IGN);
	CHECK(getrlimit(RLIMIT_FSIZE, &old) == 0);
	for (size_t i = 0; i < LOCI_ARRAY_SIZE(limits); i++) {
		limit = (struct rlimit){ limits[i], old.rlim_max };
		CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
		expect_failure(path, "cannot write: File too large");
		CHECK(setrlimit(RLIMIT_FSIZE, &old) == 0);
		expect_text(path, "old");
		CHECK_U64(count_files(directory), 1);
	}
	unlink(path);
}

/* A file system that is really full, where this process may mount one. */
static void check_full_disk(void)
{
	char path[160], small[128];
	int status;
	pid_t child = fork();

	if (child != 0) {
		CHECK(waitpid(child, &status, 0) == child);
		if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
			printf("cannot mount: a full disk is not tested\n");
		else
			CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
		return;
	}
	check_failures = 0;
	snprintf(small, sizeof(small), "%s/small", directory);
	if (mkdir(small, 0700) < 0 || unshare(CLONE_NEWNS) < 0 ||
		mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
		mount("tmpfs", small, "tmpfs", 0, "size=256k") < 0) {
		rmdir(small);
		_exit(77);
	}
	snprintf(path, sizeof(path), "%s/x.loci", small);
	write_text(path, "old");
	expect_failure(path, "cannot write: No space left on device");
	expect_text(path, "old");
	CHECK_U64(count_files(small), 1);
	umount(small);
	rmdir(small);
	_exit(check_failures != 0);
}

/* A killed process left its temporary: harmless, but this test cleans up. */
static void remove_leftovers(void)
{
	DIR *dir = opendir(directory);
	struct dirent *entry;
	unsigned n = 0;

	while (dir && (entry = readdir(dir)))
		if (strstr(entry->d_name, ".tmp")) {
			CHECK(entry->d_name[0] == '.'); /* hidden, and no *.loci */
			CHECK(unlinkat(dirfd(dir), entry->d_name, 0) == 0);
			n++;
		}
	closedir(dir);
	CHECK_U64(n, 1);
}

int main(void)
{
	if (!mkdtemp(directory))
		return 1;
	check_places();
	check_long_name();
	check_file_limit();
	fflush(stdout);
	check_full_disk();
	check_abandoned();
	remove_leftovers();
	CHECK(rmdir(directory) == 0);
	return check_status();
}
