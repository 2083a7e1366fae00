// SPDX-License-Identifier: GPL-2.0-or-later
/* A second file with the same templates in it. */
#include "described.hpp"

double other(std::vector<double> &of, shape::point &at)
{
	shape::polygon<shape::point> mine;

	mine.corners.push_back(at);
	mine.name(2);
	return shape::larger(shape::total(of), mine.area());
}
