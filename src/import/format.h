/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a format is to the rest of this room: how it is recognised and how it is opened. */
#ifndef LOCI_IMPORT_FORMAT_H
#define LOCI_IMPORT_FORMAT_H

#include "import/import.h"
#include "import/input.h"

/* Which format was chosen, by whom, for messages and parsers. */
struct loci_import_choice {
	const struct loci_import_format *format;
	bool forced;       /* by its name, not recognised */
	bool instructions; /* fetches are wanted */
};

struct loci_importer {
	/* Looks at the first bytes, input->data[pos..end). NULL: only on request. */
	bool (*recognise)(const struct loci_input *input);
	/* Takes the input over, whether it succeeds or not. */
	int (*open)(struct loci_input *input, const struct loci_import_choice *choice,
		struct loci_source **ret, struct loci_err *err);
};

extern const struct loci_importer loci_importer_lackey, loci_importer_din, loci_importer_xdin,
	loci_importer_drmemtrace, loci_importer_lcs, loci_importer_oracle_general,
	loci_importer_csv, loci_importer_plain, loci_importer_hex, loci_importer_decimal;

/* "(format din, recognised from the first lines; --format overrides)". Returns buf. */
#define LOCI_CHOICE_TEXT_MAX 120
const char *loci_import_choice_text(
	const struct loci_import_choice *choice, char buf[LOCI_CHOICE_TEXT_MAX]);

/* The source's header: an import of this format. */
void loci_import_fill_info(struct loci_stream_info *info, const struct loci_import_choice *choice,
	enum loci_unit unit, uint32_t capabilities);

/* What was counted, for source->note. */
struct loci_emitter;
void loci_import_fill_note(struct loci_source *source, const struct loci_emitter *emitter);

#endif
