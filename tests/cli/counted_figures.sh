# SPDX-License-Identifier: GPL-2.0-or-later
# tests/counted/counted.c, recorded by whatever collector: figures that were counted by hand. Sourced.
# A compiler may unroll loops, so that a line has several sites: they are added up. Without optimising
# it keeps counters and pointers in memory: what refers to them is left out.
counted=$SRC/tests/counted/counted.c
at="site join source on site.source_id = source.id and path like '%counted.c'"
data="access on site_id = site.id join object on object_id = object.id and (object.kind <> 'stack' or object.name = 'small')"

line() {
	grep -n "count:$1 " "$counted" | cut -d : -f 1
}
# is FILE WHAT WANT QUERY
is() {
	local got
	got=$(sqlite3 "$1" "$4" | tr '\n' ' ' | sed 's/ $//')
	[ "$got" = "$3" ] || fail "$1: $2: $got, want $3"
}
sites() { # NAME..: the ids of the sites of these lines
	local name lines=0
	for name; do
		lines+=,$(line "$name")
	done
	echo "select site.id from $at join $data where site.line in ($lines)"
}

# figures FILE RETURNS CONTEXTS [LOCALS]: RETURNS references of every function are the load of its
# return address; CONTEXTS 0: what contexts refer to is not to be looked at; LOCALS 0: what stays in a
# function is not seen
figures() {
	local file=$1 returns=$2 with_local= local_context= at_local=
	[ "${4-1}" = 0 ] || with_local="local<main " local_context="local $((160 + 10 * $2)) " at_local="local call-local "

	refs() { # NAME: operation, size, references
		echo "select op || ' ' || site.size_bytes || ' ' || sum(site.refs) from site
			where id in ($(sites "$1")) group by op, site.size_bytes"
	}
	is $file "references of walk" "load 8 2000" "$(refs walk)"
	is $file "references of fill" "store 8 1000" "$(refs fill)"
	is $file "references of drain" "load 8 1000" "$(refs drain)"
	is $file "references of column" "load 1 100" "$(refs column)"
	[ -z "$with_local" ] || is $file "references of local" 160 "select sum(refs) from site where id in ($(sites local-store local-load))"

	# Distances. 999 and a few lie in the bin from 896 to 1023.
	far() { # NAME: first touches, and the bin of the others
		echo "select (select cast(sum(cold) as integer) from histogram where owner = 'site' and owner_id in ($(sites "$1")))
			|| ' ' || min(low) || ' ' || max(high) || ' ' || cast(sum(weight) as integer)
			from histogram join bin on histogram_id = histogram.id
			where distance = 'stack' and owner = 'site' and owner_id in ($(sites "$1"))"
	}
	is $file "distances of walk" "1000 896 1024 1000" "$(far walk)"
	is $file "distances of fill" "1000" \
		"select cast(sum(cold) as integer) from histogram where owner = 'site' and owner_id in ($(sites fill))"
	is $file "distances of drain" "0 896 1024 1000" "$(far drain)"

	# Objects and fields.
	is $file "the global" "global 2000 64000" "select kind || ' ' || refs || ' ' || size_bytes from object where name = 'table'"
	is $file "the block" "heap 2000 1 $(line block)" \
		"select kind || ' ' || refs || ' ' || allocations || ' ' || line from object where name = 'block' and kind = 'heap'"
	is $file "the pages" "heap 100 409600 1" \
		"select kind || ' ' || refs || ' ' || size_bytes || ' ' || allocations from object where name = 'pages' and kind = 'heap'"
	[ -z "$with_local" ] || is $file "the stack variable" "stack 160 64" "select kind || ' ' || refs || ' ' || size_bytes from object where name = 'small'"
	is $file "fields" "block second 2000 table first 2000" \
		"select object.name || ' ' || field.name || ' ' || sum(access.refs) from access join field on field_id = field.id
		join object on field.object_id = object.id where object.name in ('table', 'block') group by object.name, field.name order by object.name"

	# How they are walked: by as many lines as there are copies of the reference. It shows from the
	# 16th on.
	[ "$(sqlite3 $file "select min(refs) from site where id in ($(sites walk fill drain column))")" -le 16 ] || is $file "strides" "64 64 64 4096" \
		"select min(abs(stride_bytes)) * count(distinct ifnull(loop_id, 0)) / count(distinct site.id)
		from $at join access on site_id = site.id
		where site.id in ($(sites walk fill drain column)) group by site.line order by site.line"

	# What they meet: 1000 lines of 64 bytes do not fit in 32 KiB, but in 1 MiB.
	counts() { # WHAT LEVEL NAME
		echo "select sum($1) from level_count join level on level_id = level.id where level.name = '$2'
			and owner = 'site' and owner_id in ($(sites "$3"))"
	}
	is $file "L1 misses of walk" 2000 "$(counts misses L1 walk)"
	is $file "L2 misses of walk" 1000 "$(counts misses L2 walk)"
	is $file "L1 misses of drain" 1000 "$(counts misses L1 drain)"
	is $file "L2 misses of drain" 0 "$(counts misses L2 drain)"
	is $file "write-backs of fill" 1000 "$(counts writebacks L1 fill)"
	# Bytes of a line that are used while it is in the cache, charged to who brought it.
	is $file "bytes used" "1000 16000" \
		"select sum(fills) || ' ' || sum(used_bytes) from access where site_id in ($(sites both-first both-second))"

	# Contexts: who called whom, from where, with the references each made itself.
	is $file "contexts" "column<main drain<phase<main fill<phase<main ${with_local}walk<main" \
		"with recursive up(path, next) as (
			select name, parent_id from context join function on function_id = function.id
				where name in ('walk', 'fill', 'drain', 'column', 'local')
			union select path || '<' || name, parent_id from up join context on context.id = next
				join function on function_id = function.id where path not like '%main')
		select distinct path from up where path like '%<main' order by 1"
	is $file "where they were called" "column call-column drain call-drain fill call-fill ${at_local}walk call-walk" \
		"select distinct name || ' ' || case context.line when $(line call-column) then 'call-column' when $(line call-drain) then 'call-drain'
			when $(line call-fill) then 'call-fill' when $(line call-local) then 'call-local' when $(line call-walk) then 'call-walk'
			else context.line end
		from context join function on function_id = function.id where name in ('walk', 'fill', 'drain', 'column', 'local') order by 1"
	[ "$3" = 0 ] || is $file "references of contexts" \
		"column $((100 + returns)) drain $((1000 + returns)) fill $((1000 + returns)) ${local_context}walk $((2000 + returns))" \
		"select name || ' ' || sum(refs) from context join function on function_id = function.id
		where name in ('walk', 'fill', 'drain', 'column', 'local') group by name order by 1"

	# Use and reuse.
	is $file "the pair across functions" "RAW 1000 phase 0" \
		"select kind || ' ' || sum(pair.refs) || ' ' || function.name || ' ' || recycled from pair
		join context on common_context_id = context.id join function on context.function_id = function.id
		where use_site_id in ($(sites fill)) and reuse_site_id in ($(sites drain)) group by kind, function.name, recycled"
	is $file "the pair of a line with itself" "RAR 1000" \
		"select kind || ' ' || sum(refs) from pair where use_site_id in ($(sites walk)) and reuse_site_id in ($(sites walk)) group by kind"
}
