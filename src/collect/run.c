// SPDX-License-Identifier: GPL-2.0-or-later
/* The program is this process's child, in its process group: the terminal's signals reach both, and
 * job control treats them as one. Its rings are found by watching the run's directory. */
#include "collect/run.h"

#include "base/cleanup.h"
#include "collect/launch.h"
#include "collect/program.h"
#include "collect/run_control.h"
#include "collect/run_state.h"
#include "collect/spawn.h"
#include "stream/ring.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define MEMORY_DIR  "/dev/shm"
#define ROOM_BYTES  (8ull << 20) /* of a run's directory: rings of some twenty processes */
#define RESCAN_MS   50           /* where the kernel has no more inotify instances */
#define EVENT_BYTES 16384
#define LOG_FILE    "log"

static uint64_t free_bytes(const char *dir)
{
	struct statvfs fs;

	return statvfs(dir, &fs) == 0 ? (uint64_t)fs.f_bavail * fs.f_frsize : 0;
}

int loci_runner_room(const char **ret_dir, uint64_t *ret_free_bytes, struct loci_err *err)
{
	const char *base = getenv("TMPDIR");

	*ret_dir = MEMORY_DIR;
	*ret_free_bytes = free_bytes(MEMORY_DIR);
	if (*ret_free_bytes >= ROOM_BYTES && access(MEMORY_DIR, W_OK) == 0)
		return 0;
	*ret_dir = base && *base ? base : "/tmp";
	*ret_free_bytes = free_bytes(*ret_dir);
	if (*ret_free_bytes >= ROOM_BYTES && access(*ret_dir, W_OK) == 0)
		return 0;
	return loci_err_set(err, ENOSPC,
		"neither " MEMORY_DIR
		" nor %s is there with %llu MiB free for a run; make room, or "
		"name another directory in TMPDIR",
		*ret_dir, ROOM_BYTES >> 20);
}

static int make_dir(struct loci_rundir **ret, struct loci_err *err)
{
	const char *base;
	uint64_t bytes;
	int r = loci_runner_room(&base, &bytes, err);

	if (r == 0)
		r = loci_rundir_new_in(base, ret, err);
	if (r == 0 && strlen(loci_rundir_lock_path(*ret)) >= LOCI_RING_PATH_MAX)
		return loci_err_set(
			err, ENAMETOOLONG, "%s: the name is too long; set TMPDIR to another", base);
	return r;
}

static int find_launch(
	const struct loci_run_options *options, struct loci_launch *ret, struct loci_err *err)
{
	if (!options->launch)
		return loci_launch_find(ret, err);
	*ret = *options->launch;
	return 0;
}

/* The directory and what is in it before the program starts. */
static int prepare(
	struct loci_runner *runner, const struct loci_run_options *options, struct loci_err *err)
{
	int r = make_dir(&runner->dir, err);

	if (r == 0)
		r = loci_gate_init(&runner->gate, loci_rundir_path(runner->dir), options, err);
	if (r < 0)
		return r;
	runner->inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (runner->inotify < 0 ||
		inotify_add_watch(runner->inotify, loci_rundir_path(runner->dir), IN_MOVED_TO) < 0)
		runner->rescanning = true;
	return 0;
}

static int open_log(struct loci_runner *runner, struct loci_err *err)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/" LOG_FILE, loci_rundir_path(runner->dir));
	runner->log = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (runner->log < 0)
		return loci_err_set(err, errno, "%s: cannot create: %s", path, strerror(errno));
	return 0;
}

static int start_any(
	struct loci_runner *runner, const struct loci_run_options *options, struct loci_err *err)
{
	loci_cleanup(loci_launch_freep) char **command = NULL;
	int log_fd = loci_spawn_high_fd(), r;
	struct loci_launch launch;

	r = find_launch(options, &launch, err);
	if (r == 0)
		r = prepare(runner, options, err);
	if (r == 0)
		r = open_log(runner, err);
	if (r < 0)
		return r;
	snprintf(runner->version, sizeof(runner->version), "%s", launch.version);
	command = loci_launch_command(&launch, options, loci_rundir_path(runner->dir), log_fd);
	if (!command)
		return loci_err_nomem(err);
	return loci_spawn(
		&(struct loci_spawn){
			.command = command,
			.variable = "VALGRIND_LIB",
			.value = launch.tools,
			.log = runner->log,
			.log_fd = log_fd,
		},
		&runner->pid, &runner->watch.pidfd, err);
}

