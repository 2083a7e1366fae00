# SPDX-License-Identifier: GPL-2.0-or-later
"""What the functions of closed_forms.c and closed_classes.cpp refer to, by formula, against a profile.

	closed_forms.py list LEVEL              the names to run that have formulas for a level
	closed_forms.py PROFILE LEVEL NAME N    compares; prints what differs and fails

LEVEL is O0 or opt, which is every other. A form is (loads, stores, bytes loaded, bytes stored); None
where the code, not the source, decides. At level O0, by mention: a loop over i to n makes n + 1 tests
of two loads and n steps of a load and a store, and one store at the beginning; a parameter is a
store."""
import sqlite3
import sys


def fib(k):
    a, b = 0, 1
    for _ in range(k):
        a, b = b, a + b
    return a


def third(n):
    return (n + 2) // 3


# The function as the profile names it: level: form. More than one where a run has several.
FORMS = {
    "triad": {"triad": {
        "O0": lambda n: (12 * n + 2, 2 * n + 6, 72 * n + 8, 12 * n + 40),
        "opt": lambda n: (2 * n, n, 16 * n, 8 * n)}},
    "vectors": {"vectors": {  # vectors of any length, and what is left over one by one
        "opt": lambda n: (None, None, 16 * n, 8 * n)}},
    "product": {"product": {
        "O0": lambda n: (14 * n**3 + 10 * n**2 + 5 * n + 2, 2 * n**3 + 4 * n**2 + 2 * n + 5,
                         76 * n**3 + 48 * n**2 + 20 * n + 8, 12 * n**3 + 24 * n**2 + 8 * n + 32),
        "opt": lambda n: (2 * n**3, n**2, 16 * n**3, 8 * n**2)}},
    "stencil": {"stencil": {
        "O0": lambda n: (27 * (n - 2)**2 + 5 * (n - 2) + 2, 2 * (n - 2)**2 + 2 * (n - 2) + 4,
                                 144 * (n - 2)**2 + 20 * (n - 2) + 8, 12 * (n - 2)**2 + 8 * (n - 2) + 24),
        "opt": lambda n: (4 * (n - 2)**2, (n - 2)**2, 32 * (n - 2)**2, 8 * (n - 2)**2)}},
    "list": {"list": {
        "O0": lambda n: (6 * n + 3, 2 * n + 3, 48 * n + 24, 16 * n + 24),
        "opt": lambda n: (2 * n, 0, 16 * n, 0)}},
    "ranges": {"ranges": {  # a range is one reference, and its site has no size
        "O0": lambda n: (6, 6, None, None),
        "opt": lambda n: (1, 2, 0, 0)}},
    "fibonacci": {"fibonacci": {  # fib(n + 1) calls reach the bottom, one fewer do not
        "O0": lambda n: (7 * fib(n + 1) - 4, 4 * fib(n + 1) - 2, 56 * fib(n + 1) - 32, 32 * fib(n + 1) - 16),
        "opt": lambda n: (0, 0, 0, 0)}},
    "atomics": {"atomics": {  # a read-modify-write is a load and a store
        "opt": lambda n: (n, n, 8 * n, 8 * n)}},
    "exchanges": {"exchanges": {
        "opt": lambda n: (n, n, 8 * n, 8 * n)}},
    "branches": {"branches": {
        "opt": lambda n: (2 * third(n), n - third(n), 16 * third(n), 8 * (n - third(n)))}},
    "chosen": {"chosen": {
        "opt": lambda n: (n, (n + 3) // 4 + (n + 1) // 4, 8 * n, 8 * ((n + 3) // 4 + (n + 1) // 4))}},
    "calls": {"calls": {"opt": lambda n: (3 * n, 0, 24 * n, 0)},
              "square::area": {"opt": lambda n: (2 * n, 0, 16 * n, 0)}},
    "sum": {"sum<long>": {"opt": lambda n: (n, 0, 8 * n, 0)}},
    "throwing": {"throwing": {"opt": lambda n: (n, 0, 8 * n, 0)},
                 "step": {"opt": lambda n: (None, n - third(n), None, 8 * (n - third(n)))}},
}
PARTS = ("loads", "stores", "bytes loaded", "bytes stored")


def counted(profile, function):
    """As the profile has it; a name may go on with parameters, and before it stands what it returns."""
    rows = profile.execute(
        """select op, sum(site.refs), sum(site.refs * size_bytes) from site join function on function_id = function.id
           where name = ?1 or name like ?1 || '(%' or name like '% ' || ?1 || '(%' group by op""", (function,)).fetchall()
    by = {op: (refs, bytes_) for op, refs, bytes_ in rows}
    load, store = by.get("load", (0, 0)), by.get("store", (0, 0))
    return load[0], store[0], load[1], store[1]


def main():
    if sys.argv[1] == "list":
        print(" ".join(name for name, of in FORMS.items() if any(sys.argv[2] in levels for levels in of.values())))
        return 0
    path, level, name, n = sys.argv[1:]
    profile = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
    failed = 0
    for function, levels in FORMS[name].items():
        if level not in levels:
            continue
        for part, want, got in zip(PARTS, levels[level](int(n)), counted(profile, function)):
            if want is not None and want != got:
                print("%s, n = %s: %s %s, want %s" % (function, n, got, part, want))
                failed = 1
    return failed


sys.exit(main())
