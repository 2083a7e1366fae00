// SPDX-License-Identifier: BSD-2-Clause
/* Which memory of the program the kernel may touch in a system call. Only of calls that are made
 * often, or that wait, and whose arguments say it all: other pages can be closed meanwhile. Of the
 * rest nothing is known, which is never wrong. */
#include "collect/runtime/watched_pages.h"

#include <sys/syscall.h>

struct span {
	uint8_t argument; /* + 1; 0: none */
	uint8_t count;    /* argument with the number of elements, + 1; 0: one */
	uint16_t bytes;   /* of an element */
};

struct reach {
	uint16_t number;
	struct span span[RT_SPANS];
};

#define ONE(argument, bytes)             \
	{                                \
		(argument) + 1, 0, bytes \
	}
#define MANY(argument, count, bytes)               \
	{                                          \
		(argument) + 1, (count) + 1, bytes \
	}
#define PATH(argument) ONE(argument, 4096)
#define NONE            \
	{               \
		0, 0, 0 \
	}
#define STAT_BYTES    144
#define ADDRESS_BYTES 128 /* of a socket, at most */
#define TIME_BYTES    16

/* By number. */
static const struct reach reaches[] = {
	{ SYS_read, { MANY(1, 2, 1) } },
	{ SYS_write, { MANY(1, 2, 1) } },
	{ SYS_open, { PATH(0) } },
	{ SYS_close, { NONE } },
	{ SYS_stat, { PATH(0), ONE(1, STAT_BYTES) } },
	{ SYS_fstat, { ONE(1, STAT_BYTES) } },
	{ SYS_lstat, { PATH(0), ONE(1, STAT_BYTES) } },
	{ SYS_poll, { MANY(0, 1, 8) } },
	{ SYS_lseek, { NONE } },
	{ SYS_rt_sigaction, { ONE(1, 32), ONE(2, 32) } },
	{ SYS_rt_sigprocmask, { ONE(1, 8), ONE(2, 8) } },
	{ SYS_pread64, { MANY(1, 2, 1) } },
	{ SYS_pwrite64, { MANY(1, 2, 1) } },
	{ SYS_access, { PATH(0) } },
	{ SYS_pipe, { ONE(0, 8) } },
	{ SYS_sched_yield, { NONE } },
	{ SYS_dup, { NONE } },
	{ SYS_dup2, { NONE } },
	{ SYS_pause, { NONE } },
	{ SYS_nanosleep, { ONE(0, TIME_BYTES), ONE(1, TIME_BYTES) } },
	{ SYS_alarm, { NONE } },
	{ SYS_setitimer, { ONE(1, 32), ONE(2, 32) } },
	{ SYS_getpid, { NONE } },
	{ SYS_socket, { NONE } },
	{ SYS_connect, { MANY(1, 2, 1) } },
	{ SYS_accept, { ONE(1, ADDRESS_BYTES), ONE(2, 4) } },
	{ SYS_sendto, { MANY(1, 2, 1), MANY(4, 5, 1) } },
	{ SYS_recvfrom, { MANY(1, 2, 1), ONE(4, ADDRESS_BYTES), ONE(5, 4) } },
	{ SYS_shutdown, { NONE } },
	{ SYS_bind, { MANY(1, 2, 1) } },
	{ SYS_listen, { NONE } },
	{ SYS_wait4, { ONE(1, 4), ONE(3, STAT_BYTES) } },
	{ SYS_kill, { NONE } },
	{ SYS_uname, { ONE(0, 390) } },
	{ SYS_fcntl, { ONE(2, 32) } },
	{ SYS_flock, { NONE } },
	{ SYS_fsync, { NONE } },
	{ SYS_fdatasync, { NONE } },
	{ SYS_ftruncate, { NONE } },
	{ SYS_getcwd, { MANY(0, 1, 1) } },
	{ SYS_chdir, { PATH(0) } },
	{ SYS_rename, { PATH(0), PATH(1) } },
	{ SYS_mkdir, { PATH(0) } },
	{ SYS_rmdir, { PATH(0) } },
	{ SYS_unlink, { PATH(0) } },
	{ SYS_readlink, { PATH(0), MANY(1, 2, 1) } },
	{ SYS_gettimeofday, { ONE(0, TIME_BYTES), ONE(1, 8) } },
	{ SYS_getrusage, { ONE(1, STAT_BYTES) } },
	{ SYS_getuid, { NONE } },
	{ SYS_getgid, { NONE } },
	{ SYS_geteuid, { NONE } },
	{ SYS_getegid, { NONE } },
	{ SYS_getppid, { NONE } },
	{ SYS_rt_sigtimedwait, { ONE(0, 8), ONE(1, 128), ONE(2, TIME_BYTES) } },
	{ SYS_rt_sigsuspend, { ONE(0, 8) } },
	{ SYS_gettid, { NONE } },
	{ SYS_futex, { ONE(0, 4), ONE(3, TIME_BYTES), ONE(4, 4) } },
	{ SYS_sched_getaffinity, { MANY(2, 1, 1) } },
	{ SYS_getdents64, { MANY(1, 2, 1) } },
	{ SYS_clock_gettime, { ONE(1, TIME_BYTES) } },
	{ SYS_clock_getres, { ONE(1, TIME_BYTES) } },
	{ SYS_clock_nanosleep, { ONE(2, TIME_BYTES), ONE(3, TIME_BYTES) } },
	{ SYS_epoll_wait, { MANY(1, 2, 12) } },
	{ SYS_epoll_ctl, { ONE(3, 12) } },
	{ SYS_tgkill, { NONE } },
	{ SYS_openat, { PATH(1) } },
	{ SYS_newfstatat, { PATH(1), ONE(2, STAT_BYTES) } },
	{ SYS_unlinkat, { PATH(1) } },
	{ SYS_readlinkat, { PATH(1), MANY(2, 3, 1) } },
	{ SYS_faccessat, { PATH(1) } },
	{ SYS_ppoll, { MANY(0, 1, 8), ONE(2, TIME_BYTES), ONE(3, 8) } },
	{ SYS_epoll_pwait, { MANY(1, 2, 12), ONE(4, 8) } },
	{ SYS_accept4, { ONE(1, ADDRESS_BYTES), ONE(2, 4) } },
	{ SYS_eventfd2, { NONE } },
	{ SYS_epoll_create1, { NONE } },
	{ SYS_dup3, { NONE } },
	{ SYS_pipe2, { ONE(0, 8) } },
	{ SYS_prlimit64, { ONE(2, 16), ONE(3, 16) } },
	{ SYS_getrandom, { MANY(0, 1, 1) } },
	{ SYS_membarrier, { NONE } },
	{ SYS_statx, { PATH(1), ONE(4, 256) } },
};

