// SPDX-License-Identifier: GPL-2.0-or-later
/* Named machines. Sizes, ways and lines are those of the product named; other products of a family
 * have other last levels.
 *
 * Latencies are load-to-use cycles at the core's clock, of the simplest addressing mode. Each entry
 * says what its figures rest on:
 *
 * - guide: the vendor's manual or disclosure, in a few places as another publication quotes it;
 * - reported: the caches as the processor describes them (CPUID, CCSIDR, sysfs), published;
 * - measured: a published pointer chase; nanoseconds are multiplied by the clock given.
 *
 * 0 is unknown: nothing was found that supports a figure. Memory depends on the board as much as on
 * the processor. Prefetchers, which hide much of these latencies, are not modelled. */
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
		/* guide: geometry, 5; quotations of the guide put L2 between 40 and 46 */
		.name = "a64fx",
		.description = "Fujitsu A64FX, one core memory group",
		.level = { CACHE("L1", 64 K, 4, 256, 5), SOME("L2", 8 M, 16, 256, 42, 12) },
		.n_levels = 2,
	},
	{
		/* guide: geometry, as the vendor's Linux patches had it; measured (Chips and
		 * Cheese): 5, 15, and L3 almost 20 more than Zen 3 and Zen 4 */
		.name = "alder-lake-p",
		.description = "Intel Core i9-12900K, performance core",
		.level = { CACHE("L1", 48 K, 12, 64, 5), CACHE("L2", 1280 K, 10, 64, 15),
			SHARED("L3", 30 M, 12, 64, 68) },
		.n_levels = 3,
	},
	{
		/* reported: geometry; measured (7-cpu.com): 3, 18, 18 cycles + 91 ns at 3.2 GHz;
		 * the system-level cache, smaller than L2, is left out */
		.name = "apple-m1",
		.description = "Apple M1, performance core",
		.level = { CACHE("L1", 128 K, 8, 64, 3), SOME("L2", 12 M, 12, 128, 18, 4) },
		.n_levels = 2,
		.memory_cycles = 309,
	},
	{
		/* reported: ways, of an E5-2650L v4; measured (7-cpu.com): 4, 12, 65, 65 cycles +
		 * 75 ns at 3.6 GHz; AnandTech, with LMbench, has L3 at 50 and memory at 95 ns */
		.name = "broadwell-ep",
		.description = "Intel Xeon E5-2699 v4",
		.level = { CACHE("L1", 32 K, 8, 64, 4), CACHE("L2", 256 K, 8, 64, 12),
			SHARED("L3", 55 M, 20, 64, 65) },
		.n_levels = 3,
		.memory_cycles = 335,
	},
	{
		/* guide: geometry; 4 is LLVM's scheduling model; the rest depends on the board */
		.name = "cortex-a72",
		.description = "Arm Cortex-A72 (Broadcom BCM2711)",
		.level = { CACHE("L1", 32 K, 2, 64, 4), SHARED("L2", 1 M, 16, 64, 0) },
		.n_levels = 2,
	},
	{
		/* reported: geometry; measured (7-cpu.com): 4, 12, 36, 36 cycles + 57 ns at
		 * 3.4 GHz */
		.name = "haswell",
		.description = "Intel Core i7-4770",
		.level = { CACHE("L1", 32 K, 8, 64, 4), CACHE("L2", 256 K, 8, 64, 12),
			SHARED("L3", 8 M, 16, 64, 36) },
		.n_levels = 3,
		.memory_cycles = 230,
	},
	{
		/* reported: ways, of a part with 48M of L3; measured (Chips and Cheese): 14, and L3
		 * 24 to 28 more than the 47 of Zen 3; 5 is LLVM's scheduling model */
		.name = "icelake-sp",
		.description = "Intel Xeon Platinum 8380",
		.level = { CACHE("L1", 48 K, 12, 64, 5), CACHE("L2", 1280 K, 20, 64, 14),
			SHARED("L3", 60 M, 12, 64, 73) },
		.n_levels = 3,
	},
	{
		/* guide: geometry, 4, 9 to 11; the cache in the mesh is left out, for it differs
		 * from product to product and its ways were found of none */
		.name = "neoverse-n1",
		.description = "Arm Neoverse N1 with 1M of L2, without its system-level cache",
		.level = { CACHE("L1", 64 K, 4, 64, 4), CACHE("L2", 1 M, 8, 64, 11) },
		.n_levels = 2,
	},
	{
		/* reported: geometry; measured (AnandTech, LMbench): 3, 13, 27 within the core's
		 * own L3 region, 90 ns at 3.4 GHz */
		.name = "power8",
		.description = "IBM POWER8, one core's L3 region",
		.level = { CACHE("L1", 64 K, 8, 128, 3), CACHE("L2", 512 K, 8, 128, 13),
			CACHE("L3", 8 M, 8, 128, 27) },
		.n_levels = 3,
		.memory_cycles = 306,
	},
	{
		/* reported: ways, of a Xeon Max 9460; measured (Chips and Cheese): 16, 125, 107 ns
		 * at 3.8 GHz (DDR5); 5 is that of the same core in alder-lake-p */
		.name = "sapphire-rapids",
		.description = "Intel Xeon Platinum 8480+",
		.level = { CACHE("L1", 48 K, 12, 64, 5), CACHE("L2", 2 M, 16, 64, 16),
			SHARED("L3", 105 M, 15, 64, 125) },
		.n_levels = 3,
		.memory_cycles = 407,
	},
	{
		/* measured (7-cpu.com, with the geometry): 4, 12, 42, 42 cycles + 51 ns at 4 GHz */
		.name = "skylake",
		.description = "Intel Core i7-6700",
		.level = { CACHE("L1", 32 K, 8, 64, 4), CACHE("L2", 256 K, 4, 64, 12),
			SHARED("L3", 8 M, 16, 64, 42) },
		.n_levels = 3,
		.memory_cycles = 246,
	},
	{
		/* reported: ways, of a Gold 6140; guide: 4, 14, 50 to 70; measured: 68 to 77
		 * (AnandTech), 80.7 ns (Intel's Memory Latency Checker) at 3.2 GHz */
		.name = "skylake-sp",
		.description = "Intel Xeon Platinum 8180",
		.level = { CACHE("L1", 32 K, 8, 64, 4), CACHE("L2", 1 M, 16, 64, 14),
			SHARED("L3", 39424 K, 11, 64, 70) },
		.n_levels = 3,
		.memory_cycles = 258,
	},
	{
		/* guide: geometry, 4, 12, 39; measured (Chips and Cheese): 72.76 ns at 4.7 GHz */
		.name = "zen2",
		.description = "AMD Zen 2 (Ryzen 9 3950X), one core complex",
		.level = { CACHE("L1", 32 K, 8, 64, 4), CACHE("L2", 512 K, 8, 64, 12),
			SOME("L3", 16 M, 16, 64, 39, 8) },
		.n_levels = 3,
		.memory_cycles = 342,
	},
	{
		/* reported: geometry; measured: 4, 12, 47 (7-cpu.com and, but for the first, Chips
		 * and Cheese), 112.34 ns at 3.3 GHz (Chips and Cheese) */
		.name = "zen3",
		.description = "AMD Zen 3 (EPYC 7763), one core complex",
		.level = { CACHE("L1", 32 K, 8, 64, 4), CACHE("L2", 512 K, 8, 64, 12),
			SOME("L3", 32 M, 16, 64, 47, 16) },
		.n_levels = 3,
		.memory_cycles = 371,
	},
	{
		/* reported: geometry, of an EPYC 9654; guide: 4, 14, 50; measured (Chips and
		 * Cheese): 73.35 ns at 5.7 GHz (DDR5-6000) */
		.name = "zen4",
		.description = "AMD Zen 4 (Ryzen 9 7950X), one core complex",
		.level = { CACHE("L1", 32 K, 8, 64, 4), CACHE("L2", 1 M, 8, 64, 14),
			SOME("L3", 32 M, 16, 64, 50, 16) },
		.n_levels = 3,
		.memory_cycles = 418,
	},
	{ .n_levels = 0 },
};
