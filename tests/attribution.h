/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Streams made by hand for the attribution, and the profiles they give. */
#ifndef LOCI_TESTS_ATTRIBUTION_H
#define LOCI_TESTS_ATTRIBUTION_H

#include "check.h"

#include "analyse/analyse.h"
#include "base/cleanup.h"

#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

struct words {
	uint64_t *word;
	size_t n, cap;
};

static inline void put(struct words *w, uint64_t word)
{
	if (w->n == w->cap) {
		w->cap = w->cap ? 2 * w->cap : 256;
		w->word = realloc(w->word, w->cap * sizeof(*w->word));
		if (!w->word)
			abort();
	}
	w->word[w->n++] = word;
}

static inline void mark(struct words *w, enum loci_marker kind, uint64_t payload, unsigned n, ...)
{
	va_list list;

	put(w, loci_mark_word(kind, n, payload));
	va_start(list, n);
	for (unsigned i = 0; i < n; i++)
		put(w, va_arg(list, uint64_t));
	va_end(list);
}

struct ref {
	uint32_t size_bytes;
	enum loci_op op;
	uint64_t site;
	unsigned flags;
};
#define LOAD(site)                       \
	{                                \
		8, LOCI_OP_LOAD, site, 0 \
	}
#define STORE(site)                       \
	{                                 \
		8, LOCI_OP_STORE, site, 0 \
	}
#define FRAME(site)                       \
	{                                 \
		8, LOCI_OP_FRAME, site, 0 \
	}
#define BYTES(n, site)                   \
	{                                \
		n, LOCI_OP_LOAD, site, 0 \
	}

/* DEFINE(w, id, flags, refs..): the code address is the first reference's. */
#define DEFINE(w, id, flags, ...)                                 \
	define(w, id, flags, (const struct ref[]){ __VA_ARGS__ }, \
		LOCI_ARRAY_SIZE(((const struct ref[]){ __VA_ARGS__ })))

static inline void define(
	struct words *w, uint64_t id, unsigned flags, const struct ref *refs, size_t n)
{
	put(w, loci_mark_word(LOCI_MARK_DEFINE, (unsigned)(2 + 2 * n), id));
	put(w, flags);
	put(w, refs[0].site);
	for (size_t i = 0; i < n; i++) {
		put(w, loci_ref_word(refs[i].size_bytes, refs[i].op, refs[i].flags));
		put(w, refs[i].site);
	}
}

