// SPDX-License-Identifier: GPL-2.0-or-later
/* Watches by page protection, driven directly: what rt_watch_pages tells is held against what the
 * program did, and what the program gets from the kernel against what it would have got. Signals
 * are taken in the simplest way; the runtime's (own_signals.h) is tested with programs. */
#include "check.h"
#include "collect/runtime/watch.h"
#include "collect/runtime/watched_pages.h"
#include "pages_alone.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static _Alignas(64) char main_stack[65536];

static void have_stack(char *memory, size_t bytes)
{
	stack_t stack = { .ss_sp = memory, .ss_size = bytes };

	CHECK(sigaltstack(&stack, NULL) == 0);
}

static void begin(void)
{
	pages_begin(6, false);
}

static volatile char *new_pages(unsigned n)
{
	char *pages =
		mmap(NULL, n * 4096ul, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(pages != MAP_FAILED);
	memset(pages, 'a', n * 4096ul);
	return pages;
}

static double now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return 1e6 * (double)now.tv_sec + 1e-3 * (double)now.tv_nsec;
}

static void fires_once(void)
{
	volatile char *page = new_pages(1);

	begin();
	CHECK(pages_arm(2, (char *)page + 128));
	page[140] = 'b';
	CHECK(n_fired == 1 && fired[0].watch == 2 && fired[0].address == (uintptr_t)page + 140);
	CHECK(page[140] == 'b' && page[0] == 'a');
	CHECK(n_fired == 1 && n_given_up == 0);
	CHECK(watching->false_faults == 0 && watching->steps == 0);
	pages_end();
}

static void steps_beside(void)
{
	volatile char *page = new_pages(1);

	begin();
	CHECK(pages_arm(0, (char *)page + 64));
	for (unsigned i = 0; i < 10; i++)
		page[1000 + i] = (char)i;
	CHECK(n_fired == 0 && watching->false_faults == 10);
	CHECK(watching->steps == 10);
	CHECK(n_took[RT_WATCH_BESIDE] == 10 && n_took[RT_WATCH_BEFORE] == 10); /* steps */
	CHECK(page[64] == 'a' && n_fired == 1 && fired[0].address == (uintptr_t)page + 64);
	for (unsigned i = 0; i < 10; i++)
		CHECK(page[1000 + i] == (char)i);
	CHECK(watching->false_faults == 10);
	CHECK(n_took[RT_WATCH_BESIDE] == 10 && n_took[RT_WATCH_BEFORE] == 10 + 1);
	pages_end();
}

/* Calls are charged for, and so is the trap behind one that found its page closed. */
static void charges_calls(void)
{
	volatile char *page = new_pages(1);
	int fd = open("/dev/zero", O_RDONLY);
	unsigned n;

	begin();
	CHECK(pages_arm(0, (char *)page));
	n = n_took[RT_WATCH_LED];
	CHECK(syscall(SYS_getppid) > 0 && n_took[RT_WATCH_LED] == n + 1);
	CHECK(n_took[RT_WATCH_BESIDE] == 0);
	CHECK(read(fd, (char *)page + 100, 8) == 8 && n_took[RT_WATCH_LED] == n + 2);
	CHECK(n_took[RT_WATCH_BESIDE] == 1 && n_took[RT_WATCH_BEFORE] == 0);
	pages_end();
	n = n_took[RT_WATCH_LED];
	CHECK(syscall(SYS_getppid) > 0 && n_took[RT_WATCH_LED] == n);
	close(fd);
}

/* What is measured is part of what a fault takes, and leaves nothing behind. */
static void measures(void)
{
	uint64_t before = 0, after = 0;
	volatile char *page = new_pages(1);
	double start, least = 1e9;

	rt_pages_measure(&before, &after);
	CHECK(before == 0 && after == 0);
	begin();
	rt_pages_measure(&before, &after);
	CHECK(before > 0 && after > 0);
	for (unsigned i = 0; i < 100; i++) {
		CHECK(pages_arm(0, (char *)page));
		start = now_us();
		page[0] = 'b';
		least = now_us() - start < least ? now_us() - start : least;
	}
	CHECK(n_fired == 100 && watching->false_faults == 0 && n_took[RT_WATCH_BESIDE] == 0);
	/* other work may slow down either */
	if ((double)(before + after) < 0.2e3 * least || (double)(before + after) > 50e3 * least)
		CHECK_FAIL("%llu and %llu ns are no part of %g us", (unsigned long long)before,
			(unsigned long long)after, least);
	pages_end();
}

