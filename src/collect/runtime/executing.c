// SPDX-License-Identifier: BSD-2-Clause
/* Programs that this one becomes or starts. They are to be followed whatever environment they are
 * given, so the run's directory, which this program does not see in its own, is added. The rings
 * stay as they are: if the call succeeds the recorder sees another program in this process, or its
 * end; if it fails this one goes on. */
#include "collect/runtime/own_signals.h"
#include "collect/runtime/runtime.h"
#include "collect/runtime/wrap.h"
#include "stream/ring_x86_64.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MAX_VARIABLES 16384 /* they are copied on the stack */

static void before_exec(const char *path)
{
	struct rt_thread *thread = rt_thread();
	int error = errno;
	uint64_t name, mask;

	if (!thread || !path || !rt_is_this_process())
		return;
	mask = rt_block();
	rt_lock();
	name = rt_process_string(path);
	rt_unlock();
	rt_unseen_now();
	rt_thread_tell_count(thread);
	rt_mark(thread, LOCI_MARK_EXEC, name, 0, NULL);
	rt_flush(thread);
	rt_unblock(mask);
	errno = error;
}

/* How long a copy of the environment with the variable is; 0: it need not be copied. */
static size_t copy_length(char *const envp[])
{
	size_t n = 0;

	if (rt_mode() == RT_OFF)
		return 0;
	for (; envp && envp[n]; n++)
		if (!strncmp(envp[n], LOCI_RUN_VARIABLE "=", sizeof(LOCI_RUN_VARIABLE)))
			return 0;
	return n < MAX_VARIABLES ? n + 2 : 0;
}

/* The next program finds the signals that the runtime took as this one left them. */
struct signals_left {
	bool is_needed;
};

static struct signals_left leave_signals(bool with_mask)
{
	struct signals_left left = { rt_own_taken != 0 };

	if (left.is_needed)
		rt_own_signals_exec(with_mask);
	return left;
}

static void take_signals_again(const struct signals_left *left)
{
	int error = errno;

	if (left->is_needed)
		rt_own_signals_exec_failed();
	errno = error;
}
#define LEAVE_SIGNALS(with_mask)                                                        \
	__attribute__((cleanup(take_signals_again), unused)) struct signals_left left = \
		leave_signals(with_mask)

static bool has_own_mask(const posix_spawnattr_t *attributes)
{
	short flags;

	return attributes && posix_spawnattr_getflags(attributes, &flags) == 0 &&
		(flags & POSIX_SPAWN_SETSIGMASK);
}

static char *const *copy(char *const envp[], char **to, size_t n)
{
	if (!n)
		return envp;
	for (size_t i = 0; i + 2 < n; i++)
		to[i] = envp[i];
	to[n - 2] = rt.variable;
	to[n - 1] = NULL;
	return to;
}

/* Declares `with`, the environment to be passed on. */
#define WITH_RUN(envp)                     \
	size_t n_with = copy_length(envp); \
	char *room[n_with ? n_with : 1];   \
	char *const *with = copy(envp, room, n_with)

RT_WRAP(int, execve, const char *path, char *const argv[], char *const envp[])
{
	WITH_RUN(envp);

	before_exec(path);
	LEAVE_SIGNALS(true);
	return RT_REAL(execve)(path, argv, with);
}

RT_WRAP(int, execvpe, const char *file, char *const argv[], char *const envp[])
{
	WITH_RUN(envp);

	before_exec(file);
	LEAVE_SIGNALS(true);
	return RT_REAL(execvpe)(file, argv, with);
}

RT_WRAP(int, fexecve, int fd, char *const argv[], char *const envp[])
{
	WITH_RUN(envp);

	before_exec(argv[0] ? argv[0] : "");
	LEAVE_SIGNALS(true);
	return RT_REAL(fexecve)(fd, argv, with);
}

RT_WRAP(int, execveat, int fd, const char *path, char *const argv[], char *const envp[], int flags)
{
	WITH_RUN(envp);

	before_exec(path);
	LEAVE_SIGNALS(true);
	return RT_REAL(execveat)(fd, path, argv, with, flags);
}

