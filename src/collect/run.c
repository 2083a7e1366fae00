// SPDX-License-Identifier: GPL-2.0-or-later
/* The program is this process's child, in its process group: the terminal's signals reach both, and
 * job control treats them as one. Its rings are found by watching the run's directory. */
#include "collect/run.h"

#include "base/cleanup.h"
#include "collect/gate.h"
#include "collect/launch.h"
#include "collect/program.h"
#include "collect/run_control.h"
#include "collect/spawn.h"
#include "collect/watched.h"
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

struct name {
	struct name *next;
	char text[64];
};

struct loci_runner {
	struct loci_rundir *dir;
	struct loci_watch watch;
	struct name *first, **last; /* rings that were seen and not given yet */
	struct loci_gate gate;
	int inotify, log;
	pid_t pid;
	bool follow;
	bool rescanning; /* names may have been missed */
	bool asked;      /* for processes without a ring */
	unsigned streams;
	double recorded_s, all_s; /* where there are windows */
	char version[32];
	char complaint[512];
};

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

static int find_launch(const struct loci_run_options *options, struct loci_launch *ret,
	int *ret_status, struct loci_err *err)
{
	int r = loci_program_check(options->argv[0], ret_status, err);

	if (r < 0)
		return r;
	*ret_status = 1;
	if (!options->launch)
		return loci_launch_find(ret, err);
	*ret = *options->launch;
	return 0;
}

/* The directory and what is in it before the program starts. */
static int prepare(
	struct loci_runner *runner, const struct loci_run_options *options, struct loci_err *err)
{
	char path[PATH_MAX];
	int r = make_dir(&runner->dir, err);

	if (r == 0)
		r = loci_gate_init(&runner->gate, loci_rundir_path(runner->dir), options, err);
	if (r < 0)
		return r;
	snprintf(path, sizeof(path), "%s/" LOG_FILE, loci_rundir_path(runner->dir));
	runner->log = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (runner->log < 0)
		return loci_err_set(err, errno, "%s: cannot create: %s", path, strerror(errno));
	runner->inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (runner->inotify < 0 ||
		inotify_add_watch(runner->inotify, loci_rundir_path(runner->dir), IN_MOVED_TO) < 0)
		runner->rescanning = true;
	return 0;
}

