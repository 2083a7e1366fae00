# SPDX-License-Identifier: GPL-2.0-or-later
# Programs of tests/gcc, built by loci gcc, g++ and gfortran and recorded: as many references as their
# source has, function by function, and every report says that they are an approximation.
# Not under sanitizers: gcc_figures_test is.
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/toolchains.sh"
need_gcc gcc g++ gfortran
programs=$SRC/tests/gcc

# is WHAT WANT QUERY
is() {
	local got
	got=$(sqlite3 p.loci "$3" | tr '\n' ' ' | sed 's/ $//')
	[ "$got" = "$2" ] || fail "$flags: $1: $got, want $2"
}
# of FUNCTION WANT: its references
of() {
	is "references of $1" "$2" "select sum(site.refs) from site join function on function_id = function.id
		where function.name like '$1%'"
}
# paths FUNCTION: who calls it, up to the first
paths() {
	echo "with recursive up(path, next) as (
		select name, parent_id from context join function on function_id = function.id where name like '$1%' and context.refs > 0
		union select path || '<' || name, parent_id from up join context on context.id = next
			join function on function_id = function.id)
	select path from up where next is null or next not in (select id from context where function_id is not null) order by 1"
}
record() {
	expect 0 loci record -q --pairs none -o p.loci "$@"
	is "collector" gcc "select collector from run"
	is "whether it is whole" "1 0" "select complete || ' ' || lost from run"
}

for flags in -O0 -O1 -O2 '-O2 -static'; do
	expect 0 loci gcc -g $flags "$programs/told.c" -o told
	record ./told sizes
	of sizes 500
	is "what they write" "bytes 1 100 ints 4 100 longs 8 100 shorts 2 100 wides 16 100" \
		"select object.name || ' ' || site.size_bytes || ' ' || sum(access.refs) from access join site on site_id = site.id
		join object on access.object_id = object.id join function on site.function_id = function.id
		where function.name = 'sizes' and op = 'store' group by object.name, site.size_bytes order by 1"
	record ./told bulk
	of assign 6
	of copy 10
	of clear 7
	of measure 2
	all=$(sqlite3 p.loci "select refs from run")
	expect 0 loci record -m count ./told bulk
	has err "$all references"
	record ./told recurse
	of recurse 22
	# the first, and the others, which are folded
	is "levels" 2 "select count(*) from context join function on function_id = function.id where name = 'recurse'"
	record ./told leap
	of leap 10
	of land 1
	is "contexts of land" "land<main" "$(paths land)"
	record ./told tail
	of passes_on 1
	of last 1
	expect 0 ./told signal
	mv out alone
	record ./told signal
	cmp -s out alone || fail "$flags: handlers: $(cat out)"
	of touch_in_handler 200
	of interrupted 20
	of last 1
	is "contexts of interrupted" "interrupted<main" "$(paths interrupted)"
	is "contexts of last" "last<main" "$(paths last)"
	is "contexts of the handler" "touch_in_handler<on_signal" "$(paths touch_in_handler)"

	expect 0 loci g++ -g $flags "$programs/told_throws.cpp" -o throws
	record ./throws
	is "stores of exceptions" "catcher(int) 10 thrower(int) 21" \
		"select function.name || ' ' || sum(access.refs) from access join site on site_id = site.id
		join object on access.object_id = object.id join function on site.function_id = function.id
		where function.name like '%er(int)' and object.name = 'numbers' group by function.name order by 1"
	of derived::work 100
	of call 2 # of the table, and in it
	is "contexts of catcher" "catcher(int)<main" "$(paths catcher)"

	expect 0 loci gfortran -g $flags "$programs/told_arrays.f90" -o arrays
	record ./arrays
	has out "2000.0"
	is "arrays" "load 2000 store 3000" "select op || ' ' || sum(access.refs) from access join site on site_id = site.id
		join object on access.object_id = object.id where object.kind = 'heap' and site.size_bytes = 8 group by op order by 1"
	# -O2 puts the subroutines into the program
	[ "${flags#-O2}" != "$flags" ] || is "who touches them" "work::add 3000 work::fill 2000" \
		"select function.name || ' ' || sum(access.refs) from access join site on site_id = site.id
		join function on site.function_id = function.id join object on access.object_id = object.id
		where object.kind = 'heap' and site.size_bytes = 8 group by function.name order by 1"

	expect 0 loci gcc -g $flags -pthread "$programs/told_atomics.c" -o atomics
	expect 0 ./atomics
	has out passed
	record ./atomics 0
	has out passed
	is "atomic references" "value128 16 22 value16 2 22 value32 4 22 value64 8 22 value8 1 22" \
		"select object.name || ' ' || site.size_bytes || ' ' || sum(access.refs) from access join site on site_id = site.id
		join object on access.object_id = object.id where object.name like 'value%' group by object.name order by 1"
	record ./atomics 20000
	has out passed
	is "of four threads" "count128 160000 count16 160000 count64 160000 count8 160000" \
		"select object.name || ' ' || sum(access.refs) from access join site on site_id = site.id
		join function on site.function_id = function.id join object on access.object_id = object.id
		where function.name = 'hammer' and object.name in ('count8', 'count16', 'count64', 'count128') group by object.name order by 1"
