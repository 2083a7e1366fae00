#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Random control flow through the pass:	random.sh SOURCE-TREE PLUGIN CLANG-VERSION FIRST-SEED N
#
# Programs of random_flow.py, each at one level of optimisation: they do what they do natively,
# counting, tracing and changing between the two; as many references are counted as traced; and of
# the arena, every reference is listed in the order, with the size and at the place that the program
# itself says, built without the pass or an optimiser. Loops told by one marker or not, the list is
# the same.
set -u
src=$1 plugin=$2 version=$3 first=$4 n=$5
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0
listed=0 told=0
fail() {
	echo "random: random_flow.py $seed $language, clang $version $level: $*" >&2
	failures=$((failures + 1))
}
if ! command -v "clang-$version" >/dev/null || ! command -v python3 >/dev/null; then
	echo "no clang-$version, or no python3"
	exit 77
fi
clang-"$version" -O1 -I"$src/src" -c "$src/tests/pass/word_log.c" -o log.o || exit 1

# So that addresses can be compared.
fixed="setarch -R"
$fixed true 2>/dev/null || fixed=

run() { # MODE [RUNS]
	rm -f words
	WORD_LOG=words WORD_LOG_MODE=$1 WORD_LOG_RUNS=${2-1} EXPECTED=place $fixed timeout 60 ./watched >printed 2>&1
	[ $? = $status ] || fail "$1: exit status is not $status"
	cmp -s printed noted.printed || fail "$1: prints something else: $(head -3 printed)"
	read -r _ counted _ traced _ errors _ runs _ < <(tail -1 words)
	[ "$errors" = 0 ] || fail "$1: $(head -3 words)"
}

try() {
	"$src/tests/pass/random_flow.py" "$seed" "$language" >"program.$language" || exit 1
	$compiler -w -DNOTE "program.$language" -o noted || exit 1
	EXPECTED=expected timeout 20 ./noted >noted.printed 2>&1
	status=$?
	[ $status != 124 ] || { echo "random_flow.py $seed $language does not end soon: left out"; return; }
	listed=$((listed + $(wc -l <expected)))
	LOCI_PASS_VERIFY=1 $compiler -w $level -fpass-plugin="$plugin" "program.$language" log.o -o watched \
		-lpthread || { fail "does not compile"; return; }
	run count
	total=$counted
	run list
	[ "$counted" = "$total" ] || fail "$counted references counted while tracing, $total otherwise"
	[ "$traced" = "$total" ] || fail "$traced references are in the words, $total were counted"
	"$src/tests/pass/random_oracle.py" words place expected >differs || fail "$(cat differs)"
	told=$((told + runs))
	grep -v '^counted' words >with_runs
	run list 0
	[ "$runs" = 0 ] || fail "$runs loops are told by one marker when they should not"
	[ -z "$fixed" ] || grep -v '^counted' words | cmp -s - with_runs || fail "other references with runs"
	run windows
	[ "$counted" = "$total" ] || fail "$counted references counted in windows, $total otherwise"
	LOCI_OPS=1 LOCI_PASS_VERIFY=1 $compiler -w $level -fpass-plugin="$plugin" "program.$language" log.o \
		-o watched -lpthread || { fail "does not compile with operations"; return; }
	for mode in count trace windows; do
		EXECUTIONS=executions run $mode
		sort executions >"executions.$mode"
		[ -s "executions.$mode" ] || fail "no blocks executed with operations, $mode"
		cmp -s executions.count "executions.$mode" ||
			fail "other executions, $mode: $(diff executions.count "executions.$mode" | head -5)"
	done
}

levels=(-O0 -O1 -O2 "-O3 -march=native" -Os)
for ((seed = first; seed < first + n; seed++)); do
	level=${levels[seed % 5]}
	language=c compiler=clang-$version
	[ $((seed / 5 % 2)) = 0 ] || language=c++ compiler=clang++-$version
	try
done
[ "$listed" -gt $((n * 100)) ] || { echo "random: only $listed accesses expected" >&2; failures=1; }
[ "$told" -gt $((n * 2)) ] || { echo "random: only $told loops told by one marker" >&2; failures=1; }
exit $((failures != 0))
