#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares what word_log.c listed with what a program of random_flow.py says it did:
	random_oracle.py WORDS PLACE EXPECTED
PLACE holds where the arena was; other references are left out. A write by an atomic operation may
be listed as it is read, or both."""
import sys

_, low, high = open(sys.argv[2]).readline().split()
low, high = int(low, 16), int(high, 16)
got = []
for line in open(sys.argv[1]):
    word = line.split()
    if len(word) == 3 and low <= int(word[2], 16) < high:
        got.append("%s %s %#x" % (word[0], word[1], int(word[2], 16) - low))
expected = [line.strip() for line in open(sys.argv[3])]
expected = ["%s %s %#x" % (a, b, int(c, 16)) for a, b, c in (line.split() for line in expected)]
for i in range(max(len(got), len(expected))):
    a = expected[i] if i < len(expected) else "nothing"
    b = got[i] if i < len(got) else "nothing"
    if a != b:
        print("access %d is %s, listed as %s" % (i, a, b))
        sys.exit(1)
