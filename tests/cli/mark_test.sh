# SPDX-License-Identifier: GPL-2.0-or-later
# What a program marks, with every collector that is there, against numbers counted by hand.
# Not under sanitizers.
. "$SRC/tests/cli/expect.sh"

program=$SRC/tests/marks/marked_steps.c
mark="-I$SRC/include"

# sql QUERY
sql() {
	sqlite3 p.loci "$1"
}
# is WANT QUERY
is() {
	local got
	got=$(sql "$2" | tr '\n' ' ')
	[ "${got% }" = "$1" ] || fail "$collector: $2: \"${got% }\", want \"$1\""
}
# run STATUS STEP..: as natively, and into p.loci.
run() {
	local status=$1
	shift
	expect "$status" ./marks "$@"
	cp out native.out
	rm -f p.loci
	expect "$status" timeout 120 loci record --collector "$collector" -o p.loci ./marks "$@"
	cmp -s out native.out || fail "$collector: $*: prints $(cat out), natively $(cat native.out)"
	lacks err "arrived:"
}
# Regions as "path entries refs".
regions="with recursive r(id, path, entries, refs) as (
	select id, name, entries, refs from region where parent_id is null
	union all select region.id, path || '/' || name, region.entries, region.refs
	from region join r on region.parent_id = r.id)
	select path || ' ' || entries || ' ' || refs from r"

