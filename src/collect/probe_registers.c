// SPDX-License-Identifier: GPL-2.0-or-later
#include "collect/probe.h"

#include "base/cleanup.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *advice(int error)
{
	switch (error) {
	case EACCES:
	case EPERM:
		return "allow it: sysctl kernel.perf_event_paranoid=2, and in a container the "
		       "system call perf_event_open";
	case ENOSPC:
		return "a debugger has them all";
	case E2BIG:
	case EINVAL:
		return "the kernel is older than 5.13, which cannot send its traps to threads";
	case ENOSYS:
		return "the kernel, or a sandbox, does not offer it";
	default:
		return "the processor or its virtual machine has none to give";
	}
}

/* With what watch_registers.c asks for: kernels before 5.13 have registers, but not these. */
int loci_probe_registers(struct loci_err *err)
{
	static uint64_t watched;
	struct perf_event_attr attributes = { .type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(attributes),
		.sample_period = 1,
		.bp_type = HW_BREAKPOINT_RW,
		.bp_addr = (uintptr_t)&watched,
		.bp_len = HW_BREAKPOINT_LEN_8,
		.disabled = 1,
		.inherit = 1,
		.inherit_thread = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.remove_on_exec = 1,
		.sigtrap = 1 };
	loci_autoclose int fd =
		(int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd >= 0)
		return 0;
	return loci_err_set(
		err, errno, "no debug register can be had: %s; %s", strerror(errno), advice(errno));
}
