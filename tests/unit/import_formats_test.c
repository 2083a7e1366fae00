// SPDX-License-Identifier: GPL-2.0-or-later
/* Every format: what it is recognised as, and the references it stands for, written by hand; plain,
 * compressed, with other line ends, in pieces, and from standard input. */
#include "import_words.h"

#include "stream/trace.h"

#include <sys/wait.h>
#include <zlib.h>
#include <zstd.h>

static const struct example {
	const char *format, *text, *refs; /* text formats */
	bool instructions;
	const char *note;
} examples[] = {
	{ "lackey",
		"==9332== Lackey, an example Valgrind tool\n"
		"==9332== \n"
		"I  0401ab70,3\n"
		" S 1fff000718,8\n"
		" L 04a19de0,16\n"
		" L 04a19de8,16\n"
		" M 04a19df0,4\n"
		" L ffffffffff600000,8\n"
		" M ffffffffff600000,4\n"
		" L 1fff000000,832\n"
		" S 5,2048\n"
		"==9332== Exit code:       0\n",
		"S 1fff000718 8\nL 4a19de0 16\nL 4a19de8 16\nml 4a19df0 4\nms 4a19df0 4\n"
		"L ffffffffff600000 8\nml ffffffffff600000 4\nms ffffffffff600000 4\n"
		"L 1fff000000 832\nS 5 2048\n",
		false, "" },
	{ "lackey", "I  0401ab70,3\n S 1fff000718,8\nI  0401ab73,11\nI  0401ab7e,3\n",
		"I 401ab70 3\nS 1fff000718 8\nI 401ab73 11\nI 401ab7e 3\n", true, "" },
	{ "lackey", " L 1000,4\n\n# a comment\n S 00000000000000001040,4\n L 1000,0\n",
		"L 1000 4\nS 1040 4\nL 1000 1\n", false, "1 accesses of size 0 taken as 1 byte" },
	{ "din",
		"2 0 This is an instruction fetch\n0 1000\n1 70f60888\n0 70f6088E\n\n3 0\n4 0\n1 "
		"0xABC\n"
		"  0\t1003  and a comment\n",
		"L 1000 4\nS 70f60888 4\nL 70f6088c 4\nS abc 4\nL 1000 4\n", false,
		"2 records that are no loads or stores left out" },
	{ "din", "2 400000\n0 1000\n2 400004\n", "I 400000 4\nL 1000 4\nI 400004 4\n", true, "" },
	{ "xdin",
		"r 1000 4\nw 0x1008 8\ni 400000 4\nm 2000 1\nc 1000 40\nv 1000 40\nR 3000 10 "
		"comment\n"
		"W FFFFFFFFFFFFFFF0 10\n",
		"L 1000 4\nS 1008 8\nL 2000 1\nL 3000 16\nS fffffffffffffff0 16\n", false,
		"2 records that are no loads or stores left out" },
	{ "xdin", "i 400000 4\nr 1000 4\n", "I 400000 4\nL 1000 4\n", true, "" },
	{ "drmemtrace", /* version 5 and 6 of the format */
		"Output format:\n"
		"<--record#-> <--instr#->: <---tid---> <record details>\n"
		"------------------------------------------------------------\n"
		"           1           0:       21646 <marker: version 6>\n"
		"           2           0:       21646 <marker: filetype 0x8e40>\n"
		"<...>\n"
		"       11910        9759:       21646 ifetch       1 byte(s) @ 0x00007fcae55ed1a8 "
		"c3    "
		"               ret    (target 0x7fcae55efa9b)\n"
		"       11911        9759:       21646 read         8 byte(s) @ 0x00007ffd1fded688 "
		"by PC "
		"0x00007fcae55ed1a8\n"
		"       11912        9760:       21646 ifetch      10 byte(s) @ 0x00007fcae55efa9d "
		"48 b8 "
		"00 00 00 00 00 mov\n"
		"       11912        9760:       21646                                            "
		"00 00 "
		"00\n"
		"       11914        9761:       21646 write        8 byte(s) @ 0x00007ffd1fded690 "
		"by PC "
		"0x00007fcae55efa9d\n"
		"------------------------------------------------------------\n"
		"     8289351     5704054:       21647 read        32 byte(s) @ 0x00007fcae47edc48 "
		"by PC "
		"0x00007fcae15fd512\n"
		"     8289352     5704054:       21647 pref-r-L1    1 byte(s) @ 0x00007fcae47ede48 "
		"by PC "
		"0x00007fcae15fd512\n"
		"     8289353     5704054:       21647 <marker: kernel xfer from 0x7fcae15fd512 to "
		"handler>\n"
		"     8289354     5704054:       21647 <thread 21647 exited>\n"
		"------------------------------------------------------------\n"
		"     8289355     5704055:       21646 read        32 byte(s) @ 0xffffffffb8495c36 "
		"by PC "
		"0x00007fcae15fd512\n"
		"View tool results:\n"
		"        5704055 : total instructions\n",
		"t 0 21646\nL 7ffd1fded688 8\nS 7ffd1fded690 8\nt 1 21647\nL 7fcae47edc48 32\n"
		"t 0 21646\nL ffffffffb8495c36 32\n",
		false, "1 records that are no loads or stores left out" },
	{ "drmemtrace", /* version 4, with T before the thread */
		"Output format:\n<record#>: T<tid> <record details>\n"
		"------------------------------------------------------------\n"
		"        1: T1774673 <marker: version 4>\n"
		"   173369: T1774669 ifetch       3 byte(s) @ 0x0000000000402680 f3 48 a5         "
		"rep "
		"movsq\n"
		"   173370: T1774669 read         8 byte(s) @ 0x00007f8881e37c70 by PC "
		"0x0000000000402680\n"
		"   173371: T1774669 write        8 byte(s) @ 0x00007f8881e37a70 by PC "
		"0x0000000000402680\n"
		"   173372: T1774669 ifetch       3 byte(s) @ 0x0000000000402680 non-fetched "
		"instruction\n",
		"t 0 1774669\nI 402680 3\nL 7f8881e37c70 8\nS 7f8881e37a70 8\n", true, "" },
	{ "drmemtrace", /* with workloads, 32-bit */
		"           5           0:       W0.T3 <marker: timestamp 1002>\n"
		"           7           1:       W0.T3 ifetch       4 byte(s) @ 0x0000002a "
		"non-branch\n"
		"           8           1:       W0.T3 read         4 byte(s) @ 0x00000042 by PC "
		"0x0000002a\n"
		"           9           1:       W1.T3 write        4 byte(s) @ 0x00000042 by PC "
		"0x0000002a\n",
		"t 0 3\nL 42 4\nt 1 281474976710659\nS 42 4\n", false, "" },
	{ "csv",
		"time,obj_id,size,op\n1,17,512,get\n2,0x11,512,SET\n3,18,70000,read\n4,17,0,"
		"delete\n",
		"L 11 512\nS 11 512\nL 12 70000\n", false,
		"1 records that are no loads or stores left out" },
	{ "csv", /* libCacheSim's own sample */
		"version,time,op,size,lbn\n1,33898,2a,512,42932745\n1,33898,28,6656,40409911\n",
		"S 28f1a09 512\nL 2689b37 6656\n", false, "" },
	{ "csv", "100,7,64\n101,8,64\n102,7,4294967296\n", "L 7 64\nL 8 64\nL 7 2147483647\n",
		false, "1 objects of 2 GiB or more taken as a byte less" },
	{ "csv", "100.5\t7\n101.25\t8\n", "L 7 1\nL 8 1\n", false, "" },
	{ "csv", "1;18446744073709551615;3;w\n1;9223372036854775808;3;r\n",
		"S ffffffffffffffff 3\nL 8000000000000000 3\n", false, "" },
	{ "csv", "\"size\",\"key\"\n\"10\",\"42\"\n11, 43 \n", "L 2a 10\nL 2b 11\n", false, "" },
	{ "csv", "obj_id\n5\n6\n", "L 5 1\nL 6 1\n", false, "" },
	{ "csv", "id,op\n5,peek\n6,write\n", "L 5 1\nS 6 1\n", false,
		"1 requests with an operation I do not know taken as loads" },
	{ "plain", "0x1000\n0X1040\n10\nffffffffffffffff\n",
		"L 1000 1\nL 1040 1\nL 10 1\nL ffffffffffffffff 1\n", false, "" },
	{ "plain", "4096\n16\n  18446744073709551615 \n# note\n0\n",
		"L 1000 1\nL 10 1\nL ffffffffffffffff 1\nL 0 1\n", false, "" },
	{ "plain", "R 1000\nw 104a\n1080 W\n2000 r\n1\n",
		"L 1000 1\nS 104a 1\nS 1080 1\nL 2000 1\nL 1 1\n", false, "" },
	{ "plain",
		"\xef\xbb\xbf"
		"1000\n1001\n",
		"L 3e8 1\nL 3e9 1\n", false, "" },
};

