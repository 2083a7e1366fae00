// SPDX-License-Identifier: GPL-2.0-or-later
/* One address a line and nothing else, or with R or W (either case) before or after it. Without a
 * letter a line is a load. An address is of one byte: nothing is said of sizes, and one byte never
 * straddles blocks.
 *
 * Bare digits are hexadecimal if any address in the first 64 KiB begins with 0x or has a digit a-f,
 * else decimal; 0x is hexadecimal always. The formats hex and decimal settle it by name. */
#include "import/digits.h"
#include "import/textreader.h"

#define LOOK_BYTES (64 << 10)

struct plain {
	struct loci_text text;
	bool hex;
};

struct fields {
	const char *address, *address_end;
	char letter; /* 'r', 'w', or 0 */
};

static bool is_letter(const char *word, const char *end)
{
	return end - word == 1 && ((*word | 0x20) == 'r' || (*word | 0x20) == 'w');
}

static bool split(const char *line, const char *end, struct fields *ret)
{
	const char *at = loci_skip_space(line, end), *at_end = loci_skip_word(at, end);
	const char *next = loci_skip_space(at_end, end), *next_end = loci_skip_word(next, end);

	*ret = (struct fields){ at, at_end, 0 };
	if (loci_skip_space(next_end, end) != end || at == end)
		return false;
	if (next == end)
		return true;
	if (is_letter(at, at_end))
		*ret = (struct fields){ next, next_end, (char)(*at | 0x20) };
	else if (is_letter(next, next_end))
		ret->letter = (char)(*next | 0x20);
	return ret->letter;
}

static bool has_prefix(const char *word, const char *end)
{
	return end - word > 2 && word[0] == '0' && (word[1] == 'x' || word[1] == 'X');
}

static uint64_t *parse_slowly(struct plain *plain, uint64_t *out, const char *line, const char *end)
{
	struct loci_text *text = &plain->text;
	uint64_t address, ignored;
	struct fields f;
	bool hex, over, over_hex;

	if (loci_text_is_blank(line, end))
		return out;
	if (!split(line, end, &f))
		return loci_text_refuse(text, line, end);
	hex = plain->hex || has_prefix(f.address, f.address_end);
	if (hex ? !loci_hex_long(f.address, f.address_end, &address, &over)
		: !loci_decimal(f.address, f.address_end, &address, &over)) {
		if (over)
			return loci_text_refuse_address(text, line, end);
		if (!hex && loci_hex_long(f.address, f.address_end, &ignored, &over_hex))
			return loci_text_refuse_because(text, line, end,
				"hexadecimal digits in addresses taken as decimal; --format hex "
				"reads "
				"them");
		return loci_text_refuse(text, line, end);
	}
	return loci_emit(&text->emitter, out, address, 1,
		f.letter == 'w' ? LOCI_ACCESS_STORE : LOCI_ACCESS_LOAD);
}

static inline uint64_t *parse(
	struct loci_text *text, uint64_t *out, const char *line, const char *end)
{
	struct plain *plain = (struct plain *)text;
	const char *digits = has_prefix(line, end) ? line + 2 : line;
	uint64_t address;

	if ((plain->hex || digits > line) && loci_hex(digits, end, &address))
		return loci_emit(&text->emitter, out, address, 1, LOCI_ACCESS_LOAD);
	return parse_slowly(plain, out, line, end);
}

static ssize_t plain_read(
	struct loci_source *source, uint64_t *words, size_t cap, struct loci_err *err)
{
	return loci_text_read((struct loci_text *)source, words, cap, parse, err);
}

static const struct loci_source_ops plain_ops = { plain_read, loci_text_progress, loci_text_close };

static bool has_hex_letter(const char *word, const char *end)
{
	for (; word < end; word++)
		if ((*word | 0x20) >= 'a' && (*word | 0x20) <= 'f')
			return true;
	return false;
}

/* What the first lines tell: whether bare digits are hexadecimal, whether there are stores. */
static void look(const struct loci_input *input, bool *ret_hex, bool *ret_letters)
{
	size_t pos = input->pos;
	const char *line, *end;
	struct fields f;

	*ret_hex = *ret_letters = false;
	while (pos < LOOK_BYTES && loci_text_peek(input, &pos, &line, &end)) {
		if (loci_text_is_blank(line, end) || !split(line, end, &f))
			continue;
		*ret_letters |= f.letter != 0;
		*ret_hex |= has_prefix(f.address, f.address_end) ||
			has_hex_letter(f.address, f.address_end);
	}
}

enum base { DECIMAL, HEX, LOOK };

static int open_as(enum base base, struct loci_input *input,
	const struct loci_import_choice *choice, struct loci_source **ret, struct loci_err *err)
{
	struct loci_text *text;
	bool hex, letters;
	int r;

	look(input, &hex, &letters);
	r = loci_text_new(sizeof(struct plain), &plain_ops, "address, R address or W address",
		input, choice, &text, err);
	if (r < 0)
		return r;
	((struct plain *)text)->hex = base == LOOK ? hex : base == HEX;
	if (!letters)
		text->source.info.capabilities &= ~(uint32_t)LOCI_CAP_STORES;
	*ret = &text->source;
	return 0;
}

static int plain_open(struct loci_input *input, const struct loci_import_choice *choice,
	struct loci_source **ret, struct loci_err *err)
{
	return open_as(LOOK, input, choice, ret, err);
}

static int hex_open(struct loci_input *input, const struct loci_import_choice *choice,
	struct loci_source **ret, struct loci_err *err)
{
	return open_as(HEX, input, choice, ret, err);
}

static int decimal_open(struct loci_input *input, const struct loci_import_choice *choice,
	struct loci_source **ret, struct loci_err *err)
{
	return open_as(DECIMAL, input, choice, ret, err);
}

/* "added" has hexadecimal digits only and is a word all the same. */
static bool has_decimal_digit(const char *word, const char *end)
{
	for (; word < end; word++)
		if (*word >= '0' && *word <= '9')
			return true;
	return false;
}

static enum loci_line_is classify(const char *line, const char *end)
{
	struct fields f;
	uint64_t ignored;
	bool over;

	if (!split(line, end, &f) ||
		(!loci_hex_long(f.address, f.address_end, &ignored, &over) && !over))
		return LOCI_LINE_NOT;
	return has_decimal_digit(f.address, f.address_end) ? LOCI_LINE_MINE : LOCI_LINE_EITHER;
}

static bool plain_recognise(const struct loci_input *input)
{
	return loci_text_recognise(input, classify);
}

const struct loci_importer loci_importer_plain = { plain_recognise, plain_open };
const struct loci_importer loci_importer_hex = { NULL, hex_open };
const struct loci_importer loci_importer_decimal = { NULL, decimal_open };
