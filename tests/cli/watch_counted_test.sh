# SPDX-License-Identifier: GPL-2.0-or-later
# How far a watched sample was from its reuse is counted, not estimated by time, in loops that are counted as a whole,
# whose bounds are computed outside (unrolled in one program; in the other the code generator counts down): debug
# information says where the count is. The code is the same without it.
# Not under sanitizers.
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/clangs.sh"

cat >product.c <<'END'
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 200 };
static double a[MOST * MOST], b[MOST * MOST], c[MOST * MOST];

__attribute__((noinline)) static void product(size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < n; j++) {
			double sum = 0;

			for (size_t k = 0; k < n; k++)
				sum += a[i * n + k] * b[k * n + j];
			c[i * n + j] = sum;
		}
}

int main(int argc, char **argv)
{
	size_t n = argc > 1 ? (size_t)atoi(argv[1]) : MOST;

	for (size_t i = 0; i < n * n; i++) {
		a[i] = (double)(i % 13);
		b[i] = (double)(i % 7);
	}
	for (int round = 0; round < 2; round++)
		product(n);
	printf("%g\n", c[n * n - 1]);
	return 0;
}
END
cat >combine.c <<'END'
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 1 << 13 };
struct pair {
	double re, im;
};
static struct pair v[MOST], root[MOST];

static void combine(struct pair *low, size_t n, size_t stride)
{
	struct pair *high = low + n / 2;

	for (size_t k = 0; k < n / 2; k++) {
		struct pair w = root[k * stride], h = high[k], l = low[k];

		low[k].re = l.re + h.re * w.re;
		low[k].im = l.im + h.im * w.im;
		high[k].re = l.re - h.re * w.im;
		high[k].im = l.im - h.im * w.re;
	}
}

__attribute__((noinline)) static void all(size_t n)
{
	for (size_t length = 2; length <= n; length *= 2)
		for (size_t at = 0; at < n; at += length)
			combine(v + at, length, n / length);
}

int main(int argc, char **argv)
{
	size_t n = argc > 1 ? (size_t)atoi(argv[1]) : MOST;

	for (size_t i = 0; i < n; i++) {
		v[i].re = (double)(i % 13);
		root[i].im = 0.125;
	}
	for (int round = 0; round < 40; round++)
		all(n);
	printf("%g\n", v[n / 3].re);
	return 0;
}
END
# counted PROGRAM
counted() {
	expect 0 cc $clang -O2 -g -c -o with.o $1.c
	expect 0 cc $clang -O2 -c -o without.o $1.c
	if command -v objdump >/dev/null; then
		for object in with without; do
			objdump -d $object.o | grep -v "file format" >$object.txt
		done
		expect 0 cmp with.txt without.txt
	fi
	expect 0 cc $clang -o $1 with.o
	expect 0 ./$1
	cp out alone
	expect 0 loci record -q -m watch --watch-by registers -b 8 -c 20000 --burst 64 --seed 1 -o $1.loci ./$1
	cp out watched
	expect 0 cmp watched alone
	if [ "$(sqlite3 $1.loci 'select by_watch > 100 from sampling')" != 1 ]; then
		echo "no debug registers here: clang $clang is not tried"
		return
	fi
	expect 0 sqlite3 $1.loci "select by_time * 5 < by_watch, by_time, by_watch from sampling"
	grep -q '^1|' out || fail "clang $clang, $1: estimated of all: $(cat out)"
	expect 0 loci info $1.loci
	has out "estimated by time"
}
for clang in $clangs; do
	counted product
	counted combine
done
finish
