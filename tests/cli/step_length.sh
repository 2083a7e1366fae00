# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by tests of what is recorded by time: a step is long beside what the machine takes to start
# a program, be it ever so busy.

# step_length N COMMAND..: step_ms and step_s, N times what the command takes now
step_length() {
	local begin=${EPOCHREALTIME/[.,]/} n=$1
	shift
	"$@" >/dev/null 2>&1
	step_ms=$((n * (${EPOCHREALTIME/[.,]/} - begin) / 1000))
	[ "$step_ms" -ge 800 ] || step_ms=800
	step_s=${step_ms}e-3
}

# while_told WHAT UNTIL MS PROGRAM OPTION..: of each cell that the program says of whether it was
# recorded (tests/workloads/parts.c), cell WHAT NAME WAS holds. A machine so busy that the first
# stores came when the time was over says nothing of those.
while_told() {
	local what=$1 until=$2 ms=$3 program=$4 name was
	shift 4
	expect 0 loci record -o p.loci "$@" "$program" "$ms" until "$until"
	cp out told
	[ "$(wc -l <told)" = 3 ] || fail "$what: says $(cat told)"
	while read -r name was; do
		[ "$was" = '?' ] || cell "$what" "$name" "$was"
	done <told
}

# recorded_steps N ALL: err says that N steps were recorded, of a run of ALL, to about half a step
recorded_steps() {
	awk -v step="$step_ms" -v n="$1" -v all="$2" '
		function ms(value, unit) { return unit ~ /^ms/ ? value : unit ~ /^min/ ? 60000 * value : 1000 * value }
		{ for (i = 1; i <= NF; i++) if ($i == "recorded" && $(i + 3) == "of") {
			part = ms($(i + 1), $(i + 2)); whole = ms($(i + 4), $(i + 5)) } }
		END { exit !(part >= (n - 0.6) * step && part <= (n + 0.6) * step && whole >= (all - 0.1) * step) }' err
}