static void two_in_a_page(void)
{
	volatile char *page = new_pages(1);

	begin();
	CHECK(pages_arm(0, (char *)page) && pages_arm(1, (char *)page + 4032));
	page[4095] = 'b';
	CHECK(n_fired == 1 && fired[0].watch == 1 && watching->steps == 1);
	page[100] = 'c';
	CHECK(n_fired == 1 && watching->false_faults == 1);
	page[63] = 'd';
	CHECK(n_fired == 2 && fired[1].watch == 0);
	page[100] = 'c';
	CHECK(watching->false_faults == 1 && page[4095] == 'b' && page[100] == 'c');
	pages_end();
}

static void moves_and_disarms(void)
{
	volatile char *page = new_pages(2);

	begin();
	CHECK(pages_arm(0, (char *)page) && pages_arm(0, (char *)page + 4096));
	page[0]++;
	CHECK(n_fired == 0 && watching->false_faults == 0);
	page[4096]++;
	CHECK(n_fired == 1);
	CHECK(pages_arm(0, (char *)page));
	pages_disarm(0);
	page[0]++;
	CHECK(n_fired == 1 && watching->false_faults == 0);
	CHECK(pages_arm(0, (char *)page) && pages_arm(1, (char *)page + 4096));
	pages_end();
	page[0]++;
	page[4096]++;
	CHECK(n_fired == 1 && !pages_arm(0, (char *)page));
}

static void only_writes(void)
{
	volatile char *page = new_pages(1);
	char c = 0;

	pages_begin(6, true);
	CHECK(pages_arm(0, (char *)page));
	for (unsigned i = 0; i < 100; i++)
		c = (char)(c + page[i]);
	CHECK(n_fired == 0 && watching->false_faults == 0 && c);
	page[500] = 'x';
	CHECK(n_fired == 0 && watching->false_faults == 1);
	page[5] = 'x';
	CHECK(n_fired == 1 && page[5] == 'x');
	CHECK(mprotect((void *)page, 4096, PROT_READ) == 0 && !pages_arm(0, (char *)page));
	pages_end();
}

static void small_blocks(void)
{
	volatile char *page = new_pages(1);

	pages_begin(3, false);
	CHECK(pages_arm(0, (char *)page + 17)); /* 16..23 */
	page[15]++;
	page[24]++;
	CHECK(n_fired == 0 && watching->false_faults == 2 * 2); /* a load and a store */
	page[23]++;
	CHECK(n_fired == 1);
	pages_end();
}

/* Handlers count meanwhile. */
static void put(volatile char *at, char value)
{
	*at = value;
	__asm__ volatile("" ::: "memory");
}

static void hot_pages(void)
{
	volatile char *page = new_pages(1);
	unsigned all_lost = 0;

	begin();
	for (unsigned i = 0; i < 12; i++) {
		uint64_t begun = watching->false_faults, last = RT_SURE_FAULTS;

		n_lost = n_kept = 0;
		CHECK(pages_arm(3, (char *)page + 192));
		for (unsigned j = 0; j < 4 * RT_SURE_FAULTS && !n_lost; j++)
			put(page, (char)j);
		if (n_lost) /* by the lot after those that it survived */
			last <<= n_kept;
		else
			last = 4 * RT_SURE_FAULTS;
		CHECK_U64(watching->false_faults - begun, last);
		CHECK(n_lost ? lost[0].watch == 3 && lost[0].address == (uintptr_t)page + 192
			     : n_kept == 3);
		all_lost += n_lost;
		put(page + 200, 1);
		CHECK_U64(n_fired, i + 1 - all_lost); /* it is watched if it was not lost */
	}
	CHECK(all_lost >= 8 && n_given_up == 0); /* one in eight is not */
	pages_end();
}

/* Others in the page are watched on when a lot ends one. */
static void lots_of_one(void)
{
	volatile char *page = new_pages(1);
	unsigned i = 0;

	begin();
	CHECK(pages_arm(0, (char *)page + 192));
	for (; i < 100; i++)
		page[0] = (char)i;
	CHECK(pages_arm(1, (char *)page + 256));
	for (; i < RT_SURE_FAULTS + 99; i++)
		page[0] = (char)i;
	CHECK_U64(n_lost + n_kept, 1); /* of the first */
	put(page + 256, 1);
	CHECK(n_fired == 1 && fired[0].watch == 1);
	put(page + 192, 1);
	CHECK_U64(n_fired, 1 + n_kept);
	pages_end();
}

