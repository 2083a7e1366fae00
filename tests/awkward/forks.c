// SPDX-License-Identifier: GPL-2.0-or-later
/* Fifty children at once, each with its own result; then a grandchild, a vfork, a pipe. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A function: code may be recorded from one on only. */
static __attribute__((noinline)) int result(int i)
{
	int *v = malloc(1000 * sizeof(*v)), r = 0;

	for (int k = 0; k < 1000; k++)
		v[k] = k * i;
	for (int k = 0; k < 1000; k++)
		r += v[k];
	return (r + i) % 97;
}

int main(void)
{
	long sum = 0;
	int status, fd[2];
	pid_t pid;
	char buf[32] = "";

	for (int i = 0; i < 50; i++) {
		pid = fork();
		if (pid == 0)
			_exit(result(i));
	}
	while (wait(&status) > 0)
		sum += WEXITSTATUS(status);
	printf("sum of 50 statuses: %ld\n", sum);
	fflush(stdout);
	if (pipe(fd) < 0)
		return 1;
	pid = fork();
	if (pid == 0) {
		pid = fork();
		if (pid == 0) {
			if (write(fd[1], "grandchild", 10) != 10)
				_exit(1);
			_exit(0);
		}
		waitpid(pid, &status, 0);
		_exit(WEXITSTATUS(status) + 4);
	}
	waitpid(pid, &status, 0);
	if (read(fd[0], buf, sizeof(buf) - 1) < 0)
		return 1;
	printf("%s wrote, child gave %d\n", buf, WEXITSTATUS(status));
	fflush(stdout);
	pid = vfork();
	if (pid == 0) {
		execl("/bin/echo", "echo", "from vfork and exec", (char *)NULL);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	printf("system gave %d\n", WEXITSTATUS(system("exit 9")));
	return 0;
}
