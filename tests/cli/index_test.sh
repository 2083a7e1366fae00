# SPDX-License-Identifier: GPL-2.0-or-later
# --index: a matrix of which some columns are walked, an array on the heap, one in a frame and one of
# Fortran's: every piece against a recount by a list searched from the top; and how it is shown.
# Not under sanitizers: piece_test is.
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/profiles.sh"
. "$SRC/tests/cli/clangs.sh"
cat >columns.c <<'C'
#include <stdlib.h>

static _Alignas(64) volatile double matrix[40][96];

int main(void)
{
	volatile int local[256];
	volatile double *block = aligned_alloc(64, 128 * 64);

	for (int round = 0; round < 3; round++)
		for (int j = 16; j < 32; j++)
			for (int i = 0; i < 40; i++)
				matrix[i][j] = round;
	for (int round = 0; round < 3; round++)
		for (int i = 10; i < 20; i++)
			matrix[i][60] = round;
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < 256; i += 2)
			local[i] = i;
	for (int round = 0; round < 4; round++)
		for (int i = 512; i < 768; i++)
			block[i] = i;
	return 0;
}
C
cat >recount.py <<'PY'
import json, sqlite3, sys
trace = []  # (array, element)
for r in range(3):
    trace += [("matrix", i * 96 + j) for j in range(16, 32) for i in range(40)]
for r in range(3):
    trace += [("matrix", i * 96 + 60) for i in range(10, 20)]
for r in range(2):
    trace += [("local", i) for i in range(0, 256, 2)]
for r in range(4):
    trace += [("block", i) for i in range(512, 768)]
# array -> bytes of an element, and axis -> (extent, pieces, index of an element)
arrays = {
    "matrix": (8, {"outer": (40, 40, lambda e: e // 96), "inner": (96, 12, lambda e: e % 96)}),
    "local": (4, {"index": (256, 16, lambda e: e)}),
    "block": (8, {"index": (1024, 64, lambda e: e)}),
}
want, stack = {}, []
for name, element in trace:
    bytes_, axes = arrays[name]
    block = (name, element * bytes_ // 64)
    d = stack.index(block) if block in stack else None
    if d is not None:
        del stack[d]
    stack.insert(0, block)
    for axis, (extent, n, index) in axes.items():
        piece = want.setdefault((name, axis, index(element) * n // extent), [0] * 5)
        for i, more in enumerate((1, d is None, d is not None, d or 0, d is None or d >= 16)):
            piece[i] += more
file = sqlite3.connect(sys.argv[1])
rows = file.execute("select name, axis, low, high, touches, cold, reuses, distance_blocks, misses "
                    "from piece p join object o on o.id = object_id").fetchall()
for name, axis, low, high, *got in rows:
    extent, n, _ = arrays[name][1][axis]
    number = low * n // extent
    assert low == -(-number * extent // n) and high == -(-(number + 1) * extent // n), (name, axis, low, high)
    wanted = want.pop((name, axis, number), [0] * 5)
    if name == "local":  # where its lines begin is the compiler's choice
        got, wanted = got[:1], wanted[:1]
    assert got == wanted, (name, axis, low, got, wanted)
assert not want, want
assert len(rows) == 40 + 12 + 16 + 64, len(rows)
PY
one() {
	local major=$1
	cc "$major" -g -O1 -fno-vectorize -fno-unroll-loops -o columns columns.c || fail "columns.c does not compile"
	expect 0 loci record -q --index --cache L1=1K --trace kept.trace -o c.loci ./columns
	expect 0 python3 recount.py c.loci
}
in_turn "$clangs" one
expect 0 loci analyse -q --index -o kept.loci kept.trace
[ "$(sqlite3 kept.loci 'select count(*), sum(touches) from piece')" = "$(sqlite3 c.loci 'select count(*), sum(touches) from piece')" ] ||
	fail "from a trace"

expect 0 loci report --no-color --by index c.loci
grep -q 'inner  *16\.\.31  *1.92 k' out || fail "no columns: $(cat out)"
grep -q 'inner  *0\.\.95  |  ##   [^ ]    |$' out || fail "no strip: $(cat out)"
expect 0 loci report --no-color --by index --object block c.loci
grep -q 'index  *512\.\.767' out || fail "no range: $(cat out)"
! grep -q matrix out || fail "another array"
expect 0 loci report --by index --json --object matrix c.loci
python3 - <<'PY' || fail "JSON: $(cat out)"
import json
p = json.load(open("out"))
assert p["format"] == "loci-index"
array, = p["profiles"][0]["arrays"]
inner = array["axes"][1]
assert inner["axis"] == "inner" and len(inner["pieces"]) == 12
assert [(r["low"], r["high"]) for r in inner["ranges"] if r["touches"]] == [(16, 32), (56, 64)]
piece = inner["pieces"][2]
# 40 lines are walked 8 times; the next 8 columns' lines lie between two rounds
assert piece["touches"] == 960 and piece["cold"] == 40, piece
assert abs(piece["mean_distance_bytes"] - 64 * (21 * 40 * 39 + 2 * 40 * 79) / 920) < 1e-6, piece
PY
valid index
expect 1 loci report --by index --object nothing c.loci
grep -q 'no array of the name "nothing"' err || fail "$(cat err)"
expect 2 loci report --object matrix c.loci
expect 0 loci record -q -o without.loci ./columns
expect 1 loci report --by index without.loci
grep -q 'record --index' err || fail "$(cat err)"

# Added up: twice the same; with one that has none, none, and that is said.
expect 0 loci merge -o two.loci c.loci c.loci
[ "$(sqlite3 two.loci 'select sum(touches), sum(misses) from piece')" = \
	"$(sqlite3 c.loci 'select 2 * sum(touches), 2 * sum(misses) from piece')" ] || fail "merged"
expect 0 loci merge -o mixed.loci c.loci without.loci
[ "$(sqlite3 mixed.loci 'select count(*) from piece')" = 0 ] || fail "mixed"
sqlite3 mixed.loci 'select note from run' | grep -q 'pieces of arrays' || fail "mixed, not said"

# Fortran's elements lie side by side in the first index.
if command -v gfortran >/dev/null; then
	cat >columns.f90 <<'F'
program columns
	real(8), save, volatile :: table(96, 40)
	integer :: i, j
	do j = 1, 40
		do i = 17, 32
			table(i, j) = j
		end do
	end do
end program
F
	gfortran -g -O1 -o columns_f columns.f90 || fail "gfortran"
	expect 0 loci record -q --collector any --index -o f.loci ./columns_f
	[ "$(sqlite3 f.loci "select axis, min(low), max(high), sum(touches) from piece p join object o on o.id = object_id
		where name like 'table%' and touches group by axis order by axis")" = "inner|16|32|640
outer|0|40|640" ] || fail "Fortran: $(sqlite3 f.loci "select name, axis, low, high, touches from piece p join object o
		on o.id = object_id where touches and name like 'table%'" | head)"
fi
finish
