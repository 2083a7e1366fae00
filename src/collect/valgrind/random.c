// SPDX-License-Identifier: GPL-2.0-or-later
#include "collect/valgrind/random.h"

#define AUX_END    0
#define AUX_RANDOM 25

/* The first becomes the canary's zero; none else is, as in most draws. */
static const UChar fixed[16] = { 0x10, 0xc1, 0x5e, 0xed, 0x9b, 0x27, 0x84, 0x3d, 0x61, 0xf2, 0x4a,
	0xb8, 0x76, 0x0c, 0xd5, 0xe3 };

static Bool writable(Addr start, SizeT bytes)
{
	return VG_(am_is_valid_for_client)(start, bytes, VKI_PROT_READ | VKI_PROT_WRITE);
}

/* argc, the arguments and 0, the environment and 0, then pairs of type and value. */
void random_fix(Addr stack)
{
	const UWord *at = (const UWord *)stack;

	if (!writable(stack, sizeof(*at)))
		return;
	at += 1 + at[0] + 1;
	while (writable((Addr)at, sizeof(*at)) && *at)
		at++;
	for (at++; writable((Addr)at, 2 * sizeof(*at)) && at[0] != AUX_END; at += 2)
		if (at[0] == AUX_RANDOM && writable(at[1], sizeof(fixed)))
			VG_(memcpy)((void *)at[1], fixed, sizeof(fixed));
}
