# SPDX-License-Identifier: GPL-2.0-or-later
# loci record of programs built by loci cc: threads, children, programs that become others, handlers
# and sudden ends lose no reference, and what cannot be is said.
# Not under sanitizers.
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/clangs.sh"

major=${clangs##* }
expect 0 cc "$major" -g -O1 -pthread -o stores "$SRC/tests/workloads/stores.c"

# Stores of the function that makes the known number, in all.
stores() {
	sqlite3 p.loci "select coalesce(sum(site.refs), 0) from site join function on function.id = function_id
		where name = 'store_many' and op = 'store'"
}

# try STORES STATUS STEP..: as natively, and every store is there.
try() {
	local want=$1 status=$2 got
	shift 2
	expect "$status" timeout 60 ./stores "$@"
	cp out native.out
	rm -f p.loci
	expect "$status" timeout 60 loci record -o p.loci ./stores "$@"
	cmp -s out native.out || fail "$*: prints $(cat out), natively $(cat native.out)"
	has err "recording with cc (built by loci cc)"
	lacks err "arrived:"
	got=$(stores)
	[ "$got" = "$want" ] || fail "$*: $got stores, want $want: $(cat err)"
}

try 1000 0 1000
try 3000000 0 3000000
try 80000 0 threads=8 10000
try 6400 0 threads=64 100
try 5100 0 100 forks=50 100
try 450 0 forks=3 50 forks=2 50
try 600 0 100 exec 200 exec 300
try 120 0 20 handler 100
try 120 0 20 leap 100
try 800 0 threads=4 100 handler 100
try 777 7 777 _exit=7
try 5000 134 5000 abort
try 4321 137 4321 kill=9

# What was killed has lost nothing that it did, also where others go on.
try 9000 0 forks=3 3000 kill=9
[ "$(sqlite3 p.loci 'select count(*) from process')" = 4 ] || fail "not four processes"
try 1500 0 threads=3 500 run=true

# The counting copies count what the tracing copies tell.
expect 0 loci record -q -o p.loci ./stores 100 forks=3 threads=4 1000 handler 77
streamed=$(sqlite3 p.loci 'select refs from run where complete and not lost')
expect 0 loci record -m count ./stores 100 forks=3 threads=4 1000 handler 77
has err "loci: $streamed references, 16 threads of 4 processes"
[ ! -e stores.loci ] || fail "-m count made a profile"
expect 137 loci record -m count ./stores 100 kill=9
has err "1 of the threads ended before they told"

# Without those it starts.
expect 0 loci record --no-follow -o p.loci ./stores 100 forks=5 1000
[ "$(stores)" = 100 ] || fail "--no-follow has $(stores) stores"

# Through what was not built by loci cc.
printf '#!/bin/sh\n./stores 10\n./stores 20\ntrue\n' >script
chmod +x script
expect 0 loci record --collector cc -o p.loci ./script
has err "./script was built without loci cc or loci gcc: recording what it starts that was"
has err "./script itself ran unwatched"
[ "$(stores)" = 30 ] || fail "a script's programs have $(stores) stores"
expect 0 loci record --collector cc -o p.loci env SOME=thing ./stores 10
[ "$(stores)" = 10 ] || fail "env's program has $(stores) stores"
expect 1 loci record --collector cc -o none.loci true
has err "true was built without loci cc or loci gcc, and so was all that it started: build it again with CC='loci cc'"
[ ! -e none.loci ] || fail "a profile of nothing"
expect 1 loci record -m count --only main ./stores 1
has err "are for loci cc then, when it compiles"

# The program's own world.
(
	ulimit -c 77
	expect 0 loci record --collector cc -q -o p.loci bash -c 'ulimit -c; ./stores 1; exec -a other ./stores 1'
	[ "$(head -n 1 out)" = 77 ] || fail "the limit of core files is $(head -n 1 out)"
	[ "$(stores)" = 2 ] || fail "under another name it has $(stores) stores"
	exit "$failures"
) || failures=$((failures + 1))

# A runtime that is not where it was.
runtime=$(readelf -d stores | sed -n 's/.*\[\(.*libloci-rt.so\)\]/\1/p')
sed "s|$runtime|/nowhere${runtime#????????}|" stores >moved
chmod +x moved
expect 127 loci record -o none.loci ./moved 1
has err "needs libloci-rt.so, which the dynamic linker most likely did not find"

# Built by a loci cc of another version (the definitions' version follows their magic).
LC_ALL=C sed 's/LCFC\x02\x00/LCFC\x63\x00/g' stores >other
chmod +x other
expect 1 loci record --collector cc -o none.loci ./other 1
has err "(its definitions have version 99, this loci reads 2)"
# Allocations that nothing touches count if others by the same call are touched, though it was in
# another process; the profile that this replaces need not be sound.
expect 0 cc "$major" -g -O1 -o untouched "$SRC/tests/workloads/untouched.c"
printf 'damaged' | dd of=p.loci bs=1 seek=5000 conv=notrunc 2>dd.log || fail "$(cat dd.log)"
expect 0 timeout 60 loci record -q --collector cc -o p.loci sh -c './untouched; ./untouched touch; ./untouched'
got=$(sqlite3 p.loci "select name, allocations, refs from object where kind = 'heap'")
[ "$got" = "made|3|1024" ] || fail "allocations: $got"

# Any number of references over two lines that stay among the most recent blocks.
cat >across.c <<'C'
#include <stdint.h>
static struct { char before[60]; volatile uint64_t word; } __attribute__((packed, aligned(64))) lines;
int main(void)
{
	for (int i = 0; i < 300000; i++)
		lines.word = i;
	return 0;
}
C
for runs in 0 1; do
	expect 0 cc "$major" -g -O1 -o across across.c
	LOCI_RUNS=$runs expect 0 loci record -q -o p.loci ./across
	got=$(sqlite3 p.loci "select straddles, (select sum(refs) from object where name = 'lines') from grain")
	[ "$got" = "300000|300000" ] || fail "references over two lines: $got"
done

# Libraries that come and go, with variables of threads: that the loader makes these when they are first
# touched is no call that the code knows of. Whoever opens them may have been built by others.
cat >tenant.c <<'C'
static _Thread_local int own[10];
static int all[1000];
int tenant(int n)
{
	for (int i = 0; i < n; i++)
		all[(i * 7) % 1000] += own[i % 10]++;
	return all[3];
}
__attribute__((constructor)) static void moves_in(void) { tenant(10); }
__attribute__((destructor)) static void moves_out(void) { tenant(20); }
C
cat >landlord.c <<'C'
#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
static void *lodge(void *tenant) { ((int (*)(int))tenant)(1000); return 0; }
int main(void)
{
	int status = 0;
	for (int i = 0; i < 3 && !status; i++) {
		void *library = dlopen("./tenant.so", RTLD_NOW), *tenant;
		pthread_t thread;
		if (!library || !(tenant = dlsym(library, "tenant")))
			return 1;
		lodge(tenant);
		pthread_create(&thread, 0, lodge, tenant);
		pthread_join(thread, 0);
		dlclose(library);
		if (fork() == 0)
			_exit(0);
		wait(&status);
	}
	return status ? 2 : 0;
}
C
expect 0 cc "$major" -g -O1 -fPIC -shared -o tenant.so tenant.c
expect 0 cc "$major" -g -O1 -pthread -o landlord landlord.c -ldl
expect 0 "clang-$major" -g -O1 -pthread -o stranger landlord.c -ldl
for program in landlord stranger; do
	expect 0 loci record --collector cc -m count "./$program"
	counted=$(sed -n "s/^loci: \(at least \)\?\([0-9]*\) references.*/\2/p" err) # of children of the stranger no end is seen
	expect 0 loci record -q --collector cc -o p.loci "./$program"
	got=$(sqlite3 p.loci 'select refs, complete, lost from run')
	[ "$got" = "$counted|1|0" ] || fail "$program: $got, counted $counted: $(sqlite3 p.loci 'select note from run')"
	expect 0 loci record -q --collector cc -m sample -c 300 --seed 1 -o p.loci "./$program"
	for seed in 1 2 3 4 5; do # the last burst may be of code that has gone
		expect 0 loci record -q --collector cc -m watch -c 300 --burst 30 --seed $seed -o p.loci "./$program"
	done
done

# One that stays when another has gone, which the runtime came with, or did not; and children.
cat >neighbours.c <<'C'
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	void *library[] = { dlopen("./tenant.so", RTLD_NOW), dlopen("./other.so", RTLD_NOW) };
	int gone = argc > 1 && atoi(argv[1]), sum = 0, status;
	for (int i = 0; i < 2; i++) {
		int which = i ? !gone : gone, (*tenant)(int);
		if (!library[which] || !(tenant = (int (*)(int))dlsym(library[which], "tenant")))
			return 1;
		for (int k = 0; k < 20; k++)
			sum += tenant(100000);
		if (i == 0)
			dlclose(library[gone]);
	}
	if (fork() == 0)
		exit(sum == 1);
	wait(&status);
	return status;
}
C
expect 0 cc "$major" -g -O1 -fPIC -shared -o other.so tenant.c
expect 0 "clang-$major" -g -O1 -o neighbours neighbours.c -ldl
for gone in 0 1; do
	for seed in 1 2 3; do
		expect 0 loci record -q --collector cc -m watch -c 3000 --burst 300 --seed $seed -o p.loci ./neighbours $gone
		[ "$(sqlite3 p.loci 'select samples > 100 from sampling')" = 1 ] || fail "neighbours: few samples"
	done
	expect 0 loci record -q --collector cc -o p.loci ./neighbours $gone
done

finish
