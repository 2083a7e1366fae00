// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/product.h"

#include "base/cleanup.h"
#include "base/host.h"
#include "base/replace.h"
#include "base/units.h"
#include "cli/open.h"
#include "model/verdict.h"
#include "report/report_verdict.h"
#include "report/text.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define MAX_SHARE       4096 /* threads of a group */
#define MAX_BLOCK_BYTES (2u << 20)

int loci_product_blocks(
	const char *text, struct loci_analyse_options *options, struct loci_err *err)
{
	loci_autofree char *copy = strdup(text);
	char *save = NULL;

	options->n_block_bytes = 0;
	if (!copy)
		return loci_err_nomem(err);
	for (char *item = strtok_r(copy, ",", &save); item; item = strtok_r(NULL, ",", &save)) {
		uint64_t bytes;
		int r = loci_units_parse_bytes(item, &bytes, err);

		if (r < 0)
			return r;
		if (!loci_is_power_of_2(bytes) || bytes > MAX_BLOCK_BYTES)
			return loci_err_set(err, EINVAL,
				"block size %s: a block is a power of two from 1 byte to 2M", item);
		for (unsigned i = 0; i < options->n_block_bytes; i++)
			if (options->block_bytes[i] == bytes)
				return loci_err_set(
					err, EINVAL, "block size %s is given twice", item);
		if (options->n_block_bytes == LOCI_ANALYSE_GRAINS)
			return loci_err_set(
				err, EINVAL, "at most %d block sizes at once", LOCI_ANALYSE_GRAINS);
		options->block_bytes[options->n_block_bytes++] = bytes;
	}
	if (!options->n_block_bytes)
		return loci_err_set(err, EINVAL, "no block size in \"%s\"", text);
	return 0;
}

int loci_product_share(const char *text, struct loci_analyse_options *options, struct loci_err *err)
{
	loci_autofree char *copy = strdup(text);
	char *save = NULL;

	options->n_share = 0;
	if (!copy)
		return loci_err_nomem(err);
	for (char *item = strtok_r(copy, ",", &save); item; item = strtok_r(NULL, ",", &save)) {
		uint64_t threads;
		int r = loci_units_parse_u64(item, &threads, err);

		if (r < 0)
			return r;
		if (threads < 2 || threads > MAX_SHARE)
			return loci_err_set(err, EINVAL,
				"--share %s: so many threads that share a cache, from 2 to %d",
				item, MAX_SHARE);
		for (unsigned i = 0; i < options->n_share; i++)
			if (options->share[i] == threads)
				return loci_err_set(err, EINVAL, "--share %s is given twice", item);
		if (options->n_share == LOCI_ANALYSE_SHARES)
			return loci_err_set(err, EINVAL, "--share %s: at most %d sizes of groups",
				text, LOCI_ANALYSE_SHARES);
		options->share[options->n_share++] = (unsigned)threads;
	}
	if (!options->n_share)
		return loci_err_set(
			err, EINVAL, "--share %s: how many threads share a cache?", text);
	return 0;
}

int loci_product_memory(
	const char *text, struct loci_analyse_options *options, struct loci_err *err)
{
	int r = loci_units_parse_bytes(text, &options->max_memory, err);

	if (r == 0 && !options->max_memory)
		return loci_err_set(err, EINVAL, "--max-memory 0 leaves no room");
	return r;
}

int loci_product_order(const char *text, enum loci_order *ret, struct loci_err *err)
{
	static const char *const names[] = {
		[LOCI_ORDER_REFS] = "refs",
		[LOCI_ORDER_TIME] = "time",
		[LOCI_ORDER_ARRIVAL] = "arrival",
	};

	for (unsigned i = 0; i < LOCI_ARRAY_SIZE(names); i++)
		if (!strcmp(text, names[i])) {
			*ret = (enum loci_order)i;
			return 0;
		}
	return loci_err_set(err, EINVAL, "--order %s: threads go by refs, time or arrival", text);
}

void loci_product_host(struct loci_product_host *host, struct loci_analyse_options *options)
{
	struct loci_hierarchy hierarchy;

	if (!options->max_memory)
		options->max_memory = loci_host_available_bytes() / 4 * 3;
	options->machine = loci_host_processor(host->machine, sizeof(host->machine));
	if (loci_hierarchy_host("/sys", &hierarchy, NULL) == 0)
		options->caches =
			loci_hierarchy_format(&hierarchy, host->caches, sizeof(host->caches));
}

static void add_level(struct loci_product_levels *levels, const struct loci_cache *cache, size_t n)
{
	char *share = levels->share[n];

	if (cache->share == LOCI_SHARE_SOME)
		snprintf(share, sizeof(levels->share[n]), "share%u", cache->share_n);
	else
		strcpy(share, cache->share == LOCI_SHARE_ALL ? "shared" : "private");
	levels->row[n] = (struct loci_level_row){ .id = (int64_t)n + 1,
		.name = cache->name,
		.size_bytes = cache->size_bytes,
		.ways = cache->ways,
		.line_bytes = cache->line_bytes,
		.share = share };
}

