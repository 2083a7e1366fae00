// SPDX-License-Identifier: GPL-2.0-or-later
/* A fuzz target's main where libFuzzer is not: hands it every file of the directories named. */
#include <dirent.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void replay(const char *path)
{
	FILE *file = fopen(path, "rb");
	uint8_t *data = NULL;
	long size;

	if (!file || fseek(file, 0, SEEK_END) || (size = ftell(file)) < 0 ||
		!(data = malloc((size_t)size + 1))) {
		perror(path);
		exit(1);
	}
	rewind(file);
	if (fread(data, 1, (size_t)size, file) != (size_t)size) {
		perror(path);
		exit(1);
	}
	LLVMFuzzerTestOneInput(data, (size_t)size);
	free(data);
	fclose(file);
}

int main(int argc, char **argv)
{
	unsigned inputs = 0;
	char path[4096];

	for (int i = 1; i < argc; i++) {
		DIR *dir = opendir(argv[i]);

		if (!dir) {
			perror(argv[i]);
			return 1;
		}
		for (struct dirent *entry; (entry = readdir(dir));) {
			if (entry->d_name[0] == '.')
				continue;
			snprintf(path, sizeof(path), "%s/%s", argv[i], entry->d_name);
			replay(path);
			inputs++;
		}
		closedir(dir);
	}
	printf("%u inputs replayed\n", inputs);
	return inputs == 0;
}
