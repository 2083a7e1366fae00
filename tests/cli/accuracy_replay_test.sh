# SPDX-License-Identifier: GPL-2.0-or-later
# Not under sanitizers: watch_test is, and this is of figures.
# How good watched samples are, in every way of sampling and weighing: the tables of `make accuracy` on
# thirty streams, whose samples are the same in every run.
. "$SRC/tests/cli/expect.sh"

mkdir streams
expect 0 python3 -B "$SRC/bench/accuracy_replay.py" "$LOCI" "$BUILD/tests/write_streams" streams \
	"$SRC/tests/golden/accuracy_replay.tsv"
cat out
has out "bars hold"
has out "as RDX. Why S is below 0.9"
finish
