// SPDX-License-Identifier: GPL-2.0-or-later
/* Loads the library named by its argument, calls `twice` in it and unloads it, two times. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	int sum = 0;

	for (int i = 0; i < 2 && argc > 1; i++) {
		void *library = dlopen(argv[1], RTLD_NOW);
		int (*twice)(int) = library ? (int (*)(int))dlsym(library, "twice") : NULL;

		if (!twice)
			return 1;
		sum += twice(21);
		dlclose(library);
	}
	return printf("%d\n", sum) < 0 || sum != 84;
}
