/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Valgrind's tool interface, all that this tool uses of it, and the few functions of the core that
 * are linked but not declared there. */
#ifndef LOCI_COLLECT_VALGRIND_CORE_H
#define LOCI_COLLECT_VALGRIND_CORE_H

#include <stdint.h>

#include <pub_tool_basics.h>
#include <pub_tool_vki.h>
#include <pub_tool_vkiscnums.h>
#include <pub_tool_aspacemgr.h>
#include <pub_tool_debuginfo.h>
#include <pub_tool_hashtable.h>
#include <pub_tool_libcassert.h>
#include <pub_tool_libcbase.h>
#include <pub_tool_libcfile.h>
#include <pub_tool_libcprint.h>
#include <pub_tool_libcproc.h>
#include <pub_tool_machine.h>
#include <pub_tool_mallocfree.h>
#include <pub_tool_options.h>
#include <pub_tool_seqmatch.h>
#include <pub_tool_threadstate.h>
#include <pub_tool_tooliface.h>
#include <pub_tool_transtab.h>
#include <libvex_guest_amd64.h>

/* Memory shared with another process, known to the core's map of the address space. */
extern SysRes VG_(am_shared_mmap_file_float_valgrind)(
	SizeT length, UInt prot, Int fd, Off64T offset);

/* Not while generated code runs. */
extern void VG_(discard_translations)(Addr start, ULong range, const HChar *who);

/* Whether programs that the program becomes or starts by exec run under Valgrind too. */
extern Bool VG_(clo_trace_children);

/* Whether names of functions are given as the source has them. */
extern Bool VG_(clo_demangle);

/* The highest address of the stack that the process began with. */
extern Addr VG_(clstk_end);

#endif
