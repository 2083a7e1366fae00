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

/* The three characters before the address, as a number that compares in one go. */
#define HEAD(a, b, c) ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16)

static inline uint32_t head_of(const char *line)
{
	uint32_t head;

	memcpy(&head, line, sizeof(head));
	return le32toh(head) & 0xffffff;
}

static bool access_of(const char *line, enum loci_access *ret)
{
	static const uint32_t heads[LOCI_ACCESSES] = {
		[LOCI_ACCESS_LOAD] = HEAD(' ', 'L', ' '),
		[LOCI_ACCESS_STORE] = HEAD(' ', 'S', ' '),
		[LOCI_ACCESS_FETCH] = HEAD('I', ' ', ' '),
		[LOCI_ACCESS_MODIFY] = HEAD(' ', 'M', ' '),
	};

	for (unsigned i = 0; i < LOCI_ACCESSES; i++) {
		if (heads[i] == head_of(line)) {
			*ret = (enum loci_access)i;
			return true;
		}
	}
	return false;
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
	const char *comma = memchr(line, ',', (size_t)(end - line));
	enum loci_access access;
	uint64_t address, size;
	bool over;

	if (!comma || comma - line < 4 || !access_of(line, &access))
		return other_line(text, out, line, end);
	if (!loci_hex_long(line + 3, comma, &address, &over))
		return over ? loci_text_refuse_address(text, line, end)
			    : loci_text_refuse(text, line, end);
	if (!loci_decimal(comma + 1, end, &size, &over) && !over)
		return loci_text_refuse(text, line, end);
	if (over || size >= LOCI_SIZE_LIMIT)
		return loci_text_refuse_size(text, line, end);
	if (access == LOCI_ACCESS_FETCH && !text->choice.instructions)
		return out;
	return loci_emit_any(&text->emitter, out, address, (uint32_t)size, access);
}

/* Sizes of one and two digits are all there are but for a few instructions. What differs from line
 * to line is computed rather than branched on. */
static inline uint64_t *parse(
	struct loci_text *text, uint64_t *out, const char *line, const char *end)
{
	uint32_t head = head_of(line);
	bool two = end[-2] != ',';
	const char *comma = end - 2 - two;
	unsigned tens = two ? (unsigned char)end[-2] - '0' : 0, ones = (unsigned char)end[-1] - '0';
	enum loci_access access;
	uint64_t address;

	if (__builtin_expect(*comma != ',' || end - line < 6, 0))
		return parse_slowly(text, out, line, end);
	if (head == HEAD('I', ' ', ' ')) {
		if (!text->choice.instructions)
			return out;
		access = LOCI_ACCESS_FETCH;
	} else {
		access = head == HEAD(' ', 'S', ' ') ? LOCI_ACCESS_STORE : LOCI_ACCESS_LOAD;
		access = head == HEAD(' ', 'M', ' ') ? LOCI_ACCESS_MODIFY : access;
		if (__builtin_expect(access == LOCI_ACCESS_LOAD && head != HEAD(' ', 'L', ' '), 0))
			return parse_slowly(text, out, line, end);
	}
	if (__builtin_expect(tens > 9 || ones > 9 || !loci_hex(line + 3, comma, &address), 0))
		return parse_slowly(text, out, line, end);
	/* A size of 0 is not defined, hence never quick. */
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
	enum loci_access access;
	uint64_t ignored;
	bool over;

	if (end - line >= 2 && line[0] == '=' && line[1] == '=')
		return LOCI_LINE_EITHER;
	if (!comma || comma - line < 4 || !access_of(line, &access))
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
