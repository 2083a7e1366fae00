// SPDX-License-Identifier: GPL-2.0-or-later
/* The decoder. fast() does what nearly all words are, BLOCK markers and addresses; step() does one
 * of anything, and finds the faults. */
#include "stream/decode_state.h"
#include "stream/repeat.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_PREFIX (loci_mark_word(LOCI_MARK_BLOCK, 0, 0) >> LOCI_PAYLOAD_BITS)
#define N_KINDS      128

/* One call of loci_decoder_next. */
struct batch {
	const uint64_t *words;
	size_t n_words, pos;
	struct loci_ref *refs;
	size_t n_refs, cap;
	struct loci_event *event;
};

int loci_decoder_new(struct loci_decoder **ret, struct loci_err *err)
{
	struct loci_decoder *decoder = calloc(1, sizeof(*decoder));

	if (!decoder)
		return loci_err_nomem(err);
	loci_definitions_init(&decoder->defs);
	if (loci_threads_init(&decoder->threads) < 0) {
		loci_decoder_free(decoder);
		return loci_err_nomem(err);
	}
	*ret = decoder;
	return 0;
}

void loci_decoder_free(struct loci_decoder *decoder)
{
	if (!decoder)
		return;
	loci_definitions_fini(&decoder->defs);
	loci_threads_fini(&decoder->threads);
	loci_strtab_fini(&decoder->strings);
	free(decoder);
}

static inline void put_ref(struct loci_ref *ref, uint64_t address, uint64_t size_bytes,
	const struct loci_ref_kind *kind, uint32_t definition, uint32_t thread)
{
	ref->address = address;
	ref->size_bytes = size_bytes;
	ref->definition = definition;
	ref->thread = thread;
	ref->flags = kind->flags;
	ref->op = kind->op;
}

/* Decodes BLOCK markers and addresses of plain references; stops before anything else. Branches on
 * what a word is beat conditional moves here (2.7 ns a reference against 3.4 to 4.3 on a gzip
 * trace): processors predict the pattern of blocks well. */
static void fast(struct loci_decoder *decoder, struct batch *b)
{
	struct loci_cursor *cursor = &decoder->threads.cursor;
	const struct loci_block *direct = decoder->defs.direct;
	const uint64_t n_direct = decoder->defs.n_direct;
	const struct loci_ref_kind *kinds = decoder->defs.kind;
	const uint32_t thread = decoder->threads.thread[decoder->threads.at].id;
	const uint64_t *p = b->words + b->pos, *end = b->words + b->n_words;
	struct loci_ref *out = b->refs + b->n_refs, *out_end = b->refs + b->cap;
	uint32_t first = cursor->first, last = cursor->last, next = cursor->next;
	uint64_t block = cursor->block;

	while (p < end && out < out_end) {
		const struct loci_ref_kind *kind;

		if (loci_word_is_marker(*p)) {
			uint64_t id = *p & LOCI_PAYLOAD_MASK;

			if (*p >> LOCI_PAYLOAD_BITS != BLOCK_PREFIX || id >= n_direct ||
				direct[id].n_refs == 0)
				break;
			block = id;
			next = first = direct[id].first;
			last = first + direct[id].n_refs;
			if (++p == end || loci_word_is_marker(*p))
				continue;
		}
		kind = &kinds[next];
		if (kind->n_words > 1)
			break;
		put_ref(out++, *p++, kind->size_bytes, kind, next, thread);
		if (++next == last)
			next = first;
	}
	b->pos = (size_t)(p - b->words);
	b->n_refs = (size_t)(out - b->refs);
	cursor->block = block;
	cursor->first = first;
	cursor->last = last;
	cursor->next = next;
}

/* The fewest raw words of each kind, and where they end up. */
enum role {
	EVENT = 0, /* handed out; kinds unknown to this version, too */
	IGNORED,
	BLOCK,
	WIDE,
	RESUME,
	DEFINITION,
	RUN,
	STRING,
	SWITCH,
	ENTER,
	LEAVE,
};

