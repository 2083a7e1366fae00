// SPDX-License-Identifier: GPL-2.0-or-later
/* parts MILLISECONDS [toggle]: a thousand stores (or STORES) to each of three cells, that long
 * apart. Between them it tells its parent to turn recording on or off. */
#include "turn_recording.h"

#include <stdlib.h>

#ifndef STORES
#define STORES 1000
#endif
volatile long early_cell, middle_cell, late_cell;

static void store(volatile long *cell)
{
	for (int i = 0; i < STORES; i++)
		*cell = i;
}

int main(int argc, char **argv)
{
	useconds_t pause_us = argc > 1 ? (useconds_t)atoi(argv[1]) * 1000 : 0;

	store(&early_cell);
	if (argc > 2)
		turn_recording();
	usleep(pause_us);
	store(&middle_cell);
	if (argc > 2)
		turn_recording();
	usleep(pause_us);
	store(&late_cell);
	return 0;
}
