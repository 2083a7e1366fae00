// SPDX-License-Identifier: GPL-2.0-or-later
/* What DynamoRIO's drmemtrace prints with -tool view (earlier -simulator_type view). A record is
 *
 *	        11910        9759:       21646 read         8 byte(s) @ 0x00007ffd1fded688 by PC
 *0x... record number, instruction number, thread, what it is
 *
 * Earlier versions give "173369: T1774669 ...", later ones "W0.T3" (workload and thread). Markers
 * <...>, dividers, headings, the closing count and the lines that continue a long instruction's
 * bytes carry no references. Prefetches and flushes are left out. The program counters are dropped.
 * Threads are numbered from 0 as they come; THREAD_START gives the number in the trace. */
#include "import/digits.h"
#include "import/textreader.h"

#include <stdlib.h>

#define WORKLOAD_SHIFT 48

struct drmemtrace {
	struct loci_text text;
	uint64_t current; /* the thread of the words written last */
	uint64_t *threads;
	uint32_t n_threads, cap;
};

static const struct kind {
	const char *name;
	unsigned length;
	bool left_out;
	enum loci_access access;
} kinds[] = {
	{ "ifetch", 6, false, LOCI_ACCESS_FETCH }, { "read", 4, false, LOCI_ACCESS_LOAD },
	{ "write", 5, false, LOCI_ACCESS_STORE }, { "iflush", 6, true, 0 },
	{ "dflush", 6, true, 0 }, { "pref", 4, true, 0 }, /* and pref-r-L1, pref-HW, ... */
};

static const struct kind *find_kind(const char *word, const char *end)
{
	size_t n = (size_t)(end - word);

	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (n >= kinds[i].length && !memcmp(word, kinds[i].name, kinds[i].length) &&
			(n == kinds[i].length || word[kinds[i].length] == '-'))
			return &kinds[i];
	return NULL;
}

static inline const char *skip_digits(const char *at, const char *end)
{
	while (at < end && *at >= '0' && *at <= '9')
		at++;
	return at;
}

/* "21646", "T21646", "W0.T3" as one number; false if it is none of these. */
static bool parse_thread(const char *at, const char *end, uint64_t *ret)
{
	uint64_t workload = 0, thread;
	bool over;

	if (at < end && *at == 'W') {
		const char *dot = skip_digits(at + 1, end);

		if (dot == end || *dot != '.' || !loci_decimal(at + 1, dot, &workload, &over) ||
			workload >> (64 - WORKLOAD_SHIFT))
			return false;
		at = dot + 1;
	}
	if (at < end && *at == 'T')
		at++;
	if (!loci_decimal(at, end, &thread, &over) || thread >> WORKLOAD_SHIFT)
		return false;
	*ret = workload << WORKLOAD_SHIFT | thread;
	return true;
}

/* What stands before the details: returns where they begin, or NULL. */
static const char *parse_prefix(const char *line, const char *end, uint64_t *ret_thread)
{
	const char *at = loci_skip_space(line, end), *word = at;

	at = skip_digits(at, end);
	if (at > word && at < end && *at != ':')
		at = skip_digits(loci_skip_space(at, end), end);
	if (at > word) {
		if (at == end || *at != ':')
			return NULL;
		at = loci_skip_space(at + 1, end);
	} else if (at == end || (*at != 'T' && *at != 'W')) {
		return NULL;
	}
	word = at;
	at = loci_skip_word(at, end);
	if (!parse_thread(word, at, ret_thread))
		return NULL;
	return loci_skip_space(at, end);
}

/* "8 byte(s) @ 0x00007ffd1fded688": false if it is not; over tells numbers too large. */
struct operand {
	uint64_t address, size;
	bool address_over, size_over;
	const char *rest;
};

static bool parse_operand(const char *at, const char *end, struct operand *ret)
{
	static const char between[] = " byte(s) @ 0x";
	const char *word = loci_skip_space(at, end);

	*ret = (struct operand){ 0 };
	at = skip_digits(word, end);
	if (!loci_decimal(word, at, &ret->size, &ret->size_over) && !ret->size_over)
		return false;
	if (end - at < (ptrdiff_t)sizeof(between) || memcmp(at, between, sizeof(between) - 1))
		return false;
	at += sizeof(between) - 1;
	ret->rest = loci_skip_word(at, end);
	return loci_hex(at, ret->rest, &ret->address) ||
		loci_hex_long(at, ret->rest, &ret->address, &ret->address_over) ||
		ret->address_over;
}

/* An instruction of more bytes than fit goes on in a line of its own: bytes in hexadecimal, far to
 * the right. */
static bool is_continuation(const char *details, const char *end)
{
	uint64_t ignored;

	return details == end || loci_hex(details, loci_skip_word(details, end), &ignored);
}