RT_WRAP(int, execv, const char *path, char *const argv[])
{
	return RT_WRAPPED(execve)(path, argv, environ);
}

RT_WRAP(int, execvp, const char *file, char *const argv[])
{
	return RT_WRAPPED(execvpe)(file, argv, environ);
}

static size_t count_arguments(va_list args)
{
	size_t n = 1;

	while (va_arg(args, const char *))
		n++;
	return n;
}

/* Declares argv, from the arguments beginning with first, and leaves args behind their end. */
#define TAKE_ARGUMENTS(first)                   \
	va_list args, count;                    \
	va_start(args, first);                  \
	va_copy(count, args);                   \
	size_t n_args = count_arguments(count); \
	va_end(count);                          \
	char *argv[n_args + 1];                 \
	argv[0] = (char *)(first);              \
	for (size_t i = 1; i <= n_args; i++)    \
	argv[i] = va_arg(args, char *)

RT_WRAP(int, execl, const char *path, const char *first, ...)
{
	TAKE_ARGUMENTS(first);
	va_end(args);
	return RT_WRAPPED(execve)(path, argv, environ);
}

RT_WRAP(int, execlp, const char *file, const char *first, ...)
{
	TAKE_ARGUMENTS(first);
	va_end(args);
	return RT_WRAPPED(execvpe)(file, argv, environ);
}

RT_WRAP(int, execle, const char *path, const char *first, ...)
{
	TAKE_ARGUMENTS(first);
	char *const *envp = va_arg(args, char *const *);

	va_end(args);
	return RT_WRAPPED(execve)(path, argv, envp);
}

RT_WRAP(int, posix_spawn, pid_t *ret, const char *path, const posix_spawn_file_actions_t *actions,
	const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
	WITH_RUN(envp);

	LEAVE_SIGNALS(!has_own_mask(attributes));
	return RT_REAL(posix_spawn)(ret, path, actions, attributes, argv, with);
}

RT_WRAP(int, posix_spawnp, pid_t *ret, const char *file, const posix_spawn_file_actions_t *actions,
	const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
	WITH_RUN(envp);

	LEAVE_SIGNALS(!has_own_mask(attributes));
	return RT_REAL(posix_spawnp)(ret, file, actions, attributes, argv, with);
}

/* Some functions take the environment where it is. While they run, it is another, which stays where
 * it is afterwards, since other threads may be reading it; it serves again while it is the same. */
static struct {
	char **before, **during;
	size_t n;
	unsigned users;
} swap;

static bool is_same(char *const a[], char *const b[], size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (a[i] != b[i])
			return false;
	return true;
}

static void swap_in(void)
{
	uint64_t mask = rt_block();
	size_t n;

	rt_lock();
	n = copy_length(environ);
	if (swap.users++ == 0 && n) {
		if (!swap.during || swap.n != n || !is_same(swap.during, environ, n - 2))
			swap.during = loci_sys_map(n * sizeof(char *), -1);
		swap.n = n;
		swap.before = environ;
		if (swap.during)
			environ = (char **)copy(environ, swap.during, n);
	}
	rt_unlock();
	rt_unblock(mask);
}

/* If it is no longer ours, somebody has changed it, and has copied it to do so. */
static void swap_out(void)
{
	uint64_t mask = rt_block();

	rt_lock();
	if (--swap.users == 0 && swap.during && environ == swap.during)
		environ = swap.before;
	rt_unlock();
	rt_unblock(mask);
}

RT_WRAP(int, system, const char *command)
{
	int r, error;

	if (rt_mode() == RT_OFF)
		return RT_REAL(system)(command);
	swap_in();
	r = RT_REAL(system)(command);
	error = errno;
	swap_out();
	errno = error;
	return r;
}

RT_WRAP(FILE *, popen, const char *command, const char *kind)
{
	FILE *file;
	int error;

	if (rt_mode() == RT_OFF)
		return RT_REAL(popen)(command, kind);
	swap_in();
	file = RT_REAL(popen)(command, kind);
	error = errno;
	swap_out();
	errno = error;
	return file;
}
