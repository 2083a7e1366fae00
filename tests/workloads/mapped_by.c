// SPDX-License-Identifier: GPL-2.0-or-later
/* Says whether its recorder has mapped a file of its own, once it has used memory for a while, by
 * itself and through the C library. Usage: mapped_by FILE.. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BYTES (1 << 20)

static long table[1 << 12];

static __attribute__((noinline)) long use(char *memory)
{
	long sum = 0;

	for (int round = 0; round < 60; round++) {
		long local[64];

		memset(memory, round, BYTES);
		memcpy(memory, memory + BYTES / 2, BYTES / 2);
		for (int i = 0; i < 1 << 12; i++)
			table[i] += memory[i] + (local[i & 63] = i);
		for (int i = 0; i < 1 << 12; i++)
			sum += table[i] + local[i & 63];
	}
	return sum;
}

int main(int argc, char **argv)
{
	char *memory = malloc(BYTES), path[64], line[512];
	long sum = use(memory);
	FILE *maps;

	usleep(300000); /* the recorder reads what it was told */
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)getppid());
	maps = fopen(path, "r");
	if (!maps)
		return 77;
	printf("%ld\n", sum);
	while (fgets(line, sizeof(line), maps))
		for (int i = 1; i < argc; i++)
			if (strstr(line, argv[i]))
				printf("mapped: %s", line);
	fclose(maps);
	free(memory);
	return 0;
}
