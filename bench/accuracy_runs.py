# SPDX-License-Identifier: GPL-2.0-or-later
"""Running what accuracy.py plans: programs natively, counting and watched, their exact profiles, and how near the
watched ones come."""
import contextlib
import gzip
import hashlib
import json
import math
import os
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys
import threading
import time

WEIGHTS = ["inverse", "unscaled", "proportional", "kaplan-meier", "plain"]
LONGEST = 2  # times the native seconds that are asked for, where samples are few
TOO_SHORT = 0.8  # of the native seconds that are asked for: such a pair is made again, as its length was mistaken
HANGS = 1800  # seconds after which a run is given up
CALIBRATED = 2  # native seconds of the run that tells how many rounds others have
EXACT_SECONDS = 0.01  # native ones of the shorter exact run, if a round is not longer
UNLIKE_ROUNDS = {"quicksort": 8}  # which sorts other numbers in each: so many for the shorter one
TURNS = {"stencil2": 2, "stencil3": 2}  # whose grids change places: after so many rounds it is the same again
MOVED = 0.001  # of what is added to an exact profile: where more has moved more of them are made


class Failure(Exception):
    pass


class Store:
    """What has been measured, one line of JSON each."""

    def __init__(self, path, built, commit, kept):
        self.known, self.path, self.built, self.commit, self.kept = {}, path, built, commit, kept
        self.lock, self.lines = threading.Lock(), []
        self.prepares = threading.Lock()  # what all runs of a subject have in common, of which one is made
        if os.path.exists(kept):
            with gzip.open(kept, "rt") as file:
                self.read(file)
        if os.path.exists(path):
            with open(path) as file:
                self.read(file)
            with open(path, "rb+") as file:  # it may have been stopped while it wrote the last line
                if file.seek(0, os.SEEK_END) and file.seek(-1, os.SEEK_END) and file.read() != b"\n":
                    file.write(b"\n")

    def read(self, file):
        for line in file:
            try:
                one = json.loads(line)
            except ValueError:  # it was stopped while it wrote this
                continue
            self.take(one, line)

    def take(self, one, line):
        self.known[one["key"]] = one["value"]
        if one["key"].startswith(self.built + ":"):
            self.lines.append(line)

    def full(self, key):
        return "%s: %s" % (self.built, key)

    def get(self, key):
        return self.known.get(self.full(key))

    def put(self, key, value):
        one = {"key": self.full(key), "commit": self.commit, "value": value}
        line = json.dumps(one) + "\n"
        with self.lock, open(self.path, "a") as file:
            self.take(one, line)
            file.write(line)
        return value

    def keep(self):
        """For those who have the same source on another day."""
        part = self.path + ".gz.part"
        with open(part, "wb") as file, gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0) as packed:
            packed.write("".join(dict.fromkeys(self.lines)).encode())
        shutil.move(part, self.kept)


def kib_of(path, field):
    try:
        with open(path) as file:
            return next((int(line.split()[1]) for line in file if line.startswith(field)), 0)
    except (OSError, ValueError):
        return 0


def memory_kib(pid):
    """The most that it has had, and what it has, its share of what it has in common with others."""
    return kib_of("/proc/%d/status" % pid, "VmHWM:"), kib_of("/proc/%d/smaps_rollup" % pid, "Pss:")


def children(pid):
    try:
        with open("/proc/%d/task/%d/children" % (pid, pid)) as file:
            return [int(p) for p in file.read().split()]
    except OSError:
        return []


def kill(pid):
    """It and all that it runs: a program outlives its recorder, and has the same pipes."""
    for child in children(pid):
        kill(child)
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


