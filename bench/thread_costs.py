#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures what bench/thread_costs.sh has built, and prints the table of doc/performance.md:

	thread_costs.py SCRATCH

A result is a line of SCRATCH/threads.jsonl with its key; one that is there is not measured again."""
import json
import math
import os
import resource
import statistics
import subprocess
import sys
import time

THREADS = os.environ.get("THREADS", "4")
ROUNDS = int(os.environ.get("ROUNDS", "5"))
SCALE = float(os.environ.get("SCALE", "1"))
# Native seconds: of what is recorded exactly five times, of what is sampled, and of what both are compared by.
EXACT, SAMPLED, COMPARED = 0.03 * SCALE, 0.4 * SCALE, 0.2 * SCALE
ONLY = os.environ.get("ONLY", "").split()
PERIODS = os.environ.get("PERIODS", "100000 1000000").split()
COVERAGES = [75, 80, 90, 95]
SAMPLES = ["sample " + p for p in PERIODS]
GIB = 1 << 30


class Store:
    def __init__(self, path):
        self.known, self.path = {}, path
        if os.path.exists(path):
            for line in open(path):
                one = json.loads(line)
                self.known[one["key"]] = one["value"]

    def get(self, key, measure):
        if key not in self.known:
            self.known[key] = measure()
            with open(self.path, "a") as file:
                file.write(json.dumps({"key": key, "value": self.known[key]}) + "\n")
        return self.known[key]


def run(command):
    """Seconds of the clock and of the processor, of all it starts, and what it printed."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    seconds, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit("threads: %s: status %d: %s" % (" ".join(command), done.returncode, done.stderr))
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def peak_of(command):
    """The most memory that a program and all it starts have at a time: shared pages once (PSS); and no less
    than any that was started here ever had."""
    process, most = subprocess.Popen(command, stdout=subprocess.DEVNULL), 0
    while process.poll() is None:
        family, total = {process.pid}, 0
        for pid in sorted(int(p) for p in os.listdir("/proc") if p.isdigit()):
            try:
                with open("/proc/%d/stat" % pid) as file:
                    parent = int(file.read().rsplit(")", 1)[1].split()[1])
                if parent in family:
                    family.add(pid)
                if pid in family:
                    with open("/proc/%d/smaps_rollup" % pid) as file:
                        total += sum(int(l.split()[1]) << 10 for l in file if l.startswith("Pss:"))
            except (OSError, ProcessLookupError, IndexError):
                pass
        most = max(most, total)
        time.sleep(0.01)
    most = max(most, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10)
    if process.returncode:
        sys.exit("threads: %s: status %d" % (" ".join(command), process.returncode))
    return most


class Bench:
    def __init__(self, scratch):
        self.scratch = scratch
        self.store = Store(scratch + "/threads.jsonl")

    def program(self, kernel, way, rounds):
        name, variant = kernel
        built = "native" if way == "native" else "cc"
        return ["%s/threaded.%s" % (self.scratch, built), name, variant, THREADS, "0", str(rounds)]

    def profile(self, kernel, way):
        return "%s/%s.%s.loci" % (self.scratch, "_".join(kernel), way.replace(" ", ""))

    def command(self, kernel, way, rounds):
        program = self.program(kernel, way, rounds)
        if way == "native":
            return program
        how = [] if way == "exact" else ["-m", "sample", "-c", way.split()[1]]
        return ["loci", "record", "-q", "-o", self.profile(kernel, way)] + how + ["--"] + program

    def rounds_of(self, kernel, long):
        """So many that it takes so long natively."""
        def measure():
            with open(self.scratch + "/list") as file:
                usual = int(next(l.split()[3] for l in file if tuple(l.split()[:2]) == kernel))
            seconds = float(run(self.program(kernel, "native", usual))[2].split()[6])
            return {"usual": usual, "seconds": max(seconds, 1e-4)}
        took = self.store.get("alone %s %s" % kernel, measure)
        return max(1, math.ceil(took["usual"] * long / took["seconds"]))

    def times(self, kernel, way, long, turn):
        def measure():
            seconds, processor, printed = run(self.command(kernel, way, self.rounds_of(kernel, long)))
            return {"seconds": seconds, "cpu": processor, "sum": printed.split()[5]}
        return self.store.get("%s %s, %s, %g s, turn %d" % (*kernel, way, long, turn), measure)

    def median(self, kernel, way, long, what):
        return statistics.median(self.times(kernel, way, long, t)[what] for t in range(ROUNDS))

    def slowdown(self, kernel, way, what):
        long = EXACT if way == "exact" else SAMPLED
        return self.median(kernel, way, long, what) / self.median(kernel, "native", long, what)

    def compared(self, kernel, way):
        """The profile of a run that exact and sampled ones are compared by."""
        path = self.profile(kernel, way) + ".compared"
        if not os.path.exists(path):
            run(self.command(kernel, way, self.rounds_of(kernel, COMPARED)))
            os.rename(self.profile(kernel, way), path)
        return path

    def agreement(self, kernel, way):
        """S of each kind of distance, as Schuff et al. have it without distance 0."""
        def measure():
            answer = json.loads(run(["loci", "diff", "--accuracy", "--json",
                                     self.compared(kernel, "exact"), self.compared(kernel, way)])[2])
            return {a["distance"]: a["s_schuff_far"] for a in answer["accuracy"]}
        return self.store.get("%s %s, %s, agreement" % (*kernel, way), measure)

    def ranks(self, kernel, way):
        """Weight matching by kind of cache and coverage."""
        def measure():
            answer = json.loads(run(["loci", "diff", "--rank", "--json",
                                     self.compared(kernel, "exact"), self.compared(kernel, way)])[2])
            return {"%s %d" % (r["distance"], r["percent"]): r["weight_match"] for r in answer["rows"]}
        return self.store.get("%s %s, %s, ranks" % (*kernel, way), measure)


