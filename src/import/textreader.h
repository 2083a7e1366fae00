/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the text formats share: a source that hands one line after the other to the format's parser
 * and turns what the parser refuses into a message. */
#ifndef LOCI_IMPORT_TEXTREADER_H
#define LOCI_IMPORT_TEXTREADER_H

#include "import/emitter.h"
#include "import/format.h"
#include "import/lineindex.h"

#define LOCI_TEXT_LINES 2048 /* indexed at a time */

/* Embedded as first member by formats that keep more. */
struct loci_text {
	struct loci_source source;
	struct loci_input *input;
	struct loci_import_choice choice;
	struct loci_emitter emitter;
	uint64_t line;          /* number of the line index[0] ends, from 1 */
	size_t start;           /* offset of the next line in input->data */
	size_t scanned;         /* how far newlines have been looked for */
	unsigned next, n_lines; /* in index */
	bool unterminated;      /* the last line has no newline */
	int failed;             /* -errno to return once the words before are delivered */
	struct loci_err err;
	const char *expected; /* by the format, for messages: "label address" */
	uint32_t index[LOCI_TEXT_LINES];
};

/* Writes the line's words at out and returns the end of them, or NULL after loci_text_refuse and
 * its like, or when out of memory. line..end has no line end. */
typedef uint64_t *loci_text_parse(
	struct loci_text *text, uint64_t *out, const char *line, const char *end);

/* bytes is the size of the whole struct that begins with a loci_text; zeroed otherwise. Takes the
 * input over in any case. expected is a literal. */
int loci_text_new(size_t bytes, const struct loci_source_ops *ops, const char *expected,
	struct loci_input *input, const struct loci_import_choice *choice, struct loci_text **ret,
	struct loci_err *err);

/* For source ops. */
void loci_text_progress(const struct loci_source *source, uint64_t *ret_done, uint64_t *ret_total);
void loci_text_close(struct loci_source *source);

/* All of these return NULL, for the parser to return. */
uint64_t *loci_text_refuse(struct loci_text *text, const char *line, const char *end);
uint64_t *loci_text_refuse_address(struct loci_text *text, const char *line, const char *end);
uint64_t *loci_text_refuse_size(struct loci_text *text, const char *line, const char *end);
uint64_t *loci_text_refuse_because(
	struct loci_text *text, const char *line, const char *end, const char *why);
uint64_t *loci_text_nomem(struct loci_text *text);

/* The way out of a parser for a line it cannot make sense of: blank lines and # comments are
 * skipped, others refused. */
uint64_t *loci_text_other(struct loci_text *text, uint64_t *out, const char *line, const char *end);

/* Blank or a comment. */
bool loci_text_is_blank(const char *line, const char *end);

/* Indexes further lines: how many; 0 at the end or after an error, which text->failed tells. */
unsigned loci_text_index(struct loci_text *text);

/* Delivers an error of the parser, or the end. */
ssize_t loci_text_finish(
	struct loci_text *text, uint64_t *words, uint64_t *out, struct loci_err *err);

/* The read operation of a format; parse is a constant, so that it is compiled into the loop. */
static inline __attribute__((always_inline)) ssize_t loci_text_read(struct loci_text *text,
	uint64_t *words, size_t cap, loci_text_parse *parse, struct loci_err *err)
{
	uint64_t *out = words, *limit = words + cap - LOCI_EMIT_MAX;

	while (!text->failed) {
		const char *data = text->input->data, *line = data + text->start;
		unsigned next = text->next, n_lines = text->n_lines;

		for (; next < n_lines && out <= limit; next++) {
			const char *newline = data + text->index[next], *end = newline;
			uint64_t *after;

			if (end > line && end[-1] == '\r')
				end--;
			text->next = next;
			after = parse(text, out, line, end);
			if (__builtin_expect(!after, 0)) {
				if (!text->failed)
					loci_text_nomem(text);
				return loci_text_finish(text, words, out, err);
			}
			out = after;
			line = newline + 1;
		}
		text->next = next;
		text->start = (size_t)(line - data);
		if (out > limit || !loci_text_index(text))
			break;
	}
	return loci_text_finish(text, words, out, err);
}

/* No control characters among the first bytes. */
bool loci_text_is_text(const struct loci_input *input);

/* Recognition: asks of the first lines what they are. */
enum loci_line_is { LOCI_LINE_NOT, LOCI_LINE_EITHER, LOCI_LINE_MINE };
bool loci_text_recognise(const struct loci_input *input,
	enum loci_line_is (*classify)(const char *line, const char *end));

/* The first line from *pos on, without its line end; false where no whole one is left. */
bool loci_text_peek(
	const struct loci_input *input, size_t *pos, const char **ret_line, const char **ret_end);

/* Words of a line. */
static inline bool loci_is_space(char c)
{
	return c == ' ' || c == '\t';
}

static inline const char *loci_skip_space(const char *at, const char *end)
{
	while (at < end && loci_is_space(*at))
		at++;
	return at;
}

static inline const char *loci_skip_word(const char *at, const char *end)
{
	while (at < end && !loci_is_space(*at))
		at++;
	return at;
}

#endif
