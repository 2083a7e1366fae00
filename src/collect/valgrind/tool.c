// SPDX-License-Identifier: GPL-2.0-or-later
/* A tool of Valgrind's that tells a recorder, through a ring in shared memory, what the program
 * does to its memory. It says nothing to the program's own output. */
#include "collect/valgrind/core.h"
#include "collect/valgrind/block.h"
#include "collect/valgrind/control.h"
#include "collect/valgrind/instrument.h"
#include "collect/valgrind/kernel.h"
#include "collect/valgrind/mapping.h"
#include "collect/valgrind/marks.h"
#include "collect/valgrind/options.h"
#include "collect/valgrind/image.h"
#include "collect/valgrind/thread.h"
#include "version.h"

/* Measured: bytes of generated code per superblock. */
#define TRANSLATION_BYTES 330

static void post_clo_init(void)
{
	VG_(clo_vex_control).guest_chase = False;
	VG_(clo_vex_control).iropt_unroll_thresh = 0;
	VG_(clo_demangle) = False;
	block_init();
	thread_init();
	mapping_init();
	kernel_init();
	image_begin();
	control_init();
}

static void fini(Int status)
{
	(void)status; /* always 0 */
	image_end();
}

static void pre_clo_init(void)
{
	VG_(details_name)("loci");
	VG_(details_version)(LOCI_VERSION);
	VG_(details_description)("tells a recorder what a program does to its memory");
	VG_(details_copyright_author)("the authors of loci; GPL-2.0-or-later");
	VG_(details_bug_reports_to)("the authors of loci");
	VG_(details_avg_translation_sizeB)(TRANSLATION_BYTES);
	VG_(basic_tool_funcs)(post_clo_init, instrument, fini);
	VG_(needs_command_line_options)(options_process, options_print, options_print_debug);
	VG_(needs_superblock_discards)(block_discard);
	image_init();
	marks_init();
}

VG_DETERMINE_INTERFACE_VERSION(pre_clo_init)
