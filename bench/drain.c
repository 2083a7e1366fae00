// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs a program built by `loci cc` with every reference streamed, and throws the words away: what
 * streaming costs, without what becomes of the words.
 *
 *	drain [-c|-b] PROGRAM [ARGUMENT..]
 *
 * With -c the program counts only; with -b each loop's blocks are streamed one by one. Words and
 *seconds are told on standard error. Exits as the program does, by its status or 128 and the
 *signal. */
#include "collect/run_control.h"
#include "stream/ring.h"
#include "stream/rundir.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WORDS 65536

struct reader {
	struct reader *next;
	char name[NAME_MAX + 1];
	struct loci_source *source;
	pthread_t thread;
	uint64_t n_words;
};

static struct loci_rundir *dir;
static struct reader *readers;

static void die(const char *what, const struct loci_err *err)
{
	fprintf(stderr, "drain: %s: %s\n", what, err ? err->text : "failed");
	exit(99);
}

static void *drain(void *arg)
{
	struct reader *reader = arg;
	uint64_t *words = malloc(WORDS * sizeof(*words));
	struct loci_err err = { 0 };
	ssize_t n = words ? 1 : -1;

	while (n > 0) {
		n = reader->source->ops->read(reader->source, words, WORDS, &err);
		reader->n_words += n > 0 ? (uint64_t)n : 0;
	}
	if (n < 0)
		die(reader->name, &err);
	free(words);
	return NULL;
}

static bool is_known(const char *name)
{
	for (struct reader *r = readers; r; r = r->next)
		if (!strcmp(r->name, name))
			return true;
	return false;
}

static void take(const char *name)
{
	struct reader *reader = calloc(1, sizeof(*reader));
	struct loci_err err = { 0 };

	if (!reader)
		die(name, NULL);
	snprintf(reader->name, sizeof(reader->name), "%s", name);
	if (loci_ring_open(dir, name, &reader->source, &err) < 0)
		die(name, &err);
	reader->next = readers;
	readers = reader;
	if (pthread_create(&reader->thread, NULL, drain, reader))
		die(name, NULL);
}

static void take_new(void)
{
	DIR *d = opendir(loci_rundir_path(dir));
	struct dirent *entry;

	while (d && (entry = readdir(d))) {
		size_t len = strlen(entry->d_name);

		if (entry->d_name[0] != '.' && len > 5 &&
			!strcmp(entry->d_name + len - 5, ".ring") && !is_known(entry->d_name))
			take(entry->d_name);
	}
	if (d)
		closedir(d);
}

static void make_control(enum loci_control_mode mode, bool runs)
{
	struct loci_control control = { .recording = 1, .mode = mode, .runs = runs };
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/" LOCI_CONTROL_FILE, loci_rundir_path(dir));
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, &control, sizeof(control)) != sizeof(control))
		die(path, NULL);
	close(fd);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
	bool count = argc > 1 && !strcmp(argv[1], "-c");
	bool singly = argc > 1 && !strcmp(argv[1], "-b");
	struct loci_err err = { 0 };
	uint64_t n_words = 0;
	int status = 0;
	double begun;
	pid_t pid;

	argv += 1 + count + singly;
	if (!argv[0]) {
		fprintf(stderr, "usage: drain [-c|-b] PROGRAM [ARGUMENT..]\n");
		return 99;
	}
	if (loci_rundir_new(&dir, &err) < 0)
		die("run directory", &err);
	make_control(count ? LOCI_CONTROL_COUNT : LOCI_CONTROL_TRACE, !singly);
	setenv(LOCI_RUN_VARIABLE, loci_rundir_path(dir), 1);
	begun = now();
	pid = fork();
	if (!pid) {
		execvp(argv[0], argv);
		perror(argv[0]);
		_exit(98);
	}
	while (waitpid(pid, &status, WNOHANG) == 0) {
		take_new();
		usleep(500);
	}
	take_new();
	for (struct reader *r = readers; r; r = r->next) {
		pthread_join(r->thread, NULL);
		n_words += r->n_words;
		loci_source_close(r->source);
	}
	fprintf(stderr, "drain: %" PRIu64 " words, %.3f s\n", n_words, now() - begun);
	loci_rundir_free(dir);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
