// SPDX-License-Identifier: GPL-2.0-or-later
#include "import/textreader.h"
#include "base/cleanup.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define QUOTE_MAX       60   /* characters of a line shown in a message */
#define RECOGNISE_BYTES 4096 /* of these none may be a control character */
#define RECOGNISE_LINES 32

/* A byte order mark, which some editors put before text. */
static size_t mark_bytes(const struct loci_input *input)
{
	bool mark = input->end - input->pos >= 3 &&
		!memcmp(input->data + input->pos, "\xef\xbb\xbf", 3);

	return mark ? 3 : 0;
}

int loci_text_new(size_t bytes, const struct loci_source_ops *ops, const char *expected,
	struct loci_input *input, const struct loci_import_choice *choice, struct loci_text **ret,
	struct loci_err *err)
{
	struct loci_text *text = calloc(1, bytes);

	if (!text) {
		loci_input_close(input);
		return loci_err_nomem(err);
	}
	text->source.ops = ops;
	text->input = input;
	text->choice = *choice;
	text->expected = expected;
	text->line = 1;
	text->start = text->scanned = input->pos + mark_bytes(input);
	loci_import_fill_info(
		&text->source.info, choice, LOCI_UNIT_BYTE, LOCI_CAP_COMPLETE | LOCI_CAP_STORES);
	*ret = text;
	return 0;
}

void loci_text_progress(const struct loci_source *source, uint64_t *ret_done, uint64_t *ret_total)
{
	const struct loci_text *text = (const struct loci_text *)source;

	loci_input_progress(text->input, ret_done, ret_total);
}

void loci_text_close(struct loci_source *source)
{
	struct loci_text *text = (struct loci_text *)source;

	loci_emitter_fini(&text->emitter);
	loci_input_close(text->input);
	free(text);
}

/* Gets more of the input into the buffer. */
static int more(struct loci_text *text)
{
	struct loci_input *input = text->input;

	if (input->end - text->start >= LOCI_INPUT_BYTES)
		return loci_err_set(&text->err, EBADMSG,
			"%s:%" PRIu64 ": a line of more than %u bytes: not a text trace",
			input->name, text->line, LOCI_INPUT_BYTES);
	input->pos = text->start;
	text->scanned -= text->start;
	text->start = 0;
	return loci_input_more(input, &text->err);
}

unsigned loci_text_index(struct loci_text *text)
{
	struct loci_input *input = text->input;

	text->line += text->n_lines;
	text->next = text->n_lines = 0;
	for (;;) {
		text->n_lines = (unsigned)loci_line_index(input->data, text->scanned, input->end,
			text->index, LOCI_TEXT_LINES, &text->scanned);
		if (text->n_lines)
			return text->n_lines;
		if (text->scanned < input->end)
			continue;
		if (!input->eof) {
			text->failed = more(text);
			if (text->failed)
				return 0;
		} else if (text->start < input->end) {
			input->data[input->end] = '\n'; /* into the padding */
			text->index[0] = (uint32_t)input->end;
			text->unterminated = true;
			return text->n_lines = 1;
		} else {
			input->pos = input->end;
			return 0;
		}
	}
}

ssize_t loci_text_finish(
	struct loci_text *text, uint64_t *words, uint64_t *out, struct loci_err *err)
{
	int failed = text->failed;

	if (out > words)
		return out - words;
	if (!failed) {
		loci_import_fill_note(&text->source, &text->emitter);
		return 0;
	}
	if (failed == -EINTR)
		text->failed = 0;
	loci_err_set(err, -failed, "%s", text->err.text);
	if (failed == -EINTR)
		text->err.text[0] = 0;
	return failed;
}

/* A line as a message shows it: what does not print is escaped, what is long is cut. */
static const char *quote(char buf[4 * QUOTE_MAX + 4], const char *line, const char *end)
{
	char *out = buf;

	for (const char *at = line; at < end; at++) {
		unsigned char c = (unsigned char)*at;

		if (at - line == QUOTE_MAX) {
			strcpy(out, "...");
			return buf;
		}
		if (c == '\t')
			out += sprintf(out, "\\t");
		else if (c == '"' || c == '\\')
			out += sprintf(out, "\\%c", c);
		else if (c < ' ' || c >= 0x7f)
			out += sprintf(out, "\\x%02x", c);
		else
			*out++ = (char)c;
	}
	*out = 0;
	return buf;
}

