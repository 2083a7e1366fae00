// SPDX-License-Identifier: GPL-2.0-or-later
/* Its references can be counted by hand, as those of counted.c can; here of objects of classes, and
 * where control goes other ways than by call and return. tests/cli/cc_control_test.sh has the
 * counts. */
#include <csetjmp>
#include <cstdlib>
#include <memory>
#include <ucontext.h>
#include <vector>

#define KEEP __attribute__((noinline))
enum { CELLS = 1000, ROUNDS = 5 };

struct cell {
	volatile long key, value;
	long rest[6];
};

/* Two implementations of one call. */
struct shape {
	virtual ~shape() = default;
	virtual long area(int times) const = 0;
};

struct square : shape {
	volatile long side = 3;
	KEEP long area(int times) const override
	{
		long sum = 0;
		for (int i = 0; i < times; i++)
			sum += side; /* count:square */
		return sum;
	}
};

struct circle : shape {
	volatile long radius = 2;
	KEEP long area(int times) const override
	{
		long sum = 0;
		for (int i = 0; i < times; i++)
			sum += radius; /* count:circle */
		return sum;
	}
};

static KEEP long area_of(const shape &s, int times)
{
	return s.area(times) + 1;
}

static volatile long seen[8];

template <typename T> static KEEP void touch(T *data, int n)
{
	for (int i = 0; i < n; i++)
		data[i] = T(i); /* count:touch */
}

/* Exceptions, through one that does not catch. */
static KEEP void fail(int n)
{
	seen[0] = n; /* count:fail */
	if (n % 2)
		throw n;
}

static KEEP void through(int n)
{
	fail(n);
	seen[1] = n; /* count:through */
}

static KEEP long catching(int times)
{
	long caught = 0;

	for (int i = 0; i < times; i++) {
		try {
			through(i);
		} catch (int n) {
			seen[2] = n; /* count:caught */
			caught++;
		}
	}
	return caught;
}

static jmp_buf out;

static KEEP void jump(int n)
{
	seen[3] = n; /* count:jump */
	longjmp(out, 1);
}

static KEEP void jumping(int times)
{
	volatile int i = 0;

	if (setjmp(out))
		seen[4] = i; /* count:landed */
	if (i < times) {
		i = i + 1;
		jump(i);
	}
}

/* A coroutine that goes on where it was. */
static ucontext_t main_context, other_context;

static KEEP void step(int n)
{
	seen[5] = n; /* count:step */
	swapcontext(&other_context, &main_context);
	seen[6] = n; /* count:step-again */
}

static void coroutine()
{
	for (int i = 0; i < ROUNDS; i++)
		step(i); /* count:call-step */
}

static KEEP void resume(int n)
{
	seen[7] = n; /* count:resume */
	swapcontext(&main_context, &other_context);
}

static KEEP void coroutines()
{
	void *stack = malloc(1 << 16);

	getcontext(&other_context);
	other_context.uc_stack.ss_sp = stack;
	other_context.uc_stack.ss_size = 1 << 16;
	other_context.uc_link = &main_context;
	makecontext(&other_context, coroutine, 0);
	for (int i = 0; i <= ROUNDS; i++)
		resume(i);
	free(stack);
}

static KEEP long keys(const cell *cells, int n)
{
	long sum = 0;

	for (int i = 0; i < n; i++)
		sum += cells[i].key; /* count:keys */
	return sum;
}

int main()
{
	std::vector<cell> cells(CELLS); /* count:cells */
	std::unique_ptr<shape> one(new square);
	std::unique_ptr<shape> two(new circle);
	auto *longs = new volatile long[CELLS]; /* count:longs */
	auto *shorts = new volatile short[CELLS];
	long sum = keys(cells.data(), CELLS) + keys(cells.data(), CELLS);

	sum += area_of(*one, 10) + area_of(*two, 20);
	touch(longs, CELLS);
	touch(shorts, CELLS);
	sum += catching(10);
	jumping(7);
	coroutines();
	delete[] longs;
	delete[] shorts;
	return sum == -1;
}
