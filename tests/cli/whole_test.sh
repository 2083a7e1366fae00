# SPDX-License-Identifier: GPL-2.0-or-later
# Whole recordings: the same twice, of several processes, of a program without names.
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/profiles.sh"
[ -x "$(dirname "$LOCI")/libexec/loci/loci-amd64-linux" ] && command -v valgrind >/dev/null || {
	echo "no Valgrind, or built without"
	exit 77
}
program=$BUILD/tests/workloads/auxiliary

# The kernel's random bytes are not random, in children and what they become either.
expect 0 loci record -q -o first.loci "$program"
mv out first
[ "$(sort -u first | wc -l)" = 1 ] && [ "$(wc -l <first)" = 2 ] || fail "random bytes: $(cat first)"
expect 0 loci record -q -o second.loci "$program"
cmp first out || fail "other random bytes"
"$program" >natively
cmp -s first natively && fail "the kernel's own bytes are the same"

# Programs of this machine, twice.
seq 2000 | sort -R --random-source=/dev/zero >numbers
again() {
	local name
	for name in one two; do
		! is_sanitized || [ $name = one ] || return # what is the same finds the same faults
		expect 0 loci record -q -o $name.loci "$@"
		sqlite3 $name.loci "update run set started = '', seconds = 0; update process set pid = 0" .dump >$name.sql
	done
	cmp -s one.sql two.sql || { fail "two recordings of $1 differ"; diff one.sql two.sql | head -n 6 >&2; }
}
# By default sort asks how much memory is free, and does one load more if that is little.
again sort -S 1M numbers
again gzip -c numbers

# Who did what: threads belong to processes, which have names.
expect 0 loci report --by process first.loci
has out "$(basename "$program")"
[ "$(grep -c auxiliary out)" = 4 ] || fail "processes: $(cat out)" # the head, the program, its fork, what that became
has out "misses were not counted by process"
lacks out "no process"
expect 0 loci report --by thread first.loci
[ "$(grep -c '^  thread [0-9]' out)" = 3 ] || fail "threads: $(cat out)"
for kind in process thread; do
	expect 0 loci report --by $kind --json first.loci
	valid by
	python3 -c 'import json, sys
p = json.load(sys.stdin)["profiles"][0]
assert len(p["rows"]) == 3 and sum(r["references"] for r in p["rows"]) == p["references"]
assert all(r["misses"] is None for r in p["rows"])' <out || fail "--by $kind --json"
done
expect 0 loci merge -o both.loci first.loci second.loci
expect 0 sqlite3 both.loci "select count(*), count(distinct process_id), sum(refs) =
	(select refs from run) from thread where process_id in (select id from process)"
has out "6|6|1"

# Without debug information, and without symbols: what is missing is said, and the remedy.
# A server is asked for neither, though the environment names one, which the program sees.
cp "$program" plain
strip -g plain
cp plain bare
strip bare
python3 -c '
import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen()
open("port", "w").write(str(s.getsockname()[1]) + "\n")
s.settimeout(60)
s.accept()
open("asked", "w")' &
server=$!
until [ -s port ]; do sleep 0.05; done
export DEBUGINFOD_URLS=http://127.0.0.1:$(cat port)/ DEBUGINFOD_CACHE_PATH=$PWD/cache
for file in plain bare; do
	expect 0 loci record -q -o $file.loci ./$file once
	expect 0 loci report $file.loci
	has out "no lines are known in $file ("
	has out "build it with -g"
	lacks out "code+0x"
	expect 0 loci report --by module $file.loci
	sed -n '4p' out | grep -q "/$file " || fail "--by module: $(cat out)"
	expect 0 loci annotate $file.loci
	has out "-g"
	lacks out "no function makes"
done
tr -s ' \n' ' ' <out >flat
has flat "in no function that is known: build with -g, or install debug symbols"
expect 0 loci record -q --trace bare.trace sh -c 'echo $DEBUGINFOD_URLS'
has out "$DEBUGINFOD_URLS"
expect 0 loci analyse -q -o again.loci bare.trace
[ -e asked ] && fail "the debuginfod server was asked"
kill $server
finish
