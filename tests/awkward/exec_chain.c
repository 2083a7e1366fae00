// SPDX-License-Identifier: GPL-2.0-or-later
/* Executes itself again until its argument is 0; a failed exec on the way changes nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 6;
	char next[16];

	printf("%d in the same process\n", n);
	fflush(stdout);
	if (n == 0)
		return 17;
	if (n == 3)
		execl("/nonexistent/program", "program", (char *)NULL);
	snprintf(next, sizeof(next), "%d", n - 1);
	execl(argv[0], argv[0], next, (char *)NULL);
	perror(argv[0]);
	return 1;
}
