# SPDX-License-Identifier: GPL-2.0-or-later
# The kernels of bench/kernels: every tuned one computes what its slow twin does, and a run prints the
# same every time but for its seconds.
# Not under sanitizers: nothing of loci runs.
. "$SRC/tests/cli/expect.sh"
for CC in clang-14 clang gcc; do
	command -v $CC >/dev/null || continue
	case $CC in gcc) CXX=g++ ;; *) CXX=${CC/clang/clang++} ;; esac
	command -v $CXX >/dev/null && break
done
export CC CXX
command -v "$CXX" >/dev/null || { echo "no C++ compiler"; exit 77; }

expect 0 "$SRC/bench/kernels/compile.sh" "$PWD/kernels" plain -O2
expect 0 "$SRC/bench/kernels/twins.sh" ./kernels
[ "$(wc -l <out)" = 23 ] || fail "$(wc -l <out) lines of twins"
expect 2 ./kernels product none
expect 0 ./kernels product ikj 16 1
cut -d ' ' -f 1-5 out >first
expect 0 ./kernels product ikj 16 1
cut -d ' ' -f 1-5 out | cmp -s first - || fail "two runs differ"

# The product itself, computed by another.
cat >check.py <<'PY'
import struct
n = 16
a = [i % 13 for i in range(n * n)]
b = [i % 7 for i in range(n * n)]
total = 0xcbf29ce484222325
for i in range(n):
    for j in range(n):
        c = float(sum(a[i * n + k] * b[k * n + j] for k in range(n)))
        total = ((total ^ struct.unpack("<Q", struct.pack("<d", c))[0]) * 0x100000001b3) & (2**64 - 1)
        total ^= total >> 29
print("product ikj 16 1 %016x" % total)
PY
python3 check.py | cmp -s first - || fail "the product is $(cat first), not $(python3 check.py)"
finish
