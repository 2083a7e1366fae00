// SPDX-License-Identifier: GPL-2.0-or-later
/* The command line: a table of commands, and the manners they share. */
#include "cli/command.h"

#include "base/cleanup.h"
#include "version.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct loci_command commands[] = {
	{ "record", "run a program and make a profile of it", loci_cmd_record },
	{ "cc", "compile C for recording without Valgrind", loci_cmd_cc },
	{ "c++", "the same for C++", loci_cmd_cxx },
	{ "flang", "the same for Fortran", loci_cmd_flang },
	{ "mpicc", "the same for C with MPI", loci_cmd_mpicc },
	{ "mpicxx", "the same for C++ with MPI", loci_cmd_mpicxx },
	{ "mpifort", "the same for Fortran with MPI", loci_cmd_mpifort },
	{ "gcc", "the same with gcc, less exactly", loci_cmd_gcc },
	{ "g++", "the same with g++", loci_cmd_gxx },
	{ "gfortran", "the same with gfortran", loci_cmd_gfortran },
	{ "analyse", "turn a memory trace into a profile", loci_cmd_analyse },
	{ "cache", "the misses and traffic of any cache hierarchy", loci_cmd_cache },
	{ "merge", "add profiles up", loci_cmd_merge },
	{ "export", "write a profile as JSON or CSV", loci_cmd_export },
	{ "report", "show what a profile says, on one screen", loci_cmd_report },
	{ "annotate", "show source lines with their misses and distances", loci_cmd_annotate },
	{ "ops", "count what a program computes and moves", loci_cmd_ops },
	{ "diff", "compare two profiles", loci_cmd_diff },
	{ "html", "write a page that shows a profile, to open or to send", loci_cmd_html },
	{ "view", "show a profile in the browser", loci_cmd_view },
	{ "summary", "tabulate many profiles, a row each", loci_cmd_summary },
	{ "info", "say what a profile is and how far its models can be trusted", loci_cmd_info },
	{ "doctor", "say which ways of recording work here", loci_cmd_doctor },
};

int loci_fail(const struct loci_err *err)
{
	fflush(stdout);
	fprintf(stderr, "loci: %s\n", err->text[0] ? err->text : "failed");
	return LOCI_EXIT_FAILED;
}

int loci_usage(const char *command, const char *fmt, ...)
{
	va_list args;

	fflush(stdout);
	fprintf(stderr, "loci %s: ", command);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fprintf(stderr, "\nTry 'loci %s -h'.\n", command);
	return LOCI_EXIT_USAGE;
}

int loci_finish(int status)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	if (errno == EPIPE) /* the reader had enough: `loci report | head` */
		return status;
	fprintf(stderr, "loci: standard output: %s\n", strerror(errno));
	return LOCI_EXIT_FAILED;
}

static int help(void)
{
	printf("loci measures how far apart a program's reuses of its data are.\n\n"
	       "usage: loci COMMAND [OPTIONS] [FILE..]\n\n");
	for (size_t i = 0; i < LOCI_ARRAY_SIZE(commands); i++)
		printf("  %-10s %s\n", commands[i].name, commands[i].summary);
	printf("\n'loci COMMAND -h' explains a command, 'man loci-COMMAND' at length.\n");
	return loci_finish(LOCI_EXIT_OK);
}

static const struct loci_command *find(const char *name)
{
	if (!strcmp(name, "analyze"))
		name = "analyse";
	for (size_t i = 0; i < LOCI_ARRAY_SIZE(commands); i++)
		if (!strcmp(name, commands[i].name))
			return &commands[i];
	return NULL;
}

/* Called as loci-cc, say, where a compiler's name must be one word. */
static const struct loci_command *find_called(const char *path)
{
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;

	return strncmp(name, "loci-", 5) == 0 ? find(name + 5) : NULL;
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : NULL;
	const struct loci_command *command = argc > 0 ? find_called(argv[0]) : NULL;

	signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an error with a message */
	if (command) {
		argv[0] += strlen(argv[0]) - strlen(command->name);
		return command->run(argc, argv);
	}
	if (!name || !strcmp(name, "help") || !strcmp(name, "-h") || !strcmp(name, "--help"))
		return help();
	if (!strcmp(name, "--version") || !strcmp(name, "-V")) {
		printf("loci %s\n", LOCI_VERSION);
		return loci_finish(LOCI_EXIT_OK);
	}
	command = find(name);
	if (command)
		return command->run(argc - 1, argv + 1);
	fprintf(stderr, "loci: there is no command \"%s\"; 'loci help' lists them\n", name);
	return LOCI_EXIT_USAGE;
}
