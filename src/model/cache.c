// SPDX-License-Identifier: GPL-2.0-or-later
/* The grammar of caches and hierarchies: reading it, explaining what makes no sense, writing it. */
#include "model/cache.h"

#include "base/units.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char grammar[] = "write NAME=SIZE[/WAYS][@LINE][:private|shared|shareN], comma "
			      "separated, such as L1=32K/8,L2=1M/16,L3=32M/16:shared";

/* The parts of one level's text, cut apart in place. */
struct parts {
	char *name, *size, *ways, *line, *share; /* NULL: not given */
};

/* SHARE comes off first, then LINE, then WAYS, so that each is found behind the one before. */
static void cut(char *text, struct parts *ret)
{
	char **const part[] = { &ret->share, &ret->line, &ret->ways, &ret->size };
	static const char mark[] = ":@/=";

	*ret = (struct parts){ .name = text };
	for (unsigned i = 0; i < sizeof(mark) - 1; i++) {
		char *at = strchr(text, mark[i]);

		if (at) {
			*at = '\0';
			*part[i] = at + 1;
		}
	}
}

static int parse_name(const char *name, struct loci_cache *ret, struct loci_err *err)
{
	size_t length = strlen(name);
	bool good = isalpha((unsigned char)name[0]);

	for (size_t i = 0; i < length; i++)
		good = good && (isalnum((unsigned char)name[i]) || strchr("-_.", name[i]));
	if (!good)
		return loci_err_set(err, EINVAL,
			"\"%.40s\" is no name for a cache (a letter, then letters and digits); %s",
			name, grammar);
	if (length >= sizeof(ret->name))
		return loci_err_set(err, EINVAL, "the name \"%.60s\" is longer than %zu letters",
			name, sizeof(ret->name) - 1);
	memcpy(ret->name, name, length + 1);
	return 0;
}

static int parse_line(const char *text, bool objects, struct loci_cache *ret, struct loci_err *err)
{
	struct loci_err cause = { "" };

	ret->line_bytes = objects ? 1 : LOCI_LINE_DEFAULT;
	if (!text)
		return 0;
	if (loci_units_parse_bytes(text, &ret->line_bytes, &cause) < 0)
		return loci_err_set(err, EINVAL, "%s: line size: %s", ret->name, cause.text);
	if (objects && ret->line_bytes != 1)
		return loci_err_set(err, EINVAL,
			"%s: a line is one object where the profile counts objects; leave @%s out",
			ret->name, text);
	return 0;
}

/* Entries ("64e") need the line size to become bytes. */
static int parse_size(char *text, struct loci_cache *ret, struct loci_err *err)
{
	size_t length = strlen(text);
	struct loci_err cause = { "" };
	bool entries = length > 1 && text[length - 1] == 'e' && isdigit((unsigned char)text[0]);
	int r;

	if (!length)
		return loci_err_set(err, EINVAL, "%s: the size is missing; %s", ret->name, grammar);
	if (entries)
		text[length - 1] = '\0';
	r = entries ? loci_units_parse_u64(text, &ret->size_bytes, &cause)
		    : loci_units_parse_bytes(text, &ret->size_bytes, &cause);
	if (r < 0)
		return loci_err_set(err, -r, "%s: %s", ret->name, cause.text);
	if (!entries)
		return 0;
	if (__builtin_mul_overflow(ret->size_bytes, ret->line_bytes, &ret->size_bytes))
		return loci_err_set(err, ERANGE,
			"%s: %s entries of %" PRIu64 " bytes are more than 64 bits hold", ret->name,
			text, ret->line_bytes);
	ret->is_tlb = ret->line_bytes >= LOCI_PAGE_MIN;
	return 0;
}

/* Without its page size a TLB would be taken for a cache of as many lines. */
static int check_tlb(const struct loci_cache *cache, bool objects, struct loci_err *err)
{
	size_t length = strlen(cache->name);

	if (objects || cache->is_tlb || length < 3 || strcasecmp(cache->name + length - 3, "tlb"))
		return 0;
	return loci_err_set(err, EINVAL,
		"%s: a TLB is given by entries and the size of their pages, 4K or more, such as "
		"%s=64e/4@4K",
		cache->name, cache->name);
}

