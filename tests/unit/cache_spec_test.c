// SPDX-License-Identifier: GPL-2.0-or-later
/* The grammar of caches: what it means, what is refused and in which words, and the host's caches
 * from made-up sysfs trees. */
#include "check.h"

#include "model/cache.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void good(void)
{
	struct loci_hierarchy h;
	char buf[LOCI_HIERARCHY_MAX], label[64];

	CHECK(loci_hierarchy_parse(
		      "L1=48K/12,L2=1.25M/20,L3=54M/12:shared,L4=1G@128:share4", &h, NULL) == 0);
	CHECK_U64(h.n_levels, 4);
	CHECK_STR(h.level[0].name, "L1");
	CHECK_U64(h.level[0].size_bytes, 48 << 10);
	CHECK_U64(h.level[0].ways, 12);
	CHECK_U64(h.level[0].line_bytes, 64);
	CHECK_U64(loci_cache_sets(&h.level[0]), 64);
	CHECK(h.level[0].share == LOCI_SHARE_PRIVATE);
	CHECK(h.level[2].share == LOCI_SHARE_ALL);
	CHECK_U64(h.level[3].ways, 0);
	CHECK_U64(loci_cache_sets(&h.level[3]), 1);
	CHECK_U64(loci_cache_blocks(&h.level[3]), 8 << 20);
	CHECK_U64(h.level[3].share_n, 4);
	CHECK_STR(loci_cache_label(&h.level[1], label), "L2 1.25M/20");
	CHECK_STR(loci_cache_label(&h.level[3], label), "L4 1G@128");

	/* entries: of a page or more they make a TLB, which may stand anywhere */
	CHECK(loci_hierarchy_parse("L1=512e/8,DTLB=64e/4@4K,L2=1M,STLB=1536e/12@4K", &h, NULL) ==
		0);
	CHECK_U64(h.level[0].size_bytes, 32 << 10);
	CHECK(!h.level[0].is_tlb && h.level[1].is_tlb && !h.level[2].is_tlb && h.level[3].is_tlb);
	CHECK_U64(loci_cache_sets(&h.level[1]), 16);
	CHECK_STR(loci_hierarchy_format(&h, buf, sizeof(buf)),
		"L1=32K/8,DTLB=64e/4@4K,L2=1M,STLB=1536e/12@4K");
	CHECK_STR(loci_cache_label(&h.level[1], label), "DTLB 64e/4@4K");

	CHECK(loci_hierarchy_parse("L1=1:private", &h, NULL) == -EINVAL);
	CHECK(loci_hierarchy_parse("L1=1@1:private", &h, NULL) == 0);
	CHECK(loci_hierarchy_parse("Zen3", &h, NULL) == 0);
	CHECK_STR(h.name, "zen3");

	CHECK(loci_hierarchy_parse_objects("L1=1000,L2=10Ke,L3=1M/16", &h, NULL) < 0);
	CHECK(loci_hierarchy_parse_objects("L1=1000,L2=9999e,L3=1M/16", &h, NULL) == 0);
	CHECK_U64(loci_cache_blocks(&h.level[0]), 1000);
	CHECK_U64(loci_cache_blocks(&h.level[1]), 9999);
	CHECK_U64(loci_cache_sets(&h.level[2]), 65536);
	CHECK(!h.level[1].is_tlb);
}

static void round_trip(const char *text)
{
	struct loci_hierarchy a, b;
	char once[LOCI_HIERARCHY_MAX], twice[LOCI_HIERARCHY_MAX];

	CHECK(loci_hierarchy_parse(text, &a, NULL) == 0);
	loci_hierarchy_format(&a, once, sizeof(once));
	CHECK(loci_hierarchy_parse(once, &b, NULL) == 0);
	CHECK_STR(loci_hierarchy_format(&b, twice, sizeof(twice)), once);
	CHECK_U64(a.n_levels, b.n_levels);
	for (unsigned i = 0; i < a.n_levels; i++) {
		CHECK_U64(a.level[i].size_bytes, b.level[i].size_bytes);
		CHECK_U64(a.level[i].ways, b.level[i].ways);
		CHECK_U64(a.level[i].line_bytes, b.level[i].line_bytes);
		CHECK(a.level[i].share == b.level[i].share &&
			a.level[i].share_n == b.level[i].share_n);
		CHECK(a.level[i].is_tlb == b.level[i].is_tlb);
	}
}

