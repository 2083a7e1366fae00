# SPDX-License-Identifier: GPL-2.0-or-later
# zlib, as its authors build and test it, compiled by loci cc: its own tests pass, instrumented and
# while they are recorded.
# Only in make check-long.
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/toolchains.sh"
. "$SRC/tests/cli/source_package.sh"
need_clang
source_package zlib

# What it says without loci.
cp -r zlib native
(cd native && CC=clang-"${versions%%[!0-9]*}" ./configure && make -j2 && make check) >native.log 2>&1 ||
	fail "zlib's own tests fail without loci: $(tail -n 5 native.log)"

for version in $versions; do
	rm -rf work && cp -r zlib work
	(cd work && CC="$LOCI cc --loci-clang=$version" CFLAGS="-O3 -g" ./configure && make -j2) >log 2>&1 ||
		fail "clang $version: zlib is not built: $(tail -n 20 log)"
	for file in libz.so example minigzip examplesh minigzip64; do
		readelf -SW "work/$file" | grep -q ' loci_fn ' || fail "clang $version: $file is not instrumented"
	done
	(cd work && make check) >log 2>&1 || fail "clang $version: zlib's tests fail: $(tail -n 20 log)"
	[ "$(grep -c 'zlib.*test OK' log)" = "$(grep -c 'zlib.*test OK' native.log)" ] ||
		fail "clang $version: other tests ran than without loci"

	# The same tests, each program of theirs recorded.
	cat >rec <<-END
		#!/bin/sh
		exec "$LOCI" record -q --collector cc -o "$PWD/check.\$\$.loci" -- "\$@"
	END
	chmod +x rec && rm -f check.*.loci
	(cd work && make check QEMU_RUN="$PWD/../rec") >log 2>&1 ||
		fail "clang $version: zlib's tests fail while they are recorded: $(tail -n 20 log)"
	[ "$(grep -c 'zlib.*test OK' log)" = "$(grep -c 'zlib.*test OK' native.log)" ] ||
		fail "clang $version: other tests were recorded than ran without loci"
	[ "$(ls check.*.loci | wc -l)" = 9 ] || fail "clang $version: profiles: $(ls check.*.loci)"
	for profile in check.*.loci; do
		expect 0 "$LOCI" info --json "$profile"
		has out '"collector": "cc"'
	done
	# What is compressed is the same to the byte, and the report knows whose references these are.
	cd work || exit 1
	seq 1 60000 >numbers
	../native/minigzip <numbers >want.gz
	"$LOCI" record -q --collector cc -o ../minigzip.loci ./minigzip <numbers >got.gz 2>err ||
		fail "clang $version: minigzip under loci record: $(cat err)"
	cmp want.gz got.gz || fail "clang $version: minigzip compresses otherwise"
	"$LOCI" record -q --collector cc -o ../back.loci ./minigzip -d <got.gz >back 2>err ||
		fail "clang $version: minigzip -d under loci record: $(cat err)"
	cmp numbers back || fail "clang $version: minigzip -d gives something else"
	expect 0 "$LOCI" report ../minigzip.loci
	has out "deflate.c:"
	cd ..
done
finish