static const struct {
	uint8_t role, min_raw;
	bool thread, module; /* the payload is one of 32 bits */
} markers[N_KINDS] = {
	[LOCI_MARK_PAD] = { .role = IGNORED },
	[LOCI_MARK_BLOCK] = { .role = BLOCK },
	[LOCI_MARK_WIDE] = { .role = WIDE, .min_raw = 1 },
	[LOCI_MARK_RESUME] = { .role = RESUME, .min_raw = 1 },
	[LOCI_MARK_DEFINE] = { .role = DEFINITION, .min_raw = 2 },
	[LOCI_MARK_DEFINE_MORE] = { .role = DEFINITION },
	[LOCI_MARK_UNDEFINE] = { .role = DEFINITION },
	[LOCI_MARK_RUN] = { .role = RUN, .min_raw = 2 },
	[LOCI_MARK_STRING] = { .role = STRING },
	[LOCI_MARK_SWITCH] = { .role = SWITCH, .thread = true },
	[LOCI_MARK_THREAD_START] = { .min_raw = 4, .thread = true },
	[LOCI_MARK_THREAD_EXIT] = { .min_raw = 2, .thread = true },
	[LOCI_MARK_PROCESS] = { .min_raw = 3 },
	[LOCI_MARK_ALLOC] = { .min_raw = 3 },
	[LOCI_MARK_FREE] = { .min_raw = 2 },
	[LOCI_MARK_RESIZE] = { .min_raw = 4 },
	[LOCI_MARK_MAP] = { .min_raw = 5 },
	[LOCI_MARK_UNMAP] = { .min_raw = 3 },
	[LOCI_MARK_OBJECT] = { .min_raw = 3 },
	[LOCI_MARK_OBJECT_END] = { .min_raw = 2 },
	[LOCI_MARK_OBJECT_PART] = { .min_raw = 4 },
	[LOCI_MARK_MODULE_LOAD] = { .min_raw = 6, .module = true },
	[LOCI_MARK_MODULE_UNLOAD] = { .min_raw = 1, .module = true },
	[LOCI_MARK_SYNC] = { .min_raw = 2 },
	[LOCI_MARK_SIGNAL_ENTER] = { .role = ENTER },
	[LOCI_MARK_SIGNAL_LEAVE] = { .role = LEAVE },
	[LOCI_MARK_TIME] = { .min_raw = 1 },
	[LOCI_MARK_WINDOW_BEGIN] = { .min_raw = 1 },
	[LOCI_MARK_WINDOW_END] = { .min_raw = 1 },
	[LOCI_MARK_SAMPLE_OPEN] = { .min_raw = 6 },
	[LOCI_MARK_SAMPLE_EVICT] = { .min_raw = 2 },
	[LOCI_MARK_SAMPLE_FIRE] = { .min_raw = 6 },
	[LOCI_MARK_SAMPLE_LOT] = { .min_raw = 3 },
	[LOCI_MARK_WATCHED] = { .min_raw = 7 },
	[LOCI_MARK_COUNT] = { .min_raw = 1 },
	[LOCI_MARK_UNSEEN] = { .min_raw = 2 },
	[LOCI_MARK_PHASE] = { .min_raw = 1 },
	[LOCI_MARK_PAUSE] = { .min_raw = 1 },
	[LOCI_MARK_EXECUTED] = { .min_raw = 1 },
	[LOCI_MARK_MISTAKE] = { .min_raw = 1 },
};

/* An address or length, of 63 bits or WIDE. */
static int step_value(
	struct loci_decoder *decoder, struct batch *b, uint64_t value, struct loci_err *err)
{
	struct loci_cursor *cursor = &decoder->threads.cursor;
	const struct loci_ref_kind *kind;
	uint64_t size_bytes;

	if (!cursor->current)
		return loci_err_set(
			err, EBADMSG, "address 0x%" PRIx64 " where no block is current", value);
	if (cursor->first == cursor->last)
		return loci_err_set(err, EBADMSG,
			"address 0x%" PRIx64 " in block %" PRIu64 ", which has no references",
			value, cursor->block);
	kind = &decoder->defs.kind[cursor->next];
	if (kind->n_words == 2 && !cursor->half) {
		cursor->half = true;
		cursor->address = value;
		return 0;
	}
	size_bytes = cursor->half ? value : kind->size_bytes;
	put_ref(&b->refs[b->n_refs++], cursor->half ? cursor->address : value, size_bytes, kind,
		cursor->next, decoder->threads.thread[decoder->threads.at].id);
	cursor->half = false;
	if (++cursor->next == cursor->last)
		cursor->next = cursor->first;
	return 0;
}

static int check_event(unsigned kind, const uint64_t *raw, unsigned n_raw, struct loci_err *err)
{
	if (kind == LOCI_MARK_MODULE_LOAD && raw[5] > (n_raw - 6u) * sizeof(*raw))
		return loci_err_set(err, EBADMSG,
			"module load with a build-id of %" PRIu64 " bytes in %u words", raw[5],
			n_raw - 6);
	if (kind == LOCI_MARK_THREAD_START && raw[0] > UINT32_MAX)
		return loci_err_set(
			err, EBADMSG, "thread start with a parent's id of more than 32 bits");
	return 0;
}

