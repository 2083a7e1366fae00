# SPDX-License-Identifier: GPL-2.0-or-later
"""thread_trace.py: a trace of four threads in drmemtrace's text: data of their own, data that all read,
a counter each on one line, and a queue."""
import random

random.seed(3)
n = 0


def touch(thread, what, address):
    global n
    n += 1
    print(f"{n:12} {n:11}: {1000 + thread:11} {what:<11} 8 byte(s) @ 0x{address:016x} by PC 0x0000000000401000")


for step in range(4000):
    thread = step % 4
    for _ in range(random.randrange(1, 4)):
        touch(thread, random.choice(("read", "write")), 0x100000 * (thread + 1) + 8 * random.randrange(600))
    if step % 2:
        touch(thread, "read", 0x800000 + 8 * random.randrange(900))
    if step % 3 == 0:
        touch(thread, "write", 0x900000 + 8 * thread)
    if step % 5 == 0:
        touch(thread, random.choice(("read", "write")), 0xA00000 + 8 * random.randrange(40))
