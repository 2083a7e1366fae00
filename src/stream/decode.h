/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From words to references: keeps the block definitions, the current block of every thread and of
 * interrupted code, and hands out references in batches and all other markers as events. */
#ifndef LOCI_STREAM_DECODE_H
#define LOCI_STREAM_DECODE_H

#include "base/err.h"
#include "stream/stream.h"

struct loci_ref {
	uint64_t address;
	uint64_t size_bytes; /* of a range: its length, may be 0 */
	uint32_t definition; /* which reference of which definition: see loci_decoder_site */
	uint32_t thread;     /* the stream's thread id */
	uint16_t flags;      /* enum loci_ref_flag */
	uint8_t op;          /* enum loci_op; FRAME is handed out too */
};

/* A marker that is not about references; raw points into the words given. */
struct loci_event {
	unsigned kind; /* enum loci_marker, known or not */
	uint64_t payload;
	const uint64_t *raw;
	unsigned n_raw;
	uint32_t thread;
};

struct loci_decoder;

int loci_decoder_new(struct loci_decoder **ret, struct loci_err *err);
void loci_decoder_free(struct loci_decoder *decoder);

/* Decodes from words[*pos] on, advancing *pos, until refs is full, an event turns up, or the words
 * are used up. *ret_refs references were decoded; if *ret_event.kind is not LOCI_MARK_PAD, this
 * event follows them. Markers that only serve decoding (definitions, strings, switches, padding)
 * are not handed out. Malformed words give -EBADMSG and a message with the word's position in the
 * whole stream; *pos stands at the marker or address at fault and *ret_refs counts what came before
 * it, which is good. Words may be cut anywhere except between a marker and its raw words.
 *
 * Of a RUN come the references that it stands for, in as many calls as they take: until the last of
 * them *pos stands at its marker, and the words stay what they are. */
int loci_decoder_next(struct loci_decoder *decoder, const uint64_t *words, size_t n_words,
	size_t *pos, struct loci_ref *refs, size_t cap, size_t *ret_refs,
	struct loci_event *ret_event, struct loci_err *err);
/* From now on a RUN is an event, checked, and its references do not come. */
void loci_decoder_keep_runs(struct loci_decoder *decoder);
/* What such an event says, before anything else is decoded. */
struct loci_repeat;
void loci_decoder_repeat(
	const struct loci_decoder *decoder, const struct loci_event *run, struct loci_repeat *ret);
/* From now on the BLOCK of a block without references is an event. */
void loci_decoder_tell_plain(struct loci_decoder *decoder);

/* Addresses that stand next to each other in the words: those of one execution of a block, or a
 * part of them. */
struct loci_ref_run {
	const uint64_t *address; /* into the words given */
	uint32_t definition;     /* of the first; the others follow */
	uint32_t n;
};
/* Decodes like loci_decoder_next, but only as far as plain references of the current thread come:
 * no ranges, no WIDE addresses, no markers but BLOCK. Stops before anything else, and before
 * faults: loci_decoder_next takes over. Returns the number of runs; references are not copied. */
size_t loci_decoder_runs(struct loci_decoder *decoder, const uint64_t *words, size_t n_words,
	size_t *pos, struct loci_ref_run *runs, size_t cap);
/* Takes the SWITCH at hand, if it is one: who reads runs goes on with those of the other thread. */
int loci_decoder_switch(struct loci_decoder *decoder, const uint64_t *words, size_t n_words,
	size_t *pos, struct loci_err *err);
uint32_t loci_decoder_thread(const struct loci_decoder *decoder);      /* the current one */
uint32_t loci_decoder_definitions(const struct loci_decoder *decoder); /* numbers are below this */

/* The static side of a reference: where its definition says it stands. -ENOENT for a number that
 * no reference has had. A number keeps its meaning as long as the decoder lives, also when its
 * block is defined anew. */
struct loci_ref_site {
	uint64_t block;        /* block id */
	uint32_t module;       /* module id */
	uint32_t ordinal;      /* which reference of the block */
	uint64_t site;         /* the collector's number for it */
	uint64_t code_address; /* of the block */
	uint32_t block_flags;  /* enum loci_block_flag */
	uint32_t size_bytes;   /* 0: a range */
	uint16_t flags;        /* enum loci_ref_flag */
	uint8_t op;            /* enum loci_op */
};
int loci_decoder_site(
	const struct loci_decoder *decoder, uint32_t definition, struct loci_ref_site *ret);

/* A block's definition by number, of which there are as many as DEFINEs that changed something:
 * ordinal, site, size, flags and op are 0. UINT32_MAX: the block is not defined; -ENOENT: there is
 * no such number. */
uint32_t loci_decoder_defined(const struct loci_decoder *decoder, uint64_t block);
int loci_decoder_head(
	const struct loci_decoder *decoder, uint32_t number, struct loci_ref_site *ret);

/* A STRING seen so far, or NULL. Good until the next call of loci_decoder_next. */
const char *loci_decoder_string(const struct loci_decoder *decoder, uint64_t id);

/* How many words one execution of a block has; 0 if it is not defined. */
uint32_t loci_decoder_block_words(const struct loci_decoder *decoder, uint64_t block);

/* The words (SWITCH, RESUME, SIGNAL_ENTER) that bring another decoder, which knows the same
 * definitions, to the state of this one. Returns how many there are; writes them if cap is enough.
 */
size_t loci_decoder_state(const struct loci_decoder *decoder, uint64_t *words, size_t cap);

#endif