static int parse_ways(const char *text, struct loci_cache *ret, struct loci_err *err)
{
	struct loci_err cause = { "" };
	uint64_t ways;

	if (!text)
		return 0;
	if (loci_units_parse_u64(text, &ways, &cause) < 0)
		return loci_err_set(err, EINVAL, "%s: ways: %s", ret->name, cause.text);
	if (!ways)
		return loci_err_set(err, EINVAL,
			"%s: a cache of 0 ways holds nothing; leave /0 out for fully associative",
			ret->name);
	if (ways > UINT32_MAX)
		return loci_err_set(err, ERANGE, "%s: %s ways are too many", ret->name, text);
	ret->ways = (uint32_t)ways;
	return 0;
}

static int parse_share(const char *text, struct loci_cache *ret, struct loci_err *err)
{
	uint64_t n;

	if (!text || !strcmp(text, "private"))
		return 0;
	if (!strcmp(text, "shared")) {
		ret->share = LOCI_SHARE_ALL;
		return 0;
	}
	if (strncmp(text, "share", 5) || loci_units_parse_u64(text + 5, &n, NULL) < 0 || n < 2 ||
		n > UINT32_MAX)
		return loci_err_set(err, EINVAL,
			"%s: \":%.40s\" is none of :private, :shared (by all threads) and :shareN "
			"(by "
			"N threads, 2 or more)",
			ret->name, text);
	ret->share = LOCI_SHARE_SOME;
	ret->share_n = (uint32_t)n;
	return 0;
}

/* Names the nearest sizes that are whole multiples of unit. */
static int not_whole(
	const struct loci_cache *cache, uint64_t unit, const char *what, struct loci_err *err)
{
	uint64_t below = cache->size_bytes - cache->size_bytes % unit;
	char low[LOCI_UNITS_MAX], high[LOCI_UNITS_MAX], size[LOCI_UNITS_MAX];

	loci_units_size(size, cache->size_bytes);
	loci_units_size(low, below);
	if (__builtin_add_overflow(below, unit, &unit))
		return loci_err_set(err, EINVAL,
			"%s: %s bytes are not a whole number of %s; %s would be", cache->name, size,
			what, low);
	loci_units_size(high, unit);
	if (!below)
		return loci_err_set(err, EINVAL,
			"%s: %s bytes are not a whole number of %s; %s would be", cache->name, size,
			what, high);
	return loci_err_set(err, EINVAL,
		"%s: %s bytes are not a whole number of %s; %s or %s would be", cache->name, size,
		what, low, high);
}

int loci_cache_check(const struct loci_cache *cache, struct loci_err *err)
{
	uint64_t line = cache->line_bytes, blocks, set_bytes;
	char size[LOCI_UNITS_MAX], what[96];

	if (!loci_is_power_of_2(line))
		return loci_err_set(err, EINVAL,
			"%s: a line of %" PRIu64 " bytes is no power of two", cache->name, line);
	if (line > LOCI_LINE_MAX)
		return loci_err_set(err, EINVAL,
			"%s: a line of %s bytes is more than 2M, the largest "
			"block there is",
			cache->name, loci_units_size(size, line));
	if (!cache->size_bytes)
		return loci_err_set(
			err, EINVAL, "%s: a cache of size 0 holds nothing", cache->name);
	if (cache->size_bytes % line) {
		snprintf(what, sizeof(what), "%" PRIu64 "-byte lines", line);
		return not_whole(cache, line, what, err);
	}
	blocks = cache->size_bytes / line;
	if (!cache->ways || !(blocks % cache->ways))
		return 0;
	if (cache->ways > blocks)
		return loci_err_set(err, EINVAL,
			"%s: %s bytes are %" PRIu64 " line%s of %" PRIu64 ", fewer than %" PRIu32
			" ways",
			cache->name, loci_units_size(size, cache->size_bytes), blocks,
			blocks == 1 ? "" : "s", line, cache->ways);
	set_bytes = line * cache->ways; /* 2^21 * 2^32 at most */
	snprintf(what, sizeof(what), "sets of %" PRIu32 " ways of %" PRIu64 " bytes", cache->ways,
		line);
	return not_whole(cache, set_bytes, what, err);
}

