/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Each element once per execution of a statement (Ding and Zhong 2001, section 2.3): A(i) = A(i) *
 * 2 refers to A(i) once, not twice.
 *
 * A statement is a line of a source file. Its execution is a sequence of references, one after the
 * other in one thread, whose sites are of that line and differ: it ends at a reference of another
 * line, of another thread, or of a site that it has had already, since straight-line code has every
 * site once. An element is an aligned piece of as many bytes as the smallest block size asked for;
 * a reference belongs to the one that its first byte is in. A reference to an element that the
 * execution has referred to before does not count. Ranges (memcpy), and sites whose line is not
 * known, always count.
 *
 * How that is wrong: two statements of one line are one, and a statement of several lines is as
 * many as the compiler says; what a statement calls ends its execution. */
#ifndef LOCI_ANALYSE_DISTINCT_H
#define LOCI_ANALYSE_DISTINCT_H

#include "analyse/code.h"

struct loci_distinct {
	const struct loci_code *code; /* borrowed */
	unsigned shift;               /* of an element */
	/* By site. */
	uint32_t *statement; /* its number, or what stands in for one */
	uint64_t *ran_in;    /* the execution it was last seen in */
	size_t statement_cap, ran_cap;
	struct loci_keymap statements; /* by file and line */
	uint32_t n_statements;
	/* The execution that goes on. */
	uint64_t execution;
	uint32_t current; /* statement, as above */
	uint32_t thread;
	uint64_t *element;
	size_t n, cap;
};

int loci_distinct_new(const struct loci_code *code, uint64_t element_bytes,
	struct loci_distinct **ret, struct loci_err *err);
void loci_distinct_free(struct loci_distinct *distinct); /* NULL allowed */
/* 1: the execution of the statement has referred to the element before. */
int loci_distinct_again(struct loci_distinct *distinct, uint32_t site, uint32_t thread,
	uint64_t address, struct loci_err *err);

#endif
