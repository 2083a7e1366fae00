// SPDX-License-Identifier: GPL-2.0-or-later
/* Pieces of arrays: where they are cut, against a search through all of them; and what they met, of
 * random references to objects of random sizes, against a list searched from the top. */
#include "attribution.h"

#include "analyse/grow.h"
#include "analyse/piece.h"

#define N_OBJECTS 5
#define REFS      8000
#define LIST      4096
#define LINES     16 /* of the cache */
#define BASE      0x500000
#define APART     0x10000

static uint64_t state;

static uint64_t below(uint64_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state >> 20) % n;
}

static uint32_t search(uint64_t index, uint64_t extent, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (loci_piece_low(i, extent, n) <= index &&
			index < loci_piece_low(i + 1, extent, n))
			return i;
	return UINT32_MAX;
}

/* Pieces are even to one index, cover all, and each index is in the piece that says so. */
static void check_cuts(void)
{
	for (unsigned k = 0; k < 300; k++) {
		uint64_t extent = 1 + below(k < 100 ? 100 : k < 200 ? 100000 : 1ull << 60);
		uint32_t n = 1 + (uint32_t)below(extent < LOCI_PIECES ? extent : LOCI_PIECES);
		uint64_t least = extent / n, most = (extent + n - 1) / n;

		CHECK_U64(loci_piece_low(0, extent, n), 0);
		CHECK_U64(loci_piece_low(n, extent, n), extent);
		for (uint32_t i = 0; i < n; i++) {
			uint64_t size =
				loci_piece_low(i + 1, extent, n) - loci_piece_low(i, extent, n);

			CHECK(size >= least && size <= most);
		}
		for (unsigned i = 0; i < 50; i++) {
			uint64_t index = below(extent);

			CHECK_U64(loci_piece_of(index, extent, n), search(index, extent, n));
		}
		CHECK_U64(loci_piece_of(extent - 1, extent, n), n - 1);
	}
}

/* An array of two dimensions, in a frame: rows of 10 elements of 8 bytes. */
static void check_shape(void)
{
	struct loci_pieces pieces = { .block_bytes = 16, .n_cells = 1 };
	uint32_t cell[2];

	if (loci_grow(&pieces.object, &pieces.object_cap, 1, sizeof(*pieces.object)) < 0 ||
		loci_grow(&pieces.site, &pieces.site_cap, 1, sizeof(*pieces.site)) < 0)
		abort();
	pieces.object[0] = (struct loci_piece_object){ .asked = true,
		.first = 7,
		.n_outer = 3,
		.n_inner = 5,
		.shape = { .element_bytes = 8, .elements = 30, .inner = 10 } };
	pieces.site[0] = (struct loci_piece_site){
		.begin = (uint64_t)-300, .whole_bytes = 240, .framed = true
	};
	for (unsigned i = 0; i < 30; i++) {
		loci_pieces_find(&pieces, 0, 0x7000 - 300 + 8 * i + i % 8, 0x7000, cell);
		CHECK_U64(cell[0], 7 + i / 10);
		CHECK_U64(cell[1], 7 + 3 + i % 10 / 2);
	}
	loci_pieces_find(&pieces, 0, 0x7000 - 300 + 240, 0x7000, cell);
	CHECK_U64(cell[0], LOCI_NO_CELL);
	CHECK_U64(cell[1], LOCI_NO_CELL);
	free(pieces.object);
	free(pieces.site);
}

struct truth {
	uint64_t list[LIST]; /* most recent first */
	size_t n;
	struct loci_piece_row piece[N_OBJECTS][LOCI_PIECES];
};

/* 64 blocks and more are cut; element bytes 0: not known. */
static const struct {
	uint64_t bytes, element;
} made[N_OBJECTS] = { { 64 * 64, 8 }, { 64 * 64 - 1, 1 }, { 10000, 0 }, { 64 * 100 + 40, 8 },
	{ 12345, 3 } };

