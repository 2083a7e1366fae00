// SPDX-License-Identifier: GPL-2.0-or-later
/* Bad input: the message says what, where and what to do, the references before it are kept, and
 * what is no trace is not taken for one. */
#include "import_words.h"

#include <fcntl.h>
#include <zlib.h>
#include <zstd.h>

#define RECOGNISED(f) "(format " f ", recognised from the first lines; --format overrides)"
#define UNKNOWN                                                                                   \
	"t is not a trace I know (loci analyse --formats lists what I read; --format says which " \
	"of "                                                                                     \
	"them it is)"

static const struct {
	const char *text, *format, *refs, *error;
} cases[] = {
	/* din */
	{ "0 1000\n2 zz\n", NULL, "L 1000 4\n",
		"t:2: expected \"label address\", got \"2 zz\" " RECOGNISED("din") },
	{ "0 1000\r\n5 1000\r\n", NULL, "L 1000 4\n",
		"t:2: expected \"label address\", got \"5 1000\" " RECOGNISED("din") },
	{ "0 1000\n0 1000\n0 10000000000000000\n", NULL, "L 1000 4\nL 1000 4\n",
		"t:3: an address of more than 64 bits in \"0 10000000000000000\" " RECOGNISED(
			"din") },
	{ "0 1000\n0", NULL, "L 1000 4\n",
		"t:2: expected \"label address\", got \"0\" " RECOGNISED(
			"din") "; the input ends in this line: truncated?" },
	{ "hello\n", "din", "",
		"t:1: expected \"label address\", got \"hello\" (format din, as --format says)" },
	{ "0 1000\n\n# c\n0 1000\n0 \x01\"\\\xff\t!\n", NULL, "L 1000 4\nL 1000 4\n",
		"t:5: expected \"label address\", got \"0 \\x01\\\"\\\\\\xff\\t!\" (format din, as "
		"--format says)" },
	/* xdin */
	{ "r 1000 4\nr 1000 80000000\n", NULL, "L 1000 4\n",
		"t:2: a size of 2^31 bytes or more in \"r 1000 80000000\" " RECOGNISED("xdin") },
	{ "r 1000 4\nr 1000 7fffffff\nr 1000 10000000000000000\n", NULL,
		"L 1000 4\nL 1000 2147483647\n",
		"t:3: a size of 2^31 bytes or more in \"r 1000 10000000000000000\" " RECOGNISED(
			"xdin") },
	{ "r 1000 4\nr 1000 -4\n", NULL, "L 1000 4\n",
		"t:2: expected \"access address size\", got \"r 1000 -4\" " RECOGNISED("xdin") },
	{ "r 1000 4\nr 1000\n", NULL, "L 1000 4\n",
		"t:2: expected \"access address size\", got \"r 1000\" " RECOGNISED("xdin") },
	{ "r 1000 4\nx 1000 4\n", NULL, "L 1000 4\n",
		"t:2: expected \"access address size\", got \"x 1000 4\" " RECOGNISED("xdin") },
	{ "r 1000 4\nr 11111111111111111 4\n", NULL, "L 1000 4\n",
		"t:2: an address of more than 64 bits in \"r 11111111111111111 4\" " RECOGNISED(
			"xdin") },
	/* lackey */
	{ " L 1000,4\n L 1000,2147483648\n", NULL, "L 1000 4\n",
		"t:2: a size of 2^31 bytes or more in \" L 1000,2147483648\" " RECOGNISED(
			"lackey") },
	{ " L 1000,4\n L 1000,99999999999999999999\n", NULL, "L 1000 4\n",
		"t:2: a size of 2^31 bytes or more in \" L 1000,99999999999999999999\" " RECOGNISED(
			"lackey") },
	{ " L 1000,4\n L 1000,-4\n", NULL, "L 1000 4\n",
		"t:2: expected \"I  address,size or  L address,size\", got \" L "
		"1000,-4\" " RECOGNISED("lackey") },
	{ " L 1000,4\n L 10000000000000000,4\n", NULL, "L 1000 4\n",
		"t:2: an address of more than 64 bits in \" L 10000000000000000,4\" " RECOGNISED(
			"lackey") },
	{ " L 1000,4\n L 10g0,4\n", NULL, "L 1000 4\n",
		"t:2: expected \"I  address,size or  L address,size\", got \" L "
		"10g0,4\" " RECOGNISED("lackey") },
	{ " L 1000,4\n X 1000,4\n", NULL, "L 1000 4\n",
		"t:2: expected \"I  address,size or  L address,size\", got \" X "
		"1000,4\" " RECOGNISED("lackey") },
	{ " L 1000,4\n I 1000,4\n", NULL, "L 1000 4\n",
		"t:2: expected \"I  address,size or  L address,size\", got \" I "
		"1000,4\" " RECOGNISED("lackey") },
	{ " L 1000,4\n L ,4\n", NULL, "L 1000 4\n",
		"t:2: expected \"I  address,size or  L address,size\", got \" L ,4\" " RECOGNISED(
			"lackey") },
	{ " L 1000,4\nI  0401ab", NULL, "L 1000 4\n",
		"t:2: expected \"I  address,size or  L address,size\", got \"I  "
		"0401ab\" " RECOGNISED("lackey") "; the input ends in this line: truncated?" },
	{ "0x1000\n", "lackey", "",
		"t:1: expected \"I  address,size or  L address,size\", got \"0x1000\" (format "
		"lackey, as "
		"--format says)" },
	/* drmemtrace */
	{ "1: T7 read 4 byte(s) @ 0x10 by PC 0x1\n2: T7 rad 4 byte(s) @ 0x10 by PC 0x1\n", NULL,
		"t 0 7\nL 10 4\n",
		"t:2: expected \"record instruction: thread read size byte(s) @ 0xaddress\", got "
		"\"2: T7 "
		"rad 4 byte(s) @ 0x10 by PC 0x1\" " RECOGNISED("drmemtrace") },
	{ "1: T7 read 4 byte(s) @ 0x10 by PC 0x1\n2: T7 read 4 bytes @ 0x10 by PC 0x1\n", NULL,
		"t 0 7\nL 10 4\n",
		"t:2: expected \"record instruction: thread read size byte(s) @ 0xaddress\", got "
		"\"2: T7 "
		"read 4 bytes @ 0x10 by PC 0x1\" " RECOGNISED("drmemtrace") },
	{ "1: T7 read 4 byte(s) @ 0x10 by PC 0x1\n2: T7 read 2147483648 byte(s) @ 0x10 by\n", NULL,
		"t 0 7\nL 10 4\n",
		"t:2: a size of 2^31 bytes or more in \"2: T7 read 2147483648 byte(s) @ 0x10 "
		"by\" " RECOGNISED("drmemtrace") },
	{ "1: T7 read 4 byte(s) @ 0x10 by PC 0x1\n2: T7 read 4 byte(s) @ 0x11111111111111111 by\n",
		NULL, "t 0 7\nL 10 4\n",
		"t:2: an address of more than 64 bits in \"2: T7 read 4 byte(s) @ "
		"0x11111111111111111 "
		"by\" " RECOGNISED("drmemtrace") },
	/* csv */
	{ "time,id,size\n1,2,3\n1,2\n", NULL, "L 2 3\n",
		"t:3: expected \"a field for every column of the heading\", got "
		"\"1,2\" " RECOGNISED("csv") },
	{ "1,2,3\n1,,3\n", NULL, "L 2 3\n",
		"t:2: expected \"time,id,size\", got \"1,,3\" " RECOGNISED("csv") },
	{ "1,2,3\n1,2,-3\n1,2,3\n", NULL, "L 2 3\n",
		"t:2: the size is not a whole number: \"1,2,-3\" " RECOGNISED("csv") },
	{ "time,size\n1,2\n", "csv", "",
		"t: the first line neither names its columns (one of them id, obj_id, object, key "
		"or lbn; "
		"size and op if there are) nor is \"time,id,size\" (format csv)" },
	/* plain */
	{ "1000\n2000\nabc0\n3000\n4000\n", "decimal", "L 3e8 1\nL 7d0 1\n",
		"t:3: hexadecimal digits in addresses taken as decimal; --format hex reads them: "
		"\"abc0\" "
		"(format decimal, as --format says)" },
	{ "0x1000\n0x10000000000000000\n", NULL, "L 1000 1\n",
		"t:2: an address of more than 64 bits in \"0x10000000000000000\" " RECOGNISED(
			"plain") },
	{ "1000\n18446744073709551616\n", NULL, "L 3e8 1\n",
		"t:2: an address of more than 64 bits in \"18446744073709551616\" " RECOGNISED(
			"plain") },
	{ "1000\n1000 X\n2000\n", NULL, "L 3e8 1\n",
		"t:2: expected \"address, R address or W address\", got \"1000 X\" " RECOGNISED(
			"plain") },
	{ "1000\n-5\n2000\n", NULL, "L 3e8 1\n",
		"t:2: expected \"address, R address or W address\", got \"-5\" " RECOGNISED(
			"plain") },
	/* no traces */
	{ "The quick brown fox\njumps over the lazy dog.\n", NULL, "", UNKNOWN },
	{ "added\nfaded\nbade\n", NULL, "", UNKNOWN },
	{ "2024\nThe year began\nand it ended.\n", NULL, "", UNKNOWN },
	{ "# only a comment\n\n", NULL, "", UNKNOWN },
	{ "==1== Memcheck, a memory error detector\n", NULL, "", UNKNOWN },
	{ "{ \"a\": 1,\n  \"b\": 2 }\n", NULL, "", UNKNOWN },
	{ "name,colour\nfox,brown\n", NULL, "", UNKNOWN },
	{ "\x89PNG\r\n\x1a\n", NULL, "", UNKNOWN },
	{ "1000\x01\n2000\n", NULL, "", UNKNOWN },
};

