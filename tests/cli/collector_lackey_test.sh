# SPDX-License-Identifier: GPL-2.0-or-later
# The collector's references against another tool's: Valgrind's Lackey prints every load and store.
# Not under sanitizers.
. "$SRC/tests/cli/listening.sh"

lackey() {
	under --tool=lackey --trace-mem=yes --log-file=lackey.log "$@" >/dev/null
	awk '/^ [LSM] / {
		split($2, part, ",")
		sub(/^0+/, "", part[1])
		text = part[1] " " part[2]
		if ($1 != "S")
			print "L", text
		if ($1 != "L")
			print "S", text
	}' lackey.log
}

# same NAME PROGRAM..: addresses may differ only where two runs of Lackey do, sizes and order never.
# (The dynamic linker indexes a table on its stack by random bytes that the kernel gave it; two runs
# may agree there by chance.)
same() {
	local name=$1
	shift
	lackey "$@" >lackey.1
	lackey "$@" >lackey.2
	listen "$@" >/dev/null
	references "$stream" >ours
	if [ "$(wc -l <ours)" -lt 10000 ]; then
		fail "$name: $(wc -l <ours) references only"
	fi
	paste -d ' ' lackey.1 lackey.2 ours | awk -v name="$name" '
		$2 != $8 && $2 == $5 && $3 == 1 && !chance {
			chance = 1
			next
		}
		NF != 9 || $1 != $7 || $3 != $9 || ($2 != $8 && $2 == $5) {
			print name ": reference " NR " is " $7, $8, $9 ", Lackey says " $1, $2, $3
			if (++bad == 5)
				exit
		}
		$2 != $5 { random++ }
		END {
			if (random > NR / 1000)
				print name ": Lackey itself differs " random " times"
		}' >differences
	[ ! -s differences ] || fail "$(cat differences)"
}

same every_access "$work/every_access"
same faults "$work/faults"
same true /bin/true
same ls /bin/ls /
same sort /usr/bin/sort --parallel=1 "$SRC/NEWS"

# Read-modify-writes are told from a load and a store that happen to meet.
listen "$work/every_access" >out
count "$stream" '^[LS] .* M$' "$(($(grep -c '^L .* M$' "$stream") * 2))"
[ "$(grep -c '^L .* A M$' "$stream")" -ge 6 ] || fail "atomic accesses are missing"
grep -q 'ERROR' "$stream" && fail "$(grep ERROR "$stream")"

finish
