// SPDX-License-Identifier: GPL-2.0-or-later
/* A ring ends by itself when its producer has closed it or died. It must also end when its producer
 * lives on but the run is over, at the words written until then, since a busy producer might keep
 * ahead of its reader for ever; and when the process has become another program by exec.
 *
 * Programs built by `loci cc` and its like have a ring for each thread. The runner adds them as
 * they appear; what it has not come to when all others have ended is looked for in the directory.
 */
#include "collect/watched.h"

#include "base/cleanup.h"
#include "collect/gate.h"
#include "stream/braid.h"
#include "stream/ring.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define LOOK_MS 20 /* how often to look whether a process has become another program */

struct loci_watched {
	struct loci_source source; /* first */
	struct loci_source *words; /* the ring, or the braid that it is part of */
	bool is_braid;
	const struct loci_ring_shared *shared; /* of the process's ring */
	const struct loci_rundir *dir;
	struct loci_watch *list;
	struct loci_watched *next;
	pid_t pid;
	unsigned image;
	bool is_program;
	bool replaced; /* by exec; set by the runner's thread */
};

bool loci_watched_name(const char *name, pid_t *ret_pid, unsigned *ret_image, unsigned *ret_thread)
{
	int end = 0;

	*ret_thread = 0;
	if (sscanf(name, "%d.%u.ring%n", ret_pid, ret_image, &end) != 2 || !end)
		if (sscanf(name, "%d.%u.%u.ring%n", ret_pid, ret_image, ret_thread, &end) != 3 ||
			!*ret_thread)
			return false;
	return end && !name[end] && *ret_pid > 0;
}

pid_t loci_watched_pid(const struct loci_source *source)
{
	return ((const struct loci_watched *)source)->pid;
}

unsigned loci_watched_image(const struct loci_source *source)
{
	return ((const struct loci_watched *)source)->image;
}

__attribute__((format(printf, 2, 3))) static void say(
	struct loci_watched *process, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(process->source.note, sizeof(process->source.note), fmt, args);
	va_end(args);
}

/* A process that has not been waited for yet is dead too, for which kill(2) is too polite. */
static bool is_dead(pid_t pid)
{
	loci_autoclose int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

	return fd < 0 ? errno == ESRCH : poll(&poll_fd, 1, 0) == 1;
}

static int wait_status(const siginfo_t *info)
{
	return info->si_code == CLD_EXITED ? (info->si_status & 0xff) << 8 : info->si_status;
}

/* Its stream ends a moment before the program does, or long before when it has become another by
 * exec: then false. Whoever started it waits for it too, so it is not waited for here. */
static bool await_program(struct loci_watched *process, int *ret_status)
{
	struct loci_watch *list = process->list;
	struct pollfd poll_fd = { .fd = list->pidfd, .events = POLLIN };

	while (!__atomic_load_n(&list->ended, __ATOMIC_ACQUIRE)) {
		siginfo_t info = { 0 };

		if (__atomic_load_n(&process->replaced, __ATOMIC_SEQ_CST))
			return false;
		if (poll(&poll_fd, 1, LOOK_MS) == 1 &&
			waitid(P_PIDFD, (id_t)list->pidfd, &info, WEXITED | WNOWAIT | WNOHANG) ==
				0 &&
			info.si_pid) {
			*ret_status = wait_status(&info);
			return true;
		}
	}
	*ret_status = list->status;
	return true;
}

static void conclude_program(struct loci_watched *process)
{
	int status = 0;

	if (!await_program(process, &status) || !WIFSIGNALED(status))
		return;
	process->source.incomplete = true;
	say(process, "the program was ended by signal %d (SIG%s): recorded until then%s",
		WTERMSIG(status), sigabbrev_np(WTERMSIG(status)) ?: "?",
		process->source.info.collector == LOCI_COLLECTOR_CC && loci_gate_runs()
			? " but for a loop that it was in (LOCI_RUNS=0 has that, too)"
			: "");
}

/* A child that is killed, by a closed pipe or by its parent, is nothing special. */
static void conclude_child(struct loci_watched *process)
{
	if (__atomic_load_n(&process->replaced, __ATOMIC_SEQ_CST) ||
		(process->is_braid && loci_braid_became_another(process->words)) ||
		__atomic_load_n(&process->shared->producer, __ATOMIC_SEQ_CST) == LOCI_RING_GONE)
		return;
	if (process->source.note[0] || is_dead(process->pid)) {
		say(process, "process %d was killed: recorded until then", process->pid);
		return;
	}
	process->source.incomplete = true;
	say(process, "process %d still ran when the program ended: recorded until then",
		process->pid);
}

/* What a reader must know of the way it ended. */
static void conclude(struct loci_watched *process)
{
	snprintf(process->source.note, sizeof(process->source.note), "%s", process->words->note);
	process->source.incomplete = process->words->incomplete;
	if (process->is_program)
		conclude_program(process);
	else
		conclude_child(process);
}

static ssize_t process_read(
	struct loci_source *source, uint64_t *words, size_t cap, struct loci_err *err)
{
	struct loci_watched *process = (struct loci_watched *)source;
	ssize_t n = process->words->ops->read(process->words, words, cap, err);

	if (n <= 0)
		conclude(process);
	return n;
}

static void process_progress(
	const struct loci_source *source, uint64_t *ret_done, uint64_t *ret_total)
{
	const struct loci_watched *process = (const struct loci_watched *)source;

	process->words->ops->progress(process->words, ret_done, ret_total);
}

