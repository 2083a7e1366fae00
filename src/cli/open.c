// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/open.h"

#include "base/cleanup.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/pick.h"

int loci_aim_block(struct loci_aim *aim, const char *command, const char *text)
{
	struct loci_err err = { "" };

	if (loci_units_parse_bytes(text, &aim->block_bytes, &err) < 0)
		return loci_usage(command, "-b: %s", err.text);
	if (!loci_is_power_of_2(aim->block_bytes))
		return loci_usage(
			command, "-b: block sizes are powers of two, and \"%s\" is not", text);
	return 0;
}

/* What is a machine depends on the profile's unit, which is not known yet. */
int loci_aim_machine(struct loci_aim *aim, const char *command, const char *text)
{
	struct loci_hierarchy hierarchy;
	struct loci_err err = { "" };

	if (loci_hierarchy_parse(text, &hierarchy, &err) < 0 &&
		loci_hierarchy_parse_objects(text, &hierarchy, NULL) < 0)
		return loci_usage(command, "--cache: %s", err.text);
	aim->machine = text;
	return 0;
}

int loci_open_subject(const char *given, const struct loci_aim *aim,
	struct loci_profile **ret_profile, struct loci_subject *ret, struct loci_err *err)
{
	loci_autofree char *path = NULL;
	int r = loci_pick_profile(given, &path, err);

	*ret_profile = NULL;
	if (r < 0)
		return r;
	r = loci_profile_open(path, ret_profile, err);
	if (r < 0)
		return r;
	return loci_subject_init(ret, *ret_profile, aim->block_bytes, aim->machine, err);
}
