# SPDX-License-Identifier: GPL-2.0-or-later
"""many_owners.py PROFILE N: after many_sites.py, gives its sites N objects, contexts in a tree and pairs,
each with a histogram of four bins and counts at three levels, and the run eight threads."""
import random
import sqlite3
import sys

FIRST = 1000  # as many_sites.py has it
BLOCK_BYTES = 64

random.seed(2)
db = sqlite3.connect(sys.argv[1])
db.execute("PRAGMA synchronous = OFF")
count = int(sys.argv[2])
ids = range(FIRST, FIRST + count)
last_site, = db.execute("SELECT max(id) FROM site").fetchone()
last_function, = db.execute("SELECT max(id) FROM function").fetchone()


def site():
    return random.randint(FIRST, last_site)


db.executemany(
    "INSERT INTO context (id, parent_id, function_id, source_id, line, refs) VALUES (?, ?, ?, 1, ?, 1000)",
    ((i, random.randint(max(FIRST, i - 300), i - 1) if i > FIRST else None,
      random.randint(FIRST, last_function), i) for i in ids))
db.executemany(
    "INSERT INTO object (id, kind, name, type, size_bytes, allocations, source_id, line, refs)"
    " VALUES (?, 'heap', ?, 'double[]', ?, 1, 1, ?, 1000)",
    ((i, f"array_{i}", 64 * i, i) for i in ids))
db.executemany("UPDATE access SET object_id = ? WHERE id = ?",
               ((FIRST + (i * 7919) % count, i) for i in range(FIRST, last_site + 1)))
db.executemany(
    "INSERT INTO pair (id, use_site_id, reuse_site_id, object_id, kind, use_context_id,"
    " reuse_context_id, common_context_id, refs) VALUES (?, ?, ?, ?, 'RAW', ?, ?, ?, 1000)",
    ((i, site(), site(), i, i, FIRST, FIRST) for i in ids))
db.executemany("INSERT INTO thread (id, process_id, refs) SELECT ?, process_id, 1000 FROM thread LIMIT 1",
               ((FIRST + i,) for i in range(8)))
first, = db.execute("SELECT max(id) + 1 FROM histogram").fetchone()
for owner in ("object", "context", "pair"):
    counts = []
    for i in ids:
        misses = random.randrange(9, 1000)
        counts += ((level, owner, i, 1000 - misses, misses // divisor)
                   for level, divisor in ((1, 1), (2, 3), (3, 9)))
    db.executemany(
        "INSERT INTO level_count (level_id, owner, owner_id, first_hits, misses, writebacks)"
        " VALUES (?, ?, ?, ?, ?, 0)", counts)
    db.executemany(
        "INSERT INTO histogram (id, owner, owner_id, distance, block_bytes, set_bits, scheme, sampled,"
        " cold, coherence) VALUES (?, ?, ?, 'stack', ?, 0, 'coarse', 0, 1, 0)",
        ((first + i - FIRST, owner, i, BLOCK_BYTES) for i in ids))
    db.executemany(
        "INSERT INTO bin (histogram_id, low, high, weight) VALUES (?, ?, ?, 100)",
        ((first + i - FIRST, 2 ** b, 2 ** b + 2 ** (b - 2)) for i in ids for b in random.sample(range(4, 18), 4)))
    first += count
db.commit()
