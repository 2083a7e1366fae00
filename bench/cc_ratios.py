# SPDX-License-Identifier: GPL-2.0-or-later
"""The measurements of bench/cc.sh, which says what they are.

A ratio is of two runs of the same round, one after the other; told are the median of the rounds and
the interval that holds the true median with 95 % (order statistics; of fewer than six rounds, the
least and the greatest)."""
import math
import os
import subprocess
import sys
import time

build, scratch, mix = sys.argv[1:]
scale = float(os.environ.get("SCALE", "1"))
rounds = int(os.environ.get("ROUNDS", "9"))
heavy = int(os.environ.get("HEAVY", "3"))
only = os.environ.get("ONLY", "").split()
profile = scratch + "/cc.loci"
missed = False

RECORD = [build + "/loci", "record", "-q", "-o", profile]
UNDER = {
    "native": [],
    "count": [],
    "ops": [],
    "drain": [build + "/bench/drain"],
    "record": RECORD + ["--"],
    "all": RECORD + ["--sets", "--pairs", "all", "--"],
    "cachegrind": ["valgrind", "-q", "--tool=cachegrind", "--cache-sim=yes", "--cachegrind-out-file=/dev/null"],
}
QUICK = ["count", "ops", "drain"]
HEAVY = ["record", "all", "cachegrind"]
# What is compared: of code that only counts the processor's time, which others on the machine hardly
# change; of streaming the time that the kernel takes, waiting included; else that of the whole command.
OF = {"count": lambda run: run.cpu, "ops": lambda run: run.cpu, "drain": lambda run: run.seconds}
OF.update({way: lambda run: run.wall for way in HEAVY})


def binary(program, way):
    kind = {"native": "native", "cachegrind": "native", "ops": "ops"}
    return "%s/%s.%s" % (scratch, program, kind.get(way, "cc"))


class Run:
    """One run: its wall time, the seconds it tells itself, what it printed, its memory."""

    def __init__(self, workload, way):
        command = UNDER[way] + [binary(workload.program, way)] + workload.arguments
        stdin = open(workload.input) if workload.input else subprocess.DEVNULL
        begun = time.monotonic()
        child = subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        # What is printed is short: neither pipe fills.
        self.output = child.stdout.read().decode()
        complaint = child.stderr.read().decode()
        _, status, usage = os.wait4(child.pid, 0)
        self.wall = time.monotonic() - begun
        child.returncode = status
        self.memory = usage.ru_maxrss / 1024
        if status:
            sys.exit("%s: status %d\n%s" % (" ".join(command), status, complaint))
        if workload.input:
            self.seconds, self.cpu, self.result = self.wall, usage.ru_utime + usage.ru_stime, self.output
        else:
            fields = self.output.split()
            self.seconds, self.cpu, self.result = float(fields[5]), float(fields[6]), " ".join(fields[:5])


class Workload:
    def __init__(self, name, program, arguments, text=None):
        self.name, self.program, self.arguments, self.input = name, program, arguments, text
        self.quick = {way: [] for way in QUICK}  # ratios of the seconds it tells
        self.slow = {way: [] for way in HEAVY}  # of wall times
        self.walls = {way: [] for way in HEAVY}
        self.memory = {}

    def calibrate(self, target):
        """As many rounds as take that long."""
        seconds = min(Run(self, "native").seconds for _ in range(3))
        self.arguments[3] = str(max(1, round(int(self.arguments[3]) * target / max(seconds, 1e-6))))

    def measure(self, ways, ratios, of, first):
        """Which of a pair runs first changes from round to round."""
        native = Run(self, "native") if first else None
        for way in ways:
            run = Run(self, way)
            native = native or Run(self, "native")
            if run.result != native.result:
                sys.exit("%s, %s: printed\n%s\nnot\n%s" % (self.name, way, run.result, native.result))
            ratios[way].append(of[way](run) / of[way](native))
            if way in self.walls:
                self.walls[way].append(run.wall)
            self.memory[way] = max(run.memory, self.memory.get(way, 0))
        self.memory["native"] = max(native.memory, self.memory.get("native", 0))


