// SPDX-License-Identifier: GPL-2.0-or-later
/* Calls of the heap whose events the test counts by hand, with sizes that nobody else asks for.
 * Prints where the blocks are in the end. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(void)
{
	static char text[200];
	volatile size_t huge = (size_t)1 << 62;
	void *a, *b, *c = NULL, *d, *e;
	int n;

	a = malloc(70001);
	b = calloc(3, 20011);     /* 60033 */
	a = realloc(a, 70003);    /* RESIZE */
	d = realloc(NULL, 70005); /* ALLOC */
	if (posix_memalign(&c, 4096, 70007))
		return 1;
	e = aligned_alloc(64, 70016);
	if (malloc(huge) || realloc(d, huge)) /* nothing */
		return 1;
	b = reallocarray(b, 7, 10003); /* RESIZE 70021 */
	n = snprintf(text, sizeof(text), "%p %p %p %p %p\n", a, b, c, d, e);
	free(NULL); /* nothing */
	free(a);
	free(b);
	free(c);
	free(d);
	free(e);
	return write(1, text, (size_t)n) != n;
}
