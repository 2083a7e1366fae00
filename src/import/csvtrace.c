// SPDX-License-Identifier: GPL-2.0-or-later
/* Requests for whole objects, one a line, in columns parted by a comma, tab, semicolon or bar: what
 * libCacheSim calls csv. Fields may stand in double quotes; a quoted line end is not understood.
 *
 * If a field of the first line is a name we know it is a heading and tells the columns; else they
 * are time,id,size, or time,id, and a fourth that is no number is the operation. Times are not
 * looked at. An id is a number (decimal, or hexadecimal with 0x) if it reads as one of 64 bits,
 * otherwise it is hashed. Without a size column a request is of one byte; without operations it is
 * a load. */
#include "base/cleanup.h"
#include "import/digits.h"
#include "import/records.h"
#include "import/textreader.h"

#include <errno.h>
#include <strings.h>

#define LOOK_LINES 32
#define ABSENT     UINT32_MAX

enum column { TIME, ID, SIZE, OP, COLUMNS };

struct layout {
	char delimiter;
	bool heading;             /* the first line is one */
	unsigned column[COLUMNS]; /* numbered from 0, or ABSENT */
};

struct csv {
	struct loci_text text;
	struct layout layout;
	bool after_heading;
};

struct field {
	const char *begin, *end;
};

/* The next field from *at on, without its quotes and the blanks around it; *at moves to the next
 * one, or to NULL at the line's end. */
static struct field next_field(const char **at, const char *end, char delimiter)
{
	struct field f = { loci_skip_space(*at, end), NULL };

	if (f.begin > *at && delimiter == '\t') /* blanks that are delimiters */
		f.begin = *at;
	if (f.begin < end && *f.begin == '"') {
		const char *close = f.begin + 1;

		while (close < end && (*close != '"' || (close + 1 < end && close[1] == '"')))
			close += *close == '"' ? 2 : 1;
		if (close < end) {
			f.begin++;
			f.end = close;
			*at = close + 1;
			while (*at < end && **at != delimiter)
				++*at;
			*at = *at < end ? *at + 1 : NULL;
			return f;
		}
	}
	f.end = f.begin;
	while (f.end < end && *f.end != delimiter)
		f.end++;
	*at = f.end < end ? f.end + 1 : NULL;
	while (f.end > f.begin && loci_is_space(f.end[-1]))
		f.end--;
	return f;
}

static bool is_word(struct field f, const char *word)
{
	return (size_t)(f.end - f.begin) == strlen(word) &&
		!strncasecmp(f.begin, word, strlen(word));
}

static enum column named_column(struct field f)
{
	static const struct {
		const char *name;
		enum column column;
	} names[] = {
		{ "time", TIME },
		{ "timestamp", TIME },
		{ "ts", TIME },
		{ "clock_time", TIME },
		{ "real_time", TIME },
		{ "id", ID },
		{ "obj_id", ID },
		{ "objid", ID },
		{ "obj-id", ID },
		{ "obj", ID },
		{ "object", ID },
		{ "object_id", ID },
		{ "objectid", ID },
		{ "key", ID },
		{ "lbn", ID },
		{ "lba", ID },
		{ "block", ID },
		{ "block_id", ID },
		{ "url", ID },
		{ "size", SIZE },
		{ "obj_size", SIZE },
		{ "obj-size", SIZE },
		{ "object_size", SIZE },
		{ "value_size", SIZE },
		{ "bytes", SIZE },
		{ "length", SIZE },
		{ "len", SIZE },
		{ "op", OP },
		{ "operation", OP },
		{ "cmd", OP },
		{ "command", OP },
		{ "method", OP },
	};

	for (unsigned i = 0; i < LOCI_ARRAY_SIZE(names); i++)
		if (is_word(f, names[i].name))
			return names[i].column;
	return COLUMNS;
}

/* Names of operations, libCacheSim's and block devices' SCSI commands among them; numbers are
 * libCacheSim's. False if it is none we know. */
