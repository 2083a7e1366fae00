# SPDX-License-Identifier: GPL-2.0-or-later
# A program's own atomic operations, recorded: locks, stacks, queues and flags of four threads work, and
# the trace has their operations in the order in which they were made, by what each of them read.
# Signal handlers and faults in between do no harm.
# Not under sanitizers: slow, and what runs in the program is the same.
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/clangs.sh"
atomics=$SRC/tests/atomics

# recorded WHAT PROGRAM ARGUMENT..: ./p PROGRAM.. with its trace in the file list
recorded() {
	local what=$1
	shift
	expect 0 timeout 120 loci record -q --pairs none --trace t.trace -o p.loci "$@"
	"$BUILD/tests/trace_list" t.trace >list || fail "$what: the trace cannot be read"
}

# replayed WHAT [LOG]
replayed() {
	local what=$1
	shift
	python3 "$atomics/replay.py" list "$@" >out 2>err || fail "$what: $(cat err)"
}

try() { # NAME COMPILER..
	local name=$1 kind
	shift
	expect 0 "$@" -O2 -g -pthread "$atomics/handed.c" -o handed
	for kind in lock:300 stack:1500 queue:1500 flags:300; do
		expect 0 timeout 60 ./handed log ${kind/:/ }
		recorded "$name, $kind" ./handed log ${kind/:/ }
		replayed "$name, $kind" log
	done
}

read -r first other <<<"$clangs"
other=${other:-$first}
try "clang $other" loci cc --loci-clang=$other
try "clang++ $first" loci c++ --loci-clang=$first -x c++
try gcc loci gcc
for compiler in "cc --loci-clang=$first" gcc; do
	expect 0 loci $compiler -O2 -g -pthread "$atomics/interrupted.c" -o interrupted
	recorded "$compiler, interrupted" ./interrupted
	replayed "$compiler, interrupted"
done

# One thread needs no order.
cat >alone.c <<'C'
#include <stdatomic.h>
int main(void) { static _Atomic int n; for (int i = 0; i < 1000; i++) n += i; return n != 499500; }
C
expect 0 cc $first -O1 -g alone.c -o alone
recorded "one thread" ./alone
[ "$(grep -c ' kind 20 ' list)" = 0 ] || fail "$(grep -c ' kind 20 ' list) numbers of one thread"
[ "$(grep -cE ' (load|store) .* flags 21 ' list)" = 2000 ] || fail "$(grep -cE 'flags 21 ' list) references of one thread"
finish
