/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the commands that read profiles have in common: which file, which block size, which
 * machine. */
#ifndef LOCI_CLI_OPEN_H
#define LOCI_CLI_OPEN_H

#include "model/subject.h"

/* The options -b and --cache. */
struct loci_aim {
	uint64_t block_bytes; /* 0: the usual */
	const char *machine;  /* NULL: the one recorded on */
};

/* Each returns 0, or the exit status after saying what is wrong with the text. */
int loci_aim_block(struct loci_aim *aim, const char *command, const char *text);
int loci_aim_machine(struct loci_aim *aim, const char *command, const char *text);

/* given NULL: the only profile here. Close *ret_profile also after a failure. */
int loci_open_subject(const char *given, const struct loci_aim *aim,
	struct loci_profile **ret_profile, struct loci_subject *ret, struct loci_err *err);

#endif
