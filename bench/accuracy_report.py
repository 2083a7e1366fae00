# SPDX-License-Identifier: GPL-2.0-or-later
"""What the measurements of accuracy.py amount to: tables, what watching costs by the piece, bars."""
import math
import textwrap

from accuracy_tables import (SUMMARY_HEADS, Bars, Table, by_way, cause, causes, count, figure, figures, interval, mean, middle,
                             present, summary)

PIECES = ["traps", "false_faults", "steps", "syscalls"]  # of the profile's table sampling


def ratio(m, what="cpu", over="native"):
    """Watched over native, of one round; nan where that was not run."""
    below = m["runs"].get(over)
    return m["runs"]["watched"][what] / below[what] if below and below[what] else math.nan


def counting(m):
    runs = m["runs"]
    return runs["cc"]["cpu"] / runs["native"]["cpu"] if "cc" in runs and "native" in runs else math.nan


def samples(m):
    return m["runs"]["watched"]["sampling"].get("samples") or 0


def memory(m):
    """MiB of program and recorder, at the same time, more than native."""
    run = m["runs"]["watched"]
    return run["both"] - m["runs"]["native"]["both"]


def excess(m):
    """MiB of that beyond what there may be."""
    return memory(m) - max(8, 0.07 * m["runs"]["native"]["both"])


def together(rounds):
    """The first of these measurements of one subject, how true the median of all is, and the least S of any."""
    accuracy = {}
    for distance, row in rounds[0]["accuracy"].items():
        accuracy[distance] = dict(row)
        for name in row:
            values = [m["accuracy"][distance][name] for m in rounds]
            if any(isinstance(value, (int, float)) for value in values):
                accuracy[distance][name] = middle(value for value in values if value is not None)
    return dict(rounds[0], accuracy=accuracy, effective=middle([m["effective"] or 0 for m in rounds]),
                least_s=min(figures(rounds, "time", "s_rdx"), default=math.nan))


def solve(rows, values):
    """Least squares by the normal equations; None for a column that says nothing."""
    n = len(rows[0]) if rows else 0
    used = [j for j in range(n) if any(row[j] for row in rows)]
    a = [[sum(row[i] * row[j] for row in rows) for j in used] + [sum(row[i] * v for row, v in zip(rows, values))]
         for i in used]
    for i in range(len(used)):
        pivot = max(range(i, len(used)), key=lambda r: abs(a[r][i]))
        a[i], a[pivot] = a[pivot], a[i]
        if abs(a[i][i]) < 1e-12:
            return [None] * n
        for r in range(len(used)):
            if r != i:
                factor = a[r][i] / a[i][i]
                a[r] = [x - factor * y for x, y in zip(a[r], a[i])]
    found = {j: a[i][-1] / a[i][i] for i, j in enumerate(used)}
    return [found.get(j) for j in range(n)]


