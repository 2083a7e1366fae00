// SPDX-License-Identifier: GPL-2.0-or-later
/* Dinero's text formats, as Dinero IV reads them (Edler and Hill 1998):
 *
 *	din    label address        0 read, 1 write, 2 fetch, 3 unknown, 4 flush
 *	xdin   access address size  r read, w write, i fetch, m miscellaneous (a read that triggers
 *no prefetch), c copy back, v invalidate
 *
 * All numbers are hexadecimal, 0x is allowed; the rest of a line is a comment. din knows no sizes:
 * like Dinero IV we take the aligned word of 4 bytes at the address. What is neither a reference
 *nor a fetch (3, 4, c, v) is left out. */
#include "import/digits.h"
#include "import/textreader.h"

/* What a label means; the first three are enum loci_access. */
enum label {
	READ = LOCI_ACCESS_LOAD,
	WRITE = LOCI_ACCESS_STORE,
	FETCH = LOCI_ACCESS_FETCH,
	LEFT_OUT,
	NONE
};

static enum label din_label(char c)
{
	static const enum label labels[] = { READ, WRITE, FETCH, LEFT_OUT, LEFT_OUT };

	return c >= '0' && c <= '4' ? labels[c - '0'] : NONE;
}

static enum label xdin_label(char c)
{
	switch (c | 0x20) {
	case 'r':
	case 'm':
		return READ;
	case 'w':
		return WRITE;
	case 'i':
		return FETCH;
	case 'c':
	case 'v':
		return LEFT_OUT;
	}
	return NONE;
}

struct fields {
	enum label label;
	const char *address, *address_end, *size, *size_end; /* size: empty if absent */
};

/* Splits a line; false if there is no address or the label is longer than a character. */
static inline bool split(const char *line, const char *end, struct fields *ret)
{
	const char *at = loci_skip_space(line, end);

	if (end - at < 3 || !loci_is_space(at[1]))
		return false;
	ret->address = loci_skip_space(at + 1, end);
	ret->address_end = loci_skip_word(ret->address, end);
	ret->size = loci_skip_space(ret->address_end, end);
	ret->size_end = loci_skip_word(ret->size, end);
	return ret->address < end;
}

static inline uint64_t *give(struct loci_text *text, uint64_t *out, enum label label,
	uint64_t address, uint32_t size_bytes)
{
	if (label == LEFT_OUT) {
		text->emitter.n_left_out++;
		return out;
	}
	if (label == FETCH && !text->choice.instructions)
		return out;
	return loci_emit(&text->emitter, out, address, size_bytes, (enum loci_access)label);
}

static uint64_t *din_parse_slowly(
	struct loci_text *text, uint64_t *out, const char *line, const char *end)
{
	struct fields f;
	uint64_t address;
	bool over;

	if (loci_text_is_blank(line, end))
		return out;
	if (!split(line, end, &f))
		return loci_text_refuse(text, line, end);
	f.label = din_label(*loci_skip_space(line, end));
	if (f.label == NONE)
		return loci_text_refuse(text, line, end);
	if (!loci_hex_long(f.address, f.address_end, &address, &over))
		return over ? loci_text_refuse_address(text, line, end)
			    : loci_text_refuse(text, line, end);
	return give(text, out, f.label, address & ~3ull, 4);
}

static inline uint64_t *din_parse(
	struct loci_text *text, uint64_t *out, const char *line, const char *end)
{
	enum label label = din_label(line[0]);
	uint64_t address;

	/* "0 7fff5a8c" and no more. */
	if (end - line < 3 || line[1] != ' ' || label == NONE || !loci_hex(line + 2, end, &address))
		return din_parse_slowly(text, out, line, end);
	return give(text, out, label, address & ~3ull, 4);
}

static inline uint64_t *xdin_parse(
	struct loci_text *text, uint64_t *out, const char *line, const char *end)
{
	struct fields f;
	uint64_t address, size;
	bool over;

	if (!split(line, end, &f) || f.size == f.size_end)
		return loci_text_other(text, out, line, end);
	f.label = xdin_label(*loci_skip_space(line, end));
	if (f.label == NONE)
		return loci_text_other(text, out, line, end);
	if (!loci_hex(f.address, f.address_end, &address) &&
		!loci_hex_long(f.address, f.address_end, &address, &over))
		return over ? loci_text_refuse_address(text, line, end)
			    : loci_text_refuse(text, line, end);
	if (!loci_hex(f.size, f.size_end, &size) &&
		!loci_hex_long(f.size, f.size_end, &size, &over)) {
		if (!over)
			return loci_text_refuse(text, line, end);
		size = LOCI_SIZE_LIMIT;
	}
	if (size >= LOCI_SIZE_LIMIT)
		return loci_text_refuse_size(text, line, end);
	return give(text, out, f.label, address, (uint32_t)size);
}

static ssize_t din_read(
	struct loci_source *source, uint64_t *words, size_t cap, struct loci_err *err)
{
	return loci_text_read((struct loci_text *)source, words, cap, din_parse, err);
}

static ssize_t xdin_read(
	struct loci_source *source, uint64_t *words, size_t cap, struct loci_err *err)
{
	return loci_text_read((struct loci_text *)source, words, cap, xdin_parse, err);
}

static const struct loci_source_ops din_ops = { din_read, loci_text_progress, loci_text_close },
				    xdin_ops = { xdin_read, loci_text_progress, loci_text_close };

static int din_open(struct loci_input *input, const struct loci_import_choice *choice,
	struct loci_source **ret, struct loci_err *err)
{
	return loci_text_new(sizeof(struct loci_text), &din_ops, "label address", input, choice,
		(struct loci_text **)ret, err);
}

static int xdin_open(struct loci_input *input, const struct loci_import_choice *choice,
	struct loci_source **ret, struct loci_err *err)
{
	return loci_text_new(sizeof(struct loci_text), &xdin_ops, "access address size", input,
		choice, (struct loci_text **)ret, err);
}

/* A number too long is for the parser to complain of, so it counts as one here. */
static bool is_hex(const char *begin, const char *end)
{
	uint64_t ignored;
	bool over;

	return loci_hex_long(begin, end, &ignored, &over) || over;
}

static enum loci_line_is din_classify(const char *line, const char *end)
{
	struct fields f;

	return split(line, end, &f) && din_label(*loci_skip_space(line, end)) != NONE &&
			is_hex(f.address, f.address_end)
		? LOCI_LINE_MINE
		: LOCI_LINE_NOT;
}

static enum loci_line_is xdin_classify(const char *line, const char *end)
{
	struct fields f;

	return split(line, end, &f) && xdin_label(*loci_skip_space(line, end)) != NONE &&
			is_hex(f.address, f.address_end) && is_hex(f.size, f.size_end)
		? LOCI_LINE_MINE
		: LOCI_LINE_NOT;
}

static bool din_recognise(const struct loci_input *input)
{
	return loci_text_recognise(input, din_classify);
}

static bool xdin_recognise(const struct loci_input *input)
{
	return loci_text_recognise(input, xdin_classify);
}

const struct loci_importer loci_importer_din = { din_recognise, din_open };
const struct loci_importer loci_importer_xdin = { xdin_recognise, xdin_open };
