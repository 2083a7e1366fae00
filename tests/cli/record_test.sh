# SPDX-License-Identifier: GPL-2.0-or-later
# loci record: the program's streams, signals and status are its own, and a profile is made of it
# whatever happens.
. "$SRC/tests/cli/expect.sh"

# Usage: nothing is run.
expect 2 loci record
has err "which program?"
expect 2 loci record -b 48 touch ran
expect 1 loci record -m watch touch ran
has err "touch was built without loci cc; build it again"
expect 1 loci record -m sample touch ran
has err "touch was built without loci cc"
expect 2 loci record -m nonsense touch ran
expect 2 loci record --collector pmu touch ran
has err "not in this version; write any, cc or gcc"
expect 1 loci record -m count touch ran
has err "touch was built without loci cc or loci gcc; build it again with CC='loci cc'"
expect 1 loci record -m count --collector any touch ran
expect 2 loci record --pairs some touch ran
expect 2 loci record --toggle NONSENSE touch ran
expect 2 loci record --toggle KILL touch ran
expect 2 loci record --delay soon touch ran
expect 2 loci record --start-disabled touch ran
has err "--toggle"
expect 2 loci record --cache L1=32K/8@32 touch ran
has err "-b"
expect 2 loci record --max-memory 0 touch ran
expect 2 loci record --no-such-option touch ran
[ -e ran ] && fail "a program ran in spite of a wrong option"

# What cannot work is found out before the program runs.
echo precious >notes
expect 1 loci record -o notes touch ran
has err "notes exists and is no profile"
expect 1 loci record -o no/such/directory/p.loci touch ran
has err "no/such/directory"
expect 1 loci record -o - touch ran
expect 1 loci record --trace no/such/directory/t touch ran
expect 1 loci record --trace notes touch ran
has err "no trace of loci's own"
[ "$(cat notes)" = precious ] || fail "notes was overwritten"
mkdir empty
expect 1 env PATH="$PWD/empty" "$LOCI" record /usr/bin/touch ran
has err "apt install valgrind"
expect 1 env LOCI_LIBEXEC="$PWD/empty" loci record touch ran
has err "LOCI_LIBEXEC"
[ -e ran ] && fail "a program ran though its profile could not be made"

[ -x "$(dirname "$LOCI")/libexec/loci/loci-amd64-linux" ] && command -v valgrind >/dev/null || {
	echo "no Valgrind, or built without: the rest is skipped"
	finish
}

expect 127 loci record no-such-program
has err "PATH"
expect 127 loci record ./no-such-program
expect 126 loci record "$PWD/empty"
has err "directory"
expect 126 loci record ./notes
has err "chmod"
printf '#!/no/such/interpreter\n' >orphan
chmod +x orphan
expect 127 loci record ./orphan
has err "/no/such/interpreter"
[ -e orphan.loci ] && fail "a profile of nothing"

# Status, arguments, streams.
expect 0 loci record -v true
has err "loci: exact, 64-byte blocks, Valgrind 3."
has err "references"
has err "loci report true.loci"
expect 0 loci report true.loci
has out "references"
printf 'printf "%%s|" "$@"\necho to stderr >&2\nexit 3\n' >script # as old ones are, without #!
chmod +x script
expect 3 loci record -q -o args.loci -- ./script -a 'b c' '' "d'e"
[ "$(cat out)" = "-a|b c||d'e|" ] || fail "arguments arrive as $(cat out)"
[ "$(cat err)" = "to stderr" ] || fail "standard error is $(cat err)"
expect 0 sqlite3 args.loci 'SELECT command FROM run'
has out "./script -a 'b c' '' 'd'\\''e'"
head -c 200000 /dev/urandom >binary
loci record -q cat <binary >copy || fail "cat fails"
cmp binary copy || fail "cat does not copy"

# Its world is as it was: descriptors, working directory, environment but for Valgrind's own.
look='pwd; exec {fd}</dev/null; echo $fd; umask; ulimit -s; env | sort | grep -vE "^(_|VALGRIND_LIB|LD_PRELOAD)="'
export HOME=$PWD
bash -c "$look" >want
echo --tool=nonsense >.valgrindrc
expect 0 env VALGRIND_OPTS=--tool=nonsense loci record -q --no-follow bash -c "unset VALGRIND_OPTS; $look"
diff want out >&2 || fail "the program sees another world"
rm .valgrindrc
(trap '' INT; loci record -q bash -c 'kill -INT $$; echo alive' >out)
has out alive

# Crashes and kills: a profile of what ran, the signal passed on. For sanitizers one is as good as both.
signals="SEGV KILL"
! is_sanitized || signals=KILL
for signal in $signals; do
	rm -f sh.loci
	expect $((128 + $(kill -l $signal))) loci record sh -c "kill -$signal \$\$"
	expect 0 sqlite3 sh.loci 'SELECT complete, note, refs > 1000 FROM run'
	has out "0|"
	has out "(SIG$signal)"
	has out "|1"
