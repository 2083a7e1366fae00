/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keys of a few words each, numbered in the order in which they first came. Private to this room.
 */
#ifndef LOCI_PROFILE_KEY_SET_H
#define LOCI_PROFILE_KEY_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct key_set {
	unsigned width; /* words of a key: set before the first use, the rest 0 */
	uint64_t *word; /* of all keys, one after another */
	size_t n;
	size_t *slot; /* open addressing: a key's number + 1; 0: free */
	size_t n_slots;
};

/* The key's number; *ret_new: it was not there. 0 or -ENOMEM. */
int loci_key_set_add(struct key_set *set, const uint64_t *key, size_t *ret, bool *ret_new);
void loci_key_set_fini(struct key_set *set);

#endif
