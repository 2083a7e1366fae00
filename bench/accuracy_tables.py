# SPDX-License-Identifier: GPL-2.0-or-later
"""What measurements of watched samples say, as tables: of a program that runs (accuracy.py) and of
streams that are replayed (accuracy_replay.py).

A measurement is a dictionary: `subject`, the kernel or stream; `way`, how it was sampled; `accuracy`, the rows
of `loci diff --accuracy --json` by kind of distance; `effective`, how many samples of one weight the
samples are worth; `model`, S of the exact stack distances against those made of exact time distances."""
import math

LOW = 0.9  # below which RDX looks for a cause
RDX_BINS = 20


def middle(values):
    v = sorted(values)
    return (v[(len(v) - 1) // 2] + v[len(v) // 2]) / 2 if v else math.nan


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else math.nan


def interval(values):
    """The median, and the order statistics around it that hold it with 95 %; of fewer than six values the
    least and the greatest."""
    v = sorted(values)
    n, k, tail = len(v), 0, 0.0
    while k < n // 2:
        tail += math.comb(n, k) / 2**n
        if tail > 0.025:
            break
        k += 1
    low = max(k - 1, 0)
    return middle(v), v[low], v[n - 1 - low]


def present(values):
    return [v for v in values if v is not None and not math.isnan(v)]


class Table:
    """Heads and rows of cells, for a terminal and for a page. What is no number stands to the left."""

    def __init__(self, title, heads, note=""):
        self.title, self.heads, self.note, self.rows = title, heads, note, []

    def add(self, *cells):
        self.rows.append([cell if isinstance(cell, str) else number(cell) for cell in cells])

    def text(self):
        wide = [max(len(row[i]) for row in [self.heads] + self.rows) for i in range(len(self.heads))]
        left = [i == 0 or not any(numeric(row[i]) for row in self.rows) for i in range(len(self.heads))]
        line = lambda row: "  ".join(c.ljust(w) if l else c.rjust(w) for c, w, l in zip(row, wide, left)).rstrip()
        lines = [self.title, ""] + ["  " + line(row) for row in [self.heads] + self.rows]
        return "\n".join(lines + (["", "  " + self.note] if self.note else [])) + "\n"


def number(value):
    if value is None or math.isnan(value):
        return "-"
    return "%d" % value if isinstance(value, int) else "%.3f" % value


def numeric(cell):
    return cell[:1].isdigit() or cell[:1] in "+-" and cell[1:2].isdigit()


def count(value):
    """1234567 as 1.23 M."""
    for scale, unit in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if value >= scale:
            return "%.3g%s" % (value / scale, unit)
    return "%.3g" % value


def figure(measurement, distance, name):
    """Of the accuracy; where nothing lies beyond a bin there is nothing to be wrong about."""
    value = measurement["accuracy"].get(distance, {}).get(name)
    return math.nan if value is None else float(value)


def figures(measurements, distance, name):
    return present(figure(m, distance, name) for m in measurements)


def off_by_one(measurement, distance):
    """Whether averages of neighbouring bins agree far better: a shift by one bin halves its error, at least."""
    s, smooth = (figure(measurement, distance, n) for n in ("s_rdx", "s_rdx_smooth"))
    return s < LOW and (smooth >= LOW or 1 - smooth <= 0.55 * (1 - s))


def cause(measurement):
    """RDX's decision tree (figure 5) for a poor result. The last leaf is not scatter: with so many samples S should be
    higher (Wilson's bound over all bins)."""
    stack, time = (figure(measurement, d, "s_rdx") for d in ("stack", "time"))
    model = measurement.get("model")
    if not (stack < LOW or time < LOW):
        return ""
    if off_by_one(measurement, "time") or time >= LOW and off_by_one(measurement, "stack"):
        return "off by one bin"
    if time >= LOW and (model is None or model < LOW):
        return "model"
    effective = measurement.get("effective") or 0
    if min(stack, time) >= 1 - 0.98 * math.sqrt(RDX_BINS / max(effective, 1)):
        return "sparse samples"
    return "biased samples"


def causes(measurements):
    """The tree's leaves."""
    table = Table("Why S is below %g" % LOW, ["cause", "results", "which"],
                  "off by one bin: smoothed S is far better; model: exact time distances give no better ones; sparse: within the "
                  "error of so few samples; biased: beyond it")
    found = {}
    for m in measurements:
        if cause(m):
            found.setdefault(cause(m), []).append(m["subject"])
    for name, subjects in sorted(found.items()):
        table.add(name, len(subjects), ", ".join(sorted(set(subjects))))
    table.add("none is", len(measurements) - sum(map(len, found.values())), "")
    return table


SUMMARY = [("time", "s_log2"), ("time", "s_rdx"), ("time", "s_beyond"), ("stack", "s_log2"), ("stack", "s_rdx"),
           ("stack", "s_rdx_smooth")]
SUMMARY_HEADS = ["time: log2 mean", "worst", "S median", "beyond", "stack: log2 mean", "S median", "S^ median", "points mean",
                 "worst"]


def summary(measurements):
    """A row of SUMMARY_HEADS."""
    log2, s, beyond, stack_log2, stack_s, stack_smooth = (figures(measurements, d, n) for d, n in SUMMARY)
    return [mean(log2), min(log2, default=math.nan), middle(s), middle(beyond), mean(stack_log2), middle(stack_s),
            middle(stack_smooth), mean(figures(measurements, "stack", "mean_points")),
            max(figures(measurements, "stack", "worst_points"), default=math.nan)]


def by_way(title, measurements, ways, note=""):
    """What each way of sampling is worth, over all subjects."""
    table = Table(title, ["", "of"] + SUMMARY_HEADS, note)
    for way in ways:
        of = [m for m in measurements if m["way"] == way]
        if of:
            table.add(way, len(of), *summary(of))
    return table


def by_subject(title, measurements, ways, distance, name, note=""):
    """One figure, of each subject and way."""
    table = Table(title, [""] + list(ways), note)
    for subject in dict.fromkeys(m["subject"] for m in measurements):
        of = {m["way"]: m for m in measurements if m["subject"] == subject}
        table.add(subject, *(figure(of[way], distance, name) if way in of else math.nan for way in ways))
    return table


class Bars:
    """Bounds, held or missed. What has not been measured is neither."""

    def __init__(self):
        self.table = Table("Bars", ["", "bar", "measured", ""])
        self.missed, self.held, self.open = [], 0, 0

    def most(self, what, bar, value, unit=""):
        self.judge(what, "at most %g%s" % (bar, unit), value, unit, lambda: value <= bar)

    def least(self, what, bar, value):
        self.judge(what, "at least %g" % bar, value, "", lambda: value >= bar)

    def within(self, what, low, high, value):
        self.judge(what, "%g to %g" % (low, high), value, "", lambda: low <= value <= high)

    def judge(self, what, bar, value, unit, holds):
        if value is None or math.isnan(value):
            self.open += 1
            self.table.add(what, bar, "-", "not measured")
            return
        good = holds()
        self.held += good
        if not good:
            self.missed.append(what)
        self.table.add(what, bar, "%.3f%s" % (value, unit), "pass" if good else "missed")

    def verdict(self):
        known = len(self.missed) + self.held
        words = "%d of %d bars are missed: %s." % (len(self.missed), known, "; ".join(self.missed)) if self.missed else \
            "All %d bars hold." % known
        return words + (" %d were not measured." % self.open if self.open else "")
