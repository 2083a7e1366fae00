# SPDX-License-Identifier: GPL-2.0-or-later
# loci ops on a profile whose operations were written down by hand (oracle/ops_stream_test).
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/profiles.sh"
oracle() { python3 "$SRC/tests/cli/ops_oracle.py" "$LOCI" "$1" || fail "$1 is not what SQL says"; }

"$BUILD/tests/ops_stream_test" ops.loci >out 2>&1 || fail "no profile: $(cat out)"
oracle ops.loci
expect 0 loci ops ops.loci
same ops
narrow
for kind in function context region block callee type; do
	expect 0 loci ops --by $kind ops.loci
	same ops-$kind
	narrow
	expect 0 loci ops --by $kind --json ops.loci
	valid ops
	expect 0 loci ops --by $kind --csv ops.loci
	[ "$(awk -F, '{ print NF }' out | sort -u | wc -l)" = 1 ] || fail "lines of --by $kind --csv differ"
done
expect 0 loci ops --json ops.loci
valid ops
expect 0 loci ops --by block -n 3 ops.loci
has out '3 of 25 rows'
expect 0 loci ops --by block --all ops.loci
lacks out ' rows'
expect 0 loci ops # the only one here
has out ops.loci

# Sums. What one profile has twice two have once each.
expect 0 loci merge -o two.loci ops.loci ops.loci
oracle two.loci
one=$(sqlite3 ops.loci 'SELECT sum(executions), count(*) FROM block')
two=$(sqlite3 two.loci 'SELECT sum(executions) / 2, count(*) FROM block')
[ "$one" = "$two" ] || fail "merged blocks are $two, not twice $one"
[ "$(sqlite3 two.loci 'SELECT count(*) FROM operation')" = "$(sqlite3 ops.loci 'SELECT count(*) FROM operation')" ] ||
	fail "operations were merged wrongly"
[ "$(sqlite3 two.loci 'SELECT count(*), sum(executions) / 2 FROM execution')" = "$(sqlite3 ops.loci 'SELECT count(*), sum(executions) FROM execution')" ] ||
	fail "executions were merged wrongly"
[ "$(sqlite3 two.loci 'SELECT sum(loaded_bytes) / 2, sum(stored_bytes) / 2, sum(touched_bytes) / 2 FROM footprint')" = \
	"$(sqlite3 ops.loci 'SELECT sum(loaded_bytes), sum(stored_bytes), sum(touched_bytes) FROM footprint')" ] ||
	fail "distinct bytes were merged wrongly"
[ "$(sqlite3 two.loci 'SELECT count(*) FROM memory_use')" = 0 ] || fail "memory use was merged"
has <(loci info two.loci) 'merging left out the smallest memory'
# Errors are of independent estimates: 3 % of one, 4 % of twice as much.
cp ops.loci estimate.loci
cp ops.loci twice.loci
sqlite3 estimate.loci "UPDATE footprint SET error = 0.03 WHERE owner = 'function'"
sqlite3 twice.loci "UPDATE footprint SET error = 0.04, touched_bytes = 2 * touched_bytes WHERE owner = 'function'"
expect 0 loci merge -o sum.loci estimate.loci twice.loci
[ "$(sqlite3 sum.loci "SELECT min(abs(error * error - 0.0073 / 9) < 1e-9), count(*) > 3 FROM footprint WHERE owner = 'function'")" = '1|1' ] ||
	fail "errors of distinct bytes were merged wrongly: $(sqlite3 sum.loci 'SELECT * FROM footprint')"
[ "$(sqlite3 sum.loci "SELECT error FROM footprint WHERE owner = 'whole'")" = 0.0 ] || fail "what is exact has an error"
# A run in which some blocks did not run: the others are still told apart.
cp ops.loci part.loci
sqlite3 part.loci 'CREATE TEMP TABLE gone AS SELECT id FROM block WHERE id % 2;
	DELETE FROM execution WHERE block_id IN gone; DELETE FROM operation WHERE block_id IN gone;
	DELETE FROM invocation WHERE block_id IN gone; DELETE FROM block WHERE id IN gone;'
