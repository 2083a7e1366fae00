# SPDX-License-Identifier: GPL-2.0-or-later
# Recording a part only: functions by name, windows in time.
. "$SRC/tests/cli/listening.sh"

address() {
	nm "$work/windows" | awk -v name="$1" '$3 == name { print $1 }'
}

# cells: how many stores to either cell there are
cells() {
	local base
	base=$(awk '$1 == "MODULE_LOAD" && /workloads\/windows/ { print $4 }' "$stream")
	echo "$(grep -c "^S t1 $(printf %x $((0x$base + 0x$(address first_cell)))) " "$stream")" \
		"$(grep -c "^S t1 $(printf %x $((0x$base + 0x$(address second_cell)))) " "$stream")"
}

listen "$work/windows"
[ "$(cells)" = "5000 5000" ] || fail "all: $(cells)"
frames=$(grep -c '^F' "$stream")
listen --only=first "$work/windows"
[ "$(cells)" = "5000 0" ] || fail "--only=first: $(cells)"
count "$stream" '^F' "$frames"
listen '--only=nothing,sec*' "$work/windows"
[ "$(cells)" = "0 5000" ] || fail "--only=sec*: $(cells)"
listen '--skip=?irst' "$work/windows"
[ "$(cells)" = "0 5000" ] || fail "--skip=?irst: $(cells)"
listen --start-disabled=yes "$work/windows"
[ "$(cells)" = "0 0" ] || fail "--start-disabled: $(cells)"
count "$stream" '^WINDOW' 0
count "$stream" '^[LS] ' 0
count "$stream" '^F' "$frames"
listen --kernel=no "$work/windows"
[ "$(cells)" = "5000 5000" ] || fail "--kernel=no: $(cells)"
count "$stream" ' K$' 0

listen --delay-ms=100000 "$work/windows"
[ "$(cells)" = "0 0" ] || fail "--delay-ms=100000: $(cells)"
listen --duration-ms=100000 "$work/windows"
[ "$(cells)" = "5000 5000" ] || fail "--duration-ms=100000: $(cells)"
count "$stream" '^WINDOW_BEGIN' 1

# windows N: every reference is in a window, and there are that many
windows() {
	count "$stream" '^ERROR' 0
	awk -v want="$1" '/^WINDOW_BEGIN/ { if (on) bad++; on = 1; n++ }
		/^WINDOW_END/ { if (!on) bad++; on = 0 }
		/^[LS] / { if (!on) bad++; inside++ }
		END {
			if (bad || n != want || inside < 1000) {
				print n " windows, " inside " references, " bad + 0 " wrong"
				exit 1
			}
		}' "$stream" >&2 || fail "windows"
}

# endless COMMANDS OPTION..: does the commands, in which $pid is the program, while it runs
endless() {
	local commands=$1 pid line
	shift
	rm -rf streams
	mkdir streams
	coproc program { LISTEN=" " under --tool=loci --log-file=log '--run-dir={}' "$@" "$work/endless"; }
	read -r line <&"${program[0]}"
	pid=$(find streams -name '*.0' | sed 's,streams/\([0-9]*\).0,\1,')
	eval "$commands"
	kill -KILL "$pid"
	wait $!
	stream=$(find streams -type f)
}
toggle='kill -USR2 $pid; sleep 0.5;'
# The signal would kill the program if it got it.
endless "sleep 0.5; $toggle $toggle $toggle $toggle" --start-disabled=yes --toggle-signal=12
windows 2
endless "sleep 0.5; $toggle $toggle $toggle" --toggle-signal=12
windows 2
endless "sleep 3" --delay-ms=1500 --duration-ms=500
windows 1

finish
