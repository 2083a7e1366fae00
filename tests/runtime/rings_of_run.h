/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs a program under a run's directory of its own, empties all rings that appear there, each in a
 * thread, and keeps their words by ring. What the words mean is looked at here by plain rules, not
 * by the reader that recordings use. */
#ifndef LOCI_TESTS_RUNTIME_RINGS_OF_RUN_H
#define LOCI_TESTS_RUNTIME_RINGS_OF_RUN_H

#include "check.h"
#include "runtime/by_hand.h"

#include "collect/run_control.h"
#include "stream/ring.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* A thread that is slow to end has a ring for each signal that still comes to it. */
#define MAX_RINGS 8192

struct one_ring {
	char name[64];
	int pid, image, number; /* number 0: the process's */
	struct loci_source *source;
	pthread_t thread;
	uint64_t *words;
	size_t n, room;
};

struct one_run {
	struct loci_rundir *dir;
	struct loci_control *control;
	struct totals *totals;
	char totals_path[300];
	struct one_ring ring[MAX_RINGS];
	size_t n_rings;
	pid_t pid;
	int status;
	bool unheard;
};

static inline void *map_new(const char *path, size_t bytes)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	void *memory;

	CHECK(fd >= 0 && ftruncate(fd, (off_t)bytes) == 0);
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(memory != MAP_FAILED);
	close(fd);
	return memory;
}

static inline void run_prepare(struct one_run *run)
{
	struct loci_err err = { "" };
	char path[300];

	memset(run, 0, sizeof(*run));
	CHECK(loci_rundir_new(&run->dir, &err) == 0);
	snprintf(path, sizeof(path), "%s/" LOCI_CONTROL_FILE, loci_rundir_path(run->dir));
	run->control = map_new(path, sizeof(*run->control));
	snprintf(run->totals_path, sizeof(path), "%s/totals", loci_rundir_path(run->dir));
	run->totals = map_new(run->totals_path, sizeof(*run->totals));
}

static inline void keep(struct one_ring *ring, const uint64_t *words, size_t n)
{
	if (ring->n + n > ring->room) {
		ring->room = 2 * (ring->n + n);
		ring->words = realloc(ring->words, ring->room * sizeof(*words));
	}
	memcpy(ring->words + ring->n, words, n * sizeof(*words));
	ring->n += n;
}

/* What code appended without a call since the runtime last moved head. */
static inline void take_rest(struct one_ring *ring)
{
	size_t bytes;
	const struct loci_ring_shared *shared = loci_ring_memory(ring->source, &bytes);
	const struct loci_ring_inline *place = &shared->inline_;
	const uint64_t *data = (const uint64_t *)((const char *)shared + LOCI_RING_HEADER_BYTES);
	uint64_t end = place->base + (place->cursor - place->chunk) / sizeof(*data);

	if (place->chunk)
		for (uint64_t at = ring->n; at < end; at++)
			keep(ring, &data[at % shared->n_words], 1);
}

static inline void *drain(void *data)
{
	struct one_ring *ring = data;
	struct loci_err err = { "" };
	static __thread uint64_t words[8192];
	ssize_t n;

	while ((n = ring->source->ops->read(ring->source, words, 8192, &err)) > 0)
		keep(ring, words, (size_t)n);
	CHECK(n == 0);
	CHECK_STR(err.text, "");
	take_rest(ring);
	return NULL;
}

static inline bool is_known(const struct one_run *run, const char *name)
{
	for (size_t i = 0; i < run->n_rings; i++)
		if (!strcmp(run->ring[i].name, name))
			return true;
	return false;
}

static inline bool parse_name(struct one_ring *ring, const char *name)
{
	int end = 0;

	snprintf(ring->name, sizeof(ring->name), "%.60s", name);
	ring->number = 0;
	if (sscanf(name, "%d.%d.ring%n", &ring->pid, &ring->image, &end) == 2 && end && !name[end])
		return true;
	end = 0;
	return sscanf(name, "%d.%d.%d.ring%n", &ring->pid, &ring->image, &ring->number, &end) ==
		3 &&
		end && !name[end];
}

/* Returns how many new ones there were. */
static inline size_t run_look(struct one_run *run)
{
	DIR *dir = opendir(loci_rundir_path(run->dir));
	struct loci_err err = { "" };
	struct dirent *entry;
	size_t n = 0;

	while ((entry = readdir(dir))) {
		struct one_ring *ring = &run->ring[run->n_rings];

		if (strstr(entry->d_name, LOCI_RUN_UNHEARD))
			run->unheard = true;
		if (entry->d_name[0] == '.' || is_known(run, entry->d_name) ||
			!parse_name(ring, entry->d_name))
			continue;
		if (run->n_rings + 1 == MAX_RINGS) {
			CHECK_FAIL("more than %d rings", MAX_RINGS - 1);
			break;
		}
		CHECK(loci_ring_open(run->dir, entry->d_name, &ring->source, &err) == 0);
		CHECK_STR(err.text, "");
		CHECK(pthread_create(&ring->thread, NULL, drain, ring) == 0);
		run->n_rings++;
		n++;
	}
	closedir(dir);
	return n;
}

static inline void run_start(struct one_run *run, const char *program, const char *scenario)
{
	char *argv[] = { (char *)program, (char *)scenario, run->totals_path, NULL };

	setenv(LOCI_RUN_VARIABLE, loci_rundir_path(run->dir), 1);
	CHECK(posix_spawn(&run->pid, program, NULL, NULL, argv, environ) == 0);
	unsetenv(LOCI_RUN_VARIABLE);
}

#ifdef TOOL_DIR
/* The same under Valgrind. */
static inline void run_start_any(struct one_run *run, const char *program, const char *scenario)
{
	char option[300];
	char *argv[] = { (char *)"valgrind", (char *)"-q", (char *)"--vgdb=no",
		(char *)"--trace-children=no", (char *)"--tool=loci", option, (char *)program,
		(char *)scenario, run->totals_path, NULL };

	snprintf(option, sizeof(option), "--run-dir=%s", loci_rundir_path(run->dir));
	setenv("VALGRIND_LIB", TOOL_DIR, 1);
	CHECK(posix_spawnp(&run->pid, argv[0], NULL, NULL, argv, environ) == 0);
	unsetenv("VALGRIND_LIB");
}
#endif

static inline void run_finish(struct one_run *run)
{
	while (waitpid(run->pid, &run->status, WNOHANG) == 0) {
		run_look(run);
		usleep(500);
	}
	while (run_look(run))
		;
	for (size_t i = 0; i < run->n_rings; i++)
		CHECK(pthread_join(run->ring[i].thread, NULL) == 0);
}

static inline void run_free(struct one_run *run)
{
	for (size_t i = 0; i < run->n_rings; i++) {
		loci_source_close(run->ring[i].source);
		free(run->ring[i].words);
	}
	munmap(run->control, sizeof(*run->control));
	munmap(run->totals, sizeof(*run->totals));
	loci_rundir_free(run->dir);
}

#endif
