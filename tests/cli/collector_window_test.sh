# SPDX-License-Identifier: GPL-2.0-or-later
# Recording a part only: functions by name, windows in time.
# Not under sanitizers.
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
listen --start=off "$work/windows"
[ "$(cells)" = "0 0" ] || fail "--start=off: $(cells)"
count "$stream" '^WINDOW' 0
count "$stream" '^[LS] ' 0
count "$stream" '^F' "$frames"
listen --kernel=no "$work/windows"
[ "$(cells)" = "5000 5000" ] || fail "--kernel=no: $(cells)"
count "$stream" ' K$' 0

# Off, on, off, on...: every reference is in a window, and there are several windows.
rm -rf streams
mkdir streams
coproc endless { LISTEN=-w under --tool=loci --windows=yes --log-file=log '--run-dir={}' "$work/endless"; }
read -r line <&"${endless[0]}"
await awk '/^WINDOW_BEGIN/ { n++ } /^[LS] / { inside[n]++ } END { exit !(inside[2] >= 1000) }'
kill -KILL "$(find streams -name '*.0' | sed 's,streams/\([0-9]*\).0,\1,')"
wait $!
stream=$(find streams -type f)
count "$stream" '^ERROR' 0
awk '/^WINDOW_BEGIN/ { if (on) bad++; on = 1; n++ }
	/^WINDOW_END/ { if (!on) bad++; on = 0 }
	/^[LS] / { if (!on) bad++; inside++ }
	END { if (bad || n < 2 || inside < 1000) { print n " windows, " inside " references, " bad + 0 " wrong"; exit 1 } }
' "$stream" || fail "windows"

finish
