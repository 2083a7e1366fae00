// SPDX-License-Identifier: GPL-2.0-or-later
#include "check.h"

#include "base/units.h"

#include <errno.h>

static void parses(const char *text, uint64_t want)
{
	uint64_t got = 0;

	CHECK(loci_units_parse_bytes(text, &got, NULL) == 0);
	CHECK_U64(got, want);
}

int main(void)
{
	char buf[LOCI_UNITS_MAX];
	uint64_t value;

	parses("64", 64);
	parses("64B", 64);
	parses("32K", 32768);
	parses("48KiB", 49152);
	parses("1.25M", 1310720);
	parses("2G", 2ull << 30);
	CHECK(loci_units_parse_bytes("", &value, NULL) == -EINVAL);
	CHECK(loci_units_parse_bytes("-1", &value, NULL) == -EINVAL);
	CHECK(loci_units_parse_bytes("12Q", &value, NULL) == -EINVAL);
	CHECK(loci_units_parse_bytes("1.0001K", &value, NULL) == -EINVAL);
	CHECK(loci_units_parse_bytes("nan", &value, NULL) == -EINVAL);
	CHECK(loci_units_parse_bytes("99999999999999E", &value, NULL) == -ERANGE);
	CHECK_STR(loci_units_bytes(buf, 64), "64 B");
	CHECK_STR(loci_units_bytes(buf, 49152), "48 KiB");
	CHECK_STR(loci_units_bytes(buf, 1310720), "1.25 MiB");
	CHECK_STR(loci_units_bytes(buf, 1023.9), "1.00 KiB");
	CHECK_STR(loci_units_size(buf, 1310720), "1.25M");
	CHECK_STR(loci_units_size(buf, 48 << 10), "48K");
	CHECK_STR(loci_units_size(buf, 100), "100");
	CHECK_STR(loci_units_size(buf, 12345), "12345");
	CHECK_STR(loci_units_count(buf, 712), "712");
	CHECK_STR(loci_units_count(buf, 1.03e9), "1.03 G");
	CHECK_STR(loci_units_count(buf, 999600), "1.00 M");
	CHECK_STR(loci_units_seconds(buf, 125), "2 min 05 s");
	return check_status();
}
