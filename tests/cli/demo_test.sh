# SPDX-License-Identifier: GPL-2.0-or-later
# What make demo shows: a report of the slow order, and the difference that the better one makes.
# Not under sanitizers.
. "$SRC/tests/cli/expect.sh"

expect 0 env BUILD="$BUILD" "$SRC/scripts/demo.sh"
[ "$(wc -l <out)" -lt 160 ] || fail "the demo is longer than a few screens"
has out 'loci report ijk.loci'
has out 'stack distance'
has out 'loci diff ijk.loci ikj.loci'
has out 'better'
# The column walk, by line and array.
line=$(grep -n -m 1 'c\[i \* COLUMNS + j\] +=' "$SRC/examples/matmul.c" | cut -d : -f 1)
tr -s ' \n' ' ' <err | grep -q "of those at matmul.c:$line, b walked with stride 3200 B" ||
	fail "loci record does not blame matmul.c:$line and b: $(cat err)"
# The loop that carries its reuse: the one around it, whose line gcc tells only at the loop's start.
line=$(grep -n -m 1 'for (int j' "$SRC/examples/matmul.c" | cut -d : -f 1)
tr -s ' \n' ' ' <out | grep -q "carried by the loop at matmul.c:$line" ||
	fail "b's reuse is not carried by the loop at matmul.c:$line"
# No distance is larger than the size that holds it.
expect 0 loci report --json "$BUILD/demo/ijk.loci"
python3 - <<'PY' || fail "distances of b beyond the size that holds them"
import json
report = json.load(open("out"))["profiles"][0]
size = report["verdict"]["next"]["bytes"]
far = [row["distance_bytes"] for row in report["blame"]["lines"] if row["object"] and row["object"]["name"] == "b"
       and row["cause"] == "far"]
assert far and all(3 / 4 * size <= distance <= size for distance in far), (far, size)
PY
[ -s "$BUILD/demo/demo.html" ] || fail "no page to look around in"
finish