/* The program runs by itself; the runtime in it finds the directory. */
static int start_cc(
	struct loci_runner *runner, const struct loci_run_options *options, struct loci_err *err)
{
	char path[PATH_MAX];
	int r = loci_program_find(options->argv[0], path);

	if (r < 0)
		return loci_err_set(err, -r, "%s: %s", options->argv[0], strerror(-r));
	r = loci_instrumented_look(path, &runner->program, err);
	if (r == 0)
		r = prepare(runner, options, err);
	if (r < 0)
		return r;
	return loci_spawn(
		&(struct loci_spawn){
			.command = options->argv,
			.program = path,
			.variable = LOCI_RUN_VARIABLE,
			.value = loci_rundir_path(runner->dir),
			.own_pid = options->follow ? NULL : &runner->gate.shared->only_pid,
		},
		&runner->pid, &runner->watch.pidfd, err);
}

static int start(struct loci_runner *runner, const struct loci_run_options *options,
	int *ret_status, struct loci_err *err)
{
	int r = loci_program_check(options->argv[0], ret_status, err);

	if (r < 0)
		return r;
	*ret_status = 1;
	return loci_collector_is_inside(options->collector) ? start_cc(runner, options, err)
							    : start_any(runner, options, err);
}

int loci_runner_start(const struct loci_run_options *options, struct loci_runner **ret,
	int *ret_status, struct loci_err *err)
{
	struct loci_runner *runner = calloc(1, sizeof(*runner));
	int r;

	if (!runner)
		return loci_err_nomem(err);
	pthread_mutex_init(&runner->watch.lock, NULL);
	runner->last = &runner->first;
	runner->inotify = runner->log = runner->watch.pidfd = -1;
	runner->follow = options->follow;
	runner->collector = options->collector;
	runner->program_name = options->argv[0];
	r = start(runner, options, ret_status, err);
	if (r < 0) {
		loci_runner_free(runner);
		return r;
	}
	*ret = runner;
	return 0;
}

static int add_name(struct loci_runner *runner, const char *text)
{
	struct name *name;
	unsigned image, thread;
	pid_t pid;

	if (strlen(text) >= sizeof(name->text) || !loci_watched_name(text, &pid, &image, &thread))
		return 0;
	for (name = runner->first; name; name = name->next)
		if (!strcmp(name->text, text))
			return 0;
	name = calloc(1, sizeof(*name));
	if (!name)
		return -ENOMEM;
	strcpy(name->text, text);
	*runner->last = name;
	runner->last = &name->next;
	return 0;
}

/* A ring that has been read is gone from the directory. */
static int scan(struct loci_runner *runner, bool threads)
{
	DIR *dir = opendir(loci_rundir_path(runner->dir));
	struct dirent *entry;
	unsigned image, thread;
	pid_t pid;
	int r = 0;

	if (!dir)
		return -errno;
	while (r == 0 && (entry = readdir(dir)))
		if (loci_watched_name(entry->d_name, &pid, &image, &thread) && !thread != threads &&
			(thread || !loci_watch_has(&runner->watch, pid, image)))
			r = add_name(runner, entry->d_name);
	closedir(dir);
	return r;
}

/* Processes before their threads. */
static int rescan(struct loci_runner *runner)
{
	int r = scan(runner, false);

	return r < 0 ? r : scan(runner, true);
}

static int collect_names(struct loci_runner *runner)
{
	_Alignas(struct inotify_event) char events[EVENT_BYTES];
	bool missed = runner->rescanning;
	ssize_t n;

	while (!runner->rescanning && (n = read(runner->inotify, events, sizeof(events))) > 0)
		for (ssize_t at = 0; at < n;) {
			const struct inotify_event *event = (const void *)(events + at);
			int r = event->len ? add_name(runner, event->name) : 0;

			if (r < 0)
				return r;
			missed |= !!(event->mask & IN_Q_OVERFLOW);
			at += (ssize_t)(sizeof(*event) + event->len);
		}
	return missed ? rescan(runner) : 0;
}

