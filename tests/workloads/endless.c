// SPDX-License-Identifier: GPL-2.0-or-later
/* Counts for ever; says when it has begun. */
#include <unistd.h>

volatile unsigned long endless_count;

int main(void)
{
	if (write(1, "begun\n", 6) != 6)
		return 1;
	for (;;)
		endless_count++;
}
