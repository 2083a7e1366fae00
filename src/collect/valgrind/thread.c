// SPDX-License-Identifier: GPL-2.0-or-later
#include "collect/valgrind/thread.h"
#include "collect/valgrind/call.h"
#include "collect/valgrind/control.h"
#include "collect/valgrind/fault.h"
#include "collect/valgrind/mapping.h"
#include "collect/valgrind/marks.h"
#include "collect/valgrind/ordering.h"
#include "collect/valgrind/out.h"
#include "collect/valgrind/random.h"

struct thread {
	UInt id; /* the stream's; 0: none */
	UInt parent;
	Bool is_calling; /* the kernel */
	Bool is_blocked; /* there, and BLOCKED was told */
};

static struct {
	struct thread *of; /* by Valgrind's number */
	UInt n_ids, cap_ids;
	Addr *pthread; /* by the stream's id; kept, because a thread is joined after its end */
	UInt current;  /* the stream's */
	ThreadId latest;
} threads;

uint64_t thread_time_ns(void)
{
	struct vki_timespec now;

	VG_(clock_gettime)(&now, VKI_CLOCK_MONOTONIC);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void tell_time(void)
{
	uint64_t raw[1] = { thread_time_ns() };

	out_mark(LOCI_MARK_TIME, 0, 1, raw);
}

/* Another thread runs: if this one is in the kernel it has to wait there, else its time was up. */
static void leave(struct thread *thread)
{
	if (!thread->id || thread->id != threads.current)
		return;
	tell_time();
	if (!thread->is_calling || thread->is_blocked)
		return;
	thread->is_blocked = True;
	out_mark(LOCI_MARK_BLOCKED, 0, 0, NULL);
}

void thread_is_current(ThreadId tid)
{
	struct thread *thread = &threads.of[tid];

	if (thread->id == threads.current) {
		threads.latest = tid;
		return;
	}
	leave(&threads.of[threads.latest]);
	threads.latest = tid;
	threads.current = thread->id;
	out_mark(LOCI_MARK_SWITCH, threads.current, 0, NULL);
	if (thread->is_blocked)
		out_mark(LOCI_MARK_RUNNING, 0, 0, NULL);
	thread->is_blocked = False;
	if (threads.n_ids > 1)
		tell_time();
}

void thread_calls(ThreadId tid, Bool begins)
{
	threads.of[tid].is_calling = begins;
}

ThreadId thread_latest(void)
{
	return threads.latest;
}

/* The latest one: an address is used again after its thread was joined. */
UInt thread_of_pthread(Addr pthread)
{
	UInt id;

	for (id = threads.n_ids; id > 0; id--)
		if (threads.pthread[id] == pthread)
			return id;
	return 0;
}

static UInt new_id(void)
{
	if (++threads.n_ids >= threads.cap_ids) {
		threads.cap_ids = 2 * threads.n_ids + 64;
		threads.pthread = VG_(realloc)("loci.pthreads", threads.pthread,
			threads.cap_ids * sizeof(*threads.pthread));
	}
	threads.pthread[threads.n_ids] = 0;
	return threads.n_ids;
}

static void tell_start(const struct thread *thread)
{
	uint64_t raw[4] = { thread->parent, (uint64_t)VG_(gettid)(), thread_time_ns(),
		mapping_sequence() };

	out_mark(LOCI_MARK_THREAD_START, thread->id, 4, raw);
}

void thread_tell(void)
{
	ThreadId tid = threads.latest;

	threads.current = 0;
	tell_start(&threads.of[tid]);
	thread_is_current(tid);
}

static void on_create(ThreadId parent, ThreadId child)
{
	struct thread *thread = &threads.of[child];

	thread->id = new_id();
	thread->is_calling = thread->is_blocked = False;
	thread->parent = parent == VG_INVALID_THREADID ? 0 : threads.of[parent].id;
	if (thread->parent) {
		thread_is_current(parent);
		ordering_tell(LOCI_SYNC_THREAD_CREATE, thread->id);
	}
	call_forget(child);
	marks_begin(child);
}

static void on_first_instruction(ThreadId tid)
{
	PtrdiffT offset = offsetof(VexGuestAMD64State, guest_FS_CONST);
	struct thread *thread = &threads.of[tid];
	Addr pthread;

	VG_(get_shadow_regs_area)(tid, (UChar *)&pthread, 0, offset, sizeof(pthread));
	threads.pthread[thread->id] = pthread;
	tell_start(thread);
	thread_is_current(tid);
	if (thread->parent) {
		ordering_tell(LOCI_SYNC_THREAD_BEGIN, thread->id);
	} else {
		random_fix(VG_(get_SP)(tid));
		control_begin();
	}
}

static void on_exit(ThreadId tid)
{
	uint64_t raw[2];

	thread_is_current(tid);
	fault_commit(tid); /* a fatal one */
	ordering_tell(LOCI_SYNC_RELEASE, FIXED_ENDED);
	ordering_tell(LOCI_SYNC_THREAD_FINISH, threads.of[tid].id);
	raw[0] = thread_time_ns();
	raw[1] = mapping_sequence();
	out_mark(LOCI_MARK_THREAD_EXIT, threads.of[tid].id, 2, raw);
	call_forget(tid);
}

static void on_start_code(ThreadId tid, ULong n_blocks)
{
	(void)n_blocks;
	thread_is_current(tid);
	out_sync(tid);
}

static void on_stop_code(ThreadId tid, ULong n_blocks)
{
	(void)tid;
	(void)n_blocks;
	control_obey();
}

static void on_signal(ThreadId tid, Int signal, Bool on_other_stack)
{
	(void)on_other_stack;
	thread_is_current(tid);
	fault_commit(tid);
	out_mark(LOCI_MARK_SIGNAL_ENTER, (uint64_t)signal, 0, NULL);
}

static void on_signal_return(ThreadId tid, Int signal)
{
	thread_is_current(tid);
	out_mark(LOCI_MARK_SIGNAL_LEAVE, (uint64_t)signal, 0, NULL);
}

void thread_init(void)
{
	threads.of = VG_(calloc)("loci.threads", VG_N_THREADS, sizeof(*threads.of));
	VG_(track_pre_thread_ll_create)(on_create);
	VG_(track_pre_thread_first_insn)(on_first_instruction);
	VG_(track_pre_thread_ll_exit)(on_exit);
	VG_(track_start_client_code)(on_start_code);
	VG_(track_stop_client_code)(on_stop_code);
	VG_(track_pre_deliver_signal)(on_signal);
	VG_(track_post_deliver_signal)(on_signal_return);
}
