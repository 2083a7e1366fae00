# SPDX-License-Identifier: GPL-2.0-or-later
# Ding and Zhong's figures for ADI and FFT (2001, Table 2, sections 3.2 and 3.3): references and
# elements within 2 %, and the hills of their histograms where they say.
# Not under sanitizers: nothing new runs.
. "$SRC/tests/cli/expect.sh"
. "$SRC/tests/cli/clangs.sh"
cat >figures.py <<'PY'
import collections, sqlite3, sys
failed = False
def check(what, got, want, off):
    global failed
    print(f"{what}: {got:.6g}, the paper has {want:.6g}")
    if abs(got - want) > off:
        print(f"  off by more than {off:.3g}")
        failed = True
class Profile:
    def __init__(self, path, element):
        file = sqlite3.connect(path)
        self.refs, = file.execute("select refs from run").fetchone()
        self.elements, = file.execute("select blocks from grain where block_bytes = ?", (element,)).fetchone()
        number, = file.execute("select id from histogram where owner = 'whole' and distance = 'stack' "
                               "and block_bytes = ?", (element,)).fetchone()
        self.point = collections.Counter()  # 0: distance 0; x: 2^(x-1) .. 2^x - 1
        for low, weight in file.execute("select low, weight from bin where histogram_id = ?", (number,)):
            self.point[low.bit_length()] += weight
        self.reuses = sum(self.point.values())
        self.long = sum(weight for x, weight in self.point.items() if x >= 7)
def percent(part, of):
    return 100 * part / of
def table2(name, refs, elements, p):
    check(f"{name} references", p.refs, refs, 0.02 * refs)
    check(f"{name} elements", p.elements, elements, 0.02 * elements)

small, large = Profile("adi50.loci", 8), Profile("adi100.loci", 8)
table2("ADI 50", 64300, 7500, small)
table2("ADI 100", 258000, 30000, large)
check("ADI 100, thousands of references at 2 or 3", large.point[2] / 1000, 80, 2)
check("ADI 100, % of reuses at 2 or 3", percent(large.point[2], large.reuses), 35, 1)
check("ADI 100, % of reuses in [16K, 33K)", percent(large.point[15], large.reuses), 35, 4)
check("ADI 100, % of long ones in [256, 511]", percent(large.point[9], large.long), 20, 2)
check("ADI 100, % of long ones in [16K, 33K)", percent(large.point[15], large.long), 74, 2)
check("ADI 100, % of long ones at two points", percent(large.point[9] + large.point[15], large.long), 95, 2)
# one hill stays where it is, one moves with the square root of the data, one with the data
def hills(p):
    return {x for x, weight in p.point.items() if weight >= 0.08 * p.reuses}
moved = {x if x < 7 else x - 1 if x < 12 else x - 2 for x in hills(large)}
check("ADI 50, hills that are elsewhere", len(hills(small) ^ moved), 0, 0)
for there, here in (2, 2), (9, 8), (15, 13):
    check(f"ADI, growth of the hill at {here}", large.point[there] / small.point[here], 4, 0.2)

small, large = Profile("fft64.loci", 16), Profile("fft128.loci", 16)
table2("FFT 64", 697000, 16500, small)
table2("FFT 128", 2850000, 65700, large)
three = sum(sorted((weight for x, weight in large.point.items() if x >= 7), reverse=True)[:3])
check("FFT 128, % of long ones at three points", percent(three, large.long), 96, 2)
fastest = sum(w for x, w in large.point.items() if x >= 13)
check("FFT 128, % of references in the fastest moving hill", percent(fastest, large.refs), 5, 1)
check("FFT, that hill's growth", fastest / sum(w for x, w in small.point.items() if x >= 11), 4, 0.2)
sys.exit(failed)
PY
one() {
	local major=$1 n
	cc "$major" -g -O1 -o ding_adi "$SRC/bench/papers/ding_adi.c" || fail "clang $major: ding_adi"
	cc "$major" -g -O1 -o ding_fft "$SRC/bench/papers/ding_fft.c" -lm || fail "clang $major: ding_fft"
	for n in 50 100; do
		expect 0 loci record -q -b 8 --statement -o adi$n.loci ./ding_adi $n
	done
	for n in 64 128; do
		expect 0 loci record -q -b 16 --statement -o fft$n.loci ./ding_fft $n
	done
	python3 figures.py >figures || { cat figures; fail "clang $major: figures of the paper"; }
	cat figures
}
in_turn "$clangs" one
finish