static void copy_string(volatile char *to, const volatile char *from, size_t bytes)
{
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
}

static void copy_byte(volatile char *to, const volatile char *from)
{
	__asm__ volatile("movsb" : "+D"(to), "+S"(from) : : "memory");
}

/* An instruction that reaches the block from the page's beginning on. */
static void strings(void)
{
	volatile char *page = new_pages(4);

	begin();
	CHECK(pages_arm(0, (char *)page + 2048) && pages_arm(1, (char *)page + 2 * 4096 + 1024));
	copy_string(page, page + 2 * 4096, 4096);
	CHECK(n_fired == 2 && n_given_up == 0 && watching->false_faults == 0);
	CHECK(pages_arm(0, (char *)page + 2048));
	copy_string(page, page + 2 * 4096, 32); /* not so far */
	CHECK(n_fired == 2 && watching->false_faults == 32);
	pages_end();
}

/* Two pages of one instruction. */
static void pages_at_once(void)
{
	volatile char *page = new_pages(4);

	begin();
	CHECK(pages_arm(0, (char *)page + 2048) && pages_arm(1, (char *)page + 2 * 4096 + 1024));
	page[2 * 4096] = 'z';
	copy_byte(page, page + 2 * 4096);
	CHECK(n_fired == 0 && watching->false_faults == 3);
	CHECK(page[0] == 'z' && watching->false_faults == 4);
	page[2048]++;
	page[2 * 4096 + 1024]++;
	CHECK(n_fired == 2);
	pages_end();
}

static void refusals(void)
{
	volatile char *page = new_pages(1);
	char here[64];
	void *heap = malloc(100);

	begin();
	CHECK(!pages_arm(0, here) && !pages_arm(0, &environ[0]) &&
		!pages_arm(0, pages_own_memory()) && !pages_arm(0, pages_thread_memory()) &&
		!pages_arm(0, &errno));
	CHECK(!pages_arm(0, main_stack + 4096));
	CHECK(!pages_arm(0, (char *)(uintptr_t)refusals) && !pages_arm(0, (char *)16));
	CHECK(pages_arm(0, heap));
	CHECK(mprotect((void *)page, 4096, PROT_NONE) == 0 && !pages_arm(0, (char *)page));
	CHECK(munmap((void *)page, 4096) == 0 && !pages_arm(0, (char *)page));
	CHECK(n_fired == 0);
	pages_end();
	free(heap);
}

static pthread_barrier_t made;

/* Its alternate stack is the lowest part of the memory that its stack is in. */
static void *takes_lowest(void *data)
{
	stack_t lowest = { .ss_sp = data, .ss_size = 16384 }, none = { .ss_flags = SS_DISABLE };

	pthread_barrier_wait(&made);
	CHECK(sigaltstack(&lowest, NULL) == 0);
	CHECK(!pages_arm(0, (char *)data + 4096) && !pages_arm(0, (char *)data + 65536));
	CHECK(sigaltstack(&none, NULL) == 0);
	return data;
}

