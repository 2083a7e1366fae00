// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/page.h"

#include "base/cleanup.h"
#include "cli/pick.h"
#include "report/view_page.h"

#include <errno.h>
#include <string.h>

struct opened {
	struct loci_profile *profile[LOCI_PAGE_PROFILES];
	struct loci_subject *subject; /* one for each */
	struct loci_view_profile view[LOCI_PAGE_PROFILES];
};

static void close_all(struct opened *opened)
{
	for (size_t i = 0; i < LOCI_PAGE_PROFILES; i++)
		loci_profile_close(opened->profile[i]);
	for (size_t i = 0; opened->subject && i < LOCI_PAGE_PROFILES; i++)
		loci_subject_fini(&opened->subject[i]);
	free(opened->subject);
}

/* One that holds operations alone has no subject. */
static int open_one(struct opened *opened, size_t i, const char *path, const struct loci_aim *aim,
	struct loci_err *err)
{
	const struct loci_run *run;
	int r = loci_profile_open(path, &opened->profile[i], err);

	if (r < 0)
		return r;
	opened->view[i].profile = opened->profile[i];
	run = loci_profile_run(opened->profile[i]);
	if (run->mode && !strcmp(run->mode, "count"))
		return 0;
	r = loci_subject_init(
		&opened->subject[i], opened->profile[i], aim->block_bytes, aim->machine, err);
	if (r == 0)
		opened->view[i].subject = &opened->subject[i];
	return r;
}

int loci_page_make(char *const *path, size_t n, const struct loci_aim *aim, char **ret,
	size_t *ret_length, char **ret_first, struct loci_err *err)
{
	loci_cleanup(close_all) struct opened opened = { 0 };
	loci_autofree char *first = NULL;
	FILE *memory;
	int r;

	if (n > LOCI_PAGE_PROFILES)
		return loci_err_set(err, EINVAL, "a page holds %d profiles, and %zu were given",
			LOCI_PAGE_PROFILES, n);
	r = loci_pick_profile(n ? path[0] : NULL, &first, err);
	opened.subject = calloc(LOCI_PAGE_PROFILES, sizeof(*opened.subject));
	if (r == 0 && !opened.subject)
		r = loci_err_nomem(err);
	for (size_t i = 0; r == 0 && i < (n ? n : 1); i++)
		r = open_one(&opened, i, i ? path[i] : first, aim, err);
	if (r < 0)
		return r;
	memory = open_memstream(ret, ret_length);
	if (!memory)
		return loci_err_nomem(err);
	r = loci_view_page(opened.view, n ? n : 1, memory, err);
	if (fclose(memory) != 0 && r == 0)
		r = loci_err_nomem(err);
	if (r == 0 && ret_first) {
		*ret_first = first;
		first = NULL;
	}
	return r;
}
