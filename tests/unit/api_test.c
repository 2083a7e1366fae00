// SPDX-License-Identifier: GPL-2.0-or-later
/* The public interface through its header alone, linked with the shared library. Profiles are
 * asked in tests/cli/library_test.sh. */
#include "check.h"

#include <errno.h>
#include <loci.h>

/* An engine that has seen so many sweeps over n blocks of 64 bytes. */
static struct loci_engine *sweep(unsigned n_blocks, unsigned passes, int write)
{
	struct loci_error error;
	struct loci_engine *engine = NULL;

	CHECK(loci_engine_new(0, 0, &engine, &error) == 0);
	for (unsigned pass = 0; pass < passes; pass++)
		for (unsigned i = 0; i < n_blocks; i++) {
			uint64_t address = 0x10000 + 64ull * i + (i + pass) % 64;
			uint8_t is_write = (uint8_t)write;

			CHECK(loci_engine_touch(engine, &address, &is_write, 1, &error) == 0);
		}
	return engine;
}

/* Everything about a cyclic sweep is known: each reuse has every other block before it. */
static void test_sweep(void)
{
	struct loci_engine *engine = sweep(100, 10, 1);
	struct loci_answer answer[LOCI_ASK_LEVELS];
	struct loci_totals totals;
	struct loci_error error;
	double ratio;

	CHECK(loci_engine_totals(engine, &totals, &error) == 0);
	CHECK_U64(totals.touches, 1000);
	CHECK_U64(totals.writes, 1000);
	CHECK_U64(totals.references, 1000);
	CHECK_U64(totals.loads, 0);
	CHECK_U64(totals.block_bytes, 64);
	CHECK_NEAR(totals.blocks, 100, 0);
	CHECK_NEAR(totals.sampling_rate, 1, 0);

	CHECK(loci_engine_miss_ratio(engine, 99 * 64, &ratio, &error) == 0);
	CHECK_NEAR(ratio, 1, 0);
	CHECK(loci_engine_miss_ratio(engine, 100 * 64, &ratio, NULL) == 0);
	CHECK_NEAR(ratio, 0.1, 1e-12);

	CHECK(loci_engine_ask(engine, "L1=4K,L2=8K", 0, answer, LOCI_ASK_LEVELS, &error) == 2);
	CHECK_STR(answer[0].name, "L1");
	CHECK_STR(answer[0].basis, "exact");
	CHECK_U64(answer[0].size_bytes, 4096);
	CHECK_U64(answer[0].line_bytes, 64);
	CHECK_U64(answer[0].ways, 0);
	CHECK_NEAR(answer[0].accesses, 1000, 0);
	CHECK_NEAR(answer[0].misses, 1000, 0);
	CHECK_NEAR(answer[0].cold, 100, 0);
	CHECK_NEAR(answer[0].capacity, 900, 0);
	CHECK_NEAR(answer[0].writebacks, 1000, 0);
	CHECK_NEAR(answer[0].error_points, 0, 0);
	CHECK_NEAR(answer[1].misses, 100, 0);
	CHECK_NEAR(answer[1].hits, 900, 0);
	CHECK_NEAR(answer[1].writebacks, 100, 0);
	CHECK_NEAR(answer[1].moved_bytes, 200 * 64, 0);
	loci_engine_free(engine);
}

/* 100 blocks in 8 sets: 4 sets have 13, 4 have 12. With 12 ways the larger ones miss always (LRU on
 * a loop), the smaller ones only cold; fully associative everything misses. */
static void test_sets(void)
{
	struct loci_engine *engine = sweep(100, 10, 0);
	struct loci_answer answer, both[2];

	CHECK(loci_engine_ask(engine, "L1=6K/12", 0, &answer, 1, NULL) == 1);
	CHECK_STR(answer.basis, "exact");
	CHECK_U64(answer.ways, 12);
	CHECK_NEAR(answer.misses, 4 * 13 * 10 + 4 * 12, 0);
	CHECK_NEAR(answer.capacity, 900, 0);
	CHECK_NEAR(answer.conflict, 4 * 13 * 10 + 4 * 12 - 1000, 0);
	CHECK_NEAR(answer.writebacks, 0, 0);

	CHECK(loci_engine_ask(engine, "L1=6K/12,L2=8K", 0, both, 2, NULL) == 2);
	CHECK_NEAR(both[0].hits, 1000 - (4 * 13 * 10 + 4 * 12), 0);
	CHECK_NEAR(both[1].hits, 4 * 13 * 10 + 4 * 12 - 100, 0); /* of what reaches it */

	/* 9 sets are no power of two */
	CHECK(loci_engine_ask(engine, "L1=6912/12", 0, &answer, 1, NULL) == 1);
	CHECK_STR(answer.basis, "binomial model");
	CHECK(answer.error_points > 0);
	loci_engine_free(engine);
}

