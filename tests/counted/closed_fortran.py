# SPDX-License-Identifier: GPL-2.0-or-later
"""What the procedures of closed_fortran.f90 refer to, by formula, against a profile.

	closed_fortran.py PROFILE LEVEL N    compares; prints what differs and fails

LEVEL is O0 or opt, which is every other. A form is (bytes loaded, bytes stored) of an array by a
procedure; all that a procedure does to arrays on the heap and to the table is listed, so that anything
else is a mistake."""
import sqlite3
import sys

# procedure: object: form. An object may be a pair by level.
FORMS = {
    "fill": {"forms::table": lambda n: (0, 8 * 64 * 32)},
    "loop": {"x": lambda n: (0, 8 * n), "y": lambda n: (8 * n, 0), "z": lambda n: (8 * n, 0)},
    "whole": {("allocated in forms::whole", "x"): lambda n: (0, 8 * n),
              "y": lambda n: (8 * n, 0), "z": lambda n: (8 * n, 0)},
    "strided": {"x": lambda n: (0, 8 * ((n + 2) // 3)), "y": lambda n: (8 * ((n + 2) // 3), 0)},
    "section": {"a": lambda n: (8 * ((n + 1) // 2), 0), "x": lambda n: (0, 8 * ((n + 1) // 2))},
    "turn": {"a": lambda n: (0, 8 * n * n), "b": lambda n: (8 * n * n, 0)},
    "derived": {"points": lambda n: (16 * n, 4 * n)},
    "allocating": {"room": lambda n: (8 * n, 8 * n)},
    "intrinsics": {(None, "x"): lambda n: (8 * n, 0)},
}
# Without optimisation the scalars are in memory, too: references of the procedure, loads and stores.
# A loop of m rounds loads its variable m times to step it and stores it m + 1 times.
ALL = {"fill": (3 * 64 * 32 + 32, 64 * 32 + 32 * 65 + 33)}


def main():
    path, level, n = sys.argv[1:]
    profile = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
    got = {}
    for procedure, name, op, bytes_ in profile.execute(
            """select substr(function.name, 8), object.name, op, sum(access.refs * site.size_bytes)
               from site join function on site.function_id = function.id join access on site_id = site.id
               join object on access.object_id = object.id
               where function.name like 'forms::%' and object.kind in ('heap', 'global') group by 1, 2, 3"""):
        form = got.setdefault((procedure, name), [0, 0])
        form[op == "store"] += bytes_
    want = {}
    for procedure, objects in FORMS.items():
        for name, form in objects.items():
            if isinstance(name, tuple):
                name = name[level != "O0"]
            if name:
                want[(procedure, name)] = list(form(int(n)))
    wrong = ["%s, %s: %s bytes, want %s" % (*key, got.get(key), want.get(key))
             for key in sorted(got.keys() | want.keys()) if got.get(key) != want.get(key)]
    for procedure, form in ALL.items() if level == "O0" else ():
        refs = tuple(profile.execute(
            """select sum(refs) from site join function on function_id = function.id
               where name = ? and op = ?""", ("forms::" + procedure, op)).fetchone()[0] for op in ("load", "store"))
        if refs != form:
            wrong.append("%s: %s loads and stores, want %s" % (procedure, refs, form))
    lost = profile.execute("""select count(*) from site join function on function_id = function.id
        where name like 'forms::%' and ifnull(site.line, 0) = 0 and refs > 0""").fetchone()[0]
    if lost:
        wrong.append("%d sites have no line" % lost)
    print("\n".join(wrong))
    return bool(wrong)


sys.exit(main())
