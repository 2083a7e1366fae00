// SPDX-License-Identifier: BSD-2-Clause
/* Watches by the processor's debug registers: perf events that send SIGTRAP to the thread that
 * touched the block, after the instruction that did. A thread made later has them by inheritance,
 * and one ioctl moves or stops them in all; threads that are there already have an event of their
 * own each, as far as there are descriptors.
 *
 * What is not seen: touches by the kernel; those of threads beyond MAX_FILES that were there when
 * the watches began, which are told of; and those made while SIGTRAP is blocked in the kernel,
 * which only the runtime and the C library do, where neither is the program's own code. Their
 * signal comes later, from somewhere else: the block stays watched, unless that is within a call
 * that waits, or is so for the LATE_MOST-th time: our handler may itself have touched the block,
 * where it runs on a stack of the program's, and would for ever be followed by the next.
 *
 * A trap may still be on its way when its watch has been moved. So an event carries the number of
 * the watch and how often it was armed, and what does not fit is dropped. */
#include "collect/runtime/own_masks.h"
#include "collect/runtime/runtime.h"
#include "collect/runtime/kernel_threads.h"
#include "collect/runtime/watch.h"
#include "stream/ring_x86_64.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>

#define SYS_IOCTL           16
#define SYS_FCNTL           72
#define SYS_GETRLIMIT       97
#define SYS_GETTID          186
#define SYS_PERF_EVENT_OPEN 298
#define F_DUPFD_CLOEXEC_NR  1030
#define RLIMIT_NOFILE_NR    7

#define REGISTERS   4
#define MAX_FILES   64 /* of a watch: one for each thread that was there when it began */
#define MAX_REPAIRS 16
#define LATE_MOST   8
#define MAGIC       0x6c6f6369ull /* of signals that are ours */
#define MAX_BYTES   8

/* Of siginfo_t, which not all C libraries know. */
#define TRAP_BY_PERF   6
#define CAME_LATER     1u
#define DATA_OFFSET    24
#define FLAGS_OFFSET   36
#define MIN_DESCRIPTOR 512

struct file {
	int fd;
	uint64_t id; /* of the event: the program may have closed it, and have another there */
};

static struct watch {
	uintptr_t address; /* of the block; 0: not armed */
	uint32_t armed;    /* how often it was */
	uint32_t late;     /* traps since then that came late */
	unsigned n_files;
	struct file file[MAX_FILES];
} watches[REGISTERS];

static unsigned n_repairs, n_looked; /* so many of them */
static uint32_t n_missed;            /* threads that a watch does not reach; the most */
static pid_t owner;          /* a child has our descriptors, but they are its parent's events */
static uint64_t placeholder; /* where events begin, disabled */

static struct perf_event_attr attributes(unsigned watch, uintptr_t address, bool disabled)
{
	const struct loci_control_watching *how = &rt.control->watching;

	return (struct perf_event_attr){ .type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(struct perf_event_attr),
		.sample_period = 1,
		.disabled = disabled,
		.inherit = 1,
		.inherit_thread = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.remove_on_exec = 1,
		.sigtrap = 1,
		.bp_type = how->writes_only ? HW_BREAKPOINT_W : HW_BREAKPOINT_RW,
		.bp_addr = address,
		.bp_len = 1ull << how->block_shift,
		.sig_data = MAGIC << 32 | watches[watch].armed << 2 | watch };
}

static long control(int fd, unsigned long request, const void *argument)
{
	return loci_syscall3(SYS_IOCTL, fd, (long)request, (long)argument);
}

/* Descriptors have numbers that the program does not come to by counting. */
static int lowest_descriptor(void)
{
	uint64_t limit[2] = { 0 };

	if (loci_syscall3(SYS_GETRLIMIT, RLIMIT_NOFILE_NR, (long)limit, 0) < 0 ||
		limit[0] >= 2ul * MIN_DESCRIPTOR)
		return MIN_DESCRIPTOR;
	return (int)(limit[0] - limit[0] / 4);
}

