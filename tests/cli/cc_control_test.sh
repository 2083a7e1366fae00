# SPDX-License-Identifier: GPL-2.0-or-later
# Classes, exceptions, longjmp and a coroutine, built by loci cc and recorded: what each function
# referred to and who called it, counted by hand in tests/counted/classes.cpp. make check-long:
# every level with every clang.
# Not under sanitizers: cc_figures_test is.
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/clangs.sh"
classes=$SRC/tests/counted/classes.cpp

line() {
	grep -n "count:$1 " "$classes" | cut -d : -f 1
}
# is WHAT WANT QUERY
is() {
	local got
	got=$(sqlite3 p.loci "$3" | tr '\n' ' ' | sed 's/ $//')
	[ "$got" = "$2" ] || fail "$what: $1: $got, want $2"
}
data="site join source on site.source_id = source.id and path like '%classes.cpp' join access on site_id = site.id
	join object on access.object_id = object.id and object.kind <> 'stack'"
refs() { # NAME WANT
	is "references of $1" "$2" "select sum(access.refs) from $data where site.line = $(line "$1")"
}

# who NAME PATH: the calls that led to the references of a line. A function that is in itself is once.
who() {
	is "contexts of $1" "$2" "with recursive up(path, next) as (
			select function.name, context.parent_id from context join function on context.function_id = function.id
			where context.refs > 0 and function.name like '$1(%'
			union select path || '<' || name, parent_id from up join context on context.id = next
				join function on function_id = function.id)
		select distinct replace(path, '(int)', '()') from up where next is null and path like '%<main' order by 1"
}

try() { # MAJOR FLAG..
	local major=$1
	shift
	local flags="$*"
	what="clang $major $flags"
	expect 0 cxx $major -g $flags -o classes "$classes"
	expect 0 ./classes
	expect 0 loci record -q --pairs all -o p.loci ./classes
	refs keys 2000
	refs square 10
	refs circle 20
	refs touch 2000
	refs fail 10
	refs through 5
	refs caught 5
	refs jump 7
	refs landed 7
	refs step 5
	refs step-again 5
	refs resume 6
	is "objects" "cell cells 2000 long longs 1000 shape one 10 short shorts 1000 shape two 20" \
		"select object.type || ' ' || object.name || ' ' || sum(access.refs) from $data
		where site.line in ($(line keys), $(line touch), $(line square), $(line circle)) group by object.id
		order by object.name"
	is "the field" "key 2000" "select field.name || ' ' || sum(access.refs) from $data join field on field_id = field.id
		where site.line = $(line keys) group by field.name"
	is "the global" "seen 50" "select name || ' ' || refs from object where name = 'seen'"
	who square::area "square::area() const<area_of(shape const&, int)<main"
	who circle::area "circle::area() const<area_of(shape const&, int)<main"
	who fail "fail()<through()<catching()<main"
	who through "through()<catching()<main"
	who catching "catching()<main"
	who jump "jump()<jumping()<main"
	who jumping "jumping()<main"
	who resume "resume()<coroutines()<main"
	who step "step()<coroutine()<resume()<coroutines()<main"
	is "functions by two types" "touch<long volatile>(long volatile*, int) 1000 touch<short volatile>(short volatile*, int) 1000" \
		"select function.name || ' ' || sum(access.refs) from $data join function on site.function_id = function.id
		where site.line = $(line touch) group by function.name order by 1"
	is "the reuse of keys" "RAR 1000" "select pair.kind || ' ' || sum(pair.refs) from pair
		where use_site_id in (select site.id from $data where site.line = $(line keys))
		and reuse_site_id in (select site.id from $data where site.line = $(line keys)) group by pair.kind"
}
for level in -O0 -O1 -O2 '-O3 -march=native'; do
	in_turn "$clangs" try $level
done
finish
