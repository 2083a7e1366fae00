// SPDX-License-Identifier: GPL-2.0-or-later
/* words [FILE]: the words of a file, counted. With LOAD the table is a library that is loaded while
 * the program runs. */
#include "table.h"

#include <ctype.h>
#include <stdio.h>

#ifdef LOAD
#include <dlfcn.h>
#define CALL(name) ((__typeof__(&name))dlsym(library, #name))
#else
#define CALL(name) name
#endif

#define TOP 20

int main(int argc, char **argv)
{
	FILE *file = argc > 1 ? fopen(argv[1], "r") : stdin;
#ifdef LOAD
	void *library = dlopen(LOAD, RTLD_NOW);
#endif
	const char *word[TOP];
	unsigned count[TOP];
	struct table *table;
	char text[64];
	size_t n = 0;
	int c;

	if (!file)
		return 1;
#ifdef LOAD
	if (!library)
		return 2;
#endif
	table = CALL(table_new)();
	while ((c = getc(file)) != EOF) {
		if (isalpha(c) && n < sizeof(text) - 1) {
			text[n++] = (char)tolower(c);
		} else if (n) {
			text[n] = 0;
			CALL(table_add)(table, text);
			n = 0;
		}
	}
	n = CALL(table_sorted)(table, word, count, TOP);
	for (size_t i = 0; i < n; i++)
		printf("%4u %s\n", count[i], word[i]);
	CALL(table_free)(table);
	fclose(file);
	return 0;
}
