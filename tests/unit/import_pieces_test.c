// SPDX-License-Identifier: GPL-2.0-or-later
/* The pieces importers are made of: digits against the C library, the variants of the line index
 * against each other and a plain loop, and long traces whose lines fall on every border of the
 * buffers. */
#include "import_words.h"

#include "import/digits.h"
#include "import/lineindex.h"

static uint64_t state = 88172645463325252ull;

static uint64_t draw(uint64_t n)
{
	state ^= state << 13, state ^= state >> 7, state ^= state << 17;
	return (state >> 11) % n;
}

/* Every byte in every place of a number of every length. */
static void hex_digits(void)
{
	char buf[64];

	for (unsigned n = 1; n <= 16; n++) {
		for (unsigned at = 0; at < n; at++) {
			for (unsigned c = 0; c < 256; c++) {
				char *digits = buf + 16, *end;
				uint64_t got = 0, want;
				bool ok;

				memset(buf, 0x7f, sizeof(buf));
				for (unsigned i = 0; i < n; i++)
					digits[i] = "0123456789abcdefABCDEF"[draw(22)];
				digits[at] = (char)c;
				ok = loci_hex(digits, digits + n, &got);
				digits[n] = 0;
				want = strtoull(digits, &end, 16);
				/* strtoull takes blanks, signs and 0x, too. */
				if (strspn(digits, "0123456789abcdefABCDEF") != n)
					end = digits;
				if (ok != (end == digits + n) || (ok && got != want))
					CHECK_FAIL("\"%s\" is %d %" PRIx64, digits, ok, got);
				check_count++;
			}
		}
	}
}

static void numbers(void)
{
	static const struct {
		const char *text;
		bool ok, over;
		uint64_t value;
	} hex[] = { { "0", 1, 0, 0 }, { "0x", 0, 0, 0 }, { "0x1F", 1, 0, 0x1f }, { "", 0, 0, 0 },
		{ "0xffffffffffffffff", 1, 0, UINT64_MAX }, { "10000000000000000", 0, 1, 0 },
		{ "000000000000000000001", 1, 0, 1 }, { "1000000000000000000g", 0, 0, 0 },
		{ "g000000000000000000", 0, 0, 0 }, { "-1", 0, 0, 0 }, { "0x0x1", 0, 0, 0 } },
	  decimal[] = { { "0", 1, 0, 0 }, { "18446744073709551615", 1, 0, UINT64_MAX },
		  { "18446744073709551616", 0, 1, 0 }, { "99999999999999999999999", 0, 1, 0 },
		  { "99999999999999999999x", 0, 0, 0 }, { "", 0, 0, 0 }, { "+1", 0, 0, 0 },
		  { "00000000000000000000000007", 1, 0, 7 } };
	char buf[64] = "................";

	for (unsigned i = 0; i < sizeof(hex) / sizeof(hex[0]); i++) {
		size_t n = strlen(hex[i].text);
		uint64_t got = 0;
		bool over;

		memcpy(buf + 16, hex[i].text, n);
		CHECK(loci_hex_long(buf + 16, buf + 16 + n, &got, &over) == hex[i].ok);
		CHECK(over == hex[i].over);
		CHECK(!hex[i].ok || got == hex[i].value);
	}
	for (unsigned i = 0; i < sizeof(decimal) / sizeof(decimal[0]); i++) {
		const char *text = decimal[i].text;
		uint64_t got = 0;
		bool over;

		CHECK(loci_decimal(text, text + strlen(text), &got, &over) == decimal[i].ok);
		CHECK(over == decimal[i].over);
		CHECK(!decimal[i].ok || got == decimal[i].value);
	}
}

typedef size_t index_fn(
	const char *data, size_t from, size_t to, uint32_t *index, size_t cap, size_t *ret_scanned);

/* Goes over all of data in several calls. */
static size_t index_all(
	index_fn *fn, const char *data, size_t from, size_t to, uint32_t *index, size_t cap)
{
	size_t n = 0;

	while (from < to) {
		size_t scanned = from, found = fn(data, from, to, index + n, cap, &scanned);

		if (scanned <= from || scanned > to) {
			CHECK_FAIL("scanned %zu of %zu..%zu", scanned, from, to);
			return n;
		}
		n += found;
		from = scanned;
	}
	return n;
}

static void line_index(void)
{
	static char data[5000 + 64];
	static uint32_t want[6000], got[6000];

	for (unsigned round = 0; round < 500; round++) {
		size_t from = draw(200), to = from + draw(4800), n = 0;
		unsigned rare = 1 + (unsigned)draw(20);

		for (size_t i = 0; i < sizeof(data); i++)
			data[i] = draw(rare) ? (char)draw(256) : '\n';
		for (size_t i = from; i < to; i++)
			if (data[i] == '\n')
				want[n++] = (uint32_t)i;
		CHECK_U64(index_all(loci_line_index_scalar, data, from, to, got, 100), n);
		CHECK(!memcmp(got, want, n * sizeof(*want)));
		CHECK_U64(index_all(loci_line_index, data, from, to, got, 64), n);
		CHECK(!memcmp(got, want, n * sizeof(*want)));
	}
}

