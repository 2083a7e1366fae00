# SPDX-License-Identifier: GPL-2.0-or-later
# tests/counted/counted.c built by loci gcc in several ways, and recorded: the figures that were counted
# by hand, without the loads of return addresses, which gcc does not tell.
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/toolchains.sh"
need_gcc
. "$SRC/tests/cli/counted_figures.sh"

try() { # FILE FLAG..
	local file=$1.loci contexts=1 locals=0 all=6100
	shift
	local flags="$*"
	expect 0 loci gcc -g $flags -o counted "$counted"
	expect 0 loci record -q --pairs all --cache L1=32K/8,L2=1M/16 -o "$file" ./counted
	[ "$flags" != -O0 ] || contexts=0 locals=1 all=6260
	figures "$file" 0 $contexts $locals
	is "$file" "collector" "gcc" "select collector from run"
	is "$file" "that it is approximate" "1 1" \
		"select (instr(capabilities, 'approximate') > 0) || ' ' || (instr(note, 'approximate') > 0) from run"
	# 2000 + 1000 + 1000 + 2000 + 100, and not one more; 160 of a variable that stays in its
	# function are told without optimising only
	is "$file" "references ($flags)" $all "select refs from run"
	is "$file" "functions without a name ($flags)" 0 \
		"select count(*) from function where id in (select function_id from site) and name like '%+0x%'"
	is "$file" "references without a line ($flags)" 0 \
		"select count(*) from site where refs > 0 and (line is null or source_id is null)"
	expect 0 loci record -m count ./counted
	has err "$all references"
}
try O0 -O0
try O2 -O2
try O3 -O3 -march=native
try static -O1 -static -fno-pie
try fixed -O1 -no-pie -fno-pie
try lto -O2 -flto
try O1 -O1
finish