/* Headings, dividers and the closing count. */
static bool is_decoration(const char *line, const char *end)
{
	static const char *const starts[] = { "--", "<", "Output format:", "View tool results:" };
	static const char total[] = " : total instructions";
	const char *at = loci_skip_space(line, end);

	for (unsigned i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
		size_t n = strlen(starts[i]);

		if ((size_t)(end - at) >= n && !memcmp(at, starts[i], n))
			return true;
	}
	at = skip_digits(at, end);
	return (size_t)(end - at) >= sizeof(total) - 1 && !memcmp(at, total, sizeof(total) - 1);
}

static bool add_thread(struct drmemtrace *d, uint64_t thread)
{
	if (d->n_threads == d->cap) {
		uint32_t cap = d->cap ? 2 * d->cap : 16;
		uint64_t *threads = realloc(d->threads, cap * sizeof(*threads));

		if (!threads)
			return false;
		d->threads = threads;
		d->cap = cap;
	}
	d->threads[d->n_threads++] = thread;
	return true;
}

static uint64_t *switch_to(struct drmemtrace *d, uint64_t *out, uint64_t thread)
{
	uint32_t id = 0;

	while (id < d->n_threads && d->threads[id] != thread)
		id++;
	if (id == d->n_threads) {
		if (!add_thread(d, thread))
			return loci_text_nomem(&d->text);
		*out++ = loci_mark_word(LOCI_MARK_THREAD_START, 4, id);
		*out++ = 0;      /* parent: unknown */
		*out++ = thread; /* the system's id */
		*out++ = 0;
		*out++ = 0;
	}
	d->current = thread;
	return loci_emit_switch(&d->text.emitter, out, id);
}

static bool is_unfetched(const char *rest, const char *end)
{
	static const char unfetched[] = "non-fetched";

	rest = loci_skip_space(rest, end);
	return (size_t)(end - rest) >= sizeof(unfetched) - 1 &&
		!memcmp(rest, unfetched, sizeof(unfetched) - 1);
}

static uint64_t *parse(struct loci_text *text, uint64_t *out, const char *line, const char *end)
{
	struct drmemtrace *d = (struct drmemtrace *)text;
	struct operand operand;
	const char *details, *word_end;
	const struct kind *kind;
	uint64_t thread;

	details = parse_prefix(line, end, &thread);
	if (!details)
		return is_decoration(line, end) ? out : loci_text_other(text, out, line, end);
	if (details < end && *details == '<')
		return out;
	word_end = loci_skip_word(details, end);
	kind = find_kind(details, word_end);
	if (!kind)
		return is_continuation(details, end) ? out : loci_text_refuse(text, line, end);
	if (!parse_operand(word_end, end, &operand))
		return loci_text_refuse(text, line, end);
	if (operand.address_over)
		return loci_text_refuse_address(text, line, end);
	if (operand.size_over || operand.size >= LOCI_SIZE_LIMIT)
		return loci_text_refuse_size(text, line, end);
	if (kind->left_out) {
		text->emitter.n_left_out++;
		return out;
	}
	if (kind->access == LOCI_ACCESS_FETCH &&
		(!text->choice.instructions || is_unfetched(operand.rest, end)))
		return out;
	if (thread != d->current || !d->n_threads) {
		out = switch_to(d, out, thread);
		if (!out)
			return NULL;
	}
	return loci_emit(
		&text->emitter, out, operand.address, (uint32_t)operand.size, kind->access);
}

static ssize_t drmemtrace_read(
	struct loci_source *source, uint64_t *words, size_t cap, struct loci_err *err)
{
	return loci_text_read((struct loci_text *)source, words, cap, parse, err);
}

static void drmemtrace_close(struct loci_source *source)
{
	free(((struct drmemtrace *)source)->threads);
	loci_text_close(source);
}

static const struct loci_source_ops drmemtrace_ops = { drmemtrace_read, loci_text_progress,
	drmemtrace_close };

static int drmemtrace_open(struct loci_input *input, const struct loci_import_choice *choice,
	struct loci_source **ret, struct loci_err *err)
{
	return loci_text_new(sizeof(struct drmemtrace), &drmemtrace_ops,
		"record instruction: thread read size byte(s) @ 0xaddress", input, choice,
		(struct loci_text **)ret, err);
}

static enum loci_line_is classify(const char *line, const char *end)
{
	const char *details, *word_end;
	struct operand operand;
	uint64_t thread;

	details = parse_prefix(line, end, &thread);
	if (!details)
		return is_decoration(line, end) ? LOCI_LINE_EITHER : LOCI_LINE_NOT;
	if (end - details > 8 && !memcmp(details, "<marker:", 8))
		return LOCI_LINE_MINE;
	word_end = loci_skip_word(details, end);
	if (find_kind(details, word_end) && parse_operand(word_end, end, &operand))
		return LOCI_LINE_MINE;
	return is_continuation(details, end) || *details == '<' ? LOCI_LINE_EITHER : LOCI_LINE_NOT;
}

static bool drmemtrace_recognise(const struct loci_input *input)
{
	return loci_text_recognise(input, classify);
}

const struct loci_importer loci_importer_drmemtrace = { drmemtrace_recognise, drmemtrace_open };
