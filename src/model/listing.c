// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/listing.h"

#include "base/cleanup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CONTEXT_LINES 3  /* shown before and after a line that does something */
#define AROUND_LINES  10 /* of a place asked for */

/* One line's row of the blame of lines. */
struct hot {
	unsigned number;
	const struct loci_blame_row *row;
};

static int compare_hot(const void *a, const void *b)
{
	const struct hot *p = a, *q = b;

	if (p->number != q->number)
		return p->number < q->number ? -1 : 1;
	return p->row->misses != q->row->misses ? (p->row->misses > q->row->misses ? -1 : 1)
						: (p->row > q->row) - (p->row < q->row);
}

/* What a listing is made from. */
struct request {
	const struct loci_function_row *function; /* or .. */
	const struct loci_source_row *source;     /* .. this file .. */
	unsigned first, last;                     /* .. from line to line */
};

static const struct loci_site_row *site_of(const struct loci_blame_row *row)
{
	return row->owner;
}

static bool is_wanted(const struct loci_catalogue *c, const struct request *request,
	const struct loci_blame_row *row)
{
	const struct loci_site_row *site = site_of(row);

	if (request->function)
		return loci_catalogue_function_of(c, site) == request->function->id;
	return site->source_id == request->source->id && site->line >= request->first &&
		site->line <= request->last;
}

/* The file in which the function misses most; that of its declaration where there are ties. */
static int64_t main_source(const struct loci_catalogue *c, const struct loci_blame *lines,
	const struct request *request)
{
	int64_t best = request->function ? request->function->source_id : request->source->id;
	double most = 0;

	for (size_t i = 0; request->function && i < lines->n_rows; i++) {
		const struct loci_site_row *site = site_of(&lines->row[i]);
		double misses = lines->row[i].misses;

		/* rows are by misses: the first one in a file is its worst */
		if (is_wanted(c, request, &lines->row[i]) && site->line && misses > most) {
			most = misses;
			best = site->source_id;
		}
	}
	return best;
}

static int find_hot(const struct loci_catalogue *c, const struct loci_blame *lines,
	const struct request *request, struct loci_listing *listing, struct hot **ret_hot,
	size_t *ret_n, struct loci_err *err)
{
	struct hot *hot = calloc(lines->n_rows + 1, sizeof(*hot));
	size_t n = 0;

	if (!hot)
		return loci_err_nomem(err);
	for (size_t i = 0; i < lines->n_rows; i++) {
		const struct loci_blame_row *row = &lines->row[i];

		if (!is_wanted(c, request, row))
			continue;
		listing->refs += row->refs;
		listing->misses += row->misses;
		if (listing->source && site_of(row)->line &&
			site_of(row)->source_id == listing->source->id) {
			hot[n++] = (struct hot){ site_of(row)->line, row };
		} else {
			listing->unlined_refs += row->refs;
			listing->unlined_misses += row->misses;
		}
	}
	qsort(hot, n, sizeof(*hot), compare_hot);
	*ret_hot = hot;
	*ret_n = n;
	return 0;
}

/* When the run ended, by the profile's clock; -1: not known. */
static time_t end_of(const struct loci_run *run)
{
	struct tm tm = { 0 };

	if (!run->started || !strptime(run->started, "%Y-%m-%dT%H:%M:%S", &tm))
		return -1;
	return timegm(&tm) + (time_t)run->seconds + 1;
}

static void find_text(const struct loci_catalogue *c, const struct loci_run *run,
	const struct hot *hot, size_t n, struct loci_listing *listing)
{
	time_t end = end_of(run);

	for (size_t i = 0; i < n; i++)
		if (loci_catalogue_excerpt(c, listing->source->id, hot[i].number)) {
			listing->text = LOCI_LISTING_RECORDED;
			return;
		}
	if (loci_lines_read(listing->source->path, &listing->file) < 0)
		return;
	listing->text = end != -1 && listing->file.changed > end ? LOCI_LISTING_NEWER_FILE
								 : LOCI_LISTING_FILE;
}

