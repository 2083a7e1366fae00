#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The whole way, as a user meets it: Lackey text to profile, our own trace file, report, models.
# CPU time (user + system) of the whole command, median of five.
#
#	bench/pipeline.sh LOCI TRACE SCRATCH
set -u
loci=$1 trace=$2 scratch=$3
profile=$scratch/pipeline.loci own=$scratch/pipeline.trace
runs=${RUNS:-5}
missed=0

# seconds COMMAND..: median CPU seconds
seconds() {
	local TIMEFORMAT='%U %S' i
	for ((i = 0; i < runs; i++)); do
		{ time "$@" >/dev/null 2>"$scratch/stderr" </dev/null; } 2>&1 || {
			cat "$scratch/stderr" >&2
			exit 1
		}
	done | awk '{ print $1 + $2 }' | sort -g | sed -n "$((runs / 2 + 1))p"
}

# judge WHAT VALUE UNIT OPERATOR BAR
judge() {
	local verdict=PASS
	awk "BEGIN { exit !($2 $4 $5) }" || {
		verdict=FAIL
		missed=1
	}
	printf '%-44s %8.3f %-14s bar %s %-5s %s\n' "$1" "$2" "$3" "$4" "$5" "$verdict"
}
note() {
	printf '%-44s %8.3f %s\n' "$1" "$2" "$3"
}
per() {
	awk "BEGIN { print $1 / $2 }"
}

# A modify is a load and a store.
references=$(awk '/^ [LS]/ { n++ } /^ M/ { n += 2 } END { print n + 0 }' "$trace")
echo "$(basename "$trace"): $references references"

time=$(seconds "$loci" analyse -q -o "$profile" "$trace")
judge "Lackey text to profile" "$(per "$references / 1e6" "$time")" "M refs/s" '>=' 8
note "  without per-set distances" \
	"$(per "$references / 1e6" "$(seconds "$loci" analyse -q --no-sets -o "$scratch/no-sets.loci" "$trace")")" "M refs/s"

"$loci" analyse -q -o "$profile" --trace "$own" "$trace" || exit 1
judge "our own trace file" "$(per "$(stat -c %s "$own")" "$references")" "bytes/ref" '<=' 3
note "our own trace to profile" \
	"$(per "$references / 1e6" "$(seconds "$loci" analyse -q -o "$profile" "$own")")" "M refs/s"

judge "loci report" "$(seconds "$loci" report "$profile")" s '<=' 0.3
caches=L1=32K/8,L2=1M/16,L3=32M/16
note "loci cache" "$(seconds "$loci" cache --cache $caches "$profile")" s
for conversion in statstack shen; do
	judge "loci cache --from time --conversion $conversion" \
		"$(seconds "$loci" cache --cache $caches --from time --conversion $conversion "$profile")" s '<=' 0.2
done
judge "loci cache --policy random" \
	"$(seconds "$loci" cache --cache $caches --policy random "$profile")" s '<=' 0.2
exit $missed
