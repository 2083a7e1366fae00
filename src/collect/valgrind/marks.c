// SPDX-License-Identifier: GPL-2.0-or-later
#include "collect/valgrind/marks.h"
#include "collect/runtime/marking.h"
#include "collect/valgrind/block.h"
#include "collect/valgrind/control.h"
#include "collect/valgrind/kernel.h"
#include "collect/valgrind/mapping.h"
#include "collect/valgrind/modules.h"
#include "collect/valgrind/out.h"
#include "collect/valgrind/thread.h"

#define LOCI_MARK_OFF /* the requests only */
#include <loci/mark.h>

#define FAMILY(request) ((request) >> 16)

static void *memory(SizeT bytes)
{
	return VG_(calloc)("loci.marks", 1, bytes);
}

static void nobody_else(void)
{
}

static void mark(
	void *thread, enum loci_marker kind, uint64_t payload, unsigned n_raw, const uint64_t *raw)
{
	(void)thread;
	out_mark(kind, payload, n_raw, raw);
}

/* A child is told of all blocks anyway. */
static uint64_t define(uint64_t site, uint64_t descriptor, uint64_t id)
{
	return id ? id
		  : block_lasting(site, module_at(site), LOCI_BLOCK_PLAIN | LOCI_BLOCK_TOLD,
			    descriptor, site);
}

static const struct loci_marking_ops ops = { .memory = memory,
	.lock = nobody_else,
	.unlock = nobody_else,
	.string = out_string,
	.sequence = mapping_sequence,
	.mark = mark,
	.block = define };

static struct loci_marking marking = { .ops = &ops };
static struct loci_marking_thread **threads; /* by Valgrind's number; NULL: has marked nothing */

static struct loci_marking_thread *thread_of(ThreadId tid)
{
	if (!threads)
		threads = memory(VG_N_THREADS * sizeof(*threads));
	if (!threads[tid])
		threads[tid] = memory(sizeof(*threads[tid]));
	return threads[tid];
}

static UWord word_in(ThreadId tid, PtrdiffT offset)
{
	UWord word;

	VG_(get_shadow_regs_area)(tid, (UChar *)&word, 0, offset, sizeof(word));
	return word;
}

/* A name that is not there is none. */
static const HChar *readable(Addr name, SizeT *n)
{
	if (*n == ~(SizeT)0)
		*n = name ? kernel_string_bytes(name) : 0;
	else if (*n && !VG_(am_is_valid_for_client)(name, *n, VKI_PROT_READ))
		*n = 0;
	return *n ? (const HChar *)name : NULL;
}

static void refer(ThreadId tid, Addr site, Addr address, SizeT bytes, UWord kind)
{
	uint64_t descriptor = loci_marking_descriptor(bytes, kind == LOCI_STORE), id, *at;

	if (!site)
		site = VG_(get_IP)(tid) - 1;
	if (!bytes || !control_wants(site))
		return;
	if (bytes > LOCI_MARKING_REFERENCE_BYTES) {
		loci_marking_too_long(&marking, NULL);
		return;
	}
	id = loci_marking_block_known(&marking, site, descriptor);
	if (!id)
		id = loci_marking_block(&marking, site, descriptor);
	at = out_reserve(5);
	*at++ = loci_mark_word(LOCI_MARK_BLOCK, 0, id);
	if (loci_word_is_marker(address))
		*at++ = loci_mark_word(LOCI_MARK_WIDE, 1, 0);
	*at++ = address;
	if (!(UInt)descriptor)
		*at++ = bytes;
	out_commit(at);
}

#define WORD(tid, name) word_in(tid, offsetof(VexGuestAMD64State, guest_##name))

static Bool handle(ThreadId tid, UWord *args, UWord *ret)
{
	UWord a = WORD(tid, RDI), c = WORD(tid, RCX), d = WORD(tid, R8), e = WORD(tid, R9);
	SizeT n = WORD(tid, RSI);

	if (FAMILY(args[0]) != FAMILY(LOCI_MARK_REGION_BEGIN_))
		return False;
	*ret = 1; /* nobody else need be told */
	thread_is_current(tid);
	switch (args[0]) {
	case LOCI_MARK_REGION_BEGIN_:
		loci_marking_region_begin(&marking, thread_of(tid), NULL, readable(a, &n), n);
		break;
	case LOCI_MARK_REGION_END_:
		loci_marking_region_end(&marking, thread_of(tid), NULL, readable(a, &n), n);
		break;
	case LOCI_MARK_PHASE_:
		loci_marking_phase(&marking, NULL, readable(a, &n), n);
		break;
	case LOCI_MARK_OBJECT_:
		loci_marking_object(&marking, NULL, readable(a, &n), n, c, d, e);
		break;
	case LOCI_MARK_OBJECT_PART_:
		loci_marking_object_part(&marking, NULL, readable(a, &n), n, c, d, e);
		break;
	case LOCI_MARK_OBJECT_END_:
		loci_marking_object_end(&marking, NULL, a);
		break;
	case LOCI_MARK_ACCESS_:
		refer(tid, d, a, n, c);
		break;
	case LOCI_MARK_DISABLE_:
		loci_marking_disable(&marking, NULL);
		break;
	case LOCI_MARK_ENABLE_:
		loci_marking_enable(&marking, NULL);
		break;
	default: /* of a later header */
		break;
	}
	return True;
}

void marks_init(void)
{
	VG_(needs_client_requests)(handle);
}

void marks_begin(ThreadId tid)
{
	if (threads && threads[tid])
		threads[tid]->depth = threads[tid]->beyond = threads[tid]->inherited = 0;
}

void marks_leave(ThreadId tid)
{
	if (!threads || !threads[tid])
		return;
	thread_is_current(tid);
	loci_marking_leave(&marking, threads[tid], NULL);
}

void marks_tell_all(ThreadId tid)
{
	loci_marking_again(&marking, thread_of(tid), NULL);
}
