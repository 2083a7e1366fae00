# SPDX-License-Identifier: GPL-2.0-or-later
"""threads_profile.py SCHEMA OUT [KEY=VALUE..] WORD..: the profile of a few references by threads.

Words say what runs, in this order: t2 (in thread 2), s3 (at site 3), r64 (loads 8 bytes at address
64), w64 (stores them), r0..640 (at every 64th address up to 640), 5*( .. ) (five times what stands
between, which does not nest). Blocks have 64 bytes. Sites are lines 10*N of work.c, function work.
KEY: share=N (groups of N threads in the order of their ids), objects=NAME:ADDRESS:BYTES,.. ,
levels=NAME:BLOCKS:private|shared|shareN,.. (fully associative, counted), caches, command, sites=no,
alone=yes (threads apart, too).

Every distance comes from a plain list of blocks and holes: METHODS as a few lines of Python, to
hold the program against.
"""
import re
import sqlite3
import sys
from collections import defaultdict

BLOCK = 64
HOLE = object()


class Stacks:
    """Stacks of members that take blocks away from each other by writing."""

    def __init__(self):
        self.stack = defaultdict(list)  # the most recent first
        self.lost = defaultdict(dict)  # member -> block -> bytes others wrote since
        self.taker = {}

    def touch(self, member, block, is_write, touched, who):
        """(distance or None, cold | true | false or None, who took the block away)."""
        stack, lost = self.stack[member], self.lost[member]
        distance = kind = taker = None
        hole = next((i for i, b in enumerate(stack) if b is HOLE), None)
        if block in stack:
            distance = stack.index(block)
            if hole is not None and hole < distance:
                stack[distance] = HOLE
                del stack[hole]
            else:
                del stack[distance]
        else:
            if hole is not None:
                del stack[hole]
            kind = "cold"
            if block in lost:
                kind = "true" if lost[block].keys() & touched else "false"
                by = [lost[block][b] for b in touched if b in lost[block]]
                taker = max(by)[1] if by else self.taker[member, block]
                del lost[block]
        stack.insert(0, block)
        if is_write:
            for other in self.stack:
                if other == member:
                    continue
                if block in self.stack[other]:
                    self.stack[other][self.stack[other].index(block)] = HOLE
                    self.lost[other][block] = {}
                    self.taker[other, block] = who[1]
                if block in self.lost[other]:
                    self.lost[other][block].update({b: who for b in touched})
        return distance, kind, taker


def fine(value):
    if value < 256:
        return value, value + 1
    shift = value.bit_length() - 8
    return value >> shift << shift, (value >> shift) + 1 << shift


def coarse(value):
    if value < 16:
        return value, value + 1
    shift = value.bit_length() - 3
    return value >> shift << shift, (value >> shift) + 1 << shift


class Counts:
    """Everything counted, by owner."""

    def __init__(self):
        self.bins = defaultdict(lambda: defaultdict(int))  # (owner, id, distance) -> bin -> n
        self.cold = defaultdict(int)
        self.coherence = defaultdict(int)
        self.met = defaultdict(lambda: [0, 0, 0, 0])  # touches, true, false, remote

    def add(self, owner, number, distance, found, kind):
        key = owner, number, distance
        self.bins[key]  # there, even if empty
        if kind == "cold":
            self.cold[key] += 1
        elif kind:
            self.coherence[key] += 1
        else:
            binned = (fine if owner in ("whole", "thread", "thread_group") else coarse)(found)
            self.bins[key][binned] += 1

    def meet(self, owner, number, kind, remote):
        met = self.met[owner, number]
        met[0] += 1
        met[1] += kind == "true"
        met[2] += kind == "false"
        met[3] += remote


def words_of(arguments):
    """The words of the program, times multiplied."""
    text = " ".join(arguments)
    text = re.sub(r"(\d+)\*\(([^)]*)\)", lambda m: " ".join([m[2]] * int(m[1])), text)
    return text.split()


