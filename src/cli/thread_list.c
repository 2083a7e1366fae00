// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/thread_list.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* "3" or "3-5" at *at, which then stands behind it. */
static bool parse_range(const char **at, uint64_t *ret_first, uint64_t *ret_last)
{
	char *end;

	if (!isdigit((unsigned char)**at))
		return false;
	*ret_first = *ret_last = strtoull(*at, &end, 10);
	if (*end == '-') {
		if (!isdigit((unsigned char)end[1]))
			return false;
		*ret_last = strtoull(end + 1, &end, 10);
	}
	*at = end;
	return *ret_first <= *ret_last;
}

/* Marks the threads of the profile that lie in the range; whether there are any. */
static bool mark(const struct loci_thread_totals *thread, size_t n, uint64_t first, uint64_t last,
	bool *is_wanted)
{
	bool found = false;

	for (size_t i = 0; i < n; i++)
		if (thread[i].thread >= first && thread[i].thread <= last)
			found = is_wanted[i] = true;
	return found;
}

static int no_thread(const struct loci_profile *profile, uint64_t id, struct loci_err *err)
{
	size_t n, used = 0;
	const struct loci_thread_totals *thread = loci_profile_threads(profile, &n);
	char list[160] = "";

	for (size_t i = 0; i < n && used + 16 < sizeof(list); i++)
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%" PRIu32,
			i ? ", " : "", thread[i].thread);
	return loci_err_set(err, ENOENT, "there is no thread %" PRIu64 " in %.200s, but %s%s", id,
		loci_profile_path(profile), list, used + 16 < sizeof(list) ? "" : ", ..");
}

int loci_thread_list(const struct loci_profile *profile, const char *text, int64_t **ret,
	size_t *ret_n, struct loci_err *err)
{
	size_t n, found = 0;
	const struct loci_thread_totals *thread = loci_profile_threads(profile, &n);
	bool *is_wanted = calloc(n + 1, sizeof(*is_wanted));
	int64_t *ids = calloc(n + 1, sizeof(*ids));
	const char *at = text;
	uint64_t first, last;
	int r = is_wanted && ids ? 0 : loci_err_nomem(err);

	while (r == 0) {
		if (!parse_range(&at, &first, &last) || (*at && *at != ','))
			r = loci_err_set(
				err, EINVAL, "\"%.60s\" is no list of threads such as 1,3-5", text);
		else if (!mark(thread, n, first, last, is_wanted))
			r = no_thread(profile, first, err);
		if (!*at)
			break;
		at++;
	}
	for (size_t i = 0; r == 0 && i < n; i++)
		if (is_wanted[i])
			ids[found++] = thread[i].thread;
	free(is_wanted);
	if (r < 0) {
		free(ids);
		return r;
	}
	*ret = ids;
	*ret_n = found;
	return 0;
}
