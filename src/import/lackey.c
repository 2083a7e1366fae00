// SPDX-License-Identifier: GPL-2.0-or-later
/* Valgrind's Lackey with --trace-mem=yes:
 *
 *	I  04001000,3      a fetch of 3 bytes
 *	 L 1ffeffe7e,8     a load; S a store, M a modify: a load and a store of one instruction
 *	==123== ...        Valgrind's own words, ignored
 *
 * Addresses are hexadecimal, sizes decimal. Lackey splits no accesses and does not say which thread
 * made them. Fetches nobody asked for are checked for their shape only. */
#include "import/digits.h"
#include "import/textreader.h"

#include <errno.h>

/* First and third character of a line; the one between them tells loads, stores and modifies. */
static inline bool is_data(const char *line)
{
	return line[0] == ' ' && line[2] == ' ';
}

static inline bool is_fetch(const char *line)
{
	return line[0] == 'I' && line[1] == ' ' && line[2] == ' ';
}

static uint64_t *other_line(
	struct loci_text *text, uint64_t *out, const char *line, const char *end)
{
	if (end - line >= 2 && line[0] == '=' && line[1] == '=')
		return out;
	return loci_text_other(text, out, line, end);
}

/* Anything the quick way does not take: odd sizes, leading zeros, errors. */
static __attribute__((noinline)) uint64_t *parse_slowly(
	struct loci_text *text, uint64_t *out, const char *line, const char *end)
{
	static const char letters[] = "LSIM"; /* in the order of enum loci_access */
	const char *letter, *comma;
	uint64_t address, size;
	bool over;

	if (end - line < 6 || !(is_data(line) || is_fetch(line)))
		return other_line(text, out, line, end);
	letter = memchr(letters, is_data(line) ? line[1] : 'I', 4);
	comma = memchr(line, ',', (size_t)(end - line));
	if (!letter || !comma || (is_data(line) && *letter == 'I'))
		return loci_text_refuse(text, line, end);
	if (!loci_hex_long(line + 3, comma, &address, &over))
		return over ? loci_text_refuse_address(text, line, end)
			    : loci_text_refuse(text, line, end);
	if (!loci_decimal(comma + 1, end, &size, &over) && !over)
		return loci_text_refuse(text, line, end);
	if (over || size >= LOCI_SIZE_LIMIT)
		return loci_text_refuse_size(text, line, end);
	if (*letter == 'I' && !text->choice.instructions)
		return out;
	out = loci_emit_any(
		&text->emitter, out, address, (uint32_t)size, (enum loci_access)(letter - letters));
	return out ? out : loci_text_nomem(text);
}

/* Sizes of one and two digits are all there are but for a few instructions. */
static inline uint64_t *parse(
	struct loci_text *text, uint64_t *out, const char *line, const char *end)
{
	unsigned tens = 0, ones = (unsigned char)end[-1] - '0';
	const char *comma = end - 2;
	enum loci_access access;
	uint64_t address;

	if (*comma != ',') {
		tens = (unsigned char)*comma - '0';
		comma--;
	}
	if (end - line < 6 || *comma != ',' || tens > 9 || ones > 9 || tens + ones == 0)
		return parse_slowly(text, out, line, end);
	if (is_fetch(line)) {
		if (!text->choice.instructions)
			return out;
		access = LOCI_ACCESS_FETCH;
	} else if (is_data(line) && line[1] == 'L') {
		access = LOCI_ACCESS_LOAD;
	} else if (is_data(line) && line[1] == 'S') {
		access = LOCI_ACCESS_STORE;
	} else if (is_data(line) && line[1] == 'M') {
		access = LOCI_ACCESS_MODIFY;
	} else {
		return parse_slowly(text, out, line, end);
	}
	if (!loci_hex(line + 3, comma, &address))
		return parse_slowly(text, out, line, end);
	return loci_emit(&text->emitter, out, address, 10 * tens + ones, access);
}

static ssize_t lackey_read(
	struct loci_source *source, uint64_t *words, size_t cap, struct loci_err *err)
{
	return loci_text_read((struct loci_text *)source, words, cap, parse, err);
}

static const struct loci_source_ops lackey_ops = { lackey_read, loci_text_progress,
	loci_text_close };

static int lackey_open(struct loci_input *input, const struct loci_import_choice *choice,
	struct loci_source **ret, struct loci_err *err)
{
	return loci_text_new(sizeof(struct loci_text), &lackey_ops,
		"I  address,size or  L address,size", input, choice, (struct loci_text **)ret, err);
}

static enum loci_line_is classify(const char *line, const char *end)
{
	const char *comma = memchr(line, ',', (size_t)(end - line));
	uint64_t ignored;
	bool over;

	if (end - line >= 2 && line[0] == '=' && line[1] == '=')
		return LOCI_LINE_EITHER;
	if (end - line < 6 || !comma || !(is_fetch(line) || is_data(line)) ||
		(is_data(line) && !memchr("LSM", line[1], 3)))
		return LOCI_LINE_NOT;
	return loci_hex_long(line + 3, comma, &ignored, &over) &&
			loci_decimal(comma + 1, end, &ignored, &over)
		? LOCI_LINE_MINE
		: LOCI_LINE_NOT;
}

static bool lackey_recognise(const struct loci_input *input)
{
	return loci_text_recognise(input, classify);
}

const struct loci_importer loci_importer_lackey = { lackey_recognise, lackey_open };
