# SPDX-License-Identifier: GPL-2.0-or-later
"""product_trace.py: a trace of lackey's of a product of matrices, of which one row stays near and the other
matrix comes again and again."""
SIZE = 48

for i in range(SIZE):
    for j in range(SIZE):
        for k in range(SIZE):
            print(f" L {0x100000 + 8 * (i * SIZE + k):x},8\n L {0x200000 + 8 * (k * SIZE + j):x},8")
        print(f" S {0x300000 + 8 * (i * SIZE + j):x},8")
