/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What to say of an option that getopt_long refuses. Commands call it with opterr 0 and an option
 * string that starts with a colon. */
#ifndef LOCI_CLI_OPTION_H
#define LOCI_CLI_OPTION_H

/* option: what getopt_long returned, ':' or '?'. Returns LOCI_EXIT_USAGE. */
int loci_option_refused(const char *command, int option, char **argv);

#endif
