// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/cache_table.h"

#include "base/units.h"
#include "model/thread_hist.h"
#include "report/table.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#define NOTE_MAX 512

static const char *policy_name(enum loci_policy policy)
{
	return policy == LOCI_POLICY_RANDOM ? "random replacement" : "LRU";
}

static const char *label_of(const struct loci_cache_table *table, size_t i, char buf[64])
{
	const struct loci_prediction *p = &table->row[i];

	if (table->is_object)
		return loci_cache_label_objects(&p->cache, buf);
	return p->is_threaded ? loci_cache_label_shared(&p->cache, buf)
			      : loci_cache_label(&p->cache, buf);
}

static void print_head(const struct loci_cache_table *table, const struct loci_text *text)
{
	const struct loci_run *run = loci_profile_run(table->profile);
	char count[LOCI_UNITS_MAX];

	loci_text_print(text, LOCI_STYLE_BOLD, "%s", loci_profile_path(table->profile));
	if (run->command && run->command[0])
		loci_text_print(text, LOCI_STYLE_PLAIN, "  %s", run->command);
	loci_text_print(text, LOCI_STYLE_PLAIN, "  %s, %s %s%s\n\n", policy_name(table->policy),
		loci_units_count(count, (double)run->references),
		table->is_object ? "request" : "reference", run->references == 1 ? "" : "s");
}

static void add_points(struct loci_table *out, double part, double whole)
{
	char number[LOCI_TEXT_NUMBER];

	loci_text_points(number, whole > 0 ? part / whole : 0);
	loci_table_add(out, LOCI_STYLE_PLAIN, "%s", number);
}

static void add_split(struct loci_table *out, const struct loci_prediction *p, double part)
{
	if (p->has_split)
		add_points(out, part, p->accesses);
	else
		loci_table_add(out, LOCI_STYLE_DIM, "-");
}

static void add_count(struct loci_table *out, bool is_estimate, double count)
{
	char number[LOCI_UNITS_MAX];

	loci_table_add(out, LOCI_STYLE_PLAIN, "%s%s", is_estimate ? "~" : "",
		loci_units_count(number, count));
}

static void add_row(
	struct loci_table *out, const struct loci_cache_table *table, size_t i, bool has_coherence)
{
	const struct loci_prediction *p = &table->row[i];
	bool is_model = p->basis != LOCI_BASIS_EXACT;
	char label[64], number[LOCI_UNITS_MAX];

	loci_table_add(out, LOCI_STYLE_BOLD, "%s", label_of(table, i, label));
	add_count(out, is_model || p->hits_estimated, p->hits);
	add_count(out, is_model, p->misses);
	add_points(out, p->misses, p->accesses);
	add_split(out, p, p->cold);
	add_split(out, p, p->capacity);
	add_split(out, p, p->conflict);
	if (has_coherence)
		add_split(out, p, p->coherence);
	if (table->is_object)
		loci_units_count(number, p->moved_bytes);
	else
		loci_units_bytes(number, p->moved_bytes);
	loci_table_add(out, p->cache.is_tlb ? LOCI_STYLE_DIM : LOCI_STYLE_PLAIN, "%s",
		p->cache.is_tlb ? "-" : number);
	if (p->has_writebacks)
		add_count(out, is_model, p->writebacks);
	else
		loci_table_add(out, LOCI_STYLE_DIM, "-");
}

static int print_rows(const struct loci_cache_table *table, const struct loci_text *text)
{
	static const struct loci_table_column all[] = {
		{ "level", LOCI_ALIGN_LEFT },
		{ "hits", LOCI_ALIGN_RIGHT },
		{ "misses", LOCI_ALIGN_RIGHT },
		{ "%", LOCI_ALIGN_RIGHT },
		{ "cold", LOCI_ALIGN_RIGHT },
		{ "capacity", LOCI_ALIGN_RIGHT },
		{ "conflict", LOCI_ALIGN_RIGHT },
		{ "coherence", LOCI_ALIGN_RIGHT },
		{ "moved", LOCI_ALIGN_RIGHT },
		{ "write-backs", LOCI_ALIGN_RIGHT },
	};
	struct loci_table_column columns[10];
	bool has_coherence = false;
	struct loci_table out;
	unsigned n = 0;
	int r;

	for (size_t i = 0; i < table->n; i++)
		has_coherence |= table->row[i].coherence > 0;
	for (unsigned i = 0; i < 10; i++)
		if (has_coherence || strcmp(all[i].title, "coherence"))
			columns[n++] = all[i];
	loci_table_init(&out, columns, n);
	for (unsigned i = 0; has_coherence && i < n; i++) { /* one column more is one too many */
		if (!strcmp(columns[i].title, "conflict"))
			loci_table_spare(&out, i, 1);
		if (!strcmp(columns[i].title, "write-backs"))
			loci_table_spare(&out, i, 2);
	}
	for (size_t i = 0; i < table->n; i++)
		add_row(&out, table, i, has_coherence);
	r = loci_table_print(&out, text, 2);
	loci_table_fini(&out);
	return r;
}

