// SPDX-License-Identifier: GPL-2.0-or-later
/* What is kept of samples comes back as it was, in its order. */
#include "analyse/watch_log.h"

#include "check.h"

#include <errno.h>
#include <string.h>

#define EVENTS  5000
#define KEPT    10
#define REFUSED 777

struct told {
	struct loci_event event;
	uint64_t raw[UINT8_MAX];
};

static uint64_t random_state;

/* Of any length. */
static uint64_t any(void)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return random_state * 0x9e3779b97f4a7c15u >> (random_state >> 58);
}

/* The same ones each time. */
static void tell(struct told *told, unsigned i)
{
	static const unsigned kind[] = { LOCI_MARK_SAMPLE_OPEN, LOCI_MARK_SAMPLE_EVICT,
		LOCI_MARK_SAMPLE_FIRE, LOCI_MARK_SAMPLE_LOT };

	random_state = i;
	told->event = (struct loci_event){ .kind = kind[any() % 4],
		.payload = any() & LOCI_PAYLOAD_MASK,
		.raw = told->raw,
		.n_raw = i % 256,
		.thread = (uint32_t)any() };
	for (unsigned k = 0; k < told->event.n_raw; k++)
		told->raw[k] = k == 3 ? UINT64_MAX - any() : any();
}

struct heard {
	unsigned n, refuses;
};

static int hear(void *data, const struct loci_event *event)
{
	struct heard *heard = data;
	struct told told;
	unsigned n;

	tell(&told, heard->n);
	n = event->kind == LOCI_MARK_SAMPLE_FIRE && told.event.n_raw > KEPT ? KEPT
									    : told.event.n_raw;
	CHECK_U64(event->kind, told.event.kind);
	CHECK_U64(event->payload, told.event.payload);
	CHECK_U64(event->n_raw, told.event.n_raw);
	CHECK_U64(event->thread, told.event.thread);
	CHECK(memcmp(event->raw, told.raw, n * sizeof(*told.raw)) == 0);
	heard->n++;
	return heard->n == heard->refuses ? -EINVAL : 0;
}

static void fill(struct loci_watch_log *log)
{
	for (unsigned i = 0; i < EVENTS; i++) {
		struct told told;

		tell(&told, i);
		CHECK(loci_watch_log_add(log, &told.event,
			      told.event.kind == LOCI_MARK_SAMPLE_FIRE ? KEPT : UINT8_MAX) == 0);
	}
}

int main(void)
{
	static struct loci_watch_log log;
	struct heard heard = { 0 };

	CHECK(loci_watch_log_replay(&log, hear, &heard) == 0);
	CHECK_U64(heard.n, 0);
	for (unsigned round = 0; round < 2; round++) { /* it is empty then */
		heard = (struct heard){ 0 };
		fill(&log);
		CHECK(loci_watch_log_replay(&log, hear, &heard) == 0);
		CHECK_U64(heard.n, EVENTS);
	}
	heard = (struct heard){ .refuses = REFUSED };
	fill(&log);
	CHECK(loci_watch_log_replay(&log, hear, &heard) == -EINVAL);
	CHECK_U64(heard.n, REFUSED);
	heard = (struct heard){ 0 };
	CHECK(loci_watch_log_replay(&log, hear, &heard) == 0);
	CHECK_U64(heard.n, 0);
	fill(&log);
	loci_watch_log_fini(&log);
	return check_status();
}