static int parse_level(char *text, bool objects, struct loci_cache *ret, struct loci_err *err)
{
	struct parts parts;
	char whole[64];
	int r;

	snprintf(whole, sizeof(whole), "%s", text);
	cut(text, &parts);
	*ret = (struct loci_cache){ .share = LOCI_SHARE_PRIVATE };
	if (!parts.size)
		return loci_err_set(err, EINVAL, "\"%s\" has no '='; %s", whole, grammar);
	r = parse_name(parts.name, ret, err);
	if (r >= 0)
		r = parse_line(parts.line, objects, ret, err);
	if (r >= 0)
		r = parse_size(parts.size, ret, err);
	if (r >= 0)
		r = check_tlb(ret, objects, err);
	if (r >= 0)
		r = parse_ways(parts.ways, ret, err);
	if (r >= 0)
		r = parse_share(parts.share, ret, err);
	return r < 0 ? r : loci_cache_check(ret, err);
}

static const struct loci_cache *cache_inside(const struct loci_hierarchy *hierarchy)
{
	for (unsigned i = hierarchy->n_levels; i-- > 0;)
		if (!hierarchy->level[i].is_tlb)
			return &hierarchy->level[i];
	return NULL;
}

/* Against the levels there are already. TLBs stand beside the caches, not in their order. */
static int check_order(const struct loci_hierarchy *hierarchy, const struct loci_cache *cache,
	struct loci_err *err)
{
	const struct loci_cache *inside = cache_inside(hierarchy);
	char size[LOCI_UNITS_MAX], inner[LOCI_UNITS_MAX];

	for (unsigned i = 0; i < hierarchy->n_levels; i++)
		if (!strcasecmp(hierarchy->level[i].name, cache->name))
			return loci_err_set(err, EINVAL, "two levels are named %s", cache->name);
	if (hierarchy->n_levels == LOCI_LEVELS_MAX)
		return loci_err_set(
			err, EINVAL, "%s: more than %d levels", cache->name, LOCI_LEVELS_MAX);
	if (!cache->is_tlb && inside && cache->size_bytes < inside->size_bytes)
		return loci_err_set(err, EINVAL,
			"%s (%s) is smaller than %s (%s) inside it; list levels from the innermost "
			"outwards",
			cache->name, loci_units_size(size, cache->size_bytes), inside->name,
			loci_units_size(inner, inside->size_bytes));
	return 0;
}

static int parse_levels(char *text, bool objects, struct loci_hierarchy *ret, struct loci_err *err)
{
	*ret = (struct loci_hierarchy){ .n_levels = 0 };
	for (char *next; text; text = next) {
		struct loci_cache cache;
		int r;

		next = strchr(text, ',');
		if (next)
			*next++ = '\0';
		if (!*text)
			return loci_err_set(
				err, EINVAL, "a level is missing beside a comma; %s", grammar);
		r = parse_level(text, objects, &cache, err);
		if (r >= 0)
			r = check_order(ret, &cache, err);
		if (r < 0)
			return r;
		ret->level[ret->n_levels++] = cache;
	}
	return 0;
}

/* Levenshtein's distance, for names of machines only. */
static unsigned edits(const char *a, const char *b)
{
	unsigned row[65];
	size_t n = strnlen(b, 64);

	for (unsigned j = 0; j <= n; j++)
		row[j] = j;
	for (unsigned i = 1; a[i - 1]; i++) {
		unsigned diagonal = row[0];

		row[0] = i;
		for (unsigned j = 1; j <= n; j++) {
			unsigned above = row[j];
			unsigned best = diagonal + (tolower((unsigned char)a[i - 1]) != b[j - 1]);

			best = above + 1 < best ? above + 1 : best;
			row[j] = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
			diagonal = above;
		}
	}
	return row[n];
}

static int unknown_machine(const char *name, struct loci_err *err)
{
	const char *nearest = "host";
	unsigned least = edits(name, nearest);
	char list[512] = "host", hint[64] = "";
	size_t length = strlen(list);

	for (const struct loci_hierarchy *machine = loci_machines; machine->n_levels; machine++) {
		unsigned d = edits(name, machine->name);

		if (d < least) {
			least = d;
			nearest = machine->name;
		}
		if (length < sizeof(list))
			length += (size_t)snprintf(
				list + length, sizeof(list) - length, ", %s", machine->name);
	}
	if (least <= 1 + strlen(name) / 3)
		snprintf(hint, sizeof(hint), "; did you mean %.40s?", nearest);
	return loci_err_set(err, EINVAL,
		"\"%.60s\" is neither a machine nor a specification%s (machines: %s; or %s)", name,
		hint, list, grammar);
}