static void note(const struct loci_text *text, const char *words)
{
	loci_text_paragraph(text, LOCI_STYLE_DIM, 2, words);
}

/* Names of the rows that share a basis, each once. */
static void names_of(const struct loci_cache_table *table, size_t first, char *buf, size_t size)
{
	const struct loci_prediction *p = &table->row[first];
	size_t length = 0;

	buf[0] = '\0';
	for (size_t i = first; i < table->n && length + 20 < size; i++) {
		const struct loci_prediction *q = &table->row[i];
		const char *name = q->cache.name;

		if (q->basis != p->basis || q->why != p->why ||
			(i > first && !strcmp(name, table->row[i - 1].cache.name)))
			continue;
		length += (size_t)snprintf(
			buf + length, size - length, "%s%s", length ? ", " : "", name);
	}
}

static bool is_first_of_basis(const struct loci_cache_table *table, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (table->row[k].basis == table->row[i].basis &&
			table->row[k].why == table->row[i].why)
			return false;
	return true;
}

/* The largest error among the rows that share row i's basis; of a model's what chance makes, for
 * its own stands in its note. */
static double error_of(const struct loci_cache_table *table, size_t i)
{
	double error = 0;

	for (size_t k = i; k < table->n; k++)
		if (table->row[k].basis == table->row[i].basis)
			error = fmax(error, table->row[k].chance_points);
	return error;
}

static bool is_sampled(const struct loci_cache_table *table, const struct loci_prediction *p)
{
	const struct loci_grain *grain = loci_profile_grain(table->profile, p->cache.line_bytes);

	return grain && grain->error_points > 0;
}

static void print_bases(const struct loci_cache_table *table, const struct loci_text *text)
{
	for (size_t i = 0; i < table->n; i++) {
		const struct loci_prediction *p = &table->row[i];
		char words[NOTE_MAX], names[96], error[48] = "", points[LOCI_UNITS_MAX];

		if (p->basis == LOCI_BASIS_EXACT || !is_first_of_basis(table, i))
			continue;
		names_of(table, i, names, sizeof(names));
		if (p->basis == LOCI_BASIS_INTERPOLATED || p->basis == LOCI_BASIS_SAMPLED)
			snprintf(error, sizeof(error), " (%s%s points)", text->glyph->plus_minus,
				loci_units_points(points, error_of(table, i)));
		else if (is_sampled(table, p))
			snprintf(error, sizeof(error),
				"; by chance, of samples, %s%s points (95 %%)",
				text->glyph->plus_minus,
				loci_units_points(points, error_of(table, i)));
		snprintf(words, sizeof(words), "~ %s: %s%s%s: %s%s", names,
			loci_basis_name(p->basis), p->why ? ", since " : "", p->why ? p->why : "",
			loci_basis_note(p->basis), error);
		note(text, words);
	}
}

/* Where enough references straddle two lines for the two ways of counting to differ. */
static void note_by_reference(const struct loci_prediction *p, const struct loci_text *text)
{
	char words[NOTE_MAX], count[LOCI_UNITS_MAX];

	if (!p->has_reference_misses ||
		p->misses - p->reference_misses <= 0.001 * p->reference_misses)
		return;
	snprintf(words, sizeof(words),
		"%s: counted by reference, as Cachegrind does, %s misses: some references miss in "
		"two lines",
		p->cache.name, loci_units_count(count, p->reference_misses));
	note(text, words);
}

/* What the threads of a level took from each other. */
static void note_sharing(const struct loci_cache_table *table, const struct loci_text *text)
{
	for (size_t i = 0; i < table->n; i++) {
		const struct loci_prediction *p = &table->row[i];
		char words[NOTE_MAX], true_count[LOCI_UNITS_MAX], false_count[LOCI_UNITS_MAX];

		if (!p->has_sharing || !(p->true_sharing + p->false_sharing > 0))
			continue;
		snprintf(words, sizeof(words),
			"coherence: lost to another %s's write, %s of true sharing and %s of false "
			"(loci report --by sharing)",
			p->cache.share == LOCI_SHARE_SOME ? "group" : "thread",
			loci_units_count(true_count, p->true_sharing),
			loci_units_count(false_count, p->false_sharing));
		note(text, words);
		return;
	}
}

/* Private distances are kept of one block size: levels of other lines are as if all threads shared
 * them. */
