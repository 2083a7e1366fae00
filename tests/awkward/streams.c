// SPDX-License-Identifier: GPL-2.0-or-later
/* Copies standard input to output, byte for byte, says on standard error how much, and what it was
 * given: arguments, some variables, descriptors. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	const char *variable = getenv("AWKWARD");
	long bytes = 0;
	int c;

	while ((c = getchar()) != EOF) {
		putchar(c);
		bytes++;
	}
	fprintf(stderr, "%ld bytes; AWKWARD=%s;", bytes, variable ? variable : "(unset)");
	for (int i = 1; i < argc; i++)
		fprintf(stderr, " [%s]", argv[i]);
	fprintf(stderr, "; next descriptor %d; %s\n", dup(0),
		getenv("LOCI_RUN") ? "LOCI_RUN is set" : "nothing of ours");
	return 0;
}