static void same(const struct example *e, const char *how, struct import_result got)
{
	if (strcmp(got.error, "") || strcmp(got.refs.text, e->refs))
		CHECK_FAIL("%s, %s: error \"%s\", references\n%swant\n%s", e->format, how,
			got.error, got.refs.text, e->refs);
	check_count++;
	CHECK_STR(got.info.origin, e->format);
	CHECK_STR(got.note, e->note);
	free(got.refs.text);
}

static size_t gzip(const char *text, size_t n, unsigned char *out, size_t cap)
{
	z_stream z = { .next_in = (Bytef *)text,
		.avail_in = (uInt)n,
		.next_out = out,
		.avail_out = (uInt)cap };

	CHECK(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, 0) == Z_OK);
	CHECK(deflate(&z, Z_FINISH) == Z_STREAM_END);
	deflateEnd(&z);
	return cap - z.avail_out;
}

static size_t zstd(const char *text, size_t n, unsigned char *out, size_t cap)
{
	return ZSTD_compress(out, cap, text, n, 3);
}

typedef size_t compress_fn(const char *text, size_t n, unsigned char *out, size_t cap);

/* In two members, the first of which ends inside a line. */
static void compressed(const struct example *e, const char *how, compress_fn *compress)
{
	static unsigned char out[1 << 16];
	size_t n = strlen(e->text), half = n / 2, used;

	used = compress(e->text, half, out, sizeof(out));
	used += compress(e->text + half, n - half, out + used, sizeof(out) - used);
	import_write("t", out, used);
	same(e, how, import_path("t", NULL, e->instructions, 1024));
}

