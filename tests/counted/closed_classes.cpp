// SPDX-License-Identifier: GPL-2.0-or-later
/* As closed_forms.c, in C++:	closed_classes NAME N */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <vector>

#define KEEP __attribute__((noinline))

struct shape {
	volatile long side = 2;
	virtual long area() const = 0;
	virtual ~shape() = default;
};

struct square : shape {
	KEEP long area() const override
	{
		return side * side;
	}
};

/* Loads the pointer, the object's table and the function in it. */
KEEP long calls(shape const *volatile *v, int n)
{
	long sum = 0;

	for (int i = 0; i < n; i++)
		sum += v[i]->area();
	return sum;
}

template <class number> KEEP number sum(const volatile number *v, int n)
{
	number all = 0;

	for (int i = 0; i < n; i++)
		all += v[i];
	return all;
}

/* Unwinding leaves nothing uncounted: every third turn throws after its load. */
KEEP static void step(volatile long *v, long at)
{
	if (at % 3 == 0)
		throw std::runtime_error("third");
	v[at] = at;
}

KEEP long throwing(volatile long *v, int n)
{
	long caught = 0;

	for (int i = 0; i < n; i++)
		try {
			caught += v[i] & 0;
			step(v, i);
		} catch (const std::runtime_error &) {
			caught++;
		}
	return caught;
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	int n = std::atoi(argv[2]);
	std::vector<long> v(std::size_t(n) + 1, 3);
	long result;

	if (!std::strcmp(argv[1], "calls")) {
		square one;
		std::vector<const shape *> shapes(std::size_t(n), &one);

		result = calls(const_cast<shape const *volatile *>(shapes.data()), n);
	} else if (!std::strcmp(argv[1], "sum")) {
		result = sum<long>(v.data(), n);
	} else if (!std::strcmp(argv[1], "throwing")) {
		result = throwing(v.data(), n);
	} else {
		return 2;
	}
	std::printf("%ld\n", result);
	return 0;
}
