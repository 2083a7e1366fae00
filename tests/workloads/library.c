// SPDX-License-Identifier: GPL-2.0-or-later
/* What loads_library loads. */
int twice(int n);

static volatile int calls;

int twice(int n)
{
	calls++;
	return 2 * n;
}