static long move_up(long fd)
{
	long r = loci_syscall3(SYS_FCNTL, fd, F_DUPFD_CLOEXEC_NR, lowest_descriptor());

	loci_syscall3(LOCI_SYS_CLOSE, fd, 0, 0);
	return r;
}

static int open_for(unsigned watch, int tid)
{
	struct perf_event_attr attr = attributes(watch, (uintptr_t)&placeholder, true);
	struct watch *to = &watches[watch];
	struct file *file = &to->file[to->n_files];
	long fd = loci_syscall6(
		     SYS_PERF_EVENT_OPEN, (long)&attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC, 0),
	     r;

	if (fd >= 0)
		fd = move_up(fd);
	if (fd < 0)
		return (int)fd;
	r = control((int)fd, PERF_EVENT_IOC_ID, &file->id);
	if (r < 0) {
		loci_syscall3(LOCI_SYS_CLOSE, fd, 0, 0);
		return (int)r;
	}
	file->fd = (int)fd;
	to->n_files++;
	return 0;
}

static bool is_open(const struct file *file)
{
	uint64_t id = 0;

	return control(file->fd, PERF_EVENT_IOC_ID, &id) == 0 && id == file->id;
}

static void close_files(struct watch *watch)
{
	for (unsigned i = 0; i < watch->n_files; i++)
		if (is_open(&watch->file[i]))
			loci_syscall3(LOCI_SYS_CLOSE, watch->file[i].fd, 0, 0);
	watch->n_files = 0;
	watch->address = 0;
}

/* In this thread, or it is none; in the others, as far as they go. */
static int open_files(unsigned watch)
{
	int self = (int)loci_syscall3(SYS_GETTID, 0, 0, 0), other[MAX_FILES - 1];
	unsigned n = rt_other_threads(other, MAX_FILES - 1), missed = 0;
	int r = open_for(watch, self);

	if (r < 0)
		return r;
	for (unsigned i = 0; i < n; i++) {
		int of_other = i < MAX_FILES - 1 ? open_for(watch, other[i]) : -EMFILE;

		missed += of_other < 0 && of_other != -ESRCH; /* it may have ended */
	}
	if (missed > n_missed)
		n_missed = missed;
	return 0;
}

