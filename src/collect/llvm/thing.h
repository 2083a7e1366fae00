/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What lies at an address, as the source would write it: a text, and the place in its type. The
 * text grows as the address is followed through the type: "p", "p->list", "p->list[]". */
#ifndef LOCI_COLLECT_LLVM_THING_H
#define LOCI_COLLECT_LLVM_THING_H

#include "collect/llvm/describe.h"

struct loci_thing {
	char text[LOCI_VARIABLE_MAX];
	LLVMMetadataRef type; /* of what begins offset bytes before the address; NULL: not known */
	int64_t offset;
	bool pointed; /* the text is a pointer to it */
	bool element; /* it is one of many, which one is not known */
};

/* false: the text would be too long, or what is asked is not to be told. */

/* A variable, or what a variable of that type points to. */
bool loci_thing_name(struct loci_thing *thing, struct loci_debug_text name, LLVMMetadataRef type);
/* What the thing, a pointer that is read, points to. */
bool loci_thing_follow(struct loci_thing *thing);
/* The address moves by an unknown multiple of stride_bytes. */
bool loci_thing_index(struct loci_thing *thing, uint64_t stride_bytes);
/* Comes down to what is size_bytes large there. size_bytes 0: not known. whole: if all of
 * something is meant, its first member is not. */
bool loci_thing_narrow(struct loci_thing *thing, uint64_t size_bytes, bool whole);

#endif
