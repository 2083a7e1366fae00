/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `loci cc` and `loci flang` compile with: a compiler, the pass for its version, and the
 * runtime that programs are linked to. Pass and runtime lie in a directory of loci's own, found
 * from where this program is, so that an installed tree can be moved. */
#ifndef LOCI_COLLECT_TOOLCHAIN_H
#define LOCI_COLLECT_TOOLCHAIN_H

#include "base/err.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* The compilers that take LLVM's passes, and gcc, which has a toolchain of its own
 * (gcc_toolchain.h). */
enum loci_compiler { LOCI_CLANG, LOCI_FLANG, LOCI_GCC };

/* "clang", "flang", "gcc" */
const char *loci_compiler_name(enum loci_compiler compiler);

struct loci_toolchain {
	enum loci_compiler compiler;
	char dir[PATH_MAX];     /* of the passes and the runtime */
	char program[PATH_MAX]; /* the compiler */
	unsigned version;       /* its major version */
	char plugin[PATH_MAX];  /* the pass for that version */
};

/* Takes the newest one that there is a pass for; or the one that is named: a program, a path or a
 * major version ("clang-14", "/opt/llvm/bin/clang", "14"). What is missing, or does not fit
 * together, is explained with the remedy. */
int loci_toolchain_find(struct loci_toolchain *ret, enum loci_compiler compiler, const char *named,
	struct loci_err *err);

/* The directory of the runtime, also where there are no passes. */
int loci_toolchain_dir(char dir[PATH_MAX], struct loci_err *err);
/* A file there: libloci-rt.so, libloci-rt.a or what linking wraps. */
int loci_toolchain_file(
	const char *dir, const char *file, char path[PATH_MAX], struct loci_err *err);

/* Runs a program and keeps the beginning of what it says. Returns its status as waitpid(2) gives
 * it. */
int loci_toolchain_ask(char *const argv[], char *text, size_t size);

/* Whether that compiler takes the pass and the runtime is there, found out by compiling nothing. */
int loci_toolchain_try(struct loci_toolchain *toolchain, struct loci_err *err);

/* Whether `-fuse-ld=lld` means a linker that can run the pass: of the compiler's own version,
 * beside it, and not older than 15. */
bool loci_toolchain_has_lld(const struct loci_toolchain *toolchain);

#endif
