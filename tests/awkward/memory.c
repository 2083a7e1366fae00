// SPDX-License-Identifier: GPL-2.0-or-later
/* The heap in every way: all functions of the malloc family, brk by hand, mremap, memory that comes
 * back at the same address, a big sparse mapping, a file mapped and changed. */
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int main(void)
{
	void *kept[64] = { NULL }, *aligned = NULL;
	char *p, *q, name[] = "/tmp/awkward-XXXXXX";
	long sum = 0;
	int fd;

	for (int i = 0; i < 4000; i++) {
		size_t n = (size_t)(i * 37 % 5000) + 1;
		int k = i * 13 % 64;

		if (i % 5 == 0)
			kept[k] = realloc(kept[k], n);
		else {
			free(kept[k]);
			kept[k] = i % 3 ? malloc(n) : calloc(n, 1);
		}
		memset(kept[k], i, n);
		sum += ((unsigned char *)kept[k])[n - 1];
	}
	for (int i = 0; i < 64; i++)
		free(kept[i]);
	if (posix_memalign(&aligned, 4096, 10000))
		return 1;
	sum += (uintptr_t)aligned % 4096;
	free(aligned);
	free(aligned_alloc(64, 640));
	free(memalign(128, 100));
	free(NULL);
	free(reallocarray(NULL, 10, 10));
	printf("heap: %ld\n", sum);

	p = sbrk(65536);
	memset(p, 1, 65536);
	sbrk(-32768);
	for (int i = 0; i < 10; i++) {
		p = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		p[12345] = (char)i;
		q = mremap(p, 1 << 20, 4 << 20, MREMAP_MAYMOVE);
		sum += q[12345] + q[3 << 20];
		munmap(q, 4 << 20);
	}
	p = mmap(NULL, 8ul << 30, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p != MAP_FAILED)
		for (size_t i = 0; i < 8; i++)
			p[i << 30] = 1;
	fd = mkstemp(name);
	unlink(name);
	if (fd < 0 || ftruncate(fd, 8192) < 0)
		return 1;
	q = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	strcpy(q + 4000, "through the mapping");
	if (pread(fd, name, sizeof(name), 4000) < 0)
		return 1;
	printf("mapped: %.7s, next descriptor %d\n", name, dup(0));
	return 0;
}
