# SPDX-License-Identifier: GPL-2.0-or-later
"""many_sites.py PROFILE N: adds N sites to a profile that has dimensions, 20 to a function and 3 to a
line, each with an access, a histogram of six bins and counts at three levels."""
import random
import sqlite3
import sys

FIRST = 1000


def edge(number):
    """Where a bin of a coarse histogram begins."""
    if number < 16:
        return number
    return (4 + (number - 16) % 4) << ((number - 16) // 4 + 2)


random.seed(1)
db = sqlite3.connect(sys.argv[1])
db.execute("PRAGMA synchronous = OFF")
ids = range(FIRST, FIRST + int(sys.argv[2]))
db.executemany(
    "INSERT INTO function (id, module_id, name, source_id, line) VALUES (?, 1, ?, 1, ?)",
    ((FIRST + i, f"function_{i}", i + 1) for i in range(len(ids) // 20 + 1)))
db.executemany(
    "INSERT INTO site (id, site_key, function_id, source_id, line, op, size_bytes, code_offset, refs)"
    " VALUES (?, ?, ?, 1, ?, 'load', 8, ?, 1000)",
    ((i, f"key {i}", FIRST + (i - FIRST) // 20, i // 3, 4 * i) for i in ids))
db.executemany(
    "INSERT INTO access (id, site_id, object_id, refs, stride_bytes, regular_refs, fills, used_bytes)"
    " VALUES (?, ?, ?, 1000, 8, 900, 100, 3000)", ((i, i, 1 + i % 5) for i in ids))
counts = []
for i in ids:
    misses = random.randrange(9, 1000)
    for level, divisor in ((1, 1), (2, 3), (3, 9)):
        for owner in ("site", "access"):
            counts.append((level, owner, i, 1000 - misses, misses // divisor))
db.executemany(
    "INSERT INTO level_count (level_id, owner, owner_id, first_hits, misses, writebacks)"
    " VALUES (?, ?, ?, ?, ?, 0)", counts)
first = db.execute("SELECT max(id) + 1 FROM histogram").fetchone()[0]
db.executemany(
    "INSERT INTO histogram (id, owner, owner_id, distance, block_bytes, set_bits, scheme, sampled, cold,"
    " coherence) VALUES (?, 'site', ?, 'stack', 64, 0, 'coarse', 0, 1, 0)",
    ((first + i - FIRST, i) for i in ids))
db.executemany(
    "INSERT INTO bin (histogram_id, low, high, weight) VALUES (?, ?, ?, 100)",
    ((first + i - FIRST, edge(b), edge(b + 1)) for i in ids for b in random.sample(range(60), 6)))
db.commit()