expect 0 loci merge -o three.loci part.loci ops.loci
oracle three.loci
sum() { sqlite3 "$1" "SELECT sum(executions * count) FROM operation JOIN block ON block.id = block_id"; }
[ "$(sum three.loci)" = $(($(sum part.loci) + $(sum ops.loci))) ] || fail "some operations were lost or made up"
# Without operations of all there are none.
make_profile plain.loci matrix
expect 0 loci merge -o mixed.loci ops.loci plain.loci
expect 1 loci ops mixed.loci
has <(loci info mixed.loci) 'not all of the merged profiles have them: operations'

expect 0 loci diff ops.loci two.loci
has out 'operations that moved'
grep -qE 'flops +75.0 k +150 k +\+100' out || fail "diff shows no flops: $(cat out)"
expect 0 loci diff ops.loci ops.loci
has out 'operations: the same'
expect 0 loci diff plain.loci plain.loci
lacks out operations
expect 0 loci diff --json ops.loci two.loci
valid diff
loci ops --json ops.loci >one.json
loci ops --json two.loci >two.json
python3 -c 'import json, sys
diff, one, two = (json.load(open(path)) for path in ("out", "one.json", "two.json"))
want = {key: (value, two["profile"]["whole"][key]) for key, value in one["profile"]["whole"].items() if key != "mix"}
got = {key: (change["before"], change["after"]) for key, change in diff["operations"].items()}
sys.exit(got != want or diff["operations"]["flops"]["relative"] != 1)' || fail "diff --json has other operations"
for pair in 'ops.loci plain.loci' 'plain.loci ops.loci' 'plain.loci plain.loci'; do
	expect 0 loci diff --json $pair
	valid diff
	grep -q '"operations": *null' out || fail "diff --json $pair has operations"
done

# Blocks that set memory, that copy it, and that do both: a read that is no copy is nobody's.
cp ops.loci sets.loci
sqlite3 sets.loci "UPDATE operation SET kind = 'memset' WHERE kind = 'memcpy' AND block_id % 3 = 0;
	INSERT INTO operation SELECT 1000 + id, block_id, 'memset', NULL, 1, 1, 0 FROM operation WHERE kind = 'memcpy' AND block_id % 3 = 1"
oracle sets.loci
[ "$(sqlite3 sets.loci "SELECT count(DISTINCT block_id % 3) FROM operation WHERE kind LIKE 'mem%'")" = 3 ] ||
	fail "not all sorts of blocks are there"

# Every kind, and types of all sorts.
cp ops.loci kinds.loci
sqlite3 kinds.loci "WITH k(n, kind, type, lanes, bits) AS (VALUES (1, 'int sub', 'pointer', 2, 384), (2, 'int div', 'int', 4, 100),
	(3, 'int logic', 'i1', 1, 3), (4, 'int shift', 'i8', 16, 384), (5, 'int compare', 'pointer', 1, 129), (6, 'int other', 'i128', 1, 256),
	(7, 'float add', 'f80', 1, 240), (8, 'float mul', 'f16', 32, 1536), (9, 'float div', 'f128', 1, 384), (10, 'float sqrt', 'f32', 1, 64),
	(11, 'float other', 'other', 2, 256), (12, 'convert', 'f64', 2, 192), (13, 'select', 'i32', 1, 97), (14, 'address', 'pointer', 1, 192),
	(15, 'lanes', 'f32', 4, 256), (16, 'branch', NULL, 1, 0), (17, 'branch indirect', NULL, 1, 64), (18, 'switch', 'i32', 1, 32),
	(19, 'call indirect', NULL, 1, 64), (20, 'alloca', NULL, 1, 64), (21, 'fence', NULL, 1, 0), (22, 'asm', NULL, 1, 0),
	(23, 'other', NULL, 1, 8), (24, 'load', 'i1', 1, 1), (25, 'store', 'int', 1, 9), (26, 'load', NULL, 1, 12))
	INSERT INTO operation SELECT 2000 + 100 * n + id, id, kind, type, lanes, n, bits FROM k, block WHERE (id + n) % 2"
