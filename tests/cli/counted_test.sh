# SPDX-License-Identifier: GPL-2.0-or-later
# tests/counted/counted.c, recorded: every figure below was counted by hand.
. "$SRC/tests/cli/expect.sh"
loci doctor 2>/dev/null | grep -q '^ *any *yes' || { echo "the any collector does not work here"; exit 77; }
source=$SRC/tests/counted/counted.c

expect 0 loci record -q --pairs all --cache L1=32K/8,L2=1M/16 -o counted.loci "$BUILD/tests/counted"

line() {
	grep -n "count:$1 " "$source" | cut -d : -f 1
}
ask() {
	sqlite3 counted.loci "$1"
}
# is WHAT WANT QUERY
is() {
	local got
	got=$(ask "$3" | tr '\n' ' ' | sed 's/ $//')
	[ "$got" = "$2" ] || fail "$1: $got, want $2"
}
at="site join source on source_id = source.id and path like '%counted.c'"
sites() { # NAME: the ids of the sites of its line
	echo "select site.id from $at where line = $(line "$1")"
}

is "references of walk" "load 8 2000" \
	"select op || ' ' || size_bytes || ' ' || sum(refs) from $at where line = $(line walk)"
is "references of fill" "store 8 1000" \
	"select op || ' ' || size_bytes || ' ' || sum(refs) from $at where line = $(line fill)"
is "references of drain" "load 8 1000" \
	"select op || ' ' || size_bytes || ' ' || sum(refs) from $at where line = $(line drain)"
is "references of column" "load 1 100" \
	"select op || ' ' || size_bytes || ' ' || sum(refs) from $at where line = $(line column)"
is "references of local" 160 \
	"select sum(refs) from $at where line in ($(line local-store), $(line local-load))"

# Distances. 999 and a few lie in the bin from 896 to 1023.
far="select cold || ' ' || low || ' ' || high || ' ' || weight from histogram join bin on histogram_id = histogram.id
	where distance = 'stack' and owner = 'site' and owner_id in"
is "distances of walk" "1000 896 1024 1000" "$far ($(sites walk))"
is "distances of fill" "1000" \
	"select cast(cold as integer) from histogram where owner = 'site' and owner_id in ($(sites fill))"
is "distances of drain" "0 896 1024 1000" "$far ($(sites drain))"

# Objects and fields.
is "the global" "global 2000 64000" "select kind || ' ' || refs || ' ' || size_bytes from object where name = 'table'"
is "the block" "heap 2000 1 $(line block)" \
	"select kind || ' ' || refs || ' ' || allocations || ' ' || line from object where name = 'block'"
is "the pages" "heap 100 409600 1" \
	"select kind || ' ' || refs || ' ' || size_bytes || ' ' || allocations from object where name = 'pages'"
is "the stack variable" "stack 160 64" "select kind || ' ' || refs || ' ' || size_bytes from object where name = 'small'"
is "fields" "block second 2000 table first 2000" \
	"select object.name || ' ' || field.name || ' ' || sum(access.refs) from access join field on field_id = field.id
	join object on field.object_id = object.id where object.name in ('table', 'block') group by object.name, field.name order by object.name"

# How they are walked.
is "strides" "64 64 64 4096" \
	"select stride_bytes from $at join access on site_id = site.id where line in
	($(line walk), $(line fill), $(line drain), $(line column)) order by line"

# What they meet: 1000 lines of 64 bytes do not fit in 32 KiB, but in 1 MiB.
misses() { # LEVEL NAME
	echo "select misses from level_count join level on level_id = level.id where level.name = '$1'
		and owner = 'site' and owner_id in ($(sites "$2"))"
}
is "L1 misses of walk" 2000 "$(misses L1 walk)"
is "L2 misses of walk" 1000 "$(misses L2 walk)"
is "L1 misses of drain" 1000 "$(misses L1 drain)"
is "L2 misses of drain" 0 "$(misses L2 drain)"
is "write-backs of fill" 1000 "$(misses L1 fill | sed 's/select misses/select writebacks/')"

# Contexts: who called whom, with the references each made itself: those above and the load of its
# return address.
is "contexts" "column<main:101 drain<phase<main:1001 fill<phase<main:1001 walk<main:2001" \
	"with recursive up(refs, path, next) as (
		select refs, name, parent_id from context join function on function_id = function.id
			where name in ('walk', 'fill', 'drain', 'column')
		union all select up.refs, path || '<' || name, parent_id from up join context on context.id = next
			join function on function_id = function.id where path not like '%main')
	select path || ':' || refs from up where path like '%<main' order by 1"

# Use and reuse.
is "the pair across functions" "RAW 1000 phase 0" \
	"select kind || ' ' || pair.refs || ' ' || function.name || ' ' || recycled from pair
	join context on common_context_id = context.id join function on context.function_id = function.id
	where use_site_id in ($(sites fill)) and reuse_site_id in ($(sites drain))"
is "the pair of a loop with itself" "RAR 1000" \
	"select kind || ' ' || sum(refs) from pair where use_site_id in ($(sites walk)) and reuse_site_id in ($(sites walk))"

# Without near pairs, touches of the block touched before are joined: nothing else may change.
expect 0 loci record -q --cache L1=32K/8,L2=1M/16 -o joined.loci "$BUILD/tests/counted"
for table in site access object context "level_count where owner <> 'pair'"; do
	for file in counted joined; do
		sqlite3 $file.loci "select * from $table" >$file.rows
	done
	cmp -s counted.rows joined.rows || fail "joined touches change the table $table"
done
# Bytes of a line that are used while it is in the cache, charged to who brought it.
is "bytes used" "1000 16000 0 0" \
	"select fills || ' ' || used_bytes from $at join access on site_id = site.id where line in
	($(line both-first), $(line both-second)) order by line"

# Everything again gives the same, but for the time.
expect 0 loci record -q --pairs all --cache L1=32K/8,L2=1M/16 -o again.loci "$BUILD/tests/counted"
for file in counted again; do
	sqlite3 $file.loci "update run set started = '', seconds = 0; update process set pid = 0, parent_id = null" .dump >$file.sql
done
cmp -s counted.sql again.sql || { fail "two recordings differ"; diff counted.sql again.sql | head -n 10 >&2; }
finish
