// SPDX-License-Identifier: BSD-2-Clause
#include "collect/runtime/watch_far.h"
#include "collect/runtime/runtime.h"

#define SITES    1024 /* a power of two */
#define SHORTEST 12   /* powers of two of references .. */
#define LONGEST  26
#define LENGTHS  (LONGEST - SHORTEST)
#define ENOUGH   8  /* reuses of a length */
#define PART     32 /* or this part of those that were met */
#define TRIES    4  /* for one of them: a site may seldom have them */

struct length {
	uint32_t most; /* references until a reuse that was met; 0: none was */
	uint32_t met, tries, seen;
};

struct site {
	uint64_t site; /* 0: free */
	struct length length[LENGTHS];
};

static struct site sites[SITES];
static bool is_used;

void rt_far_begin(void)
{
	for (unsigned i = 0; is_used && i < SITES; i++)
		sites[i] = (struct site){ 0 };
	is_used = false;
}

/* NULL: there is none, and no room. */
static struct site *find(uint64_t site)
{
	uint64_t at = site * UINT64_C(0x9e3779b97f4a7c15) >> 32;

	for (unsigned i = 0; i < 16; i++) {
		struct site *found = &sites[(at + i) % SITES];

		if (found->site == site || !found->site)
			return found;
	}
	return NULL;
}

/* NULL: it is not followed for so long. */
static struct length *length_of(struct site *site, uint64_t refs)
{
	unsigned log2 = 63 - (unsigned)__builtin_clzll(refs | 1);

	return log2 >= SHORTEST && log2 < LONGEST ? &site->length[log2 - SHORTEST] : NULL;
}

void rt_far_met(uint64_t site, uint64_t refs)
{
	struct site *found = find(site);
	struct length *length = found ? length_of(found, refs) : NULL;

	if (!length)
		return;
	found->site = site;
	is_used = true;
	length->met++;
	if (length->most < refs)
		length->most = (uint32_t)refs;
}

void rt_far_seen(uint64_t site, uint64_t refs)
{
	struct site *found = find(site);
	struct length *length = found && found->site ? length_of(found, refs) : NULL;

	if (length)
		length->seen++;
}

/* There may be as many ways to come to a reuse as there are reuses: where more were met, more are
 * to be seen. */
static bool is_wanted(const struct length *length)
{
	uint32_t enough = length->met / PART > ENOUGH ? length->met / PART : ENOUGH;

	return length->most && length->seen < enough && length->tries < TRIES * enough;
}

uint64_t rt_far_refs(const struct rt_thread *thread, uint64_t site)
{
	struct site *found = find(site);
	struct length *chosen = NULL;
	uint64_t refs;

	for (unsigned i = 0; found && found->site && i < LENGTHS; i++) {
		struct length *length = &found->length[i];

		if (is_wanted(length) && (!chosen || length->tries < chosen->tries))
			chosen = length;
	}
	if (!chosen || !rt.control->watching.burst_refs)
		return 0;
	refs = chosen->most + chosen->most / 8;
	if (!rt_pace_may_follow(thread, refs))
		return 0;
	chosen->tries++;
	return refs;
}
