// SPDX-License-Identifier: GPL-2.0-or-later
/* A handler that calls the kernel within a read, from an alternate stack that is disarmed meanwhile
 * (SS_AUTODISARM) and lies above the thread's own; what is read goes to memory that is touched all
 * the time. */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ROUNDS      200
#define STACK_BYTES 65536
#define AUTODISARM  (1 << 31)

static int ends[2];
static char *alternate;
static volatile uint64_t *page;
static volatile int reads;

static void handler(int signal)
{
	for (int i = 0; i < 3; i++)
		syscall(SYS_getppid);
	if (signal == SIGUSR1)
		write(ends[1], "12345678", 8);
}

static void *reading(void *data)
{
	stack_t own = { .ss_sp = alternate, .ss_size = STACK_BYTES, .ss_flags = AUTODISARM };
	int taken = sigaltstack(&own, NULL), n = 0;

	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < 3000; i++)
			page[i * 8 % 512]++;
		reads = 1;
		n += read(ends[0], (void *)page, 8) == 8 &&
			memcmp((void *)page, "12345678", 8) == 0;
	}
	printf("taken %d, above %d, %d of %d read\n", taken, alternate > (char *)&own, n, ROUNDS);
	return data;
}

int main(void)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_ONSTACK | SA_RESTART };
	pthread_t thread;

	sigaction(SIGUSR1, &action, NULL);
	if (pipe(ends) < 0)
		return 1;
	/* What is mapped later lies below. */
	alternate =
		mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_create(&thread, NULL, reading, NULL);
	for (int round = 0; round < ROUNDS; round++) {
		while (!reads)
			usleep(100);
		reads = 0;
		usleep(1500);
		pthread_kill(thread, SIGUSR1);
	}
	pthread_join(thread, NULL);
	return 0;
}