static void crlf(const struct example *e)
{
	char text[1 << 14], *out = text;

	for (const char *at = e->text; *at; at++) {
		if (*at == '\n')
			*out++ = '\r';
		*out++ = *at;
	}
	import_write("t", text, (size_t)(out - text));
	same(e, "CRLF", import_path("t", NULL, e->instructions, 1024));
}

/* Through a pipe, a byte first. */
static void from_stdin(const struct example *e, const char *data, size_t n)
{
	int ends[2], kept = dup(0);

	CHECK(pipe(ends) == 0);
	if (fork() == 0) {
		close(ends[0]);
		_exit(write(ends[1], data, 1) != 1 ||
			write(ends[1], data + 1, n - 1) != (ssize_t)n - 1);
	}
	close(ends[1]);
	dup2(ends[0], 0);
	close(ends[0]);
	same(e, "standard input", import_path("-", NULL, e->instructions, 1024));
	wait(NULL);
	dup2(kept, 0);
	close(kept);
}

/* Imported, kept as a trace of ours, and read again: from the file, a pipe, compressed. */
static void own_trace(const struct example *e)
{
	struct loci_import_options options = { NULL, e->instructions };
	static char bytes[1 << 16];
	unsigned char packed[1 << 16];
	struct loci_trace_writer *writer;
	struct loci_source *source;
	struct loci_err err = { "" };
	struct example own = *e;
	uint64_t words[1024];
	FILE *file;
	ssize_t n;

	import_write("t", e->text, strlen(e->text));
	CHECK(loci_import_open("t", &options, &source, &err) == 0);
	CHECK(loci_trace_create("own", &source->info, &writer, &err) == 0);
	while ((n = source->ops->read(source, words, 1024, &err)) > 0)
		CHECK(loci_trace_write(writer, words, (size_t)n, &err) == 0);
	CHECK(n == 0 && loci_trace_close(writer, &err) == 0);
	loci_source_close(source);
	own.note = ""; /* a trace has no place for it */
	same(&own, "our own trace", import_path("own", NULL, false, 1024));
	file = fopen("own", "rb");
	n = file ? (ssize_t)fread(bytes, 1, sizeof(bytes), file) : 0;
	CHECK(n > 0 && fclose(file) == 0);
	from_stdin(&own, bytes, (size_t)n);
	import_write("own", packed, gzip(bytes, (size_t)n, packed, sizeof(packed)));
	same(&own, "our own trace, compressed", import_path("own", NULL, false, 1024));
}