static void tell_missed(void)
{
	uint32_t *told = &rt.control->watching.missed_threads;
	uint32_t was = __atomic_load_n(told, __ATOMIC_RELAXED);

	while (was < n_missed &&
		!__atomic_compare_exchange_n(
			told, &was, n_missed, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

static void disable(struct watch *watch)
{
	watch->address = 0;
	for (unsigned i = 0; i < watch->n_files; i++)
		control(watch->file[i].fd, PERF_EVENT_IOC_DISABLE, NULL);
}

struct trap {
	unsigned watch;
	uint32_t armed;
	uintptr_t address;
	bool is_late;
};

/* Whether the trap is of the watch as it is armed now, which it no longer is then. If it is late,
 * that takes several. */
static bool claim(const struct trap *trap, bool at_once)
{
	struct watch *of = &watches[trap->watch];
	bool is;

	rt_lock();
	is = of->address && of->address == trap->address &&
		(of->armed & UINT32_MAX >> 2) == trap->armed &&
		(at_once || ++of->late >= LATE_MOST);
	if (is)
		disable(of);
	rt_unlock();
	return is;
}

static bool is_trap(const siginfo_t *info, struct trap *ret)
{
	uint64_t data;
	uint32_t flags;

	__builtin_memcpy(&data, (const char *)info + DATA_OFFSET, sizeof(data));
	__builtin_memcpy(&flags, (const char *)info + FLAGS_OFFSET, sizeof(flags));
	if (info->si_code != TRAP_BY_PERF || data >> 32 != MAGIC)
		return false;
	*ret = (struct trap){ .watch = data & 3,
		.armed = (uint32_t)data >> 2,
		.address = (uintptr_t)info->si_addr,
		.is_late = (flags & CAME_LATER) != 0 };
	return true;
}

static bool on_trap(int signal, siginfo_t *info, ucontext_t *context)
{
	struct trap trap;
	bool is_due;

	(void)signal;
	if (!is_trap(info, &trap))
		return false;
	is_due = context && !trap.is_late;
	/* A call that it interrupted is made again, and would touch the block again. */
	if (!claim(&trap, !trap.is_late || !context || rt_own_is_instead()))
		return true;
	if (is_due)
		rt_watch_fired(trap.watch, trap.address, context);
	else
		rt_watch_given_up(trap.watch, trap.address);
	return true;
}

/* An older kernel does not know what is asked for. */
static int reason(int error)
{
	return error == -E2BIG || error == -EINVAL ? -EOPNOTSUPP : error;
}

static unsigned begin(unsigned n, int *failed)
{
	unsigned opened = 0;
	int r = 0;

	if (n > REGISTERS)
		n = REGISTERS;
	for (unsigned i = 0; i < REGISTERS; i++)
		close_files(&watches[i]);
	owner = rt.pid;
	n_repairs = n_looked = n_missed = 0;
	*failed = 0;
	if (1u << rt.control->watching.block_shift > MAX_BYTES)
		r = -EINVAL;
	else if (!rt_own_signal_take(SIGTRAP, on_trap))
		r = -EBUSY;
	else
		while (opened < n && (r = reason(open_files(opened))) == 0)
			opened++;
	tell_missed();
	*failed = r;
	return opened; /* a debugger may have the others */
}

static bool is_whole(const struct watch *watch)
{
	bool is = watch->n_files > 0;

	for (unsigned i = 0; i < watch->n_files; i++)
		is = is && is_open(&watch->file[i]);
	return is;
}

/* Programs close what they do not know. */
static bool repair(unsigned watch)
{
	bool is_repaired, is_any = false;

	close_files(&watches[watch]);
	is_repaired = n_repairs++ < MAX_REPAIRS && open_files(watch) == 0;
	tell_missed();
	for (unsigned i = 0; i < REGISTERS; i++)
		is_any = is_any || is_whole(&watches[i]);
	if (!is_any && n_repairs >= MAX_REPAIRS)
		rt_watch_stop(LOCI_STOP_DESCRIPTORS);
	return is_repaired;
}

static bool arm(unsigned watch, uintptr_t address)
{
	struct watch *to = &watches[watch];
	struct perf_event_attr attr;

	if (!is_whole(to) && !repair(watch))
		return false;
	to->armed++;
	to->late = 0;
	to->address = address;
	attr = attributes(watch, address, false);
	for (unsigned i = 0; i < to->n_files; i++)
		if (control(to->file[i].fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &attr) < 0 && !i) {
			disable(to);
			return false;
		}
	return true;
}

/* Where one was closed others may be. */
static uint64_t lost(void)
{
	uint64_t set = 0;

	if (n_looked == n_repairs)
		return 0;
	n_looked = n_repairs;
	for (unsigned i = 0; i < REGISTERS; i++)
		if (watches[i].address && !is_whole(&watches[i])) {
			watches[i].address = 0;
			set |= 1ull << i;
		}
	return set;
}

static void disarm(unsigned watch)
{
	if (watches[watch].address)
		disable(&watches[watch]);
}

static void end(void)
{
	bool are_ours = owner == (pid_t)loci_syscall3(LOCI_SYS_GETPID, 0, 0, 0);

	for (unsigned i = 0; i < REGISTERS; i++) {
		if (are_ours)
			disarm(i);
		close_files(&watches[i]);
	}
}

const struct rt_watch_ops rt_watch_registers = {
	.begin = begin, .lost = lost, .arm = arm, .disarm = disarm, .end = end
};
