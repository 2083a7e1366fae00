// SPDX-License-Identifier: GPL-2.0-or-later
/* loci gcc, loci g++ and loci gfortran: gcc, whose compilers are told to call the runtime at every
 * access as they would call ThreadSanitizer's. They are told by a file of specs, so that the driver
 * does not know of it and links nothing for it. Everything else on the line is gcc's business and
 * reaches it as it is, in its order. */
#include "cli/command.h"

#include "cli/link_runtime.h"
#include "collect/gcc_toolchain.h"

#include <errno.h>
#include <string.h>

#define OWN_OPTIONS                                                                             \
	"      --loci-gcc=GCC  with this one: a name, a path or a major version\n"              \
	"      --loci-help     this text\n\n"                                                   \
	"What gcc tells of a program's accesses is an approximation; loci cc, by clang, sees\n" \
	"them all. Everything else is gcc's.\n"

static const char help_c[] =
	"usage: loci gcc [GCC'S OPTIONS] FILE..\n\n"
	"Compiles with gcc so that loci record can follow the program without Valgrind.\n"
	"It takes a compiler's place: CC=\"loci gcc\" ./configure\n\n" OWN_OPTIONS;
static const char help_cxx[] =
	"usage: loci g++ [GCC'S OPTIONS] FILE..\n\n"
	"Compiles C++ with g++ so that loci record can follow the program without Valgrind.\n"
	"It takes a compiler's place: CXX=\"loci g++\" ./configure\n\n" OWN_OPTIONS;
static const char help_fortran[] =
	"usage: loci gfortran [GCC'S OPTIONS] FILE..\n\n"
	"Compiles Fortran with gfortran so that loci record can follow the program without\n"
	"Valgrind. It takes a compiler's place: FC=\"loci gfortran\" ./configure\n\n" OWN_OPTIONS;

/* The last one that is not compatible with what loci uses; NULL: none. */
static const char *find_sanitizer(const struct loci_wrapper *wrapper)
{
	static const char *const names[] = { "thread", "address", "leak", "kernel-address",
		"hwaddress", "kernel-hwaddress" };
	static const char option[] = "-fsanitize=";

	for (int i = 0; i < wrapper->argc; i++) {
		const char *at = wrapper->argv[i];

		if (strncmp(at, option, strlen(option)) != 0)
			continue;
		for (at += strlen(option); *at; at += strcspn(at, ","), at += *at == ',')
			for (size_t k = 0; k < sizeof(names) / sizeof(*names); k++)
				if (strcspn(at, ",") == strlen(names[k]) &&
					!strncmp(at, names[k], strlen(names[k])))
					return wrapper->argv[i];
	}
	return NULL;
}

/* Before everything: its malloc is then found before any library's. A caller who names the C
 * library himself may have none: the runtime then comes in only if something before asks for it. */
static int add_runtime(
	const struct loci_link *link, const struct loci_compile_line *line, struct loci_err *err)
{
	bool is_static = line->makes_static;
	int r = loci_link_runtime(link, line, err);

	if (r < 0 || !loci_link_wants_runtime(line))
		return r;
	if (is_static) /* where gcc's own way to find unwinding information is another */
		loci_link_word(link, "--eh-frame-hdr");
	if (is_static && !line->without_libc)
		r = loci_link_archive(link, "libloci-rt-gcc.a", true, err);
	return r < 0 || line->without_libc ? r : loci_link_wraps(link, "touched.txt", err);
}

static int make(struct loci_words *words, const struct loci_gcc_toolchain *gcc,
	const struct loci_wrapper *wrapper, struct loci_err *err)
{
	const struct loci_link link = { words, gcc->dir, false };
	struct loci_compile_line line;
	bool plain;
	int r = 0;

	loci_compile_line_read(&line, wrapper->argc, wrapper->argv);
	plain = !line.has_input || line.foreign;
	loci_words_add(words, "%s", gcc->compiler);
	if (!plain && !line.freestanding)
		loci_words_add(words, "-specs=%s", gcc->specs);
	if (!plain && !line.without_libc)
		r = add_runtime(&link, &line, err);
	for (int i = 0; i < wrapper->argc; i++)
		loci_words_add(words, "%s", wrapper->argv[i]);
	if (!plain && line.without_libc && r == 0)
		r = add_runtime(&link, &line, err);
	return r;
}

static int compile(int argc, char **argv, const char *help, const char *driver)
{
	struct loci_err err = { "" };
	struct loci_wrapper wrapper;
	struct loci_gcc_toolchain gcc;
	struct loci_words words = { 0 };
	int status = loci_wrapper_read(&wrapper, help, LOCI_GCC, false, argc, argv), r;
	const char *sanitizer;

	if (status >= 0)
		return status;
	sanitizer = find_sanitizer(&wrapper);
	if (sanitizer)
		return loci_usage(driver,
			"%s: gcc does not do that together with -fsanitize=thread, which loci uses "
			"for itself; leave it out, or compile with loci cc",
			sanitizer);
	r = loci_gcc_toolchain_find(&gcc, driver, wrapper.compiler, false, &err);
	if (r == 0)
		r = make(&words, &gcc, &wrapper, &err);
	status = r == 0 ? loci_words_execute(&words, wrapper.command) : loci_fail(&err);
	loci_words_free(&words);
	return status;
}

int loci_cmd_gcc(int argc, char **argv)
{
	return compile(argc, argv, help_c, "gcc");
}

int loci_cmd_gxx(int argc, char **argv)
{
	return compile(argc, argv, help_cxx, "g++");
}

int loci_cmd_gfortran(int argc, char **argv)
{
	return compile(argc, argv, help_fortran, "gfortran");
}
