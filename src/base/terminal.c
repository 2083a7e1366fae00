// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* The variables that choose the character set, in the order in which setlocale(3) obeys them. A
 * bare container sets none of them and its terminal is UTF-8 all the same, so silence means yes;
 * "C" was said by someone who wants plain text. */
static bool locale_has_unicode(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *value = getenv(names[i]);

		if (value && *value)
			return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
	}
	return true;
}

static bool is_set(const char *name)
{
	const char *value = getenv(name);

	return value && *value;
}

void loci_terminal_query(FILE *stream, struct loci_terminal *ret)
{
	const char *term = getenv("TERM");
	struct winsize size = { 0 };
	int fd = fileno(stream);

	*ret = (struct loci_terminal){ .columns = LOCI_TERMINAL_COLUMNS };
	if (fd < 0 || !isatty(fd) || (term && !strcmp(term, "dumb")))
		return;
	ret->is_terminal = true;
	ret->has_unicode = locale_has_unicode();
	ret->has_colour = !is_set("NO_COLOR"); /* no-color.org: any value but the empty one */
	if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
		ret->columns = size.ws_col;
}
