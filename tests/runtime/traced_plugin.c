// SPDX-License-Identifier: GPL-2.0-or-later
/* A library that traced.c loads and unloads. */
#include "runtime/by_hand.h"

BY_HAND(loaded)

__attribute__((visibility("default"))) void plugin_run(
	struct totals *totals, uint64_t tag, uint64_t n);
void plugin_run(struct totals *totals, uint64_t tag, uint64_t n)
{
	loaded(totals, tag, n);
}
