// SPDX-License-Identifier: GPL-2.0-or-later
#include "collect/program.h"

#include "base/cleanup.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#define HEAD_BYTES   256 /* the kernel reads as much of a script's first line */
#define SCRIPT_DEPTH 4   /* an interpreter may be a script: as often as the kernel allows it */

/* 0, or why this very file cannot be executed. */
static int executable(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return errno == ENOTDIR ? -ENOENT : -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	return S_ISREG(st.st_mode) && access(path, X_OK) == 0 ? 0 : -EACCES;
}

int loci_program_find(const char *name, char *path)
{
	const char *dirs = getenv("PATH");
	int failed = -ENOENT;

	if (strchr(name, '/'))
		return snprintf(path, PATH_MAX, "%s", name) < PATH_MAX ? executable(path)
								       : -ENAMETOOLONG;
	if (!dirs)
		dirs = "/bin:/usr/bin";
	for (;;) {
		size_t n = strcspn(dirs, ":");
		int r = -ENOENT;

		/* an empty part is the current directory */
		if (*name &&
			snprintf(path, PATH_MAX, "%.*s%s%s", (int)n, dirs, n ? "/" : "./", name) <
				PATH_MAX)
			r = executable(path);
		if (r == 0)
			return 0;
		if (r == -EACCES)
			failed = r;
		if (!dirs[n])
			return failed;
		dirs += n + 1;
	}
}

bool loci_program_has_rights(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return false;
	return st.st_mode & (S_ISUID | S_ISGID) ||
		getxattr(path, "security.capability", NULL, 0) > 0;
}

static int cannot(int *ret_status)
{
	*ret_status = LOCI_PROGRAM_CANNOT;
	return EACCES;
}

static const char *machine_name(unsigned machine)
{
	static const struct {
		unsigned machine;
		const char *name;
	} names[] = {
		{ EM_AARCH64, "aarch64" },
		{ EM_ARM, "arm" },
		{ EM_PPC64, "ppc64" },
		{ EM_RISCV, "riscv" },
		{ EM_S390, "s390" },
		{ EM_386, "x86 (32 bits)" },
	};

	for (size_t i = 0; i < LOCI_ARRAY_SIZE(names); i++)
		if (names[i].machine == machine)
			return names[i].name;
	return "another machine";
}

static int check_elf(
	const char *name, const char *head, size_t n, int *ret_status, struct loci_err *err)
{
	Elf64_Ehdr elf;

	if (n < sizeof(elf))
		return loci_err_set(err, cannot(ret_status), "%s: is a damaged program", name);
	memcpy(&elf, head, sizeof(elf)); /* type and machine stand where 32 bits have them */
	if (elf.e_ident[EI_DATA] != ELFDATA2LSB || elf.e_machine != EM_X86_64)
		return loci_err_set(err, cannot(ret_status),
			"%s: is a program for %s; loci records programs for x86-64", name,
			elf.e_ident[EI_DATA] == ELFDATA2LSB ? machine_name(elf.e_machine)
							    : "a big-endian machine");
	if (elf.e_ident[EI_CLASS] != ELFCLASS64)
		return loci_err_set(err, cannot(ret_status),
			"%s: has pointers of 32 bits (x32); loci records 64-bit programs: build it "
			"with -m64",
			name);
	if (elf.e_type != ET_EXEC && elf.e_type != ET_DYN)
		return loci_err_set(err, cannot(ret_status),
			"%s: is no program but %s; link it first", name,
			elf.e_type == ET_REL ? "an object file" : "a core file");
	return 0;
}

/* The interpreter of "#! /bin/sh -e". */
static const char *interpreter(char *head)
{
	char *at = head + 2;

	at += strspn(at, " \t");
	at[strcspn(at, " \t\n")] = 0;
	return at;
}

static int check_file(
	const char *name, const char *path, unsigned depth, int *ret_status, struct loci_err *err)
{
	loci_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
	char head[HEAD_BYTES + 1] = "";
	const char *next;
	ssize_t n;

	if (fd < 0)
		return loci_err_set(err, cannot(ret_status),
			"%s: may be executed but not be read (%s); Valgrind must read a program to "
			"run it",
			path, strerror(errno));
	if (loci_program_has_rights(path))
		return loci_err_set(err, cannot(ret_status),
			"%s: runs with the rights of another user (setuid, setgid or "
			"capabilities), which the kernel grants to no program that is watched; "
			"record a copy without them (cp %s copy)",
			path, path);
	n = read(fd, head, HEAD_BYTES);
	if (n >= SELFMAG && !memcmp(head, ELFMAG, SELFMAG))
		return check_elf(path, head, (size_t)n, ret_status, err);
	if (n < 2 || memcmp(head, "#!", 2)) {
		if (n <= 0 || !memchr(head, 0, (size_t)n))
			return 0; /* shells run it as their own */
		return loci_err_set(
			err, cannot(ret_status), "%s: is neither a program nor a script", path);
	}
	next = interpreter(head);
	if (executable(next) < 0) {
		*ret_status = LOCI_PROGRAM_NOT_FOUND;
		return loci_err_set(err, ENOENT,
			"%s: its first line names the interpreter %s, which is not there or is no "
			"program",
			path, next);
	}
	return depth == SCRIPT_DEPTH ? 0 : check_file(name, next, depth + 1, ret_status, err);
}

int loci_program_check(const char *name, int *ret_status, struct loci_err *err)
{
	char path[PATH_MAX];
	int r = loci_program_find(name, path);

	*ret_status = r == -ENOENT ? LOCI_PROGRAM_NOT_FOUND : LOCI_PROGRAM_CANNOT;
	if (r == -ENOENT)
		return loci_err_set(err, ENOENT, "%s: %s", name,
			strchr(name, ' ')           ? "there is no such program; a program and its "
						      "arguments are words of their own"
				: strchr(name, '/') ? "there is no such program"
						    : "is in no directory of PATH; a program in "
						      "this directory is ./NAME");
	if (r == -EISDIR)
		return loci_err_set(err, EISDIR, "%s: is a directory", name);
	if (r == -EACCES)
		return loci_err_set(
			err, EACCES, "%s: may not be executed (chmod +x makes it so)", name);
	if (r < 0)
		return loci_err_set(err, -r, "%s: %s", name, strerror(-r));
	*ret_status = 0;
	return check_file(name, path, 0, ret_status, err);
}
