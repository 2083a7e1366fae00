// SPDX-License-Identifier: GPL-2.0-or-later
/* Named machines. Sizes, ways and lines are those of the product named; other products of a family
 * have other last levels.
 *
 * Latencies are load-to-use cycles at the core's clock. "guide" is the vendor's figure as commonly
 * quoted, "measured" a published pointer-chasing measurement, rounded and, where it was given in
 * nanoseconds, multiplied by a typical clock. Looked up for this table: broadwell-ep and power8
 * (AnandTech, LMbench), skylake-sp but for its memory (AnandTech), sapphire-rapids L2 and L3. The
 * rest is quoted without looking it up again and wants checking before anything hangs on it. 0 is
 * unknown. Prefetchers, which hide much of these latencies, are not modelled. */
#include "model/cache.h"

#define K << 10
#define M << 20
#define CACHE(NAME, SIZE, WAYS, LINE, CYCLES)                                               \
	{                                                                                   \
		.name = (NAME), .size_bytes = (SIZE), .ways = (WAYS), .line_bytes = (LINE), \
		.latency_cycles = (CYCLES), .share = LOCI_SHARE_PRIVATE                     \
	}
#define SHARED(NAME, SIZE, WAYS, LINE, CYCLES)                                              \
	{                                                                                   \
		.name = (NAME), .size_bytes = (SIZE), .ways = (WAYS), .line_bytes = (LINE), \
		.latency_cycles = (CYCLES), .share = LOCI_SHARE_ALL                         \
	}
#define SOME(NAME, SIZE, WAYS, LINE, CYCLES, THREADS)                                       \
	{                                                                                   \
		.name = (NAME), .size_bytes = (SIZE), .ways = (WAYS), .line_bytes = (LINE), \
		.latency_cycles = (CYCLES), .share = LOCI_SHARE_SOME, .share_n = (THREADS)  \
	}