static int start_block(struct loci_decoder *decoder, uint64_t id, struct loci_err *err)
{
	const struct loci_block *block = loci_definitions_find(&decoder->defs, id);

	if (!loci_block_is_defined(block))
		return loci_err_set(err, EBADMSG, "block %" PRIu64 " has no definition", id);
	loci_cursor_start(&decoder->threads.cursor, block, id);
	return 0;
}

static int define(
	struct loci_decoder *decoder, uint64_t word, const uint64_t *raw, struct loci_err *err)
{
	int r = loci_definitions_apply(&decoder->defs, word, raw, err);

	if (r > 0)
		loci_cursor_check(&decoder->threads.cursor, &decoder->defs);
	return r < 0 ? r : 0;
}

/* The references of a RUN, as many as there is room for. 1: there are more. */
static int expand(struct loci_decoder *decoder, struct batch *b, const struct loci_repeat *repeat)
{
	const struct loci_ref_kind *kinds = decoder->defs.kind + repeat->first;
	uint32_t thread = decoder->threads.thread[decoder->threads.at].id, i = decoder->run_refs;
	uint64_t time = decoder->run_times;

	for (; repeat->n_refs && time < repeat->times && b->n_refs < b->cap; b->n_refs++) {
		put_ref(&b->refs[b->n_refs], loci_repeat_address(repeat, i, time),
			kinds[i].size_bytes, &kinds[i], repeat->first + i, thread);
		if (++i == repeat->n_refs) {
			i = 0;
			time++;
		}
	}
	if (repeat->n_refs && time < repeat->times) {
		decoder->run_times = time;
		decoder->run_refs = i;
		return 1;
	}
	decoder->run_times = decoder->run_refs = 0;
	return 0;
}

/* A RUN, which the block is used up after; 1: it is not at its end. */
static int run_block(struct loci_decoder *decoder, struct batch *b, uint64_t marker,
	const uint64_t *raw, struct loci_err *err)
{
	struct loci_repeat repeat;
	int r = loci_repeat_read(&decoder->defs, marker, raw, &repeat, err);

	if (r == 0)
		r = start_block(decoder, loci_word_payload(marker), err);
	return r < 0 || decoder->keeps_runs ? r : expand(decoder, b, &repeat);
}

/* One marker, whose raw words are all there. 1: it is not done with yet. */
static int step_marker(struct loci_decoder *decoder, struct batch *b, uint64_t word,
	const uint64_t *raw, struct loci_err *err)
{
	struct loci_threads *threads = &decoder->threads;
	unsigned kind = loci_word_kind(word), n_raw = loci_word_n_raw(word);
	uint64_t payload = loci_word_payload(word);
	uint32_t thread = threads->thread[threads->at].id;
	int r = 0;

	if (n_raw < markers[kind].min_raw)
		return loci_err_set(err, EBADMSG,
			"marker of kind 0x%02x has %u raw words, expected %u", kind, n_raw,
			markers[kind].min_raw);
	if ((markers[kind].thread || markers[kind].module) && payload > UINT32_MAX)
		return loci_err_set(err, EBADMSG, "%s id %" PRIu64 " has more than 32 bits",
			markers[kind].thread ? "thread" : "module", payload);
	switch ((enum role)markers[kind].role) {
	case IGNORED:
		return 0;
	case BLOCK:
		r = start_block(decoder, payload, err);
		if (r < 0 || !decoder->tells_plain || threads->cursor.first != threads->cursor.last)
			return r;
		break;
	case WIDE:
		return step_value(decoder, b, raw[0], err);
	case RESUME:
		return loci_cursor_resume(&threads->cursor, &decoder->defs, word, raw, err);
	case DEFINITION:
		return define(decoder, word, raw, err);
	case RUN:
		r = run_block(decoder, b, word, raw, err);
		if (r != 0 || !decoder->keeps_runs)
			return r;
		break;
	case STRING:
		r = loci_strtab_add(
			&decoder->strings, payload, (const char *)raw, n_raw * sizeof(*raw));
		return r < 0 ? loci_err_nomem(err) : 0;
	case SWITCH:
		r = loci_threads_switch(threads, &decoder->defs, (uint32_t)payload);
		return r < 0 ? loci_err_nomem(err) : 0;
	case ENTER:
		r = loci_threads_enter(threads, payload);
		break;
	case LEAVE:
		loci_threads_leave(threads, &decoder->defs);
		break;
	case EVENT:
		break;
	}
	if (r < 0)
		return loci_err_nomem(err);
	r = check_event(kind, raw, n_raw, err);
	if (r == 0)
		*b->event = (struct loci_event){ .kind = kind,
			.payload = payload,
			.raw = raw,
			.n_raw = n_raw,
			.thread = thread };
	return r;
}

