// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/pick.h"

#include "base/cleanup.h"

#include <errno.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define NAMES_SHOWN 4

static bool is_directory(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* "a.loci, b.loci, .." for the message. */
static const char *list_names(char *buf, size_t size, char *const *names, size_t n)
{
	size_t used = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < n && i < NAMES_SHOWN && used < size; i++)
		used += (size_t)snprintf(buf + used, size - used, "%s%s", i ? ", " : "", names[i]);
	if (n > NAMES_SHOWN && used < size)
		snprintf(buf + used, size - used, ", ..");
	return buf;
}

static int pick_only(glob_t *found, char **ret_path, struct loci_err *err)
{
	char names[512];
	size_t n = 0;

	for (size_t i = 0; i < found->gl_pathc; i++)
		if (!is_directory(found->gl_pathv[i]))
			found->gl_pathv[n++] = found->gl_pathv[i];
	if (n == 0)
		return loci_err_set(err, ENOENT,
			"no profile was named and this directory has no *.loci file; name one, or "
			"make one with loci record or loci analyse");
	if (n > 1)
		return loci_err_set(err, EINVAL,
			"no profile was named and this directory has %zu (%s); name one", n,
			list_names(names, sizeof(names), found->gl_pathv, n));
	*ret_path = strdup(found->gl_pathv[0]);
	return *ret_path ? 0 : loci_err_nomem(err);
}

int loci_pick_profile(const char *given, char **ret_path, struct loci_err *err)
{
	loci_cleanup(globfree) glob_t found = { 0 };
	int r;

	if (given) {
		*ret_path = strdup(given);
		return *ret_path ? 0 : loci_err_nomem(err);
	}
	r = glob("*.loci", GLOB_NOESCAPE, NULL, &found);
	if (r == GLOB_NOSPACE)
		return loci_err_nomem(err);
	return pick_only(&found, ret_path, err);
}
