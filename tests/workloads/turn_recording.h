/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tells the recorder to turn recording on or off, and waits until it has taken the signal: on a
 * busy machine that may be a while. */
#ifndef TESTS_WORKLOADS_TURN_RECORDING_H
#define TESTS_WORKLOADS_TURN_RECORDING_H

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int is_signal_pending(int pid, int signal)
{
	char path[64], line[256];
	unsigned long long set, pending = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "ShdPnd: %llx", &set) == 1 ||
			sscanf(line, "SigPnd: %llx", &set) == 1)
			pending |= set;
	if (file)
		fclose(file);
	return pending >> (signal - 1) & 1;
}

static void turn_recording(void)
{
	kill(getppid(), SIGUSR2);
	while (is_signal_pending(getppid(), SIGUSR2))
		usleep(1000);
}

#endif
