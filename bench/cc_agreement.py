# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernels' miss ratios from code that loci cc compiled, against those from Valgrind's view of the
same source natively compiled:

	cc_agreement.py LOCI KERNELS_CC KERNELS_NATIVE SCRATCH [NAME:VARIANT[:SIZE]..]

at every power-of-two size of a fully associative LRU cache with 64-byte lines, in points (per cent of
references). Of Valgrind's references those of the program's own functions are taken: what the loader and
libraries do, loci cc does not see. What Valgrind sees of them and the compiler's pass does not
(registers saved and spilled, constants, return addresses) mostly hits: it lowers the ratio and adds few
misses, but in caches of a few lines, where the stack's line comes between others. So a row has

	own	the greatest difference from 1 KiB on, each side's misses by its own references
	refs	Valgrind's references by those of cc: what makes up for most of `own`
	same	the greatest difference from 1 KiB on, the misses of both by the references of cc
	tiny	the same below 1 KiB

and how many sizes are within 2 points by `own`. Fails if a kernel has more than 2 points in `same`."""
import sqlite3
import subprocess
import sys

loci, watched, native, scratch = sys.argv[1:5]
wanted = [w.split(":") for w in sys.argv[5:]]
POINTS = 2.0
FIRST = 4 # of the sizes: 1 KiB
SIZES = [64 << k for k in range(21)]
OWN = ""


def functions():
    """Those that the program itself has, as patterns."""
    listed = subprocess.run(["nm", "--demangle", "--defined-only", native], capture_output=True, text=True, check=True).stdout
    names = [line.split(" ", 2)[2].split("(")[0] if "<" not in line else line.split(" ", 2)[2]
             for line in listed.splitlines() if line.split(" ", 2)[1] in "tTW"]
    return ",".join(sorted({name.replace(",", "?") for name in names if not name.startswith("_")}))


def record(collector, program, arguments):
    path = "%s/%s.loci" % (scratch, collector)
    own = ["--no-kernel", "--only", OWN] if collector == "any" else []
    subprocess.run([loci, "record", "-q", "--collector", collector, "--pairs", "none"] + own + ["-o", path, "--", program] +
                   arguments, check=True, stdout=subprocess.DEVNULL)
    return sqlite3.connect("file:%s?mode=ro" % path, uri=True)


def misses(profile):
    """Total, and those at each size."""
    row, cold = profile.execute("select id, cold from histogram where owner = 'whole' and distance = 'stack'"
                                " and block_bytes = 64").fetchone()
    bins = profile.execute("select low, weight from bin where histogram_id = ?", (row,)).fetchall()
    total = cold + sum(weight for _, weight in bins)
    return total, [cold + sum(weight for low, weight in bins if low >= size // 64) for size in SIZES]


def greatest(differences, sizes):
    worst = max(sizes, key=lambda i: abs(differences[i]))
    return "%6.2f at %-8s" % (differences[worst], in_words(SIZES[worst])), abs(differences[worst])


def in_words(size):
    return "%d B" % size if size < 1024 else "%d KiB" % (size >> 10) if size < 1 << 20 else "%d MiB" % (size >> 20)


def compare(name, variant, size):
    arguments = [name, variant, size, "1"]
    total, ours = misses(record("cc", watched, arguments))
    other_total, theirs = misses(record("any", native, arguments))
    own = [100 * (o / total - t / other_total) for o, t in zip(ours, theirs)]
    same = [100 * (o - t) / total for o, t in zip(ours, theirs)]
    tiny, real = range(FIRST), range(FIRST, len(SIZES))
    by_own, _ = greatest(own, real)
    by_same, worst = greatest(same, real)
    print("%-10s %-8s %s %5.2f  %s  %s %2d of %d" % (
        name, variant, by_own, other_total / total, by_same, greatest(same, tiny)[0],
        sum(abs(d) <= POINTS for d in own), len(SIZES)), flush=True)
    return worst <= POINTS


def main():
    listed = subprocess.run([native, "list"], capture_output=True, text=True, check=True).stdout.split("\n")
    global OWN
    OWN = functions()
    failed = 0
    print("%-19s %6s %-11s %5s  %6s %-11s  %6s %-10s within" % ("kernel", "own", "", "refs", "same", "", "tiny", ""))
    for line in filter(None, listed):
        name, variant, size, _ = line.split()
        if name == "unwritten":
            continue
        chosen = [w for w in wanted if w[:2] == [name, variant]]
        if wanted and not chosen:
            continue
        failed |= not compare(name, variant, chosen[0][2] if chosen and len(chosen[0]) > 2 else size)
    return failed


sys.exit(main())
