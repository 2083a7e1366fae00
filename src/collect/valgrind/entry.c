// SPDX-License-Identifier: GPL-2.0-or-later
#include "collect/valgrind/entry.h"
#include "collect/valgrind/control.h"

struct target {
	struct target *next; /* these two as VG_(HT_*) wants them */
	UWord address;
};

struct watched {
	struct watched *next;
	UWord address;
	const struct call_kind *kind;
};

static VgHashTable *watched;    /* functions that the program has given to be run */
static VgHashTable *called;     /* targets of direct calls */
static VgHashTable *translated; /* code without a symbol that was taken for no entry */

static Bool has(VgHashTable **table, Addr code)
{
	return *table && VG_(HT_lookup)(*table, code);
}

static void add(VgHashTable **table, Addr code)
{
	struct target *target = VG_(malloc)("loci.target", sizeof(*target));

	if (!*table)
		*table = VG_(HT_construct)("loci.targets");
	target->address = code;
	VG_(HT_add_node)(*table, target);
}

Bool entry_may_watch(Addr code)
{
	return !watched || !VG_(HT_lookup)(watched, code);
}

void entry_watch(Addr code, const struct call_kind *kind)
{
	struct watched *found = VG_(malloc)("loci.watched", sizeof(*found));

	if (!watched)
		watched = VG_(HT_construct)("loci.watched");
	found->address = code;
	found->kind = kind;
	VG_(HT_add_node)(watched, found);
	control_retranslate(code);
}

Bool entry_is_at(Addr code, const struct call_kind **ret_kind)
{
	const struct watched *found = watched ? VG_(HT_lookup)(watched, code) : NULL;
	const HChar *name;

	if (found) {
		*ret_kind = found->kind;
		return True;
	}
	if (VG_(get_fnname_if_entry)(VG_(current_DiEpoch)(), code, &name)) {
		*ret_kind = call_kind_of(name);
		return True;
	}
	if (has(&called, code))
		return True;
	if (!has(&translated, code))
		add(&translated, code);
	return False;
}

void entry_is_called(Addr code)
{
	if (has(&called, code))
		return;
	add(&called, code);
	if (has(&translated, code))
		control_retranslate(code);
}
