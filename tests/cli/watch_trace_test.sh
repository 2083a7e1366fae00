# SPDX-License-Identifier: GPL-2.0-or-later
# loci record -m watch --trace: one run's samples, weighed in every way by loci analyse. By the run's own way
# that is the run's own profile.
# Not under sanitizers: the recorder is tested by what it writes.
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/clangs.sh"

ways='inverse unscaled proportional kaplan-meier plain'
expect 0 cc "${clangs##* }" -g -O1 -o watched "$SRC/tests/workloads/known_reuses.c" -lpthread

# all PROFILE: what it knows of the samples and what was made of them
all() {
	local table
	for table in histogram bin site context object pair thread process; do
		echo "$table"
		sqlite3 "$1" "select * from $table" || fail "$1: no $table"
	done
	sqlite3 "$1" "select watched_by, period, last_period, seed, samples, in_burst, by_watch, never, abandoned, by_time,
		refs, effective from sampling"
	sqlite3 "$1" "select refs, threads, mode from run"
}
same() { # PROFILE PROFILE
	all "$1" >one
	all "$2" >other
	[ "$(sqlite3 "$1" 'select samples > 100 from sampling')" = 1 ] || fail "$1 has few samples"
	cmp -s one other || fail "$1 and $2 differ: $(diff one other | head -20)"
}
# share PROFILE CONDITION: of the reuses, of those with such time distances
share() {
	sqlite3 "$1" "select total(weight) filter (where $2) / sum(weight) from bin join histogram h on h.id = histogram_id
		where h.owner = 'whole' and h.distance = 'time'"
}
# is CONDITION: of numbers
is() {
	python3 -c "import sys; sys.exit(not ($1))" || fail "not: $1"
}

by=pages
expect 0 loci doctor --json
python3 -c 'import json, sys
row = [row for row in json.load(open("out"))["collectors"] if row["name"] == "watch"][0]
sys.exit(not row["works"])' && by="registers pages"
for how in $by; do
	# Of RDX's second listing half of the reuses are far. Without weights they are fewer, for watches give way.
	expect 3 loci record -q -m watch --watch-by "$how" -b 8 -c 20000 --seed 1 --trace half.trace -o half.loci ./watched half
	for way in $ways; do
		expect 0 loci analyse -q --weights "$way" -o "$way.loci" half.trace
	done
	same half.loci inverse.loci
	expect 0 loci analyse -q -o default.loci half.trace
	same half.loci default.loci
	is "'$(sqlite3 default.loci 'select watched_by from sampling')' == '$how'"
	is "abs($(share inverse.loci 'low > 100000') - 0.5) < 0.05"
	is "$(share plain.loci 'low > 100000') < $(share inverse.loci 'low > 100000') - 0.1"
	is "len({$(for way in $ways; do share "$way.loci" 'low > 100000' && echo ,; done)}) >= 4"
	for way in $ways; do # they are the same samples
		is "'$(sqlite3 "$way.loci" 'select samples, by_watch, refs from sampling')' == '$(sqlite3 half.loci \
			'select samples, by_watch, refs from sampling')'"
	done
	# Other ways of recording and of weighing.
	expect 3 loci record -q -m watch --watch-by "$how" -b 8 -c 20000 --watch w --weights plain --replace oldest --watches 2 \
		--trace plain.trace -o live.loci ./watched steadily
	expect 0 loci analyse -q -o plain.loci plain.trace
	same live.loci plain.loci
	expect 3 loci record -q -m watch --watch-by "$how" -b 8 -c 20000 --trace threads.trace -o threads.loci ./watched threads
	expect 0 loci analyse -q -o again.loci threads.trace
	same threads.loci again.loci
done
# A trace of the trace, from a pipe.
expect 0 sh -c 'cat threads.trace | loci analyse -q --trace kept.trace -o kept.loci -'
expect 0 loci analyse -q -o again.loci kept.trace
same threads.loci again.loci
# Of every process one.
expect 3 loci record -q -m watch -c 20000 --trace fork.trace -o fork.loci ./watched fork
for trace in fork.trace*; do
	expect 0 loci analyse -q -o "$trace.loci" "$trace"
done
is "$(for p in fork.trace*.loci; do
	sqlite3 "$p" 'select refs from run' && echo +; done) 0 == $(sqlite3 fork.loci 'select refs from run')"

# What does not go with it.
expect 1 loci analyse -o no.loci --watch half.trace
has err "leave --watch out"
expect 1 loci analyse -o no.loci -b 64 half.trace
has err "leave -b out"
expect 1 loci analyse -o no.loci --index half.trace
expect 1 loci analyse -o no.loci --alone half.trace
printf ' L 1000,8\n' >one.lackey
expect 1 loci analyse -o no.loci --weights plain one.lackey
has err "--weights goes with --watch"
expect 2 loci analyse -o no.loci -c 1000 half.trace
# Torn: in its only frame, then behind it.
size=$(stat -c %s half.trace)
head -c $((size / 2)) half.trace >torn.trace
expect 1 loci analyse -o no.loci torn.trace
has err torn
expect 1 loci analyse -o no.loci --weights plain torn.trace
has err torn
[ ! -e no.loci ] || fail "a profile of nothing was written"
head -c $((size - 10)) half.trace >torn.trace
expect 0 loci analyse -o torn.loci torn.trace
has err torn
same half.loci torn.loci
finish
