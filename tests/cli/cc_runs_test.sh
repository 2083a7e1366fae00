# SPDX-License-Identifier: GPL-2.0-or-later
# Loops that are told by one marker or reference by reference (LOCI_RUNS=0): the same profile, every
# row of every table. Programs of tests/pass are recorded in both ways.
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/toolchains.sh"

setarch -R true 2>/dev/null || { echo "skipped: addresses cannot be had twice (setarch -R)"; exit 77; }
command -v sqlite3 >/dev/null || { echo "skipped: no sqlite3"; exit 77; }
tried=0
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
done
[ $tried -gt 0 ] || { echo "skipped: neither clang-14 nor clang-19 is installed"; exit 77; }
