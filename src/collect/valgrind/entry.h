/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where functions begin: at their symbols and, for code without symbols, at what direct calls were
 * seen to call. */
#ifndef LOCI_COLLECT_VALGRIND_ENTRY_H
#define LOCI_COLLECT_VALGRIND_ENTRY_H

#include "collect/valgrind/call.h"

/* Whether a function begins there; *ret_kind is set if it is watched. */
Bool entry_is_at(Addr code, const struct call_kind **ret_kind);
/* A direct call goes there. */
void entry_is_called(Addr code);

/* The function there is of that kind from here on, if it is not of one already. */
Bool entry_may_watch(Addr code);
void entry_watch(Addr code, const struct call_kind *kind);

#endif
