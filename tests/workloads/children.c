// SPDX-License-Identifier: GPL-2.0-or-later
/* Forks a child that exits with 7, and one that runs `true`; loads a mark of each into a word. */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int words[3];

int main(void)
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		words[1]++;
		_exit(7);
	}
	waitpid(child, &status, 0);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 7)
		return 1;
	child = fork();
	if (child == 0) {
		execl("/nonexistent/true", "true", (char *)NULL);
		execl("/bin/true", "true", (char *)NULL);
		_exit(8);
	}
	waitpid(child, &status, 0);
	words[0]++;
	if (printf("%p\n", (void *)words) < 0)
		return 1;
	return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}
