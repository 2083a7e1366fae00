# SPDX-License-Identifier: GPL-2.0-or-later
"""The report of accuracy.py as one page that needs nothing else: no scripts, no other files."""
import html
import math

from accuracy_report import ratio
from accuracy_tables import figure, numeric

STYLE = """
:root { color-scheme: light dark; --ink: #1a1a1a; --paper: #fff; --faint: #777; --rule: #ddd; --a: #1f6fb4; --b: #c2571a; --bad: #b00020 }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e6e6; --paper: #161616; --faint: #999; --rule: #3a3a3a; --a: #6db3f2; --b: #f0a060; --bad: #ff7b8a } }
body { color: var(--ink); background: var(--paper); font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.4rem } h2 { font-size: 1.05rem; margin-top: 2rem }
.table { overflow-x: auto }
table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums }
th, td { padding: .15rem .6rem; text-align: left; border-bottom: 1px solid var(--rule); white-space: nowrap }
th { color: var(--faint); font-weight: normal } td.n, th.n { text-align: right } td.missed { color: var(--bad); font-weight: bold }
p.note { color: var(--faint); font-size: 13px } svg { max-width: 100%; height: auto } svg text { fill: var(--ink); font: 12px system-ui, sans-serif }
svg .faint { fill: var(--faint) } svg line, svg polyline { stroke: var(--rule); fill: none }
"""


def cells(tag, row, right):
    return "".join("<%s%s>%s</%s>" % (tag, ' class="%s"' % c if c else "", html.escape(cell), tag)
                   for cell, c in ((cell, "missed" if cell == "missed" else "n" if r else "") for cell, r in zip(row, right)))


def table_html(table):
    right = [i > 0 and any(numeric(row[i]) for row in table.rows) for i in range(len(table.heads))]
    rows = "".join("<tr>%s</tr>" % cells("td", row, right) for row in table.rows)
    note = '<p class="note">%s</p>' % html.escape(table.note) if table.note else ""
    return '<h2>%s</h2><div class="table"><table><tr>%s</tr>%s</table></div>%s' % (
        html.escape(table.title), cells("th", table.heads, right), rows, note)


def dots(title, rows, low, high, bars):
    """A line for each name with dots on one scale; bars: (value, word) of vertical lines. A value may be nan."""
    wide, left, step = 760, 150, 18
    height = step * len(rows) + 46
    x = lambda v: left + (wide - left - 40) * (min(max(v, low), high) - low) / (high - low)
    out = ['<svg viewBox="0 0 %d %d" role="img" aria-label="%s">' % (wide, height, html.escape(title))]
    for value, word in bars:
        out.append('<line x1="%.1f" x2="%.1f" y1="18" y2="%d"/><text class="faint" x="%.1f" y="12" text-anchor="middle">%s</text>' % (
            x(value), x(value), height - 24, x(value), html.escape(word)))
    for i, (name, values) in enumerate(rows):
        y = 30 + step * i
        out.append('<text x="%d" y="%d" text-anchor="end">%s</text>' % (left - 10, y + 4, html.escape(name)))
        for value, colour in values:
            if not math.isnan(value):
                out.append('<circle cx="%.1f" cy="%d" r="4" fill="var(--%s)"><title>%s: %.3f</title></circle>' % (
                    x(value), y, colour, html.escape(name), value))
    for value in (low, high):
        out.append('<text class="faint" x="%.1f" y="%d" text-anchor="middle">%g</text>' % (x(value), height - 6, value))
    return "<h2>%s</h2>%s</svg>" % (html.escape(title), "".join(out))


def lines(title, series, bars):
    """Overhead in per cent, from 0, against the period, a line for each kernel; the period's scale is by powers."""
    periods = sorted({p for points in series.values() for p, _ in points})
    if len(periods) < 2:
        return ""
    wide, height, left = 760, 320, 60
    top = max([1.0] + [v for points in series.values() for _, v in points])
    x = lambda p: left + (wide - left - 150) * math.log(p / periods[0]) / math.log(periods[-1] / periods[0])
    y = lambda v: height - 40 - (height - 60) * min(max(v, 0), top) / top
    out = ['<svg viewBox="0 0 %d %d" role="img" aria-label="%s">' % (wide, height, html.escape(title))]
    for value, word in [(0, "0"), (top, "%.3g %%" % top)] + [b for b in bars if b[0] < top]:
        out.append('<line x1="%d" x2="%d" y1="%.1f" y2="%.1f"/><text class="faint" x="%d" y="%.1f" text-anchor="end">%s</text>' % (
            left, wide - 150, y(value), y(value), left - 6, y(value) + 4, html.escape(word)))
    for p in periods:
        out.append('<text class="faint" x="%.1f" y="%d" text-anchor="middle">%g M</text>' % (x(p), height - 18, p / 1e6))
    for name, points in series.items():
        points = sorted(points)
        out.append('<polyline points="%s" style="stroke: var(--a)"><title>%s</title></polyline>' % (
            " ".join("%.1f,%.1f" % (x(p), y(v)) for p, v in points), html.escape(name)))
        out.append('<text x="%.1f" y="%.1f">%s</text>' % (x(points[-1][0]) + 6, y(points[-1][1]) + 4, html.escape(name)))
    return "<h2>%s</h2>%s</svg>" % (html.escape(title), "".join(out))


def charts(report):
    each = report.each("default")
    made = []
    if each:
        rows = [(m["subject"], [(figure(m, "stack", "s_rdx"), "b"), (figure(m, "time", "s_rdx"), "a")]) for m in each]
        made.append(dots("S by kernel: time distances (blue), stack distances (orange)", rows, 0.5, 1.0, [(0.9, "0.9"), (0.97, "0.97")]))
        rows = [(s, [(ratio(m), "a") for m in rounds]) for s, rounds in report.by("default").items()]
        made.append(dots("Times of native by kernel, a dot a round", rows, 0.9, 1.5, [(1.0, "1"), (1.05, "1.05"), (1.12, "1.12")]))
    series = {}
    for m in report.all:
        if m["way"].startswith("period "):
            series.setdefault(m["subject"], []).append((m["period"], 100 * (ratio(m) - 1)))
    made.append(lines("Overhead against the period", series, [(5, "5 %"), (12, "12 %")]))
    return "".join(made)


def page(report):
    notes = "".join("<p class=\"note\">%s</p>" % html.escape(n) for n in report.notes())
    return ("<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">"
            "<title>loci: how true and how dear watching is</title><style>%s</style><h1>%s</h1>%s%s%s</html>\n" % (
                STYLE, html.escape(report.verdict()), notes, charts(report),
                "".join(table_html(t) for t in [report.bars.table] + report.tables)))
