// SPDX-License-Identifier: GPL-2.0-or-later
/* A thousand stores (or STORES) to each of three cells:
 *
 *	parts MILLISECONDS [toggle | until 10]
 *
 * Between them it sleeps that long; toggle: after it told its parent to turn recording on or off.
 * Or it waits instead until recording is on (1), off (0), as often as there are digits, and says of
 * each cell whether recording was on: 1, 0, or ?, it changed meanwhile. */
#include "turn_recording.h"

#include "../../src/collect/run_control.h"

#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <sys/mman.h>

#ifndef STORES
#define STORES 1000
#endif
volatile long early_cell, middle_cell, late_cell;

static useconds_t pause_us;
static int toggles;
static const char *until = "";
static const volatile struct loci_control *control;

/* The file by which our parent turns recording on and off. */
static const volatile struct loci_control *find_control(void)
{
	const char *const base[] = { "/dev/shm", getenv("TMPDIR"), "/tmp" };
	char pattern[4096];
	glob_t found = { 0 };
	void *memory;
	int fd = -1;

	for (int i = 0; i < 3 && fd < 0; i++) {
		snprintf(pattern, sizeof(pattern), "%s/loci-run-%d-*/" LOCI_CONTROL_FILE,
			base[i] ? base[i] : "", (int)getppid());
		if (glob(pattern, 0, NULL, &found) == 0)
			fd = open(found.gl_pathv[0], O_RDONLY);
		globfree(&found);
	}
	memory = mmap(NULL, sizeof(struct loci_control), PROT_READ, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED)
		exit(1);
	close(fd);
	return memory;
}

static void store(const char *name, volatile long *cell)
{
	unsigned before = control ? control->recording : 0;

	usleep(1); /* collectors look when a call of the kernel is over, or sooner */
	for (int i = 0; i < STORES; i++)
		*cell = i;
	if (control)
		printf("%s %c\n", name, control->recording != before ? '?' : before ? '1' : '0');
}

static void between(void)
{
	if (*until) {
		for (unsigned on = *until++ == '1'; control->recording != on;)
			usleep(1000);
		return;
	}
	if (toggles)
		turn_recording();
	usleep(pause_us);
}

int main(int argc, char **argv)
{
	pause_us = argc > 1 ? (useconds_t)atoi(argv[1]) * 1000 : 0;
	toggles = argc > 2 && !strcmp(argv[2], "toggle");
	if (argc > 3) {
		until = argv[3];
		control = find_control();
	}
	store("early", &early_cell);
	between();
	store("middle", &middle_cell);
	between();
	store("late", &late_cell);
	return 0;
}