/* Until a ring may have come or the program has ended. */
static void wait_for_more(struct loci_runner *runner)
{
	struct pollfd fds[2] = {
		{ .fd = runner->watch.pidfd, .events = POLLIN },
		{ .fd = runner->inotify, .events = POLLIN },
	};

	int wait_ms = loci_gate_keep(&runner->gate);

	if (runner->rescanning && (wait_ms < 0 || wait_ms > RESCAN_MS))
		wait_ms = RESCAN_MS;
	if (poll(fds, 2, wait_ms) <= 0 || !fds[0].revents)
		return;
	while (waitpid(runner->pid, &runner->watch.status, 0) < 0 && errno == EINTR)
		;
	loci_gate_times(&runner->gate, &runner->recorded_s, &runner->all_s);
	__atomic_store_n(&runner->watch.ended, true, __ATOMIC_RELEASE);
}

static int open_process(struct loci_runner *runner, const char *name, pid_t pid,
	struct loci_source **ret, struct loci_err *err)
{
	struct loci_source *source;
	int r;

	if (!runner->follow && pid != runner->pid) {
		loci_watch_refuse(runner->dir, name);
		return 0;
	}
	r = loci_watched_open(&runner->watch, runner->dir, name, pid == runner->pid, &source, err);
	if (r < 0) {
		loci_watch_refuse(runner->dir, name);
		return r;
	}
	runner->streams++;
	*ret = source;
	return 0;
}

/* The oldest of the rings that have come. *ret stays NULL for one that is not to be read, or is a
 * thread's. */
static int open_first(struct loci_runner *runner, struct loci_source **ret, struct loci_err *err)
{
	loci_autofree struct name *name = runner->first;
	unsigned image, thread;
	pid_t pid;
	int r;

	runner->first = name->next;
	if (!runner->first)
		runner->last = &runner->first;
	loci_watched_name(name->text, &pid, &image, &thread);
	if (!thread)
		return open_process(runner, name->text, pid, ret, err);
	r = loci_watch_add(&runner->watch, runner->dir, name->text, err);
	if (r < 0)
		loci_watch_refuse(runner->dir, name->text);
	return r == -ESRCH ? 0 : r;
}

int loci_runner_next(struct loci_runner *runner, struct loci_source **ret, struct loci_err *err)
{
	*ret = NULL;
	for (;;) {
		bool ended = runner->watch.ended; /* before looking for the last names */
		int r = collect_names(runner);

		if (r < 0)
			return loci_err_set(
				err, -r, "%s: %s", loci_rundir_path(runner->dir), strerror(-r));
		if (runner->first) {
			r = open_first(runner, ret, err);
			if (ended)
				loci_watch_stop(&runner->watch);
			if (r < 0 || *ret)
				return r;
			continue;
		}
		if (ended) {
			loci_watch_stop(&runner->watch);
			return loci_runner_say_unheard(runner, err);
		}
		wait_for_more(runner);
	}
}

pid_t loci_runner_source_pid(const struct loci_source *source)
{
	return loci_watched_pid(source);
}

unsigned loci_runner_source_image(const struct loci_source *source)
{
	return loci_watched_image(source);
}

void loci_runner_signal(struct loci_runner *runner, int signal)
{
	int saved = errno;

	syscall(SYS_pidfd_send_signal, runner->watch.pidfd, signal, NULL, 0);
	errno = saved;
}

void loci_runner_toggle(struct loci_runner *runner)
{
	loci_gate_toggle(&runner->gate);
}

void loci_runner_closed(struct loci_runner *runner, pid_t pid, uint32_t n)
{
	loci_gate_closed(&runner->gate, pid, n);
}

int loci_runner_status(const struct loci_runner *runner)
{
	return runner->watch.status;
}

void loci_runner_times(const struct loci_runner *runner, double *ret_recorded_s, double *ret_all_s)
{
	*ret_recorded_s = runner->recorded_s;
	*ret_all_s = runner->all_s;
}

const struct loci_control_watching *loci_runner_watching(const struct loci_runner *runner)
{
	const struct loci_control *control = runner->gate.shared;

	return control && control->mode == LOCI_CONTROL_WATCH ? &control->watching : NULL;
}

pid_t loci_runner_pid(const struct loci_runner *runner)
{
	return runner->pid;
}

void loci_runner_free(struct loci_runner *runner)
{
	if (!runner)
		return;
	while (runner->first) {
		struct name *name = runner->first;

		runner->first = name->next;
		free(name);
	}
	loci_gate_fini(&runner->gate);
	if (runner->inotify >= 0)
		close(runner->inotify);
	if (runner->log >= 0)
		close(runner->log);
	if (runner->watch.pidfd >= 0)
		close(runner->watch.pidfd);
	loci_rundir_free(runner->dir);
	pthread_mutex_destroy(&runner->watch.lock);
	free(runner);
}
