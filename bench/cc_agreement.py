# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernels' miss ratios from code that loci cc compiled, against those from Valgrind's view of the
same source natively compiled:

	cc_agreement.py LOCI KERNELS_CC KERNELS_NATIVE SCRATCH [NAME:VARIANT[:SIZE]..]

at every power-of-two size of a fully associative LRU cache with 64-byte lines. A row is a kernel; the
greatest difference, in points, and where; fails where it is above 2. What Valgrind sees and the
compiler's pass does not (registers saved and spilled, constants, return addresses, libraries) are
references that mostly hit: they lower the ratio and change few misses. The last columns tell the two
apart: references of the one to those of the other, and the same differences with both sides' misses
divided by the references of cc."""
import sqlite3
import subprocess
import sys

loci, watched, native, scratch = sys.argv[1:5]
wanted = [w.split(":") for w in sys.argv[5:]]
POINTS = 2.0
SIZES = [64 << k for k in range(21)]


def record(collector, program, arguments):
    path = "%s/%s.loci" % (scratch, collector)
    subprocess.run([loci, "record", "-q", "--collector", collector, "--pairs", "none", "-o", path, "--", program] + arguments,
                   check=True, stdout=subprocess.DEVNULL)
    return sqlite3.connect("file:%s?mode=ro" % path, uri=True)


def misses(profile):
    """Total, and those at each size."""
    row, cold = profile.execute("select id, cold from histogram where owner = 'whole' and distance = 'stack'"
                                " and block_bytes = 64").fetchone()
    bins = profile.execute("select low, weight from bin where histogram_id = ?", (row,)).fetchall()
    total = cold + sum(weight for _, weight in bins)
    return total, [cold + sum(weight for low, weight in bins if low >= size // 64) for size in SIZES]


def greatest(differences):
    worst = max(range(len(SIZES)), key=lambda i: abs(differences[i]))
    return differences[worst], SIZES[worst]


def in_words(size):
    return "%d B" % size if size < 1024 else "%d KiB" % (size >> 10) if size < 1 << 20 else "%d MiB" % (size >> 20)


def compare(name, variant, size):
    arguments = [name, variant, size, "1"]
    total, ours = misses(record("cc", watched, arguments))
    other_total, theirs = misses(record("any", native, arguments))
    by_own = [100 * (o / total - t / other_total) for o, t in zip(ours, theirs)]
    by_cc = [100 * (o - t) / total for o, t in zip(ours, theirs)]
    worst, at = greatest(by_own)
    worst_by_cc, at_by_cc = greatest(by_cc)
    inside = sum(abs(d) <= POINTS for d in by_own)
    print("%-10s %-8s %8.2f at %-8s %2d of %d  %8.2f  %8.2f at %s" % (
        name, variant, worst, in_words(at), inside, len(SIZES), other_total / total, worst_by_cc, in_words(at_by_cc)), flush=True)
    return abs(worst) <= POINTS


def main():
    listed = subprocess.run([native, "list"], capture_output=True, text=True, check=True).stdout.split("\n")
    failed = 0
    print("%-10s %-8s %8s    %-8s %-8s  %8s  %s" % ("kernel", "", "points", "", "within 2", "refs", "points, by references of cc"))
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