class Peaks(threading.Thread):
    """The most memory that a process and its child have had, looked at until it ends, each by itself and both at the same
    time, where what they share counts once: while the child lives, if there is one. Of each the last look counts: before
    it runs a program of its own a process has its parent's."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.own, self.child, self.both, self.done = pid, 0, 0, 0, threading.Event()
        self.start()

    def run(self):
        pause = 0.005
        while not self.done.wait(pause):
            own, own_now = memory_kib(self.pid)
            child, child_now = max([memory_kib(c) for c in children(self.pid)], default=(0, 0))
            self.own, self.child = own or self.own, child or self.child
            if pause > 0.02 and (child_now or not self.child):  # they run their own programs by then
                self.both = max(self.both, own_now + child_now)
            pause = min(0.1, pause * 1.2)


def run(command, text=None):
    """Wall and processor seconds of all it starts, what it printed, and MiB of memory. (The kernel's own figure of the
    latter is no less than what python had when it forked.)"""
    begun = time.monotonic()
    stdin = open(text) if text else subprocess.DEVNULL
    child = subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    peaks = Peaks(child.pid)
    patience = threading.Timer(HANGS, kill, [child.pid])
    patience.start()
    # What is printed is short: neither pipe fills.
    output, complaint = child.stdout.read().decode(), child.stderr.read().decode()
    _, status, usage = os.wait4(child.pid, 0)
    patience.cancel()
    peaks.done.set()
    peaks.join()
    child.returncode = status
    child.stdout.close()
    child.stderr.close()
    if text:
        stdin.close()
    if status:
        raise Failure("%s: status %d: %s" % (" ".join(command), status, complaint.strip()))
    return {"wall": time.monotonic() - begun, "cpu_all": usage.ru_utime + usage.ru_stime, "output": output, "complaint": complaint,
            "own": peaks.own / 1024, "child": peaks.child / 1024, "both": peaks.both / 1024}


class Kernel:
    """One of bench/kernels, so many rounds of it."""

    def __init__(self, scratch, name, variant, size, rounds):
        self.name, self.scratch = "%s %s" % (name, variant), scratch
        self.arguments, self.usual = [name, variant, size], int(rounds)

    def command(self, built, rounds):
        return ["%s/kernels.%s" % (self.scratch, built)] + self.arguments + [str(rounds)]

    def binary(self):
        return self.scratch + "/kernels.cc"

    def text(self, rounds):
        return None

    def told(self, output):
        """Seconds of the clock and the processor, of the part that counts, and the result."""
        fields = output.split()
        return float(fields[5]), float(fields[6]), " ".join(fields[:5])


class Sqlite:
    """A mix of queries on a table of so many rows, again and again."""
    name, usual, rows = "sqlite", 1, 10000

    def __init__(self, scratch, mix):
        self.scratch, self.mix = scratch, mix

    def command(self, built, rounds):
        return ["%s/sqlite.%s" % (self.scratch, built), ":memory:", "-cmd",
                "create temp table size as select %d as rows" % self.rows]

    def binary(self):
        return self.scratch + "/sqlite.cc"

    def text(self, rounds):
        path = "%s/mix.%d.sql" % (self.scratch, rounds)
        with open(self.mix) as file:
            once = file.read() + "drop table t;\n"
        with open(path, "w") as file:
            file.write(".timer on\n" + once * rounds)
        return path

    def told(self, output):
        lines = output.splitlines()
        times = [line.split() for line in lines if line.startswith("Run Time:")]
        result = hashlib.sha1("\n".join(l for l in lines if not l.startswith("Run Time:")).encode()).hexdigest()
        return sum(float(t[3]) for t in times), sum(float(t[5]) + float(t[7]) for t in times), result


class Bench:
    """There may be several, each with profiles of its own."""

    def __init__(self, scratch, store, number):
        self.scratch, self.store, self.number = scratch, store, number

    def path(self, name):
        return "%s/%s" % (self.scratch, name)

    def own_path(self, name):
        return self.path("%d.%s" % (self.number, name))

    def plain(self, subject, built, rounds):
        """A run without a recorder."""
        ran = run(subject.command(built, rounds), subject.text(rounds))
        del ran["complaint"]
        ran["seconds"], ran["cpu"], ran["result"] = subject.told(ran.pop("output"))
        return ran

    def round_seconds(self, subject):
        """Native ones of a round."""
        key = "round %s" % subject.name
        known = self.store.get(key)
        if known is None:
            rounds, seconds = subject.usual, self.plain(subject, "native", subject.usual)["cpu"]
            while seconds < CALIBRATED:  # the first rounds of a run take longer than others
                rounds = math.ceil(rounds * min(16, 1.2 * CALIBRATED / max(seconds, 1e-5)))
                seconds = self.plain(subject, "native", rounds)["cpu"]
            known = self.store.put(key, seconds / rounds)
        return known

    def correct(self, subject, rounds, native, seconds):
        """Whether a native run took so much less than it is to that its length was mistaken; if it took less at all the next
        ones have more rounds. That it was a little too fast must be no reason to make it again: those that are left would be slow."""
        if native["cpu"] < seconds:
            self.store.put("round %s" % subject.name, native["cpu"] / rounds)
        return native["cpu"] < TOO_SHORT * seconds

    def longer(self, subject, kind):
        """How many times as long a run is to be, for its samples to be as many as are wanted."""
        return self.store.get("longer %s, %s" % (subject.name, kind)) or 1

    def lengthen(self, subject, kind, times, was):
        """Whether its runs, which were so many times as long as others, may become longer."""
        if was < LONGEST:
            self.store.put("longer %s, %s" % (subject.name, kind), min(LONGEST, 1.05 * times * was))
        return was < LONGEST

    def rounds_of(self, subject, seconds):
        return max(1, math.ceil(seconds / self.round_seconds(subject)))

    def exact(self, subject, rounds):
        """The exact profile of so many rounds, of the program as it is compiled."""
        with open(subject.binary(), "rb") as file:
            built = hashlib.sha1(file.read()).hexdigest()[:12]
        path = self.path("%s.%s.%s.%d.exact" % (subject.name.replace(" ", "_"), self.store.built, built, rounds))
        if not os.path.exists(path):
            run(["loci", "record", "-q", "-b", "8,64", "--pairs", "none", "-o", path + ".part", "--"] +
                subject.command("cc", rounds), subject.text(rounds))
            os.rename(path + ".part", path)
        return path

    def truth(self, subject, rounds):
        """An exact profile of as many rounds as a watched run has, made of those of few: what each such number of rounds adds
        comes again and again."""
        unlike = UNLIKE_ROUNDS.get(subject.name.split()[0])
        turn = TURNS.get(subject.name.split()[0], 1)
        few = unlike or max(turn, min(4, math.floor(EXACT_SECONDS / self.round_seconds(subject)) // turn * turn))
        made = [self.exact(subject, few), self.exact(subject, 2 * few)]
        if not unlike and moved(*made) > MOVED:
            made += [self.exact(subject, 3 * few), self.exact(subject, 4 * few)]
        path = self.own_path("truth.loci")
        shutil.copyfile(made[-1], path)
        return path, extend(made, path, rounds / few - len(made))

    def watched(self, subject, rounds, options):
        """The run of a watched program; its profile is in watched.loci."""
        profile = self.own_path("watched.loci")
        if os.path.exists(profile):
            os.remove(profile)
        command = ["loci", "record", "-q", "-m", "watch", "-o", profile] + options + ["--"] + subject.command("cc", rounds)
        ran = run(command, subject.text(rounds))
        ran["seconds"], ran["cpu"], ran["result"] = subject.told(ran.pop("output"))
        ran["memory"], ran["recorder"] = ran.pop("child"), ran.pop("own")
        ran["sampling"] = sampling(profile)
        del ran["complaint"]
        return ran

    def weighed(self, truth, subject, rounds, options, block):
        """The accuracy of one more run by all weights. It keeps a trace, and so is none to measure costs by."""
        trace, profile, found = self.own_path("watched.trace"), self.own_path("weighed.loci"), {}
        self.watched(subject, rounds, options + ["--trace", trace])
        for weights in WEIGHTS:
            run(["loci", "analyse", "-q", "--weights", weights, "-o", profile, trace])
            found[weights] = self.accuracy(truth, profile, block)
        os.remove(trace)
        return found

    def accuracy(self, truth, profile, block):
        """Rows by distance, and of the model S of what exact time distances make of stack distances."""
        rows = json.loads(run(["loci", "diff", "--accuracy", "--json", "-b", block, truth, profile])["output"])["accuracy"]
        return {row["distance"]: row for row in rows}

    def model(self, truth, block):
        info = json.loads(run(["loci", "info", "--accuracy", "--json", truth])["output"])["accuracy"]
        return next((r["s_rdx"] for r in info if r["model"] == "StatStack" and r["block_bytes"] == int(block)), None)


def sampling(profile):
    """The profile's table of that name, as a dictionary."""
    with sqlite3.connect(profile) as db:
        db.row_factory = sqlite3.Row
        row = db.execute("SELECT * FROM sampling").fetchone()
        return dict(row) if row else {}


