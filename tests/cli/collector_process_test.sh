# SPDX-License-Identifier: GPL-2.0-or-later
# Processes, libraries, faults and sudden ends under the collector.
# Not under sanitizers.
. "$SRC/tests/cli/listening.sh"

hex() {
	printf '%x' "$1"
}

# Two children, one of which runs another program.
listen --trace-children=yes "$work/children" >out || fail "children exited with $?"
words=$(cat out)
first=$stream
[ "$(find streams -type f | wc -l)" = 4 ] || fail "$(ls streams) are not four streams"
count "$first" '^FORK t1' 2
count "$first" '^END .* 0$' 1
count "$first" "^S t1 $(hex $((words))) 4" 1
count "$first" "^S t1 $(hex $((words + 4))) 4" 0
for child in $(awk '$1 == "FORK" { print $3 }' "$first"); do
	count "streams/$((0x$child)).0" "^PROCESS t0 $child " 1
	count "streams/$((0x$child)).0" '^ERROR' 0
done
one=streams/$((0x$(awk '$1 == "FORK" { print $3; exit }' "$first"))).0
count "$one" "^S t1 $(hex $((words + 4))) 4" 1
count "$one" "^END t1 700$" 1
count "$one" "^MODULE_LOAD .*workloads/children" 1
count "$one" "^MAP .*stack" 1
# The path that is not there is no EXEC.
count streams/*.1 "^END t1 0$" 1
two=$(ls streams/*.1)
count "${two%.1}.0" "^EXEC t1 .* /bin/true" 1
count "${two%.1}.0" "^EXEC" 1
count "${two%.1}.0" "^END" 0
count "$two" "^MODULE_LOAD .*/true " 1

# A library that comes, goes and comes again.
listen "$work/loads_library" "$work/library.so" >out || fail "loads_library exited with $?"
count "$stream" '^MODULE_LOAD .*/library.so ' 2
count "$stream" '^MODULE_UNLOAD' 2
count "$stream" '^ERROR' 0
ids=$(awk '$1 == "MODULE_LOAD" && /library.so/ { print $3 }' "$stream" | sort -u | wc -l)
[ "$ids" = 2 ] || fail "a library that comes again is another module"
build_id=$(readelf -n "$work/library.so" | awk '/Build ID/ { print $3 }')
told=$(awk '$1 == "MODULE_LOAD" && /library.so/ { for (i = 10; i <= NF; i++) print $i; exit }' "$stream" |
	while read -r word; do
		printf '%016x' "0x$word" | sed 's/\(..\)\(..\)\(..\)\(..\)\(..\)\(..\)\(..\)\(..\)/\8\7\6\5\4\3\2\1/'
	done)
[ "${told:0:${#build_id}}" = "$build_id" ] || fail "build-id $told, want $build_id"

# What was executed before a fault is there, in order, and what was not is not.
listen "$work/faults" >out || fail "faults exited with $?"
read -r before after page <out
stores() {
	awk -v a="$(hex $((before)))" -v b="$(hex $((before + 8)))" -v c="$(hex $((before + 16)))" \
		-v d="$(hex $((after)))" -v p="$(hex $((page + 8)))" '
		$1 == "S" && !/K/ && ($3 == a || $3 == b || $3 == c || $3 == d || $3 == p) {
			printf "%s", $3 == a ? "a" : $3 == b ? "b" : $3 == c ? "c" : $3 == d ? "d" : "p"
		}
		/^SIGNAL_ENTER/ { printf "(" }
		/^SIGNAL_LEAVE/ { printf ")" }' "$1"
}
[ "$(stores "$stream")" = "abc()pd" ] || fail "stores around the fault: $(stores "$stream")"
listen "$work/faults" kill >out 2>/dev/null
[ $? = 139 ] || fail "a fault does not kill"
read -r before after page <out
[ "$(stores "$stream")" = "abc()pdab" ] || fail "stores before the last fault: $(stores "$stream")"

# Killed: what was written arrives, up to a superblock or so.
loops() {
	[ "$(tail -n 1000 | grep -cE "^[LS] t1 [0-9a-f]+ 8 ")" -ge 998 ]
}
rm -rf streams
mkdir streams
coproc endless { LISTEN=" " under --tool=loci --log-file=log '--run-dir={}' "$work/endless"; }
read -r line <&"${endless[0]}"
[ "$line" = begun ] || fail "endless said $line"
# The loop is a load and a store of one word, over and over, to the end.
await loops
kill -KILL "$(find streams -name '*.0' | sed 's,streams/\([0-9]*\).0,\1,')"
wait $!
stream=$(find streams -type f)
count "$stream" '^ERROR' 0
count "$stream" '^END' 0
count "$stream" '^NOTE the program ended without closing' 1
loops <"$stream" || fail "the end is missing"

# Nobody listens: the program runs as ever.
expect 3 under --tool=loci --run-dir=/nonexistent "$work/every_access"
[ -s err ] && fail "$(cat err)"

finish
