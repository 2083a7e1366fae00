# SPDX-License-Identifier: GPL-2.0-or-later
# loci report of a profile with sites: the screen, and --by every kind.
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/profiles.sh"

make_profile mm.loci matrix
expect 0 loci report mm.loci
same report-matrix
narrow 44
expect 0 loci report --json mm.loci
valid report
# misses of caches named at record time are counted: no histogram of sets is needed
make_profile no.loci sets=no matrix
expect 0 loci report no.loci
sed 's/no\.loci/mm.loci/g' out >other && mv other out
same report-matrix

for kind in site line function loop file module object field context pair thread process; do
	expect 0 loci report --by $kind mm.loci
	same by-$kind
	narrow 32
	lacks out nan
	expect 0 loci report --by $kind --json mm.loci
	valid by
	expect 0 loci report --by $kind --json --all --cache L1=2K/4 mm.loci
	valid by
done

# every kind that shares the run out among all of its references has all of its misses
for kind in site line function loop file module object context thread process; do
	expect 0 loci report --by $kind --all --json mm.loci
	python3 - out $kind <<-'END' || fail "--by $kind does not add up"
		import json, sys
		p = json.load(open(sys.argv[1]))["profiles"][0]
		assert sum(r["misses"] for r in p["rows"]) == p["misses"] == 16353, p["misses"]
		assert sum(r["references"] for r in p["rows"]) == p["references"] == 31227
		assert sys.argv[2] == p["by"]
	END
done

# other levels, caches, orders and lengths
expect 0 loci report --by object --level l2 mm.loci
has out 'L2 4K/4: 1.62 k misses'
expect 0 loci report --by site --cache L1=2K/4 mm.loci
same by-estimate
expect 0 loci report --by object --cache X=1K/2 mm.loci # one that was recorded, by another name
has out 'exact'
lacks out '~'
expect 0 loci report --by site -n 2 mm.loci
has out '12 more'
expect 0 loci report --by site --all mm.loci
lacks out '4 more'
expect 0 loci report --by site --sort writebacks -n 1 mm.loci
has out 'mm.c:23 mul'
expect 0 loci report --by site --sort distance -n 1 mm.loci
has out 'mm.c:37 main'
expect 0 loci report --by context --min 99% mm.loci
has out 'main'
lacks out 'mul'
expect 0 loci report --by function mm.loci mm.loci
[ "$(grep -c '^mm.loci' out)" = 2 ] || fail "two profiles, $(grep -c '^mm.loci' out) tables"

# what is not there is said, not shown empty
make_profile trace.loci cyclic:100:3
expect 0 loci report trace.loci
lacks out 'who misses'
expect 1 loci report --by site trace.loci
has err 'trace.loci knows no sites'
has err 'loci record'
expect 1 loci report --by site --json trace.loci
valid by
expect 2 loci report --by colour mm.loci
has err 'site, line, function'
expect 1 loci report --by site --level L9 mm.loci
has err 'there is no level "L9" here, only L1, L2, L3'
expect 2 loci report --by site --sort size mm.loci
expect 2 loci report --by site -n 0 mm.loci
expect 2 loci report --by site -n x mm.loci
expect 2 loci report --by context --min much mm.loci
expect 2 loci report --by context --min 101% mm.loci
expect 2 loci report -n 3 mm.loci
has err '-n goes with --by'

# names are the program's, and a program may be hostile
cp mm.loci evil.loci
python3 - evil.loci <<'END'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("UPDATE function SET name = ? WHERE name = 'dot'", ("dot\x1b]0;owned\x07\n\u202egnp",))
db.execute("UPDATE source SET path = ?", ("a\tb\r/\x1b[2Jmm.c",))
db.execute("UPDATE object SET name = ? WHERE name = 'b'", ("b" * 300,))
db.execute("UPDATE object SET name = CAST(x'61ff9b' AS TEXT) WHERE name = 'a'")
db.execute("UPDATE excerpt SET text = ? WHERE line = 15", ("\tsum\x1b[31m += \x9b1m",))
db.commit()
END
for command in 'report' 'report --by site' 'report --by function' 'report --by file' 'report --by object' \
	'report --by pair' 'report --by context' annotate 'diff mm.loci'; do
	expect 0 loci $command evil.loci
	! LC_ALL=C grep -q $'[\001-\011\013-\037\177-\377]' out || fail "loci $command lets bytes through"
	case $command in
	annotate | diff*) ;;
	*) narrow 44 ;;
	esac
done
for command in 'report --by site' 'report --by object' 'report' annotate; do
	expect 0 loci $command --json evil.loci
	python3 -c 'import json; json.load(open("out", encoding="utf-8"))' || fail "bad JSON of loci $command"
done

# on a terminal, wide and narrow
if command -v script >/dev/null; then
	tty() {
		TERM=xterm script -qec "stty cols $1; loci $2" /dev/null </dev/null | tr -d '\r' >out
	}
	tty 80 'report --no-color mm.loci'
	has out 'use'
	has out '→'
	tty 80 'report --by site mm.loci'
	has out $'\033[1m'
	for cells in 60 80 100; do
		for kind in site object pair; do
			tty $cells "report --no-color --by $kind mm.loci"
			LC_ALL=C.UTF-8 grep -nE "^.{$((cells + 1)),}\$" out && fail "--by $kind: wider than $cells"
		done
	done
fi

# many sites: the screen and a table within half a second of the processor
if [ -z "$UPDATE" ] && ! is_sanitized; then
	cp mm.loci many.loci
	python3 "$SRC/tests/cli/many_sites.py" many.loci 100000 || fail "no profile with many sites"
	for options in '' '--by site' '--by function'; do
		best=9999
		for _ in 1 2 3 4 5; do
			TIMEFORMAT=%U
			ms=$({ time loci report $options many.loci >out 2>err; } 2>&1 | tr -d .)
			ms=$((10#$ms))
			[ "$ms" -ge "$best" ] || best=$ms
			[ "$best" -ge "${LOCI_MANY_MS:-1500}" ] || break
		done
		echo "100000 sites, report $options: $best ms" >&2
		[ "$best" -lt "${LOCI_MANY_MS:-1500}" ] || fail "report $options took $best ms"
	done
	has out function_
fi
finish
