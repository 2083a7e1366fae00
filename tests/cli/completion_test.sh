# SPDX-License-Identifier: GPL-2.0-or-later
# What bash offers at the cursor.
. "$SRC/tests/cli/expect.sh"
. "$SRC/completions/loci.bash"

# offers WORD..: the words of the line, the last one unfinished; leaves the answers in the file out.
offers() {
	COMP_WORDS=("$@")
	COMP_CWORD=$(($# - 1))
	COMPREPLY=()
	_loci
	printf '%s\n' "${COMPREPLY[@]}" >out
}

touch one.loci two.loci trace.din
mkdir profiles

offers "$LOCI" ''
for command in record analyse report cache diff summary info doctor merge export help; do
	has out "$command"
done
for command in cc c++ flang mpicc mpicxx mpifort; do
	grep -qxF "$command" out || fail "$command is not offered"
done
offers "$LOCI" rep
[ "$(cat out)" = report ] || fail "rep is completed to $(cat out)"

offers "$LOCI" report --
has out --json
offers "$LOCI" analyse --for
has out --formats
offers "$LOCI" cache -
has out --sweep

offers "$LOCI" report ''
has out one.loci
has out two.loci
has out profiles
lacks out trace.din
offers "$LOCI" analyse tr
[ "$(cat out)" = trace.din ] || fail "analyse tr is completed to $(cat out)"

offers "$LOCI" c++ --loci-on
[ "$(cat out)" = --loci-only ] || fail "c++ --loci-on is completed to $(cat out)"
offers "$LOCI" c++ --loci-op
[ "$(cat out)" = --loci-ops ] || fail "c++ --loci-op is completed to $(cat out)"
offers "$LOCI" mpicc --loci-m
[ "$(cat out)" = --loci-mpi ] || fail "mpicc --loci-m is completed to $(cat out)"
offers "$LOCI" cc tr
[ "$(cat out)" = trace.din ] || fail "cc tr is completed to $(cat out)"

offers "$LOCI" cache --cache ''
has out host
! grep -qx machine out || fail "the heading is offered as a machine"
[ "$(wc -l <out)" -gt 6 ] || fail "no machines are offered: $(cat out)"
offers "$LOCI" cache --cache = ho
[ "$(cat out)" = host ] || fail "--cache=ho is completed to $(cat out)"
offers "$LOCI" analyse --format ''
has out lackey
has out din
! grep -qx r out || fail "a line of an example is offered as a format"
offers "$LOCI" export --format ''
has out csv
lacks out lackey
offers "$LOCI" record tr
has out trace.din
has out true
offers "$LOCI" record --toggle ''
has out USR2
offers "$LOCI" record --cache ho
[ "$(cat out)" = host ] || fail "record --cache ho is completed to $(cat out)"
offers "$LOCI" doctor --j
[ "$(cat out)" = --json ] || fail "doctor --j is completed to $(cat out)"
offers "$LOCI" cache --policy r
[ "$(cat out)" = random ] || fail "--policy r is completed to $(cat out)"
offers "$LOCI" report --by f
[ "$(sort out | tr '\n' ' ')" = 'field file function ' ] || fail "--by f is completed to $(cat out)"
offers "$LOCI" annotate o
has out one.loci
# every kind that bash offers is one that the program takes, and the other way round
offers "$LOCI" report --by ''
sort out >offered
"$LOCI" report --by nothing 2>&1 | sed -n 's/.*one of \(.*\), and not.*/\1/p' | tr -d ' ' | tr , '\n' | sort >taken
cmp offered taken || fail "kinds differ: $(diff offered taken)"
finish
