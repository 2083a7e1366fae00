// SPDX-License-Identifier: GPL-2.0-or-later
/* Exceptions: thrown through frames with and without cleanups, caught in loops, rethrown; objects
 * passed by value; virtual calls. */
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

static int alive;
struct guard {
	int *where;
	explicit guard(int *w) : where(w)
	{
		alive++;
	}
	~guard()
	{
		alive--;
		*where += 1;
	}
};

__attribute__((noinline)) static int deep(int n, int *log)
{
	guard g(log);
	if (n == 0)
		throw std::runtime_error("bottom");
	if (n == 50)
		throw 50;
	return deep(n - 1, log) + 1;
}

__attribute__((noinline)) static int retry(int *log)
{
	int tries = 0, at = 0;
	for (;;) {
		try {
			at += deep(tries * 7 % 11 + 3, log);
		} catch (const std::exception &e) {
			at += (int)std::string(e.what()).size();
			if (++tries > 20)
				break;
			continue;
		}
		at += 1000;
	}
	return at;
}

static int catch_in_catch(int *log)
{
	int sum = 0;
	for (int i = 0; i < 10; i++)
		try {
			try {
				deep(i % 2 ? 50 : 4, log);
			} catch (int n) {
				sum += n;
				throw std::string("again");
			}
		} catch (const std::string &s) {
			sum += (int)s.size();
		} catch (...) {
			sum += 1;
		}
	return sum;
}

struct big {
	long v[20];
};
__attribute__((noinline)) static long by_value(struct big b, int i)
{
	b.v[i % 20] += i;
	return b.v[i % 20] + b.v[0];
}

struct shape {
	virtual ~shape()
	{
	}
	virtual double area() const = 0;
};
struct square : shape {
	double side;
	explicit square(double s) : side(s)
	{
	}
	double area() const override
	{
		return side * side;
	}
};
struct disc : shape {
	double r;
	explicit disc(double x) : r(x)
	{
	}
	double area() const override
	{
		return 3 * r * r;
	}
};

int main()
{
	int log = 0;
	std::printf("%d\n", retry(&log));
	std::printf("%d %d %d\n", catch_in_catch(&log), log, alive);
	struct big b = {};
	long total = 0;
	for (int i = 0; i < 100; i++)
		total += by_value(b, i);
	std::printf("%ld\n", total);
	std::vector<shape *> shapes;
	for (int i = 0; i < 30; i++)
		shapes.push_back(i % 3 ? (shape *)new square(i) : new disc(i));
	double area = 0;
	for (auto *s : shapes)
		area += s->area();
	for (auto *s : shapes)
		delete s;
	std::map<std::string, int> words;
	for (int i = 0; i < 200; i++)
		words["w" + std::to_string(i * 37 % 61)] += i;
	for (auto &w : words)
		area += w.second * (double)w.first.size();
	std::printf("%g\n", area);
	try {
		std::vector<int>().at(3);
	} catch (const std::out_of_range &) {
		std::puts("out of range");
	}
	return 0;
}