def geomean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def mean(values):
    return sum(values) / len(values)


def present(values):
    return [v for v in values if v is not None]


class Bars:
    def __init__(self):
        self.missed = 0
        print("\n| | bar | measured |\n|---|---|---|")

    def most(self, what, bar, value, unit="x"):
        self.say(what, "at most %s%s" % (bar, unit), value, "%.2f" % value + unit, value <= bar)

    def least(self, what, bar, value):
        self.say(what, "at least %.2f" % bar, value, "%.3f" % value, value >= bar)

    def say(self, what, bar, value, text, holds):
        self.missed += not holds
        print("| %s | %s | %s |" % (what, bar, text if holds else "**missed: %s**" % text))


def kernels_of(bench):
    listed = run([bench.scratch + "/threaded.native", "list"])[2]
    with open(bench.scratch + "/list", "w") as file:
        file.write(listed)
    kernels = [tuple(line.split()[:2]) for line in listed.splitlines()]
    return [k for k in kernels if not ONLY or ":".join(k) in ONLY]


def measure_all(bench, kernels):
    ways = [("native", EXACT), ("exact", EXACT)] + [(way, SAMPLED) for way in ["native"] + SAMPLES if SAMPLES]
    for turn in range(ROUNDS):
        for kernel in kernels:
            for way, long in ways:
                bench.times(kernel, way, long, turn)
    for kernel in kernels:
        for long in {long for _, long in ways}:
            sums = {bench.times(kernel, w, long, t)["sum"] for w, l in ways if l == long for t in range(ROUNDS)}
            if len(sums) != 1:
                sys.exit("threads: %s %s computes %s" % (*kernel, ", ".join(sums)))


def by_kernel(bench, kernels):
    print("%s threads, medians of %d, times of native; then S of samples against exact, private and shared\n" %
          (THREADS, ROUNDS))
    heads = ["kernel", "native", "exact"] + [kind + " 1/%g" % float(p) for kind in ("times", "private", "shared")
                                             for p in PERIODS]
    print("| " + " | ".join(heads) + " |")
    print("|---" * len(heads) + "|")
    for kernel in kernels:
        cells = ["%s %s" % kernel, "%.3f s" % bench.median(kernel, "native", EXACT, "seconds")]
        cells += ["%.1f" % bench.slowdown(kernel, way, "seconds") for way in ["exact"] + SAMPLES]
        for kind in ("private", "stack"):
            for way in SAMPLES:
                s = bench.agreement(kernel, way).get(kind)
                cells.append("-" if s is None else "%.3f" % s)
        print("| " + " | ".join(cells) + " |")


def bars(bench, kernels):
    bars = Bars()
    for what in ("seconds", "cpu"):
        label = "" if what == "seconds" else ", processor time"
        exact = geomean([bench.slowdown(k, "exact", what) for k in kernels])
        if what == "cpu":
            print("| exact%s | | %.2fx |" % (label, exact))
        else:
            bars.most("exact, private: slowdown", 30, exact)
            bars.most("exact, shared: slowdown", 40, exact)
        for way in SAMPLES:
            sampled = geomean([bench.slowdown(k, way, what) for k in kernels])
            if what == "cpu":
                print("| %s%s | | %.2fx |" % (way, label, sampled))
            else:
                bars.most("%s, private: slowdown" % way, 4, sampled)
                bars.most("%s, shared: slowdown" % way, 6, sampled)
    for way in SAMPLES:
        private = present(bench.agreement(k, way).get("private") for k in kernels)
        shared = present(bench.agreement(k, way).get("stack") for k in kernels)
        if private:
            bars.least("%s, private: S, mean" % way, 0.96, mean(private))
            bars.least("%s, private: S, worst" % way, 0.90, min(private))
        if shared:
            bars.least("%s, shared: S, mean" % way, 0.92, mean(shared))
    for way in SAMPLES:
        for kind, label, bar in (("private", "private", 0.95), ("stack", "shared", 0.93)):
            for coverage in COVERAGES:
                found = present(bench.ranks(k, way).get("%s %d" % (kind, coverage)) for k in kernels)
                if found:
                    bars.least("%s, %s: weight matching at %d %%" % (way, label, coverage), bar, mean(found))
    for how in [[]] + [["-m", "sample", "-c", p] for p in PERIODS[:1]]:
        peak = bench.store.get("memory %s" % " ".join(how), lambda: peak_of(
            ["loci", "record", "-q", "-o", bench.scratch + "/short.loci"] + how +
            ["--", bench.scratch + "/short_threads"]))
        bars.most("200 short threads, %s: memory" % (" ".join(how) or "exact"), 1, peak / GIB, " GiB")
    return bars.missed


def main():
    bench = Bench(sys.argv[1])
    kernels = kernels_of(bench)
    measure_all(bench, kernels)
    by_kernel(bench, kernels)
    missed = bars(bench, kernels)
    print("\n%s" % ("%d bars are missed" % missed if missed else "every bar holds"))
    return missed > 0


if __name__ == "__main__":
    sys.exit(main())
