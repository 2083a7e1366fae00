// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/distinct.h"

#include "analyse/digest.h"
#include "analyse/grow.h"

#include <errno.h>
#include <stdlib.h>

enum {
	UNASKED,
	NO_LINE, /* is known */
	FIRST,   /* statement */
};

int loci_distinct_new(const struct loci_code *code, uint64_t element_bytes,
	struct loci_distinct **ret, struct loci_err *err)
{
	struct loci_distinct *d = calloc(1, sizeof(*d));

	*ret = d;
	if (!d)
		return loci_err_nomem(err);
	d->code = code;
	d->shift = (unsigned)__builtin_ctzll(element_bytes);
	return 0;
}

void loci_distinct_free(struct loci_distinct *d)
{
	if (!d)
		return;
	free(d->statement);
	free(d->ran_in);
	free(d->element);
	loci_keymap_fini(&d->statements);
	free(d);
}

/* The statement of a site, new if need be. */
static int number(struct loci_distinct *d, const char *file, unsigned line, uint32_t *ret)
{
	struct loci_digest key = loci_digest_text((struct loci_digest){ line, 0 }, file);

	*ret = loci_keymap_get(&d->statements, key.a, key.b);
	if (*ret != LOCI_KEYMAP_NONE)
		return 0;
	*ret = FIRST + d->n_statements++;
	return loci_keymap_put(&d->statements, key.a, key.b, *ret);
}

/* Which statement a site is of. A module may be named after the first references to it, so what is
 * not known yet is asked for again. */
static int ask(struct loci_distinct *d, uint32_t number_of_site, struct loci_err *err)
{
	const struct loci_site *site = &d->code->site[number_of_site];
	const struct loci_code_options *options = &d->code->options;
	struct loci_frame_name frame[LOCI_FRAMES_MAX]; /* the innermost first, if all have room */
	size_t n = 0;
	int r;

	if (site->module == LOCI_NO_MODULE)
		return 0;
	if (site->flags & LOCI_REF_BULK) {
		d->statement[number_of_site] = NO_LINE;
		return 0;
	}
	pthread_mutex_lock(options->symbols_lock);
	r = loci_symbols_frames(
		options->symbols, site->module, site->offset, frame, LOCI_FRAMES_MAX, &n, err);
	if (r == 0 && (!n || !frame[0].file || !frame[0].line))
		d->statement[number_of_site] = NO_LINE;
	else if (r == 0 &&
		number(d, frame[0].file, frame[0].line, &d->statement[number_of_site]) < 0)
		r = loci_err_nomem(err);
	pthread_mutex_unlock(options->symbols_lock);
	return r;
}

static int reserve(struct loci_distinct *d, uint32_t site)
{
	if (site < d->statement_cap && site < d->ran_cap)
		return 0;
	if (loci_grow(&d->statement, &d->statement_cap, site + 1ul, sizeof(*d->statement)) < 0)
		return -ENOMEM;
	return loci_grow(&d->ran_in, &d->ran_cap, site + 1ul, sizeof(*d->ran_in));
}

int loci_distinct_again(struct loci_distinct *d, uint32_t site, uint32_t thread, uint64_t address,
	struct loci_err *err)
{
	uint64_t element = address >> d->shift;
	uint32_t statement;
	int r;

	if (reserve(d, site) < 0)
		return loci_err_nomem(err);
	if (d->statement[site] == UNASKED && (r = ask(d, site, err)) < 0)
		return r;
	statement = d->statement[site];
	if (statement != d->current || thread != d->thread || d->ran_in[site] == d->execution) {
		d->execution++;
		d->current = statement;
		d->thread = thread;
		d->n = 0;
	}
	d->ran_in[site] = d->execution;
	if (statement < FIRST)
		return 0;
	for (size_t i = 0; i < d->n; i++)
		if (d->element[i] == element)
			return 1;
	if (loci_grow(&d->element, &d->cap, d->n + 1, sizeof(*d->element)) < 0)
		return loci_err_nomem(err);
	d->element[d->n++] = element;
	return 0;
}