static bool parse_op(struct field f, enum loci_request *ret)
{
	static const struct {
		const char *name;
		enum loci_request request;
	} names[] = {
		{ "get", LOCI_REQUEST_LOAD },
		{ "set", LOCI_REQUEST_STORE },
		{ "read", LOCI_REQUEST_LOAD },
		{ "write", LOCI_REQUEST_STORE },
		{ "r", LOCI_REQUEST_LOAD },
		{ "w", LOCI_REQUEST_STORE },
		{ "gets", LOCI_REQUEST_LOAD },
		{ "load", LOCI_REQUEST_LOAD },
		{ "store", LOCI_REQUEST_STORE },
		{ "put", LOCI_REQUEST_STORE },
		{ "head", LOCI_REQUEST_LOAD },
		{ "post", LOCI_REQUEST_STORE },
		{ "add", LOCI_REQUEST_STORE },
		{ "cas", LOCI_REQUEST_STORE },
		{ "replace", LOCI_REQUEST_STORE },
		{ "append", LOCI_REQUEST_STORE },
		{ "prepend", LOCI_REQUEST_STORE },
		{ "incr", LOCI_REQUEST_STORE },
		{ "decr", LOCI_REQUEST_STORE },
		{ "update", LOCI_REQUEST_STORE },
		{ "delete", LOCI_REQUEST_LEFT_OUT },
		{ "28", LOCI_REQUEST_LOAD }, /* READ(10), (16), (12) */
		{ "88", LOCI_REQUEST_LOAD },
		{ "a8", LOCI_REQUEST_LOAD },
		{ "2a", LOCI_REQUEST_STORE }, /* WRITE(10), (16), (12) */
		{ "8a", LOCI_REQUEST_STORE },
		{ "aa", LOCI_REQUEST_STORE },
	};
	uint64_t number;
	bool over;

	for (unsigned i = 0; i < LOCI_ARRAY_SIZE(names); i++) {
		if (is_word(f, names[i].name)) {
			*ret = names[i].request;
			return true;
		}
	}
	*ret = LOCI_REQUEST_LOAD;
	if (!loci_decimal(f.begin, f.end, &number, &over) || number > 14)
		return false;
	*ret = loci_request_of((unsigned)number);
	return true;
}

/* Eight bytes at a time, multiplied and folded; every step is a bijection of what came before. */
static uint64_t hash(struct field f)
{
	size_t n = (size_t)(f.end - f.begin);
	uint64_t h = n * 0x9e3779b97f4a7c15ull;

	for (const char *at = f.begin; at < f.end; at += 8) {
		h ^= loci_le(at, f.end - at < 8 ? (unsigned)(f.end - at) : 8);
		h *= 0xd6e8feb86659fd93ull;
		h ^= h >> 32;
	}
	h *= 0xd6e8feb86659fd93ull;
	return h ^ h >> 29;
}

static uint64_t id_of(struct field f)
{
	bool over, hex = f.end - f.begin > 2 && f.begin[0] == '0' && (f.begin[1] | 0x20) == 'x';
	uint64_t id;

	if (hex ? loci_hex_long(f.begin, f.end, &id, &over)
		: loci_decimal(f.begin, f.end, &id, &over))
		return id;
	return hash(f);
}

/* The columns of a line that we use; an absent one is empty. False if the line has too few. */
static bool split(
	const struct layout *layout, const char *line, const char *end, struct field ret[COLUMNS])
{
	unsigned number = 0, found = 0, wanted = 0;

	for (unsigned c = 0; c < COLUMNS; c++) {
		ret[c] = (struct field){ end, end };
		wanted += layout->column[c] != ABSENT;
	}
	for (const char *at = line; at && found < wanted; number++) {
		struct field f = next_field(&at, end, layout->delimiter);

		for (unsigned c = 0; c < COLUMNS; c++) {
			if (layout->column[c] == number) {
				ret[c] = f;
				found++;
			}
		}
	}
	return found == wanted;
}

static uint64_t *parse(struct loci_text *text, uint64_t *out, const char *line, const char *end)
{
	struct csv *csv = (struct csv *)text;
	enum loci_request request = LOCI_REQUEST_LOAD;
	struct field f[COLUMNS];
	uint64_t size = 1;
	bool over = false;

	if (loci_text_is_blank(line, end))
		return out;
	if (csv->layout.heading && !csv->after_heading) {
		csv->after_heading = true;
		return out;
	}
	if (!split(&csv->layout, line, end, f) || f[ID].begin == f[ID].end)
		return loci_text_refuse(text, line, end);
	if (csv->layout.column[SIZE] != ABSENT &&
		!loci_decimal(f[SIZE].begin, f[SIZE].end, &size, &over)) {
		if (!over)
			return loci_text_refuse_because(
				text, line, end, "the size is not a whole number");
		size = UINT64_MAX;
	}
	if (csv->layout.column[OP] != ABSENT && !parse_op(f[OP], &request))
		text->emitter.n_unknown_op++;
	return loci_emit_request(&text->emitter, out, id_of(f[ID]), size, request);
}

