// SPDX-License-Identifier: GPL-2.0-or-later
#include "collect/valgrind/kernel.h"
#include "collect/valgrind/block.h"
#include "collect/valgrind/control.h"
#include "collect/valgrind/mapping.h"
#include "collect/valgrind/modules.h"
#include "collect/valgrind/options.h"
#include "collect/valgrind/out.h"
#include "collect/valgrind/thread.h"

#define PAGE_BYTES 4096u

/* The block of a system call instruction and a direction. */
struct call_block {
	struct call_block *next; /* these two as VG_(HT_*) wants them */
	UWord key;
	uint64_t id;
};

static VgHashTable *call_blocks;

SizeT kernel_string_bytes(Addr text)
{
	SizeT n = 0;

	for (;;) {
		if ((n == 0 || (text + n) % PAGE_BYTES == 0) &&
			!VG_(am_is_valid_for_client)(text + n, 1, VKI_PROT_READ))
			return 0;
		if (((const HChar *)text)[n++] == '\0')
			return n;
	}
}

static uint64_t block_of(Addr site, enum loci_op op)
{
	UWord key = site << 1 | (op == LOCI_OP_STORE);
	struct call_block *found = VG_(HT_lookup)(call_blocks, key);

	if (!found) {
		found = VG_(malloc)("loci.call-block", sizeof(*found));
		found->key = key;
		found->id = block_lasting(site, module_at(site), LOCI_BLOCK_KERNEL,
			loci_ref_word(0, op, LOCI_REF_KERNEL), site);
		VG_(HT_add_node)(call_blocks, found);
	}
	return found->id;
}

static void tell(ThreadId tid, enum loci_op op, Addr start, SizeT bytes)
{
	Addr site = mapping_syscall_site(tid);
	uint64_t id, *at;

	if (bytes == 0 || !VG_(am_is_valid_for_client)(start, bytes, VKI_PROT_NONE) ||
		!control_wants(site))
		return;
	thread_is_current(tid);
	id = block_of(site, op);
	at = out_reserve(3);
	at[0] = loci_mark_word(LOCI_MARK_BLOCK, 0, id);
	at[1] = start;
	at[2] = bytes;
	out_commit(at + 3);
}

static void on_read(CorePart part, ThreadId tid, const HChar *what, Addr start, SizeT bytes)
{
	(void)what;
	if (part == Vg_CoreSysCall)
		tell(tid, LOCI_OP_LOAD, start, bytes);
}

static void on_read_string(CorePart part, ThreadId tid, const HChar *what, Addr text)
{
	(void)what;
	if (part == Vg_CoreSysCall)
		tell(tid, LOCI_OP_LOAD, text, kernel_string_bytes(text));
}

static void on_written(CorePart part, ThreadId tid, Addr start, SizeT bytes)
{
	if (part == Vg_CoreSysCall)
		tell(tid, LOCI_OP_STORE, start, bytes);
}

void kernel_init(void)
{
	if (!options.kernel)
		return;
	call_blocks = VG_(HT_construct)("loci.call-blocks");
	VG_(track_pre_mem_read)(on_read);
	VG_(track_pre_mem_read_asciiz)(on_read_string);
	VG_(track_post_mem_write)(on_written);
}