/* Millions of bytes of Lackey text, lines of every length, written down twice: as the trace and as
 * what should come out of it. */
static void long_trace(size_t cap)
{
	static const unsigned sizes[] = { 1, 2, 4, 8, 16, 32, 64, 832, 1023, 1024, 4096, 123456 };
	struct import_text text = { 0 }, want = { 0 };
	struct import_result got;

	while (text.n < (3 << 20)) {
		unsigned kind = (unsigned)draw(8), size = sizes[draw(12)];
		uint64_t address = draw(UINT64_MAX) << draw(64) >> draw(64);

		if (draw(50) == 0)
			import_add(&text, "%s", 0, 0, draw(2) ? "\n" : "==1== more words\n");
		if (kind >= 3) {
			import_add(&text, "%s%08" PRIx64 ",%" PRIu64 "\n", address, size, "I  ");
			continue;
		}
		import_add(&text, "%s%08" PRIx64 ",%" PRIu64 "\n", address, size,
			(const char *[]){ " L ", " S ", " M " }[kind]);
		if (kind != 2)
			import_add(&want, "%s %" PRIx64 " %" PRIu64 "\n", address, size,
				kind ? "S" : "L");
		else
			for (unsigned i = 0; i < 2; i++)
				import_add(&want, "%s %" PRIx64 " %" PRIu64 "\n", address, size,
					i ? "ms" : "ml");
	}
	import_write("t", text.text, text.n);
	got = import_path("t", NULL, false, cap);
	CHECK_STR(got.error, "");
	CHECK_U64(got.refs.n, want.n);
	CHECK(!strcmp(got.refs.text, want.text));
	free(text.text);
	free(want.text);
	free(got.refs.text);
}

/* A csv with more distinct sizes than fit in a small table. */
static void many_sizes(void)
{
	struct import_text text = { 0 }, want = { 0 };
	struct import_result got;

	import_add(&text, "%s", 0, 0, "id,size\n");
	for (unsigned i = 0; i < 20000; i++) {
		uint64_t id = draw(UINT64_MAX), size = 1 + draw(2000) * (i & 1 ? 1 : 1000);

		import_add(&text, "%s%" PRIu64 ",%" PRIu64 "\n", id, size, "");
		import_add(&want, "%s %" PRIx64 " %" PRIu64 "\n", id, size, "L");
	}
	import_write("t", text.text, text.n);
	got = import_path("t", NULL, false, 1024);
	CHECK_STR(got.error, "");
	CHECK(!strcmp(got.refs.text, want.text));
	free(text.text);
	free(want.text);
	free(got.refs.text);
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Ids that differ in a digit anywhere, of several lengths, get different numbers. */
static void hashed_ids(void)
{
	enum { IDS = 30000 };
	static uint64_t ids[IDS];
	struct import_text text = { 0 };
	struct import_result got;
	char *at;

	import_add(&text, "%s", 0, 0, "id\n");
	for (unsigned i = 0; i < IDS; i++)
		import_add(&text, "%s%" PRIu64 "/%" PRIu64 "\n", i % 100, i / 100,
			i & 1 ? "user:" : "a/longer/path/to/");
	import_write("t", text.text, text.n);
	got = import_path("t", "csv", false, 1024);
	CHECK_STR(got.error, "");
	CHECK_U64(got.n_refs, IDS);
	at = got.refs.text;
	for (unsigned i = 0; i < IDS && at; i++) {
		ids[i] = strtoull(at + 2, NULL, 16);
		at = strchr(at, '\n') + 1;
	}
	qsort(ids, IDS, sizeof(ids[0]), by_number);
	for (unsigned i = 1; i < IDS; i++)
		CHECK(ids[i] != ids[i - 1]);
	free(text.text);
	free(got.refs.text);
}

/* Done never runs back and ends at the whole. */
static void progress(void)
{
	struct import_text text = { 0 };
	uint64_t words[1024], done = 0, last = 0, total = 0;
	struct loci_source *source;
	struct loci_err err = { "" };

	for (unsigned i = 0; i < 300000; i++)
		import_add(&text, "%s%" PRIx64 "\n", i, 0, "0 ");
	import_write("t", text.text, text.n);
	CHECK(loci_import_open("t", NULL, &source, &err) == 0);
	while (source->ops->read(source, words, 1024, &err) > 0) {
		source->ops->progress(source, &done, &total);
		CHECK(done >= last);
		CHECK_U64(total, text.n);
		last = done;
	}
	CHECK_STR(err.text, "");
	source->ops->progress(source, &done, &total);
	CHECK_U64(done, total);
	loci_source_close(source);
	free(text.text);
}

int main(void)
{
	import_enter();
	hex_digits();
	numbers();
	line_index();
	long_trace(1024);
	long_trace(65536);
	many_sizes();
	hashed_ids();
	progress();
	import_leave();
	return check_status();
}
