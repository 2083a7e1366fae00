// SPDX-License-Identifier: GPL-2.0-or-later
/* loci mpicc, mpicxx and mpifort: the MPI library's own wrapper, told by its environment to compile
 * with `loci cc`, `c++` or `flang`. Open MPI, MPICH and what descends from it, and Intel MPI each
 * have their variable. */
#include "cli/command.h"

#include "base/cleanup.h"
#include "cli/wrapper.h"
#include "collect/program.h"

#include <errno.h>
#include <stdio.h>
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
	"Everything else is for the MPI library's wrapper and for "

static const char help_c[] =
	"usage: loci mpicc [OPTIONS] FILE..\n\n"
	"Compiles C as loci cc does, with the options that the MPI library's mpicc adds.\n\n"
	"      --loci-mpi=WRAPPER    through this wrapper, of Open MPI or MPICH "
	"(mpicc)\n" CLANG_OPTION OWN_OPTIONS "clang.\n";
static const char help_cxx[] =
	"usage: loci mpicxx [OPTIONS] FILE..\n\n"
	"Compiles C++ as loci c++ does, with the options that the MPI library's mpicxx adds.\n\n"
	"      --loci-mpi=WRAPPER    through this wrapper, of Open MPI or MPICH "
	"(mpicxx)\n" CLANG_OPTION OWN_OPTIONS "clang.\n";
static const char help_fortran[] =
	"usage: loci mpifort [OPTIONS] FILE..\n\n"
	"Compiles Fortran as loci flang does, with the options that the MPI library's mpifort "
	"adds.\n\n"
	"      --loci-mpi=WRAPPER    through this wrapper, of Open MPI or MPICH "
	"(mpifort)\n" FLANG_OPTION OWN_OPTIONS "flang.\n";

static const struct language {
	const char *help, *mpi, *command;
	enum loci_compiler compiler;
	const char *variable[3];
} c = { help_c, "mpicc", "cc", LOCI_CLANG, { "OMPI_CC", "MPICH_CC", "I_MPI_CC" } },
  cxx = { help_cxx, "mpicxx", "c++", LOCI_CLANG, { "OMPI_CXX", "MPICH_CXX", "I_MPI_CXX" } },
  fortran = { help_fortran, "mpifort", "flang", LOCI_FLANG,
	  { "OMPI_FC", "MPICH_FC", "I_MPI_F90" } };

/* How the wrapper is to call this program. It divides the command at spaces, and nothing protects
 * one within a path. */
static int name_self(char path[PATH_MAX], struct loci_err *err)
{
	ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);

	path[n > 0 ? n : 0] = 0;
	if (!n || path[strcspn(path, " \t\n")])
		return loci_err_set(err, EINVAL,
			"loci is in \"%s\": MPI's wrappers cannot call a program whose path has a "
			"space; install it elsewhere",
			path);
	return 0;
}

/* As one word each: MPI's wrappers divide at spaces. */
static int add_option(char **command, const char *name, const char *value, struct loci_err *err)
{
	char *longer;

	if (!value)
		return 0;
	if (value[strcspn(value, " \t\n")])
		return loci_err_set(err, EINVAL,
			"--loci-%s=%s: MPI's wrappers take no option with a space", name, value);
	if (asprintf(&longer, "%s --loci-%s=%s", *command, name, value) < 0)
		return loci_err_nomem(err);
	free(*command);
	*command = longer;
	return 0;
}

static int make_command(const struct loci_wrapper *wrapper, const struct language *language,
	char **ret, struct loci_err *err)
{
	char self[PATH_MAX];
	int r = name_self(self, err);

	if (r == 0 &&
		asprintf(ret, "%s %s%s", self, language->command,
			wrapper->ops ? " --loci-ops" : "") < 0) {
		*ret = NULL;
		r = loci_err_nomem(err);
	}
	if (r == 0)
		r = add_option(ret, loci_compiler_name(language->compiler), wrapper->compiler, err);
	if (r == 0)
		r = add_option(ret, "only", wrapper->only, err);
	if (r == 0)
		r = add_option(ret, "skip", wrapper->skip, err);
	return r;
}

static int compile(int argc, char **argv, const struct language *language)
{
	loci_autofree char *command = NULL;
	struct loci_err err = { "" };
	struct loci_words words = { 0 };
	struct loci_wrapper wrapper;
	char path[PATH_MAX];
	int status =
		loci_wrapper_read(&wrapper, language->help, language->compiler, true, argc, argv);

	if (status >= 0)
		return status;
	if (make_command(&wrapper, language, &command, &err) < 0)
		return loci_fail(&err);
	if (loci_program_find(wrapper.mpi ?: language->mpi, path) < 0) {
		loci_err_set(&err, ENOENT,
			"%s is not there, or not in PATH: install an MPI library (apt install "
			"libopenmpi-dev), or name its wrapper with --loci-mpi",
			wrapper.mpi ?: language->mpi);
		return loci_fail(&err);
	}
	for (size_t i = 0; i < LOCI_ARRAY_SIZE(language->variable); i++)
		setenv(language->variable[i], command, 1);
	loci_words_add(&words, "%s", path);
	for (int i = 0; i < wrapper.argc; i++)
		loci_words_add(&words, "%s", wrapper.argv[i]);
	status = loci_words_execute(&words, wrapper.command);
	loci_words_free(&words);
	return status;
}

int loci_cmd_mpicc(int argc, char **argv)
{
	return compile(argc, argv, &c);
}

int loci_cmd_mpicxx(int argc, char **argv)
{
	return compile(argc, argv, &cxx);
}

int loci_cmd_mpifort(int argc, char **argv)
{
	return compile(argc, argv, &fortran);
}
