// SPDX-License-Identifier: GPL-2.0-or-later
#include "collect/spawn.h"

#include "collect/program.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define RESERVED 12 /* descriptors that Valgrind puts above the program's, if the limit allows */

struct child {
	const struct loci_spawn *spawn;
	sigset_t mask;
	struct sigaction chld;
	int failed; /* where execve's error goes */
};

int loci_spawn_high_fd(void)
{
	struct rlimit files = { 1024, 1024 };

	getrlimit(RLIMIT_NOFILE, &files);
	if (files.rlim_cur + RESERVED <= files.rlim_max)
		return (int)files.rlim_cur + RESERVED - 1;
	return (int)files.rlim_max - 1;
}

/* A descriptor stays open when the limit falls below it. */
static void place_log(const struct loci_spawn *spawn)
{
	struct rlimit files, wide;

	if (getrlimit(RLIMIT_NOFILE, &files) < 0)
		return;
	wide = files;
	wide.rlim_cur = (rlim_t)spawn->log_fd + 1;
	if (wide.rlim_cur > files.rlim_cur)
		setrlimit(RLIMIT_NOFILE, &wide);
	dup2(spawn->log, spawn->log_fd);
	setrlimit(RLIMIT_NOFILE, &files);
}

/* Valgrind would write a core file, in its own way and beside its log. */
static void prepare_valgrind(const struct loci_spawn *spawn)
{
	struct rlimit core;

	if (getrlimit(RLIMIT_CORE, &core) == 0) {
		core.rlim_cur = 0;
		setrlimit(RLIMIT_CORE, &core);
	}
	place_log(spawn);
}

/* Between fork and exec. What loci does to its own signals and limits is not for the program. */
static void become(const struct child *child)
{
	const struct loci_spawn *spawn = child->spawn;
	struct sigaction usual = { .sa_handler = SIG_DFL };
	int code;

	sigaction(SIGCHLD, &child->chld, NULL);
	sigaction(SIGXFSZ, &usual, NULL);
	if (!spawn->program)
		prepare_valgrind(spawn);
	if (spawn->value[0])
		setenv(spawn->variable, spawn->value, 1);
	if (spawn->own_pid)
		__atomic_store_n(spawn->own_pid, (uint32_t)getpid(), __ATOMIC_SEQ_CST);
	sigprocmask(SIG_SETMASK, &child->mask, NULL);
	if (spawn->program)
		execvp(spawn->program, spawn->command); /* has a slash; a script may lack "#!" */
	else
		execv(spawn->command[0], spawn->command);
	code = errno;
	if (write(child->failed, &code, sizeof(code)) < 0)
		code = 0;
	_Exit(LOCI_PROGRAM_NOT_FOUND);
}

/* 0, or the error of execve, which closes the pipe when it succeeds. */
static int await_exec(int fd)
{
	int code = 0;
	ssize_t n;

	do
		n = read(fd, &code, sizeof(code));
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof(code) ? -code : 0;
}

/* Returns 0 or -errno, and *ret_pid 0 where there is no process any more. */
static int start(struct child *child, pid_t *ret_pid, int *ret_pidfd, int report)
{
	int r;

	*ret_pid = fork();
	if (*ret_pid < 0) {
		*ret_pid = 0;
		return -errno;
	}
	if (*ret_pid == 0)
		become(child);
	close(child->failed);
	child->failed = -1;
	r = await_exec(report);
	*ret_pidfd = (int)syscall(SYS_pidfd_open, *ret_pid, 0);
	if (r == 0 && *ret_pidfd < 0) {
		r = -errno;
		kill(*ret_pid, SIGKILL);
	}
	if (r < 0) {
		waitpid(*ret_pid, NULL, 0);
		*ret_pid = 0;
	}
	return r;
}

int loci_spawn(const struct loci_spawn *spawn, pid_t *ret_pid, int *ret_pidfd, struct loci_err *err)
{
	struct sigaction usual = { .sa_handler = SIG_DFL };
	struct child child = { .spawn = spawn };
	sigset_t all;
	int fds[2], r;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return loci_err_set(err, errno, "cannot make a pipe: %s", strerror(errno));
	child.failed = fds[1];
	sigaction(SIGCHLD, &usual, &child.chld); /* ignored, it would eat the status */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &child.mask);
	r = start(&child, ret_pid, ret_pidfd, fds[0]);
	sigprocmask(SIG_SETMASK, &child.mask, NULL);
	close(fds[0]);
	if (child.failed >= 0)
		close(child.failed);
	if (r < 0)
		return loci_err_set(
			err, -r, "cannot start %s: %s", spawn->command[0], strerror(-r));
	return 0;
}
