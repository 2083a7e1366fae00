// SPDX-License-Identifier: GPL-2.0-or-later
/* A program without any library: ends with status 7. */
void _start(void);
void _start(void)
{
	volatile long status = 7;

	__asm__ volatile("syscall" : : "a"(60L), "D"(status) : "memory", "rcx", "r11");
}
