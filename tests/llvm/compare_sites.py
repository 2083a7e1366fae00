#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares what definitions say of their sites with the text of the code they were made of.

	compare_sites.py locations CODE.ll LISTING	function, line, column and inlined calls of
		every load and store, from the metadata in the text: an oracle that shares nothing
		with what made the definitions
	compare_sites.py pass CODE.ll LISTING	the same of what the pass itself plans, in its order and
		with what it has beyond loads and stores: all of the text are there
	compare_sites.py variables LISTING all|some PERCENT	names against the comments in the
		source; so many sites at most may have none. And the lines of loops

LISTING is what site_listing prints."""

import collections
import re
import sys

failures = 0


def fail(message):
    global failures
    failures += 1
    if failures <= 20:
        print(message, file=sys.stderr)


def read_listing(path):
    """[(symbol, entry, [site], [loop])], a site: (op, size, variable, [(function, place)])"""
    functions = []
    for line in open(path):
        kind, *rest = line.rstrip("\n").split("\t")
        if kind == "function":
            functions.append((rest[0], int(rest[2], 16), [], []))
        elif kind == "site":
            frames = [tuple(frame.rsplit("|", 1)) for frame in rest[5:]]
            functions[-1][2].append((int(rest[0]), int(rest[1]), rest[4], frames))
        elif kind == "loop":
            functions[-1][3].append(rest)
    return functions


class Code:
    """The functions and the metadata of a module's text."""

    node = re.compile(r"^(!\d+) = (?:distinct )?!(\w+)\((.*)\)$")
    plain = re.compile(r"^(!\d+) = (?:distinct )?!{(.*)}$")
    define = re.compile(r'^define .*?@("[^"]+"|[\w.$-]+)\(')
    # An instruction's operation stands first, or after "%n = "; of a call, the callee.
    access = re.compile(
        r"^  (?:%\S+ = )?(?:(?:tail |musttail |notail )?call .*@llvm\.(memcpy|memmove|memset)"
        r"|(load|store) )")

    def __init__(self, path):
        self.nodes = {}
        self.tuples = {}
        self.functions = {}
        self.subprograms = {}
        current = None
        for line in open(path):
            line = line.rstrip("\n")
            match = self.define.match(line)
            if match:
                current = match.group(1).strip('"')
                self.functions[current] = []
                attached = re.search(r"!dbg (!\d+)", line)
                self.subprograms[current] = attached and attached.group(1)
            elif line == "}":
                current = None
            elif current:
                self.add_access(current, line)
            elif line.startswith("!"):
                self.add_node(line)

    def add_access(self, function, line):
        match = self.access.match(line)
        if not match:
            return
        dbg = re.search(r"!dbg (!\d+)", line)
        ops = {"load": [0], "store": [1], "memset": [1]}.get(match.group(1) or match.group(2), [0, 1])
        for op in ops:
            self.functions[function].append((op, dbg and dbg.group(1)))

    def add_node(self, line):
        match = self.node.match(line)
        if match:
            fields = dict(re.findall(r'(\w+): ("(?:[^"\\]|\\.)*"|[^,]+)', match.group(3)))
            self.nodes[match.group(1)] = (match.group(2), fields)
            return
        match = self.plain.match(line)
        if match:
            self.tuples[match.group(1)] = match.group(2).split(", ")

    def field(self, node, name):
        value = self.nodes[node][1].get(name, "")
        return value[1:-1] if value.startswith('"') else value

    def file(self, node):
        file = self.field(node, "file")
        if not file or file == "null":
            return "-"
        name = self.field(file, "filename")
        return name if name.startswith("/") else self.field(file, "directory") + "/" + name

    def subprogram(self, scope):
        while self.nodes[scope][0] != "DISubprogram":
            scope = self.field(scope, "scope")
        return scope

    def frames(self, location):
        """[(mangled name, file:line:column)] innermost first."""
        result = []
        while location:
            scope = self.field(location, "scope")
            inside = self.subprogram(scope)
            name = self.field(inside, "linkageName") or self.field(inside, "name")
            place = "%s:%s:%s" % (self.file(scope), self.field(location, "line") or 0,
                                  self.field(location, "column") or 0)
            result.append((name, place))
            location = self.field(location, "inlinedAt")
        return result


def is_close(got, want):
    """What has no line of its own has that of a neighbour, without a column, or none."""
    if not want:
        return got[0][1].rsplit(":", 1)[1] == "0"
    return ([name for name, _ in got] == [name for name, _ in want] and got[1:] == want[1:]
            and got[0][1].rsplit(":", 1)[1] == "0")