static void stacks_in_one_piece(void)
{
	enum { GUARD = 4096, BYTES = 262144 };
	char *memory = mmap(NULL, BYTES + 2 * GUARD, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_t attr;
	pthread_t thread;

	CHECK(mprotect(memory + GUARD, BYTES, PROT_READ | PROT_WRITE) == 0);
	pthread_attr_init(&attr);
	CHECK(pthread_attr_setstack(&attr, memory + GUARD, BYTES) == 0);
	pthread_barrier_init(&made, NULL, 2);
	begin();
	CHECK(pthread_create(&thread, &attr, takes_lowest, memory + GUARD) == 0);
	pthread_barrier_wait(&made); /* the call that made it reaches anything */
	pthread_join(thread, NULL);
	CHECK(watching->n_stopped == 0);
	pages_end();
	pthread_barrier_destroy(&made);
	pthread_attr_destroy(&attr);
	munmap(memory, BYTES + 2 * GUARD);
}

/* Calls that find their memory closed. */
static void kernel_reads_and_writes(void)
{
	volatile char *page = new_pages(2);
	char name[] = "/tmp/watched_pages.XXXXXX";
	int fd = mkstemp(name), pair[2], n = 0;
	struct iovec parts[2] = { { (char *)page + 10, 4 }, { (char *)page + 4096, 4 } };
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };
	FILE *file;

	unlink(name);
	begin();
	CHECK(pages_arm(0, (char *)page) && pages_arm(1, (char *)page + 4096));
	CHECK(write(fd, (char *)page, 8192) == 8192 && lseek(fd, 0, SEEK_SET) == 0);
	CHECK(read(fd, (char *)page, 8192) == 8192 && lseek(fd, 0, SEEK_SET) == 0);
	CHECK(writev(fd, parts, 2) == 8 && lseek(fd, 0, SEEK_SET) == 0 && readv(fd, parts, 2) == 8);
	CHECK(pread(fd, (char *)page + 5, 3, 0) == 3 && pwrite(fd, (char *)page + 5, 3, 0) == 3);
	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
	CHECK(sendmsg(pair[0], &message, 0) == 8);
	CHECK(ioctl(pair[1], FIONREAD, (char *)page + 200) == 0 && n == 0);
	CHECK(recvmsg(pair[1], &message, 0) == 8);
	CHECK(send(pair[0], (char *)page, 100, 0) == 100 && recv(pair[1], (char *)page, 100, 0));
	CHECK(getrandom((char *)page + 300, 8, 0) == 8);
	CHECK(syscall(SYS_getcwd, (char *)page + 1000, 1000) > 0);
	CHECK(fstat(fd, (struct stat *)((uintptr_t)page + 4096 + 512)) == 0);
	CHECK(n_fired == 0 && n_given_up == 0 && watching->false_faults == 0);
	file = fdopen(fd, "r+");
	setvbuf(file, (char *)page, _IOFBF, 4096); /* and the library touches it too */
	CHECK(fread(name + sizeof(name) - 2, 1, 1, file) == 1);
	CHECK(n_fired >= 1 && page[4097] == 'a');
	pages_end();
	fclose(file);
	memcpy(&n, (char *)page + 200, sizeof(n));
	close(pair[0]), close(pair[1]);
}

/* The pages are closed again behind a call. */
static void closes_behind_calls(void)
{
	volatile char *page = new_pages(1);
	int fd = open("/dev/zero", O_RDONLY);

	begin();
	CHECK(pages_arm(0, (char *)page + 64));
	CHECK(read(fd, (char *)page, 4096) == 4096 && n_fired == 0);
	CHECK(page[4095] == 0 && watching->false_faults == 1);
	CHECK(page[64] == 0 && n_fired == 1);
	CHECK(syscall(SYS_read, fd, 1l, 4096l) == -1 && errno == EFAULT);
	CHECK(close(fd) == 0);
	CHECK(close(fd) == -1 && errno == EBADF);
	pages_end();
}

/* The program's own faults. */
static sigjmp_buf back;
static volatile char *guarded;
static unsigned n_own;

static void jump_back(int signal, siginfo_t *info, void *context)
{
	(void)signal, (void)context;
	n_own += info->si_addr == (void *)guarded;
	siglongjmp(back, 1);
}

static void unprotect(int signal, siginfo_t *info, void *context)
{
	(void)signal, (void)context;
	n_own += info->si_addr == (void *)guarded;
	mprotect((void *)guarded, 4096, PROT_READ | PROT_WRITE);
}

static void own_faults(void)
{
	volatile char *page = new_pages(2);

	begin();
	guarded = page + 4096;
	n_own = 0;
	programs[SIGSEGV] = jump_back;
	CHECK(pages_arm(0, (char *)page + 64));
	CHECK(mprotect((void *)guarded, 4096, PROT_NONE) == 0);
	for (unsigned i = 0; i < 3; i++)
		if (!sigsetjmp(back, 1))
			guarded[0]++;
	CHECK(n_own == 3);
	programs[SIGSEGV] = unprotect;
	guarded[0]++;
	CHECK(n_own == 4 && guarded[0] == 'b');
	CHECK(mprotect((void *)guarded, 4096, PROT_NONE) == 0);
	/* one instruction that touches both, in the midst of a step for the first */
	copy_byte(guarded, page);
	CHECK(n_own == 5 && guarded[0] == 'a' && n_fired == 0);
	CHECK(page[64] == 'a' && n_fired == 1);
	pages_end();
	programs[SIGSEGV] = NULL;
}

