# SPDX-License-Identifier: GPL-2.0-or-later
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/profiles.sh"
golden=$SRC/tests/golden/profile-v1.loci

# check PROFILE: both exports say what the profile says
check() {
	expect 0 loci export -o x.json "$1"
	expect 0 loci export --format=csv --output x.csv "$1"
	expect 0 /usr/bin/python3 "$SRC/tests/cli/export_check.py" "$SRC/doc/profile.schema.json" \
		"$1" x.json x.csv
	has out "bins agree"
}

cp "$golden" mm.loci
check mm.loci

# code and data: every row of every table, and nothing that the schema does not name
make_profile matrix.loci matrix
check matrix.loci
[ "$(python3 -c 'import json
x = json.load(open("x.json"))
a, = (a for a in x["accesses"] if a["stride_bytes"] == 192)
print(next(o["name"] for o in x["objects"] if o["id"] == a["object_id"]),
      next(s["line"] for s in x["sites"] if s["id"] == a["site_id"]), a["references"])')" = "b 15 13824" ] ||
	fail "the column walk is not to be found"
sqlite3 matrix.loci "$share_rows"
check matrix.loci
rm matrix.loci

# sampled weights, unbounded bins, unknowns, texts that need quoting
cp "$golden" 'a,"b".loci'
sqlite3 'a,"b".loci' "
	UPDATE histogram SET sampled = 1 WHERE id = 1;
	UPDATE bin SET weight = weight * 0.1, square = weight * 0.3 WHERE histogram_id = 1;
	INSERT INTO bin VALUES (1, 255.0 * (1 << 56), 18446744073709551616.0, 1e300, 0.5);
	UPDATE run SET command = 'a \"quoted\" ' || char(10, 9, 92) || ' café', machine_id = 1, note = NULL;
	UPDATE machine SET processor = NULL; DELETE FROM thread WHERE id = 1;
	UPDATE histogram SET owner = 'site', owner_id = 9223372036854775807 WHERE id = 19"
check 'a,"b".loci'
has x.csv '"a,""b"".loci",stack,64,0,whole,0,reuse,'

# json is the default, standard output too, and the only profile here
rm 'a,"b".loci'
expect 0 loci export
mv out default.json
expect 0 loci export --format json mm.loci
cmp -s out default.json || fail "the default is not JSON of the only profile"
cp mm.loci second.loci
expect 1 loci export
has err "this directory has 2 (mm.loci, second.loci); name one"
rm second.loci

# bad arguments
expect 2 loci export --format xml mm.loci
has err 'there is no format "xml"'
expect 2 loci export mm.loci mm.loci
expect 2 loci export --nonsense
has err "Try 'loci export -h'"
expect 2 loci export -o
expect 0 loci export -h
has out "usage: loci export"
expect 1 loci export missing.loci
has err "loci: missing.loci: cannot open: No such file"
echo text >text.loci
expect 1 loci export text.loci
has err "not a loci profile"
rm text.loci

# outputs that cannot be written: a message, nothing left, the old file untouched
echo old >old.json
expect 1 loci export -o . mm.loci
has err "it is a directory"
expect 1 loci export -o none/x.json mm.loci
has err "none/x.json: cannot write: No such file"
limited() {
	(trap '' XFSZ; ulimit -f 1; loci export -o old.json mm.loci)
}
expect 1 limited
has err "old.json: cannot write: File too large"
has old.json old
expect 1 sh -c 'loci export mm.loci >/dev/full'
has err "No space left on device"
[ -z "$(find . -name '.*.tmp')" ] || fail "a temporary file is left"

# a damaged profile gives no half-written export
cp mm.loci damaged.loci
sqlite3 damaged.loci "UPDATE bin SET weight = -1 WHERE histogram_id = 30"
expect 1 loci export -o old.json damaged.loci
has err "damaged profile"
has old.json old
finish
