// SPDX-License-Identifier: BSD-2-Clause
/* Programs that this one becomes or starts. They are to be followed whatever environment they are
 * given, so the run's directory is added to one that lacks it. The rings stay as they are: if the
 * call succeeds the recorder sees another program in this process, or its end; if it fails this
 * one goes on. */
#include "collect/runtime/runtime.h"
#include "collect/runtime/wrap.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#define MAX_VARIABLES 16384 /* they are copied on the stack */

static void before_exec(const char *path)
{
	struct rt_thread *thread = rt_thread();
	int error = errno;
	uint64_t raw[1], name, mask;

	if (!thread || !path || !rt_is_this_process())
		return;
	mask = rt_block();
	rt_lock();
	name = rt_process_string(path);
	rt_unlock();
	raw[0] = rt_thread_count(thread);
	rt_mark(thread, LOCI_MARK_COUNT, 0, 1, raw);
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
	return RT_REAL(execve)(path, argv, with);
}

RT_WRAP(int, execvpe, const char *file, char *const argv[], char *const envp[])
{
	WITH_RUN(envp);

	before_exec(file);
	return RT_REAL(execvpe)(file, argv, with);
}

RT_WRAP(int, fexecve, int fd, char *const argv[], char *const envp[])
{
	WITH_RUN(envp);

	before_exec(argv[0] ? argv[0] : "");
	return RT_REAL(fexecve)(fd, argv, with);
}

RT_WRAP(int, execveat, int fd, const char *path, char *const argv[], char *const envp[], int flags)
{
	WITH_RUN(envp);

	before_exec(path);
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

	return RT_REAL(posix_spawn)(ret, path, actions, attributes, argv, with);
}

RT_WRAP(int, posix_spawnp, pid_t *ret, const char *file, const posix_spawn_file_actions_t *actions,
	const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
	WITH_RUN(envp);

	return RT_REAL(posix_spawnp)(ret, file, actions, attributes, argv, with);
}
