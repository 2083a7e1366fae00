# SPDX-License-Identifier: GPL-2.0-or-later
# --statement: each element once per execution of a statement, counted by hand; live and from a kept
# trace, of both collectors; and the whole histogram of a small ADI against a naive stack.
# Not under sanitizers: what is tested runs in the collectors and is tested there by unit tests.
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/clangs.sh"

cat >lines.c <<'C'
static volatile double a[64], b[64];

__attribute__((noinline)) static void work(int n)
{
	for (int i = 0; i < n; i++)
		a[i] = a[i] * 2;
	for (int i = 1; i < n; i++)
		a[i] = a[i] + a[i - 1] + b[i] + b[i];
	for (int i = 1; i < n; i++) {
		b[i] = a[i];
		b[i] = b[i] + a[i];
	}
}

int main(void)
{
	work(60);
	return 0;
}
C
# 60 of a[i]; 59 times a[i], a[i-1], b[i]; 59 times a[i], b[i], and again
want=$((60 + 59 * 3 + 59 * 4))
left=$((60 + 59 * 2 + 59))
refs() { sqlite3 "$1" 'select refs from run'; }

one() {
	local major=$1
	cc "$major" -g -O1 -o lines lines.c || fail "clang $major: lines.c does not compile"
	expect 0 loci record -q -b 64,8 --statement --trace kept.trace -o s.loci ./lines
	[ "$(refs s.loci)" = $want ] || fail "clang $major: $(refs s.loci) references, want $want"
	sqlite3 s.loci 'select note from run' | grep -q "once per execution of a statement: $left further" ||
		fail "clang $major: $(sqlite3 s.loci 'select note from run')"
	sqlite3 s.loci 'select capabilities from run' | grep -qw statement || fail "not said in capabilities"
	[ "$(sqlite3 s.loci 'select group_concat(touches) from grain')" = "$want,$want" ] || fail "touches"
	expect 0 loci analyse -q -b 8 --statement -o kept.loci kept.trace
	[ "$(refs kept.loci)" = $want ] || fail "from a trace: $(refs kept.loci)"
	expect 0 loci analyse -q -b 8 -o all.loci kept.trace
	[ "$(refs all.loci)" = $((want + left)) ] || fail "all references: $(refs all.loci)"
}
in_turn "$clangs" one
# counts of two kinds do not add up
expect 1 loci merge -o no.loci s.loci all.loci
grep -q "once per statement\|every reference" err || fail "$(cat err)"
expect 0 loci merge -o two.loci s.loci s.loci
[ "$(refs two.loci)" = $((2 * want)) ] || fail "merged: $(refs two.loci)"
# what loci reports of it
expect 0 loci report --no-color s.loci
grep -q "once per execution of a" out || fail "the report does not say it"

# Elements of 64 bytes: a[i] and a[i-1] are one where they lie in one, b[i] is another.
expect 0 loci record -q -b 64 --statement -o wide.loci ./lines
lines=$(sqlite3 wide.loci 'select refs from run')
[ "$lines" = $((60 + 59 * 2 + 7 + 59 * 4)) ] || fail "elements of 64 bytes: $lines"

# A trace without code has no statements.
printf ' L 1000,8\n S 1000,8\n' >plain.lackey
expect 1 loci analyse -q --statement --format lackey plain.lackey
grep -q "no statements" err || fail "$(cat err)"

# The other collector sees the same in the same function, and its return.
if command -v gcc >/dev/null && [ -e "$BUILD/libexec" ] && loci doctor 2>/dev/null | grep -q '^ *any *yes'; then
	gcc -g -O1 -fno-inline -fno-tree-vectorize -o plain lines.c || fail "gcc: lines.c does not compile"
	expect 0 loci record -q --collector any --only work -b 8 --statement -o any.loci ./plain
	seen=$(refs any.loci)
	[ "$seen" -ge $want ] && [ "$seen" -le $((want + 4)) ] || fail "any: $seen references, want $want"
fi

# Every distance of a small ADI.
cc "${clangs##* }" -g -O1 -o ding_adi "$SRC/bench/papers/ding_adi.c" || fail "ding_adi does not compile"
expect 0 loci record -q -b 8 --statement -o adi.loci ./ding_adi 20
cat >adi.py <<'PY'
import collections, sqlite3, sys
n = 20
trace = [("argv",)]  # main reads its argument
def statement(*elements):
    trace.extend(dict.fromkeys(elements))
for j in range(n):
    for i in range(n):
        statement(("x", j, i)); statement(("a", j, i)); statement(("a", j, i), ("b", j, i))
def sweep(j, i, k, m):
    x, a, b, p, q = ("x", j, i), ("a", j, i), ("b", j, i), ("x", k, m), ("b", k, m)
    statement(x, p, a, q); statement(b, a, q); statement(a, b, q)
for j in range(1, n):
    for i in range(n):
        sweep(j, i, j - 1, i)
for j in range(n):
    for i in range(1, n):
        sweep(j, i, j, i - 1)
for i in range(n):
    for j in range(n):
        statement(("x", j, i), ("b", j, i))
stack, want, cold = [], collections.Counter(), 0
for element in trace:
    if element in stack:
        d = stack.index(element)
        del stack[d]
        want[d] += 1
    else:
        cold += 1
    stack.insert(0, element)
file = sqlite3.connect(sys.argv[1])
number, got_cold = file.execute("select id, cold from histogram where owner = 'whole' and distance = 'stack'").fetchone()
assert got_cold == cold, (got_cold, cold)
for low, high, weight in file.execute("select low, high, weight from bin where histogram_id = ?", (number,)):
    sum_ = sum(want.pop(d, 0) for d in range(low, high))
    assert sum_ == weight, (low, high, weight, sum_)
assert not want, want
PY
expect 0 python3 adi.py adi.loci
finish
