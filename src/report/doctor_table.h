/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `loci doctor`: a line per collector. */
#ifndef LOCI_REPORT_DOCTOR_TABLE_H
#define LOCI_REPORT_DOCTOR_TABLE_H

#include "report/json.h"
#include "report/text.h"

#include <stdint.h>

struct loci_doctor_row {
	const char *name;
	const char *purpose; /* what it is for, in a few words */
	bool built;          /* in this version */
	bool works;
	char words[1100]; /* what was found; where it does not work, why and the remedy */
};

struct loci_doctor {
	const struct loci_doctor_row *row;
	size_t n;
	const char *valgrind;  /* version; NULL: none was found */
	const char *directory; /* of a run's rings */
	uint64_t free_bytes;
};

void loci_doctor_text(const struct loci_doctor *doctor, const struct loci_text *text);
/* As doc/doctor.schema.json describes it. */
void loci_doctor_json(const struct loci_doctor *doctor, struct loci_json *json);

#endif