static void table(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		/* A control character would not be recognised; the case is about the message. */
		bool control = cases[i].refs[0] && strchr(cases[i].text, '\x01');
		struct import_result got;

		import_write("t", cases[i].text, strlen(cases[i].text));
		got = import_path("t", control ? "din" : cases[i].format, false, 1024);
		CHECK_STR(got.error, cases[i].error);
		CHECK_STR(got.refs.text, cases[i].refs);
		free(got.refs.text);
	}
}

static void fails(const char *path, const char *format, const char *error)
{
	struct import_result got = import_path(path, format, false, 1024);

	CHECK_STR(got.error, error);
	free(got.refs.text);
}

static void files(void)
{
	fails("absent", NULL, "cannot open absent: No such file or directory");
	mkdir("dir", 0700);
	fails("dir", NULL, "dir is a directory; give a trace file");
	import_write("empty", "", 0);
	fails("empty", NULL, "empty is empty");
	fails("empty", "din", "empty is empty");
	fails("absent", "dni",
		"no format is called \"dni\"; there are lcs, oracleGeneral, lackey, drmemtrace, "
		"din, "
		"xdin, csv, plain, hex, decimal (loci analyse --formats explains them)");
	import_write("locked", "0 1000\n", 7);
	chmod("locked", 0);
	if (access("locked", R_OK) < 0)
		fails("locked", NULL, "cannot open locked: Permission denied");
}

