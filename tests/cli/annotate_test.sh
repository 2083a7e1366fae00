# SPDX-License-Identifier: GPL-2.0-or-later
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/profiles.sh"

make_profile mm.loci matrix
expect 0 loci annotate mm.loci
same annotate
expect 0 loci annotate # the only one here
same annotate
expect 0 loci annotate --json mm.loci
valid annotate
expect 0 loci annotate dot # a function of the only one
same annotate-function
expect 0 loci annotate mm.loci mm.c:23
same annotate-place
expect 0 loci annotate --json mm.loci mm.c:23
valid annotate
expect 0 loci annotate --level L2 mm.loci mul
has out 'L2 4K/4: 1.62 k misses'
expect 0 loci annotate --cache L1=2K/4 mm.loci dot
has out 'estimated: binomial model'
has out '~'

# lines of a listing add up to the whole
expect 0 loci annotate --json mm.loci
python3 - out <<'END' || fail "the lines do not add up"
import json, sys
d = json.load(open(sys.argv[1]))
for listing in d["listings"]:
    assert sum(line.get("misses", 0) for line in listing["lines"]) == listing["misses"]
assert sum(listing["misses"] for listing in d["listings"]) == d["misses"] == 16353
END

# text from the file where the profile has none, and no text at all
cp mm.loci bare.loci
python3 - bare.loci <<'END'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("DELETE FROM excerpt")
db.commit()
END
expect 0 loci annotate bare.loci dot
has out 'the text of mm.c is neither in the profile nor on this disk'
has out '15 |'
seq 1 60 | sed 's/^/source line /' >mm.c
expect 0 loci annotate bare.loci dot
has out 'mm.c has changed since the run'
has out '15 | source line 15'
expect 0 loci annotate --json bare.loci dot
valid annotate
has out '"newer file"'
touch -d 2000-01-01 mm.c
expect 0 loci annotate bare.loci dot
lacks out 'has changed'
has out '15 | source line 15'
rm mm.c
mkdir mm.c # no file to read
expect 0 loci annotate bare.loci dot
has out 'neither in the profile'
rmdir mm.c

# without debug information
cp mm.loci stripped.loci
python3 - stripped.loci <<'END'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("UPDATE site SET source_id = NULL, line = NULL, inlined_id = NULL, code_offset = 16 * id")
db.commit()
END
expect 0 loci annotate stripped.loci
has out 'no lines are known in mm: build it with -g or install its debug symbols'
expect 0 loci report stripped.loci
has out 'mul (mm+0x'
has out 'no lines are known in mm (100 % of L1 misses)'
narrow 46

# what is not there
expect 1 loci annotate mm.loci nothing
has err 'mm.loci has no references of a function "nothing"'
expect 1 loci annotate mm.loci x.c:3
has err 'no references in a file "x.c"'
expect 1 loci annotate mm.loci mm.c:4000
has err 'line 4000'
make_profile trace.loci cyclic:100:3
expect 1 loci annotate trace.loci
has err 'trace.loci knows no lines'
expect 1 loci annotate nothere.loci
has err 'nothere.loci'
expect 2 loci annotate mm.loci dot mul
expect 1 loci annotate --level L9 mm.loci
has err 'L9'
expect 2 loci annotate --cache L1=Q mm.loci
expect 0 loci annotate -h
has out 'usage: loci annotate'

# on a terminal: heat, and lines cut at its edge
if command -v script >/dev/null; then
	tty() {
		TERM=xterm script -qec "stty cols $1; loci $2" /dev/null </dev/null | tr -d '\r' >out
	}
	tty 80 'annotate mm.loci'
	has out $'\033[31m'
	tty 80 'annotate --no-color mm.loci'
	lacks out $'\033'
	LC_ALL=C.UTF-8 grep -nE '^.{81,}$' out && fail "wider than 80"
fi
if [ -w /dev/full ]; then
	loci annotate mm.loci >/dev/full 2>err && fail "a full disk went unnoticed"
fi
finish