static const struct reach *find(long number)
{
	size_t low = 0, high = sizeof(reaches) / sizeof(*reaches);

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (reaches[middle].number == number)
			return &reaches[middle];
		if (reaches[middle].number < number)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/* All of memory where nothing is known. */
void rt_call_reach(long number, const long argument[6], struct rt_call_reach *ret)
{
	const struct reach *reach = find(number);

	*ret = (struct rt_call_reach){ .n_spans = !reach, .span = { { 0, ~(size_t)0 } } };
	for (unsigned i = 0; reach && i < RT_SPANS && reach->span[i].argument; i++) {
		const struct span *span = &reach->span[i];
		size_t n = span->count ? (size_t)argument[span->count - 1] : 1, bytes;

		if (__builtin_mul_overflow(n, span->bytes, &bytes))
			bytes = ~(size_t)0;
		ret->span[ret->n_spans++] =
			(struct rt_span){ (uintptr_t)argument[span->argument - 1], bytes };
	}
}

rt_page_set rt_reached_pages(const struct rt_call_reach *reach)
{
	rt_page_set pages = 0;

	for (unsigned i = 0; i < reach->n_spans; i++)
		pages |= rt_pages_in(reach->span[i].start, reach->span[i].bytes);
	return pages;
}

/* Calls on their way, by thread. */
#define N_THREADS 1024
static struct rt_calls calls[N_THREADS], nobody;
__thread struct rt_calls *rt_calls_self __attribute__((tls_model("initial-exec"))) = &nobody;

bool rt_calls_take(void)
{
	for (unsigned i = 0; i < N_THREADS; i++)
		if (!calls[i].is_used) {
			calls[i].n = 0;
			calls[i].is_used = true;
			rt_calls_self = &calls[i];
			return true;
		}
	return false;
}

void rt_calls_give_back(void)
{
	rt_calls_self->n = 0;
	rt_calls_self->is_used = false;
	rt_calls_self = &nobody;
}

void rt_calls_clear(void)
{
	for (unsigned i = 0; i < N_THREADS; i++)
		calls[i].is_used = false;
	rt_calls_self = &nobody;
}

/* Slots count down for each call, so each is counted. The last that there is room for stands for
 * all beyond it, too: they reach anything, and are left when it is. */
void rt_calls_begin(const struct rt_call_reach *reach, const ucontext_t *context)
{
	struct rt_calls *self = rt_calls_self;
	struct rt_call_reach *last = &self->call[RT_WAITS - 1];

	while (self->n) {
		uint32_t at = (self->n < RT_WAITS ? self->n : RT_WAITS) - 1;

		if (!rt_pages_was_left(self->call[at].stack, context))
			break;
		self->n = at;
	}
	if (self->n < RT_WAITS) {
		self->call[self->n] = *reach;
		self->call[self->n].stack = (uintptr_t)context->uc_mcontext.gregs[REG_RSP];
	} else {
		*last = (struct rt_call_reach){ last->stack, 1, { { 0, ~(size_t)0 } } };
	}
	self->n++;
}

bool rt_is_reached(uintptr_t page)
{
	for (const struct rt_calls *of = calls; of < calls + N_THREADS; of++) {
		unsigned n = of->is_used ? __atomic_load_n(&of->n, __ATOMIC_ACQUIRE) : 0;

		for (unsigned i = 0; i < n && i < RT_WAITS; i++)
			for (unsigned j = 0; j < of->call[i].n_spans; j++) {
				const struct rt_span *span = &of->call[i].span[j];

				if (span->start < page + RT_PAGE_BYTES &&
					(page < span->start || page - span->start < span->bytes))
					return true;
			}
	}
	return false;
}
