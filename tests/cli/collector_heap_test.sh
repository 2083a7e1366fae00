# SPDX-License-Identifier: GPL-2.0-or-later
# Heap events and synchronisation against hand counts.
# Not under sanitizers.
. "$SRC/tests/cli/listening.sh"

# hex NUMBER
hex() {
	printf '%x' "$1"
}

# events: the heap's of the stream with the sizes that the program asks for, without sequences
listen "$work/heap_calls" >out || fail "heap_calls exited with $?"
read -r a b c d e <out
a=${a#0x} b=${b#0x} c=${c#0x} d=${d#0x} e=${e#0x}
grep -E '^(ALLOC|RESIZE|FREE) ' "$stream" | grep -nE \
	" $(hex 70001) | $(hex 60033) | $(hex 70003) | $(hex 70005) | $(hex 70007) | $(hex 70016) | $(hex 70021) |FREE .* ($a|$b|$c|$d|$e) " |
	sed 's/^[0-9]*://' | awk '$1 == "ALLOC" { print $1, $3 } $1 == "RESIZE" { print $1, $3, $5 } $1 == "FREE" { print $1, $4 }' >events
cat >wanted <<EOF
ALLOC $(hex 70001)
ALLOC $(hex 60033)
RESIZE $(hex 70003) $a
ALLOC $(hex 70005)
ALLOC $(hex 70007)
ALLOC $(hex 70016)
RESIZE $(hex 70021) $b
FREE $a
FREE $b
FREE $c
FREE $d
FREE $e
EOF
tail -n 12 events | diff wanted - >&2 || fail "events of heap_calls"
# Failed calls and free(NULL) are none; calls from inside one are part of it.
count "$stream" "^(ALLOC|RESIZE) t1 $(hex $((1 << 46)))" 0
count "$stream" "^FREE t1 0 0 " 0
[ "$(grep -cE '^ALLOC' "$stream")" -lt 12 ] || fail "more allocations than there are calls"
# Sites are calls in main; sequences grow.
site=$(awk -v size="$(hex 70001)" '$1 == "ALLOC" && $3 == size { print $6 }' "$stream")
base=$(awk '$1 == "MODULE_LOAD" && /heap_calls/ { print $4 }' "$stream")
addr2line -f -e "$work/heap_calls" "$(hex $((0x$site - 0x$base)))" >where
has where main
awk '$1 == "ALLOC" { s = $5 } $1 == "FREE" { s = $5 } $1 == "RESIZE" { s = $6 }
	$1 ~ /^(ALLOC|FREE|RESIZE)$/ { print s }' "$stream" |
	while read -r s; do echo $((0x$s)); done >sequences
sort -n sequences | cmp -s - sequences || fail "sequences do not grow"

# A call that is left by longjmp is none, and does not spoil the next one.
listen "$work/heap_jump" >out || fail "heap_jump exited with $?"
count "$stream" "^ALLOC t1 $(hex 70101) " 0
count "$stream" "^ALLOC t1 $(hex 70103) " 1

# Locks and threads: 4 threads, 1000 rounds each.
listen "$work/four_threads" >out || fail "threads exited with $?"
read -r counters lock <out
counters=$((counters))
count "$stream" "^SYNC t[2-5] 0 ${lock#0x} " 4000
count "$stream" "^SYNC t[2-5] 1 ${lock#0x} " 4000
for thread in 2 3 4 5; do
	count "$stream" "^[LS] t$thread $(hex $((counters + 8 * (thread - 2)))) 8 " 2000
	count "$stream" "^THREAD_START t[0-9]+ $thread 1 " 1
	count "$stream" "^THREAD_EXIT t$thread $thread " 1
	count "$stream" "^SYNC t1 4 $thread " 1
	count "$stream" "^SYNC t$thread 5 $thread " 1
	count "$stream" "^SYNC t1 7 $thread " 1
done
# Between two acquisitions there is a release: the order of threads is that of execution.
awk -v lock="${lock#0x}" '$1 == "SYNC" && $4 == lock {
	if ($3 != held) bad++
	held = !held
} END { exit bad > 0 }' "$stream" || fail "locks are not in order"

finish