def interval(values):
    """The median, and the order statistics around it that hold it with 95 %."""
    v = sorted(values)
    n, k = len(v), 0
    tail = 0.0
    while k < n // 2:
        tail += math.comb(n, k) / 2**n
        if tail > 0.025:
            break
        k += 1
    low = max(k - 1, 0)
    middle = v[n // 2] if n % 2 else (v[n // 2 - 1] + v[n // 2]) / 2
    return middle, v[low], v[n - 1 - low]


def geomean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def judge(what, value, bar):
    global missed
    verdict = "PASS" if value <= bar else "FAIL"
    missed = missed or value > bar
    print("%-56s %8.3f  bar %-5g %s" % (what, value, bar, verdict), flush=True)


def workloads():
    listed = subprocess.run([binary("kernels", "native"), "list"], capture_output=True, text=True, check=True)
    made = []
    for line in listed.stdout.splitlines():
        name, variant, size, turns = line.split()
        if name != "unwritten" and (not only or name + ":" + variant in only):
            made.append(Workload(name + " " + variant, "kernels", [name, variant, size, turns]))
            made[-1].calibrate(0.1 * scale)
    sqlite = None
    if os.path.exists(binary("sqlite", "cc")) and (not only or "sqlite" in only):
        rows = int(450000 * scale)
        sqlite = Workload("sqlite", "sqlite", [":memory:", "-cmd", "create temp table size as select %d as rows" % rows], mix)
    return made, sqlite


def show(workload):
    cells = ["%5.2f [%4.2f-%5.2f]" % interval(v) if v else "-" for v in
             list(workload.quick.values()) + list(workload.slow.values())]
    print("%-18s" % workload.name, *("%-19s" % cell for cell in cells), end="  ")
    print("%4.0f %4.0f %4.0f %5.0f" % tuple(workload.memory.get(w, 0) for w in ("native", "count", "record", "all")), flush=True)


def named():
    """Per cent of the references in the profile that have a line, and an object with a name."""
    ask = lambda query: float(subprocess.run(["sqlite3", profile, query], capture_output=True, text=True).stdout or 0)
    return (ask("select 100.0 * sum(case when line is null then 0 else refs end) / sum(refs) from site"),
            ask("select 100.0 * sum(case when kind = 'other' or name is null then 0 else refs end) / sum(refs) from object"))


def names(all_of):
    lines, objects = 100.0, 100.0
    for workload in all_of:
        Run(workload, "record")
        line, thing = named()
        print("%-18s with a line %6.2f %%, an object's name %6.2f %%" % (workload.name, line, thing))
        lines, objects = min(lines, line), min(objects, thing)
    judge("references without a line, %, the worst", 100 - lines, 1)
    judge("references without an object's name, %, the worst", 100 - objects, 5)


def compiling():
    seconds = {}
    for kind in ("native", "cc"):
        with open("%s/compile.%s" % (scratch, kind)) as times:
            seconds[kind] = interval(list(map(float, times)))[0]
        with open("%s/text.%s" % (scratch, kind)) as text:
            seconds["text " + kind] = float(text.read())
    judge("SQLite's compile time, of native %.1f s" % seconds["native"], seconds["cc"] / seconds["native"], 4)
    judge("SQLite's text, of native %.0f KiB" % (seconds["text native"] / 1024), seconds["text cc"] / seconds["text native"], 4)


def main():
    kernels, sqlite = workloads()
    everything = kernels + ([sqlite] if sqlite else [])
    for r in range(max(rounds, heavy)):
        for workload in everything:
            if r < rounds:
                workload.measure(QUICK, workload.quick, OF, r % 2)
            if r < heavy:
                workload.measure(HEAVY, workload.slow, OF, r % 2)
        print("round %d of %d" % (r + 1, max(rounds, heavy)), file=sys.stderr, flush=True)
    print("of native: median [95 %% interval], %d and %d rounds; MiB of memory" % (rounds, heavy))
    print("%-18s" % "", *("%-19s" % way for way in ("counting", "with operations", "drained", "record", "sets, all pairs",
                                                    "cachegrind")), " native count record all")
    for workload in everything:
        show(workload)
    middle = lambda ratios: interval(ratios)[0]
    if kernels:
        counts = [middle(k.quick["count"]) for k in kernels]
        judge("counting, geometric mean of the kernels", geomean(counts), 1.05)
        judge("counting, the worst kernel", max(counts), 1.15)
        with_ops = [middle(k.quick["ops"]) for k in kernels]
        judge("counting with operations, geometric mean of the kernels", geomean(with_ops), 1.10)
        print("%-56s %8.3f" % ("counting with operations, the worst kernel", max(with_ops)))
        judge("drained, geometric mean of the kernels", geomean([middle(k.quick["drain"]) for k in kernels]), 2.5)
    if kernels and heavy:
        judge("record, geometric mean of the kernels", geomean([middle(k.slow["record"]) for k in kernels]), 12)
        print("%-56s %8.3f" % ("record with sets and all pairs, geometric mean", geomean([middle(k.slow["all"]) for k in kernels])))
        print("%-56s %8.3f" % ("cachegrind, geometric mean", geomean([middle(k.slow["cachegrind"]) for k in kernels])))
    if sqlite:
        judge("counting, SQLite", middle(sqlite.quick["count"]), 1.30)
        print("%-56s %8.3f" % ("counting with operations, SQLite", middle(sqlite.quick["ops"])))
    if heavy:
        worst = max(everything, key=lambda w: middle(w.walls["record"]) / middle(w.walls["cachegrind"]))
        judge("record / cachegrind, the worst (%s)" % worst.name, middle(worst.walls["record"]) / middle(worst.walls["cachegrind"]), 1)
    if heavy:
        names(everything)
    if sqlite:
        compiling()
    sys.exit(missed)


main()
