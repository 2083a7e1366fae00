/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What Fortran compilers make of names, undone: flang's _QMgridFfillPinner (a capital letter says
 * what follows: the module grid, within its procedure fill, the procedure inner) and gfortran's
 * __grid_MOD_fill. Fortran's own names are lower case here, whatever the source has. */
#include "symbol/demangle.h"

#include <ctype.h>
#include <string.h>

#define NAME_MAX_BYTES 1024 /* a name has at most 63 letters, and few are nested deeply */

/* Letters, digits and what compilers add to names of their own. */
static size_t name_length(const char *text)
{
	size_t n = 0;

	while (islower((unsigned char)text[n]) || isdigit((unsigned char)text[n]) ||
		text[n] == '_' || text[n] == '.')
		n++;
	return n;
}

static bool append(char *text, const char *more, size_t n)
{
	size_t used = strlen(text);

	if (n >= NAME_MAX_BYTES - used)
		return false;
	memcpy(text + used, more, n);
	text[used + n] = '\0';
	return true;
}

/* One part more of a way through scopes. */
static bool enter(char *path, const char *name, size_t n)
{
	return (!*path || append(path, "::", 2)) && append(path, name, n);
}

/* "grid::fill", and of a variable in a procedure "counter (grid::fill)". The main program is a
 * scope without a name. */
static const char *from_flang(struct loci_pool *pool, const char *text)
{
	char path[NAME_MAX_BYTES] = "";
	bool in_procedure = false;

	while (isupper((unsigned char)*text)) {
		char kind = *text;
		size_t n;

		text++;
		if (kind == 'E' && isupper((unsigned char)*text)) /* a constant, a group */
			text++;
		n = name_length(text);
		if (kind == 'M' || kind == 'S' || kind == 'F') {
			in_procedure = kind == 'F';
			if (n && !enter(path, text, n))
				return NULL;
		} else if (kind == 'P' || (kind == 'E' && !in_procedure)) {
			if (!n || text[n] || !enter(path, text, n))
				return NULL;
			return loci_pool_string(pool, path);
		} else if (kind == 'E') {
			return !n || text[n] ? NULL
					     : loci_pool_format(pool, "%s (%s)", text,
						       *path ? path : LOCI_FORTRAN_MAIN);
		} else if (kind != 'B') { /* a block's number says nothing */
			return NULL;
		}
		text += n;
	}
	return NULL;
}

/* The module's name may have _MOD_ in it no more than any other: its letters are capitals. */
static const char *from_gfortran(struct loci_pool *pool, const char *text)
{
	size_t n = name_length(text), own;
	const char *name;

	if (n < 2 || text[n - 1] != '_' || strncmp(text + n, "MOD_", 4) != 0)
		return NULL;
	name = text + n + 4;
	own = name_length(name);
	if (!own || name[own])
		return NULL;
	return loci_pool_format(pool, "%.*s::%s", (int)n - 1, text, name);
}

const char *loci_demangle_fortran(struct loci_pool *pool, const char *mangled)
{
	if (!strcmp(mangled, "_QQmain") || !strcmp(mangled, "MAIN__"))
		return loci_pool_string(pool, LOCI_FORTRAN_MAIN);
	if (!strncmp(mangled, "_Q", 2))
		return from_flang(pool, mangled + 2);
	return strncmp(mangled, "__", 2) != 0 ? NULL : from_gfortran(pool, mangled + 2);
}
