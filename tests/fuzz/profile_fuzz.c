// SPDX-License-Identifier: GPL-2.0-or-later
/* Any bytes as a profile: opened, read to the last row and bin, never a crash; what is read holds
 * together.
 *
 * Most of a profile is SQLite's own structure; so that inputs get past the header, its magic,
 * version and size are repaired before the file is opened, unless the first byte says otherwise. */
#include "base/cleanup.h"
#include "profile/dimension.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void put_big_endian(uint8_t *to, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		to[i] = (uint8_t)(value >> (24 - 8 * i));
}

static void repair_header(uint8_t *file, size_t size)
{
	static const uint8_t start[] = "SQLite format 3\0\x04\x00\x01\x01\x00\x40\x20\x20";

	memcpy(file, start, sizeof(start) - 1);
	put_big_endian(file + 28, (uint32_t)(size / 1024));
	memcpy(file + 92, file + 24, 4);
	put_big_endian(file + 60, 1);
	put_big_endian(file + 68, 0x6c6f6369);
}

/* Dimensions are refused with a reason, or every id leads somewhere and every parent to an end. */
static void read_dimensions(struct loci_profile *profile)
{
	const struct loci_context_row *context = NULL;
	const struct loci_owner_hist *hists;
	struct loci_err err = { "" };
	size_t n, n_contexts = 0;

#define GET(name, names)                                                               \
	{                                                                              \
		const struct loci_##name##_row *row;                                   \
                                                                                       \
		err.text[0] = '\0';                                                    \
		if (loci_profile_##names(profile, &row, &n, &err) < 0 && !err.text[0]) \
			__builtin_trap();                                              \
	}
	LOCI_DIMENSIONS(GET)
	if (loci_profile_contexts(profile, &context, &n_contexts, &err) < 0)
		n_contexts = 0;
	for (size_t i = 0; i < n_contexts; i++)
		for (const struct loci_context_row *up = &context[i]; up->parent_id;) {
			up = loci_row_find(context, n_contexts, sizeof(*up), up->parent_id);
			if (!up)
				__builtin_trap();
		}
	for (int owner = LOCI_OWNER_WHOLE; owner <= LOCI_OWNER_ACCESS; owner++)
		loci_profile_hists(
			profile, LOCI_DISTANCE_STACK, (enum loci_owner)owner, 64, &hists, &n, &err);
}

static int read_all(const char *path)
{
	loci_cleanup(loci_profile_closep) struct loci_profile *profile = NULL;
	struct loci_err err = { "" };
	const struct loci_hist_key *key;
	const struct loci_hist *hist;
	volatile double sum = 0;
	size_t n;
	int r = loci_profile_open(path, &profile, &err);

	if (r < 0) {
		if (!err.text[0])
			__builtin_trap(); /* every refusal says why */
		return r;
	}
	read_dimensions(profile);
	key = loci_profile_hist_keys(profile, &n);
	for (size_t i = 0; i < n; i++)
		if (loci_profile_hist(profile, &key[i], &hist, &err) == 0)
			sum += loci_hist_total(hist);
	if (!(sum >= 0))
		__builtin_trap();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char path[64];
	loci_autofree uint8_t *copy = NULL;
	loci_autoclose int fd = -1;

	if (!path[0])
		snprintf(path, sizeof(path), "/dev/shm/loci-fuzz-%ld", (long)getpid());
	copy = malloc(size + 1);
	if (!copy)
		return 0;
	memcpy(copy, data, size);
	if (size >= 100 && copy[0] != 0xff)
		repair_header(copy, size);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, copy, size) != (ssize_t)size)
		return 0;
	read_all(path);
	unlink(path);
	return 0;
}