static int start(struct loci_runner *runner, const struct loci_run_options *options,
	int *ret_status, struct loci_err *err)
{
	loci_cleanup(loci_launch_freep) char **command = NULL;
	int log_fd = loci_spawn_high_fd(), r;
	struct loci_launch launch;

	r = find_launch(options, &launch, ret_status, err);
	if (r == 0)
		r = prepare(runner, options, err);
	if (r < 0)
		return r;
	snprintf(runner->version, sizeof(runner->version), "%s", launch.version);
	command = loci_launch_command(&launch, options, loci_rundir_path(runner->dir), log_fd);
	if (!command)
		return loci_err_nomem(err);
	return loci_spawn(
		&(struct loci_spawn){
			.command = command,
			.tools = launch.tools,
			.log = runner->log,
			.log_fd = log_fd,
		},
		&runner->pid, &runner->watch.pidfd, err);
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
	unsigned image;
	pid_t pid;

	if (strlen(text) >= sizeof(name->text) || !loci_watched_name(text, &pid, &image))
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
static int rescan(struct loci_runner *runner)
{
	DIR *dir = opendir(loci_rundir_path(runner->dir));
	struct dirent *entry;
	unsigned image;
	pid_t pid;
	int r = 0;

	if (!dir)
		return -errno;
	while (r == 0 && (entry = readdir(dir)))
		if (loci_watched_name(entry->d_name, &pid, &image) &&
			!loci_watch_has(&runner->watch, pid, image))
			r = add_name(runner, entry->d_name);
	closedir(dir);
	return r;
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

/* The oldest of the rings that have come. *ret stays NULL for one that is not to be read. */
static int open_first(struct loci_runner *runner, struct loci_source **ret, struct loci_err *err)
{
	loci_autofree struct name *name = runner->first;
	struct loci_source *source;
	unsigned image;
	pid_t pid;
	int r;

	runner->first = name->next;
	if (!runner->first)
		runner->last = &runner->first;
	loci_watched_name(name->text, &pid, &image);
	r = loci_watched_open(
		&runner->watch, runner->dir, name->text, pid == runner->pid, &source, err);
	if (r < 0) {
		loci_autoclose int dir =
			open(loci_rundir_path(runner->dir), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		loci_ring_abandon(dir, name->text);
		unlinkat(dir, name->text, 0);
		return r;
	}
	if (!runner->follow && pid != runner->pid) {
		loci_source_close(source);
		return 0;
	}
	runner->streams++;
	*ret = source;
	return 0;
}

/* Processes that left this word instead of a ring. */
static unsigned count_word(const struct loci_runner *runner, const char *word)
{
	DIR *dir = opendir(loci_rundir_path(runner->dir));
	struct dirent *entry;
	unsigned n = 0;

	while (dir && (entry = readdir(dir))) {
		unsigned image;
		int end = 0;
		pid_t pid;

		n += sscanf(entry->d_name, "%d.%u%n", &pid, &image, &end) == 2 && end &&
			!strcmp(entry->d_name + end, word) &&
			(runner->follow || pid == runner->pid);
	}
	if (dir)
		closedir(dir);
	return n;
}

static int say_unheard(struct loci_runner *runner, struct loci_err *err)
{
	unsigned n = runner->asked ? 0 : count_word(runner, LOCI_RUN_UNHEARD);

	runner->asked = true;
	if (!n)
		return 0;
	return loci_err_set(err, ENOSPC,
		"%u process%s not recorded: no room for the ring in %.*s; make room there, or name "
		"another directory in TMPDIR",
		n, n == 1 ? " was" : "es were",
		(int)(strrchr(loci_rundir_path(runner->dir), '/') - loci_rundir_path(runner->dir)),
		loci_rundir_path(runner->dir));
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
			return say_unheard(runner, err);
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

int loci_runner_status(const struct loci_runner *runner)
{
	return runner->watch.status;
}

unsigned loci_runner_unwatched(const struct loci_runner *runner)
{
	return count_word(runner, LOCI_RUN_UNWATCHED);
}

void loci_runner_times(const struct loci_runner *runner, double *ret_recorded_s, double *ret_all_s)
{
	*ret_recorded_s = runner->recorded_s;
	*ret_all_s = runner->all_s;
}

pid_t loci_runner_pid(const struct loci_runner *runner)
{
	return runner->pid;
}

/* The first line of Valgrind's log that holds the text, without what stands before it. */
static bool find_line(FILE *log, const char *text, char *line, size_t size)
{
	rewind(log);
	while (fgets(line, (int)size, log)) {
		line[strcspn(line, "\n")] = 0;
		if (strstr(line, text)) {
			memmove(line, strstr(line, text), strlen(strstr(line, text)) + 1);
			return true;
		}
	}
	return false;
}

const char *loci_runner_complaint(struct loci_runner *runner)
{
	int status = runner->watch.status;
	loci_autofclose FILE *log = fdopen(dup(runner->log), "r");
	char line[256];

	runner->complaint[0] = 0;
	if (log && find_line(log, "unhandled instruction", line, sizeof(line)))
		snprintf(runner->complaint, sizeof(runner->complaint),
			"Valgrind %s does not know an instruction of %s (%s), most likely of "
			"AVX-512: build it without (-march=x86-64-v3, or -mno-avx512f)",
			runner->version,
			WIFSIGNALED(status) && WTERMSIG(status) == SIGILL
				? "this program"
				: "a program that this one started",
			line);
	else if (!runner->streams && log && find_line(log, "loci: ", line, sizeof(line)))
		snprintf(runner->complaint, sizeof(runner->complaint), "the collector says: %s",
			line + strlen("loci: "));
	else if (!runner->streams && log && find_line(log, "valgrind: ", line, sizeof(line)))
		snprintf(runner->complaint, sizeof(runner->complaint), "Valgrind says: %s",
			line + strlen("valgrind: "));
	else if (!runner->streams)
		snprintf(runner->complaint, sizeof(runner->complaint),
			"the collector sent nothing: loci doctor looks for the reason");
	return runner->complaint;
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
