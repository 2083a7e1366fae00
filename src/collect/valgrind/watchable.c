// SPDX-License-Identifier: GPL-2.0-or-later
#include "collect/valgrind/watchable.h"
#include "stream/ring_x86_64.h"

#define SYS_GETXATTR 191
#define HEAD_BYTES   256 /* the kernel reads as much of a script's first line */
#define SCRIPT_DEPTH 4   /* an interpreter may be a script: as often as the kernel allows it */

#define ELF_CLASS   4
#define ELF_MACHINE 18
#define CLASS_64    2
#define X86_64      62

static Bool has_rights(const HChar *path, Int fd)
{
	struct vg_stat st;

	if (VG_(fstat)(fd, &st) == 0 && (st.mode & (VKI_S_ISUID | VKI_S_ISGID)))
		return True;
	return loci_syscall6(SYS_GETXATTR, (long)path, (long)"security.capability", 0, 0, 0, 0) > 0;
}

/* The interpreter of "#! /bin/sh -e". */
static const HChar *interpreter(HChar *head)
{
	HChar *start = head + 2, *end;

	while (*start == ' ' || *start == '\t')
		start++;
	for (end = start; *end && *end != ' ' && *end != '\t' && *end != '\n';)
		end++;
	*end = '\0';
	return start;
}

static Bool watchable_at(const HChar *path, UInt depth)
{
	HChar head[HEAD_BYTES + 1];
	SysRes r = VG_(open)(path, VKI_O_RDONLY, 0);
	Bool rights;
	Int fd, n;

	if (sr_isError(r))
		return False;
	fd = (Int)sr_Res(r);
	VG_(memset)(head, 0, sizeof(head));
	n = VG_(read)(fd, head, HEAD_BYTES);
	rights = has_rights(path, fd);
	VG_(close)(fd);
	if (rights)
		return False;
	if (n > ELF_MACHINE && VG_(memcmp)(head, "\177ELF", 4) == 0)
		return head[ELF_CLASS] == CLASS_64 && head[ELF_MACHINE] == X86_64;
	if (head[0] == '#' && head[1] == '!' && depth < SCRIPT_DEPTH)
		return watchable_at(interpreter(head), depth + 1);
	return True; /* a shell runs it as its own, or the kernel says what is wrong */
}

Bool watchable(const HChar *path)
{
	return watchable_at(path, 0);
}
