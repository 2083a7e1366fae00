# SPDX-License-Identifier: GPL-2.0-or-later
# Not under sanitizers: it is of python.
# What `make accuracy` makes of its measurements: an exact profile of many rounds from two of few, costs by
# least squares, causes, bars, tables and the page.
. "$SRC/tests/cli/expect.sh"

# An input that is made once, then rounds over half of it, all alike, and in the end the other half, so many times as long
# after it was made.
rounds() {
	python3 -B -c '
for i in range(3000):
	print(" S %x,8" % (0x100000 + 8 * i))
for round in range('"$1"'):
	for i in range(0, 3000, 2):
		print(" L %x,8\n L %x,8" % (0x100000 + 8 * i, 0x100000 + 8 * (i // 100 * 2)))
for i in range(1, '"$2"', 2):
	print(" L %x,8" % (0x100000 + 8 * i))' >"$3.lackey"
	expect 0 loci analyse -q -b 8,64 --no-sets -o "$3.loci" "$3.lackey"
}
for n in 2 4 6 8 10; do
	rounds $n 0 $n
	rounds $n 3000 end.$n
done
cp 4.loci truth.loci
cp end.8.loci end.truth.loci
expect 0 env PYTHONPATH="$SRC/bench" python3 -B -c '
import accuracy_runs, sqlite3
refs = accuracy_runs.extend(["2.loci", "4.loci"], "truth.loci", (10 - 4) / 2)
assert refs == 3000 + 10 * 3000, refs
of = lambda path: sorted(sqlite3.connect(path).execute("""SELECT distance, block_bytes, low, high, weight, cold
	FROM bin JOIN histogram ON histogram_id = id WHERE owner = "whole" AND distance IN ("stack", "time")"""))
assert of("truth.loci") == of("10.loci")
assert of("4.loci") != of("10.loci")

# what is once alone stays where the last profile has it
assert accuracy_runs.moved("2.loci", "4.loci") == 0
assert accuracy_runs.moved("end.2.loci", "end.4.loci") > 0.01
refs = accuracy_runs.extend(["end.%d.loci" % n for n in (2, 4, 6, 8)], "end.truth.loci", 1)
assert refs == 3000 + 10 * 3000 + 1500, refs
def more(one, other): # by bins
	a, b = ({row[:4]: row[4] for row in of(path)} for path in (one, other))
	return {k: a.get(k, 0) - b.get(k, 0) for k in set(a) | set(b) if a.get(k, 0) != b.get(k, 0)}
assert more("end.truth.loci", "end.8.loci") == more("10.loci", "8.loci")'
expect 0 loci diff --accuracy --json -b 8 10.loci truth.loci
has out '"s_schuff": 1,'

# a run that hangs is given up with all that it runs
expect 0 env PYTHONPATH="$SRC/bench" python3 -B -c '
import accuracy_runs, time
accuracy_runs.HANGS, begun = 0.5, time.monotonic()
try:
	accuracy_runs.run(["sh", "-c", "sleep 60; true"])
	assert False
except accuracy_runs.Failure:
	assert time.monotonic() - begun < 30'

cat >measured.py <<'PY'
import math, random
import accuracy_page, accuracy_report, accuracy_tables as tables
from accuracy_report import Report, solve

# prices that are known come out
rows = [[random.random(), random.random(), 0] for _ in range(20)]
a, b, none = solve(rows, [3 * x + 5 * y for x, y, _ in rows])
assert abs(a - 3) < 1e-9 and abs(b - 5) < 1e-9 and none is None

# the median's interval: of nine values the second and the eighth, 96 %
assert tables.interval(range(1, 10)) == (5, 2, 8)
assert tables.interval([1, 2, 3]) == (2, 1, 3)

def row(s, smooth):
    return {"s_rdx": s, "s_rdx_smooth": smooth, "s_beyond": s, "s_log2": s, "mean_points": 0.1, "worst_points": 0.3}

def one(time, stack, model=1.0, effective=1e6):
    return {"subject": "x", "accuracy": {"time": row(*time), "stack": row(*stack)}, "model": model, "effective": effective}

good = (0.99, 0.99)
for want, of in {"": one(good, good), "off by one bin": one(good, (0.5, 0.95)), "model": one(good, (0.5, 0.6), 0.5),
                 "sparse samples": one((0.7, 0.71), (0.7, 0.71), effective=100),
                 "biased samples": one((0.7, 0.71), (0.7, 0.71))}.items():
    assert tables.cause(of) == want, (want, tables.cause(of))
# everything in the wrong bin, next to the right one: smoothing leaves half
assert tables.cause(one((0.0, 0.5), good)) == "off by one bin"

def measured(subject, way, native, cc, watched, samples, traps, round=0, s=0.98, more=5):
    plain = lambda cpu: {"cpu": cpu, "seconds": cpu, "cpu_all": cpu, "own": 30.0, "both": 30.0, "result": "r"}
    run = dict(plain(watched), memory=30.0 + more, recorder=2.0, both=32.0 + more, sampling={
        "samples": samples, "traps": traps, "false_faults": 0, "steps": 0, "burst_ns": samples * 1e4, "trap_ns": traps * 2e4})
    return dict(one((s, 0.99), (s, 0.99)), subject=subject, way=way, round=round, period=1000000,
                runs={"native": plain(native), "cc": plain(cc), "watched": run})

def of(slow, s=0.98, more=5):
    # 10 us a sample, 20 us a trap
    return [measured(name, way, 1, 1.01, 1.01 + slow + samples * 1e-5 + traps * 2e-5, samples, traps, round, s, more)
            for round in range(3) for name, way, samples, traps in
            (("a", "default", 100, 50), ("b", "default", 200, 40), ("sqlite", "default", 300, 200),
             ("a", "period 1000000", 1000, 100), ("a", "period 5000000", 150, 90))]

# 30 us a fault; counting takes as many times of native as where it was run
def paged(faults):
    m = measured("b", "pages", 2, 0, 2.02 + 100 * 1e-5 + 10 * 2e-5 + faults * 3e-5, 100, 10)
    m["runs"]["watched"]["sampling"]["false_faults"] = faults
    del m["runs"]["cc"]
    return m

priced = Report(of(0) + [paged(100), paged(900)], 0, [], "c0ffee")
assert [round(1e6 * p, 3) for p in priced.priced()[2][:3]] == [10, 20, 30]
assert [row[0] for row in priced.shares().rows] == ["default", "pages", "1 M", "5 M"]

# a subject is judged by the median of its rounds, and by whether they are long enough
rounds = [dict(measured("a", "default", 1, 1, 1, samples, 0, round, s), seconds=20)
          for round, (s, samples) in enumerate([(0.5, 2100), (0.99, 1900), (0.98, 2500)])]
judged = Report(rounds, 0, [], "c0ffee")
found = {row[0].split(" (")[0]: row[2] for row in judged.bars.table.rows}
assert found["registers: time S, worst median"] == "0.980" and judged.each("default")[0]["least_s"] == 0.5
assert found["registers: samples, median, least"] == "2100.000" and found["registers: native seconds, median, least"] == "1.000"
assert found["registers: pairs, least"] == "3.000" and "registers: pairs, least (a)" in judged.bars.missed

report = Report(of(0), 0, [], "c0ffee")
assert not report.bars.missed, report.bars.missed
assert [round(1e6 * p, 3) for p in report.priced()[2][:2]] == [10, 20]
assert "not measured" in report.text() # pages
for slow, s, more, missed in ((0.06, 0.98, 5, "overhead, median"), (0, 0.96, 5, "time S, median"), (0, 0.98, 7, "memory")):
    found = Report(of(slow, s, more), 0, [], "c0ffee").bars.missed
    assert any(missed in m for m in found), (missed, found)
assert "1 are left" in Report(of(0), 1, [], "c0ffee").text()
page = accuracy_page.page(report)
assert "<svg" in page and "<script" not in page and "http" not in page
import xml.dom.minidom
for part in page.split("<svg")[1:]:
    xml.dom.minidom.parseString("<svg" + part.split("</svg>")[0] + "</svg>")
Report([], 5, [], "c0ffee").text() # nothing yet
print(report.text())
PY
expect 0 env PYTHONPATH="$SRC/bench" python3 -B measured.py
has out "All "
has out " were not measured."
finish
