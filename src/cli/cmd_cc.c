// SPDX-License-Identifier: GPL-2.0-or-later
/* loci cc, loci c++ and loci flang: clang or flang, with loci's pass and runtime. Everything else
 * on the line is the compiler's business and reaches it as it is, in its order.
 *
 * For clang what is added stands between --start-no-unused-arguments and --end-no-unused-arguments:
 * of a line that compiles and does not link, or the other way round, it uses what it needs. flang
 * has neither these nor -Xlinker: it is told for the linker only what it will hand on, and takes
 * the runtime as one more file to link. */
#include "cli/command.h"

#include "cli/link_runtime.h"
#include "collect/toolchain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLANG_OPTION \
	"      --loci-clang=CLANG    with this clang: a name, a path or a major version\n"
#define FLANG_OPTION \
	"      --loci-flang=FLANG    with this flang: a name, a path or a major version\n"
#define OWN_OPTIONS                                                          \
	"      --loci-only=PATTERNS  instrument only what matches\n"         \
	"      --loci-skip=PATTERNS  instrument nothing that matches\n"      \
	"      --loci-ops            count operations, too (see loci ops)\n" \
	"      --loci-help           this text\n\n"                          \
	"Everything else is "

static const char help_c[] =
	"usage: loci cc [CLANG'S OPTIONS] FILE..\n\n"
	"Compiles C with clang so that loci record can follow the program without Valgrind.\n"
	"It takes a compiler's place: CC=\"loci cc\" ./configure\n\n" CLANG_OPTION OWN_OPTIONS
	"clang's.\n";
static const char help_cxx[] =
	"usage: loci c++ [CLANG'S OPTIONS] FILE..\n\n"
	"Compiles C++ with clang so that loci record can follow the program without Valgrind.\n"
	"It takes a compiler's place: CXX=\"loci c++\" ./configure\n\n" CLANG_OPTION OWN_OPTIONS
	"clang's.\n";
static const char help_fortran[] =
	"usage: loci flang [FLANG'S OPTIONS] FILE..\n\n"
	"Compiles Fortran with flang so that loci record can follow the program without Valgrind.\n"
	"It takes a compiler's place: FC=\"loci flang\" ./configure\n\n" FLANG_OPTION OWN_OPTIONS
	"flang's.\n";

static const struct language {
	const char *help, *driver_mode;
	enum loci_compiler compiler;
} c = { help_c, NULL, LOCI_CLANG }, cxx = { help_cxx, "--driver-mode=g++", LOCI_CLANG },
  fortran = { help_fortran, NULL, LOCI_FLANG };

struct making {
	struct loci_toolchain toolchain;
	struct loci_compile_line line;
	bool at_link; /* the pass runs there (LTO) */
	struct loci_words words;
	struct loci_link link;
};

static bool is_flang(const struct making *making)
{
	return making->toolchain.compiler == LOCI_FLANG;
}

static void begin(struct making *making)
{
	if (!is_flang(making))
		loci_words_add(&making->words, "--start-no-unused-arguments");
}

static void end(struct making *making)
{
	if (!is_flang(making))
		loci_words_add(&making->words, "--end-no-unused-arguments");
}

static int add_runtime(struct making *making, struct loci_err *err)
{
	return loci_link_runtime(&making->link, &making->line, err);
}

/* Before everything: its malloc is then found before any library's. */
static int add_head(struct making *making, struct loci_err *err)
{
	char option[PATH_MAX + 32];
	int r = 0;

	begin(making);
	if (!making->line.freestanding)
		loci_words_add(&making->words, "-fpass-plugin=%s", making->toolchain.plugin);
	if (making->at_link && (!is_flang(making) || making->line.links)) {
		snprintf(option, sizeof(option), "--load-pass-plugin=%s", making->toolchain.plugin);
		loci_link_word(&making->link, option);
	}
	if (!making->line.without_libc)
		r = add_runtime(making, err);
	end(making);
	return r;
}

/* After everything: the last word on frame pointers; in the pass's own functions the pass has it. A
 * caller who names the C library himself may have none: the runtime then comes in only if something
 * before asks for it. */
static int add_tail(struct making *making, struct loci_err *err)
{
	int r = 0;

	begin(making);
	loci_words_add(&making->words, "-fno-omit-frame-pointer");
	if (!is_flang(making))
		loci_words_add(&making->words, "-mno-omit-leaf-frame-pointer");
	if (making->line.without_libc)
		r = add_runtime(making, err);
	end(making);
	return r;
}

static int make(struct making *making, const struct loci_wrapper *wrapper,
	const struct language *language, struct loci_err *err)
{
	const struct loci_compile_line *line = &making->line;
	bool plain = !line->has_input || line->foreign || line->internal;
	int r = 0;

	loci_words_add(&making->words, "%s", making->toolchain.program);
	if (language->driver_mode && !line->internal)
		loci_words_add(&making->words, "%s", language->driver_mode);
	if (!plain)
		r = add_head(making, err);
	for (int i = 0; i < line->end; i++)
		loci_words_add(&making->words, "%s", wrapper->argv[i]);
	if (!plain && r == 0)
		r = add_tail(making, err);
	for (int i = line->end; i < wrapper->argc; i++)
		loci_words_add(&making->words, "%s", wrapper->argv[i]);
	return r;
}

/* The pass takes these from the environment; what it is not told it must not find there by chance.
 */
static void tell(const struct making *making, const struct loci_wrapper *wrapper)
{
	if (wrapper->only)
		setenv("LOCI_ONLY", wrapper->only, 1);
	if (wrapper->skip)
		setenv("LOCI_SKIP", wrapper->skip, 1);
	if (wrapper->ops)
		setenv("LOCI_OPS", "1", 1);
	else
		unsetenv("LOCI_OPS");
	if (making->at_link)
		setenv("LOCI_LTO", "link", 1);
	else
		unsetenv("LOCI_LTO");
}

/* Whether the pass can wait for the linker. -Wl, divides at commas. */
static bool can_wait(const struct making *making)
{
	return making->line.lto && making->line.lld && loci_toolchain_has_lld(&making->toolchain) &&
		!(is_flang(making) && strchr(making->toolchain.plugin, ','));
}

static int compile(int argc, char **argv, const struct language *language)
{
	struct loci_err err = { "" };
	struct loci_wrapper wrapper;
	struct making making = { 0 };
	int status = loci_wrapper_read(
		    &wrapper, language->help, language->compiler, false, argc, argv),
	    r;

	if (status >= 0)
		return status;
	loci_compile_line_read(&making.line, wrapper.argc, wrapper.argv);
	r = loci_toolchain_find(&making.toolchain, language->compiler, wrapper.compiler, &err);
	making.at_link = can_wait(&making);
	making.link = (struct loci_link){ &making.words, making.toolchain.dir, is_flang(&making) };
	if (r == 0)
		r = make(&making, &wrapper, language, &err);
	if (r == 0) {
		tell(&making, &wrapper);
		status = loci_words_execute(&making.words, wrapper.command);
	} else {
		status = loci_fail(&err);
	}
	loci_words_free(&making.words);
	return status;
}

int loci_cmd_cc(int argc, char **argv)
{
	return compile(argc, argv, &c);
}

int loci_cmd_cxx(int argc, char **argv)
{
	return compile(argc, argv, &cxx);
}

int loci_cmd_flang(int argc, char **argv)
{
	return compile(argc, argv, &fortran);
}