/* A line of 1 MiB, in every place. */
static void long_lines(void)
{
	static const char first[] = { '0', ' ', '1', '0', '0', '0', '\n', '0', ' ' };
	size_t n = 1 << 20;
	char *text = malloc(n + 64);

	memset(text, 'a', n + 64);
	import_write("t", text, n + 64);
	fails("t", NULL, UNKNOWN);
	fails("t", "plain", "t:1: a line of more than 1048576 bytes: not a text trace");
	memcpy(text, first, 7);
	import_write("t", text, n + 64);
	fails("t", NULL, "t:2: a line of more than 1048576 bytes: not a text trace");
	memset(text + 9, '0', n);
	memcpy(text, first, sizeof(first));
	text[n - 2] = '8';
	text[n - 1] = '\n';
	import_write("t", text, n);
	{
		struct import_result got = import_path("t", NULL, false, 1024);

		/* Leading zeros, however many, are no reason to complain. */
		CHECK_STR(got.error, "");
		CHECK_STR(got.refs.text, "L 1000 4\nL 8 4\n");
		free(got.refs.text);
	}
	free(text);
}

static void garbage(void)
{
	static unsigned char bytes[1 << 16];
	uint64_t state = 88172645463325252ull;

	for (unsigned round = 0; round < 200; round++) {
		size_t n = round < 100 ? 1 + round * 7 : sizeof(bytes);

		for (size_t i = 0; i < n; i++) {
			state ^= state << 13, state ^= state >> 7, state ^= state << 17;
			bytes[i] = (unsigned char)(state >> 32);
		}
		if (bytes[0] == 0x1f)
			bytes[0] = 0;
		if (n < 24 && bytes[0] < 0x80)
			bytes[0] = 0;
		import_write("t", bytes, n);
		fails("t", NULL, UNKNOWN);
	}
	memset(bytes, 0, sizeof(bytes));
	import_write("t", bytes, 4800);
	fails("t", NULL, UNKNOWN);
}