static void process_close(struct loci_source *source)
{
	struct loci_watched *process = (struct loci_watched *)source;
	struct loci_watched **link;

	pthread_mutex_lock(&process->list->lock);
	for (link = &process->list->first; *link; link = &(*link)->next)
		if (*link == process) {
			*link = process->next;
			break;
		}
	pthread_mutex_unlock(&process->list->lock);
	loci_source_close(process->words);
	free(process);
}

static const struct loci_source_ops process_ops = {
	.read = process_read,
	.progress = process_progress,
	.close = process_close,
};

/* With the list locked. A process that is no more has appended to its rings what it has, one that
 * goes on may still be at it. */
static void stop(struct loci_watched *process, bool writes_no_more)
{
	if (process->is_braid && writes_no_more)
		loci_braid_stop(process->words);
	else if (process->is_braid)
		loci_braid_cut(process->words);
	else if (writes_no_more)
		loci_ring_stop(process->words);
	else
		loci_ring_cut(process->words);
}

/* With the list locked, so that no two find the same. Its name goes at once: whoever looks again
 * finds what is new. */
static int add_ring(struct loci_source *braid, const struct loci_rundir *dir, const char *name,
	unsigned thread, struct loci_err *err)
{
	struct loci_source *ring;
	char path[PATH_MAX];
	int r;

	snprintf(path, sizeof(path), "%s/%s", loci_rundir_path(dir), name);
	if (access(path, F_OK) < 0)
		return 0;
	r = loci_ring_open(dir, name, &ring, err);
	if (r < 0)
		return r;
	unlink(path);
	return loci_braid_add_take(braid, ring, thread, err);
}

static int find_rings(void *data, struct loci_source *braid, struct loci_err *err)
{
	struct loci_watched *process = data;
	DIR *dir = opendir(loci_rundir_path(process->dir));
	struct dirent *entry;
	int n = 0, r = 0;

	pthread_mutex_lock(&process->list->lock);
	while (dir && r == 0 && (entry = readdir(dir))) {
		unsigned image, thread;
		pid_t pid;

		if (!loci_watched_name(entry->d_name, &pid, &image, &thread) || !thread ||
			pid != process->pid || image != process->image)
			continue;
		r = add_ring(braid, process->dir, entry->d_name, thread, err);
		n++;
	}
	pthread_mutex_unlock(&process->list->lock);
	if (dir)
		closedir(dir);
	return r < 0 ? r : n;
}

static int open_words(struct loci_watched *process, const char *name, struct loci_err *err)
{
	struct loci_source *ring;
	size_t bytes;
	int r = loci_ring_open(process->dir, name, &ring, err);

	if (r < 0)
		return r;
	process->shared = loci_ring_memory(ring, &bytes);
	process->is_braid = loci_collector_is_inside(ring->info.collector);
	process->words = ring;
	if (process->is_braid)
		r = loci_braid_new_take(ring, find_rings, process, &process->words, err);
	return r;
}

static void enlist(struct loci_watch *watch, struct loci_watched *process)
{
	pthread_mutex_lock(&watch->lock);
	for (struct loci_watched *other = watch->first; other; other = other->next)
		if (other->pid == process->pid && other->image < process->image) {
			__atomic_store_n(&other->replaced, true, __ATOMIC_SEQ_CST);
			stop(other, true);
		}
	process->next = watch->first;
	watch->first = process;
	pthread_mutex_unlock(&watch->lock);
}

int loci_watched_open(struct loci_watch *watch, const struct loci_rundir *dir, const char *name,
	bool is_program, struct loci_source **ret, struct loci_err *err)
{
	struct loci_watched *process = calloc(1, sizeof(*process));
	unsigned thread;
	int r;

	if (!process)
		return loci_err_nomem(err);
	process->dir = dir;
	process->list = watch;
	process->is_program = is_program;
	r = loci_watched_name(name, &process->pid, &process->image, &thread) && !thread
		? open_words(process, name, err)
		: loci_err_set(err, EINVAL, "%s: is no name of a process's ring", name);
	if (r < 0) {
		free(process);
		return r;
	}
	process->source.ops = &process_ops;
	process->source.info = process->words->info;
	enlist(watch, process);
	*ret = &process->source;
	return 0;
}

bool loci_watch_has(struct loci_watch *watch, pid_t pid, unsigned image)
{
	bool found = false;

	pthread_mutex_lock(&watch->lock);
	for (struct loci_watched *p = watch->first; p; p = p->next)
		found |= p->pid == pid && p->image == image;
	pthread_mutex_unlock(&watch->lock);
	return found;
}

int loci_watch_add(struct loci_watch *watch, const struct loci_rundir *dir, const char *name,
	struct loci_err *err)
{
	unsigned image, thread;
	int r = -ESRCH;
	pid_t pid;

	if (!loci_watched_name(name, &pid, &image, &thread))
		return loci_err_set(err, EINVAL, "%s: is no name of a ring", name);
	pthread_mutex_lock(&watch->lock);
	for (struct loci_watched *p = watch->first; p; p = p->next)
		if (p->pid == pid && p->image == image && p->is_braid) {
			r = add_ring(p->words, dir, name, thread, err);
			break;
		}
	pthread_mutex_unlock(&watch->lock);
	return r;
}

void loci_watch_refuse(const struct loci_rundir *dir, const char *name)
{
	loci_autoclose int fd = open(loci_rundir_path(dir), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	loci_ring_abandon(fd, name);
	unlinkat(fd, name, 0);
}

void loci_watch_stop(struct loci_watch *watch)
{
	pthread_mutex_lock(&watch->lock);
	for (struct loci_watched *p = watch->first; p; p = p->next)
		stop(p, is_dead(p->pid));
	pthread_mutex_unlock(&watch->lock);
}