static uint64_t *fail(struct loci_text *text, const char *line, const char *end, const char *what,
	const char *label)
{
	char quoted[4 * QUOTE_MAX + 4], chosen[LOCI_CHOICE_TEXT_MAX];
	bool last = text->unterminated && text->next + 1 == text->n_lines;

	text->failed = loci_err_set(&text->err, EBADMSG, "%s:%" PRIu64 ": %s%s\"%s\" %s%s",
		text->input->name, text->line + text->next, what, label, quote(quoted, line, end),
		loci_import_choice_text(&text->choice, chosen),
		last ? "; the input ends in this line: truncated?" : "");
	return NULL;
}

uint64_t *loci_text_refuse(struct loci_text *text, const char *line, const char *end)
{
	char what[160];

	snprintf(what, sizeof(what), "expected \"%s\"", text->expected);
	return fail(text, line, end, what, ", got ");
}

uint64_t *loci_text_refuse_address(struct loci_text *text, const char *line, const char *end)
{
	return fail(text, line, end, "an address of more than 64 bits", " in ");
}

uint64_t *loci_text_refuse_size(struct loci_text *text, const char *line, const char *end)
{
	return fail(text, line, end, "a size of 2^31 bytes or more", " in ");
}

uint64_t *loci_text_refuse_because(
	struct loci_text *text, const char *line, const char *end, const char *why)
{
	return fail(text, line, end, why, ": ");
}

uint64_t *loci_text_nomem(struct loci_text *text)
{
	text->failed = loci_err_nomem(&text->err);
	return NULL;
}

bool loci_text_is_blank(const char *line, const char *end)
{
	line = loci_skip_space(line, end);
	return line == end || *line == '#';
}

uint64_t *loci_text_other(struct loci_text *text, uint64_t *out, const char *line, const char *end)
{
	return loci_text_is_blank(line, end) ? out : loci_text_refuse(text, line, end);
}

bool loci_text_peek(
	const struct loci_input *input, size_t *pos, const char **ret_line, const char **ret_end)
{
	const char *line, *end;

	if (*pos == input->pos)
		*pos += mark_bytes(input);
	line = input->data + *pos;
	end = memchr(line, '\n', input->end - *pos);
	if (!end && (!input->eof || *pos == input->end))
		return false;
	*pos = end ? (size_t)(end + 1 - input->data) : input->end;
	if (!end)
		end = input->data + input->end;
	*ret_line = line;
	*ret_end = end > line && end[-1] == '\r' ? end - 1 : end;
	return true;
}

bool loci_text_is_text(const struct loci_input *input)
{
	size_t n = input->end - input->pos;

	if (n > RECOGNISE_BYTES)
		n = RECOGNISE_BYTES;
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)input->data[input->pos + i];

		if ((c < ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\f') || c == 0x7f)
			return false;
	}
	return true;
}

/* The first line that tells must be of the format, and half of the first ones at least: a broken
 * line is the parser's to report. */
bool loci_text_recognise(const struct loci_input *input,
	enum loci_line_is (*classify)(const char *line, const char *end))
{
	unsigned n[3] = { 0 };
	size_t pos = input->pos;
	const char *line, *end;

	if (!loci_text_is_text(input))
		return false;
	while (n[LOCI_LINE_MINE] + n[LOCI_LINE_NOT] < RECOGNISE_LINES &&
		loci_text_peek(input, &pos, &line, &end)) {
		enum loci_line_is is =
			loci_text_is_blank(line, end) ? LOCI_LINE_EITHER : classify(line, end);

		if (is == LOCI_LINE_NOT && !n[LOCI_LINE_MINE])
			return false;
		n[is]++;
	}
	return n[LOCI_LINE_MINE] && n[LOCI_LINE_MINE] >= n[LOCI_LINE_NOT];
}
