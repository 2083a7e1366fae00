# SPDX-License-Identifier: GPL-2.0-or-later
# Loops that are told by one marker or reference by reference (LOCI_RUNS=0): the same profile, every
# row of every table. Programs of tests/pass are recorded in both ways.
# Not under sanitizers: repeat_stream_test is.
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/toolchains.sh"

setarch -R true 2>/dev/null || { echo "skipped: addresses cannot be had twice (setarch -R)"; exit 77; }
command -v sqlite3 >/dev/null || { echo "skipped: no sqlite3"; exit 77; }
tried=0
# It dies in the loop: 64 references before, and as many as a page has in the loop.
cat >dies.c <<'EOF'
#include <stdlib.h>
#include <sys/mman.h>
__attribute__((noinline)) static void fill(volatile long *at, long n)
{
	for (long i = 0; i < n; i++)
		at[i] = i;
}
int main(int argc, char **argv)
{
	char *page = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	(void)argv;
	mprotect(page + 4096, 4096, PROT_NONE);
	if (argc > 1)
		fill((long *)page, 64);
	fill((long *)page, 1024);
	return 0;
}
EOF
for version in 19 14; do
	command -v "clang-$version" >/dev/null || continue
	tried=$((tried + 1))
	for level in "-O1" "-O3 -march=native"; do
		"$LOCI" cc --loci-clang=$version $level -g "$SRC/tests/pass/programs/steady.c" -o steady ||
			fail "clang $version $level: does not compile"
		for runs in 0 1; do
			LOCI_RUNS=$runs setarch -R "$LOCI" record -q --collector cc --sets -o $runs.loci -- ./steady >/dev/null ||
				fail "clang $version $level: not recorded"
			# The process has another number.
			sqlite3 $runs.loci .dump | grep -v 'INSERT INTO process' >$runs.sql
		done
		grep -q 'INSERT INTO site' 1.sql || fail "clang $version $level: no sites are recorded"
		cmp -s 0.sql 1.sql || fail "clang $version $level: another profile: $(diff 0.sql 1.sql | head -5)"
	done
	expect 0 loci cc --loci-clang=$version -O1 -g dies.c -o dies
	expect 139 loci record -o dies.loci ./dies
	has err "nothing was recorded: the program died in its first loop"
	expect 139 loci record -o dies.loci ./dies twice
	has err "recorded until then but for a loop that it was in (LOCI_RUNS=0"
	[ "$(sqlite3 dies.loci 'select refs from run')" = 64 ] || fail "not the first loop alone: $(cat err)"
	expect 139 env LOCI_RUNS=0 loci record -o dies.loci ./dies
	lacks err LOCI_RUNS
	refs=$(sqlite3 dies.loci 'select refs from run')
	[ "$refs" = 512 ] || [ "$refs" = 513 ] || fail "$refs references before it died"
done
[ $tried -gt 0 ] || { echo "skipped: neither clang-14 nor clang-19 is installed"; exit 77; }
