/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which vector instructions the engines use. Variants of a kernel agree bit for bit; the scalar one
 * is always there. */
#ifndef LOCI_ENGINE_ISA_H
#define LOCI_ENGINE_ISA_H

enum loci_isa {
	LOCI_ISA_BEST, /* the best this machine has; LOCI_ISA=scalar|avx2|avx512 in the environment
			  caps it */
	LOCI_ISA_SCALAR,
	LOCI_ISA_AVX2,
	LOCI_ISA_AVX512, /* F, BW, VL, DQ, VBMI, VPOPCNTDQ */
};

/* Resolves BEST, and lowers what the machine lacks. */
enum loci_isa loci_isa_resolve(enum loci_isa wanted);
const char *loci_isa_name(enum loci_isa isa);

#endif
