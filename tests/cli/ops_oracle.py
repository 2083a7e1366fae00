# SPDX-License-Identifier: GPL-2.0-or-later
"""Recomputes what loci ops says of a profile by plain SQL.   usage: ops_oracle.py LOCI PROFILE"""
import csv
import io
import json
import math
import sqlite3
import subprocess
import sys

loci, path = sys.argv[1:]
db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
INT = ("int add", "int sub", "int mul", "int div", "int logic", "int shift", "int compare", "int other")
FLOAT = ("float add", "float mul", "float div", "float fma", "float sqrt", "float compare", "float other")
MEMORY, BULK = ("load", "store"), ("memset", "memcpy")
CONTROL = ("branch", "branch cond", "branch indirect", "switch", "return", "call", "call indirect")


def run(*args):
    return subprocess.run([loci, "ops", path, *args], check=True, capture_output=True, text=True).stdout


def same(what, got, want):
    if got != want and not (isinstance(got, float) and math.isclose(got, want, rel_tol=1e-12)):
        sys.exit(f"{path}: {what}: got {got!r}, want {want!r}")


def words(kinds):
    return "(" + ",".join(f"'{kind}'" for kind in kinds) + ")"


def total(times, where, what):
    """The sum over operations, weighted with executions. times: a table of block and times."""
    return db.execute(f"SELECT coalesce(sum(({what}) * times), 0) FROM operation JOIN ({times}) t"
                      f" ON t.block = block_id WHERE {where}").fetchone()[0]


def ratio(a, b):
    return a / b if b else None


WIDTH = ("CASE WHEN type = 'pointer' THEN 64 WHEN type IN ('int', 'other') OR type IS NULL THEN 0"
         " ELSE CAST(substr(type, 2) AS INTEGER) END")


def figures(times, blocks, ranges=True):
    """What a sum must be. blocks: the ids whose ranges count."""
    ops, flops = f"kind IN {words(INT + FLOAT)}", f"kind IN {words(FLOAT)}"
    ints, vector = f"kind IN {words(INT)}", f"lanes > 1 AND kind IN {words(INT + FLOAT)}"
    made = "count * lanes * CASE kind WHEN 'float fma' THEN 2 ELSE 1 END"
    sized = f"{vector} AND {WIDTH} > 0"
    want = {kind: total(times, f"kind = '{kind}'", "count") for kind in MEMORY + CONTROL + BULK}
    result = {
        "executions": db.execute(f"SELECT coalesce(sum(times), 0) FROM ({times})").fetchone()[0],
        "invocations": db.execute(f"SELECT coalesce(sum(times), 0) FROM ({times}) t JOIN block b"
                                  " ON b.id = t.block WHERE entry").fetchone()[0],
        "instructions": total(times, "1", "count"),
        "flops": total(times, flops, made), "int_ops": total(times, ints, made),
        "loads": want["load"], "stores": want["store"],
        "loaded_bytes": total(times, "kind = 'load'", "count * ((bits + 7) / 8)"),
        "stored_bytes": total(times, "kind = 'store'", "count * ((bits + 7) / 8)"),
        "op_bits": total(times, f"kind NOT IN {words(MEMORY + CONTROL + BULK)}", "count * bits"),
        "flop_bits": total(times, flops, "count * bits"),
        "unconditional_branches": want["branch"], "conditional_branches": want["branch cond"],
        "indirect_branches": want["branch indirect"], "other_branches": want["switch"] + want["return"],
        "calls": want["call"], "indirect_calls": want["call indirect"],
        "memset_calls": want["memset"], "memcpy_calls": want["memcpy"],
        "vector_ops": total(times, vector, "count"),
        "vector_flops": total(times, f"lanes > 1 AND {flops}", made),
        "vector_int_ops": total(times, f"lanes > 1 AND {ints}", made),
    }
    result["elements_per_vector"] = ratio(total(times, vector, "count * lanes"), result["vector_ops"])
    result["bits_per_element"] = ratio(total(times, sized, f"count * lanes * {WIDTH}"),
                                       total(times, sized, "count * lanes"))
    result["share_vectorised"] = ratio(result["vector_flops"] + result["vector_int_ops"],
                                       result["flops"] + result["int_ops"])
    moved = result["loaded_bytes"] + result["stored_bytes"]
    result["bytes_per_flop"] = ratio(moved, result["flops"])
    result["flops_per_byte"] = ratio(result["flops"], moved)
    result["memset_bytes"] = result["memcpy_bytes"] = 0 if ranges else None
    for loaded, stored, sets, copies in db.execute(
            "SELECT range_loaded_bytes, range_stored_bytes,"
            " EXISTS (SELECT 1 FROM operation WHERE block_id = b.id AND kind = 'memset'),"
            " EXISTS (SELECT 1 FROM operation WHERE block_id = b.id AND kind = 'memcpy')"
            f" FROM block b WHERE id IN ({blocks})") if ranges else ():
        copied = 0 if not copies else stored if not sets else min(loaded, stored)
        result["memcpy_bytes"] += copied
        result["memset_bytes"] += stored - copied if sets else 0
    result["mix"] = dict(db.execute(
        f"SELECT kind, sum(count * times) AS n FROM operation JOIN ({times}) t ON t.block = block_id"
        " GROUP BY kind HAVING n > 0").fetchall())
    return result


