#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures what bench/accuracy.sh has built, and says how true and how dear `loci record -m watch` is:

	accuracy.py SCRATCH BUILT COMMIT MIX KEPT

BUILT tells one build from another, of whatever commit; MIX is SQLite's script. What is measured is a line of SCRATCH/accuracy.jsonl, and
not measured again; nor is what KEPT has of this build. Leaves accuracy.txt and accuracy.html beside it."""
import concurrent.futures
import os
import queue
import subprocess
import sys
import time

import accuracy_page
import accuracy_report
from accuracy_runs import Bench, Failure, Kernel, Sqlite, Store


def cpu():
    with open("/proc/cpuinfo") as file:
        known = dict(line.split(":", 1) for line in file.read().replace("\t", "").split("\n\n")[0].splitlines() if ":" in line)
    return "%s, family %s, model %s" % tuple(known.get(k, " ?").strip() for k in ("model name", "cpu family", "model"))


QUICK = bool(os.environ.get("QUICK"))
SCALE = float(os.environ.get("SCALE", "0.1" if QUICK else "1"))
ROUNDS = int(os.environ.get("ROUNDS", "3" if QUICK else "9"))
BUDGET = float(os.environ.get("BUDGET", "600" if QUICK else "3200"))  # seconds in which something may begin
KERNELS = os.environ.get("KERNELS", "product:ijk triad:row stencil2:row list:random lu:row hydro:fused join:divided sqlite"
                         if QUICK else "").split()
LONG = 20 * SCALE  # native seconds of what is judged
SHORT = LONG / (2 if QUICK else 5)  # and of what is compared with each other
PERIODS = [500000, 1000000, 5000000, 10000000]  # RDX's
SAMPLES = [int(n) for n in os.environ.get("SAMPLES", "20000 1000").split()]
FAR = "5%"  # of the references, for the judged number of samples: overhead has no limit there
WAYS = os.environ.get("WAYS", "").split()  # by the first word of their kind; none: all
SEED = int(os.environ.get("SEED", "0"))
COUNTING = os.environ.get("COUNTING") != "0"  # what watching takes is told apart from counting
JOBS = int(os.environ.get("JOBS_AT_ONCE", "1"))
KEEP = os.environ.get("KEEP") == "1"
MACHINE = "%s, Linux %s, %d processors" % (cpu(), os.uname().release, os.cpu_count())
REPLACE = ["rdx", "oldest", "coin", "never"]
JUDGED_SAMPLES = 2000 * SCALE  # at least, where no period is asked for
SPARE = 1.1  # a run is longer than is asked for, lest it take less


class Item:
    """A measurement that is planned."""

    def __init__(self, kind, seconds, options, block="8", beside=(), round=0, period=None, samples=None, weights=False):
        self.kind, self.seconds, self.options, self.block, self.beside = kind, seconds, options, block, beside
        self.round, self.period, self.samples, self.weights = round, period, samples, weights
        self.is_judged = not period and not samples

    def key(self, subject):
        seed = ", seed %d" % SEED if SEED else ""
        return "%s, %s, %g s, round %d%s" % (subject.name, self.kind, self.seconds, self.round, seed)


def plan():
    """What says most comes first: lists of what is measured at once, of one subject if its time is judged; what is in one of
    these is measured beside the same native runs. Rounds at once disturb each other alike."""
    both = ("native", "cc") if COUNTING else ("native",)
    judged = lambda round: [Item("default", LONG, [], beside=both, round=round),
                            Item("pages", LONG, ["--watch-by", "pages"], "64", both, round)]
    at_once = [[judged(round) for round in range(first, min(first + JOBS, ROUNDS))] for first in range(0, ROUNDS, JOBS)]
    yield at_once[0]
    for n in SAMPLES:
        is_judged = n >= 20000
        yield [[Item("samples %d" % n, LONG if is_judged else SHORT, ["--far", FAR] if is_judged else [], samples=n)]]
    for period in PERIODS:
        yield [[Item("period %d" % period, SHORT, [], beside=both, period=period, weights=period == PERIODS[1])]]
    for n in (1, 2, 3):
        yield [[Item("watches %d" % n, SHORT, ["--watches", str(n)], period=PERIODS[1])]]
    for replace in REPLACE:
        yield [[Item("replace %s" % replace, SHORT, ["--replace", replace], period=PERIODS[1], weights=True)]]
    yield [[Item("no burst", SHORT, ["--burst", "0"], period=PERIODS[1])]]
    yield from at_once[1:]


def measure(bench, subject, items, failures):
    """One run of each sort, in turn; which is first changes from time to time. If it turns out that they were to be much
    longer, or the first ones for their samples, they are made again. Returns what is to be kept of each item that did not fail."""
    first = items[0]
    longer = max(bench.longer(subject, item.kind) for item in items)
    with bench.store.prepares:
        rounds = bench.rounds_of(subject, SPARE * first.seconds * longer)
        truth, refs = bench.truth(subject, rounds)
    beside, values = {}, {}
    ways = list(first.beside) + items
    for way in ways if first.round // JOBS % 2 == 0 else reversed(ways):  # alike for those at once
        if way not in items:
            beside[way] = bench.plain(subject, way, rounds)
            if way == "native" and bench.correct(subject, rounds, beside[way], first.seconds):
                return measure(bench, subject, items, failures)
            continue
        try:
            values[way] = watched(bench, subject, way, rounds, truth, refs)
        except Failure as failure:
            failures.append("%s, %s: %s" % (subject.name, way.kind, failure))
            continue
        taken = values[way]["runs"]["watched"]["sampling"].get("samples") or 0
        if way.is_judged and way.round < JOBS and 0 < taken < JUDGED_SAMPLES and \
                bench.lengthen(subject, way.kind, JUDGED_SAMPLES / taken, longer):
            return measure(bench, subject, items, failures)
    for item, value in values.items():
        value["runs"].update(beside)
    alike = {item: value for item, value in values.items() if len({run["result"] for run in value["runs"].values()}) == 1}
    failures += ["%s, %s: does not compute the same: %s" % (subject.name, item.kind, values[item]["runs"])
                 for item in values if item not in alike]
    return alike


def watched(bench, subject, item, rounds, truth, refs):
    """What is to be kept of an item, but for the runs beside it."""
    options = ["-b", item.block, "--seed", str(SEED + item.round)] + item.options
    period = item.period or (item.samples and max(1, refs // item.samples))
    options += ["-c", str(period)] if period else []
    if period and period < 4096:  # not too many at once
        options += ["--burst", str(period)]
    ran = bench.watched(subject, rounds, options)
    value = {"subject": subject.name, "way": item.kind, "block": item.block, "round": item.round, "refs": refs, "seconds": item.seconds,
             "period": period, "runs": {"watched": ran}, "machine": MACHINE, "effective": ran["sampling"].get("effective"),
             "accuracy": bench.accuracy(truth, bench.own_path("watched.loci"), item.block),
             "model": bench.model(truth, item.block)}
    if item.weights:  # the same samples, in every way
        value["weights"] = bench.weighed(truth, subject, rounds, options, item.block)
    return value


def subjects(scratch, mix):
    listed = subprocess.run([scratch + "/kernels.native", "list"], capture_output=True, text=True, check=True).stdout
    found = [Kernel(scratch, *line.split()) for line in listed.splitlines() if not line.startswith("unwritten")]
    if os.path.exists(scratch + "/sqlite.cc"):
        found.append(Sqlite(scratch, mix))
    return [s for s in found if not KERNELS or s.name.replace(" ", ":") in KERNELS]


def watches():
    """Whether this loci has the collector, and this machine what it needs."""
    asked = subprocess.run(["loci", "record", "--help"], capture_output=True, text=True).stdout
    return "--watches" in asked


def main():
    scratch, built, commit, mix, kept = sys.argv[1:]
    if not watches():
        print("accuracy: this loci has no `record -m watch`; the replay is a test (cli-accuracy_replay_test)", file=sys.stderr)
        return 77
    store = Store(scratch + "/accuracy.jsonl", built, commit, kept)
    begun, left, failures, made = time.monotonic(), 0, [], []
    everything, benches = subjects(scratch, mix), queue.SimpleQueue()
    for number in range(JOBS):
        benches.put(Bench(scratch, store, number))

    def one(subject, items, at_once):
        unknown = [item for item in items if store.get(item.key(subject)) is None]
        if not unknown or time.monotonic() - begun > BUDGET:
            return
        bench = benches.get()
        try:
            for item, value in measure(bench, subject, unknown, failures).items():
                store.put(item.key(subject), dict(value, at_once=at_once))
        except Exception as failure:  # others can be measured all the same
            failures.append("%s: %s" % (subject.name, failure if isinstance(failure, Failure) else repr(failure)))
        finally:
            benches.put(bench)
        print("%5.0f s  %s" % (time.monotonic() - begun, "; ".join(i.key(subject) for i in unknown)), file=sys.stderr, flush=True)

    with concurrent.futures.ThreadPoolExecutor(JOBS) as several:
        for planned in plan():
            planned = [[item for item in items if not WAYS or item.kind.split()[0] in WAYS] for items in planned]
            tasks = [[(s, items) for items in planned] for s in everything]
            if not all(item.is_judged for items in planned for item in items):
                tasks = [sum(tasks, [])]
            for task in tasks:
                list(several.map(lambda t: one(*t, min(JOBS, len(task))), task))
            found = [store.get(item.key(s)) for items in planned for item in items for s in everything]
            made += [value for value in found if value is not None]
            left += sum(value is None for value in found)
    if KEEP:
        store.keep()
    report = accuracy_report.Report(made, left, failures, commit)
    with open(scratch + "/accuracy.txt", "w") as file:
        file.write(report.text())
    with open(scratch + "/accuracy.html", "w") as file:
        file.write(accuracy_page.page(report))
    for failure in failures:
        print("accuracy: " + failure, file=sys.stderr)
    print(report.text(), end="")
    return bool(report.bars.missed or failures)


if __name__ == "__main__":
    sys.exit(main())