/* RUN(w, id, addresses..) */
#define RUN(w, id, ...)                               \
	run(w, id, (const uint64_t[]){ __VA_ARGS__ }, \
		sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

static inline void run(struct words *w, uint64_t id, const uint64_t *address, size_t n)
{
	put(w, loci_mark_word(LOCI_MARK_BLOCK, 0, id));
	for (size_t i = 0; i < n; i++)
		put(w, address[i]);
}

static inline void name(struct words *w, uint64_t id, const char *text)
{
	uint64_t word[8] = { 0 };

	memcpy(word, text, strlen(text));
	put(w, loci_mark_word(LOCI_MARK_STRING, 8, id));
	for (int i = 0; i < 8; i++)
		put(w, word[i]);
}

static inline void object(struct words *w, uint64_t address, uint64_t bytes, const char *text)
{
	name(w, address, text);
	mark(w, LOCI_MARK_OBJECT, bytes, 3, address, (uint64_t)w->n, address);
}

struct words_source {
	struct loci_source source;
	const struct words *words;
	size_t pos, step;
};

/* How many words are read at once, and as many more as their last marker has. */
static size_t words_step = 300;

static inline ssize_t words_read(
	struct loci_source *source, uint64_t *words, size_t cap, struct loci_err *err)
{
	struct words_source *m = (struct words_source *)source;
	size_t n = 0;

	(void)err;
	while (m->pos + n < m->words->n && n < m->step) {
		uint64_t word = m->words->word[m->pos + n];

		n += 1 + (loci_word_is_marker(word) ? loci_word_n_raw(word) : 0);
	}
	if (n > cap)
		abort(); /* a check would count, and other threads read, too */
	memcpy(words, m->words->word + m->pos, n * sizeof(*words));
	m->pos += n;
	return (ssize_t)n;
}

static inline void words_progress(
	const struct loci_source *source, uint64_t *ret_done, uint64_t *ret_total)
{
	(void)source;
	*ret_done = *ret_total = 0;
}

static inline void words_close(struct loci_source *source)
{
	(void)source;
}

static inline struct words_source words_source(const struct words *words)
{
	static const struct loci_source_ops ops = { words_read, words_progress, words_close };

	return (struct words_source){
		.source = { .ops = &ops,
			.info = { .version = LOCI_STREAM_VERSION,
				.capabilities = LOCI_CAP_COMPLETE | LOCI_CAP_STORES |
					LOCI_CAP_SITES | LOCI_CAP_FRAMES | LOCI_CAP_OBJECTS,
				.origin = "test" } },
		.words = words,
		.step = words_step,
	};
}

/* The words of one process as a profile; NULL if that fails. */
static inline struct loci_profile *attributed(
	const struct words *words, const struct loci_analyse_options *options)
{
	struct words_source source = words_source(words);
	struct loci_analyse_summary summary;
	struct loci_profile *profile = NULL;
	struct loci_err err = { "" };
	char path[64];

	/* Tests run side by side. */
	snprintf(path, sizeof(path), "attribution_test.%d.loci", (int)getpid());
	if (loci_analyse(&source.source, options, path, &summary, &err) < 0 ||
		loci_profile_open(path, &profile, &err) < 0)
		CHECK_FAIL("%s", err.text);
	remove(path);
	return profile;
}

/* All rows of a table: GET(profile, site, sites) declares site and n_site. */
#define GET(profile, row, rows)                    \
	const struct loci_##row##_row *row = NULL; \
	size_t n_##row = 0;                        \
	CHECK(loci_profile_##rows(profile, &(row), &n_##row, NULL) == 0)

static inline const char *function_name(struct loci_profile *profile, int64_t id)
{
	GET(profile, function, functions);
	const struct loci_function_row *found =
		loci_row_find(function, n_function, sizeof(*function), id);

	return found ? found->name : "-";
}

/* "0x1000<0x2000": the functions of a context, innermost first. */
static inline char *context_path(struct loci_profile *profile, int64_t id, char *text, size_t size)
{
	GET(profile, context, contexts);
	size_t used = 0;

	text[0] = 0;
	while (id && used < size) {
		const struct loci_context_row *row =
			loci_row_find(context, n_context, sizeof(*context), id);

		used += (size_t)snprintf(text + used, size - used, "%s%s", used ? "<" : "",
			row ? function_name(profile, row->function_id) : "?");
		id = row ? row->parent_id : 0;
	}
	return text;
}

/* References of all contexts with this path. */
static inline uint64_t context_refs(struct loci_profile *profile, const char *path)
{
	uint64_t refs = 0;
	char text[2048];

	GET(profile, context, contexts);
	for (size_t i = 0; i < n_context; i++)
		if (!strcmp(context_path(profile, context[i].id, text, sizeof(text)), path))
			refs += context[i].refs;
	return refs;
}

static inline const struct loci_site_row *site_at(
	struct loci_profile *profile, uint64_t offset, const char *op)
{
	GET(profile, site, sites);
	for (size_t i = 0; i < n_site; i++)
		if (site[i].code_offset == offset && !strcmp(site[i].op, op))
			return &site[i];
	CHECK_FAIL("no %s at 0x%" PRIx64, op, offset);
	return NULL;
}

static inline int64_t site_id(struct loci_profile *profile, uint64_t offset, const char *op)
{
	const struct loci_site_row *site = site_at(profile, offset, op);

	return site ? site->id : 0;
}

static inline int64_t object_named(struct loci_profile *profile, const char *text)
{
	GET(profile, object, objects);
	for (size_t i = 0; i < n_object; i++)
		if (object[i].name && !strcmp(object[i].name, text))
			return object[i].id;
	CHECK_FAIL("no object %s", text);
	return 0;
}

/* How many touches of an owner lie at a distance, in its coarse bin; LOCI_INFINITE: cold. */
static inline double touches_at(
	struct loci_profile *profile, enum loci_owner owner, int64_t id, uint64_t distance)
{
	struct loci_hist_key key = { .block_bytes = 64, .owner = owner, .owner_id = id };
	const struct loci_hist *hist = NULL;
	uint32_t bin;

	if (loci_profile_hist(profile, &key, &hist, NULL) < 0)
		return -1;
	if (distance == LOCI_INFINITE)
		return hist->cold;
	bin = loci_bin_of(hist->scheme, distance);
	return bin < hist->n_bins ? hist->weight[bin] : 0;
}

static inline struct loci_level_count_row level_count(
	struct loci_profile *profile, int64_t level, enum loci_owner owner, int64_t id)
{
	GET(profile, level_count, level_counts);
	for (size_t i = 0; i < n_level_count; i++)
		if (level_count[i].level_id == level && level_count[i].owner == owner &&
			level_count[i].owner_id == id)
			return level_count[i];
	return (struct loci_level_count_row){ 0 };
}

#endif