def references(words):
    """(thread, site, address, is_write) of each."""
    thread, site = 1, 1
    for word in words:
        if m := re.fullmatch(r"t(\d+)", word):
            thread = int(m[1])
        elif m := re.fullmatch(r"s(\d+)", word):
            site = int(m[1])
        elif m := re.fullmatch(r"([rw])(\d+)(?:\.\.(\d+))?", word):
            first = int(m[2])
            for address in range(first, int(m[3] or first + 1), BLOCK):
                yield thread, site, address, m[1] == "w"
        else:
            sys.exit("threads_profile.py: what is " + word)


def main():
    schema, out, *rest = sys.argv[1:]
    settings = {"command": "./work", "caches": "L1=512,L2=4K:shared", "sites": "yes"}
    while rest and re.match(r"[a-z]+=", rest[0]):
        key, _, value = rest.pop(0).partition("=")
        settings[key] = value
    refs = list(references(words_of(rest)))
    threads = sorted({r[0] for r in refs})
    share = int(settings.get("share", 0))
    groups = [threads[i : i + share] for i in range(0, len(threads), share)] if share else []
    group_of = {t: n + 1 for n, group in enumerate(groups) for t in group}
    objects = []
    for text in filter(None, settings.get("objects", "").split(",")):
        name, address, size = text.split(":")
        objects.append((name, int(address), int(size)))
    levels = []
    for text in filter(None, settings.get("levels", "").split(",")):
        name, blocks, kind = text.split(":")
        levels.append((name, int(blocks), kind))
    has_sites = settings["sites"] == "yes"

    def object_of(address):
        return next((n + 1 for n, (_, at, size) in enumerate(objects) if at <= address < at + size), None)

    private, grouped, shared, apart = Stacks(), Stacks(), Stacks(), Stacks()
    counts = Counts()
    last, touchers, changed = {}, defaultdict(set), defaultdict(bool)
    written = defaultdict(set)
    sharing, pairs = defaultdict(int), defaultdict(set)
    met_level = defaultdict(lambda: [0, 0])
    site_refs, object_refs = defaultdict(int), defaultdict(int)
    for when, (thread, site, address, is_write) in enumerate(refs):
        block, touched = address // BLOCK, set(range(address, address + 8))
        thing, who = object_of(address), (when, (thread, site, object_of(address)))
        found = {
            "private": private.touch(thread, block, is_write, touched, who),
            "shared": shared.touch(0, block, is_write, touched, who),
        }
        if share:
            found["share%d" % share] = grouped.touch(group_of[thread], block, is_write, touched, who)
            d, kind, _ = found["share%d" % share]
            counts.add("thread_group", group_of[thread], "private", d, kind)
            counts.meet("thread_group", group_of[thread], kind,
                        block in last and group_of[last[block]] != group_of[thread])
        owners = [("whole", 0), ("thread", thread)]
        if has_sites:
            owners += [("site", site)] + ([("object", thing)] if thing else [])
        distance, kind, taker = found["private"]
        for owner, number in owners:
            counts.add(owner, number, "private", distance, kind)
            counts.add(owner, number, "stack", *found["shared"][:2])
            counts.meet(owner, number, kind, block in last and last[block] != thread)
        if "alone" in settings:
            alone = apart.touch(thread, block, False, touched, who)[:2]
            counts.add("thread", thread, "alone", *alone)
            if block in last and last[block] != thread:
                counts.add("thread", thread, "alone_remote", *alone)
                counts.add("whole", 0, "remote", *found["shared"][:2])
        hit = False
        for n, (_, blocks, level_kind) in enumerate(levels):
            d = found[level_kind][0]
            misses = d is None or d >= blocks
            for owner in owners:
                met_level[n + 1, *owner][0] += not misses and not hit
                met_level[n + 1, *owner][1] += misses
            hit |= not misses
        if kind in ("true", "false"):
            key = taker[1], site, thing, taker[2], kind
            sharing[key] += 1
            pairs[key].add((taker[0], thread))
        if is_write and touchers[block] - {thread}:
            changed[block] = True
        last[block] = thread
        touchers[block].add(thread)
        if is_write:
            written[block].add(thread)
        site_refs[site] += 1
        if thing:
            object_refs[thing] += 1

    db = sqlite3.connect(out)
    db.executescript(open(schema).read())

    def put(table, **row):
        names = ", ".join(row)
        db.execute(f"INSERT INTO {table} ({names}) VALUES ({', '.join('?' * len(row))})",
                   list(row.values()))

    stores = sum(r[3] for r in refs)
    put("machine", id=1, processor="Test CPU", caches=settings["caches"])
    put("run", id=1, command=settings["command"], collector="import", origin="test", mode="exact",
        unit="byte", capabilities="complete stores" + (" sites" if has_sites else ""),
        loci_version="0.1.0", machine_id=1, started="2024-01-01T00:00:00Z", seconds=1.5, complete=1,
        refs=len(refs), loads=len(refs) - stores, stores=stores, fetches=0, bulk=0, lost=0,
        threads=len(threads), merged=1)
    for thread in threads:
        put("thread", id=thread, refs=sum(r[0] == thread for r in refs))
    put("grain", block_bytes=BLOCK, touches=len(refs), writes=stores, straddles=0,
        blocks=len(touchers), sampling_rate=1, error_points=0, sampled_from=0)
    for n, group in enumerate(groups):
        put("thread_group", id=n + 1, share=share, thread_id=group[0],
            threads=",".join(map(str, group)))
    if has_sites:
        put("source", id=1, path="work.c")
        put("function", id=1, name="work", source_id=1, line=1)
        for site in sorted(site_refs):
            put("site", id=site, site_key="work+%d" % (10 * site), function_id=1, source_id=1,
                line=10 * site, op="load", size_bytes=8, refs=site_refs[site])
        for n, (name, _, size) in enumerate(objects):
            put("object", id=n + 1, kind="global", name=name, size_bytes=size, source_id=1,
                line=n + 1, refs=object_refs[n + 1])
    for n, (name, blocks, kind) in enumerate(levels):
        put("level", id=n + 1, name=name, size_bytes=blocks * BLOCK, ways=0, line_bytes=BLOCK,
            share=kind)
    for (level, owner, number), (hits, misses) in met_level.items():
        if hits or misses:
            put("level_count", level_id=level, owner=owner, owner_id=number, first_hits=hits,
                misses=misses, writebacks=0)
    many = len(threads) > 1
    if many:
        for (owner, number), (touches, true, false, remote) in sorted(counts.met.items()):
            put("coherence", owner=owner, owner_id=number, block_bytes=BLOCK, touches=touches,
                true_sharing=true, false_sharing=false, remote=remote)
        several = [b for b in touchers if len(touchers[b]) > 1]
        put("shared_blocks", block_bytes=BLOCK, alone=len(touchers) - len(several),
            read_only=sum(not changed[b] for b in several),
            written=sum(changed[b] for b in several))
    if has_sites:
        for (write, miss, thing, wrote, kind), n in sharing.items():
            key = write, miss, thing, wrote, kind
            put("sharing", write_site_id=write, miss_site_id=miss, object_id=thing,
                write_object_id=wrote, kind=kind, misses=n, threads=len(pairs[key]))
    number = 0
    for key in counts.bins:
        owner, owner_id, distance = key
        if distance == "private" and not many:
            continue
        number += 1
        put("histogram", id=number, owner=owner, owner_id=owner_id, distance=distance,
            block_bytes=BLOCK, set_bits=0,
            scheme="fine" if owner in ("whole", "thread", "thread_group") else "coarse", sampled=0,
            cold=counts.cold[key], coherence=counts.coherence[key])
        for (low, high), weight in counts.bins[key].items():
            put("bin", histogram_id=number, low=low, high=high, weight=weight)
    db.commit()


main()
