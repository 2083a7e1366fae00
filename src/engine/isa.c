// SPDX-License-Identifier: GPL-2.0-or-later
#include "engine/isa.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[] = {
	[LOCI_ISA_BEST] = "best",
	[LOCI_ISA_SCALAR] = "scalar",
	[LOCI_ISA_AVX2] = "avx2",
	[LOCI_ISA_AVX512] = "avx512",
};

const char *loci_isa_name(enum loci_isa isa)
{
	return names[isa];
}

static enum loci_isa machine_has(void)
{
#if defined(__x86_64__)
	if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi2") ||
		!__builtin_cpu_supports("popcnt"))
		return LOCI_ISA_SCALAR;
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
		__builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
		__builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vpopcntdq"))
		return LOCI_ISA_AVX512;
	return LOCI_ISA_AVX2;
#else
	return LOCI_ISA_SCALAR;
#endif
}

enum loci_isa loci_isa_resolve(enum loci_isa wanted)
{
	enum loci_isa has = machine_has();
	const char *cap = getenv("LOCI_ISA");

	if (wanted == LOCI_ISA_BEST) {
		wanted = has;
		for (enum loci_isa isa = LOCI_ISA_SCALAR; cap && isa < has; isa++)
			if (!strcmp(cap, names[isa]))
				wanted = isa;
	}
	return wanted < has ? wanted : has;
}
