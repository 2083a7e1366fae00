#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether a trace has the atomic operations of a program in an order that they can have had:

	replay.py LISTING [LOG]

LISTING is what trace_list writes, LOG what the program (handed.c) wrote down itself. A thread's
operations are those of one thread of the trace, kind by kind and address by address; done again in
the order of their numbers, each reads what it read. And the numbers of each object are there, from 1
on, each once, and ascend in every thread, also without a LOG."""
import collections
import sys

ATOMIC, MODIFY = 1, 32
SYNC, ACQUIRE, RELEASE, BEGIN = 0x20, 0, 1, 5


class Failed(Exception):
    pass


def read_log(path):
    threads, value = collections.defaultdict(list), collections.defaultdict(int)
    for line in open(path):
        if line.startswith("="):
            value[int(line.split()[1], 16)] = int(line.split()[2], 16)
            continue
        thread, kind, address, read, wrote = line.split()
        threads[thread].append((kind, int(address, 16), None if read == "-" else int(read, 16),
                                None if wrote == "-" else int(wrote, 16)))
    return list(threads.values()), value


def read_listing(path, addresses):
    """Of each thread its operations (kind, address, object, first number); and of each object its numbers."""
    threads, numbers = collections.defaultdict(list), collections.defaultdict(list)
    last, waiting, seen, others = {}, {}, {}, set()
    for line in open(path):
        field = line.split()
        thread = field[0]
        if field[1] == "kind":
            if int(field[2], 16) != SYNC:
                continue
            kind, what, number = int(field[4]), int(field[5], 16), int(field[6], 16)
            numbers[what].append(number)
            if seen.get((thread, what), 0) >= number:
                raise Failed("a number before one that is less: " + line)
            seen[thread, what] = number
            if kind == BEGIN:
                others.add(thread)
            last[thread] = (kind, what, number)
            if thread in waiting:
                letter, address, first = waiting.pop(thread)
                if kind != RELEASE or (first and (what, number) != (first[1], first[2] + 1)):
                    raise Failed("after a store to %x: %s" % (address, line))
                threads[thread].append((letter, address, what, first[2] if first else number))
            continue
        if field[1] not in ("load", "store"):
            continue
        address, flags = int(field[2], 16), int(field[5], 16)
        if address not in addresses or not flags & ATOMIC:
            continue
        if thread not in others:  # the first: it is alone when it makes any
            continue
        if thread in waiting and not (flags & MODIFY and field[1] == "store"):
            raise Failed("a store without a number before: " + line)
        if field[1] == "load":
            first = last.pop(thread, None)
            if not first or first[0] != ACQUIRE:
                raise Failed("a load without a number: " + line)
            if flags & MODIFY:
                waiting[thread] = ("M", address, first)
            else:
                threads[thread].append(("L", address, first[1], first[2]))
        elif not flags & MODIFY:
            waiting[thread] = ("S", address, None)
    if waiting:
        raise Failed("a store without a number at the end")
    return threads, numbers


def pair(log, listed):
    """The log's operations with the numbers of the trace's thread that made the same."""
    for mine in log:
        same = [t for t, theirs in listed.items()
                if [o[:2] for o in mine] == [o[:2] for o in theirs]]
        if not same:
            raise Failed("no thread of the trace made the operations %s.." % (mine[:3],))
        for ours, theirs in zip(mine, listed.pop(same[0])):
            yield theirs[2], theirs[3], ours


def main():
    log, value = read_log(sys.argv[2]) if len(sys.argv) > 2 else ([], {})
    addresses = {o[1] for t in log for o in t}
    listed, numbers = read_listing(sys.argv[1], addresses)
    for what, taken in numbers.items():
        if sorted(taken) != list(range(1, len(taken) + 1)):
            raise Failed("object %x: %d numbers, from %d to %d" % (what, len(taken), min(taken), max(taken)))
    n = 0
    for what, number, (kind, address, read, wrote) in sorted(pair(log, listed), key=lambda o: o[:2]):
        if read is not None and value[address] != read:
            raise Failed("%s %x, number %d of %x, read %x where %x was" %
                         (kind, address, number, what, read, value[address]))
        if wrote is not None:
            value[address] = wrote
        n += 1
    left = sum(map(len, listed.values()))
    if left:
        raise Failed("%d operations of the trace are not in the log" % left)
    print("%d operations of %d threads, %d objects" % (n, len(log), len(numbers)))


if __name__ == "__main__":
    try:
        main()
    except Failed as failed:
        sys.exit("replay.py: %s" % failed)
