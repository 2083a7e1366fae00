#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Writes DIR/gzip.lackey: the data references of gzip compressing a generated text, as Valgrind's
# Lackey prints them (" L addr,size", S store, M modify), about 2e7 lines. The input is the same
# everywhere; the trace depends on the gzip and libc installed.
set -eu

if [ $# -ne 1 ]; then
	echo "usage: $0 DIR" >&2
	exit 2
fi
dir=$1
mkdir -p "$dir"

# Words of skewed frequency with numbers in between: compresses about 3:1, as prose does.
awk 'BEGIN {
	seed = 42
	for (i = 0; i < 4000; i++) {
		n = 2 + rnd(9); w = ""
		while (n--)
			w = w substr("etaoinshrdlucmfwypvbgkjqxz", 1 + int(26 * (rnd(1000) / 1000) ^ 2), 1)
		word[i] = w
	}
	for (bytes = 0; bytes < 340000; bytes += length(out) + 1) {
		out = ""
		while (length(out) < 70)
			out = out (rnd(20) ? word[int(4000 * (rnd(10000) / 10000) ^ 3)] : rnd(100000)) " "
		print out
	}
}
function rnd(n) {
	seed = (seed * 16807) % 2147483647
	return seed % n
}' >"$dir/gzip.input"

valgrind --tool=lackey --trace-mem=yes --log-fd=9 gzip -c "$dir/gzip.input" \
	9>&1 >/dev/null 2>/dev/null | grep '^ [LSM] ' >"$dir/gzip.lackey.tmp"
mv "$dir/gzip.lackey.tmp" "$dir/gzip.lackey"
