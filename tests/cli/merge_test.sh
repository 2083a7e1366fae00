# SPDX-License-Identifier: GPL-2.0-or-later
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/profiles.sh"
golden=$SRC/tests/golden/profile-v1.loci

# value FILE SQL
value() {
	sqlite3 "$1" "$2"
}

same() {
	[ "$1" = "$2" ] || fail "got \"$1\", want \"$2\""
}

cp "$golden" a.loci
cp "$golden" b.loci
value b.loci "UPDATE run SET command = './mm 33', complete = 0, note = 'torn'"
expect 0 loci merge -o sum.loci a.loci b.loci b.loci
same "$(wc -c <out)" 0
same "$(value sum.loci 'SELECT command, complete, note, refs, threads, merged FROM run')" \
	"./mm 32; ./mm 33|0|torn|393216|6|3"
same "$(value sum.loci "SELECT group_concat(id || ':' || refs, ' ') FROM thread")" \
	"0:65536 1:65536 2:65536 3:65536 4:65536 5:65536"

# plain SQL agrees: three times every bin of the whole run, the threads' side by side
same "$(value sum.loci "ATTACH 'a.loci' AS a;
	SELECT count(*), sum(s.weight = 3 * o.weight AND s.high = o.high) FROM
	(SELECT * FROM histogram h JOIN bin ON histogram_id = id) s JOIN
	(SELECT * FROM a.histogram h JOIN a.bin ON histogram_id = id) o
	USING (owner, owner_id, distance, block_bytes, set_bits, low) WHERE owner = 'whole'")" \
	"$(value a.loci "SELECT count(*), count(*) FROM histogram JOIN bin ON histogram_id = id
	WHERE owner = 'whole'")"
same "$(value sum.loci "SELECT count(*) FROM histogram WHERE owner = 'thread'")" 12
same "$(value sum.loci "SELECT total FROM v_histogram WHERE owner = 'whole' AND distance = 'stack'
	AND block_bytes = 64")" 393216
same "$(value sum.loci 'PRAGMA integrity_check')" ok

# in place, and of merged ones
expect 0 loci merge -o a.loci a.loci sum.loci
same "$(value a.loci 'SELECT merged FROM run')" 4

# what they do not share is left out and noted
cp "$golden" c.loci
value c.loci "DELETE FROM bin WHERE histogram_id IN (SELECT id FROM histogram WHERE block_bytes = 4096
	OR set_bits = 5); DELETE FROM histogram WHERE block_bytes = 4096 OR set_bits = 5;
	DELETE FROM grain WHERE block_bytes = 4096"
expect 0 loci merge -o d.loci b.loci c.loci
same "$(value d.loci 'SELECT count(*) FROM grain')" 1
same "$(value d.loci 'SELECT count(*) FROM histogram WHERE block_bytes = 4096 OR set_bits = 5')" 0
same "$(value d.loci 'SELECT note FROM run')" "torn; left out because not all of the merged profiles \
have them: 4096-byte blocks, set distances of 64-byte blocks at 32 sets, set_dirty distances of \
64-byte blocks at 32 sets"

# refusals leave the old file
cp "$golden" objects.loci
value objects.loci "UPDATE run SET unit = 'object'"
cp d.loci before
expect 1 loci merge -o d.loci b.loci objects.loci
has err "objects.loci: cannot be merged: its unit is object"
value c.loci "UPDATE grain SET block_bytes = 128; UPDATE histogram SET block_bytes = 128"
expect 1 loci merge -o d.loci b.loci c.loci
has err "share no block size"
expect 1 loci merge -o d.loci b.loci missing.loci
has err "missing.loci: cannot open"
head -c 20000 b.loci >torn.loci
expect 1 loci merge -o d.loci b.loci torn.loci
has err "torn.loci: damaged profile: truncated: 20000 of"
value c.loci 'PRAGMA user_version = 2'
expect 1 loci merge -o d.loci b.loci c.loci
has err "c.loci: written by a newer loci (profile version 2, this is 1): upgrade loci"
cmp -s d.loci before || fail "a failed merge changed its output"
[ -z "$(find . -name '.*.tmp')" ] || fail "a temporary file is left"

# code and data: one row for each thing, everything counted twice, nothing left out
make_profile matrix.loci matrix
expect 0 loci merge -o twice.loci matrix.loci matrix.loci
for table in module source excerpt function inlined loop site context object field access pair level \
	level_count histogram bin; do
	same "$table $(value twice.loci "SELECT count(*) FROM $table")" \
		"$table $(value matrix.loci "SELECT count(*) FROM $table")"
done
for count in site.refs context.refs object.refs object.allocations access.refs access.fills \
	access.used_bytes pair.refs loop.iterations level_count.misses level_count.writebacks \
	level_count.first_hits histogram.cold bin.weight; do
	query="SELECT sum(${count#*.}) FROM ${count%.*}"
	same "$count $(value twice.loci "$query")" "$count $(($(value matrix.loci "$query") * 2))"
done
same "$(value twice.loci "SELECT count(*), note IS NULL FROM run")" "1|1"
same "$(value twice.loci "SELECT count(*) FROM process")" 2
same "$(value twice.loci "PRAGMA foreign_key_check")" ""
same "$(value twice.loci "PRAGMA integrity_check")" ok
# with a profile that knows nothing of code
expect 0 loci merge -o mixed.loci matrix.loci a.loci
has_note=$(value mixed.loci "SELECT note FROM run")
case $has_note in
*"not all of the merged profiles have it: what is known of code and data"*) ;;
*) fail "the note is $has_note" ;;
esac
same "$(value mixed.loci "SELECT count(*) FROM site")" 0
# damaged ones are refused
value matrix.loci "UPDATE site SET loop_id = 99 WHERE id = 3"
expect 1 loci merge -o mixed.loci matrix.loci twice.loci
has err "matrix.loci: damaged profile: site.loop_id is 99, which loop does not have"

expect 2 loci merge a.loci b.loci
has err "-o OUT"
expect 2 loci merge -o x.loci
expect 2 loci merge --nonsense
expect 0 loci merge --help
has out "usage: loci merge"
finish