static void examples_read(void)
{
	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
		const struct example *e = &examples[i];
		size_t n = strlen(e->text);

		import_write("t", e->text, n);
		same(e, "as it is", import_path("t", NULL, e->instructions, 1024));
		same(e, "named", import_path("t", e->format, e->instructions, 8192));
		CHECK(e->text[n - 1] == '\n');
		import_write("t", e->text, n - 1);
		same(e, "without the last newline", import_path("t", NULL, e->instructions, 1024));
		compressed(e, "gzip", gzip);
		compressed(e, "zstd", zstd);
		crlf(e);
		from_stdin(e, e->text, n);
		own_trace(e);
	}
}

static void put(unsigned char **at, uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		*(*at)++ = (unsigned char)(value >> 8 * i);
}

static const char objects[] = "L ffffffffffffff00 4096\nL 7 100000\nL ffffffffffffff00 4096\n";

static void oracle_general(void)
{
	unsigned char bytes[72], *at = bytes;
	struct example e = { "oracleGeneral", NULL, objects, false, "" };

	put(&at, 10, 4), put(&at, 0xffffffffffffff00, 8), put(&at, 4096, 4), put(&at, 3, 8);
	put(&at, 10, 4), put(&at, 7, 8), put(&at, 100000, 4), put(&at, UINT64_MAX, 8);
	put(&at, 12, 4), put(&at, 0xffffffffffffff00, 8), put(&at, 4096, 4), put(&at, INT64_MAX, 8);
	import_write("t", bytes, sizeof(bytes));
	same(&e, "as it is", import_path("t", NULL, false, 1024));
	same(&e, "named", import_path("t", "oracleGeneral", false, 1024));
}

/* One record of each version with the fields that version has; sizes from the format's description.
 */
static void lcs(void)
{
	static const unsigned record_bytes[] = { 0, 24, 28, 36, 40, 44, 52, 68, 100 };

	for (unsigned version = 1; version <= 8; version++) {
		static unsigned char bytes[8192 + 400];
		unsigned char *at = bytes;
		struct import_result got;
		struct example e = { "lcs", NULL,
			version == 1 ? "L ffffffffffffff00 4096\nL ffffffffffffff00 4096\nL "
				       "ffffffffffffff00 4096\n"
				     : "S ffffffffffffff00 4096\nL ffffffffffffff00 4096\n",
			false,
			version == 1 ? "" : "1 records that are no loads or stores left out" };

		memset(bytes, 0, sizeof(bytes));
		put(&at, 0x123456789abcdef0, 8), put(&at, version, 8), put(&at, 1, 8),
			put(&at, 3, 8);
		at = bytes + 8184;
		put(&at, 0x123456789abcdef0, 8);
		for (unsigned op = 0; op < 3; op++) {
			static const unsigned ops[] = { 3, 9, 1 }; /* set, delete, get */
			unsigned char *record = at;

			put(&at, 10, 4), put(&at, 0xffffffffffffff00, 8);
			put(&at, 4096, version < 3 ? 4 : 8);
			if (version > 1)
				put(&at, ops[op], 1), put(&at, 0xabcdef, 3);
			at = record + record_bytes[version];
		}
		import_write("t", bytes, (size_t)(at - bytes));
		same(&e, "as it is", import_path("t", NULL, false, 1024));
		got = import_path("t", "lcs", false, 1024);
		CHECK_U64(got.info.unit, LOCI_UNIT_OBJECT);
		CHECK_U64(got.info.capabilities,
			LOCI_CAP_COMPLETE | (version > 1 ? LOCI_CAP_STORES : 0));
		free(got.refs.text);
		/* A header that promises more than there is. */
		put(&(unsigned char *){ bytes + 24 }, 5, 8);
		import_write("t", bytes, (size_t)(at - bytes));
		e.note = version == 1
			? "3 of the 5 requests its header promises"
			: "1 records that are no loads or stores left out; 3 of the 5 "
			  "requests its header promises";
		same(&e, "too short", import_path("t", NULL, false, 1024));
	}
}

