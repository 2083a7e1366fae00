# SPDX-License-Identifier: GPL-2.0-or-later
# tests/counted/counted.c built by loci cc in many ways, and recorded: the figures that were counted by
# hand, without the loads of return addresses, which instrumented code does not see. make check-long:
# every way with every clang.
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/clangs.sh"
. "$SRC/tests/cli/counted_figures.sh"

try() { # MAJOR FILE FLAG..
	local major=$1 file=$1.$2.loci contexts=1
	shift 2
	local flags="$*"
	expect 0 cc $major -g $flags -o counted "$counted"
	expect 0 loci record -q --pairs all --cache L1=32K/8,L2=1M/16 -o "$file" ./counted
	[ "$flags" != -O0 ] || contexts=0
	figures "$file" 0 $contexts
	is "$file" "collector" "cc" "select collector from run"
	# 2000 + 1000 + 1000 + 2000 + 100 + 160, and not one more
	[ "$flags" = -O0 ] || is "$file" "references ($flags)" 6260 "select refs from run"
	is "$file" "functions without a name ($flags)" 0 \
		"select count(*) from function where id in (select function_id from site) and name like '%+0x%'"
	is "$file" "references without a line ($flags)" 0 \
		"select count(*) from site where refs > 0 and (line is null or source_id is null)"
}
in_turn "$clangs" try O0 -O0
in_turn "$clangs" try O2 -O2
in_turn "$clangs" try O3 -O3 -march=native
in_turn "$clangs" try static -O1 -static -fno-pie
in_turn "$clangs" try fixed -O1 -no-pie -fno-pie
in_turn "$clangs" try lto -O2 -flto -fuse-ld=lld
for each in $clangs; do
	try "$each" O1 -O1
done
# Functions that are not wanted are left out; who calls whom is not.
expect 0 loci record -q --only 'dra*,wal?' --skip walk -o only.loci ./counted
is only.loci "references of drain only" "1000 drain" "select refs || ' ' || (select name from function where id in
	(select function_id from site)) from run"
is only.loci "its callers" "phase" "select name from function join context on context.function_id = function.id
	where context.id in (select parent_id from context where refs > 0)"
is only.loci "that it is not all" 0 "select instr(capabilities, 'complete') from run"
expect 0 loci record -q --skip walk,both -o skip.loci ./counted
is skip.loci "references of others" 2260 "select refs from run"
expect 1 loci record -m count --only walk ./counted
# Loops: where they stand, how often they go round, and that the outer one carries the reuse.
for major in $clangs; do
	is "$major.O1.loci" "loops of walk" "$(line walk-round) 1 $(line walk-each) 1998" \
		"select loop.line || ' ' || iterations from loop join function on function_id = function.id
		where name = 'walk' order by loop.line"
	is "$major.O1.loci" "what carries the reuse" "$(line walk-round) 1000" \
		"select loop.line || ' ' || sum(pair.refs) from pair join loop on loop_id = loop.id
		where use_site_id in ($(sites walk)) and reuse_site_id in ($(sites walk)) group by loop.line"
	is "$major.O1.loci" "the loop that calls" "$(line call-loop) 9" \
		"select loop.line || ' ' || iterations from loop join function on function_id = function.id where name = 'main'"
done
# Loops that follow each other within another.
cat >siblings.c <<'C'
static volatile long a[100], b[100];
int main(void)
{
	for (int round = 0; round < 4; round++) {
		for (int i = 0; i < 100; i++)
			a[i];
		for (int i = 0; i < 100; i++)
			b[i];
	}
	return 0;
}
C
for major in $clangs; do
	expect 0 cc $major -w -g -O1 -o siblings siblings.c
	expect 0 loci record -q --pairs all -b 8 -o siblings.loci ./siblings
	is siblings.loci "loops beside each other" "4 3, 5 396, 7 396" "select group_concat(line || ' ' || iterations, ', ')
		from (select line, iterations from loop order by line)"
	is siblings.loci "what carries their reuse" "4 600" \
		"select loop.line || ' ' || sum(pair.refs) from pair left join loop on loop_id = loop.id group by loop.line"
done
finish
