# SPDX-License-Identifier: GPL-2.0-or-later
# Functions without loops have their tracing copy in a function of its own, right behind them (collect/llvm/twin.h): the
# counting copy has registers to itself, and nobody who asks what an address is of sees two functions.
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/clangs.sh"

cat >twin.cpp <<'END'
#include <cstdio>
#include <cstdlib>

struct node { long key; node *next; long found; };
static node *all[4096];

/* Most of its tracing copy's values live over calls; its counting copy needs no register that must be saved. */
__attribute__((noinline)) static long pick(node *n, long key)
{
	if (n->key == key)
		return ++n->found;
	node *a = n->next, *b = a->next, *c = b->next;
	a->found += b->key + c->key;
	b->found += c->key + n->key;
	c->found += n->key + a->key;
	return a->key + b->key + c->key;
}

__attribute__((noinline)) long both(node *n, long key)
{
	return pick(n, key) + pick(n->next, key + 1) + n->key;
}

/* Handed on as it came: eight arguments, two of them on the stack, and a result in memory. */
struct sums { long of[4]; };
__attribute__((noinline)) sums gather(node *a, node *b, node *c, node *d, long e, long f, long g, long h)
{
	return { { a->key + e, b->key + f, c->key + g, d->key + h } };
}

/* Thrown through and out of. */
__attribute__((noinline)) static long checked(node *n)
{
	if (n->key % 1000 == 999)
		throw n->key;
	return n->key;
}

__attribute__((noinline)) long tried(node *n)
{
	try {
		return checked(n) + n->found;
	} catch (long key) {
		return -key;
	}
}

int main()
{
	long sum = 0;
	for (long i = 0; i < 4096; i++)
		all[i] = new node{ i, nullptr, 0 };
	for (long i = 0; i < 4096; i++)
		all[i]->next = all[i * 1021 % 4096];
	for (long i = 0; i < 300000; i++) {
		node *n = all[i * 31 % 4096];
		sums s = gather(n, n->next, n, n->next, i, 1, 2, 3);
		sum += both(n, i & 7) + s.of[0] + s.of[3] + tried(n);
	}
	printf("%ld\n", sum);
}
END
clang++-19 -O2 -o native twin.cpp 2>/dev/null || clang++-14 -O2 -o native twin.cpp
expect 0 ./native
mv out native.out

try() { # MAJOR FLAG..
	local major=$1 f
	shift
	LOCI_PASS_VERIFY=1 expect 0 loci c++ --loci-clang=$major "$@" -O2 -o twin twin.cpp
	expect 0 ./twin
	cmp -s out native.out || fail "clang $major $*: computes something else"
	nm -nC twin | sed -n 's/.* [tT] //p' | tr -d ' ' >symbols
	for f in 'pick(node*,long)' 'both(node*,long)' 'checked(node*)' 'tried(node*)'; do
		grep -A1 -xF "$f" symbols | tail -1 | grep -qF "${f}[clone.loci]" ||
			fail "clang $major $*: no twin behind $f: $(tr '\n' ' ' <symbols)"
	done
	objdump -d --no-show-raw-insn -C twin | sed -n '/<pick(node\*, long)>:/,/^$/p' | grep -E 'push +%r(bx|1[2-5])' &&
		fail "clang $major $*: the counting copy saves registers"
	for way in "" "-m watch -c 3000"; do
		expect 0 loci record -q $way -o twin.loci ./twin
		cmp -s out native.out || fail "clang $major $* $way: computes something else when recorded"
		[ -z "$(sqlite3 twin.loci "select name from function where name like '%loci%'")" ] ||
			fail "clang $major $* $way: a tracing copy is shown"
		for f in pick both checked gather tried; do
			[ "$(sqlite3 twin.loci "select count(*) from function where name like '$f(%'")" = 1 ] ||
				fail "clang $major $* $way: $f is $(sqlite3 twin.loci "select group_concat(name) from function")"
		done
		sqlite3 twin.loci "select f.name || ' < ' || g.name from context c join function f on f.id = c.function_id
			join context p on p.id = c.parent_id join function g on g.id = p.function_id" >callers
		grep -q '^pick.* < both' callers || fail "clang $major $* $way: pick is not called by both: $(cat callers)"
	done
}
in_turn "$clangs" try
in_turn "$clangs" try -g
finish
