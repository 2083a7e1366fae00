# SPDX-License-Identifier: GPL-2.0-or-later
# Whose the references of instrumented code are, wherever memory lies: counted by hand in
# tests/counted/places.c. What is aligned or as long as is found at run time has its name from the
# site, and no type. make check-long: every level with every clang.
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/clangs.sh"
places=$SRC/tests/counted/places.c

try() { # MAJOR FLAG..
	local major=$1 got want
	shift
	local flags="$*"
	expect 0 cc $major -g $flags -pthread -o places "$places"
	expect 0 ./places
	mv out alone
	expect 0 loci record -q -o p.loci ./places
	cmp -s out alone || fail "clang $major $flags: prints something else when recorded"
	got=$(sqlite3 p.loci "select kind || ' ' || name || ' ' || sum(refs) from object where name in
		('own', 'huge', 'wide', 'flex', 'first', 'second', 'pieces', 'mine', 'global')
		or kind = 'heap' or (kind = 'other' and name like '%mapped%') group by kind, name order by name" | tr '\n' ' ')
	want="heap common 17 stack first 108 stack flex 600 global global 70 stack huge 2000 other mapped (mapped) 1001 stack mine 17 heap one 101 other own 220 stack pieces 32 stack second 58 heap two 201 stack wide 400 "
	[ "$got" = "$want" ] || fail "clang $major $flags: $got"
	got=$(sqlite3 p.loci "select name || ' ' || size_bytes from object where name in
		('huge', 'first', 'pieces', 'mine', 'one') and size_bytes > 8 order by name" | tr '\n' ' ')
	[ "$got" = "first 64 huge 3200000 mine 128 one 800 pieces 128 " ] || fail "clang $major $flags: $got"
	got=$(sqlite3 p.loci "select 100 * sum(case when line is not null and source_id is not null then refs else 0 end) / sum(refs) from site")
	[ "$got" = 100 ] || fail "clang $major $flags: $got % of references have a line"
}
for level in -O0 -O1 -O2 '-O3 -march=native'; do
	in_turn "$clangs" try $level
done
finish
