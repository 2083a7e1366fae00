/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An allocation, touched only if there is an argument. */
#include <stdlib.h>

__attribute__((noinline)) static int *make(void)
{
	int *made = malloc(4096);

	return made;
}

int main(int argc, char **argv)
{
	int *volatile kept = make();
	int *first = kept;

	(void)argv;
	if (!first)
		return 1;
	for (int i = 0; i < 1024 && argc > 1; i++)
		first[i] = i;
	free(first);
	return 0;
}
