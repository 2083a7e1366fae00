// SPDX-License-Identifier: BSD-2-Clause
/* What holds for the whole process, in a ring of its own. */
#include "collect/runtime/runtime.h"
#include "stream/ring_x86_64.h"

#include <string.h>

bool rt_is_this_process(void)
{
	return loci_syscall3(LOCI_SYS_GETPID, 0, 0, 0) == rt.pid;
}

static uint64_t *at; /* of what is being written */

uint64_t *rt_process_begin(enum loci_marker kind, uint64_t payload, unsigned n_raw)
{
	at = loci_ring_reserve(&rt.ring, n_raw + 1);
	*at = loci_mark_word(kind, n_raw, payload);
	return at + 1;
}

void rt_process_commit(void)
{
	loci_ring_commit(&rt.ring, at + 1 + loci_word_n_raw(*at));
	if (!rt.ring.shared && !rt.ended)
		rt_go_off();
}

void rt_process_mark(enum loci_marker kind, uint64_t payload, unsigned n_raw, const uint64_t *raw)
{
	uint64_t *to = rt_process_begin(kind, payload, n_raw);

	for (unsigned i = 0; i < n_raw; i++)
		to[i] = raw[i];
	rt_process_commit();
}

uint64_t rt_process_string(const char *text)
{
	uint64_t id = ++rt.n_strings;
	size_t bytes = strlen(text) + 1;

	for (size_t done = 0, n; done < bytes; done += n) {
		unsigned n_raw = LOCI_RAW_MAX;
		uint64_t *raw;

		if (bytes - done < n_raw * sizeof(*raw))
			n_raw = (unsigned)((bytes - done + 7) / 8);
		n = bytes - done < n_raw * sizeof(*raw) ? bytes - done : n_raw * sizeof(*raw);
		raw = rt_process_begin(LOCI_MARK_STRING, id, n_raw);
		raw[n_raw - 1] = 0;
		memcpy(raw, text + done, n);
		rt_process_commit();
	}
	return id;
}
