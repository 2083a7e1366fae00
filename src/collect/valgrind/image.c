// SPDX-License-Identifier: GPL-2.0-or-later
#include "collect/valgrind/image.h"
#include "collect/valgrind/block.h"
#include "collect/valgrind/control.h"
#include "collect/valgrind/kernel.h"
#include "collect/valgrind/mapping.h"
#include "collect/valgrind/marks.h"
#include "collect/valgrind/modules.h"
#include "collect/valgrind/options.h"
#include "collect/valgrind/ordering.h"
#include "collect/valgrind/out.h"
#include "collect/valgrind/thread.h"
#include "collect/valgrind/watchable.h"
#include "stream/ring_x86_64.h"

#define SYS_ACCESS  21
#define X_OK        1
#define STATUS_NONE (~0ull)

static uint64_t exit_status = STATUS_NONE; /* as wait(2) gives it */
static Bool exec_pending;                  /* the stream was closed for it */
static Bool exec_unwatched;                /* what it becomes cannot be watched */

void image_begin(void)
{
	uint64_t raw[3] = { (uint64_t)VG_(getppid)(), thread_time_ns(), 0 };

	out_open(options.run_dir);
	out_mark(LOCI_MARK_PROCESS, (uint64_t)VG_(getpid)(), 3, raw);
}

/* A stream that begins in the middle of a process's life. */
static void begin_anew(void)
{
	ordering_begin();
	mapping_begin();
	image_begin();
	module_tell_all();
	mapping_tell_all();
	block_tell_all();
	thread_tell();
	control_tell();
	marks_tell_all(thread_latest());
}

void image_end(void)
{
	if (exit_status != STATUS_NONE)
		out_mark(LOCI_MARK_END, exit_status, 0, NULL);
	out_close();
}

static void on_child(ThreadId tid)
{
	(void)tid;
	begin_anew();
}

/* Whether the call can succeed as far as a look at the file tells; a shell or execvp tries many
 * that are not there. */
static void before_exec(ThreadId tid, Addr path)
{
	const HChar *name = (const HChar *)path;

	if (!kernel_string_bytes(path) || loci_syscall3(SYS_ACCESS, (long)name, X_OK, 0) < 0)
		return;
	thread_is_current(tid);
	out_mark(LOCI_MARK_EXEC, out_string(name), 0, NULL);
	out_close();
	exec_pending = True;
	if (VG_(clo_trace_children) && !watchable(name)) {
		exec_unwatched = True;
		VG_(clo_trace_children) = False;
		out_leave(options.run_dir);
	}
}

static void before_syscall(ThreadId tid, UInt number, UWord *args, UInt n_args)
{
	(void)n_args;
	thread_calls(tid, True);
	switch (number) {
	case __NR_execve:
		before_exec(tid, args[0]);
		break;
	case __NR_exit_group:
	case __NR_exit:
		marks_leave(tid);
		exit_status = (args[0] & 0xff) << 8;
		break;
	default:
		break;
	}
}

static Bool is_fork(UInt number, const UWord *args)
{
	return number == __NR_fork || number == __NR_vfork ||
		(number == __NR_clone && !(args[0] & VKI_CLONE_THREAD));
}

static void after_syscall(ThreadId tid, UInt number, UWord *args, UInt n_args, SysRes result)
{
	(void)n_args;
	thread_calls(tid, False);
	if (exec_pending && number == __NR_execve) {
		exec_pending = False;
		if (exec_unwatched) {
			VG_(clo_trace_children) = True;
			out_return(options.run_dir);
		}
		exec_unwatched = False;
		begin_anew();
	} else if (is_fork(number, args) && !sr_isError(result) && sr_Res(result)) {
		thread_is_current(tid);
		out_mark(LOCI_MARK_FORK, sr_Res(result), 0, NULL);
	}
}

void image_init(void)
{
	VG_(needs_syscall_wrapper)(before_syscall, after_syscall);
	VG_(atfork)(NULL, NULL, on_child);
}
