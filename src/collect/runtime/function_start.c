// SPDX-License-Identifier: BSD-2-Clause
/* Where functions begin, from the table that unwinding is looked up in (.eh_frame_hdr, Linux
 * Standard Base): sorted pairs of an address and a description, in four bytes each, less the
 * address of the table's head. It is there in stripped programs too, and the loader knows it
 * without a lock. */
#include "collect/runtime/call_places.h"

#include <dlfcn.h>
#include <string.h>

#define ENCODED_BYTES4   0x03 /* DW_EH_PE_udata4 */
#define ENCODED_RELATIVE 0x3b /* DW_EH_PE_datarel | DW_EH_PE_sdata4 */

struct head {
	uint8_t version, frame_encoding, count_encoding, table_encoding;
	int32_t frame;
	uint32_t n;
	struct {
		int32_t start, description;
	} entry[];
};

uintptr_t rt_function_start(uintptr_t address)
{
	struct dl_find_object found;
	const struct head *head;
	uint32_t low = 0, high;
	intptr_t offset;

	if (_dl_find_object((void *)address, &found) < 0 || !found.dlfo_eh_frame)
		return 0;
	head = found.dlfo_eh_frame;
	if (head->version != 1 || head->count_encoding != ENCODED_BYTES4 ||
		head->table_encoding != ENCODED_RELATIVE)
		return 0;
	offset = (intptr_t)(address - (uintptr_t)head);
	for (high = head->n; low < high;) {
		uint32_t middle = low + (high - low) / 2;

		if (head->entry[middle].start <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? (uintptr_t)head + (uintptr_t)(intptr_t)head->entry[low - 1].start : 0;
}