static const struct {
	const char *text, *words, *more; /* that the message holds */
} bad[] = {
	{ "", "empty", "L1=32K/8" },
	{ "L1", "neither a machine", "machines: host" },
	{ "skylake-ps", "did you mean skylake-sp?", "zen4" },
	{ "Zenn3", "did you mean zen3?", "" },
	{ "xyzzyplugh", "neither a machine", "a64fx" },
	{ "L1=32K/8,L2", "\"L2\" has no '='", "" },
	{ "L1:32K/8", "has no '='", "" },
	{ "L1=32K/8,,L2=1M", "beside a comma", "" },
	{ ",L1=32K", "beside a comma", "" },
	{ "L1=32K,", "beside a comma", "" },
	{ "=32K/8", "no name for a cache", "" },
	{ "1L=32K/8", "no name for a cache", "" },
	{ "L 1=32K/8", "no name for a cache", "" },
	{ "averylongnameindeed=32K", "longer than 15", "" },
	{ "L1=", "size is missing", "" },
	{ "L1=/8", "size is missing", "" },
	{ "L1=cat", "\"cat\" is not a size", "L1:" },
	{ "L1=-32K", "is not a size", "" },
	{ "L1=32K=5", "is not a size", "" },
	{ "L1=0", "size 0", "" },
	{ "L1=0e/4", "size 0", "" },
	{ "L1=e", "is not a size", "" },
	{ "L1=99999999999G", "more than 64 bits", "" },
	{ "L1=18446744073709551615e", "more than 64 bits", "" },
	{ "L1=99999999999999999999e", "more than 64 bits", "" },
	{ "L1=32K/0", "0 ways", "leave /0 out" },
	{ "L1=32K/", "ways: \"\"", "" },
	{ "L1=32K/eight", "ways: \"eight\"", "" },
	{ "L1=32K/8/8", "ways", "" },
	{ "L1=32K/99999999999", "too many", "" },
	{ "L1=256/8", "4 lines of 64, fewer than 8 ways", "" },
	{ "L1=64/2", "1 line of 64", "" },
	{ "L1=33000/8", "not a whole number of 64-byte lines", "32960 or 32.25K would be" },
	{ "L1=33K/7", "not a whole number of sets of 7 ways of 64 bytes", "" },
	{ "L1=32960/8", "sets of 8 ways of 64 bytes; 32K or 32.5K would be", "" },
	{ "L1=10", "64-byte lines; 64 would be", "" },
	{ "L1=32K/8@48", "no power of two", "48" },
	{ "L1=32K/8@0", "no power of two", "" },
	{ "L1=32M@4M", "more than 2M", "" },
	{ "L1=32K@x", "line size: \"x\"", "" },
	{ "L1=32K:mine", "\":mine\"", "shareN" },
	{ "L1=32K:share", "\":share\"", "" },
	{ "L1=32K:share1", "\":share1\"", "2 or more" },
	{ "L1=32K:share0", "\":share0\"", "" },
	{ "L1=32K/8,L2=16K/8", "L2 (16K) is smaller than L1 (32K)", "innermost outwards" },
	{ "L1=32K,DTLB=64e@4K,L2=16K", "L2 (16K) is smaller than L1 (32K)", "" },
	{ "DTLB=64e/4", "DTLB: a TLB is given by entries and the size of their pages",
		"DTLB=64e/4@4K" },
	{ "stlb=1M/4@4K", "stlb: a TLB is given by entries", "" },
	{ "L1=32K,L1=64K", "two levels are named L1", "" },
	{ "L1=32K,l1=64K", "two levels are named l1", "" },
	{ "a=1K,b=1K,c=1K,d=1K,e=1K,f=1K,g=1K,h=1K,i=1K", "i: more than 8 levels", "" },
};

static void refused(void)
{
	char huge[4000];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct loci_hierarchy h;
		struct loci_err err = { "" };
		int r = loci_hierarchy_parse(bad[i].text, &h, &err);

		CHECK(r < 0);
		if (!strstr(err.text, bad[i].words) || !strstr(err.text, bad[i].more))
			CHECK_FAIL("\"%s\": %s", bad[i].text, err.text);
		CHECK(strlen(err.text) < 900);
		CHECK(loci_hierarchy_parse(bad[i].text, &h, NULL) == r);
	}
	for (size_t length = 1; length < sizeof(huge); length += 97) {
		struct loci_hierarchy h;
		struct loci_err err = { "" };

		memset(huge, 'x', length);
		huge[length] = '\0';
		CHECK(loci_hierarchy_parse(huge, &h, &err) < 0 && err.text[0]);
		huge[length / 2] = '=';
		CHECK(loci_hierarchy_parse(huge, &h, &err) < 0);
		CHECK(loci_hierarchy_parse_objects(huge, &h, &err) < 0);
	}
	{
		struct loci_hierarchy h;
		struct loci_err err = { "" };

		CHECK(loci_hierarchy_parse_objects("zen3", &h, &err) < 0);
		CHECK(strstr(err.text, "counts objects"));
		err.text[0] = '\0';
		CHECK(loci_hierarchy_parse_objects("L1=100@64", &h, &err) < 0);
		CHECK(strstr(err.text, "one object"));
	}
}