static int parse(const char *text, bool objects, struct loci_hierarchy *ret, struct loci_err *err)
{
	char copy[1024];

	if (!*text)
		return loci_err_set(err, EINVAL, "the cache specification is empty; %s", grammar);
	if (strlen(text) >= sizeof(copy))
		return loci_err_set(err, EINVAL,
			"the cache specification is longer than %zu letters", sizeof(copy) - 1);
	strcpy(copy, text);
	return parse_levels(copy, objects, ret, err);
}

int loci_hierarchy_parse(const char *text, struct loci_hierarchy *ret, struct loci_err *err)
{
	if (!strcasecmp(text, "host"))
		return loci_hierarchy_host("/sys", ret, err);
	for (const struct loci_hierarchy *machine = loci_machines; machine->n_levels; machine++)
		if (!strcasecmp(text, machine->name)) {
			*ret = *machine;
			return 0;
		}
	if (*text && !strpbrk(text, "=,/@:"))
		return unknown_machine(text, err);
	return parse(text, false, ret, err);
}

int loci_hierarchy_parse_objects(const char *text, struct loci_hierarchy *ret, struct loci_err *err)
{
	if (*text && !strpbrk(text, "=,"))
		return loci_err_set(err, EINVAL,
			"this profile counts objects, so machines do not fit it; give sizes in "
			"objects, "
			"such as --cache L1=1000,L2=100000 (not \"%.60s\")",
			text);
	return parse(text, true, ret, err);
}

/* The compact size if it reads back as the same, which for huge odd sizes it need not. */
static void format_size(const struct loci_cache *cache, char buf[LOCI_UNITS_MAX])
{
	uint64_t again;

	if (cache->is_tlb) {
		snprintf(buf, LOCI_UNITS_MAX, "%" PRIu64 "e", loci_cache_blocks(cache));
		return;
	}
	loci_units_size(buf, cache->size_bytes);
	if (loci_units_parse_bytes(buf, &again, NULL) < 0 || again != cache->size_bytes)
		snprintf(buf, LOCI_UNITS_MAX, "%" PRIu64, cache->size_bytes);
}

/* "48K/12@128": what follows the name. */
static void format_shape(const struct loci_cache *cache, char buf[64])
{
	char size[LOCI_UNITS_MAX], line[LOCI_UNITS_MAX], ways[12] = "", at[24] = "";

	format_size(cache, size);
	if (cache->ways)
		snprintf(ways, sizeof(ways), "/%" PRIu32, cache->ways);
	if (cache->line_bytes != LOCI_LINE_DEFAULT)
		snprintf(at, sizeof(at), "@%.20s", loci_units_size(line, cache->line_bytes));
	snprintf(buf, 64, "%.24s%s%s", size, ways, at);
}

const char *loci_hierarchy_format(const struct loci_hierarchy *hierarchy, char *buf, size_t size)
{
	size_t length = 0;

	if (size)
		buf[0] = '\0';
	for (unsigned i = 0; i < hierarchy->n_levels && length < size; i++) {
		const struct loci_cache *cache = &hierarchy->level[i];
		char shape[64], share[24] = "";

		format_shape(cache, shape);
		if (cache->share == LOCI_SHARE_ALL)
			strcpy(share, ":shared");
		else if (cache->share == LOCI_SHARE_SOME)
			snprintf(share, sizeof(share), ":share%" PRIu32, cache->share_n);
		length += (size_t)snprintf(buf + length, size - length, "%s%s=%s%s", i ? "," : "",
			cache->name, shape, share);
	}
	return buf;
}

const char *loci_cache_label(const struct loci_cache *cache, char buf[64])
{
	char shape[64];

	format_shape(cache, shape);
	snprintf(buf, 64, "%s %.47s", cache->name, shape);
	return buf;
}

const char *loci_cache_label_shared(const struct loci_cache *cache, char buf[64])
{
	size_t length = strlen(loci_cache_label(cache, buf));

	if (cache->share == LOCI_SHARE_SOME)
		snprintf(buf + length, 64 - length, ":share%u", cache->share_n);
	else
		snprintf(buf + length, 64 - length, "%s",
			cache->share == LOCI_SHARE_ALL ? ":shared" : ":private");
	return buf;
}

const char *loci_cache_label_objects(const struct loci_cache *cache, char buf[64])
{
	struct loci_cache plain = *cache;

	plain.line_bytes = LOCI_LINE_DEFAULT;
	return loci_cache_label(&plain, buf);
}