oracle kinds.loci
expect 0 loci ops kinds.loci
narrow

# What cannot be.
expect 1 loci ops plain.loci
has err 'compile the program with loci cc --loci-ops'
expect 1 loci ops "$SRC/tests/golden/profile-v1.loci"
has err 'has no operations'
cp ops.loci count.loci
sqlite3 count.loci "DELETE FROM execution; UPDATE run SET mode = 'count'; DELETE FROM bin; DELETE FROM histogram;
	UPDATE block SET range_loaded_bytes = 0, range_stored_bytes = 0"
oracle count.loci
expect 0 loci ops count.loci
has out 'counted without contexts'
lacks out 'stored by'
expect 1 loci ops --by context count.loci
has err 'it was recorded by -m count'
expect 1 loci report count.loci
has err 'see loci ops'
head -c 20000 ops.loci >torn.loci
expect 1 loci ops torn.loci
has err torn.loci
sqlite3 count.loci 'UPDATE operation SET block_id = 999 WHERE id = 1'
expect 1 loci ops count.loci
has err 'operation.block_id is 999'
expect 2 loci ops --by nothing ops.loci
has err 'function, context, region, block, callee, type'
expect 2 loci ops -n 0 ops.loci
expect 2 loci ops ops.loci plain.loci
expect 2 loci ops --json --csv ops.loci
expect 1 loci ops nothere.loci
expect 0 loci ops -h
# of C++ the source's names, told apart where they are cut
cp ops.loci c++.loci
sqlite3 c++.loci "UPDATE invocation SET callee = '_ZNSt6vectorIdSaIdEE9push_backERKd' WHERE callee = 'puts';
	UPDATE function SET name = 'a::very::long_name_of_a_class::its_function_' || substr(name, 6) || '(int)'"
expect 0 loci ops --by callee c++.loci
grep -qE '974  std::vector<>::push_back  ' out || fail "the callee is not as its source has it: $(cat out)"
expect 0 loci ops --by callee --csv c++.loci
has out '"_ZNSt6vectorIdSaIdEE9push_backERKd",974,0,"std::vector<double,'
expect 0 loci ops --by callee --json c++.loci
valid ops
has out '"source_name": "std::vector<double'
expect 0 loci ops --by function c++.loci
narrow
grep -q 'a::very.*\.\..*_function_5$' out || fail "names are cut where they differ: $(cat out)"
oracle c++.loci
# a program that does nothing
cp count.loci nothing.loci
sqlite3 nothing.loci "DELETE FROM invocation; DELETE FROM operation WHERE kind != 'return';
	DELETE FROM operation WHERE id != (SELECT max(id) FROM operation);
	UPDATE operation SET block_id = (SELECT min(id) FROM block); UPDATE block SET executions = 1, entry = 1;
	DELETE FROM block WHERE id != (SELECT min(id) FROM block); DELETE FROM footprint; DELETE FROM memory_use"
oracle nothing.loci
expect 0 loci ops nothing.loci
has out 'No floating point, and nothing computed'
has out ' 1 invocation'
lacks out invocations
has out 'nothing is loaded, stored or computed'
lacks out elements
expect 0 loci ops --by callee nothing.loci
has out 'no function is called by name'
expect 0 loci ops --json nothing.loci
valid ops
# names are disarmed, and quoted in CSV
cp ops.loci names.loci
sqlite3 names.loci "UPDATE function SET name = 'a' || char(27) || '\"[31m,b' WHERE name = 'code_5'"
expect 0 loci ops --by function names.loci
! grep -q $'\033' out || fail "an escape was printed"
expect 0 loci ops --by function --csv names.loci
has out '""[31m,b"'
finish