def check(what, got, want):
    for key, value in want.items():
        same(f"{what}: {key}", got[key], value)


WHOLE = "SELECT id AS block, executions AS times FROM block"
counts = db.execute("SELECT mode FROM run").fetchone()[0] == "count"
document = json.loads(run("--json"))["profile"]
whole = figures(WHOLE, "SELECT id FROM block", not counts)
check("whole", document["whole"], whole)

# CSV says the same.
rows = list(csv.reader(io.StringIO(run("--csv"))))
for name, value in rows[1:]:
    same(f"csv {name}", float(value) if value else None,
         None if whole[name] is None else float(whole[name]))
same("csv has all", {name for name, _ in rows[1:]} | {"mix"}, set(whole))

# By callee and type.
same("callees", [(row["name"], row["calls"]) for row in document["callees"]], db.execute(
    "SELECT callee, sum(count * executions) AS n FROM invocation JOIN block ON block.id = block_id"
    " GROUP BY callee ORDER BY n DESC, callee").fetchall())
counted = {name for name, in db.execute("SELECT coalesce(mangled, name) FROM function JOIN block ON"
                                        " function_id = function.id WHERE entry")}
for row in document["callees"]:
    same(f"{row['name']} is counted", row["counted"], row["name"] in counted)
what = (f"CASE WHEN kind IN {words(INT)} THEN 'int' WHEN kind IN {words(FLOAT)} THEN 'float'"
        " ELSE kind END")
same("types", sorted((row["what"], row["type"] or "", row["lanes"], row["instructions"], row["elements"],
                      row["bytes"] or 0) for row in document["types"]), sorted(db.execute(
    f"SELECT {what} AS what, coalesce(type, ''), lanes, sum(count * executions),"
    " sum(count * lanes * executions),"
    " sum(CASE WHEN kind IN ('load', 'store') THEN count * ((bits + 7) / 8) * executions ELSE 0 END)"
    f" FROM operation JOIN block ON block.id = block_id WHERE kind IN {words(MEMORY + INT + FLOAT)}"
    " GROUP BY 1, type, lanes").fetchall()))


def by(kind):
    return json.loads(run("--json", "--by", kind))["profile"]["rows"]


for row in by("function"):
    blocks = f"SELECT id FROM block WHERE function_id = {row['id']}"
    check(row["name"], row, figures(f"{WHOLE} WHERE id IN ({blocks})", blocks, not counts))
    same(f"distinct of {row['name']}", row["distinct"] and tuple(row["distinct"].values()), db.execute(
        "SELECT loaded_bytes, stored_bytes, touched_bytes, error FROM footprint WHERE owner = 'function'"
        f" AND owner_id = {row['id']}").fetchone())
