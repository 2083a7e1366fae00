#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares operations as ops_listing prints them (standard input) with what is known otherwise:

	ops_compare.py hand LEVEL SOURCE	what is written in the source
	ops_compare.py text CODE		the text of the intermediate code, function by function,
						without bits
"""
import collections
import re
import sys

got = collections.defaultdict(collections.Counter)
for line in sys.stdin:
    function, *what, count = line.split()
    got[function][" ".join(what)] += int(count)
failed = 0


def complain(text):
    global failed
    failed += 1
    if failed < 10:
        print(text)


def hand(level, source):
    expected = collections.Counter()
    checked = 0
    for line in open(source):
        if line.startswith("//! "):
            at, *what, count = line[4:].split()
            if at == level:
                expected[" ".join(what)] += int(count)
        elif re.match(r"\w.*\(.*\)$|extern \"C\" .*\)$", line):
            name = re.search(r"(\w+)\(", line).group(1)
            have = got[name]
            if "blocks" not in expected:
                like = {tuple(e.split()[:2]) for e in expected}
                have = {k: n for k, n in have.items() if tuple(k.split()[:2]) in like}
            if expected and dict(have) != dict(expected):
                complain("%s %s: has %s, expected %s" % (level, name, sorted((collections.Counter(have) - expected).items()),
                                                         sorted((expected - collections.Counter(have)).items())))
            checked += bool(expected)
            expected = collections.Counter()
    if not checked:
        complain("nothing is expected at %s" % level)


INT = {"add": "int_add", "sub": "int_sub", "mul": "int_mul", "udiv": "int_div", "sdiv": "int_div", "urem": "int_div",
       "srem": "int_div", "and": "int_logic", "or": "int_logic", "xor": "int_logic", "shl": "int_shift",
       "lshr": "int_shift", "ashr": "int_shift", "fadd": "float_add", "fsub": "float_add", "fmul": "float_mul",
       "fdiv": "float_div", "frem": "float_div", "fneg": "float_other"}
CONVERT = ["trunc", "zext", "sext", "fptoui", "fptosi", "uitofp", "sitofp", "fptrunc", "fpext"]
NOTHING = ["phi", "bitcast", "ptrtoint", "inttoptr", "freeze", "extractvalue", "insertvalue", "landingpad", "unreachable"]
FLAGS = set("nuw nsw exact disjoint nneg fast nnan ninf nsz arcp contract afn reassoc inbounds nusw samesign volatile atomic".split())
INTRINSICS = [("dbg|lifetime|assume|experimental.noalias|stackprotector|eh.typeid", None), ("memset", "memset"), ("memcpy|memmove", "memcpy"),
              ("fmuladd|fma", "float_fma"), ("sqrt", "float_sqrt"), ("fabs|floor|ceil|maxnum|minnum|copysign|exp|log|pow|sin|cos|round|rint", "float_other"),
              (r"vector\.reduce\.f", "float_other"), (r"smax|smin|umax|umin|abs|ct|bswap|usub\.sat|uadd\.sat|vector\.reduce", "int_other"),
              ("fshl|fshr", "int_shift"), (r"masked\.(load|gather)", "load"), (r"masked\.(store|scatter)", "store"),
              (r"[us]add\.with", "int_add"), (r"[us]sub\.with", "int_sub"), (r"[us]mul\.with", "int_mul"), ("stack|trap|prefetch", "other")]
NAMES = {"float": "f32", "double": "f64", "half": "f16", "bfloat": "f16", "x86_fp80": "f80", "fp128": "f128", "ptr": "pointer", "void": "-"}
END = {"<": ">", "{": "}", "[": "]", "(": ")"}


def type_at(text):
    """The type that a text begins with, and the rest."""
    text = text.lstrip()
    i = 0
    if text[0] in END:
        depth = 0
        for i, c in enumerate(text):
            depth += (c in "<{[(") - (c in ">}])")
            if depth == 0:
                break
        i += 1
    else:
        i = re.match(r'%"[^"]*"|[%\w.$-]+', text).end()
    while i < len(text) and (text[i] == "*" or text[i:i + 2] == " (" and "*" in text[i:]):
        if text[i] == "*":
            i += 1
        else:  # a pointer to a function
            depth = 0
            for k in range(i + 1, len(text)):
                depth += (text[k] == "(") - (text[k] == ")")
                if depth == 0:
                    break
            if text[k + 1:k + 2] != "*":
                break
            i = k + 1
    return text[:i], text[i:]


def name_of(type_text):
    vector = re.match(r"<(\d+) x (.*)>$", type_text)
    if vector and not type_text.startswith("<{"):
        return name_of(vector.group(2)).split()[0] + " " + vector.group(1)
    if type_text.endswith("*"):
        return "pointer 1"
    if re.match(r"i\d+$", type_text):
        return (type_text if type_text in ("i1", "i8", "i16", "i32", "i64", "i128") else "int") + " 1"
    return NAMES.get(type_text, "other") + " 1"


def after_flags(rest):
    while rest.split(" ", 1)[0] in FLAGS:
        rest = rest.split(" ", 1)[1]
    return rest


def call(rest):
    """What is called, by how it is written, and the types of the result and of the first argument."""
    callee = re.search(r'@("[^"]*"|[\w.$-]+)\(', rest)
    indirect = re.search(r"%[\w.$-]+\(", rest)
    if " asm " in rest:
        return "asm", None
    if not callee or indirect and indirect.start() < callee.start() and "bitcast" not in rest[:callee.start()]:
        return "call_indirect", None
    name = callee.group(1).strip('"')
    return (name, rest) if name.startswith("llvm.") else ("call", name)


def intrinsic(name, rest, counts):
    for pattern, kind in INTRINSICS:
        if not re.match(r"llvm\.(%s)" % pattern, name):
            continue
        if kind in ("memset", "memcpy", "other"):
            counts[kind + " - 1"] += 1
        elif kind:
            at = rest.index("@" + name)
            arguments = rest[at + len(name) + 2:]
            vectors = re.findall(r"<\d+ x [\w*]+>", arguments)
            result = rest[:at].split("call ")[-1]
            while result.split(" ", 1)[0] in FLAGS | {"noundef", "zeroext", "signext", "noalias", "nonnull", "fastcc", "range(i32"}:
                result = result.split(" ", 1)[1]
            first = result if kind == "load" else vectors[0] if vectors and kind != "store" else arguments
            counts[kind + " " + name_of(type_at(first)[0])] += 1
        return
    complain("the test does not know %s" % name)


def operation(text, counts, is_after_musttail):
    code = re.sub(r"^%[\w.$-]+ = |^%\"[^\"]*\" = ", "", text)
    code = re.sub(r"^(tail|musttail|notail) ", "", code)
    word, _, rest = code.partition(" ")
    rest = after_flags(rest)
    if word in NOTHING or word == "alloca":
        return
    if word in INT:
        counts[INT[word] + " " + name_of(type_at(rest)[0])] += 1
    elif word in ("icmp", "fcmp"):
        counts[("int" if word == "icmp" else "float") + "_compare " + name_of(type_at(rest.split(" ", 1)[1])[0])] += 1
    elif word in CONVERT:
        counts["convert " + name_of(re.search(r" to (.*?)(, !|$)", rest).group(1))] += 1
    elif word == "select":
        counts["select " + name_of(type_at(type_at(rest)[1].split(", ", 1)[1])[0])] += 1
    elif word in ("load", "store"):
        counts[word + " " + name_of(type_at(rest)[0])] += 1
    elif word == "getelementptr":
        indices = type_at(type_at(rest)[1][2:])[1].split(", ", 1)[1]
        if not re.match(r"(i\d+ 0(, |$))+($|!)", indices):
            vector = re.search(r"<(\d+) x i\d+> %|<(\d+) x [^>]*\*> %|<(\d+) x ptr> ", rest)
            counts["address pointer " + (next(g for g in vector.groups() if g) if vector else "1")] += 1
    elif word in ("extractelement", "insertelement", "shufflevector"):
        lanes = name_of(type_at(rest)[0])
        if word == "shufflevector":
            lanes = lanes.split()[0] + " " + re.findall(r"<(\d+) x i32>", rest)[-1]
        counts["lanes " + lanes] += 1
    elif word == "br":
        counts["branch - 1" if rest.startswith("label") else "branch_cond i1 1"] += 1
    elif word == "switch":
        counts["switch " + name_of(type_at(rest)[0])] += 1
    elif word == "indirectbr":
        counts["branch_indirect pointer 1"] += 1
    elif word == "ret":
        if not is_after_musttail:
            counts["return " + name_of(type_at(rest)[0])] += 1
    elif word == "resume":
        counts["return - 1"] += 1
    elif word in ("call", "invoke"):
        kind, name = call(code)
        if kind.startswith("llvm."):
            intrinsic(kind, code, counts)
        else:
            counts[kind + " - 1"] += 1
            if kind == "call":
                counts["calls " + name] += 1
    elif word == "fence":
        counts["fence - 1"] += 1
    else:
        complain("the test does not know: %s" % text)


def text(path):
    counts, name, n, last = None, None, 0, ""
    for line in open(path):
        line = line.rstrip()
        if line.startswith("define "):
            name = re.search(r'@("[^"]*"|[\w.$-]+)\(', line).group(1).strip('"')
            counts = None if " available_externally " in line else collections.Counter()
        elif line == "}" and counts is not None:
            have = collections.Counter()
            for what, count in got[name].items():
                kind = what.split()
                if kind[0] != "blocks":
                    have[what if kind[0] == "calls" else " ".join(kind[:3])] += count
            if have != counts:
                complain("%s: has %s, expected %s" % (name, sorted((have - counts).items()), sorted((counts - have).items())))
            n += sum(counts.values())
            counts = None
        elif counts is not None and line.startswith("  ") and not re.match(r" +(i\d+ -?\d+, label|\]|to label|cleanup|catch|filter|#dbg)", line):
            operation(line.strip(), counts, "musttail" in last)
            last = line
    if n < 100:
        complain("%s has only %d operations" % (path, n))


{"hand": hand, "text": text}[sys.argv[1]](*sys.argv[2:])
sys.exit(failed > 0)