static void binary(void)
{
	static const unsigned char start[] = { 0xf0, 0xde, 0xbc, 0x9a, 0x78, 0x56, 0x34, 0x12, 3 };
	unsigned char bytes[8192 + 50] = { 0 };
	struct import_result got;

	bytes[12] = 1;
	memset(bytes + 16, 0xff, 8);
	memcpy(bytes + 24, bytes, 24);
	import_write("t", bytes, 40);
	got = import_path("t", NULL, false, 1024);
	CHECK_STR(got.error,
		"t: the record at byte 24 has 16 of 24 bytes: truncated? " RECOGNISED(
			"oracleGeneral"));
	CHECK_STR(got.refs.text, "L 0 1\n");
	free(got.refs.text);
	bytes[0] = 1; /* time runs back */
	import_write("t", bytes, 48);
	fails("t", NULL, UNKNOWN);
	fails("t", "lcs",
		"t does not begin with lcs's magic number (format lcs, as --format says)");

	memset(bytes, 0, sizeof(bytes));
	memcpy(bytes, start, sizeof(start));
	import_write("t", bytes, 1024);
	fails("t", NULL,
		"t: the lcs header has 1024 of 8192 bytes: truncated, or of before version 1");
	import_write("t", bytes, sizeof(bytes));
	fails("t", NULL,
		"t: the lcs header of 8192 bytes does not end with the magic number: damaged, or "
		"of "
		"before version 1");
	memcpy(bytes + 8184, bytes, 8);
	memset(bytes + 8192 + 12, 0xff, 8);
	import_write("t", bytes, 8192 + 36);
	fails("t", NULL, "t: record 0 at byte 8192: a size of -1 (format lcs)");
	import_write("t", bytes, 8192 + 35);
	fails("t", NULL,
		"t: the record at byte 8192 has 35 of 36 bytes: truncated? " RECOGNISED("lcs"));
	bytes[8] = 9;
	import_write("t", bytes, sizeof(bytes));
	fails("t", NULL, "t is lcs of version 9; I read versions 1 to 8");
}

/* Cut short or with a byte flipped, both codecs say so, whatever the place. */
static void compressed(void)
{
	static char text[200000];
	static unsigned char out[2][300000];
	z_stream z = { .next_in = (Bytef *)text,
		.avail_in = sizeof(text),
		.next_out = out[0],
		.avail_out = sizeof(out[0]) };
	size_t n[2];

	for (size_t i = 0; i < sizeof(text); i += 8) {
		char line[16];

		snprintf(line, sizeof(line), "0 %05x\n", (unsigned)(i * 2654435761u) >> 12);
		memcpy(text + i, line, 8);
	}
	CHECK(deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, 0) == Z_OK);
	CHECK(deflate(&z, Z_FINISH) == Z_STREAM_END);
	deflateEnd(&z);
	n[0] = sizeof(out[0]) - z.avail_out;
	n[1] = ZSTD_compress(out[1], sizeof(out[1]), text, sizeof(text), 1);
	for (unsigned codec = 0; codec < 2; codec++) {
		static const char *const names[] = { "gzip", "zstd" };
		char want[200];

		for (size_t cut = 5; cut < n[codec]; cut += n[codec] / 50) {
			import_write("t", out[codec], cut);
			snprintf(want, sizeof(want),
				"t: the %s data ends too early, after %zu bytes: the file is "
				"truncated",
				names[codec], cut);
			fails("t", NULL, want);
		}
		/* Something else after the end. */
		memcpy(out[codec] + n[codec], "rubbish", 7);
		import_write("t", out[codec], n[codec] + 7);
		snprintf(
			want, sizeof(want), "t: the %s data is damaged before byte ", names[codec]);
		{
			struct import_result got = import_path("t", NULL, false, 1024);

			CHECK(!strncmp(got.error, want, strlen(want)));
			CHECK_U64(got.n_refs, sizeof(text) / 8);
			free(got.refs.text);
		}
	}
	/* A frame whose first bytes ask for a window of 2 GiB. */
	import_write("t", "\x28\xb5\x2f\xfd\x04\xa8\x85\xea\xea", 9);
	fails("t", NULL,
		"t needs more than 128 MiB to decompress; if it is no forgery, zstd -d --long=31 "
		"-c t | "
		"loci analyse - reads it");
	/* Padding after the last gzip member is none of our business. */
	memset(out[0] + n[0], 0, 512);
	import_write("t", out[0], n[0] + 512);
	fails("t", NULL, "");
	out[0][n[0] / 2] ^= 0x55;
	import_write("t", out[0], n[0]);
	{
		struct import_result got = import_path("t", NULL, false, 1024);

		CHECK(strstr(got.error, "t: the gzip data is damaged before byte ") == got.error ||
			strstr(got.error, "expected \"label address\""));
		free(got.refs.text);
	}
}

/* Our own traces are not ours to read: they go to the trace reader, piped or compressed too. */
static void own_traces(void)
{
	static const char magic[] = "\x89loci\r\n\x1a damaged";
	unsigned char out[100];
	struct import_result got;

	import_write("t", magic, sizeof(magic) - 1);
	got = import_path("t", NULL, false, 1024);
	CHECK(got.error[0] && strcmp(got.error, UNKNOWN) && strstr(got.error, "t"));
	free(got.refs.text);
	import_write("t", out, ZSTD_compress(out, sizeof(out), magic, sizeof(magic) - 1, 1));
	got = import_path("t", NULL, false, 1024);
	CHECK(got.error[0] && strcmp(got.error, UNKNOWN));
	free(got.refs.text);
}

int main(void)
{
	import_enter();
	table();
	files();
	long_lines();
	garbage();
	binary();
	compressed();
	own_traces();
	import_leave();
	return check_status();
}