done

# Children, children of children, exec.
expect 0 loci record sh -c 'sh -c "/bin/true; :" & /bin/true & wait'
has err "4 processes"
expect 0 loci record --no-follow sh -c 'sh -c "/bin/true; :"; /bin/true'
lacks err processes
expect 7 loci record sh -c 'exec sh -c "exec sh -c \"exit 7\""'
lacks err processes

# Interrupted, terminated. The program says when it is ready, through a pipe.
mkfifo ready go
signals="INT TERM"
! is_sanitized || signals=TERM
for signal in $signals; do
	env --default-signal=INT,HUP loci record -q -o signal.loci \
		bash -c "trap 'echo got $signal; exit 5' $signal; echo >ready; while :; do read -t 1 <>go; done" >out 2>err &
	pid=$!
	read <ready
	kill -$signal $pid
	wait $pid
	status=$?
	[ "$status" = 5 ] || fail "status $status after SIG$signal: $(cat err)"
	has out "got $signal"
done

# loci is killed: the program goes on, and the next run cleans up.
loci record -q sh -c 'echo >ready; read line <go; echo $line >went-on' &
pid=$!
read <ready
kill -9 $pid
wait $pid 2>/dev/null
echo further >go
until [ -s went-on ]; do sleep 0.05; done
[ "$(cat went-on)" = further ] || fail "the program did not go on"
expect 0 loci record -q true
ls -d /dev/shm/loci-run-$pid-* 2>/dev/null && fail "a dead run's directory is still there"

# What the program leaves behind goes on unwatched.
loci record sh -c '{ echo >ready; read line <go; echo $line >left; } & read line <ready' 2>err
[ $? = 0 ] || fail "status with a process left behind: $(cat err)"
has err "still ran when the program ended"
echo behind >go
until [ -s left ]; do sleep 0.05; done

# The trace gives the same profile again.
totals() { loci export --format csv "$1" | cut -d, -f2-; }
expect 0 loci record -q -o live.loci --trace kept.trace ls /
expect 0 loci analyse -q --no-sets -o again.loci kept.trace
totals live.loci >live.csv
totals again.loci | cmp -s - live.csv || fail "the trace differs from the run"
[ -s live.csv ] || fail "no totals"
expect 0 loci record -q -o live.loci --trace kept.trace sh -c '/bin/true; :'
ls kept.trace.* | grep -vxE 'kept\.trace\.[0-9]+(\.1)?' && fail "traces: $(ls kept.trace*)"
[ "$(ls kept.trace.* | wc -l)" = 2 ] || fail "traces: $(ls kept.trace*)" # a fork, and its exec
for trace in kept.trace*; do
	expect 0 loci analyse -q -o again.loci $trace
done

# Other ways.
expect 0 loci record -q -o odd.loci -b 32,4K --cache L1=8K/2@32 --sets --verify --pairs none --no-kernel \
	--no-source --max-memory 1G true
expect 0 loci cache --cache L1=16K/4@32 odd.loci
lacks out "~"
expect 0 loci cache --cache L1=16K/4 true.loci
has out "binomial model"

# A profile that cannot be written costs a successful program its status, and no other.
for want in 0 3; do
	mkdir gone
	expect $((want ? want : 1)) loci record -o gone/p.loci sh -c "rm -rf gone; exit $want"
	has err "gone/p.loci"
done

# On a terminal.
terminal() { expect 0 python3 "$SRC/tests/cli/terminal.py" "$@"; }
terminal watch loci record sh -c 'read line; echo program: $line'
has out "program: go"
has out "exit 0"
terminal interrupt loci record sh -c 'trap "echo caught; exit 6" INT; echo ready; while :; do :; done'
has out "caught"
has out "exit 6"
terminal interrupt loci record -o dead.loci sh -c 'echo ready; while :; do :; done'
has out "signal 2"
[ -s dead.loci ] || fail "no profile after Ctrl-C"
terminal twice loci record -o dead.loci sh -c 'trap "" INT; echo ready $$.; while :; do :; done'
has out "signal 9"
terminal stop loci record sh -c 'trap "echo continued; exit 4" CONT; echo ready; while :; do :; done'
has out "stopped"
has out "continued"
has out "exit 4"

# Debug information that Valgrind gives up on, before the program begins: DWARF 5 of several files, for
# 3.19.
echo 'int f(int); int main(void) { return f(0); }' >one.c
echo 'int f(int x) { return x; }' >other.c
if clang-14 -gdwarf-5 one.c other.c -o unreadable 2>/dev/null &&
	! valgrind --tool=none ./unreadable >log 2>&1 && grep -q 'debuginfo reader' log; then
	expect 1 loci record --collector any -o unreadable.loci ./unreadable
	has err "cannot read the debug information of $PWD/unreadable and gave up: build it with -gdwarf-4, or with CC='loci cc'"
	[ ! -e unreadable.loci ] || fail "a profile of nothing"
fi
finish
