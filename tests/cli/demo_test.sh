# SPDX-License-Identifier: GPL-2.0-or-later
# What make demo shows: a report of the slow order, and the difference that the better one makes.
. "$SRC/tests/cli/expect.sh"

expect 0 env BUILD="$BUILD" "$SRC/scripts/demo.sh"
has out 'loci report ijk.loci'
has out 'stack distance'
has out 'loci diff ijk.loci ikj.loci'
has out 'better'
[ "$(wc -l <out)" -lt 120 ] || fail "the demo is longer than a few screens"
finish
