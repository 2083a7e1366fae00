# SPDX-License-Identifier: GPL-2.0-or-later
# loci record --alone: what threads would meet alone, as far as other counts of the same run tell.
# Not under sanitizers.
. "$SRC/tests/cli/expect.sh"

none() { # QUERY: it finds nothing
	local got
	got=$(sqlite3 p.loci "$1")
	[ -z "$got" ] || fail "$1: $got"
}

if ! [ -x "$BUILD/libexec/loci/loci-amd64-linux" ] || ! command -v valgrind >/dev/null; then
	echo 'the Valgrind collector was not built'
	exit 77
fi
expect 0 cc -O1 -g -fno-toplevel-reorder -pthread -o by_turns "$SRC/tests/threads/by_turns.c"
expect 0 timeout 120 loci record -q --collector any --alone --trace kept.trace -o p.loci ./by_turns
hists="v_histogram a JOIN coherence c ON c.owner = a.owner AND c.owner_id = a.owner_id
	AND c.block_bytes = a.block_bytes"
[ "$(sqlite3 p.loci "SELECT count(*) FROM histogram WHERE distance IN ('alone', 'alone_remote', 'remote')")" = 7 ] ||
	fail 'two histograms for each of three threads, and one for all'
# every touch has a distance alone, and what is new to a thread is so whether or not others write
none "SELECT a.owner_id, total, touches FROM $hists WHERE distance = 'alone' AND total <> touches"
none "SELECT a.owner_id FROM histogram a JOIN histogram p USING (owner, owner_id, block_bytes)
	WHERE a.distance = 'alone' AND p.distance = 'private' AND (a.cold <> p.cold OR a.coherence <> 0)"
# those of what another touched last are as many as were counted, and none is new to all
none "SELECT a.owner_id, total, remote FROM $hists WHERE distance = 'alone_remote' AND total <> remote"
none "SELECT total, remote, cold FROM $hists
	WHERE distance = 'remote' AND (total <> remote OR a.cold <> 0 OR remote < 100)"
# a trace says the same
expect 0 loci analyse -q --alone -o q.loci kept.trace
for file in p q; do
	sqlite3 $file.loci "SELECT owner, owner_id, distance, low, weight FROM histogram h
		JOIN bin ON histogram_id = h.id WHERE distance LIKE '%alone%' OR distance = 'remote'
		ORDER BY 1, 2, 3, 4" >$file
done
cmp -s p q || fail "a trace's differ"
expect 0 loci cache p.loci --model coherence
has out 'coherence, 3 threads'
# and nothing of it is there unless it is asked for
expect 0 loci analyse -q -o q.loci kept.trace
[ "$(sqlite3 q.loci "SELECT count(*) FROM histogram WHERE distance LIKE '%alone%' OR distance = 'remote'")" = 0 ] ||
	fail 'kept without --alone'
finish