class Report:
    def __init__(self, measurements, left, failures, commit):
        self.all, self.left, self.failures, self.commit = measurements, left, failures, commit
        self.tables = []
        if self.of("default"):
            self.tables += [self.cost("default", "By kernel, debug registers, 8-byte blocks, the default rate"),
                            self.truth("default", "How true that is")]
        if self.of("pages"):
            self.tables += [self.cost("pages", "By kernel, page protection, 64-byte blocks, the default rate"),
                            self.truth("pages", "How true that is")]
        for way in dict.fromkeys(m["way"] for m in self.all if m["way"].startswith("samples ")):
            self.tables.append(self.truth(way, "How true %s samples are" % way.split()[1]))
        self.tables += [t for t in (self.periods(), self.ways(), self.weights(), self.pieces(), self.shares()) if t.rows]
        self.tables.append(causes(self.each("default") + self.each("pages")))
        self.bars = self.judge()

    def of(self, way):
        return [m for m in self.all if m["way"] == way]

    def by(self, way):
        """The rounds of each subject."""
        found = {}
        for m in self.of(way):
            found.setdefault(m["subject"], []).append(m)
        return found

    def each(self, way):
        """One of each subject, for all its rounds."""
        return [together(rounds) for rounds in self.by(way).values()]

    def cost(self, way, title):
        table = Table(title, ["kernel", "pairs", "native", "counting", "watched", "95 %", "clock", "with recorder", "MiB", "more", "recorder",
                              "samples", "traps", "faults", "steps"],
                      "times of native, processor time of the program, medians; traps, faults and steps are per sample; "
                      "more: memory of program and recorder over native")
        for subject, rounds in self.by(way).items():
            watched = interval([ratio(m) for m in rounds])
            first, sampling = rounds[0], rounds[0]["runs"]["watched"]["sampling"]
            per = lambda what: "-" if sampling.get(what) is None else "%.2f" % (sampling[what] / max(samples(first), 1))
            table.add(subject, len(rounds), "%.2f s" % middle([m["runs"]["native"]["cpu"] for m in rounds]),
                      middle(present(counting(m) for m in rounds)), watched[0], "%.3f-%.3f" % watched[1:],
                      middle([ratio(m, "seconds") for m in rounds]), middle([ratio(m, "cpu_all") for m in rounds]),
                      "%.1f" % first["runs"]["native"]["own"], "%.1f" % middle([memory(m) for m in rounds]),
                      "%.1f" % first["runs"]["watched"]["recorder"], count(samples(first)),
                      per("traps"), per("false_faults"), per("steps"))
        return table

    def truth(self, way, title):
        table = Table(title, ["kernel", "samples", "worth", "time: S", "least", "S^", "beyond", "log2", "stack: S", "S^", "beyond",
                              "log2", "of the model", "points", "worst", "cause"],
                      "medians of the rounds but for the least S; S over RDX's 20 bins, S^ smoothed, beyond the first bin, over "
                      "powers of two; points: error of miss ratios")
        for m in self.each(way):
            time, stack = ([figure(m, d, n) for n in ("s_rdx", "s_rdx_smooth", "s_beyond", "s_log2")] for d in ("time", "stack"))
            table.add(m["subject"], count(samples(m)), count(m["effective"]), time[0], m["least_s"], *time[1:], *stack,
                      math.nan if m["model"] is None else float(m["model"]),
                      "%.2f" % figure(m, "stack", "mean_points"), "%.2f" % figure(m, "stack", "worst_points"), cause(m))
        return table

    def periods(self):
        table = Table("By period", ["period", "of", "counting", "watched", "worst", "samples"] + SUMMARY_HEADS)
        ways = sorted({m["way"] for m in self.all if m["way"].startswith("period ")}, key=lambda w: int(w.split()[1]))
        for way in ways:
            of = self.each(way)
            table.add(count(int(way.split()[1])), len(of), middle(present(counting(m) for m in of)), middle([ratio(m) for m in of]),
                      max(ratio(m) for m in of), count(middle([samples(m) for m in of])), *summary(of))
        return table

    def ways(self):
        ways = [w for w in dict.fromkeys(m["way"] for m in self.all) if w.split()[0] in ("watches", "replace", "no", "samples")]
        return by_way("By number of watches, replacement and number of samples", self.all, ways,
                      "watches and replacement at a period of 1 M; watches 4 and the reservoir are its row by period")

    def weights(self):
        table = Table("By replacement and weights, of the same samples", ["replace", "weights", "of"] + SUMMARY_HEADS)
        found = {}
        for m in self.all:
            for weights, accuracy in m.get("weights", {}).items():
                replace = m["way"].split()[1] if m["way"].startswith("replace") else "reservoir"
                found.setdefault((replace, weights), []).append(dict(m, accuracy=accuracy))
        for (replace, weights), of in found.items():
            table.add(replace, weights, len(of), *summary(of))
        return table

    def counted(self, m):
        """Seconds that counting alone takes: beside it, or as many times of native as elsewhere; nan if that is not known."""
        if "cc" in m["runs"]:
            return m["runs"]["cc"]["cpu"]
        known = present(counting(other) for other in self.all if other["subject"] == m["subject"])
        return m["runs"]["native"]["cpu"] * middle(known) if known and "native" in m["runs"] else math.nan

    def priced(self):
        """Measurements of which it is known what counting takes, what there was to do, and the least squares of that: seconds
        a sample, and a piece of each of PIECES."""
        known = [m for m in self.all if not math.isnan(self.counted(m))]
        rows = [[samples(m)] + [m["runs"]["watched"]["sampling"].get(p) or 0 for p in PIECES] for m in known]
        return known, rows, solve(rows, [m["runs"]["watched"]["cpu"] - self.counted(m) for m in known])

    def pieces(self):
        table = Table("What a piece costs", ["", "pieces", "least squares", "as it was timed"],
                      "of processor time, watched less counting, over all periods and kernels; timed by the collector itself")
        known, rows, prices = self.priced()
        timed = {"samples": "burst_ns", "traps": "trap_ns"}
        for i, piece in enumerate(["samples"] + PIECES if known else []):
            total = sum(row[i] for row in rows)
            apart = [(row[i], m["runs"]["watched"]["sampling"].get(timed.get(piece)) or 0)
                     for m, row in zip(known, rows) if not any(row[2:])]  # the time of traps is that of faults, too
            of, spent = (sum(column) for column in zip(*apart)) if apart else (0, 0)
            if total:
                table.add(piece, count(total), "-" if prices[i] is None else "%.1f us" % (1e6 * prices[i]),
                          "%.1f us" % (spent / 1e3 / of) if spent and of else "-")
        return table

    def shares(self):
        table = Table("What the overhead is made of, by period", ["period", "counting", "bursts", "traps", "rest", "all"],
                      "per cent of native processor time, means over kernels; bursts: what they take longer; traps: faults and "
                      "steps beside blocks, too")
        ways = sorted({m["way"] for m in self.all if m["way"].startswith("period ")}, key=lambda w: int(w.split()[1]))
        for way in [w for w in ["default", "pages"] + ways if self.of(w)]:
            of = [m for m in self.of(way) if "native" in m["runs"] and not math.isnan(self.counted(m))]
            if not of:
                continue
            share = lambda m, ns: 1e-7 * (m["runs"]["watched"]["sampling"].get(ns) or 0) / m["runs"]["native"]["cpu"]
            parts = [mean(100 * (self.counted(m) / m["runs"]["native"]["cpu"] - 1) for m in of), mean(share(m, "burst_ns") for m in of),
                     mean(share(m, "trap_ns") for m in of)]
            whole = mean(100 * (ratio(m) - 1) for m in of)
            name = count(int(way.split()[1])) if way in ways else way
            table.add(name, *("%.2f" % p for p in parts), "%.2f" % (whole - sum(parts)), "%.2f" % whole)
        return table

    def judge(self):
        bars = Bars()
        for way, title, kernel_bar, worst_bar in (("default", "registers", 1.05, 1.12), ("pages", "pages", 1.25, None)):
            rounds = self.by(way)
            kernels = {s: middle([ratio(m) for m in r]) for s, r in rounds.items() if s != "sqlite"}
            each = self.each(way)
            bars.most(title + ": overhead, median of the kernels", kernel_bar, middle(kernels.values()))
            if worst_bar:
                worst = max(kernels, key=kernels.get, default=None)
                bars.most("%s: overhead, worst (%s)" % (title, worst), worst_bar, kernels.get(worst))
                bars.most(title + ": overhead, SQLite", 1.35, middle([ratio(m) for m in rounds.get("sqlite", [])]))
                more = {s: middle([excess(m) for m in r]) for s, r in rounds.items()}
                worst = max(more, key=more.get, default=None)
                bars.most("%s: memory while it runs beyond +7 %% or 8 MiB, worst (%s)" % (title, worst), 0, more.get(worst), " MiB")
            self.size(bars, title, self.of(way))
            bars.least(title + ": time S, median", 0.97, middle(figures(each, "time", "s_rdx")))
            time_s = lambda m: figure(m, "time", "s_rdx") if figures([m], "time", "s_rdx") else 0  # none at all is no better
            worst = min(each, key=time_s, default=None)
            bars.least("%s: time S, worst median%s" % (title, " (%s)" % worst["subject"] if worst else ""), 0.90,
                       time_s(worst) if worst else None)
            bars.least(title + ": time S beyond the first bin, median", 0.90, middle(figures(each, "time", "s_beyond")))
            bars.least(title + ": stack S, median", 0.93, middle(figures(each, "stack", "s_rdx")))
            bars.least(title + ": stack S^, median", 0.97, middle(figures(each, "stack", "s_rdx_smooth")))
        for n, bar, worst_bar in ((20000, 0.5, 2), (1000, 1.5, None)):
            of = self.each("samples %d" % n)
            bars.most("miss ratios, %d samples: error, mean" % n, bar, mean(figures(of, "stack", "mean_points")), " points")
            if worst_bar:
                worst = max(of, key=lambda m: figure(m, "stack", "worst_points"), default=None)
                bars.most("miss ratios, %d samples: error, worst%s" % (n, " (%s)" % worst["subject"] if worst else ""), worst_bar,
                          figure(worst, "stack", "worst_points") if worst else None, " points")
        return bars

    def size(self, bars, title, of):
        """The number of the runs that bars are meant for, and how long they are: of the subject that has least."""
        long = {}
        for m in of:
            if m.get("seconds", 0) >= 20:
                long.setdefault(m["subject"], []).append(m)
        for what, bar, value in (("pairs", 9, len), ("native seconds, median", 20, lambda r: middle(m["runs"]["native"]["cpu"] for m in r)),
                                 ("samples, median", 2000, lambda r: middle(map(samples, r)))):
            found = {subject: value(rounds) for subject, rounds in long.items()}
            least = min(found, key=found.get, default=None)
            bars.least("%s: %s, least%s" % (title, what, " (%s)" % least if least else ""), bar, found.get(least))

    def verdict(self):
        kernels = [middle([ratio(m) for m in r]) for s, r in self.by("default").items() if s != "sqlite"]
        words = "Watching takes %.3f times native in the median of %d kernels; S of time distances is %.3f, of stack distances %.3f." % (
            middle(kernels), len(kernels), middle(figures(self.each("default"), "time", "s_rdx")),
            middle(figures(self.each("default"), "stack", "s_rdx"))) if kernels else "Nothing is measured."
        words += " " + self.bars.verdict()
        return words + (" %d measurements failed." % len(self.failures) if self.failures else "")

    def notes(self):
        notes = ["loci %s; %d measurements" % (self.commit, len(self.all))]
        machines = {}
        for m in self.all:
            where = m.get("machine", "unknown"), m.get("at_once", 1)
            machines[where] = machines.get(where, 0) + 1
        notes += ["%d of them on %s, %d at a time" % (n, *where) for where, n in machines.items()]
        if self.left:
            notes.append("%d are left to be made: run it again" % self.left)
        return notes + ["failed: " + f for f in self.failures]

    def text(self):
        parts = [textwrap.fill(self.verdict(), 100) + "\n", "\n".join(self.notes()) + "\n"]
        return "\n".join(parts + [t.text() for t in self.tables + [self.bars.table]])
