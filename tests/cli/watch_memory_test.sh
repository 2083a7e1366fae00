# SPDX-License-Identifier: GPL-2.0-or-later
# loci record -m watch beside a program: neither the program's file nor any debug information is open
# while it runs, and names are known all the same. Nor does the program keep the pages of definitions that
# following samples has read.
# Not under sanitizers: the recorder is tested by what it writes.
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/clangs.sh"

expect 0 cc "${clangs##* }" -g -O1 -o mapped_by "$SRC/tests/workloads/mapped_by.c"
status=0
loci record -q -m watch -c 5000 --seed 1 -o p.loci ./mapped_by "$PWD/mapped_by" .debug >out 2>err || status=$?
[ "$status" != 77 ] || { echo "left out: the recorder's mappings cannot be read"; exit 77; }
[ "$status" = 0 ] || fail "status $status: $(cat err)"
! grep -q mapped: out || fail "open while the program runs: $(cat out)"
expect 0 sqlite3 p.loci "select samples > 20, by_watch > 0 from sampling"
has out '1|1'
expect 0 sqlite3 p.loci "select count(*) from object where name = 'table' and kind = 'global' or name = 'local' and kind = 'stack'"
has out 2
expect 0 sqlite3 p.loci "select count(*) > 0 from site join function f on f.id = function_id where f.name = 'use' and site.line > 0"
has out 1

expect 0 cc "${clangs##* }" -g -O1 -o many_functions "$SRC/tests/workloads/many_functions.c"
loci record -q -m watch -c 20000 --seed 1 -o p.loci ./many_functions >out 2>err || status=$?
[ "$status" != 77 ] || { echo "left out: the pages of the program cannot be seen"; exit 77; }
[ "$status" = 0 ] || fail "status $status: $(cat err)"
read -r _ n _ all _ <out
[ "$all" -gt 300 ] || fail "few definitions: $(cat out)"
[ "$n" -lt 64 ] || fail "definitions are kept: $(cat out)"
expect 0 sqlite3 p.loci "select samples > 200, (select count(distinct f.id) from site join function f on f.id = function_id where f.name like 'work_%') > 100 from sampling"
has out '1|1'
# what is in no file stays
loci record -q -m watch -c 20000 --seed 1 -o p.loci ./many_functions unpacked >out 2>err || fail "status $?: $(cat err)"
expect 0 sqlite3 p.loci "select samples > 200 from sampling"
has out 1
finish
