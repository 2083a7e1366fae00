/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What main.c's table knows of a command. Each cmd_*.c keeps its state in a struct of its own. */
#ifndef LOCI_CLI_COMMAND_H
#define LOCI_CLI_COMMAND_H

#include "base/err.h"

struct loci_command {
	const char *name;
	const char *summary; /* one line for `loci help` */
	/* argv[0] is the command's name. Returns the exit status: 0, 1 failed, 2 usage. */
	int (*run)(int argc, char **argv);
};

enum { LOCI_EXIT_OK = 0, LOCI_EXIT_FAILED = 1, LOCI_EXIT_USAGE = 2 };

int loci_cmd_record(int argc, char **argv);
int loci_cmd_cc(int argc, char **argv);
int loci_cmd_cxx(int argc, char **argv);
int loci_cmd_flang(int argc, char **argv);
int loci_cmd_mpicc(int argc, char **argv);
int loci_cmd_mpicxx(int argc, char **argv);
int loci_cmd_mpifort(int argc, char **argv);
int loci_cmd_gcc(int argc, char **argv);
int loci_cmd_gxx(int argc, char **argv);
int loci_cmd_gfortran(int argc, char **argv);
int loci_cmd_analyse(int argc, char **argv);
int loci_cmd_report(int argc, char **argv);
int loci_cmd_annotate(int argc, char **argv);
int loci_cmd_cache(int argc, char **argv);
int loci_cmd_ops(int argc, char **argv);
int loci_cmd_diff(int argc, char **argv);
int loci_cmd_html(int argc, char **argv);
int loci_cmd_view(int argc, char **argv);
int loci_cmd_summary(int argc, char **argv);
int loci_cmd_info(int argc, char **argv);
int loci_cmd_merge(int argc, char **argv);
int loci_cmd_export(int argc, char **argv);
int loci_cmd_doctor(int argc, char **argv);

/* "loci: TEXT" on standard error; returns LOCI_EXIT_FAILED. */
int loci_fail(const struct loci_err *err);
/* "loci COMMAND: TEXT" and where to find help, on standard error; returns LOCI_EXIT_USAGE. */
int loci_usage(const char *command, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Flushes standard output; a full disk or a closed pipe is an error like any other. Commands end
 * with `return loci_finish(status)`. */
int loci_finish(int status);

#endif