done

# Libraries that come and go at the same address are told apart.
flags=-O1
for name in one two; do
	n=100
	[ $name = one ] || n=200
	cat >$name.c <<-C
		long numbers_$name[1000];
		__attribute__((noinline)) void work_$name(int n)
		{
			for (int i = 0; i < n; i++)
				numbers_$name[i] = i;
		}
		void start(void) { work_$name($n); }
	C
	expect 0 loci gcc -g -O1 -fPIC -shared $name.c -o $name.so
done
cat >loads.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
int main(void)
{
	void (*start)(void), (*last)(void) = NULL;
	int same = 0;

	for (int i = 0; i < 10; i++) {
		void *library = dlopen(i % 2 ? "./two.so" : "./one.so", RTLD_NOW);

		start = (void (*)(void))dlsym(library, "start");
		same += start == last;
		last = start;
		start();
		dlclose(library);
	}
	puts(same ? "at one place" : "apart");
	return 0;
}
C
expect 0 loci gcc -g -O1 loads.c -o loads -ldl
record ./loads
has out "at one place"
of work_one 500
of work_two 1000

# What orders and what is atomic, in the code itself: on few processors threads seldom show it.
if command -v objdump >/dev/null; then
	orders() { # FUNCTION PATTERN
		objdump -d --no-show-raw-insn --disassemble="$1" "$BUILD/lib/loci/libloci-rt.so" | grep -qE "$2" ||
			fail "$1 has nothing like $2"
	}
	orders __tsan_atomic_thread_fence 'mfence|lock '
	for bits in 8 16 32 64; do
		orders __tsan_atomic${bits}_store 'xchg'
		orders __tsan_atomic${bits}_exchange 'xchg'
		for what in fetch_add fetch_sub fetch_and fetch_or fetch_xor fetch_nand compare_exchange_strong \
			compare_exchange_weak compare_exchange_val; do
			orders __tsan_atomic${bits}_$what 'lock '
		done
	done
fi

# Every report says so.
flags=reports
record ./arrays
cp p.loci q.loci
said="approximate: gcc tells no locals that stay in their function"
tells() {
	expect 0 "$@"
	tr -s ' \n' ' ' <out >words
	has words "$said"
}
tells loci report --by function p.loci
tells loci annotate p.loci
tells loci diff p.loci q.loci
said="approximate, every reference that gcc tells"
expect 0 loci report p.loci
tr '\302\240' ' ' <out | tr -s ' \n' ' ' >words
has words "approximate, every reference that gcc tells"
has words "note: approximate: seen is what gcc tells"
expect 0 loci info p.loci
has out "note        approximate: seen is what gcc tells"
for command in 'report' 'report --by line' 'annotate' 'diff p.loci'; do
	expect 0 loci $command --json p.loci
	has out '"approximate": "gcc tells no locals'
done
expect 0 loci merge -o m.loci p.loci q.loci
is "after merging" 1 "select instr(capabilities, 'approximate') > 0 from run"
finish