static void note_unthreaded(const struct loci_cache_table *table, const struct loci_text *text)
{
	size_t n;
	const struct loci_grain *grain = loci_profile_grains(table->profile, &n);
	uint64_t known = 0;

	for (size_t i = 0; i < n; i++)
		if (loci_thread_hist_known(table->profile, grain[i].block_bytes))
			known = grain[i].block_bytes;
	for (size_t i = 0; known && i < table->n; i++) {
		const struct loci_cache *cache = &table->row[i].cache;
		char words[NOTE_MAX], size[LOCI_UNITS_MAX];

		if (table->row[i].is_threaded || cache->share == LOCI_SHARE_ALL)
			continue;
		snprintf(words, sizeof(words),
			"%s: one for all threads, since what each has to itself was recorded of "
			"%s-byte blocks alone",
			cache->name, loci_units_size(size, known));
		note(text, words);
	}
}

static void print_notes(const struct loci_cache_table *table, const struct loci_text *text)
{
	bool negative = false, estimated = false, unknown_writes = false;

	for (size_t i = 0; i < table->n; i++) {
		negative |= table->row[i].conflict < 0;
		estimated |= table->row[i].hits_estimated;
		unknown_writes |= !table->row[i].has_writebacks && !table->row[i].cache.is_tlb;
	}
	print_bases(table, text);
	note_sharing(table, text);
	note_unthreaded(table, text);
	for (size_t i = 0; i < table->n; i++)
		note_by_reference(&table->row[i], text);
	if (estimated)
		note(text,
			table->policy == LOCI_POLICY_RANDOM
				? "~ hits: an estimate, since with random replacement an outer "
				  "level may lack what "
				  "an inner one holds"
				: "~ hits: an estimate where an outer level has fewer sets or ways "
				  "than an inner "
				  "one, another line size, or threads that do not share the "
				  "inner one: it may lack what the inner one holds");
	if (negative)
		note(text,
			"negative conflict: LRU's anomaly; fully associative it would miss more, "
			"as on loops "
			"just over the size, which evict each block before its reuse");
	if (unknown_writes && table->policy == LOCI_POLICY_LRU)
		note(text,
			"write-backs: not known from this profile at this setting, and not in what "
			"is moved");
}

int loci_cache_table_text(const struct loci_cache_table *table, const struct loci_text *text)
{
	int r;

	print_head(table, text);
	r = print_rows(table, text);
	if (r < 0)
		return r;
	fputc('\n', text->out);
	print_notes(table, text);
	return 0;
}

void loci_cache_table_cycles(
	const struct loci_hierarchy *hierarchy, double cycles, const struct loci_text *text)
{
	char words[NOTE_MAX];
	size_t length;

	if (!(cycles > 0))
		return;
	length = (size_t)snprintf(words, sizeof(words), "%.3g cycles per reference (", cycles);
	for (unsigned i = 0; i < hierarchy->n_levels && length < sizeof(words); i++)
		if (!hierarchy->level[i].is_tlb)
			length += (size_t)snprintf(words + length, sizeof(words) - length,
				"%s %g, ", hierarchy->level[i].name,
				hierarchy->level[i].latency_cycles);
	if (length < sizeof(words))
		snprintf(words + length, sizeof(words) - length,
			"memory %g), if nothing overlapped and nothing was prefetched",
			hierarchy->memory_cycles);
	loci_text_paragraph(text, LOCI_STYLE_PLAIN, 2, words);
}

int loci_cache_table_machines(const struct loci_text *text)
{
	static const struct loci_table_column columns[] = {
		{ "machine", LOCI_ALIGN_LEFT },
		{ "caches", LOCI_ALIGN_LEFT },
		{ "cycles", LOCI_ALIGN_LEFT },
		{ "processor", LOCI_ALIGN_LEFT },
	};
	struct loci_table out;
	int r;

	loci_table_init(&out, columns, 4);
	for (const struct loci_hierarchy *m = loci_machines; m->n_levels; m++) {
		char spec[LOCI_HIERARCHY_MAX], cycles[96];
		size_t length = 0;

		for (unsigned i = 0; i <= m->n_levels; i++) {
			double value =
				i < m->n_levels ? m->level[i].latency_cycles : m->memory_cycles;

			length += (size_t)snprintf(cycles + length, sizeof(cycles) - length,
				value > 0 ? "%s%g" : "%s?", i ? "/" : "", value);
		}
		loci_table_add(&out, LOCI_STYLE_BOLD, "%s", m->name);
		loci_table_add(
			&out, LOCI_STYLE_PLAIN, "%s", loci_hierarchy_format(m, spec, sizeof(spec)));
		loci_table_add(&out, LOCI_STYLE_PLAIN, "%s", cycles);
		loci_table_add(&out, LOCI_STYLE_PLAIN, "%s", m->description);
	}
	r = loci_table_print(&out, text, 2);
	loci_table_fini(&out);
	return r;
}
