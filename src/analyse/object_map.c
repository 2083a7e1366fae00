// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyse/object_map.h"

#include "base/cleanup.h"

#include <string.h>

void loci_map_fini(struct loci_map *map)
{
	for (size_t i = 0; i < map->n; i++)
		free(map->region[i]);
	for (size_t i = 0; i < map->n_spare; i++)
		free(map->spare[i]);
	free(map->region);
	free(map->spare);
}

size_t loci_map_index(struct loci_map *map, uint64_t address)
{
	size_t low = 0, high = map->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (map->region[middle]->last < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct loci_region *loci_map_find(struct loci_map *map, uint64_t address)
{
	size_t i = map->last;

	if (i >= map->n ||
		address - map->region[i]->low > map->region[i]->last - map->region[i]->low) {
		i = loci_map_index(map, address);
		if (i == map->n || map->region[i]->low > address)
			return NULL;
		map->last = i;
	}
	return map->region[i];
}

static int grow(struct loci_region ***array, size_t n, size_t *cap, struct loci_err *err)
{
	size_t more = *cap ? *cap * 2 : 64;
	struct loci_region **grown;

	if (n < *cap)
		return 0;
	grown = realloc(*array, more * sizeof(struct loci_region *));
	if (!grown)
		return loci_err_nomem(err);
	*array = grown;
	*cap = more;
	return 0;
}

static int insert(
	struct loci_map *map, size_t i, const struct loci_region *region, struct loci_err *err)
{
	struct loci_region *record;
	uint32_t serial = 0;
	int r = grow(&map->region, map->n, &map->cap, err);

	if (r < 0)
		return r;
	if (map->n_spare) {
		record = map->spare[--map->n_spare];
		serial = record->serial;
	} else {
		record = malloc(sizeof(*record));
		if (!record)
			return loci_err_nomem(err);
	}
	*record = *region;
	record->serial = serial;
	memmove(map->region + i + 1, map->region + i, (map->n - i) * sizeof(*map->region));
	map->region[i] = record;
	map->n++;
	return 0;
}

static int erase(struct loci_map *map, size_t i, struct loci_err *err)
{
	int r = grow(&map->spare, map->n_spare, &map->cap_spare, err);

	if (r < 0)
		return r;
	map->spare[map->n_spare++] = map->region[i];
	map->n--;
	memmove(map->region + i, map->region + i + 1, (map->n - i) * sizeof(*map->region));
	return 0;
}

int loci_map_cut(
	struct loci_map *map, uint64_t low, uint64_t last, bool *ret_stack, struct loci_err *err)
{
	size_t i = loci_map_index(map, low);
	int r = 0;

	while (r == 0 && i < map->n && map->region[i]->low <= last) {
		struct loci_region *region = map->region[i], rest = *region;

		region->serial++;
		*ret_stack |= region->stack;
		if (region->low < low)
			region->last = low - 1;
		else if (region->last > last)
			region->low = last + 1;
		else {
			r = erase(map, i, err);
			continue;
		}
		if (rest.low < low && rest.last > last) {
			rest.low = last + 1;
			r = insert(map, i + 1, &rest, err);
		}
		i++;
	}
	return r;
}

int loci_map_add(struct loci_map *map, const struct loci_region *region, struct loci_err *err)
{
	size_t i = loci_map_index(map, region->low);
	struct loci_region *before = i ? map->region[i - 1] : NULL;

	if (before && before->last + 1 == region->low && before->joins && region->joins &&
		before->object == region->object && before->parted == region->parted) {
		before->last = region->last;
		return 0;
	}
	return insert(map, i, region, err);
}
