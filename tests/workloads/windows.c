// SPDX-License-Identifier: GPL-2.0-or-later
/* Two functions with a store each, called by turns for some time. */
volatile long first_cell, second_cell;

static __attribute__((noinline)) void first(void)
{
	first_cell = 1;
}

static __attribute__((noinline)) void second(void)
{
	second_cell = 2;
}

int main(void)
{
	for (int i = 0; i < 5000; i++) {
		first();
		second();
	}
	return 0;
}