def compare_locations(code_path, listing_path):
    code = Code(code_path)
    listed = {symbol: sites for symbol, _, sites, _ in read_listing(listing_path)}
    exact, lineless = 0, 0
    if set(listed) != set(code.functions):
        fail("functions differ: %s" % sorted(set(listed) ^ set(code.functions)))
    for symbol, accesses in code.functions.items():
        sites = [site for site in listed.get(symbol, []) if site[0] < 3]
        if [op for op, _ in accesses] != [site[0] for site in sites]:
            fail("%s: %d loads and stores, %d sites, or of other kinds" %
                 (symbol, len(accesses), len(sites)))
            continue
        for (_, dbg), (_, _, _, got) in zip(accesses, sites):
            lineless += got[0][1].split(":")[-2] == "0"
            want = code.frames(dbg) if dbg else []
            if want:
                want[-1] = (symbol, want[-1][1]) # which may differ from the source's
            if want and not want[0][1].endswith((":0:0",)):
                exact += 1
                if got != want:
                    fail("%s %s:\n  got  %s\n  want %s" % (symbol, dbg, got, want))
            elif code.subprograms[symbol] and not is_close(got, want):
                fail("%s %s: got %s for %s" % (symbol, dbg, got, want))
            elif not code.subprograms[symbol] and got[0][1] != "-:0:0":
                fail("%s: %s without debug information" % (symbol, got))
    sites = sum(len(accesses) for accesses in code.functions.values())
    if any(code.subprograms.values()) and lineless * 100 > sites:
        fail("of %d sites %d have no line" % (sites, lineless))
    print("%d sites, %d with a line, %d with one of their own" % (sites, sites - lineless, exact))


def compare_pass(code_path, listing_path):
    code = Code(code_path)
    listed = {symbol: sites for symbol, _, sites, _ in read_listing(listing_path)}
    located = 0
    for symbol, accesses in code.functions.items():
        missing = collections.Counter()
        for op, dbg in accesses:
            want = code.frames(dbg) if dbg else []
            if want and not want[0][1].endswith(":0:0"):
                want[-1] = (symbol, want[-1][1])
                missing[(op, tuple(want))] += 1
        located += sum(missing.values())
        missing -= collections.Counter((op, tuple(frames)) for op, _, _, frames
                                       in listed.get(symbol, []))
        for (op, want), n in missing.items():
            fail("%s: %d of op %d too few at %s" % (symbol, n, op, want))
    if not located:
        fail("nothing has a line")
    print("%d sites with a line" % located)


def expected_variables(path, cache={}):
    if path not in cache:
        cache[path] = {}
        for number, line in enumerate(open(path), 1):
            match = re.search(r"/\*:(\??) (.*) \*/", line)
            if match:
                cache[path][number] = (match.group(2).split(), not match.group(1))
    return cache[path]


def compare_variables(listing_path, all_wanted, most_unnamed):
    found, unnamed, seen = {}, 0, 0
    for symbol, _, sites, _ in read_listing(listing_path):
        for op, _, variable, frames in sites:
            path, line, _ = frames[0][1].rsplit(":", 2)
            if op >= 3 or "/described" not in path:
                continue
            seen += 1
            unnamed += variable == "-"
            expected = expected_variables(path).get(int(line), [[]])[0]
            plain = re.fullmatch(r"\w+|-", variable)
            if variable in expected:
                found.setdefault((path, int(line)), set()).add(variable)
            elif not plain:
                fail("%s: %s:%s is named %s" % (symbol, path, line, variable))
    if all_wanted:
        for path in {path for path, _ in found}:
            for line, (expected, wanted) in expected_variables(path).items():
                if wanted and expected[0] not in found.get((path, line), ()):
                    fail("%s:%d: nothing is named %s" % (path, line, expected[0]))
    if not found or unnamed * 100 > seen * most_unnamed:
        fail("of %d sites %d have no name" % (seen, unnamed))
    print("%d sites, %d without a name" % (seen, unnamed))


def compare_loops(listing_path):
    """A loop's line is that of its statement, or of its first one where labels and jumps make it."""
    goto = {"jumps": "sum += v[i]; /*: v[] */", "recursive": "if (!n)"} # one becomes a loop
    seen = 0
    for symbol, _, _, loops in read_listing(listing_path):
        depths = []
        for place, _, depth, parent in loops:
            path, line, column = place.rsplit(":", 2)
            depths.append((int(depth.split()[1]), int(parent.split()[1])))
            if "/described" not in path:
                continue
            text = open(path).read().split("\n")[int(line) - 1]
            at = text.expandtabs(1)[max(int(column) - 1, 0):] # a column of 0: not known
            seen += 1
            if not re.match(r"\W*(for|while|do)\b" if column == "0" else r"(for|while|do)\b", at) \
                    and text.strip() != goto.get(symbol):
                fail("%s: a loop at %s: %s" % (symbol, place, text))
        for depth, parent in depths:
            if depth != (depths[parent - 1][0] + 1 if parent else 1):
                fail("%s: depths and parents %s" % (symbol, depths))
        if symbol == "sweep" and sys.argv[3] == "all" and depths != [(1, 0), (2, 1)]:
            fail("sweep: %s" % depths)
    if not seen:
        fail("there are no loops")


if sys.argv[1] == "locations":
    compare_locations(sys.argv[2], sys.argv[3])
elif sys.argv[1] == "pass":
    compare_pass(sys.argv[2], sys.argv[3])
else:
    compare_variables(sys.argv[2], sys.argv[3] == "all", int(sys.argv[4]))
    compare_loops(sys.argv[2])
if failures:
    print("%d differences" % failures, file=sys.stderr)
sys.exit(failures != 0)
