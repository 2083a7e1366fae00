// SPDX-License-Identifier: GPL-2.0-or-later
#include "collect/valgrind/entry.h"
#include "collect/valgrind/control.h"

struct target {
	struct target *next; /* these two as VG_(HT_*) wants them */
	UWord address;
};

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

Bool entry_is_at(Addr code, const struct call_kind **ret_kind)
{
	const HChar *name;

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
