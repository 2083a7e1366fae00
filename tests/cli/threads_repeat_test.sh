# SPDX-License-Identifier: GPL-2.0-or-later
# Programs without data races, recorded twice, give the same: private and shared distances, coherence misses,
# whatever the machine did meanwhile, also where threads meet at locks and atomic operations. And two counters in
# a line of the cache are found out, by variable and line, where its padded twin has none.
# Not under sanitizers: the recorder's part is tested by others.
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/clangs.sh"
export OMP_WAIT_POLICY=passive
read -r major _ <<<"$clangs"
# Where the first thread's stack begins, and so what shares a line with what, is not to be random.
fixed="setarch -R"
$fixed true 2>/dev/null || fixed=

CC="loci cc --loci-clang=$major" expect 0 "$SRC/bench/kernels/compile_threaded.sh" "$PWD/threaded" -O2
grep 'no OpenMP' err

# Private and shared S, coherence misses within 2 %, and some: in what follows they are a few or thousands.
bounds="0.99 0.97 0.02 3"

# recorded FILE KERNEL VARIANT THREADS SIZE ROUNDS
recorded() {
	local file=$1
	shift
	expect 0 $fixed loci record -q --pairs none -o "$file" ./threaded "$@"
}

# agree NAME: a.loci and b.loci do, private and shared S and coherence misses
cat >agree.py <<'PY'
import json, sqlite3, sys
accuracy, first, second, private, shared, within, few = sys.argv[1:]
s = {a["distance"]: a["s_schuff_far"] for a in json.load(open(accuracy))["accuracy"]}
lost = [sqlite3.connect(f).execute("select true_sharing + false_sharing from coherence where owner = 'whole'")
        .fetchone()[0] for f in (first, second)]
print("private %s, shared %s, coherence misses %d and %d" % (s.get("private"), s.get("stack"), *lost))
if not (s["private"] >= float(private) and s["stack"] >= float(shared)):
    sys.exit("the distances differ")
if abs(lost[0] - lost[1]) > max(lost) * float(within) + int(few):
    sys.exit("the coherence misses differ")
PY
agree() {
	loci diff --accuracy --json a.loci b.loci >accuracy.json || fail "$1: no comparison"
	python3 agree.py accuracy.json a.loci b.loci $bounds >out 2>&1 || fail "$1: $(cat out)"
	echo "$1: $(cat out)"
}
# repeats KERNEL VARIANT THREADS SIZE ROUNDS
repeats() {
	./threaded list | grep -q "^$1 $2 " || return 0
	recorded a.loci "$@"
	recorded b.loci "$@"
	agree "$1 $2"
}

# Without setarch the bounds hold as well, but for what lies on the first thread's stack.
if [ -n "$fixed" ]; then
	repeats cg cyclic 4 40 2
	repeats cg block 4 96 1 # in smaller ones the few sums that threads add to in whatever order count for more
	repeats mg inner 4 16 2
	repeats mg outer 4 32 1
	repeats ft strided 4 16 2
	repeats stencil column 4 160 3
	repeats stencil row 4 160 3
	repeats lu static 4 8 1
	repeats lu dynamic 4 8 1
	repeats histogram packed 4 20000 3
	# who comes first is decided by turns: mutexes and conditions, flags, compare and exchange, readers and writers
	repeats pipeline single 4 256 2
	repeats pipeline batch 4 256 2
	repeats annealing mutex 4 1024 2
	repeats annealing flag 4 1024 2
	repeats ring mutex 4 5000 2
	repeats ring atomic 4 5000 2
	repeats table whole 4 2048 3
	repeats table parts 4 2048 3
	# a barrier of the C library, round by round
	expect 0 loci cc --loci-clang="$major" -g -O1 -o handed_on "$SRC/tests/workloads/handed_on.c" -lpthread
	expect 0 $fixed loci record -q -o a.loci ./handed_on
	expect 0 $fixed loci record -q -o b.loci ./handed_on
	agree "handed on"
	# pieces of work of OpenMP, by libomp and libgomp
	for compiler in "cc --loci-clang=$major" gcc; do
		loci $compiler -fopenmp -g -O1 -o omp_teams "$SRC/tests/runtime/omp_teams.c" >err 2>&1 ||
			{ echo "loci $compiler: no OpenMP here: $(head -n 1 err)"; continue; }
		expect 0 $fixed loci record -q --pairs none -o a.loci ./omp_teams
		expect 0 $fixed loci record -q --pairs none -o b.loci ./omp_teams
		agree "teams, loci $compiler"
	done
else
	echo "setarch -R does not work here: repeated runs are not compared"
fi

# The pair. Everyone who counts loses the line to another each turn.
line=$(grep -n 'tallies\[thread\]\.times\[' "$SRC/bench/kernels/threaded/histogram.c" | head -n 1 | cut -d: -f1)
recorded packed.loci histogram packed 4 20000 3
sqlite3 packed.loci "SELECT s.kind, o.name, w.line, m.line, sum(s.misses) FROM sharing s
	JOIN object o ON o.id = s.object_id
	JOIN site w ON w.id = s.write_site_id JOIN site m ON m.id = s.miss_site_id
	GROUP BY 1, 2, 3, 4 ORDER BY 5 DESC" >sharing
head -n 1 sharing | grep -q "^false|tallies|$line|$line|" || fail "not the tallies at line $line: $(head -n 3 sharing)"
[ "$(head -n 1 sharing | cut -d '|' -f 5)" -gt 1000 ] || fail "too few misses: $(head -n 3 sharing)"
expect 0 loci report --by sharing packed.loci
has out tallies
has out "histogram.c:$line"
recorded padded.loci histogram padded 4 20000 3
[ "$(sqlite3 padded.loci "SELECT count(*) FROM sharing s JOIN object o ON o.id = s.object_id
	WHERE o.name LIKE '%tallies%'")" = 0 ] || fail "the padded twin shares its tallies"
whole="SELECT true_sharing + false_sharing FROM coherence WHERE owner = 'whole'"
[ "$(sqlite3 padded.loci "$whole")" -lt 50 ] || fail "the padded twin has $(sqlite3 padded.loci "$whole") coherence misses"
finish