static const char *text_at(
	const struct loci_catalogue *c, const struct loci_listing *listing, unsigned number)
{
	return listing->text == LOCI_LISTING_RECORDED
		? loci_catalogue_excerpt(c, listing->source->id, number)
		: loci_lines_at(&listing->file, number);
}

static int add_line(struct loci_listing *listing, size_t *cap, unsigned number, const char *text,
	struct loci_err *err)
{
	if (listing->n_lines == *cap) {
		size_t larger = *cap ? 2 * *cap : 64;
		struct loci_listing_line *line =
			realloc(listing->line, larger * sizeof(*listing->line));

		if (!line)
			return loci_err_nomem(err);
		listing->line = line;
		*cap = larger;
	}
	listing->line[listing->n_lines++] =
		(struct loci_listing_line){ .number = number, .text = text };
	return 0;
}

/* From where to where the lines of a request may reach. */
static void find_range(const struct loci_catalogue *c, const struct request *request,
	const struct hot *hot, size_t n, unsigned *ret_first, unsigned *ret_last)
{
	const struct loci_function_row *own = request->function;
	unsigned first = hot[0].number, last = hot[n - 1].number;

	*ret_first = first > CONTEXT_LINES ? first - CONTEXT_LINES : 1;
	*ret_last = last + CONTEXT_LINES;
	if (own->source_id != site_of(hot[0].row)->source_id)
		return;
	if (own->line && own->line <= first)
		*ret_first = own->line;
	for (size_t i = 0; i < c->n_function; i++) /* the next function is another story */
		if (c->function[i].source_id == own->source_id && c->function[i].line > last &&
			c->function[i].line <= *ret_last)
			*ret_last = c->function[i].line - 1;
}