static void machines(void)
{
	unsigned n = 0;

	for (const struct loci_hierarchy *m = loci_machines; m->n_levels; m++, n++) {
		round_trip(m->name);
		CHECK(m->description[0]);
		CHECK(!n || strcmp(m[-1].name, m->name) < 0);
		for (unsigned i = 0; i < m->n_levels; i++) {
			CHECK(loci_cache_check(&m->level[i], NULL) == 0);
			CHECK(!i || m->level[i].size_bytes >= m->level[i - 1].size_bytes);
			CHECK(!i || !m->level[i].latency_cycles ||
				m->level[i].latency_cycles > m->level[i - 1].latency_cycles);
			CHECK(!m->memory_cycles || m->memory_cycles > m->level[i].latency_cycles);
		}
	}
	CHECK(n >= 12);
}

/* Files of a made-up tree, below the temporary directory. */
static char root[] = "/tmp/loci-cache-spec-XXXXXX";

static void put(const char *path, const char *text)
{
	char full[512];
	FILE *file;

	snprintf(full, sizeof(full), "%s/devices/system/cpu/%s", root, path);
	for (char *slash = full + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(full, 0700);
		*slash = '/';
	}
	file = fopen(full, "w");
	CHECK(file != NULL);
	if (file) {
		fprintf(file, "%s\n", text);
		fclose(file);
	}
}

static void put_cache(const char *cpu, unsigned index, const char *level, const char *type,
	const char *size, const char *ways, const char *line, const char *shared)
{
	const char *const name[] = { "level", "type", "size", "ways_of_associativity",
		"coherency_line_size", "shared_cpu_list" };
	const char *const text[] = { level, type, size, ways, line, shared };
	char path[128];

	for (int i = 0; i < 6; i++)
		if (text[i]) {
			snprintf(path, sizeof(path), "%s/cache/index%u/%s", cpu, index, name[i]);
			put(path, text[i]);
		}
}

static void remove_tree(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s/devices", root);
	CHECK(system(command) == 0);
}

static void host_is(const char *want)
{
	struct loci_hierarchy h;
	struct loci_err err = { "" };
	char buf[LOCI_HIERARCHY_MAX];

	CHECK(loci_hierarchy_host(root, &h, &err) == 0);
	CHECK_STR(err.text, "");
	CHECK_STR(loci_hierarchy_format(&h, buf, sizeof(buf)), want);
	CHECK_STR(h.name, "host");
	round_trip(want);
	remove_tree();
}

static void host(void)
{
	struct loci_hierarchy h;
	struct loci_err err = { "" };

	CHECK(mkdtemp(root) != NULL);
	/* two cores of two hardware threads each */
	put("online", "0-3");
	put("cpu0/topology/thread_siblings_list", "0,2");
	put_cache("cpu0", 0, "1", "Data", "48K", "12", "64", "0,2");
	put_cache("cpu0", 1, "1", "Instruction", "32K", "8", "64", "0,2");
	put_cache("cpu0", 2, "2", "Unified", "1280K", "20", "64", "0,2");
	put_cache("cpu0", 3, "3", "Unified", "55296K", "12", "64", "0-3");
	host_is("L1=48K/12,L2=1.25M/20,L3=54M/12:shared");
	/* a cluster of four of eight */
	put("online", "0-7");
	put_cache("cpu0", 0, "1", "Data", "32K", "8", "64", "0");
	put_cache("cpu0", 1, "2", "Unified", "2048K", "16", "64", "0-1,4-5");
	host_is("L1=32K/8,L2=2M/16:share4");
	/* a virtual machine that leaves things out, invents ways, and knows no siblings */
	put_cache("cpu0", 0, "1", "Data", "32K", NULL, NULL, NULL);
	put_cache("cpu0", 1, "2", "Unified", "4096K", "0", "64", "0");
	put_cache("cpu0", 2, "3", "Unified", "16384K", "7", "64", "0-1");
	host_is("L1=32K,L2=4M,L3=16M:share2");
	/* 128-byte lines; the first CPU says nothing; an outer level smaller than an inner */
	put("cpu0/topology/core_id", "0");
	put_cache("cpu1", 0, "1", "Data", "64K", "4", "128", "1");
	put_cache("cpu1", 1, "2", "Unified", "12M", "12", "128", "1");
	put_cache("cpu1", 2, "3", "Unified", "8M", "16", "128", "1");
	host_is("L1=64K/4@128,L2=12M/12@128");
	/* garbage in one level leaves the others */
	put_cache("cpu0", 0, "1", "Data", "lots", "8", "64", "0");
	put_cache("cpu0", 1, "zwei", "Unified", "1M", "8", "64", "0");
	put_cache("cpu0", 2, "3", "Unified", "8M", "16", "64", "0-99999999999");
	host_is("L3=8M/16");
	/* nothing at all */
	CHECK(loci_hierarchy_host(root, &h, &err) == -ENODATA);
	CHECK(strstr(err.text, "--cache") && strstr(err.text, root));
	rmdir(root);
}

int main(void)
{
	good();
	round_trip("L1=48K/12,L2=1.25M/20,L3=54M/12:shared");
	round_trip("L1=12345@1,L2=1408K/11,DTLB=64e/4@4K:share2,L3=1099511627777@1");
	round_trip("L1=64K/4@256,L2=8M/16@256:share12");
	refused();
	machines();
	host();
	return check_status();
}