static void touch(struct truth *t, unsigned object, uint64_t offset)
{
	uint64_t block = (BASE + object * APART + offset) / 64, bytes = made[object].bytes;
	struct loci_piece_row *to = NULL;
	size_t d = 0;

	if (bytes >= 64 * 64 && offset < bytes)
		to = &t->piece[object][search(offset, bytes, LOCI_PIECES)];
	while (d < t->n && t->list[d] != block)
		d++;
	if (to) {
		to->touches++;
		to->cold += d == t->n;
		to->reuses += d < t->n;
		to->distance_blocks += d < t->n ? d : 0;
		to->misses += d == t->n || d >= LINES;
	}
	if (d == t->n && ++t->n > LIST)
		abort();
	memmove(t->list + 1, t->list, d * sizeof(*t->list));
	t->list[0] = block;
}

static void generate(struct words *w, struct truth *t, uint64_t seed)
{
	state = seed * 0x9e3779b97f4a7c15u + 1;
	memset(t, 0, sizeof(*t));
	DEFINE(w, 1, 0, LOAD(0x1000));
	DEFINE(w, 2, 0, STORE(0x1010), BYTES(4, 0x1020));
	for (unsigned i = 0; i < N_OBJECTS; i++) {
		char text[8];

		snprintf(text, sizeof(text), "o%u", i);
		name(w, i + 1, text);
		mark(w, LOCI_MARK_OBJECT, made[i].bytes, 4, (uint64_t)(BASE + i * APART),
			(uint64_t)w->n, (uint64_t)i + 1, made[i].element);
	}
	for (unsigned i = 0; i < REFS; i++) {
		unsigned object = (unsigned)below(N_OBJECTS);
		uint64_t most = made[object].bytes - 8, at[2];
		bool two = below(3) == 0;

		/* near the one before, or anywhere */
		at[0] = below(4) ? below(most < 512 ? most : 512) : below(most);
		at[1] = below(most);
		put(w, loci_mark_word(LOCI_MARK_BLOCK, 0, 1 + two));
		for (unsigned k = 0; k <= two; k++) {
			uint64_t size = k ? 4 : 8, last = at[k] + size - 1;
			uint64_t address = BASE + object * APART + at[k];

			put(w, address);
			touch(t, object, at[k]);
			if (address / 64 != (address + size - 1) / 64)
				touch(t, object, (last & -64ull));
		}
	}
}

static void check_stream(uint64_t seed, enum loci_analyse_pairs pairs)
{
	static const struct loci_level_row level = {
		.name = "L1", .size_bytes = LINES * 64, .line_bytes = 64, .share = "private"
	};
	const struct loci_analyse_options options = { .attribute = true,
		.no_sets = true,
		.pairs = pairs,
		.index = true,
		.levels = &level,
		.n_levels = 1 };
	loci_cleanup(loci_profile_closep) struct loci_profile *profile = NULL;
	static struct truth truth;
	struct words w = { 0 };
	size_t checked = 0;

	generate(&w, &truth, seed);
	profile = attributed(&w, &options);
	free(w.word);
	if (!profile)
		return;
	{
		GET(profile, piece, pieces);
		GET(profile, object, objects);

		for (size_t i = 0; i < n_piece; i++) {
			const struct loci_object_row *of = loci_row_find(
				object, n_object, sizeof(*object), piece[i].object_id);
			unsigned number = (unsigned)(of->name[1] - '0');
			uint64_t element = number == 2 ? 1 : made[number].element;
			uint64_t extent = of->size_bytes / element;
			const struct loci_piece_row *want = &truth.piece[number][i % LOCI_PIECES];

			CHECK_STR(piece[i].axis, number == 2 ? "byte" : "index");
			CHECK_U64(piece[i].low, loci_piece_low((uint32_t)(i % 64), extent, 64));
			CHECK_U64(piece[i].block_bytes, 64);
			CHECK_U64(piece[i].touches, want->touches);
			CHECK_U64(piece[i].cold, want->cold);
			CHECK_U64(piece[i].reuses, want->reuses);
			CHECK_U64(piece[i].distance_blocks, want->distance_blocks);
			CHECK_U64(piece[i].misses, want->misses);
			checked++;
		}
	}
	CHECK_U64(checked, 4 * LOCI_PIECES); /* one is too small */
}

int main(void)
{
	char dir[] = "/tmp/piece_test.XXXXXX";

	if (!mkdtemp(dir) || chdir(dir) < 0)
		return 1;
	state = 88172645463325252u;
	check_cuts();
	check_shape();
	for (uint64_t seed = 1; seed <= 3; seed++)
		check_stream(seed, (enum loci_analyse_pairs)(seed - 1));
	rmdir(dir);
	return check_status();
}
