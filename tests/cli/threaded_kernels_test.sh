# SPDX-License-Identifier: GPL-2.0-or-later
# The kernels of several threads: both variants of each compute the same with 1, 2, 4 and 8 threads,
# whichever compiler made them, built by loci cc, and recorded.
# Not under sanitizers: nothing of loci that others do not run.
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/clangs.sh"
export OMP_WAIT_POLICY=passive
compile=$SRC/bench/kernels/compile_threaded.sh
read -r major _ <<<"$clangs" # the one whose OpenMP is the distribution's own

# Of each kernel, a small size.
sizes="cg:24 ft:8 mg:8 stencil:40 lu:5 pipeline:64 annealing:300 ring:500 table:400 histogram:5000"

# sums COMMAND THREADS..: of every kernel, a line "NAME VARIANT SIZE SUM" for each number of threads
sums() {
	local name variant size threads command=$1
	shift
	./threaded list | while read -r name variant _; do
		size=$(echo $sizes | tr ' ' '\n' | sed -n "s/^$name://p")
		for threads; do
			$command ./threaded "$name" "$variant" "$threads" "$size" 3 ||
				echo "$name $variant $threads failed"
		done
	done | cut -d ' ' -f 1-2,4,6
}

# agree WHAT FILE: all lines of a kernel are the same, and as those of the first compiler
agree() {
	sort -u "$2" >unique
	cut -d ' ' -f 1,3- unique | sort -u >kernels
	[ "$(wc -l <kernels)" = "$n" ] && [ "$(wc -l <unique)" = $((2 * n)) ] ||
		{ fail "$1: sums differ"; cat unique >&2; }
	[ -f first ] || cp kernels first
	cmp -s kernels first || { fail "$1: not the sums of the first compiler"; diff first kernels >&2; }
}

for CC in gcc "clang-$major"; do
	command -v $CC >/dev/null || continue
	expect 0 env CC=$CC "$compile" "$PWD/threaded" -O2
	n=10
	grep -q 'no OpenMP' err && n=5 && cat err
	[ $n = 10 ] || rm -f first
	sums env 1 2 4 8 >lines
	agree "$CC" lines
done
expect 2 ./threaded histogram packed
expect 2 ./threaded histogram packed 0
expect 2 ./threaded histogram packed 65

CC="loci cc --loci-clang=$major" expect 0 "$compile" "$PWD/threaded" -O2
sums env 2 >lines
agree "loci cc" lines
sums "loci record -q --pairs none -o p.loci" 4 >lines
agree "loci cc, recorded" lines
[ "$(sqlite3 p.loci 'select complete and not lost and refs > 15000 from run')" = 1 ] ||
	fail "the last recording: $(sqlite3 p.loci 'select complete, lost, refs from run')"

# The histogram, computed by another.
cat >check.py <<'PY'
import struct
state, times = 3, [0.0] * 4
for i in range(5000):
    state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
    times[(state >> 32) % 4] += 3
total = 0xcbf29ce484222325
for t in times:
    total = ((total ^ struct.unpack("<Q", struct.pack("<d", t))[0]) * 0x100000001b3) & (2**64 - 1)
    total ^= total >> 29
print("histogram 5000 %016x" % total)
PY
[ "$(python3 check.py)" = "$(grep histogram first)" ] || fail "the histogram is $(grep histogram first), not $(python3 check.py)"
finish
