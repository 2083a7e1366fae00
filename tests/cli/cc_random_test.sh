# SPDX-License-Identifier: GPL-2.0-or-later
# Random programs through all of it: those of tests/pass/random_flow.py, and of csmith where it is
# installed. On their own and recorded they do what they do natively; as many references are counted as
# are streamed; and of the first kind the arena's are as many as the program notes itself.
# Only in make check-long
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/clangs.sh"
levels=(-O0 -O1 -O2 '-O3 -march=native' -Os)
recorded=0

# same WHAT COMMAND..: does what ./native did
same() {
	local what=$1
	shift
	expect "$status" timeout 100 "$@"
	cmp -s out native.out || fail "$about: $what, prints $(head -3 out)"
}

# watch: ./watched against ./native, which did not take long
watch() {
	local streamed counted
	same alone ./watched
	same counted loci record --collector cc -m count ./watched
	counted=$(sed -n 's/^loci: \([0-9]*\) references.*/\1/p' err)
	# Nothing to record is an error; too much takes too long.
	[ "${counted:-0}" -gt 0 ] && [ "$counted" -lt 20000000 ] || return 1
	rm -f p.loci
	same recorded loci record -q --verify=20000 --collector cc --pairs none -o p.loci ./watched
	streamed=$(sqlite3 p.loci 'select refs from run where complete and not lost')
	[ "$streamed" = "$counted" ] || fail "$about: $streamed references streamed, $counted counted"
	recorded=$((recorded + 1))
}

natively() {
	timeout 5 ./native >native.out 2>/dev/null </dev/null
	status=$?
	[ "$status" != 124 ]
}

# flow SEED MAJOR LANGUAGE COMPILER
flow() {
	local noted got
	about="random_flow.py $1 $3, clang $2 $level"
	"$SRC/tests/pass/random_flow.py" "$1" "$3" >"p.$3"
	expect 0 "clang$([ "$3" = c ] || echo ++)-$2" -w -DNOTE "p.$3" -o native
	EXPECTED=noted natively || return
	noted=$(wc -l <noted)
	expect 0 loci "$4" --loci-clang="$2" -w -g $level "p.$3" -o watched
	watch || return
	got=$(sqlite3 p.loci "select coalesce(sum(refs), 0) from object where name = 'arena'")
	[ "$noted" = "$got" ] || fail "$about: $noted references to the arena, $got in the profile"
}

# smith SEED MAJOR
smith() {
	about="csmith --seed $1, clang $2 $level"
	csmith --seed "$1" --max-funcs 6 >p.c 2>/dev/null || return
	expect 0 "clang-$2" -w $level -I/usr/include/csmith p.c -o native
	natively || return
	expect 0 cc "$2" -w -g $level -I/usr/include/csmith p.c -o watched
	watch
}

for seed in $(seq 500 519); do
	level=${levels[seed % 5]}
	for major in $clangs; do
		flow "$seed" "$major" c cc
		flow "$seed" "$major" c++ c++
		! command -v csmith >/dev/null || smith "$seed" "$major"
	done
done
[ "$recorded" -ge 40 ] || fail "only $recorded programs were recorded"
finish
