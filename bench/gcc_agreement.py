# SPDX-License-Identifier: GPL-2.0-or-later
"""What gcc tells of the kernels against what loci cc sees of them:

	gcc_agreement.py [--table] LOCI KERNELS_GCC KERNELS_CC SCRATCH [NAME:VARIANT[:SIZE]..]

both built by bench/kernels/compile.sh (or compile_fortran.sh) with the same flags. For every kernel, at
every power-of-two size of a fully associative LRU cache with 64-byte lines, the miss ratio by each, in
per cent, and

	same	the misses of gcc by the references of cc

since gcc tells vectors one element at a time and registers not at all: its references are others, and
most of the difference hits. --table: a row for each kernel, for a page of Markdown, with the references,
and the greatest differences from 1 KiB on, in points: each by its own references, and both by those of
cc."""
import sqlite3
import subprocess
import sys

as_table = "--table" in sys.argv
arguments = [a for a in sys.argv[1:] if a != "--table"]
loci, by_gcc, by_cc, scratch = arguments[:4]
wanted = [w.split(":") for w in arguments[4:]]
FIRST = 4 # of the sizes: 1 KiB
SIZES = [64 << k for k in range(19)]


def record(collector, program, words):
    path = "%s/%s.loci" % (scratch, collector)
    subprocess.run([loci, "record", "-q", "--collector", collector, "--pairs", "none", "-o", path, "--", program] + words,
                   check=True, stdout=subprocess.DEVNULL)
    return sqlite3.connect("file:%s?mode=ro" % path, uri=True)


def misses(profile):
    """References, touches, and the misses at each size."""
    references, = profile.execute("select refs from run").fetchone()
    row, cold = profile.execute("select id, cold from histogram where owner = 'whole' and distance = 'stack'"
                                " and block_bytes = 64").fetchone()
    bins = profile.execute("select low, weight from bin where histogram_id = ?", (row,)).fetchall()
    total = cold + sum(weight for _, weight in bins)
    return references, total, [cold + sum(weight for low, weight in bins if low >= size // 64) for size in SIZES]


def in_words(size):
    return "%d" % size if size < 1024 else "%dK" % (size >> 10) if size < 1 << 20 else "%dM" % (size >> 20)


def greatest(differences):
    worst = max(range(FIRST, len(SIZES)), key=lambda i: abs(differences[i]))
    return differences[worst], in_words(SIZES[worst])


def count(number):
    return "%.1f M" % (number / 1e6)


def compare(name, variant, size):
    words = [name, variant, size, "1"]
    gcc_refs, gcc_total, gcc = misses(record("gcc", by_gcc, words))
    cc_refs, cc_total, cc = misses(record("cc", by_cc, words))
    own = [100 * (g / gcc_total - c / cc_total) for g, c in zip(gcc, cc)]
    same = [100 * (g - c) / cc_total for g, c in zip(gcc, cc)]
    if as_table:
        print("| %s %s %s | %s | %s | %.2f | %+.2f at %s | %+.2f at %s |" % (
            (name, variant, size, count(cc_refs), count(gcc_refs), gcc_refs / cc_refs) + greatest(own) + greatest(same)), flush=True)
        return
    print("%s %s %s: references %d by cc, %d by gcc (%.2f)" % (name, variant, size, cc_refs, gcc_refs, gcc_refs / cc_refs))
    for what, values, total in ("cc", cc, cc_total), ("gcc", gcc, gcc_total), ("same", gcc, cc_total):
        print("  %-5s" % what + "".join("%6.2f" % (100 * value / total) for value in values))
    print("  worst from 1K on: own %+.2f at %s, same %+.2f at %s" % (greatest(own) + greatest(same)), flush=True)


def main():
    listed = subprocess.run([by_cc, "list"], capture_output=True, text=True, check=True).stdout.split("\n")
    if as_table:
        print("| kernel | refs by cc | refs by gcc | ratio | own | same |\n|---|---|---|---|---|---|")
    else:
        print("  size " + "".join("%6s" % in_words(size) for size in SIZES))
    for line in filter(None, listed):
        name, variant, size, _ = line.split()
        chosen = [w for w in wanted if w[:2] == [name, variant]]
        if wanted and not chosen:
            continue
        compare(name, variant, chosen[0][2] if chosen and len(chosen[0]) > 2 else size)


main()