def whole(db):
    """The histograms of the whole run, by distance and block size: its id and infinite ones."""
    return {(d, b): (i, cold) for i, d, b, cold in db.execute(
        "SELECT id, distance, block_bytes, cold FROM histogram WHERE owner = 'whole' AND distance IN ('stack', 'time')")}


def bins(db, number):
    return {(low, high): w for low, high, w in db.execute("SELECT low, high, weight FROM bin WHERE histogram_id = ?", (number,))}


def moved(first, second):
    """The share of what the second profile has more than the first that has only moved to greater distances: what comes once,
    before all rounds and after them, is so much farther apart."""
    shares = []
    with sqlite3.connect(first) as a, sqlite3.connect(second) as b:
        old, new = whole(a), whole(b)
        for key in new:
            before, after = bins(a, old[key][0]), bins(b, new[key][0])
            fewer = sum(max(0, w - after.get(edges, 0)) for edges, w in before.items())
            shares.append(fewer / max(1, sum(after.values()) - sum(before.values())))
    return max(shares)


def extend(profiles, last, times):
    """Adds to last, a copy of the last of these, so many times what each has more than the one before; returns its references
    then. Of several differences of a bin it is the median: what has moved through it makes one too great and the next one too
    small, and leaves three of them one that is right."""
    opened = [sqlite3.connect(path) for path in profiles[:-1] + [last]]
    found = [whole(db) for db in opened]
    for key, (number, cold) in found[-1].items():
        each = [bins(db, histograms[key][0]) for db, histograms in zip(opened, found)]
        colds = [histograms[key][1] for histograms in found]
        more = lambda of: statistics.median(after - before for before, after in zip(of, of[1:]))
        grown = [(number, *edges, max(0, round(each[-1].get(edges, 0) + times * more([e.get(edges, 0) for e in each]))))
                 for edges in sorted(set().union(*each))]
        opened[-1].execute("DELETE FROM bin WHERE histogram_id = ?", (number,))
        opened[-1].executemany("INSERT INTO bin (histogram_id, low, high, weight) VALUES (?, ?, ?, ?)", [g for g in grown if g[3]])
        # Where memory lies differs by a block from run to run: no block is first touched in fewer rounds only.
        opened[-1].execute("UPDATE histogram SET cold = ? WHERE id = ?", (round(cold + times * max(0, more(colds))), number))
    refs = [db.execute("SELECT refs FROM run").fetchone()[0] for db in opened]
    opened[-1].commit()
    for db in opened:
        db.close()
    return round(refs[-1] + times * (refs[-1] - refs[-2]))
