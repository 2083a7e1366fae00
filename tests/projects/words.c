// SPDX-License-Identifier: GPL-2.0-or-later
/* words [FILE]: the words of a file, counted. With LOAD the tally is a library that is loaded while
 * the program runs. */
#include "tally.h"

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
	struct tally *tally;
	char text[64];
	size_t n = 0;
	int c;

	if (!file)
		return 1;
#ifdef LOAD
	if (!library)
		return 2;
#endif
	tally = CALL(tally_new)();
	while ((c = getc(file)) != EOF) {
		if (isalpha(c) && n < sizeof(text) - 1) {
			text[n++] = (char)tolower(c);
		} else if (n) {
			text[n] = 0;
			CALL(tally_add)(tally, text);
			n = 0;
		}
	}
	n = CALL(tally_sorted)(tally, word, count, TOP);
	for (size_t i = 0; i < n; i++)
		printf("%4u %s\n", count[i], word[i]);
	CALL(tally_free)(tally);
	fclose(file);
	return 0;
}
