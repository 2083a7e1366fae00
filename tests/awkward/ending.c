// SPDX-License-Identifier: GPL-2.0-or-later
/* Ends in the way its argument names, after some work and with some output left unflushed where
 * that is what happens natively. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int work[10000];

static void at_exit(void)
{
	printf("at exit\n");
}

__attribute__((destructor)) static void destructor(void)
{
	for (int i = 0; i < 100; i++)
		work[i]++;
	if (write(1, "destructor\n", 11) < 0)
		_exit(99);
}

static void *leave(void *data)
{
	(void)data;
	exit(23);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "return";
	pthread_t thread;

	atexit(at_exit);
	for (int i = 0; i < 10000; i++)
		work[i] = i;
	printf("%s\n", how);
	if (!strcmp(how, "abort"))
		abort();
	if (!strcmp(how, "kill"))
		kill(getpid(), SIGKILL);
	if (!strcmp(how, "_exit"))
		_exit(5);
	if (!strcmp(how, "segfault"))
		*(volatile int *)8 = 1;
	if (!strcmp(how, "divide"))
		work[1] = 1000 / *(volatile int *)&work[0];
	if (!strcmp(how, "thread")) {
		pthread_create(&thread, NULL, leave, NULL);
		for (;;)
			pause();
	}
	if (!strcmp(how, "main-gone")) {
		fflush(stdout);
		pthread_create(&thread, NULL, leave, NULL);
		pthread_exit(NULL);
	}
	return 11;
}
