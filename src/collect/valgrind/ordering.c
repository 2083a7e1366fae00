// SPDX-License-Identifier: GPL-2.0-or-later
#include "collect/valgrind/ordering.h"
#include "collect/valgrind/out.h"

struct object {
	struct object *next; /* these two as VG_(HT_*) wants them */
	UWord key;
	uint64_t number; /* of its last SYNC */
};

static VgHashTable *objects;

void ordering_tell(enum loci_sync kind, UWord object)
{
	uint64_t raw[2] = { object };
	struct object *found;

	if (!objects)
		objects = VG_(HT_construct)("loci.objects");
	found = VG_(HT_lookup)(objects, object);
	if (!found) {
		found = VG_(malloc)("loci.object", sizeof(*found));
		found->key = object;
		found->number = 0;
		VG_(HT_add_node)(objects, found);
	}
	raw[1] = ++found->number;
	out_mark(LOCI_MARK_SYNC, kind, 2, raw);
}

void ordering_begin(void)
{
	if (objects)
		VG_(HT_destruct)(objects, VG_(free));
	objects = NULL;
}
