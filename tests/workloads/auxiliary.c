// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints the random bytes that the kernel gave the program, then walks a table and starts itself
 * once more, unless it has an argument. */
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <unistd.h>

#define LINES 4096

static volatile struct {
	long first;
	char rest[56];
} table[LINES];

static __attribute__((noinline)) long walk(void)
{
	long sum = 0;

	for (int turn = 0; turn < 3; turn++)
		for (int i = 0; i < LINES; i++)
			sum += table[i].first;
	return sum;
}

int main(int argc, char **argv)
{
	const unsigned char *bytes = (const unsigned char *)getauxval(AT_RANDOM);

	for (int i = 0; i < 16; i++)
		printf("%02x", bytes[i]);
	printf("\n");
	fflush(stdout);
	if (argc == 1 && fork() == 0) {
		execl(argv[0], argv[0], "once", (char *)NULL);
		_exit(127);
	}
	wait(NULL);
	return walk() != 0;
}