static bool is_near(const struct hot *hot, size_t n, unsigned number)
{
	size_t low = 0, high = n;

	/* the first hot line from CONTEXT_LINES before on */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (hot[middle].number + CONTEXT_LINES < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low < n && hot[low].number <= number + CONTEXT_LINES;
}

static bool is_blank(const char *text)
{
	return !text[strspn(text, " \t")];
}

/* Lines near one that does something, the function's first line, and a mark where more than one is
 * left out. */
static int choose_lines(const struct loci_catalogue *c, const struct request *request,
	const struct hot *hot, size_t n, struct loci_listing *listing, struct loci_err *err)
{
	unsigned first = request->first, last = request->last, skipped = 0;
	size_t cap = 0, next = 0;
	int r = 0;

	if (request->function)
		find_range(c, request, hot, n, &first, &last);
	for (unsigned number = first; r == 0 && number <= last; number++) {
		const char *text = text_at(c, listing, number);
		bool is_hot, is_shown;

		while (next < n && hot[next].number < number)
			next++;
		is_hot = next < n && hot[next].number == number;
		is_shown = is_hot ||
			(text &&
				(!request->function || number == first || is_near(hot, n, number)));
		if (!is_shown) {
			skipped++;
			continue;
		}
		if (skipped == 1 && text_at(c, listing, number - 1) && listing->n_lines)
			r = add_line(
				listing, &cap, number - 1, text_at(c, listing, number - 1), err);
		else if (skipped && listing->n_lines)
			r = add_line(listing, &cap, 0, NULL, err);
		skipped = 0;
		if (r == 0)
			r = add_line(listing, &cap, number, text, err);
	}
	while (listing->n_lines && listing->line[listing->n_lines - 1].text &&
		is_blank(listing->line[listing->n_lines - 1].text) &&
		(!n || listing->line[listing->n_lines - 1].number > hot[n - 1].number))
		listing->n_lines--;
	return r;
}

/* Several functions, or copies of one, may share a line: the worst speaks for all. */
static int fill_lines(struct loci_blame *lines, const struct hot *hot, size_t n,
	struct loci_listing *listing, struct loci_err *err)
{
	size_t next = 0;

	for (size_t i = 0; i < listing->n_lines; i++) {
		struct loci_listing_line *line = &listing->line[i];
		int r;

		while (line->number && next < n && hot[next].number < line->number)
			next++;
		for (; line->number && next < n && hot[next].number == line->number; next++) {
			if (!line->row)
				line->row = hot[next].row;
			line->refs += hot[next].row->refs;
			line->misses += hot[next].row->misses;
		}
		if (line->row && (r = loci_blame_look(lines, line->row, &line->detail, err)) < 0)
			return r;
	}
	return 0;
}

static int find_link(struct loci_listings *all, const struct loci_catalogue *c,
	const struct request *request, struct loci_listing *listing, struct loci_err *err)
{
	for (size_t i = 0; i < all->links->n_rows && !listing->link; i++) {
		const struct loci_pair_row *pair = all->links->row[i].owner;
		const struct loci_site_row *reuse =
			loci_catalogue_find_site(c, pair->reuse_site_id);
		struct loci_blame_row row = { .owner = reuse };

		if (reuse && all->links->row[i].misses > 0 && is_wanted(c, request, &row))
			listing->link = &all->links->row[i];
	}
	return listing->link
		? loci_blame_look(all->links, listing->link, &listing->link_detail, err)
		: 0;
}

static int make_listing(struct loci_listings *all, const struct loci_catalogue *c,
	const struct loci_run *run, const struct request *request, struct loci_err *err)
{
	struct loci_listing *listing = &all->listing[all->n++];
	loci_autofree struct hot *hot = NULL;
	size_t n = 0;
	int r;

	*listing = (struct loci_listing){ .function = request->function };
	listing->source = loci_catalogue_find_source(c, main_source(c, all->lines, request));
	r = find_hot(c, all->lines, request, listing, &hot, &n, err);
	if (r < 0)
		return r;
	if (!n && request->function)
		listing->source = NULL;
	if (listing->source) {
		find_text(c, run, hot, n, listing);
		if ((r = choose_lines(c, request, hot, n, listing, err)) < 0 ||
			(r = fill_lines(all->lines, hot, n, listing, err)) < 0)
			return r;
	}
	return find_link(all, c, request, listing, err);
}

static bool ends_with_path(const char *path, const char *end, size_t length)
{
	size_t whole = strlen(path);

	return length <= whole && !strncmp(path + whole - length, end, length) &&
		(length == whole || path[whole - length - 1] == '/');
}

static bool is_called(const struct loci_function_row *function, const char *name)
{
	const char *own = function->name ? function->name : "", *part = own, *next;
	size_t length = strlen(name);

	if (!strcmp(own, name) || (function->mangled && !strcmp(function->mangled, name)))
		return true;
	/* "push" or "stack::push" for "app::stack::push(int)" */
	for (; part; part = (next = strstr(part, "::")) ? next + 2 : NULL)
		if (!strncmp(part, name, length) &&
			(!part[length] || part[length] == '(' || part[length] == '<'))
			return true;
	return false;
}

static int list_worst(struct loci_listings *all, const struct loci_catalogue *c,
	const struct loci_run *run, double min_share, struct loci_err *err)
{
	for (size_t i = 0; i < all->functions->n_rows; i++) {
		const struct loci_blame_row *row = &all->functions->row[i];
		struct request request = { .function = row->owner };
		int r;

		if (!(row->misses > 0) || loci_blame_share(all->functions, row->misses) < min_share)
			break;
		if (row->owner && (r = make_listing(all, c, run, &request, err)) < 0)
			return r;
	}
	return 0;
}

static int list_functions(struct loci_listings *all, const struct loci_catalogue *c,
	const struct loci_run *run, const char *name, struct loci_err *err)
{
	for (size_t i = 0; i < all->functions->n_rows; i++) {
		struct request request = { .function = all->functions->row[i].owner };
		int r;

		if (request.function && is_called(request.function, name) &&
			(r = make_listing(all, c, run, &request, err)) < 0)
			return r;
	}
	if (!all->n)
		return loci_err_set(err, ENOENT,
			"%.300s has no references of a function \"%.200s\"; loci report --by "
			"function lists those it has",
			loci_profile_path(c->profile), name);
	return 0;
}

static int list_place(struct loci_listings *all, const struct loci_catalogue *c,
	const struct loci_run *run, const char *wanted, size_t file_length, unsigned line,
	struct loci_err *err)
{
	bool is_known = false;

	for (size_t i = 0; i < c->n_source; i++) {
		struct request request = { .source = &c->source[i],
			.first = line > AROUND_LINES ? line - AROUND_LINES : 1,
			.last = line + AROUND_LINES };
		int r;

		if (!ends_with_path(c->source[i].path, wanted, file_length))
			continue;
		is_known = true;
		r = make_listing(all, c, run, &request, err);
		if (r < 0)
			return r;
		if (!all->listing[all->n - 1].n_lines) { /* nothing happens there */
			loci_lines_fini(&all->listing[all->n - 1].file);
			all->n--;
		}
	}
	if (!is_known)
		return loci_err_set(err, ENOENT,
			"%.300s has no references in a file \"%.*s\"; loci report --by file lists "
			"those it has",
			loci_profile_path(c->profile), (int)file_length, wanted);
	if (!all->n)
		return loci_err_set(err, ENOENT,
			"%.300s has no references near line %u of %.*s, and its text is not at "
			"hand",
			loci_profile_path(c->profile), line, (int)file_length, wanted);
	return 0;
}

/* FILE:LINE, but not the end of a C++ name. */
static bool is_place(const char *wanted, size_t *ret_length, unsigned *ret_line)
{
	const char *colon = strrchr(wanted, ':');
	unsigned long line;
	char *end;

	if (!colon || colon == wanted || colon[-1] == ':' || !colon[1])
		return false;
	line = strtoul(colon + 1, &end, 10);
	if (*end || !line || line > 1u << 30)
		return false;
	*ret_length = (size_t)(colon - wanted);
	*ret_line = (unsigned)line;
	return true;
}

int loci_listings_new(const struct loci_catalogue *c, const struct loci_subject *subject,
	const struct loci_blame_levels *levels, const char *wanted, double min_share,
	struct loci_listings *ret, struct loci_err *err)
{
	size_t most = c->n_function > c->n_source ? c->n_function : c->n_source, length;
	unsigned line;
	int r;

	*ret = (struct loci_listings){ .listing = calloc(most + 1, sizeof(*ret->listing)),
		.is_all = !wanted };
	if (!ret->listing)
		return loci_err_nomem(err);
	if ((r = loci_blame_new(c, subject, levels, LOCI_BLAME_FUNCTION, &ret->functions, err)) <
			0 ||
		(r = loci_blame_new(c, subject, levels, LOCI_BLAME_LINE, &ret->lines, err)) < 0 ||
		(r = loci_blame_new(c, subject, levels, LOCI_BLAME_LINK, &ret->links, err)) < 0)
		return r;
	if (!wanted)
		return list_worst(ret, c, subject->run, min_share, err);
	if (is_place(wanted, &length, &line))
		return list_place(ret, c, subject->run, wanted, length, line, err);
	return list_functions(ret, c, subject->run, wanted, err);
}

void loci_listings_fini(struct loci_listings *listings)
{
	for (size_t i = 0; i < listings->n; i++) {
		free(listings->listing[i].line);
		loci_lines_fini(&listings->listing[i].file);
	}
	free(listings->listing);
	loci_blame_free(listings->functions);
	loci_blame_free(listings->lines);
	loci_blame_free(listings->links);
	*listings = (struct loci_listings){ 0 };
}
