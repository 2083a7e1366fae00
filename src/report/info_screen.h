/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `loci info`: what a profile is, and how well its time distances stand for its stack distances. */
#ifndef LOCI_REPORT_INFO_SCREEN_H
#define LOCI_REPORT_INFO_SCREEN_H

#include "model/accuracy.h"
#include "model/accuracy_random.h"
#include "report/json.h"
#include "report/text.h"

/* The accuracy of every block size. */
struct loci_info_accuracy {
	uint64_t block_bytes;
	struct loci_accuracy_row row[LOCI_ACCURACY_ROWS];
	size_t n_rows;
	struct loci_accuracy_random random;
};

struct loci_info {
	struct loci_profile *profile;
	uint64_t file_bytes;
	const struct loci_info_accuracy *accuracy; /* NULL: not asked for */
	size_t n_accuracy;
};

int loci_info_screen(
	const struct loci_info *info, const struct loci_text *text, struct loci_err *err);
/* The document of doc/info.schema.json. */
void loci_info_json(const struct loci_info *info, struct loci_json *json);

#endif