static void test_flags(void)
{
	struct loci_engine *engine = sweep(100, 10, 0);
	struct loci_answer answer;
	struct loci_error error;

	CHECK(loci_engine_ask(engine, "L1=4K", LOCI_ASK_FROM_TIME, &answer, 1, &error) == 1);
	CHECK_STR(answer.basis, "StatStack");
	CHECK_NEAR(answer.misses, 1000, 0.5); /* exact on loops */
	CHECK_NEAR(answer.writebacks, -1, 0);
	CHECK(loci_engine_ask(engine, "L1=4K", LOCI_ASK_RANDOM, &answer, 1, &error) == 1);
	CHECK_STR(answer.basis, "StatCache");
	CHECK(answer.misses > 100 && answer.misses < 1000);
	CHECK(loci_engine_ask(engine, "L1=4K", 64, &answer, 1, &error) == -EINVAL);
	CHECK(strstr(error.text, "0x40") != NULL);
	loci_engine_free(engine);
}

static void test_errors(void)
{
	struct loci_engine *engine = NULL;
	struct loci_file *file = NULL;
	struct loci_answer answer[2];
	struct loci_error error;

	CHECK(loci_engine_new(48, 0, &engine, &error) == -EINVAL);
	CHECK(strstr(error.text, "power of two") != NULL);
	CHECK(loci_engine_new(4 << 20, 0, &engine, NULL) == -EINVAL);
	CHECK(engine == NULL);

	engine = sweep(10, 2, 0);
	CHECK(loci_engine_ask(engine, "L1=4K,L2=8K", 0, answer, 1, &error) == -ENOSPC);
	CHECK(strstr(error.text, "2 levels") != NULL);
	CHECK(loci_engine_ask(engine, "nonsense=", 0, answer, 2, &error) < 0);
	CHECK(error.text[0] != '\0');
	CHECK(loci_engine_ask(engine, "L1=4K@32", 0, answer, 2, &error) == -EINVAL);
	CHECK(strstr(error.text, "32") != NULL);
	CHECK(loci_engine_ask(engine, "L1=4K", 0, answer, 2, &error) == 1);
	CHECK_STR(error.text, "");
	loci_engine_free(engine);
	loci_engine_free(NULL);

	CHECK(loci_file_open("no/such.loci", &file, &error) < 0);
	CHECK(strstr(error.text, "no/such.loci") != NULL);
	CHECK(file == NULL);
	loci_file_close(NULL);
}

/* A batch is its touches one by one, however it is cut. */
static void test_batches(void)
{
	struct loci_engine *whole, *apart;
	struct loci_answer a, b;
	static uint64_t address[10000];
	static uint8_t is_write[10000];
	uint64_t state = 1;

	for (size_t i = 0; i < 10000; i++) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		address[i] = state >> 44;
		is_write[i] = state >> 63;
	}
	CHECK(loci_engine_new(64, 0, &whole, NULL) == 0);
	CHECK(loci_engine_new(64, 0, &apart, NULL) == 0);
	CHECK(loci_engine_touch(whole, address, is_write, 10000, NULL) == 0);
	for (size_t i = 0; i < 10000; i += 777)
		CHECK(loci_engine_touch(apart, address + i, is_write + i,
			      10000 - i < 777 ? 10000 - i : 777, NULL) == 0);
	CHECK(loci_engine_ask(whole, "L1=32K/8", 0, &a, 1, NULL) == 1);
	CHECK(loci_engine_ask(apart, "L1=32K/8", 0, &b, 1, NULL) == 1);
	CHECK(a.misses > 0 && a.misses < a.accesses);
	CHECK_NEAR(a.misses, b.misses, 0);
	CHECK_NEAR(a.writebacks, b.writebacks, 0);
	loci_engine_free(whole);
	loci_engine_free(apart);
}

int main(void)
{
	CHECK(loci_version()[0] != '\0');
	test_sweep();
	test_sets();
	test_flags();
	test_errors();
	test_batches();
	return check_status();
}
