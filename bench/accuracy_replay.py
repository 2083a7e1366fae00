# SPDX-License-Identifier: GPL-2.0-or-later
"""The watching collector on thirty streams, every way of sampling against the exact distances:

	accuracy_replay.py LOCI WRITE_STREAMS SCRATCH EXPECTED

LOCI replays the collector (`loci analyse --watch`) on what WRITE_STREAMS writes. The samples are the same in
every run, so EXPECTED says how good each way is, from and to; anything else is a failure."""
import concurrent.futures
import json
import subprocess
import sys

import accuracy_tables as tables
from accuracy_runs import sampling

PERIOD = "200"  # of 200000 references: a thousand samples
WAYS = {
    "default": [],
    "one watch": ["--watches", "1"],
    "two watches": ["--watches", "2"],
    "no burst": ["--burst", "0"],
    "unscaled": ["--weights", "unscaled"],
    "proportional": ["--weights", "proportional"],
    "as RDX": ["--replace", "rdx", "--weights", "proportional", "--burst", "0"],
    "Kaplan-Meier": ["--weights", "kaplan-meier"],
    "plain": ["--weights", "plain"],
    "oldest": ["--replace", "oldest", "--weights", "plain"],
    "coin": ["--replace", "coin", "--weights", "plain"],
}


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit("%s: status %d: %s" % (" ".join(command), done.returncode, done.stderr))
    return done.stdout


def replay(loci, scratch, stream):
    """The measurements of a stream."""
    number, name = stream
    trace, exact = "%s/%s.trace" % (scratch, number), "%s/%s.exact" % (scratch, number)
    run(loci, "analyse", "-q", "-b", "8", "--no-sets", "-o", exact, trace)
    models = json.loads(run(loci, "info", "--accuracy", "--json", exact))["accuracy"]
    model = next((row["s_rdx"] for row in models if row["model"] == "StatStack"), None)
    made = []
    for way, options in WAYS.items():
        sampled = "%s/%s.sampled" % (scratch, number)
        run(loci, "analyse", "-q", "-b", "8", "--watch", "-c", PERIOD, "--seed", number, *options, "-o", sampled, trace)
        rows = json.loads(run(loci, "diff", "--accuracy", "--json", exact, sampled))["accuracy"]
        made.append({"subject": name, "way": way, "accuracy": {row["distance"]: row for row in rows}, "model": model,
                     "effective": sampling(sampled).get("effective")})
    return made


def expected(path):
    """Lines of a way, a figure, and its bounds; tabs between."""
    with open(path) as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                way, what, low, high = line.rstrip("\n").split("\t")
                yield way, what, float(low), float(high)


def main():
    loci, write_streams, scratch, bounds = sys.argv[1:]
    streams = [line.split(" ", 1) for line in run(write_streams, scratch).splitlines()]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        parts = pool.map(lambda stream: replay(loci, scratch, stream), streams)
        measurements = [m for part in parts for m in part]
    print(tables.by_subject("S of time distances over powers of two, one in %s sampled" % PERIOD, measurements, WAYS, "time",
                            "s_log2").text())
    table = tables.by_way("Thirty streams", measurements, WAYS)
    print(table.text())
    for way in ("default", "as RDX"):
        print("%s. %s" % (way, tables.causes([m for m in measurements if m["way"] == way]).text()))
    bars = tables.Bars()
    for way, what, low, high in expected(bounds):
        of = [m for m in measurements if m["way"] == way]
        figures = dict(zip(("time mean", "time worst", "time median", "beyond median", "stack mean", "stack median",
                            "smooth median", "points mean", "points worst"), tables.summary(of)))
        bars.within("%s: %s" % (way, what), low, high, figures[what])
    print(bars.table.text())
    print(bars.verdict())
    return bool(bars.missed)


if __name__ == "__main__":
    sys.exit(main())
