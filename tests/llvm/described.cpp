// SPDX-License-Identifier: GPL-2.0-or-later
/* A comment names what stands on its line. */
// clang-format off
/* As described.c, what C++ has beyond it. */
#include "described.hpp"

static shape::polygon<shape::point> whole;
double limit = 3;

namespace {
__attribute__((noinline)) void move(shape::point &at, const shape::point *by)
{
	at.x += by->x; /*: at.x by->x at *by */
	at.y += by->y; /*: at.y by->y at *by */
}
} // namespace

int main(int argc, char **)
{
	std::vector<double> some(8, argc);
	shape::point at = { 1, 2 }, by = { 3, 4 };

	whole.name(argc);
	move(at, &by);
	for (int i = 0; i < argc; i++)
		whole.corners.push_back(at);
	auto scaled = [&](double f) __attribute__((noinline)) { /*: scaled.at */
		return at.x * f; /*: this->at.x this->at at.x */
	};
	double sum = shape::total(some) + other(some, at) /*:? whole.corners._M_impl._M_finish whole.corners._M_impl._M_start */
		+ whole.area() + scaled(2); /*:? whole.corners._M_impl._M_finish whole.corners._M_impl._M_start at.x */
	limit = shape::larger(limit, sum); /*: limit */
	return limit < 0; /*: limit */
}