static ssize_t csv_read(
	struct loci_source *source, uint64_t *words, size_t cap, struct loci_err *err)
{
	return loci_text_read((struct loci_text *)source, words, cap, parse, err);
}

static const struct loci_source_ops csv_ops = { csv_read, loci_text_progress, loci_text_close };

/* The one there are most of, of those that occur. */
static char find_delimiter(const char *line, const char *end)
{
	static const char delimiters[] = ",\t;|";
	size_t n[sizeof(delimiters) - 1] = { 0 }, best = 0;

	for (; line < end; line++) {
		const char *found = memchr(delimiters, *line, sizeof(delimiters) - 1);

		if (found)
			n[found - delimiters]++;
	}
	for (size_t i = 1; i < sizeof(delimiters) - 1; i++)
		if (n[i] > n[best])
			best = i;
	return n[best] ? delimiters[best] : 0;
}

static bool is_number(struct field f)
{
	for (const char *at = f.begin; at < f.end; at++)
		if ((*at < '0' || *at > '9') && *at != '.')
			return false;
	return f.begin < f.end;
}

/* Reads the columns out of the first line; false if it has no id or cannot be one of ours. */
static bool find_layout(const char *line, const char *end, struct layout *ret)
{
	struct field first[4] = { { end, end } };
	unsigned n = 0;

	*ret = (struct layout){ find_delimiter(line, end), false,
		{ ABSENT, ABSENT, ABSENT, ABSENT } };
	for (const char *at = line; at; n++) {
		struct field f = next_field(&at, end, ret->delimiter);
		enum column column = named_column(f);

		if (n < LOCI_ARRAY_SIZE(first))
			first[n] = f;
		if (column != COLUMNS && ret->column[column] == ABSENT)
			ret->column[column] = n;
		ret->heading |= column != COLUMNS;
	}
	if (ret->heading)
		return ret->column[ID] != ABSENT;
	ret->column[TIME] = 0;
	ret->column[ID] = 1;
	if (n >= 3)
		ret->column[SIZE] = 2;
	if (n >= 4 && !is_number(first[3]))
		ret->column[OP] = 3;
	return n >= 2 && is_number(first[0]) && (n < 3 || is_number(first[2]));
}

static bool first_line(const struct loci_input *input, size_t *pos, struct layout *ret)
{
	const char *line, *end;

	do {
		if (!loci_text_peek(input, pos, &line, &end))
			return false;
	} while (loci_text_is_blank(line, end));
	return find_layout(line, end, ret);
}

static int csv_open(struct loci_input *input, const struct loci_import_choice *choice,
	struct loci_source **ret, struct loci_err *err)
{
	size_t pos = input->pos;
	struct layout layout;
	struct csv *csv;
	int r;

	if (!first_line(input, &pos, &layout)) {
		r = loci_err_set(err, EBADMSG,
			"%s: the first line neither names its columns (one of them id, obj_id, "
			"object, "
			"key or lbn; size and op if there are) nor is \"time,id,size\" (format "
			"csv)",
			input->name);
		loci_input_close(input);
		return r;
	}
	r = loci_text_new(sizeof(*csv), &csv_ops,
		layout.heading ? "a field for every column of the heading" : "time,id,size", input,
		choice, (struct loci_text **)&csv, err);
	if (r < 0)
		return r;
	csv->layout = layout;
	csv->text.source.info.unit = LOCI_UNIT_OBJECT;
	if (layout.column[OP] == ABSENT)
		csv->text.source.info.capabilities &= ~(uint32_t)LOCI_CAP_STORES;
	*ret = &csv->text.source;
	return 0;
}

/* Text that has a heading of ours, or enough lines that read as time,id,size. */
static bool csv_recognise(const struct loci_input *input)
{
	unsigned good = 0, bad = 0;
	size_t pos = input->pos;
	struct field f[COLUMNS];
	const char *line, *end;
	struct layout layout;

	if (!loci_text_is_text(input) || !first_line(input, &pos, &layout))
		return false;
	if (!layout.heading)
		pos = input->pos;
	while (good + bad < LOOK_LINES && loci_text_peek(input, &pos, &line, &end)) {
		if (loci_text_is_blank(line, end))
			continue;
		if (split(&layout, line, end, f) && f[ID].begin < f[ID].end &&
			(layout.heading || is_number(f[TIME])) &&
			(layout.column[SIZE] == ABSENT || is_number(f[SIZE])))
			good++;
		else
			bad++;
	}
	return layout.heading ? good >= bad : good && good >= bad;
}

const struct loci_importer loci_importer_csv = { csv_recognise, csv_open };
