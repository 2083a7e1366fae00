// SPDX-License-Identifier: GPL-2.0-or-later
/* Exceptions and virtual functions as gcc tells them, counted in tests/cli/gcc_told_test.sh. */
#include <cstdio>

#define KEEP __attribute__((noinline, noclone, noipa))

int numbers[100];

struct base {
	virtual KEEP ~base()
	{
	}
	virtual void work(int n) = 0;
};
struct derived : base {
	KEEP void work(int n) override
	{
		for (int i = 0; i < n; i++)
			numbers[i] += i;
	}
};

KEEP void thrower(int n)
{
	numbers[n] = n;
	if (n == 0)
		throw n;
	thrower(n - 1);
	numbers[n] = -1; /* never */
}

KEEP void catcher(int n)
{
	try {
		thrower(n);
	} catch (int) {
		for (int i = 0; i < 10; i++)
			numbers[i] = 7;
	}
}

KEEP void call(base *object, int n)
{
	object->work(n);
}

int main()
{
	derived object;

	catcher(20);
	call(&object, 50);
	std::puts("done");
	return 0;
}
