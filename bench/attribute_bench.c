// SPDX-License-Identifier: GPL-2.0-or-later
/* The attribution, both stages and the first of them: CPU time a reference, of traces that were
 *recorded with sites.
 *
 *	attribute_bench [-p PROFILE] [-w none|far|all] [-s] [-l] [-o] [-x] TRACE..
 *
 * The words are read into memory first. -s: engines without attribution, for comparison. -l: no
 * caches. -o: engines hear of every touch. -x: what RUNs stand for is
 * written out. With -p the profile is kept. */
#include "analyse/analyse.h"
#include "base/cleanup.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

struct memory_source {
	struct loci_source source;
	uint64_t *words;
	size_t n, cap, pos;
};

static void die(const char *what)
{
	fprintf(stderr, "attribute_bench: %s\n", what);
	exit(1);
}

static double cpu_seconds(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static ssize_t memory_read(
	struct loci_source *source, uint64_t *words, size_t cap, struct loci_err *err)
{
	struct memory_source *m = (struct memory_source *)source;
	size_t n = 0;

	while (m->pos + n < m->n) {
		uint64_t word = m->words[m->pos + n];
		size_t whole = 1 + (loci_word_is_marker(word) ? loci_word_n_raw(word) : 0);

		if (n + whole > cap)
			break;
		n += whole;
	}
	memcpy(words, m->words + m->pos, n * sizeof(*words));
	m->pos += n;
	return (ssize_t)n;
}

static void memory_progress(
	const struct loci_source *source, uint64_t *ret_done, uint64_t *ret_total)
{
	*ret_done = *ret_total = 0;
}

static void memory_close(struct loci_source *source)
{
}

static void load(const char *path, struct memory_source *m)
{
	static const struct loci_source_ops ops = { memory_read, memory_progress, memory_close };
	struct loci_source *trace = NULL;
	struct loci_err err = { "" };
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || loci_trace_open_fd(fd, path, &trace, &err) < 0)
		die(err.text[0] ? err.text : path);
	*m = (struct memory_source){ .source = { .ops = &ops, .info = trace->info } };
	for (;;) {
		ssize_t n;

		if (m->cap - m->n < 1 << 16) {
			m->cap = m->cap ? 2 * m->cap : 1 << 20;
			m->words = realloc(m->words, m->cap * sizeof(*m->words));
			if (!m->words)
				die("out of memory");
		}
		n = trace->ops->read(trace, m->words + m->n, 1 << 16, &err);
		if (n < 0)
			die(err.text);
		if (n == 0)
			break;
		m->n += (size_t)n;
	}
	loci_source_close(trace);
}

static void put(struct memory_source *m, uint64_t word)
{
	if (m->n == m->cap) {
		m->cap = m->cap ? 2 * m->cap : 1 << 20;
		m->words = realloc(m->words, m->cap * sizeof(*m->words));
		if (!m->words)
			die("out of memory");
	}
	m->words[m->n++] = word;
}

/* Every address of a RUN, none of which has 64 bits. */
static void write_out(struct memory_source *m)
{
	struct memory_source out = { .source = m->source };

	for (size_t i = 0, whole; i < m->n; i += whole) {
		uint64_t word = m->words[i];
		const uint64_t *raw = m->words + i + 1;

		whole = 1 + (loci_word_is_marker(word) ? loci_word_n_raw(word) : 0);
		if (!loci_word_is_marker(word) || loci_word_kind(word) != LOCI_MARK_RUN) {
			for (size_t k = 0; k < whole; k++)
				put(&out, m->words[i + k]);
			continue;
		}
		put(&out, loci_mark_word(LOCI_MARK_BLOCK, 0, loci_word_payload(word)));
		for (uint64_t time = 0; time < raw[0]; time++)
			for (size_t k = 2; k + 1 < whole; k += 2)
				put(&out, raw[k] + time * raw[k + 1]);
	}
	free(m->words);
	*m = out;
}

int main(int argc, char **argv)
{
	static const struct loci_level_row levels[] = {
		{ .name = "L1",
			.size_bytes = 48 << 10,
			.ways = 12,
			.line_bytes = 64,
			.share = "private" },
		{ .name = "L2",
			.size_bytes = 1280 << 10,
			.ways = 20,
			.line_bytes = 64,
			.share = "private" },
		{ .name = "L3",
			.size_bytes = 48 << 20,
			.ways = 12,
			.line_bytes = 64,
			.share = "shared" },
	};
	struct loci_analyse_options options = { .no_sets = true,
		.attribute = true,
		.levels = levels,
		.n_levels = LOCI_ARRAY_SIZE(levels) };
	const char *profile = NULL;
	bool written_out = false;
	int option;

	while ((option = getopt(argc, argv, "p:w:slox")) != -1) {
		switch (option) {
		case 'p':
			profile = optarg;
			break;
		case 'w':
			options.pairs = !strcmp(optarg, "none") ? LOCI_PAIRS_NONE
				: !strcmp(optarg, "all")        ? LOCI_PAIRS_ALL
								: LOCI_PAIRS_FAR;
			break;
		case 's':
			options.attribute = false;
			break;
		case 'l':
			options.n_levels = 0;
			break;
		case 'x':
			written_out = true;
			break;
		case 'o':
			options.one_by_one = true;
			break;
		default:
			die("see the top of its source for its use");
		}
	}
	for (int i = optind; i < argc; i++) {
		struct loci_analysis *analysis;
		struct loci_analyse_summary summary = { 0 };
		struct memory_source m;
		struct loci_err err = { "" };
		struct rusage usage;
		double cpu, first, wall, written;

		load(argv[i], &m);
		if (written_out)
			write_out(&m);
		cpu = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID);
		first = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
		wall = seconds();
		if (loci_analysis_new(&options, &analysis, &err) < 0 ||
			loci_analysis_read(analysis, &m.source, &err) < 0)
			die(err.text);
		cpu = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
		first = cpu_seconds(CLOCK_THREAD_CPUTIME_ID) - first;
		wall = seconds() - wall;
		written = seconds();
		if (loci_analysis_write(analysis, profile ? profile : "/tmp/attribute_bench.loci",
			    &summary, &err) < 0)
			die(err.text);
		written = seconds() - written;
		loci_analysis_free(analysis);
		getrusage(RUSAGE_SELF, &usage);
		printf("%-24s %6.1f M references  %5.2f ns CPU, %5.2f of the first "
		       "stage  %5.2f ns wall  writing %.2f s  "
		       "%ld MiB, %zu of words\n",
			argv[i], (double)summary.references / 1e6,
			cpu * 1e9 / (double)summary.references,
			first * 1e9 / (double)summary.references,
			wall * 1e9 / (double)summary.references, written, usage.ru_maxrss >> 10,
			m.n >> 17);
		free(m.words);
	}
	if (!profile)
		remove("/tmp/attribute_bench.loci");
	return 0;
}
