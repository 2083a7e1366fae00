// SPDX-License-Identifier: GPL-2.0-or-later
/* What is left of a budget, of a function that says of each of its bytes where it is
 * (budget_fixture.s). What is expected was computed by hand. */
#include "symbol_fixture.h"

enum { RAX, RDX, RCX, RBX, RBP = 6, R13 = 13 };

#define FRAME 0x7ffc00001000u

static const uint64_t frame[8] = { 0, 0xfffffffffffffff9, [7] = 1000 }; /* at -16: -7; at -64 */
static const struct loci_symbol_machine machine = {
	.reg = { [RAX] = 500, [RCX] = 7, [RBX] = 123456, [RBP] = FRAME, [R13] = 600 },
	.memory = frame,
	.n_memory = 8,
};

static struct fixture fixture;
static uint64_t places, other;

static int budget_at(uint64_t address, int64_t *ret)
{
	struct loci_err err = { "" };

	return loci_symbols_budget(fixture.symbols, fixture.module, address, &machine, ret, &err);
}

static void is_known(unsigned place, int64_t expected)
{
	int64_t budget = 42;

	CHECK(budget_at(places + place, &budget) == 1);
	CHECK_U64((uint64_t)budget, (uint64_t)expected);
}

static void is_unknown(uint64_t address)
{
	int64_t budget;

	CHECK(budget_at(address, &budget) == 0);
}

int main(void)
{
	if (!fixture_open(&fixture, "budget"))
		return check_status();
	places = fixture_symbol(&fixture, "places");
	other = fixture_symbol(&fixture, "other");
	CHECK(places && other == places + 16);

	is_known(0, 123456);
	is_known(1, 500 + (1000 - 600) / 4 * 8); /* 100 turns of 8 are ahead */
	is_known(2, -7);
	is_known(6, (7 + 5) << 3);
	is_known(7, -8 / 2 + 2);
	is_known(8, 0x1234 & 0xf0);
	is_known(3, 123456); /* by a second variable, as is 13 */
	is_known(13, 7 + 2);
	is_unknown(places + 4);
	is_unknown(places + 5);
	for (unsigned i = 9; i < 13; i++)
		is_unknown(places + i);
	is_unknown(places + 14); /* nothing is said */
	is_unknown(places + 15);
	is_unknown(other);
	is_unknown(other + 1); /* of no function */
	fixture_close(&fixture);
	return check_status();
}