/* A collector's barrier: the page is the program's to close, watched or not. */
static void barriers(void)
{
	volatile char *page = new_pages(1);

	begin();
	guarded = page;
	n_own = 0;
	programs[SIGSEGV] = unprotect;
	CHECK(pages_arm(0, (char *)page + 64));
	CHECK(mprotect((void *)page, 4096, PROT_READ) == 0 && n_given_up == 0);
	CHECK(page[0] == 'a' && n_own == 0 && watching->false_faults == 1);
	page[0] = 'b';
	CHECK(n_own == 1 && page[0] == 'b' && n_fired == 0);
	page[64] = 'c';
	CHECK(n_fired == 1 && n_own == 1);
	CHECK(pages_arm(0, (char *)page + 64));
	CHECK(mprotect((void *)page, 4096, PROT_NONE) == 0 && n_given_up == 1);
	page[0] = 'd';
	CHECK(n_own == 2 && page[0] == 'd' && n_fired == 1);
	pages_end();
	programs[SIGSEGV] = NULL;
}

static void mappings_change(void)
{
	volatile char *page = new_pages(8), *moved;

	begin();
	CHECK(pages_arm(0, (char *)page) && pages_arm(1, (char *)page + 2 * 4096));
	CHECK(munmap((void *)page, 4096) == 0);
	CHECK(mmap((void *)page, 4096, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == (void *)page);
	page[0] = 'n';
	CHECK(n_fired == 0 && page[0] == 'n');
	moved = mremap((void *)(page + 4096), 2 * 4096, 64 * 4096, MREMAP_MAYMOVE);
	CHECK(moved != MAP_FAILED && moved[4096] == 'a' && n_fired == 0 && n_given_up == 0);
	CHECK(pages_arm(2, (char *)page + 4 * 4096));
	CHECK(mmap((void *)(page + 4 * 4096), 4096, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == (void *)(page + 4 * 4096));
	CHECK(page[4 * 4096] == 0 && n_fired == 0);
	CHECK(pages_arm(3, (char *)page + 5 * 4096));
	CHECK(madvise((void *)(page + 5 * 4096), 4096, MADV_DONTNEED) == 0);
	CHECK(page[5 * 4096] == 0 && n_fired == 1);
	pages_end();
}

static void forks(void)
{
	volatile char *page = new_pages(1);
	char *const arguments[] = { "true", NULL };
	int status;
	pid_t pid;

	begin();
	CHECK(pages_arm(0, (char *)page) && pages_arm(1, (char *)page + 4032));
	pid = fork();
	if (pid == 0) {
		page[0]++; /* nobody is told */
		_exit(n_fired || page[0] != 'b' || watching->false_faults);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0 && n_fired == 0);
	CHECK(posix_spawnp(&pid, "true", NULL, NULL, arguments, environ) == 0);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	CHECK(system("exit 3") == 3 << 8);
	page[0]++;
	CHECK(n_fired == 1 && page[0] == 'b');
	pages_end();
}

/* What the kernel does with closed pages of which the arguments of a call say nothing. */
static void unsaid(void)
{
	volatile char *page = new_pages(8), *moved;
	struct sock_filter pass = BPF_STMT(BPF_RET | BPF_K, 0xffff);
	struct sock_fprog program = { 1, (struct sock_filter *)(page + 2048) };
	int *child = (int *)(page + 1024), status, fd = socket(AF_UNIX, SOCK_DGRAM, 0);
	pid_t pid;

	begin();
	CHECK(pages_arm(0, (char *)page));
	for (unsigned i = 0; i < 8; i++)
		page[512]++; /* beside it: by single steps */
	memcpy((char *)page + 2048, &pass, sizeof(pass));
	CHECK(setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) == 0);
	pid = (pid_t)syscall(SYS_clone, CLONE_PARENT_SETTID | SIGCHLD, 0, child, 0, 0);
	if (pid == 0)
		_exit(0);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0 && *child == pid);
	moved = mremap((void *)page, 8 * 4096, 64 * 4096, MREMAP_MAYMOVE);
	CHECK(moved != MAP_FAILED && moved[512] == 'a' + 8 && n_fired == 0);
	pages_end();
	close(fd);
}

