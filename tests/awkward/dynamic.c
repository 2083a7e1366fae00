// SPDX-License-Identifier: GPL-2.0-or-later
/* dlopen and dlclose of a plugin beside the program, thirty times, with other mappings between, so
 * that it comes to lie at different addresses; and code that writes code. */
#include <dlfcn.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

int main(int argc, char **argv)
{
	unsigned char code[] = { 0xb8, 0, 0, 0, 0, 0xc3 }; /* mov $n, %eax; ret */
	unsigned char *memory;
	long sum = 0;
	char path[4096];

	(void)argc;
	snprintf(path, sizeof(path), "%s/plugin.so", dirname(argv[0]));
	for (int i = 0; i < 30; i++) {
		void *plugin = dlopen(path, RTLD_NOW), *between = NULL;
		long (*f)(long);

		if (!plugin) {
			fprintf(stderr, "%s\n", dlerror());
			return 1;
		}
		f = (long (*)(long))dlsym(plugin, "plugin_sum");
		sum += f(1000);
		dlclose(plugin);
		if (i % 3 == 0)
			between = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (between && i % 2)
			munmap(between, 1 << 16);
	}
	printf("sum %ld\n", sum);
	memory = mmap(
		NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sum = 0;
	for (int i = 0; i < 50; i++) {
		code[1] = (unsigned char)i;
		memcpy(memory, code, sizeof(code));
		sum += ((int (*)(void))memory)();
	}
	printf("code that changes: %ld\n", sum);
	return 0;
}
