// SPDX-License-Identifier: GPL-2.0-or-later
#include "collect/valgrind/call.h"
#include "collect/valgrind/call_table.h"
#include "collect/valgrind/entry.h"
#include "collect/valgrind/mapping.h"
#include "collect/valgrind/ordering.h"
#include "collect/valgrind/out.h"
#include "collect/valgrind/thread.h"

#define N_CALLS     (sizeof(call_table) / sizeof(call_table[0]))
#define MAX_PENDING 16
#define N_ARGUMENTS 3
#define OWNER_DIED  130 /* EOWNERDEAD: the mutex is taken all the same */
/* Stack pointers further apart than this are on different stacks. */
#define STACK_BYTES (1ul << 30)

struct pending {
	const struct call_kind *kind;
	Addr frame; /* where the return address stands */
	Addr site;
	UWord argument[N_ARGUMENTS + 1]; /* from 1 on */
};

struct thread_calls {
	struct pending of[MAX_PENDING];
	UInt n;
};

static struct thread_calls **by_thread; /* made when needed */

/* glibc has its functions under several names (__libc_malloc, __GI___pthread_mutex_lock), and
 * which of them is found is left to chance. */
static const HChar *plain_name(const HChar *name)
{
	if (name[0] == '_' && name[1] == 'Z')
		return name;
	if (VG_(strncmp)(name, "__GI_", 5) == 0)
		name += 5;
	while (*name == '_')
		name++;
	return VG_(strncmp)(name, "libc_", 5) == 0 ? name + 5 : name;
}

const struct call_kind *call_kind_of(const HChar *function)
{
	const HChar *name = plain_name(function), *version = VG_(strchr)(name, '@');
	SizeT n = version ? (SizeT)(version - name) : VG_(strlen)(name), i;

	for (i = 0; i < N_CALLS; i++)
		if (VG_(strncmp)(call_table[i].name, name, n) == 0 && call_table[i].name[n] == '\0')
			return &call_table[i];
	return NULL;
}

static struct thread_calls *calls_of(ThreadId tid)
{
	if (!by_thread)
		by_thread = VG_(calloc)("loci.calls", VG_N_THREADS, sizeof(*by_thread));
	if (!by_thread[tid])
		by_thread[tid] = VG_(calloc)("loci.calls", 1, sizeof(**by_thread));
	return by_thread[tid];
}

/* Generated code looks whether any are pending. */
static void publish(void *guest_state, const struct thread_calls *calls)
{
	out_thread_of(guest_state)->calls = calls->n;
}

void call_forget(ThreadId tid)
{
	static const uint64_t none;

	if (!by_thread || !by_thread[tid])
		return;
	by_thread[tid]->n = 0;
	VG_(set_shadow_regs_area)
	(tid, 1, offsetof(struct out_thread, calls), sizeof(none), (const UChar *)&none);
}

static Bool is_above(Addr a, Addr b)
{
	return a > b && a - b < STACK_BYTES;
}

static uint64_t bytes_of(const struct pending *call)
{
	uint64_t bytes = call->argument[call->kind->bytes];

	return call->kind->times ? bytes * call->argument[call->kind->times] : bytes;
}

static void tell_alloc(const struct pending *call, Addr address)
{
	uint64_t raw[3] = { address, mapping_sequence(), call->site };

	out_mark(LOCI_MARK_ALLOC, bytes_of(call), 3, raw);
}

static void tell_free(Addr address)
{
	uint64_t raw[2] = { address, 0 };

	if (!address)
		return;
	raw[1] = mapping_sequence();
	out_mark(LOCI_MARK_FREE, 0, 2, raw);
}

static void tell_resize(const struct pending *call, Addr address)
{
	Addr old = call->argument[call->kind->object];
	uint64_t raw[4] = { old, address, 0, call->site };

	if (!old && address) {
		tell_alloc(call, address);
	} else if (address) {
		raw[2] = mapping_sequence();
		out_mark(LOCI_MARK_RESIZE, bytes_of(call), 4, raw);
	} else if (bytes_of(call) == 0) {
		tell_free(old);
	}
}

static void tell_sync(UInt say, UWord object)
{
	if (say)
		ordering_tell(say - 1, object);
}

static UWord object_of(const struct pending *call)
{
	return call->kind->object ? call->argument[call->kind->object] : call->kind->fixed;
}

/* A task of libomp: its function stands behind a pointer. */
static Addr routine_of(const struct pending *call)
{
	Addr argument = call->kind->routine ? call->argument[call->kind->routine] : 0;

	if (!call->kind->points)
		return argument;
	argument += sizeof(Addr);
	return VG_(am_is_valid_for_client)(argument, sizeof(Addr), VKI_PROT_READ)
		? *(const Addr *)argument
		: 0;
}