/* Ids that are no numbers: equal ones get one number, others another. */
static void hashed_ids(void)
{
	static const char text[] = "time,id\n1,user:1\n2,user:2\n3,user:1\n4,\"user:2\"\n"
				   "5,123456789012345678901234567890\n6,-1\n7,user:1 \n";
	unsigned long long id[7];
	struct import_result got;

	import_write("t", text, sizeof(text) - 1);
	got = import_path("t", NULL, false, 1024);
	CHECK(sscanf(got.refs.text,
		      "L %llx 1\nL %llx 1\nL %llx 1\nL %llx 1\nL %llx 1\nL %llx 1\nL %llx 1\n",
		      &id[0], &id[1], &id[2], &id[3], &id[4], &id[5], &id[6]) == 7);
	CHECK(id[0] == id[2] && id[0] == id[6] && id[1] == id[3]);
	CHECK(id[0] != id[1] && id[0] != id[4] && id[0] != id[5] && id[4] != id[5]);
	free(got.refs.text);
}

static void units_and_capabilities(void)
{
	static const struct {
		const char *text;
		uint32_t unit, capabilities;
	} cases[] = {
		{ " L 1000,4\n", LOCI_UNIT_BYTE, LOCI_CAP_COMPLETE | LOCI_CAP_STORES },
		{ "0x1000\n", LOCI_UNIT_BYTE, LOCI_CAP_COMPLETE },
		{ "0x1000\n0x1000 W\n", LOCI_UNIT_BYTE, LOCI_CAP_COMPLETE | LOCI_CAP_STORES },
		{ "id,size\n1,2\n", LOCI_UNIT_OBJECT, LOCI_CAP_COMPLETE },
		{ "id,op\n1,get\n", LOCI_UNIT_OBJECT, LOCI_CAP_COMPLETE | LOCI_CAP_STORES },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct import_result got;

		import_write("t", cases[i].text, strlen(cases[i].text));
		got = import_path("t", NULL, false, 1024);
		CHECK_U64(got.info.unit, cases[i].unit);
		CHECK_U64(got.info.capabilities, cases[i].capabilities);
		CHECK_U64(got.info.version, LOCI_STREAM_VERSION);
		free(got.refs.text);
	}
}

/* The same digits, two ways by name. */
static void hex_or_decimal(void)
{
	static const struct example as_hex = { "hex", NULL, "L 1000 1\nS 10 1\n", false, "" },
				    as_decimal = { "decimal", NULL, "L 3e8 1\nS 10 1\n", false,
					    "" };

	import_write("t", "1000\nW 0x10\n", 12);
	same(&as_hex, "by name", import_path("t", "hex", false, 1024));
	same(&as_decimal, "by name", import_path("t", "decimal", false, 1024));
}

/* The samples shown to people are what they say. */
static void samples_are_recognised(void)
{
	for (const struct loci_import_format *f = loci_import_formats; f->name; f++) {
		struct import_result got;

		CHECK(f->summary[0] && f->sample[0]);
		if (f->sample[0] == '(')
			continue;
		import_write("t", f->sample, strlen(f->sample));
		got = import_path("t", NULL, true, 1024);
		CHECK_STR(got.error, "");
		CHECK(got.n_refs > 0);
		if (strcmp(f->name, "hex") && strcmp(f->name, "decimal"))
			CHECK_STR(got.info.origin, f->name);
		else
			CHECK_STR(got.info.origin, "plain");
		free(got.refs.text);
	}
}

int main(void)
{
	import_enter();
	examples_read();
	oracle_general();
	lcs();
	hashed_ids();
	units_and_capabilities();
	hex_or_decimal();
	samples_are_recognised();
	import_leave();
	return check_status();
}
