#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Slow kernels and their tuned twins: the same result, and both times:
#
#	bench/kernels/twins.sh KERNELS [FACTOR]
#
# KERNELS is the program that compile.sh made. FACTOR (1) multiplies the rounds. Fails if results
# differ; that the tuned one is faster is for the reader to see, it depends on the machine's caches.
set -u
kernels=$(realpath "$1") factor=${2:-1}
failures=0 slow=
printf '%-10s %-10s %9s   %-10s %9s %8s\n' kernel slow seconds tuned seconds 'times'
while read -r name variant size rounds; do
	read -r _ _ _ _ sum seconds _ < <("$kernels" "$name" "$variant" "$size" $((rounds * factor)))
	if [ "$name" != "$slow" ]; then
		slow=$name slow_variant=$variant slow_sum=$sum slow_seconds=$seconds
		continue
	fi
	printf '%-10s %-10s %9.4f   %-10s %9.4f %8.2f\n' "$name" "$slow_variant" "$slow_seconds" "$variant" "$seconds" \
		"$(awk "BEGIN { print $slow_seconds / $seconds }")"
	[ "$sum" = "$slow_sum" ] || {
		echo "FAIL $name: $slow_variant gives $slow_sum, $variant $sum"
		failures=1
	}
done < <("$kernels" list)
exit $failures
