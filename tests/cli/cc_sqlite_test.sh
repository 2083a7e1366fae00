# SPDX-License-Identifier: GPL-2.0-or-later
# SQLite's shell, compiled by loci cc, answers a mix of queries as the one that plain clang made:
# on its own and while it is recorded.
# Only in make check-long.
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/toolchains.sh"
need_clang
"$SRC/bench/sqlite_source.sh" "$BUILD/sources/sqlite" >log 2>&1
case $? in
0) ;;
77) echo "skipped: $(tail -n 1 log)"; exit 77 ;;
*) fail "no SQLite: $(tail -n 3 log)"; finish ;;
esac
cp "$BUILD"/sources/sqlite/*.[ch] .
flags='-O2 -g -DSQLITE_THREADSAFE=0 -DSQLITE_OMIT_LOAD_EXTENSION'
for rows in 2000 50000; do
	{ echo "create table size(rows); insert into size values($rows);"; cat "$SRC/bench/sqlite_mix.sql"; } >mix.$rows
done

expect 0 clang-"${versions%%[!0-9]*}" $flags sqlite3.c shell.c -o native -lm
for version in $versions; do
	expect 0 "$LOCI" cc --loci-clang=$version $flags sqlite3.c shell.c -o shell -lm
	readelf -SW shell | grep -q ' loci_fn ' || fail "clang $version: the shell is not instrumented"
	for rows in 2000 50000; do
		./native :memory: <mix.$rows >want 2>&1 || fail "the mix fails without loci"
		./shell :memory: <mix.$rows >got 2>&1 || fail "clang $version: the mix fails: $(tail -n 3 got)"
		cmp want got || fail "clang $version: other answers: $(diff want got | head -n 5)"
	done
	[ "$(wc -l <want)" -gt 8 ] || fail "few answers: $(cat want)"
	# on a file, too: the pager and the operating system's calls
	./native native.db <mix.2000 >want 2>&1
	./shell loci.db <mix.2000 >got 2>&1
	cmp want got && cmp native.db loci.db || fail "clang $version: another database"
	rm -f native.db loci.db

	"$LOCI" record -q --collector cc -o shell.loci ./shell :memory: <mix.2000 >got 2>err ||
		fail "clang $version: under loci record: $(cat err)"
	./native :memory: <mix.2000 >want 2>&1
	cmp want got || fail "clang $version: other answers while recorded: $(diff want got | head -n 5)"
	expect 0 "$LOCI" report --by function shell.loci
	has out sqlite3
done
finish
