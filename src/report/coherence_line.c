// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/coherence_line.h"

#include "base/units.h"
#include "report/pairs.h"

#include <inttypes.h>
#include <stdio.h>

static size_t add_groups(struct loci_profile *profile, char *buf, size_t used, size_t size)
{
	const struct loci_thread_group_row *group;
	size_t n, seen = 0;

	if (loci_profile_thread_groups(profile, &group, &n, NULL) < 0)
		return used;
	for (size_t i = 0; i < n && used < size; i++) {
		bool is_new = true;

		for (size_t k = 0; k < i && is_new; k++)
			is_new = group[k].share != group[i].share;
		if (is_new)
			used += (size_t)snprintf(buf + used, size - used, "%s%" PRIu64,
				seen++ ? ", " : "; groups of ", group[i].share);
	}
	return used;
}

const char *loci_coherence_line(struct loci_profile *profile, char *buf, size_t size)
{
	char misses[LOCI_UNITS_MAX], by_true[LOCI_UNITS_MAX], by_false[LOCI_UNITS_MAX],
		touches[LOCI_UNITS_MAX], bytes[LOCI_UNITS_MAX];
	const struct loci_coherence_row *row;
	size_t n, used = 0;

	buf[0] = '\0';
	if (loci_profile_coherences(profile, &row, &n, NULL) < 0)
		return buf;
	for (size_t i = 0; i < n && used < size; i++)
		if (row[i].owner == LOCI_OWNER_WHOLE)
			used += (size_t)snprintf(buf + used, size - used,
				"%s%s misses (%s true, %s false sharing) of %s touches, blocks of "
				"%s",
				used ? "; " : "",
				loci_units_count(misses,
					(double)(row[i].true_sharing + row[i].false_sharing)),
				loci_units_count(by_true, (double)row[i].true_sharing),
				loci_units_count(by_false, (double)row[i].false_sharing),
				loci_units_count(touches, (double)row[i].touches),
				loci_units_bytes(bytes, (double)row[i].block_bytes));
	if (used && used < size)
		add_groups(profile, buf, used, size);
	return buf;
}

void loci_coherence_json(struct loci_profile *profile, struct loci_json *json)
{
	const struct loci_thread_group_row *group;
	const struct loci_coherence_row *row;
	size_t n;

	loci_pair_array(json, "coherence");
	if (loci_profile_coherences(profile, &row, &n, NULL) < 0)
		n = 0;
	for (size_t i = 0; i < n; i++) {
		if (row[i].owner != LOCI_OWNER_WHOLE)
			continue;
		loci_json_object(json);
		loci_pair_u64(json, "block_bytes", row[i].block_bytes);
		loci_pair_u64(json, "touches", row[i].touches);
		loci_pair_u64(json, "true_sharing", row[i].true_sharing);
		loci_pair_u64(json, "false_sharing", row[i].false_sharing);
		loci_pair_u64(json, "remote", row[i].remote);
		loci_json_object_end(json);
	}
	loci_json_array_end(json);
	if (loci_profile_thread_groups(profile, &group, &n, NULL) < 0)
		n = 0;
	loci_pair_u64(json, "thread_groups", n);
}
