# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks exports of a profile against its schema and against the profile itself, read with
Python's own SQLite.   usage: export_check.py SCHEMA PROFILE EXPORT.json EXPORT.csv"""
import csv
import json
import sqlite3
import sys

import jsonschema

schema_path, profile_path, json_path, csv_path = sys.argv[1:]


def closed(node):
    """The schema with unknown members forbidden: what is exported must be documented."""
    if isinstance(node, dict):
        node = {key: closed(value) for key, value in node.items()}
        if "properties" in node and node.get("type") == "object":
            node["additionalProperties"] = False
    return [closed(item) for item in node] if isinstance(node, list) else node


schema = json.load(open(schema_path))
jsonschema.Draft202012Validator.check_schema(schema)
exported = json.load(open(json_path))
jsonschema.Draft202012Validator(closed(schema)).validate(exported)

db = sqlite3.connect(f"file:{profile_path}?mode=ro", uri=True)
db.row_factory = sqlite3.Row


def same(what, got, want):
    if got != want:
        sys.exit(f"{what}: got {got!r}, want {want!r}")


def edge(value):
    return None if value >= 2.0**64 else int(value)


run = dict(db.execute("SELECT run.*, processor AS machine, caches FROM run"
                      " LEFT JOIN machine ON machine.id = machine_id").fetchone())
run["references"] = run.pop("refs")
run["complete"] = bool(run["complete"])
del run["id"], run["machine_id"]
same("run", exported["run"], run)
same("grains", exported["grains"],
     [dict(row) for row in db.execute("SELECT * FROM grain ORDER BY block_bytes")])
same("threads", exported["threads"], [dict(row) for row in db.execute(
    "SELECT id, refs AS 'references' FROM thread ORDER BY id")])

# Every table: each row as the database has it, under the names that the schema gives.
for name, array in {"process": "processes", "inlined": "inlined_calls", "access": "accesses",
                    "shared_blocks": "shared_blocks"}.items() | {
        (t, t + "s") for t in ("module", "source", "excerpt", "function", "loop", "site", "context",
                               "object", "field", "piece", "pair", "level", "level_count", "block", "operation",
                               "invocation", "execution", "footprint", "memory_use",
                               "thread_group", "coherence", "sharing")}:
    wanted = []
    known = [row[1] for row in db.execute(f"PRAGMA table_info({name})")]
    for row in db.execute(f"SELECT * FROM {name}") if known else []:
        row = {column.replace("refs", "references").replace("column_number", "column"): value
               for column, value in dict(row).items() if column not in ("rank", "machine_id")}
        for column in ("coherence", "transfers") if name == "level_count" else ():
            row[column] = row.get(column) or 0
        for column in ("recycled",):
            if column in row:
                row[column] = bool(row[column])
        wanted.append(row)
    same(f"{array}", sorted(map(str, map(sorted, map(dict.items, exported[array])))),
         sorted(map(str, map(sorted, map(dict.items, wanted)))))


def key(h):
    return h["distance"], h["block_bytes"], h["set_bits"], h["owner"], h["owner_id"]


wanted = {}
for h in db.execute("SELECT * FROM histogram"):
    bins = [(edge(low), edge(high), weight, square) for low, high, weight, square in db.execute(
        "SELECT low, high, weight, square FROM bin WHERE histogram_id = ? ORDER BY low", (h["id"],))]
    wanted[key(h)] = (h["scheme"], bool(h["sampled"]), h["cold"], h["coherence"], bins)

found = {}
for h in exported["histograms"]:
    bins = [(b["low"], b["high"], b["weight"], b.get("square")) for b in h["bins"]]
    found[key(h)] = (h["scheme"], h["sampled"], h["cold"], h["coherence"], bins)
same("JSON histograms", found, wanted)
same("JSON histograms, number of", len(exported["histograms"]), len(wanted))

table = {}
rows = list(csv.DictReader(open(csv_path, newline="")))
for row in rows:
    same("CSV profile", row["profile"], exported["profile"])
    number = {name: float(row[name]) if row[name] else None for name in ("weight", "square")}
    k = (row["distance"], int(row["block_bytes"]), int(row["set_bits"]), row["owner"],
         int(row["owner_id"]))
    cold, coherence, bins = table.setdefault(k, [[], [], []])
    if row["kind"] == "reuse":
        bins.append((int(row["low"]), int(row["high"]) if row["high"] else None, number["weight"],
                     number["square"]))
    else:
        same("CSV edges", (row["low"], row["high"]), ("", ""))
        {"cold": cold, "coherence": coherence}[row["kind"]].append(number["weight"])
same("CSV histograms", {k: (h[0], h[1], h[2]) for k, h in table.items()},
     {k: ([h[2]], [h[3]], h[4]) for k, h in wanted.items()})
print(len(wanted), "histograms,", sum(len(h[4]) for h in wanted.values()), "bins agree")
