/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Random numbers for test programs, the same in every run (Marsaglia's xorshift). */
#ifndef LOCI_TESTS_RND_H
#define LOCI_TESTS_RND_H

#include <stdint.h>

static uint64_t random_state = 88172645463325252u;

static inline uint64_t rnd(uint64_t below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (random_state >> 11) % below;
}

#endif
