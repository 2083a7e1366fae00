# SPDX-License-Identifier: GPL-2.0-or-later
"""terminal.py SCENARIO COMMAND..: the command as the foreground job of a shell on a terminal.

Prints what it wrote and how it ended, "exit N" or "signal N". Scenarios wait for what the program
says, never for time:
  watch      when the progress line is there, type "go" and Enter
  interrupt  when it says "ready", Ctrl-C
  twice      when it says "ready PID.", Ctrl-C every third of a second until that process is gone
  stop       when it says "ready", Ctrl-Z; the shell says "stopped" and has it go on
"""
import os
import pty
import re
import select
import signal
import sys
import time

scenario, command = sys.argv[1], sys.argv[2:]
deadline = time.monotonic() + 120


def shell():
    """What a shell does for its foreground job."""
    os.environ["TERM"] = "xterm"
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    signal.alarm(150)
    job = os.fork()
    if job == 0:
        os.setpgid(0, 0)
        os.tcsetpgrp(0, os.getpid())
        for number in (signal.SIGTTOU, signal.SIGINT, signal.SIGPIPE):
            signal.signal(number, signal.SIG_DFL)
        signal.alarm(0)
        os.execvp(command[0], command)
    while True:
        _, status = os.waitpid(job, os.WUNTRACED)
        if not os.WIFSTOPPED(status):
            break
        os.write(1, b"stopped\n")
        os.tcsetpgrp(0, job)
        os.killpg(job, signal.SIGCONT)
    if os.WIFSIGNALED(status):
        os.write(1, b"signal %d\n" % os.WTERMSIG(status))
    else:
        os.write(1, b"exit %d\n" % os.WEXITSTATUS(status))
    os._exit(0)


pid, fd = pty.fork()
if pid == 0:
    shell()
written = b""


def read(seconds):
    """More output, if some comes in that time; False when the terminal is closed."""
    global written
    if time.monotonic() > deadline:
        sys.exit("too long; so far: %r" % written)
    if not select.select([fd], [], [], seconds)[0]:
        return True
    try:
        more = os.read(fd, 65536)
    except OSError:
        return False
    written += more
    return bool(more)


def expect(text):
    while text not in written:
        if not read(1):
            sys.exit("ended before %r: %r" % (text, written))


if scenario == "watch":
    expect(b" references")
    os.write(fd, b"go\n")
else:
    expect(b"ready")
if scenario == "interrupt":
    os.write(fd, b"\x03")
elif scenario == "twice":
    expect(b".")
    program = re.search(rb"ready (\d+)\.", written).group(1).decode()
    while os.path.exists("/proc/" + program):
        os.write(fd, b"\x03")
        pause = time.monotonic() + 0.3
        while time.monotonic() < pause and os.path.exists("/proc/" + program):
            read(0.02)
elif scenario == "stop":
    os.write(fd, b"\x1a")
    expect(b"stopped")

while read(1):
    pass
sys.stdout.write(written.decode(errors="replace"))
