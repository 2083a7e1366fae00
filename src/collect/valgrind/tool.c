// SPDX-License-Identifier: GPL-2.0-or-later
#include "collect/valgrind/core.h"
#include "collect/valgrind/block.h"
#include "collect/valgrind/instrument.h"
#include "collect/valgrind/out.h"
#include "version.h"

static const HChar *clo_run_dir;

static Bool process_option(const HChar *arg)
{
	if VG_STR_CLO (arg, "--run-dir", clo_run_dir) {
		return True;
	}
	return False;
}

static void print_usage(void)
{
	VG_(printf)("    --run-dir=DIR    where the ring is made\n");
}

static void print_debug_usage(void)
{
	VG_(printf)("    (none)\n");
}

static uint64_t now_ns(void)
{
	struct vki_timespec now;

	VG_(clock_gettime)(&now, VKI_CLOCK_MONOTONIC);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void post_clo_init(void)
{
	uint64_t raw[3] = { (uint64_t)VG_(getppid)(), now_ns(), 0 };

	out_open(clo_run_dir);
	out_mark(LOCI_MARK_PROCESS, (uint64_t)VG_(getpid)(), 3, raw);
	block_init();
}

static void on_start_code(ThreadId tid, ULong n_blocks)
{
	(void)n_blocks;
	out_sync(tid);
}

static void fini(Int status)
{
	out_mark(LOCI_MARK_END, (uint64_t)status << 8, 0, NULL);
	out_close();
}

static void pre_clo_init(void)
{
	VG_(details_name)("loci");
	VG_(details_version)(LOCI_VERSION);
	VG_(details_description)("tells a recorder of every reference to memory");
	VG_(details_copyright_author)("the authors of loci; GPL-2.0-or-later");
	VG_(details_bug_reports_to)("the authors of loci");
	VG_(details_avg_translation_sizeB)(330);
	VG_(basic_tool_funcs)(post_clo_init, instrument, fini);
	VG_(needs_command_line_options)(process_option, print_usage, print_debug_usage);
	VG_(needs_superblock_discards)(block_discard);
	VG_(track_start_client_code)(on_start_code);
}

VG_DETERMINE_INTERFACE_VERSION(pre_clo_init)