/* Others wait for a lock in a closed page of a process that ends. */
static void robust_lock(void)
{
	pthread_mutex_t *lock =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_t kind;
	int status;
	pid_t pid;

	pthread_mutexattr_init(&kind);
	pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
	CHECK(pthread_mutex_init(lock, &kind) == 0);
	pid = fork();
	if (pid == 0) {
		begin();
		pthread_mutex_lock(lock);
		_exit(!pages_arm(0, (char *)lock + 2048));
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	CHECK(pthread_mutex_trylock(lock) == EOWNERDEAD);
	pthread_mutexattr_destroy(&kind);
	munmap(lock, 4096);
}

static volatile char *shared_page;
static int pipe_ends[2];

static void *toucher(void *data)
{
	char *stack = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char on_stack[64], byte;

	have_stack(stack, 65536);
	CHECK(!pages_arm(3, on_stack) && !pages_arm(3, pages_thread_memory()));
	CHECK(read(pipe_ends[0], &byte, 1) == 1);
	CHECK(read(pipe_ends[0], (char *)shared_page + 1024, 1) == 1); /* its calls are led too */
	shared_page[2000]++;
	shared_page[64]++;
	return data;
}

static void threads(void)
{
	pthread_t thread;

	shared_page = new_pages(1);
	CHECK(pipe(pipe_ends) == 0);
	begin();
	CHECK(pthread_create(&thread, NULL, toucher, NULL) == 0);
	CHECK(pages_arm(0, (char *)shared_page + 64));
	CHECK(write(pipe_ends[1], "xx", 2) == 2 && pthread_join(thread, NULL) == 0);
	CHECK(n_fired == 1 && pthread_equal(fired[0].thread, thread));
	CHECK(shared_page[64] == 'b' && shared_page[2000] == 'b' && shared_page[1024] == 'x');
	pages_end();
}

/* A page is not taken away from a call that waits for what will go there. */
static void *waiter(void *data)
{
	CHECK(read(pipe_ends[0], (char *)shared_page + 1024, 1) == 1);
	return data;
}

static void calls_on_their_way(void)
{
	pthread_t thread;

	shared_page = new_pages(2);
	CHECK(pipe(pipe_ends) == 0);
	begin();
	CHECK(pthread_create(&thread, NULL, waiter, NULL) == 0);
	for (unsigned i = 0; i < 10000 && pages_arm(0, shared_page + 64); i++) {
		pages_disarm(0);
		usleep(1000);
	}
	CHECK(!pages_arm(0, shared_page + 64) && pages_arm(0, shared_page + 4096));
	CHECK(write(pipe_ends[1], "y", 1) == 1 && pthread_join(thread, NULL) == 0);
	CHECK(shared_page[1024] == 'y' && pages_arm(0, shared_page + 64));
	CHECK(shared_page[64] == 'a' && n_fired == 1);
	pages_end();
}

/* Many threads on one page, watched all the time: nothing is lost. */
#define N_ADDERS 4

static uint64_t n_adds[N_ADDERS];
static volatile bool is_over;

static void *adder(void *data)
{
	uint64_t *n = data, done = 0;
	volatile uint64_t *common = (volatile uint64_t *)(shared_page + 2048);
	volatile uint64_t *own = (volatile uint64_t *)(shared_page + (n - n_adds) * 64);

	while (!is_over) {
		++*own;
		__atomic_fetch_add(common, 1, __ATOMIC_RELAXED);
		done++;
	}
	*n = done;
	return data;
}

static void contention(void)
{
	pthread_t thread[N_ADDERS];
	uint64_t all = 0;

	shared_page = new_pages(1);
	memset((char *)shared_page, 0, 4096);
	is_over = false;
	begin();
	for (unsigned i = 0; i < N_ADDERS; i++)
		CHECK(pthread_create(&thread[i], NULL, adder, &n_adds[i]) == 0);
	for (unsigned i = 0; i < 2000 || ((!n_fired || !watching->false_faults) && i < 2000000);
		i++)
		pages_arm(i % 4, shared_page + i % 64 * 64);
	is_over = true;
	for (unsigned i = 0; i < N_ADDERS; i++)
		CHECK(pthread_join(thread[i], NULL) == 0);
	pages_end();
	for (unsigned i = 0; i < N_ADDERS; i++) {
		CHECK_U64(*(volatile uint64_t *)(shared_page + i * 64), n_adds[i]);
		all += n_adds[i];
	}
	CHECK_U64(*(volatile uint64_t *)(shared_page + 2048), all);
	CHECK(n_fired > 0 && watching->false_faults > 0);
}

/* Signals that interrupt calls: the handler, EINTR, and a jump out. */
static volatile sig_atomic_t n_alarms;
static bool jumps;

static void on_alarm(int signal)
{
	(void)signal;
	n_alarms++;
	if (jumps)
		siglongjmp(back, 1);
}

/* The state of a process, as /proc has it: 'S' sleeps. */
static char state_of(pid_t pid)
{
	char path[32], state = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "r");
	if (!file || fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
		state = 0;
	if (file)
		fclose(file);
	return state;
}

/* Another process, which for every byte that it is told sends an alarm as soon as we sleep: in the
 * call that is to be interrupted, and not before it. */
static pid_t start_waker(int *ret_told)
{
	int ends[2];
	char byte;
	pid_t pid;

	CHECK(pipe(ends) == 0);
	pid = fork();
	if (pid == 0) {
		close(ends[1]);
		while (read(ends[0], &byte, 1) == 1) {
			while (state_of(getppid()) != 'S')
				usleep(100);
			kill(getppid(), SIGALRM);
		}
		_exit(0);
	}
	close(ends[0]);
	*ret_told = ends[1];
	return pid;
}

static void interrupted(void)
{
	struct sigaction action = { .sa_handler = on_alarm };
	struct pollfd none = { .fd = -1 };
	volatile char *page = new_pages(1);
	sigset_t all, empty;
	int ends[2], waker, status;
	pid_t pid = start_waker(&waker);

	begin();
	CHECK(sigaction(SIGALRM, &action, NULL) == 0 && pipe(ends) == 0);
	CHECK(pages_arm(0, (char *)page + 64));
	n_alarms = 0;
	jumps = false;
	CHECK(write(waker, "", 1) == 1);
	CHECK(read(ends[0], (char *)page, 10) == -1 && errno == EINTR && n_alarms == 1);
	CHECK(page[2000] == 'a' && watching->false_faults == 1);
	jumps = true;
	CHECK(write(waker, "", 1) == 1);
	if (!sigsetjmp(back, 1)) {
		read(ends[0], (char *)page, 10);
		CHECK(0);
	}
	jumps = false;
	CHECK(n_alarms == 2 && getppid() > 0);
	CHECK(page[2000] == 'a' && watching->false_faults == 2); /* closed again */
	sigfillset(&all);
	sigdelset(&all, SIGALRM);
	sigemptyset(&empty);
	CHECK(write(waker, "", 1) == 1);
	CHECK(sigsuspend(&all) == -1 && errno == EINTR && n_alarms == 3);
	CHECK(write(waker, "", 1) == 1);
	CHECK(ppoll(&none, 1, NULL, &all) == -1 && errno == EINTR && n_alarms == 4);
	CHECK(sigprocmask(SIG_BLOCK, &all, &empty) == 0);
	CHECK(page[3000] == 'a' && page[64] == 'a' && n_fired == 1 && page[64] == 'a');
	CHECK(sigprocmask(SIG_SETMASK, &empty, &all) == 0);
	CHECK(sigismember(&all, SIGINT) == 1 && sigismember(&all, SIGALRM) == 0);
	pages_end();
	close(waker);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

static void *live(void *data)
{
	return pthread_barrier_wait(data), NULL;
}

/* More than there was room for the memory of: three pieces of each. */
static void many_threads(void)
{
	enum { THREADS = 500 };
	static pthread_t thread[THREADS];
	volatile char *page = new_pages(1);
	pthread_attr_t small;
	pthread_barrier_t all;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	pthread_barrier_init(&all, NULL, THREADS + 1);
	begin();
	for (unsigned i = 0; i < THREADS; i++)
		CHECK(pthread_create(&thread[i], &small, live, &all) == 0);
	CHECK(pages_arm(0, (char *)page) && watching->n_stopped == 0);
	page[0]++;
	CHECK(n_fired == 1);
	pthread_barrier_wait(&all);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	CHECK(watching->n_stopped == 0);
	pages_end();
	pthread_barrier_destroy(&all);
	pthread_attr_destroy(&small);
}

/* What fails, and what only asks, changes nothing. */
static void asynchronous(void)
{
	volatile char *page = new_pages(1);
	uint32_t action = SECCOMP_RET_ALLOW;
	unsigned long context = 0;

	begin();
	CHECK(pages_arm(0, (char *)page));
	CHECK(syscall(SYS_io_uring_setup, 0, NULL) < 0 && syscall(SYS_userfaultfd, ~0) < 0);
	CHECK(syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0);
	CHECK(watching->n_stopped == 0 && n_given_up == 0);
	page[0]++;
	CHECK(n_fired == 1 && pages_arm(0, (char *)page));
	CHECK(syscall(SYS_io_setup, 1, &context) == 0);
	CHECK(watching->stop == LOCI_STOP_AIO && watching->n_stopped == 1);
	CHECK(n_given_up == 1 && !pages_arm(0, (char *)page));
	page[0]++;
	CHECK(n_fired == 1);
	CHECK(syscall(SYS_io_destroy, context) == 0);
	pages_end();
}

/* Without our handlers there is no watching. */
static void actions_of_others(void)
{
	static const int signals[] = { SIGSYS, SIGSEGV, SIGTRAP };
	volatile char *page = new_pages(1);
	struct {
		void (*handler)(int);
		uint64_t flags, restorer, mask;
	} action = { SIG_IGN, 0, 0, 0 };

	for (unsigned i = 0; i < 3; i++) {
		begin();
		CHECK(pages_arm(0, (char *)page));
		CHECK(syscall(SYS_rt_sigaction, signals[i], &action, NULL, 8) == 0);
		CHECK(watching->stop == LOCI_STOP_ACTION && n_given_up == 1);
		page[0]++;
		CHECK(getppid() > 0 && n_fired == 0);
		pages_end();
	}
}

#define TIMED(name, n, ...)                                                         \
	do {                                                                        \
		double start = now_us();                                            \
                                                                                    \
		for (unsigned i = 0; i < (n); i++) {                                \
			__VA_ARGS__;                                                \
		}                                                                   \
		printf("%-28s %6.2f us\n", name, (now_us() - start) / (double)(n)); \
	} while (0)

/* What it costs, for a person. */
static void costs(void)
{
	volatile char *page = new_pages(64);
	int fd = open("/dev/zero", O_RDONLY);

	TIMED("system call alone", 20000, syscall(SYS_getppid));
	TIMED("read alone", 20000, CHECK(read(fd, (char *)page, 8) == 8));
	begin();
	TIMED("arm, known mapping", 20000, pages_arm(0, page + i % 64 * 4096));
	TIMED("arm, new mapping", 20000, pages_arm_anew(0, page + i % 64 * 4096));
	TIMED("fire, with arm", 20000, pages_arm(0, (char *)page); page[0]++);
	TIMED("false fault and step, / 50", 400, pages_arm(0, (char *)page);
		for (unsigned j = 0; j < 50; j++) page[128 + j] = 0);
	CHECK(pages_arm(0, (char *)page));
	TIMED("led call", 20000, syscall(SYS_getppid));
	TIMED("led read elsewhere", 20000, CHECK(read(fd, (char *)page + 8192, 8) == 8));
	TIMED("led read of a watched page", 20000, CHECK(read(fd, (char *)page, 8) == 8));
	pages_end();
}

static void (*const tests[])(void) = { fires_once, steps_beside, charges_calls, measures,
	two_in_a_page, moves_and_disarms, only_writes, small_blocks, hot_pages, lots_of_one,
	strings, pages_at_once, refusals, stacks_in_one_piece, kernel_reads_and_writes,
	closes_behind_calls, own_faults, barriers, mappings_change, forks, unsaid, robust_lock,
	threads, calls_on_their_way, contention, interrupted, many_threads, asynchronous,
	actions_of_others };

int main(int argc, char **argv)
{
	have_stack(main_stack, sizeof(main_stack));
	if (argc > 1 && !strcmp(argv[1], "costs")) {
		costs();
		return 0;
	}
	for (unsigned i = 0; i < sizeof(tests) / sizeof(*tests); i++) {
		tests[i]();
	}
	return check_status();
}
