/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A comment names what stands on its line. */
// clang-format off
/* Functions that each file that uses them has a copy of. */
#ifndef LOCI_TESTS_DESCRIBED_HPP
#define LOCI_TESTS_DESCRIBED_HPP

#include <vector>

namespace shape {

struct point {
	double x, y;
};

struct empty {
};

struct base { /*: this->_vptr$base */
	long id;
	virtual ~base() = default;
	virtual double area() const = 0;
};

template <class T> struct polygon : empty, base { /*: this->_vptr$base whole._vptr$base */
	std::vector<T> corners;
	double area() const override
	{ /*:? this->corners._M_impl._M_finish this->corners._M_impl._M_start */
		double sum = 0;
		for (unsigned i = 0; i + 1 < corners.size(); i++) /*:? this->corners._M_impl._M_finish this->corners._M_impl._M_start */
			sum += corners[i].x * corners[i + 1].y; /*:? this->corners._M_impl._M_start[].x this->corners._M_impl._M_start[].y whole.corners._M_impl._M_start[].x whole.corners._M_impl._M_start[].y */
		return sum + id; /*: this->id whole.id */
	}
	__attribute__((noinline)) void name(long to)
	{
		id = to; /*: this->id */
	}
};

/* Small, so that it is inlined; in both files, so that one copy must go. */
template <class T> inline T larger(const T &a, const T &b)
{
	return a < b ? b : a; /*: a b */
}

template <class T> __attribute__((noinline)) T total(const std::vector<T> &of)
{
	T sum = 0;
	for (const T &each : of)
		sum += each; /*: each of._M_impl._M_start[] *of._M_impl._M_start */
	return sum;
}

} // namespace shape

double other(std::vector<double> &of, shape::point &at);

#endif