try() {
	collector=$1
	run 0 nothing
	is "" "$regions order by 1"
	is 0 "select count(*) from phase union select count(*) from stretch union select count(*) from mistake"

	run 0 nest
	is "inner 1 5 outer 1 111 outer/inner 3 600" "$regions order by 1"
	# every histogram has its region's touches, and so has the first level
	is "5 111 600" "select total from v_histogram join region on region.id = owner_id
		where owner = 'region' order by total"
	is "5 111 600" "select first_hits + misses from level_count where owner = 'region' and level_id = 1 order by 1"
	is "" "select what from mistake"
	expect 0 loci report p.loci --by region
	for line in 'outer/inner  *3 ' 'outer  *1 .* 711 '; do
		grep -q "^  $line" out || fail "$collector: --by region has no \"$line\": $(cat out)"
	done
	expect 0 loci report p.loci
	has out "regions, of the references: outer/inner"
	expect 0 loci report p.loci --by region --json
	python3 - out <<-'END' || fail "$collector: JSON by region: $(cat out)"
		import json, sys
		rows = {row["name"]: row for row in json.load(open(sys.argv[1]))["profiles"][0]["rows"]}
		outer = rows["outer"]
		assert (outer["references"], outer["all_references"], outer["entries"]) == (111, 711, 1), outer
		assert outer["all_misses"] == outer["misses"] + rows["outer/inner"]["misses"], outer
		assert rows["outer/inner"]["parent"] == outer["id"], rows
	END

	cp p.loci nest.loci
	expect 0 loci merge -o p.loci nest.loci nest.loci
	is "inner 2 10 outer 2 222 outer/inner 6 1200" "$regions order by 1"
	is "10 222 1200" "select total from v_histogram where owner = 'region' order by total"
	expect 0 loci record -q --collector "$collector" --trace p.trace -o p.loci ./marks nest
	expect 0 loci analyse -o p.loci p.trace
	is "inner 1 5 outer 1 111 outer/inner 3 600" "$regions order by 1"

	run 0 phases
	expect 0 loci diff --json nest.loci p.loci
	python3 - out <<-'END' || fail "$collector: diff by region: $(cat out)"
		import json, sys
		moved = {row["name"]: row["misses"] for row in json.load(open(sys.argv[1]))["regions"]}
		assert moved["outer"]["before"] > 0 and moved["outer"]["after"] == 0, moved
	END
	expect 1 loci report nest.loci --by phase
	has err "has no phases: the program marks none"
	is "one 40 two 20" "select name || ' ' || refs from phase where name in ('one', 'two') order by 1"
	is "one 10 two 20 one 30" "select name || ' ' || stretch.refs from stretch join phase on phase.id = phase_id
		where name in ('one', 'two') order by first_refs"
	is 1 "select sum(refs) = (select refs from run) from stretch"
	is 1 "select sum(refs) = (select refs from run) from phase"
	is "20 40" "select total from v_histogram join phase on phase.id = owner_id
		where owner = 'phase' and name in ('one', 'two') order by total"
	expect 0 loci report p.loci --by phase
	grep -q '^  one ' out || fail "$collector: --by phase: $(cat out)"

	run 0 pause
	is "paused 1 30" "$regions"
	has err "the program disabled recording: 3000 references are left out"
	is 1 "select capabilities like '%windows%' and capabilities not like '%complete%' from run"
	expect 0 loci info p.loci
	has out "no, a part of the run was recorded as asked for"

	run 0 objects
	is "cells by name|8192|8|1024 smaller|80|8|10" "select name, size_bytes, element_bytes, refs from object
		where kind = 'registered' and name not in ('pairs by name') order by name"
	is "the end|8000|192|24" "select field.name, offset_bytes, field.size_bytes, sum(access.refs)
		from field join object on object.id = field.object_id join access on field_id = field.id
		where object.name = 'cells by name' group by field.id"
	# elements are structs by the debug information of what is registered
	is "pairs by name|struct pair|16|1034" "select name, type, element_bytes, refs from object where name = 'pairs by name'"
	is "key|10 value|1024" "select field.name, sum(access.refs) from field join object on object.id = field.object_id
		join access on field_id = field.id where object.name = 'pairs by name' group by field.id order by 1"
	is 90 "select sum(refs) from object where kind = 'heap' and name = 'block'"

	run 0 accesses
	[ $collector = gcc ] || lacks err approximate # what is told is no code of gcc's
	is "told 1 51" "$regions"
	is "load|0|1 load|8|25 store|8|25" "select op, size_bytes, sum(site.refs) from site
		join function on function.id = function_id where function.name = 'accesses'
		and site.line between $(grep -n 'loci_access((void \*)(cells + i)' "$program" | cut -d: -f1) and
		$(grep -n 'cells, 4096' "$program" | cut -d: -f1) group by op, size_bytes"

	run 0 wrong
	is "a 1 0 a/b 1 10" "$regions order by 1"
	[ "$(sql 'select times, what from mistake order by 1, 2')" = '1|a reference larger than memory
1|an object ended that was not registered
1|loci_enable without loci_disable
1|object "nothing" of no bytes
1|part "beyond" not within "few"
1|part "of none" of an object that was not registered
1|region "a" ended before "b", which was begun in it
1|region "b" ended that was not begun in this thread
2|region "never" ended that was not begun in this thread' ] || fail "$collector: $(sql 'select times, what from mistake')"
	expect 0 loci info p.loci
	has out 'region "never" ended that was not begun in this thread (2 times)'
	expect 0 loci report p.loci
	has out "marks used wrongly:"

	run 0 deep
	is "64|10" "select count(*), sum(refs) from region"
	is "6|regions within more than 64 others" "select times, what from mistake"

	run 0 threads
	[ "$(sql "$regions order by 1" | sed 's/^left open 1 .*/left open 1/')" = 'all 4 4000
all/thread 0 1 100
all/thread 1 1 200
all/thread 2 1 300
all/thread 3 1 400
left open 1
main 1 500' ] || fail "$collector: threads: $(sql "$regions order by 1")"
	is '1|region "left open" still open when its thread ended' "select times, what from mistake"

	run 0 signals
	[ "$(sql "$regions order by 1" | tail -1)" = "interrupted/handler 1 21" ] ||
		fail "$collector: signals: $(sql "$regions order by 1")"
	[ "$(sql "$regions order by 1" | head -1 | cut -d' ' -f1,2)" = "interrupted 1" ] || fail "$collector: signals"
	is "" "select what from mistake"

	run 0 hammer
	is "5|12000|36000" "select count(distinct name), sum(entries), sum(refs) from region where name like 'h _'"
	is 1 "select sum(entries) > 0 and sum(refs) = 21 * sum(entries) from region where name = 'handler'"
	is "" "select what from mistake"

	run 0 forks
	[ "$(sql "$regions order by 1" | sed 's/^\(parent and child [0-9]*\) .*/\1/')" = 'parent and child 3
parent and child/child 1 7
parent and child/parent 1 5' ] || fail "$collector: forks: $(sql "$regions order by 1")"
	is "" "select what from mistake"
	is 12 "select refs from object where name = 'shared cells'"
	is 1 "select count(*) from phase where name = 'family'"

	run 3 leave
	is '1|region "when it ends" still open when its thread ended' "select times, what from mistake"
}

expect 0 cc -Wall -Wextra -Werror -O1 -g -pthread $mark -o marks "$program"
[ ! -x "$BUILD/libexec/loci/loci-amd64-linux" ] || try any

# Another tool of Valgrind's takes no notice.
if command -v valgrind >/dev/null; then
	expect 0 timeout 60 valgrind -q --error-exitcode=9 ./marks nest phases pause objects accesses wrong
	[ ! -s err ] || fail "memcheck says: $(cat err)"
fi

# Turned off they leave nothing.
sed '/<loci/d; /loci_/s/loci_[a-z_]*(.*);/;/' "$program" >bare.c
lacks bare.c loci_
for optimise in -O0 -O2; do
	expect 0 cc $optimise -DLOCI_MARK_OFF $mark -c -o off.o "$program"
	expect 0 cc $optimise $mark -c -o bare.o bare.c
	for object in off bare; do
		objdump -drs -j .text -j .rodata -j .data -j .bss $object.o | grep -v "$object.o" >$object.txt
	done
	cmp -s off.txt bare.txt || fail "-DLOCI_MARK_OFF $optimise leaves something: $(diff off.txt bare.txt | head -20)"
done

if ls "$BUILD"/lib/loci/loci-pass-*.so >/dev/null 2>&1; then
	for major in 14 19; do
		[ -e "$BUILD/lib/loci/loci-pass-$major.so" ] && command -v clang-$major >/dev/null || continue
		expect 0 loci cc --loci-clang=$major -O1 -g -pthread $mark -o marks "$program"
		try cc
	done
	# Only the runtime: what is told is all there is.
	expect 0 cc -c -O1 -g $mark -o plain.o "$program"
	expect 0 loci cc -pthread -o marks plain.o
	collector=cc
	run 0 accesses
	is "told 1 51" "$regions"
	is 51 "select refs from run"
	expect 0 loci cc -static -O1 -g -pthread $mark -o marks "$program"
	run 0 nest wrong threads
	[ "$(sql "$regions where path like 'outer%' order by 1")" = 'outer 1 111
outer/inner 3 600' ] || fail "static: $(sql "$regions")"
fi

if loci gcc --version >/dev/null 2>&1; then
	expect 0 loci gcc -O1 -g -pthread $mark -o marks "$program"
	try gcc
fi

# C++: whatever leaves the block ends the region. Fortran: the same marks, by name and length.
languages() {
	collector=$1
	run 0
	is "block|1|1 inner|1|1 thrown|1|1" "select region.name, region.entries, region.refs >=
		case region.name when 'block' then 10 when 'inner' then 20 else 30 end from region order by 1"
	is "thrown" "select name from region where id = (select parent_id from region where name = 'inner')"
	is "" "select what from mistake"
}
if command -v c++ >/dev/null; then
	expect 0 c++ -std=c++17 -Wall -Wextra -Wpedantic -Werror -O1 -g $mark -o marks "$SRC/tests/marks/marks_region.cpp"
	[ ! -x "$BUILD/libexec/loci/loci-amd64-linux" ] || languages any
	expect 0 c++ -Wall -Wextra -Werror -DLOCI_MARK_OFF -O1 $mark -o marks "$SRC/tests/marks/marks_region.cpp"
	expect 0 ./marks
fi
if ls "$BUILD"/lib/loci/loci-pass-*.so >/dev/null 2>&1; then
	expect 0 loci c++ -O1 -g $mark -o marks "$SRC/tests/marks/marks_region.cpp"
	languages cc
fi

fortran() {
	collector=$1
	run 0
	is "fill|1" "select name, entries from region"
	# in bytes: a compiler may store two elements at once
	is "fortran a|8000|8|8008" "select name, object.size_bytes, element_bytes, sum(access.refs * site.size_bytes)
		from object join access on object_id = object.id join site on site.id = site_id where kind = 'registered'"
	is "middle|4000|80|80" "select field.name, offset_bytes, field.size_bytes, sum(access.refs * site.size_bytes)
		from field join access on field_id = field.id join site on site.id = site_id
		join object on object.id = field.object_id where object.kind = 'registered' group by field.id"
	is "rest" "select name from phase where name is not null"
	is "store|8|1|$(grep -n 'call loci_access' "$SRC/tests/marks/marks_fortran.f90" | cut -d: -f1)" "select op, site.size_bytes, site.refs, site.line from site
		join access on site_id = site.id join object on object.id = object_id
		where object.name = 'fortran a' and site.refs = 1"
	is "" "select what from mistake"
}
module=$SRC/include/loci_mark.F90
source=$SRC/tests/marks/marks_fortran.f90
if command -v gfortran >/dev/null && [ -x "$BUILD/libexec/loci/loci-amd64-linux" ]; then
	expect 0 gfortran -Wall -O1 -g -o marks "$module" "$source" -L"$BUILD" -lloci-mark
	fortran any
	expect 0 gfortran -Wall -O1 -DLOCI_MARK_OFF -o marks "$module" "$source"
	expect 0 ./marks
fi
if loci flang --version >/dev/null 2>&1; then
	expect 0 loci flang -O1 -g -o marks "$module" "$source" -L"$BUILD" -lloci-mark
	fortran cc
fi
finish