int loci_product_levels(struct loci_product_levels *levels, const char *spec,
	struct loci_analyse_options *options, struct loci_err *err)
{
	uint64_t block = options->n_block_bytes ? options->block_bytes[0] : LOCI_LINE_DEFAULT;
	size_t n = 0;

	if (spec && loci_hierarchy_parse(spec, &levels->caches, err) < 0)
		return -EINVAL;
	if (!spec && loci_hierarchy_host("/sys", &levels->caches, NULL) < 0)
		levels->caches.n_levels = 0;
	for (unsigned i = 0; i < levels->caches.n_levels; i++) {
		const struct loci_cache *cache = &levels->caches.level[i];

		if (cache->line_bytes == block && !cache->is_tlb)
			add_level(levels, cache, n++);
		else if (spec && !cache->is_tlb)
			return loci_err_set(err, EINVAL,
				"--cache: %s has lines of %" PRIu64 " bytes, and blocks of %" PRIu64
				" are recorded; make them agree with -b",
				cache->name, cache->line_bytes, block);
	}
	options->levels = levels->row;
	options->n_levels = n;
	return 0;
}

int loci_product_check(const char *path, struct loci_err *err)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return 0;
	if (S_ISDIR(st.st_mode))
		return loci_err_set(
			err, EISDIR, "%s is a directory; name a file in it with -o", path);
	if (!S_ISREG(st.st_mode))
		return loci_err_set(err, EINVAL,
			"%s is no file: a profile is a database, which is written in places; name "
			"a file with -o",
			path);
	if (loci_profile_probe(path, NULL) == 0)
		return 0;
	return loci_err_set(err, EEXIST,
		"%s exists and is no profile of this loci; name another with -o, or remove it",
		path);
}

int loci_product_check_trace(const char *path, const char *output, struct loci_err *err)
{
	loci_autoclose int fd = -1;
	char magic[sizeof(LOCI_TRACE_MAGIC) - 1];
	struct stat st;

	if (!strcmp(path, output))
		return loci_err_set(err, EINVAL,
			"%s cannot be the trace (--trace) and the profile (-o) at once", path);
	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && read(fd, magic, sizeof(magic)) == (ssize_t)sizeof(magic) &&
		!memcmp(magic, LOCI_TRACE_MAGIC, sizeof(magic)))
		return 0;
	return loci_err_set(err, EEXIST,
		"%s exists and is no trace of loci's own; name another with --trace, or remove it",
		path);
}

/* What the profile says, in a sentence or two. */
static void say_verdict(const char *path)
{
	loci_cleanup(loci_profile_closep) struct loci_profile *profile = NULL;
	struct loci_aim aim = { 0 };
	loci_cleanup(loci_subject_fini) struct loci_subject subject = { 0 };
	struct loci_verdict verdict;
	struct loci_text text;
	char words[768] = "loci: ";

	if (loci_open_subject(path, &aim, &profile, &subject, NULL) < 0)
		return;
	loci_verdict(&subject, &verdict);
	loci_report_verdict(
		&subject, &verdict, words + strlen(words), sizeof(words) - strlen(words));
	loci_text_begin(&text, stderr, false);
	loci_text_paragraph(&text, LOCI_STYLE_PLAIN, 0, words);
}

void loci_product_say(const struct loci_product_end *end)
{
	const struct loci_analyse_summary *summary = end->summary;
	char count[LOCI_UNITS_MAX], rate[LOCI_UNITS_MAX], took[LOCI_UNITS_MAX];
	double seconds = end->seconds > 0 ? end->seconds : 1;

	fprintf(stderr, "loci: %s %.*s  %s/s  %s",
		loci_units_count(count, (double)summary->references),
		(int)strlen(end->nouns) - (summary->references == 1), end->nouns,
		loci_units_count(rate, (double)summary->references / seconds),
		loci_units_seconds(took, end->seconds));
	if (end->processes > 1)
		fprintf(stderr, "  %u processes", end->processes);
	if (summary->verified)
		fprintf(stderr, "  %s touches verified",
			loci_units_count(count, (double)summary->verified));
	fprintf(stderr, "\n");
	if (summary->note[0])
		fprintf(stderr, "loci: %s\n", summary->note);
	say_verdict(end->path);
	if (!summary->interrupted)
		fprintf(stderr, "loci: next: loci report %s\n", end->path);
}

void loci_product_offline(void)
{
	unsetenv("DEBUGINFOD_URLS");
}

double loci_product_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int loci_product_check_files(const char *output, const char *trace, struct loci_err *err)
{
	loci_cleanup(loci_replace_fini) struct loci_replace profile = { .fd = -1 };
	loci_cleanup(loci_replace_fini) struct loci_replace words = { .fd = -1 };
	int r = loci_product_check(output, err);

	if (r == 0)
		r = loci_replace_begin(&profile, output, err);
	if (r == 0 && trace)
		r = loci_product_check_trace(trace, output, err);
	if (r == 0 && trace)
		r = loci_replace_begin(&words, trace, err);
	return r;
}