for row in by("block"):
    check(row["name"], row, figures(f"{WHOLE} WHERE id = {row['id']}", str(row["id"]), not counts))
same("blocks", len(by("block")), db.execute("SELECT count(*) FROM block").fetchone()[0])
same("order", *(lambda n: (n, sorted(n, reverse=True)))([r["instructions"] for r in by("function")]))

# A context has what is below it.
for kind in () if counts else ("context", "region"):
    if not db.execute(f"SELECT count(*) FROM {kind}").fetchone()[0]:
        continue
    seen = 0
    for row in by(kind):
        if "id" in row:
            below = (f"WITH RECURSIVE b(id) AS (SELECT {row['id']} UNION ALL SELECT c.id FROM {kind} c"
                     f" JOIN b ON c.parent_id = b.id) SELECT id FROM b")
            where = f"{kind}_id IN ({below})"
            own = f"{kind}_id = {row['id']}"
        else:
            where = own = f"{kind}_id IS NULL"
        times = "SELECT block_id AS block, sum(executions) AS times FROM execution WHERE {} GROUP BY 1"
        check(f"{kind} {row['name']}", row, figures(times.format(where), "NULL", False))
        same(f"own of {row['name']}", row["own_instructions"],
             total(times.format(own), "1", "count"))
        seen += row["own_instructions"]
    same(f"all of {kind}s", seen, total("SELECT block_id AS block, sum(executions) AS times"
                                        " FROM execution GROUP BY 1", "1", "count"))


# The screen says the same, to three digits.
def shown(n):
    for scale, letter in ((1e12, " T"), (1e9, " G"), (1e6, " M"), (1e3, " k")):
        if n >= scale * 0.9995:
            n /= scale
            digits = 0 if n == int(n) else 2 if n < 9.995 else 1 if n < 99.95 else 0
            return f"{n:.{digits}f}{letter}"
    return str(n)


screen = run()
for value, label in ((whole["flops"], "floating-point operations"), (whole["int_ops"], "integer operations"),
                     (whole["loads"] + whole["stores"], "memory operations"),
                     (sum(whole[f"{kind}_branches"] for kind in ("unconditional", "conditional", "indirect", "other")),
                      "branches"),
                     (whole["calls"] + whole["indirect_calls"], "calls (")):
    line = next(line for line in screen.splitlines() if "  " + label in line)
    same(label, line.strip().split("  ")[0], shown(value))

# Median and median deviation of the distances, from the bins.
hist = db.execute("SELECT id, block_bytes FROM histogram WHERE owner = 'whole' AND distance = 'stack'"
                  " ORDER BY block_bytes != 64 LIMIT 1").fetchone()
if hist:
    bins = db.execute("SELECT (low + high - 1) / 2.0, (high - 1 - low) / 2.0, weight FROM bin"
                      " WHERE histogram_id = ?", hist[:1]).fetchall()

    def median(spots):
        half, reached = sum(w for _, _, w in spots) / 2, 0
        for at, width, weight in sorted(spots):
            reached += weight
            if reached >= half:
                return at, width

    if bins:
        at, width = median(bins)
        mad, _ = median([(abs(a - at), w, n) for a, w, n in bins])
        got = document["stack_distance"]
        same("median", float(got["median_bytes"]), at * hist[1])
        same("its error", float(got["median_error_bytes"]), width * hist[1])
        same("MAD", float(got["mad_bytes"]), mad * hist[1])
else:
    same("no distances", document["stack_distance"], None)
for row, (percent, size) in zip(document["memory_use"], db.execute("SELECT * FROM memory_use ORDER BY 1")):
    same("memory use", (row["percent"], row["bytes"]), (percent, size))
footprint = db.execute("SELECT loaded_bytes, stored_bytes, touched_bytes, error FROM footprint"
                       " WHERE owner = 'whole'").fetchone()
same("distinct", document["distinct"] and tuple(document["distinct"].values()), footprint)
