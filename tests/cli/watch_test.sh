# SPDX-License-Identifier: GPL-2.0-or-later
# loci analyse --watch: sampled time distances against exact ones, RDX's listing 2, and what is
# refused.
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/profiles.sh"

# figure DISTANCE NAME: of the document out
figure() {
	python3 -c 'import json, sys
rows = json.load(open("out"))["accuracy"]
print("%.4f" % next(r for r in rows if r["distance"] == sys.argv[1])[sys.argv[2]])' "$1" "$2"
}
# least DISTANCE NAME BOUND
least() {
	local got
	got=$(figure "$1" "$2")
	python3 -c "import sys; sys.exit(not $got >= $3)" || fail "$1 $2 is $got, less than $3"
}

# A product of matrices, of which one row stays near and the other matrix comes again and again.
python3 -c '
n = 48
for i in range(n):
	for j in range(n):
		for k in range(n):
			print(" L %x,8\n L %x,8" % (0x100000 + 8 * (i * n + k), 0x200000 + 8 * (k * n + j)))
		print(" S %x,8" % (0x300000 + 8 * (i * n + j)))' >product.lackey
expect 0 loci analyse -q -b 8 -o exact.loci product.lackey
expect 0 loci analyse -q -b 8 --watch -c 50 -o watched.loci product.lackey
expect 0 loci diff --accuracy --json exact.loci watched.loci
valid accuracy
least time s_rdx 0.95
least time s_log2 0.95
least stack s_rdx 0.95
has out '"StatStack"'
# a cache's error is that of the model and that of the sample
expect 0 loci cache --json watched.loci --cache L1=4K@8
python3 -c 'import json, sqlite3
level, = json.load(open("out"))["levels"]
chance, = sqlite3.connect("watched.loci").execute("SELECT error_points FROM grain").fetchone()
assert level["basis"] == "StatStack" and chance > 0 and level["error_points"] >= 33 + chance, level
assert abs(level["error_points"] - 33 - level["chance_points"]) < 1e-9, level' || fail "the error of a cache"
expect 0 loci cache watched.loci --cache L1=4K@8
tr -s ' \n' ' ' <out >words
python3 -c 'import re, sqlite3, sys
chance, = sqlite3.connect("watched.loci").execute("SELECT error_points FROM grain").fetchone()
said = re.search(r"by chance, of samples, \+/-([\d.]+) points \(95 %\)", open("words").read())
sys.exit(not said or abs(float(said.group(1)) - chance) > 0.1 * chance)' || { fail "it does not say the error of samples"; cat out >&2; }
expect 0 loci cache exact.loci --cache L1=4K@8
lacks out "by chance"
# without weights what is far is lost
expect 0 loci analyse -q -b 8 --watch -c 50 --burst 0 --weights plain -o plain.loci product.lackey
expect 0 loci diff --accuracy --json exact.loci plain.loci
plain=$(figure time s_log2)
python3 -c "import sys; sys.exit(not $plain < 0.9)" || fail "without weights S is $plain"

# RDX's first bin holds stack distances below 4 KiB and time distances below 4096 touches.
python3 -c '
for i in range(20000):
	print(" L %x,8" % (0x100000 + 8 * (i % 1000)))' >loop.lackey
expect 0 loci analyse -q -b 8 -o loop.exact loop.lackey
expect 0 loci analyse -q -b 8 --watch -c 50 -o loop.watched loop.lackey
expect 0 loci diff --accuracy --json loop.exact loop.watched
python3 -c 'import json, sys
beyond = {r["distance"]: r["s_beyond"] for r in json.load(open("out"))["accuracy"]}
sys.exit(beyond["time"] is not None or beyond["stack"] != 1)' || fail "the first bin ends elsewhere"

# The same sample twice, and another.
ask() {
	sqlite3 "$1" "SELECT low, high, weight FROM bin JOIN histogram ON histogram.id = histogram_id
		WHERE distance = 'time' ORDER BY low"
}
expect 0 loci analyse -q -b 8 --watch -c 50 -o again.loci product.lackey
[ "$(ask watched.loci)" = "$(ask again.loci)" ] || fail "the same sample differs"
expect 0 loci analyse -q -b 8 --watch -c 50 --seed 7 -o other.loci product.lackey
[ "$(ask watched.loci)" != "$(ask other.loci)" ] || fail "another seed is the same sample"

# What is counted is exact: references, and the weights add up to them. Stack distances are there of all
# reuses, which have time distances, too.
refs=$((2 * 48 * 48 * 48 + 48 * 48))
expect 0 sqlite3 watched.loci "SELECT mode, refs FROM run; SELECT refs, period FROM sampling;
	SELECT round((SELECT total(weight) FROM bin WHERE histogram_id = h.id) + cold) FROM histogram h WHERE distance = 'time';
	SELECT distance, sampled FROM histogram;
	SELECT count(DISTINCT round(w)) FROM (SELECT total(weight) AS w FROM bin JOIN histogram h ON h.id = histogram_id
		WHERE distance LIKE 'near%' GROUP BY h.id HAVING w > $refs / 3)"
printf 'watch|%s\n%s|50\n%s.0\ntime|1\ntime_remote|1\nnear|1\nnear_time|1\n1\n' $refs $refs $refs >want
cmp -s out want || { fail "the profile says"; cat out >&2; }
expect 0 loci report watched.loci
has out "sampled, +/-"
has out "watched until their reuse"
expect 0 loci report --json watched.loci
valid report
expect 0 loci cache --cache L1=16K/8@8 watched.loci
has out StatStack

# Listing 2 of RDX: as many reuses from afar as from next to it.
python3 -c '
n = 20000
for loop in range(2):
	for i in range(n):
		print(" L %x,8" % (0x100000 + 8 * i))
for i in range(n):
	print(" L %x,8\n L %x,8" % (0x900000 + 8 * i, 0x900000 + 8 * i))' >listing2.lackey
times="SELECT total(weight) FROM bin JOIN histogram h ON h.id = histogram_id WHERE distance = 'time' AND"
far= near=
for seed in $(seq 20); do
	expect 0 loci analyse -q -b 8 --watch -c 400 --burst 0 --weights unscaled --seed $seed \
		-o listing2.loci listing2.lackey
	far="$far $(sqlite3 listing2.loci "$times low > 10000")"
	near="$near $(sqlite3 listing2.loci "$times low = 1")"
	rm -f listing2.loci
done
python3 -c 'import sys
far, near = (sum(map(float, a.split())) / 20 / 80000 for a in sys.argv[1:])
print(far, near)
sys.exit(not (.17 < far < .33 and .17 < near < .33))' "$far" "$near" || fail "far and near are not alike"

expect 2 loci analyse --watches 2 product.lackey
has err "--watches goes with --watch"
expect 2 loci analyse --watch --watches 5 product.lackey
has err "from 1 to 4"
expect 2 loci analyse --watch=x product.lackey
has err "rw"
expect 2 loci analyse --watch --weights heavy product.lackey
has err "kaplan-meier"
expect 2 loci analyse --watch -b 8,64 product.lackey
expect 2 loci analyse --watch --index product.lackey
expect 2 loci analyse --watch --trace x product.lackey
expect 2 loci analyse --watch -c 1 --burst 5000 product.lackey
has err "at once"
# fewer references than a period: nothing is known
expect 1 loci analyse --watch -c 1000000000 -o none.loci product.lackey
has err "no sample"
[ ! -e none.loci ] || fail "a profile of nothing was written"
finish