/* The kind that is said of a function which the program hands over to be run. */
static void call_watch(Addr code, enum call_run run)
{
	struct call_kind *kind;

	if (!code || !entry_may_watch(code))
		return;
	kind = VG_(malloc)("loci.routine", sizeof(*kind));
	*kind = run_kind[run];
	kind->code = code;
	entry_watch(code, kind);
}

static void at_entry(const struct pending *call)
{
	const struct call_kind *kind = call->kind;

	switch (kind->class) {
	case CALL_FREE: /* before anybody else can be given the memory */
		tell_free(call->argument[kind->object]);
		break;
	case CALL_SYNC:
		tell_sync(kind->enter, object_of(call));
		if (kind->other)
			tell_sync(SAY(RELEASE), call->argument[kind->other]);
		if (kind->routine)
			call_watch(routine_of(call), kind->runs);
		break;
	case CALL_GIVE:
		call_watch(routine_of(call), kind->runs);
		tell_sync(kind->enter, routine_of(call));
		break;
	case CALL_ROUTINE:
		tell_sync(kind->enter, kind->code);
		if (kind->fixed) /* what it depends on has ended */
			tell_sync(kind->enter, kind->fixed);
		break;
	default:
		break;
	}
}

/* is_within: another call is pending, which this one is made from. */
static void at_return(const struct pending *call, UWord result, Bool is_within)
{
	const struct call_kind *kind = call->kind;
	UWord object = call->argument[kind->object];

	switch (kind->class) {
	case CALL_ALLOCATE:
		if (result)
			tell_alloc(call, result);
		break;
	case CALL_ALLOCATE_TO:
		if (result == 0)
			tell_alloc(call, *(const Addr *)object);
		break;
	case CALL_RESIZE:
		tell_resize(call, result);
		break;
	case CALL_SYNC:
		if (result == OWNER_DIED && kind->leave == SAY(ACQUIRE))
			tell_sync(SAY(ACQUIRE), FIXED_ENDED);
		else if (result != 0 && !kind->always)
			break;
		if (kind->other)
			tell_sync(SAY(ACQUIRE), call->argument[kind->other]);
		tell_sync(kind->leave, object_of(call));
		break;
	case CALL_GIVE:
		tell_sync(kind->leave, routine_of(call));
		break;
	case CALL_ROUTINE: /* what is done once is released before the others are let go */
		if (kind->fixed)
			tell_sync(kind->leave, kind->fixed);
		else if (kind->enter)
			tell_sync(kind->leave, kind->code);
		else if (is_within)
			tell_sync(kind->leave, object_of(call - 1));
		break;
	case CALL_JOIN:
		if (result == 0 && thread_of_pthread(object))
			tell_sync(kind->leave, thread_of_pthread(object));
		break;
	default:
		break;
	}
}

/* It was left otherwise. Where a wait was cancelled its mutex is held again. */
static void at_unwound(const struct pending *call)
{
	if (call->kind->class == CALL_SYNC && call->kind->other)
		tell_sync(SAY(ACQUIRE), call->argument[call->kind->other]);
}

static Bool is_heap(const struct call_kind *kind)
{
	return kind->class < CALL_SYNC;
}

/* A part of the call that is pending: from inside it, or by its last jump. */
static Bool is_part(const struct thread_calls *calls, const struct call_kind *kind)
{
	const struct pending *top = &calls->of[calls->n - 1];

	return calls->n && !top->kind->holds && (is_heap(top->kind) || !is_heap(kind));
}

void call_enter(void *guest_state, const struct call_kind *kind)
{
	const VexGuestAMD64State *guest = guest_state;
	ThreadId tid = VG_(get_running_tid)();
	struct thread_calls *calls = calls_of(tid);
	struct pending *call;
	Addr frame = guest->guest_RSP;

	while (calls->n && is_above(frame, calls->of[calls->n - 1].frame))
		at_unwound(&calls->of[--calls->n]);
	if (calls->n < MAX_PENDING && !is_part(calls, kind)) {
		call = &calls->of[calls->n++];
		call->kind = kind;
		call->frame = frame;
		call->site = *(const Addr *)frame - 1;
		call->argument[1] = guest->guest_RDI;
		call->argument[2] = guest->guest_RSI;
		call->argument[3] = guest->guest_RDX;
		at_entry(call);
	}
	publish(guest_state, calls);
}

void call_return(void *guest_state)
{
	const VexGuestAMD64State *guest = guest_state;
	struct thread_calls *calls = calls_of(VG_(get_running_tid)());
	Addr frame = guest->guest_RSP - sizeof(Addr);

	while (calls->n) {
		const struct pending *call = &calls->of[calls->n - 1];

		if (frame == call->frame)
			at_return(call, guest->guest_RAX, calls->n > 1);
		else if (!is_above(frame, call->frame))
			break;
		else
			at_unwound(call);
		calls->n--;
	}
	publish(guest_state, calls);
}
