# SPDX-License-Identifier: GPL-2.0-or-later
# Objects of loci cc and of loci gcc in one program are recorded as one: each function has its exact
# number of references, whoever links it, and neither is told twice.
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/toolchains.sh"
need_clang
need_gcc

cat >part.c <<'C'
#include <string.h>
extern int shared[1000], other[1000];
int by_gcc(int n);
__attribute__((noinline)) int by_clang(int n)
{
	for (int i = 0; i < n; i++)
		shared[i] = i;
	memcpy(other, shared, n * sizeof(int));
	return by_gcc(n);
}
C
cat >main.c <<'C'
#include <stdio.h>
#include <string.h>
int shared[1000], other[1000];
int by_clang(int n);
__attribute__((noinline, noipa)) int by_gcc(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += shared[i];
	memset(other, 0, n * sizeof(int));
	return sum;
}
int main(void)
{
	printf("%d\n", by_clang(1000));
	return 0;
}
C
is() { # WHAT WANT QUERY
	local got
	got=$(sqlite3 p.loci "$3" | tr '\n' ' ' | sed 's/ $//')
	[ "$got" = "$2" ] || fail "$how: $1: $got, want $2"
}
clang=$(echo "$versions" | head -n 1)
for how in 'loci gcc' "loci cc --loci-clang=$clang" 'loci gcc -static'; do
	expect 0 loci cc --loci-clang="$clang" -g -O1 -c part.c -o part.o
	expect 0 loci gcc -g -O1 -c main.c -o main.o
	expect 0 $how part.o main.o -o mixed
	expect 0 loci record --pairs all -o p.loci ./mixed
	has out 499500
	has err "recording with cc"
	# of gcc's own calls of memset whoever links knows, loci cc does not
	cleared=1
	[ "${how#loci cc}" = "$how" ] || cleared=0
	is "references" "by_clang 1002 by_gcc $((1000 + cleared))" \
		"select name || ' ' || sum(refs) from site join function on function_id = function.id
		where name like 'by_%' group by name order by 1"
	is "contexts" "by_clang<main by_gcc<by_clang<main" "with recursive up(path, next) as (
		select name, parent_id from context join function on function_id = function.id where name like 'by_%'
		union select path || '<' || name, parent_id from up join context on context.id = next
			join function on function_id = function.id)
		select path from up where path like '%main' order by 1"
	# one access of gcc's follows the copy of clang's in every line of 64 bytes
	is "who reuses whose data" "by_clang by_gcc 63" \
		"select u.name || ' ' || r.name || ' ' || sum(pair.refs) from pair
		join site us on use_site_id = us.id join function u on us.function_id = u.id
		join site rs on reuse_site_id = rs.id join function r on rs.function_id = r.id
		where u.id <> r.id and rs.op = 'load' group by u.name, r.name"
	is "that it is approximate" 1 "select instr(note, 'approximate in part') from run"
	is "that it is one process" 1 "select count(*) from process"
done
finish
