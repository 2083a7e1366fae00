# SPDX-License-Identifier: GPL-2.0-or-later
# Calls into code that loci cc has not compiled are counted by library, each of them and no other:
# by hand, with threads, children, other programs, libraries that come and go, and every way out.
# Not under sanitizers.
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/clangs.sh"

parts=$SRC/tests/counted/outward_part.c

# calls LIBRARY: as the profile has it
calls() {
	sqlite3 p.loci "select coalesce(sum(calls), 0) from unseen where library = '$1'"
}

# want STATUS LIBM PLAIN ARGUMENT..
want() {
	local status=$1 libm=$2 plain=$3
	shift 3
	rm -f p.loci
	expect "$status" timeout 60 loci record -q -o p.loci ./outward "$@"
	[ "$(calls libm.so.6)" = "$libm" ] || fail "$*: $(calls libm.so.6) calls of libm, want $libm"
	[ "$(calls libplain.so)" = "$plain" ] || fail "$*: $(calls libplain.so) calls of plain, want $plain"
	[ "$(calls libseen.so)" = 0 ] || fail "$*: code that is seen is said not to be"
	[ "$(calls 'the program itself, not instrumented')" = 0 ] || fail "$*: the program itself"
}

build() {
	local major=$1 flags=$2
	clang-$major -shared -fPIC -O1 -DNAME=plain -o libplain.so "$parts" || fail "no clang-$major"
	expect 0 cc "$major" $flags -shared -fPIC -DNAME=seen -o libseen.so "$parts"
	expect 0 cc "$major" $flags -shared -fPIC -DTWICE -DNAME=plain -o libtwice.so "$parts" -L. -lplain
	expect 0 cc "$major" $flags -DNAME=near -c -o near.o "$parts"
	expect 0 cc "$major" $flags -c -o outward.o "$SRC/tests/counted/outward.c"
	expect 0 cc "$major" $flags -o outward outward.o near.o -L. -lplain -lseen -Wl,-rpath,"$PWD" -lm -pthread
}

for major in $clangs; do
	for flags in "-O0" "-O2 -g -ffunction-sections -fdata-sections -Wl,--gc-sections"; do
		build "$major" "$flags"
		want 0 1000 17
		[ "$(calls libc.so.6)" = 3 ] || fail "$(calls libc.so.6) calls of libc, want 3"
		want 0 1000 2000017 threads
		want 0 1017 17 fork
		want 0 1011 17 label
		want 0 1000 30 tail
		want 0 1000 17 _exit
		want 134 1000 17 abort
		want 0 2000 34 exec
		want 0 1000 27 "$PWD/libtwice.so"
	done

	# All in one file: nobody's library.
	clang-$major -O1 -DNAME=plain -c -o plain.o "$parts"
	expect 0 cc "$major" -O1 -DNAME=seen -c -o seen.o "$parts"
	expect 0 cc "$major" -static -o still outward.o near.o seen.o plain.o -lm -pthread
	expect 0 loci record -q -o p.loci ./still
	got=$(sqlite3 p.loci "select library, calls from unseen")
	[ "$got" = "the program itself, not instrumented|1020" ] || fail "static: $got"
done

# It is said, added up and written out.
want 0 1000 17
expect 0 loci report p.loci
has out "calls into unseen code: libm.so.6 1 k, libplain.so 17, libc.so.6 3"
expect 0 loci info p.loci
has out "unseen      calls into libm.so.6 1 k, libplain.so 17, libc.so.6 3"
all='{"library":"libc.so.6","calls":3},{"library":"libm.so.6","calls":1000},{"library":"libplain.so","calls":17}'
for command in "report --json" "info --json" "export --format json -o -"; do
	expect 0 loci $command p.loci
	tr -d ' \n' <out >flat
	has flat "\"unseen\":[$all]"
done
expect 0 loci merge -o m.loci p.loci p.loci p.loci
[ "$(sqlite3 m.loci 'select group_concat(library || calls) from unseen')" = libc.so.69,libm.so.63000,libplain.so51 ] ||
	fail "merged: $(sqlite3 m.loci 'select * from unseen')"

# Counting only, nothing is counted here, and nothing goes wrong.
expect 0 ./outward threads
expect 0 loci record -m count ./outward

finish
