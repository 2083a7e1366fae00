// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/watch_log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	PIECE_BYTES = 16384,
	NUMBER_BYTES = 10,   /* of 64 bits, at most */
	MOST_RAW = UINT8_MAX /* of a marker */
};

struct loci_watch_piece {
	struct loci_watch_piece *next;
	size_t n;
	uint8_t byte[PIECE_BYTES - sizeof(struct loci_watch_piece *) - sizeof(size_t)];
};
_Static_assert(sizeof(((struct loci_watch_piece *)0)->byte) >= (MOST_RAW + 5) * NUMBER_BYTES,
	"there is room for the longest");

void loci_watch_log_fini(struct loci_watch_log *log)
{
	while (log->first) {
		struct loci_watch_piece *piece = log->first;

		log->first = piece->next;
		free(piece);
	}
	log->last = NULL;
	memset(log->before, 0, sizeof(log->before));
}

static uint8_t *put(uint8_t *at, uint64_t number)
{
	for (; number > 0x7f; number >>= 7)
		*at++ = (uint8_t)(number | 0x80);
	*at++ = (uint8_t)number;
	return at;
}

static const uint8_t *get(const uint8_t *at, uint64_t *ret)
{
	uint64_t number = *at & 0x7f;

	for (unsigned shift = 7; *at++ & 0x80; shift += 7)
		number |= (uint64_t)(*at & 0x7f) << shift;
	*ret = number;
	return at;
}

/* Small differences are small numbers, whichever way. */
static uint8_t *put_word(uint8_t *at, uint64_t word, uint64_t *before)
{
	uint64_t more = word - *before;

	*before = word;
	return put(at, more << 1 ^ (uint64_t)((int64_t)more >> 63));
}

static const uint8_t *get_word(const uint8_t *at, uint64_t *before)
{
	uint64_t number;

	at = get(at, &number);
	*before += number >> 1 ^ -(number & 1);
	return at;
}

static unsigned place_of(unsigned kind)
{
	return kind - LOCI_MARK_SAMPLE_OPEN;
}

/* With room for an event. */
static struct loci_watch_piece *piece_of(struct loci_watch_log *log, size_t bytes)
{
	struct loci_watch_piece *piece = log->last;

	if (piece && piece->n + bytes <= sizeof(piece->byte))
		return piece;
	piece = malloc(sizeof(*piece));
	if (!piece)
		return NULL;
	piece->next = NULL;
	piece->n = 0;
	*(log->last ? &log->last->next : &log->first) = piece;
	log->last = piece;
	return piece;
}

int loci_watch_log_add(struct loci_watch_log *log, const struct loci_event *event, unsigned n_raw)
{
	unsigned n = event->n_raw < n_raw ? event->n_raw : n_raw;
	struct loci_watch_piece *piece = piece_of(log, (n + 5) * NUMBER_BYTES);
	uint64_t *before = log->before[place_of(event->kind)];
	uint8_t *at;

	if (!piece)
		return -ENOMEM;
	at = put(piece->byte + piece->n, place_of(event->kind));
	at = put(at, event->n_raw);
	at = put(at, n);
	at = put(at, event->thread);
	at = put_word(at, event->payload, before);
	for (unsigned i = 0; i < n; i++)
		at = put_word(at, event->raw[i], before + 1 + i);
	piece->n = (size_t)(at - piece->byte);
	return 0;
}

static const uint8_t *take(struct loci_watch_log *log, const uint8_t *at, struct loci_event *ret)
{
	uint64_t place, n_raw, n, thread, *before;

	at = get(at, &place);
	at = get(at, &n_raw);
	at = get(at, &n);
	at = get(at, &thread);
	before = log->before[place];
	at = get_word(at, before);
	for (unsigned i = 0; i < n; i++)
		at = get_word(at, before + 1 + i);
	*ret = (struct loci_event){ .kind = LOCI_MARK_SAMPLE_OPEN + (unsigned)place,
		.payload = before[0],
		.raw = before + 1,
		.n_raw = (unsigned)n_raw,
		.thread = (uint32_t)thread };
	return at;
}

int loci_watch_log_replay(struct loci_watch_log *log,
	int (*hear)(void *data, const struct loci_event *event), void *data)
{
	int r = 0;

	memset(log->before, 0, sizeof(log->before));
	while (log->first && r == 0) {
		struct loci_watch_piece *piece = log->first;
		const uint8_t *at = piece->byte, *end = at + piece->n;
		struct loci_event event;

		while (at < end && r == 0) {
			at = take(log, at, &event);
			r = hear(data, &event);
		}
		log->first = piece->next;
		free(piece);
	}
	loci_watch_log_fini(log);
	return r;
}
