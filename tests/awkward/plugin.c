// SPDX-License-Identifier: GPL-2.0-or-later
/* Loaded and unloaded by dynamic.c. */
__attribute__((visibility("default"))) long plugin_sum(long n);

static long table[256];

__attribute__((constructor)) static void fill(void)
{
	for (int i = 0; i < 256; i++)
		table[i] = i;
}

long plugin_sum(long n)
{
	long sum = 0;

	for (long i = 0; i < n; i++)
		sum += table[i & 255];
	return sum;
}