const struct loci_hierarchy loci_machines[] = {
	{
		/* microarchitecture manual: 5, 37 to 47; memory measured */
		.name = "a64fx",
		.description = "Fujitsu A64FX, one core memory group",
		.level = { CACHE("L1", 64 K, 4, 256, 5), SOME("L2", 8 M, 16, 256, 42, 12) },
		.n_levels = 2,
		.memory_cycles = 260,
	},
	{
		/* guide: 5, 15; last level and memory measured (DDR5) */
		.name = "alder-lake-p",
		.description = "Intel Core i9-12900K, performance core",
		.level = { CACHE("L1", 48 K, 12, 64, 5), CACHE("L2", 1280 K, 10, 64, 15),
			SHARED("L3", 30 M, 12, 64, 68) },
		.n_levels = 3,
		.memory_cycles = 450,
	},
	{
		/* measured; the system-level cache, smaller than L2, is left out */
		.name = "apple-m1",
		.description = "Apple M1, performance core",
		.level = { CACHE("L1", 128 K, 8, 64, 3), SOME("L2", 12 M, 12, 128, 18, 4) },
		.n_levels = 2,
		.memory_cycles = 310,
	},
	{
		/* measured with LMbench: 4, 12 to 15, 50, 95 ns */
		.name = "broadwell-ep",
		.description = "Intel Xeon E5-2699 v4",
		.level = { CACHE("L1", 32 K, 8, 64, 4), CACHE("L2", 256 K, 8, 64, 12),
			SHARED("L3", 55 M, 20, 64, 50) },
		.n_levels = 3,
		.memory_cycles = 270,
	},
	{
		/* optimisation guide: 4; the rest depends on the board */
		.name = "cortex-a72",
		.description = "Arm Cortex-A72 (Broadcom BCM2711)",
		.level = { CACHE("L1", 32 K, 2, 64, 4), SHARED("L2", 1 M, 16, 64, 0) },
		.n_levels = 2,
	},
	{
		/* guide: 4, 12; measured: 36, and 36 cycles + 57 ns */
		.name = "haswell",
		.description = "Intel Core i7-4770",
		.level = { CACHE("L1", 32 K, 8, 64, 4), CACHE("L2", 256 K, 8, 64, 12),
			SHARED("L3", 8 M, 16, 64, 36) },
		.n_levels = 3,
		.memory_cycles = 230,
	},
	{
		/* guide: 5, 14; last level and memory measured */
		.name = "icelake-sp",
		.description = "Intel Xeon Platinum 8380",
		.level = { CACHE("L1", 48 K, 12, 64, 5), CACHE("L2", 1280 K, 20, 64, 14),
			SHARED("L3", 60 M, 12, 64, 70) },
		.n_levels = 3,
		.memory_cycles = 280,
	},
	{
		/* technical reference manual: 4, 9 to 11; the rest measured */
		.name = "neoverse-n1",
		.description = "Arm Neoverse N1 (AWS Graviton2)",
		.level = { CACHE("L1", 64 K, 4, 64, 4), CACHE("L2", 1 M, 8, 64, 11),
			SHARED("L3", 32 M, 16, 64, 75) },
		.n_levels = 3,
		.memory_cycles = 240,
	},
	{
		/* technical reference manual: 4, 10; the rest measured (DDR5) */
		.name = "neoverse-v1",
		.description = "Arm Neoverse V1 (AWS Graviton3)",
		.level = { CACHE("L1", 64 K, 4, 64, 4), CACHE("L2", 1 M, 8, 64, 10),
			SHARED("L3", 32 M, 16, 64, 80) },
		.n_levels = 3,
		.memory_cycles = 310,
	},
	{
		/* measured with LMbench: 3, 13, 27 within the core's own L3 region, 90 ns */
		.name = "power8",
		.description = "IBM POWER8, one core's L3 region",
		.level = { CACHE("L1", 64 K, 8, 128, 3), CACHE("L2", 512 K, 8, 128, 13),
			CACHE("L3", 8 M, 8, 128, 27) },
		.n_levels = 3,
		.memory_cycles = 310,
	},
	{
		/* guide: 5; measured: 16, 33 ns, memory (DDR5) */
		.name = "sapphire-rapids",
		.description = "Intel Xeon Platinum 8480+",
		.level = { CACHE("L1", 48 K, 12, 64, 5), CACHE("L2", 2 M, 16, 64, 16),
			SHARED("L3", 105 M, 15, 64, 125) },
		.n_levels = 3,
		.memory_cycles = 420,
	},
	{
		/* guide: 4, 12; measured: 42, and 42 cycles + 51 ns */
		.name = "skylake",
		.description = "Intel Core i7-6700",
		.level = { CACHE("L1", 32 K, 8, 64, 4), CACHE("L2", 256 K, 4, 64, 12),
			SHARED("L3", 8 M, 16, 64, 42) },
		.n_levels = 3,
		.memory_cycles = 240,
	},
	{
		/* guide: 4, 14, 50 to 70; measured: 68 to 77, memory */
		.name = "skylake-sp",
		.description = "Intel Xeon Platinum 8180",
		.level = { CACHE("L1", 32 K, 8, 64, 4), CACHE("L2", 1 M, 16, 64, 14),
			SHARED("L3", 39424 K, 11, 64, 70) },
		.n_levels = 3,
		.memory_cycles = 260,
	},
	{
		/* guide: 4, 12, 39; memory measured */
		.name = "zen2",
		.description = "AMD Zen 2 (Ryzen 7 3700X), one core complex",
		.level = { CACHE("L1", 32 K, 8, 64, 4), CACHE("L2", 512 K, 8, 64, 12),
			SOME("L3", 16 M, 16, 64, 39, 8) },
		.n_levels = 3,
		.memory_cycles = 320,
	},
	{
		/* guide: 4, 12, 46; memory measured */
		.name = "zen3",
		.description = "AMD Zen 3 (Ryzen 7 5800X), one core complex",
		.level = { CACHE("L1", 32 K, 8, 64, 4), CACHE("L2", 512 K, 8, 64, 12),
			SOME("L3", 32 M, 16, 64, 46, 16) },
		.n_levels = 3,
		.memory_cycles = 350,
	},
	{
		/* guide: 4, 14, 50; memory measured (DDR5) */
		.name = "zen4",
		.description = "AMD Zen 4 (Ryzen 7 7700X), one core complex",
		.level = { CACHE("L1", 32 K, 8, 64, 4), CACHE("L2", 1 M, 8, 64, 14),
			SOME("L3", 32 M, 16, 64, 50, 16) },
		.n_levels = 3,
		.memory_cycles = 400,
	},
	{ .n_levels = 0 },
};
