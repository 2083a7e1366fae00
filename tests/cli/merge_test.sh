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
# threads and groups are others, what they met is added up
cp matrix.loci share.loci
value share.loci "$share_rows"
expect 0 loci merge -o twice.loci share.loci share.loci
same "$(value twice.loci "SELECT share, thread_id, threads FROM thread_group ORDER BY thread_id" | tr '\n' ' ')" \
	"2|0|0 2|1|1,2 2|3|3 2|4|4,5 "
same "$(value twice.loci "SELECT owner, owner_id, touches, true_sharing, false_sharing, remote FROM coherence ORDER BY owner, owner_id" |
	tr '\n' ' ')" "object|2|14|6|2|0 site|1|40|2|2|2 thread|2|60|4|1|2 thread|5|60|4|1|2 thread_group|1|70|0|2|3 \
thread_group|3|70|0|2|3 whole|0|200|20|10|60 "
same "$(value twice.loci "SELECT alone, read_only, written FROM shared_blocks")" "80|40|20"
same "$(value twice.loci "SELECT kind, field_id, misses, threads FROM sharing ORDER BY misses" | tr '\n' ' ')" \
	"true|1|4|6 false||8|4 true||18|2 "
same "$(value twice.loci "SELECT owner, owner_id, cold, coherence, weight FROM histogram JOIN bin ON histogram_id = id
	WHERE distance = 'private' ORDER BY owner, owner_id" | tr '\n' ' ')" \
	"site|1|2|4|34 thread|2|3|5|52 thread|5|3|5|52 thread_group|1|1|2|67 thread_group|3|1|2|67 whole|0|8|30|162 "
same "$(value twice.loci "PRAGMA foreign_key_check")" ""
same "$(value twice.loci "SELECT note IS NULL FROM run")" 1
# with one that had no threads: each thread's own stays, no sum over some passes for one over all
expect 0 loci merge -o twice.loci matrix.loci share.loci
same "$(value twice.loci "SELECT owner, owner_id, touches FROM coherence ORDER BY owner" | tr '\n' ' ')" \
	"thread|3|60 thread_group|1|70 "
same "$(value twice.loci "SELECT owner, owner_id FROM histogram WHERE distance = 'private' ORDER BY owner" | tr '\n' ' ')" \
	"thread|3 thread_group|1 "
same "$(value twice.loci "SELECT (SELECT count(*) FROM sharing), (SELECT count(*) FROM shared_blocks)")" "0|0"
case $(value twice.loci "SELECT note FROM run") in
*"not all of the merged profiles have it: what threads met of each other"*) ;;
*) fail "the note is $(value twice.loci "SELECT note FROM run")" ;;
esac
# with one that has another block size as well, and lacks this one
cp share.loci other.loci
value other.loci "UPDATE grain SET block_bytes = 8; UPDATE histogram SET block_bytes = 8;
	UPDATE coherence SET block_bytes = 8; UPDATE shared_blocks SET block_bytes = 8"
value share.loci "INSERT INTO grain SELECT 8, touches, writes, straddles, blocks, sampling_rate, error_points, sampled_from FROM grain"
expect 0 loci merge -o twice.loci share.loci other.loci
same "$(value twice.loci "SELECT owner, block_bytes FROM coherence ORDER BY owner" | tr '\n' ' ')" "thread|8 thread_group|8 "
same "$(value twice.loci "SELECT (SELECT count(*) FROM sharing), (SELECT count(*) FROM shared_blocks)")" "0|0"
rm share.loci other.loci
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

# What is unknown is a share of all runs, also of those that were not sampled.
for i in 1 2 3; do
	seq 0 64 640000 | awk '{ printf " L %x,8\n", 1048576 + $1 }'
done >far.lackey
head -n 6000 far.lackey >few.lackey
expect 0 loci analyse -q -o far.loci far.lackey
expect 0 loci analyse -q --watch -c 200 --burst 100 -o few.loci few.lackey
value few.loci "UPDATE sampling SET unknown = 0.04, by_watch = 0, never = 0"
expect 0 loci report --json few.loci
has out '"kind": "unknown"'
expect 0 loci merge -o some.loci far.loci few.loci
expect 0 loci report --json some.loci
lacks out '"kind": "unknown"'
# Nor does it average out, as the other 6 points of each do.
value few.loci "UPDATE grain SET error_points = 10"
cp few.loci again.loci
expect 0 loci merge -o both.loci few.loci again.loci
expect 0 loci report --json both.loci
has out '"kind": "unknown"'
same "$(value both.loci "SELECT round(error_points, 3) FROM grain")" 8.243
finish
