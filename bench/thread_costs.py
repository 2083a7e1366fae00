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
SECONDS = float(os.environ.get("SECONDS_EACH", "0.2"))
ONLY = os.environ.get("ONLY", "").split()
PERIODS = ["100000", "1000000"]
COVERAGES = [75, 80, 90, 95]
WAYS = ["native", "exact"] + ["sample " + p for p in PERIODS]
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
    """The most memory that a program and all it starts have at a time: shared pages once (PSS)."""
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

    def rounds_of(self, kernel):
        """So many that it takes long enough natively."""
        def measure():
            with open(self.scratch + "/list") as file:
                usual = int(next(l.split()[3] for l in file if tuple(l.split()[:2]) == kernel))
            seconds = float(run(self.program(kernel, "native", usual))[2].split()[6])
            return max(1, math.ceil(usual * SECONDS / max(seconds, 1e-4)))
        return self.store.get("rounds %s %s" % kernel, measure)

    def times(self, kernel, way, turn):
        key = "%s %s, %s, turn %d" % (*kernel, way, turn)

        def measure():
            seconds, processor, printed = run(self.command(kernel, way, self.rounds_of(kernel)))
            return {"seconds": seconds, "cpu": processor, "sum": printed.split()[5]}
        return self.store.get(key, measure)

    def slowdown(self, kernel, way, what):
        def median(of):
            return statistics.median(self.times(kernel, of, t)[what] for t in range(ROUNDS))
        return median(way) / median("native")

    def agreement(self, kernel, way):
        """S of each kind of distance, as Schuff et al. have it without distance 0."""
        def measure():
            answer = json.loads(run(["loci", "diff", "--accuracy", "--json",
                                     self.profile(kernel, "exact"), self.profile(kernel, way)])[2])
            return {a["distance"]: a["s_schuff_far"] for a in answer["accuracy"]}
        return self.store.get("%s %s, %s, agreement" % (*kernel, way), measure)

    def ranks(self, kernel, way):
        """Weight matching by kind of cache, at each coverage."""
        def measure():
            answer = json.loads(run(["loci", "diff", "--rank", "--json",
                                     self.profile(kernel, "exact"), self.profile(kernel, way)])[2])
            return {r["distance"]: [c["weight"] for c in r["coverages"]] for r in answer["rank"]}
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
    for turn in range(ROUNDS):
        for kernel in kernels:
            for way in WAYS:
                bench.times(kernel, way, turn)
    for kernel in kernels:
        sums = {bench.times(kernel, way, t)["sum"] for way in WAYS for t in range(ROUNDS)}
        if len(sums) != 1:
            sys.exit("threads: %s %s computes %s" % (*kernel, ", ".join(sums)))


def by_kernel(bench, kernels):
    periods = " | ".join("1/%g" % float(p) for p in PERIODS)
    print("%s threads, medians of %d, times of native; then S of samples against exact, private and shared\n" %
          (THREADS, ROUNDS))
    print("| kernel | native | exact | %s | %s | %s |" % (periods, periods.replace("1/", "private 1/"),
                                                         periods.replace("1/", "shared 1/")))
    print("|---" * (3 + 3 * len(PERIODS)) + "|")
    for kernel in kernels:
        native = statistics.median(bench.times(kernel, "native", t)["seconds"] for t in range(ROUNDS))
        cells = ["%s %s" % kernel, "%.3f s" % native]
        cells += ["%.1f" % bench.slowdown(kernel, way, "seconds") for way in WAYS[1:]]
        for kind in ("private", "stack"):
            for way in WAYS[2:]:
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
        for way in WAYS[2:]:
            sampled = geomean([bench.slowdown(k, way, what) for k in kernels])
            if what == "cpu":
                print("| %s%s | | %.2fx |" % (way, label, sampled))
            else:
                bars.most("%s, private: slowdown" % way, 4, sampled)
                bars.most("%s, shared: slowdown" % way, 6, sampled)
    for way in WAYS[2:]:
        private = present(bench.agreement(k, way).get("private") for k in kernels)
        shared = present(bench.agreement(k, way).get("stack") for k in kernels)
        if private:
            bars.least("%s, private: S, mean" % way, 0.96, mean(private))
            bars.least("%s, private: S, worst" % way, 0.90, min(private))
        if shared:
            bars.least("%s, shared: S, mean" % way, 0.92, mean(shared))
    for way in WAYS[2:]:
        for kind, bar in (("private", 0.95), ("shared", 0.93)):
            for i, coverage in enumerate(COVERAGES):
                found = present(bench.ranks(k, way).get(kind, [None] * len(COVERAGES))[i] for k in kernels)
                if found:
                    bars.least("%s, %s: weight matching at %d %%" % (way, kind, coverage), bar, mean(found))
    for how in ([], ["-m", "sample", "-c", PERIODS[0]]):
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