static int step(struct loci_decoder *decoder, struct batch *b, struct loci_err *err)
{
	uint64_t word = b->words[b->pos];
	unsigned n_raw;
	int r;

	if (!loci_word_is_marker(word)) {
		r = step_value(decoder, b, word, err);
		b->pos += r == 0;
		return r;
	}
	n_raw = loci_word_n_raw(word);
	if (n_raw >= b->n_words - b->pos)
		return loci_err_set(err, EBADMSG,
			"marker of kind 0x%02x with %u raw words is cut off after %zu",
			loci_word_kind(word), n_raw, b->n_words - b->pos - 1);
	r = step_marker(decoder, b, word, b->words + b->pos + 1, err);
	b->pos += r == 0 ? 1 + n_raw : 0;
	return r < 0 ? r : 0;
}

static bool plain(const struct loci_cursor *cursor)
{
	return cursor->first < cursor->last && !cursor->half;
}

int loci_decoder_next(struct loci_decoder *decoder, const uint64_t *words, size_t n_words,
	size_t *pos, struct loci_ref *refs, size_t cap, size_t *ret_refs,
	struct loci_event *ret_event, struct loci_err *err)
{
	struct batch b = { .words = words,
		.n_words = n_words,
		.pos = *pos,
		.refs = refs,
		.cap = cap,
		.event = ret_event };
	struct loci_err fault = { "" };
	int r = 0;

	*ret_event = (struct loci_event){ .kind = LOCI_MARK_PAD };
	while (r == 0 && b.pos < n_words && b.n_refs < cap && ret_event->kind == LOCI_MARK_PAD) {
		if (plain(&decoder->threads.cursor))
			fast(decoder, &b);
		if (b.pos < n_words && b.n_refs < cap)
			r = step(decoder, &b, &fault);
	}
	if (r < 0)
		loci_err_set(err, -r, "word %" PRIu64 " of the stream: %s",
			decoder->done + (b.pos - *pos), fault.text);
	decoder->done += b.pos - *pos;
	*pos = b.pos;
	*ret_refs = b.n_refs;
	return r;
}

void loci_decoder_tell_plain(struct loci_decoder *decoder)
{
	decoder->tells_plain = true;
}

void loci_decoder_keep_runs(struct loci_decoder *decoder)
{
	decoder->keeps_runs = true;
}

void loci_decoder_repeat(
	const struct loci_decoder *decoder, const struct loci_event *run, struct loci_repeat *ret)
{
	loci_repeat_take(loci_definitions_find(&decoder->defs, run->payload), run->raw, ret);
}

int loci_decoder_site(
	const struct loci_decoder *decoder, uint32_t definition, struct loci_ref_site *ret)
{
	const struct loci_definitions *defs = &decoder->defs;
	const struct loci_definition *head;

	if (definition >= defs->n_refs)
		return -ENOENT;
	head = &defs->definition[defs->origin[definition].definition];
	*ret = (struct loci_ref_site){ .block = head->id,
		.module = head->module,
		.ordinal = definition - head->first,
		.site = defs->origin[definition].site,
		.code_address = head->code_address,
		.block_flags = head->flags,
		.size_bytes = defs->kind[definition].size_bytes,
		.flags = defs->kind[definition].flags,
		.op = defs->kind[definition].op };
	return 0;
}

uint32_t loci_decoder_defined(const struct loci_decoder *decoder, uint64_t block)
{
	/* one less than nothing is UINT32_MAX */
	return loci_definitions_find(&decoder->defs, block)->definition - 1;
}

int loci_decoder_head(
	const struct loci_decoder *decoder, uint32_t number, struct loci_ref_site *ret)
{
	const struct loci_definition *head = &decoder->defs.definition[number];

	if (number >= decoder->defs.n_definitions)
		return -ENOENT;
	*ret = (struct loci_ref_site){ .block = head->id,
		.module = head->module,
		.code_address = head->code_address,
		.block_flags = head->flags };
	return 0;
}

uint32_t loci_decoder_thread(const struct loci_decoder *decoder)
{
	return decoder->threads.thread[decoder->threads.at].id;
}

uint32_t loci_decoder_definitions(const struct loci_decoder *decoder)
{
	return (uint32_t)decoder->defs.n_refs;
}

const char *loci_decoder_string(const struct loci_decoder *decoder, uint64_t id)
{
	return loci_strtab_get(&decoder->strings, id);
}

uint32_t loci_decoder_block_words(const struct loci_decoder *decoder, uint64_t block)
{
	return loci_definitions_find(&decoder->defs, block)->n_words;
}

size_t loci_decoder_state(const struct loci_decoder *decoder, uint64_t *words, size_t cap)
{
	return loci_threads_words(&decoder->threads, &decoder->defs, words, cap);
}
