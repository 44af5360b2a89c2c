# SPDX-License-Identifier: BSD-3-Clause
"""uncore top in a terminal (pty): what it shows at which size, keys, and how it leaves the terminal.

usage: top_terminal.py UNCORE BROKEN, a machine of which no unit can be read. Prints TAP. Nothing here waits for a time: only for output, or the end.
"""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios

UNCORE = sys.argv[1]
PATIENCE = 60  # seconds after which it hangs
FRAMES = 300  # after which what is waited for does not come
number = 0


def result(good, name, shown=""):
    global number
    number += 1
    print(f"{'ok' if good else 'not ok'} {number} - top: {name}")
    if not good:
        for line in shown.splitlines():
            print("#", line)


class Terminal:
    """The command in a terminal of its own, with what the terminal shows."""

    def __init__(self, columns, lines, *arguments, **environment):
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            for ignored in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
                signal.signal(ignored, signal.SIG_DFL)
            os.environ.update({"TERM": "xterm", "LC_ALL": "C.UTF-8", "UNCORE_SIM": "emerald-rapids"})
            os.environ.pop("COLUMNS", None)
            os.environ.update(environment)
            os.read(0, 1)  # the size is set
            os.execv(UNCORE, ["uncore", "top", *arguments])
        self.text = b""
        self.size(columns, lines)
        self.before = termios.tcgetattr(self.master)
        os.write(self.master, b"\n")

    def size(self, columns, lines):
        self.columns, self.lines = columns, lines
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def read(self):
        """More output; False at its end."""
        if not select.select([self.master], [], [], PATIENCE)[0]:
            os.kill(self.pid, signal.SIGKILL)
            raise SystemExit("Bail out! no output")
        try:
            more = os.read(self.master, 65536)
        except OSError:  # nobody has it open any more
            more = b""
        self.text += more
        return bool(more)

    def frames(self):
        """Complete frames: lists of lines, without escape codes."""
        found = re.findall(rb"\x1b\[H(?!\x1b\[2J)(.*?)\x1b\[K\x1b\[J", self.text, re.S)
        return [frame.decode().replace("\x1b[K", "").split("\r\n") for frame in found]

    def wait_frame(self, holds, from_=0):
        """The first frame from number `from_` on of which it holds, and its number; none within FRAMES: -1."""
        while True:
            frames = self.frames()
            for i, frame in enumerate(frames):
                if i >= from_ and holds(frame):
                    return frame, i
            if len(frames) > from_ + FRAMES or not self.read():
                return [], -1

    def press(self, keys):
        os.write(self.master, keys)

    def end(self):
        """Its exit status (128 and more: the signal), when all is read."""
        while self.read():
            pass
        status = os.waitpid(self.pid, 0)[1]
        return os.waitstatus_to_exitcode(status)

    def restored(self):
        """The terminal is as it was: its modes, the cursor, the screen before."""
        return (self.text.endswith(b"\x1b[?25h\x1b[?1049l") and self.text.count(b"\x1b[?1049h") ==
                self.text.count(b"\x1b[?1049l") and self.modes() == self.before)

    def modes(self):
        return termios.tcgetattr(self.master)


def measured(frame):
    return len(frame) > 3 and any(line.startswith("memory_") for line in frame)


def fits(frame, columns, lines):
    return len(frame) <= lines and all(len(line) <= columns for line in frame)


def of_frames(t, name):
    """Ends it by its number of frames, and looks at the last one."""
    status = t.end()
    frame = t.frames()[-1]
    result(status == 0 and fits(frame, t.columns, t.lines) and measured(frame), name, "\n".join(frame))
    return frame


# ---- sizes

frame = of_frames(Terminal(80, 24, "-n", "2", "-I", "20", UNCORE_SIM="emerald-rapids,sockets=8"),
                  "8 sockets in 80 columns and 24 lines")
result(sum(line.startswith("memory_read_bytes:socket=") for line in frame) == 8, "all 8 sockets", "\n".join(frame))
result(re.match(r"\.\.\. [0-9]+ more lines: arrow keys", frame[-1]) is not None, "what is below is told", frame[-1])
result("SIMULATED emerald-rapids" in frame[0], "it says that it is simulated", frame[0])
frame = of_frames(Terminal(60, 50, "-n", "2", "-I", "20"), "a narrow terminal")
result(sum(":socket=" in line for line in frame) >= 22, "with all lines", "\n".join(frame))
frame = of_frames(Terminal(200, 60, "-n", "2", "-I", "20"), "a large terminal")
result(any(re.search(r"[▁-█]$", line) for line in frame), "the last minute behind the bars", "\n".join(frame))
frame = of_frames(Terminal(80, 24, "-n", "2", "-I", "20", LC_ALL="C"), "without UTF-8")
result(all(line.isascii() for line in frame), "then ASCII alone", "\n".join(frame))
t = Terminal(80, 24, "-n", "2", "-I", "20", TERM="dumb")
status = t.end()
result(status == 0 and b"\x1b" not in t.text and b"memory_" in t.text, "no escape codes for TERM=dumb")

# ---- keys, and the ways out

t = Terminal(80, 20, "-I", "20")
frame, n = t.wait_frame(measured)
modes = t.modes()
result(not modes[3] & (termios.ICANON | termios.ECHO), "keys come as they are pressed")
t.press(b"\x1b[B" * 3)
frame, n = t.wait_frame(lambda f: measured(f) and f[3].startswith("memory_write_bytes:socket=1"), n + 1)
result(n > 0, "arrow down: the lines below", "\n".join(frame))
t.press(b"\x1b[B" * 300)
frame, n = t.wait_frame(lambda f: f[0].startswith("uncore top") and f[-1].startswith("uncore_frequency_hz:socket=1"), n + 1)
result(n > 0 and fits(frame, 80, 20), "the last line, and no further", "\n".join(frame))
t.press(b"\x1b[A" * 300)
frame, n = t.wait_frame(lambda f: measured(f) and f[3].startswith("memory_read_bytes:socket=0"), n + 1)
result(n > 0, "arrow up: the first ones", "\n".join(frame))
t.size(60, 20)
frame, n = t.wait_frame(lambda f: fits(f, 60, 20) and len(f[0]) <= 60 and measured(f), n + 1)
result(n > 0, "another size of the terminal", "\n".join(frame))
t.size(100, 30)
t.press(b"5")
frame, n = t.wait_frame(lambda f: "PCIE" in f[0] and any("(devices not known)" in line for line in f), n + 1)
result(n > 0 and fits(frame, 100, 30), "5: devices, or stacks whose devices are not known", "\n".join(frame))
t.press(b"2")
frame, n = t.wait_frame(lambda f: "MEM" in f[0] and any("memory_read_bytes:unit=7:socket=1" in line for line in f), n + 1)
result(n > 0, "2: the channels of the memory", "\n".join(frame))
t.press(b"1")
frame, n = t.wait_frame(lambda f: "OVERVIEW" in f[0] and measured(f), n + 1)
result(n > 0, "1: the first group again", "\n".join(frame))
t.press(b"q")
status = t.end()
result(status == 0 and t.restored(), "q: status 0, and the terminal is as it was")

t = Terminal(100, 24, "-I", "20", UNCORE_SIM="sandybridge-ep")
frame, n = t.wait_frame(measured)
t.press(b"6")
frame, n = t.wait_frame(lambda f: measured(f) and any("group CXL" in line for line in f), n + 1)
result(n > 0, "6: where there is no CXL memory that is said, and the page stays", "\n".join(frame))
t.press(b"q")
result(t.end() == 0 and t.restored(), "and it ends as before")

t = Terminal(80, 24, "-I", "20")
t.wait_frame(measured)
t.press(b"\x03")
status = t.end()
result(status == 0 and t.restored(), "Ctrl-C: so too")
for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGXCPU"):
    t = Terminal(80, 24, "-I", "20")
    t.wait_frame(measured)
    os.kill(t.pid, getattr(signal, name))
    status = t.end()
    result(status == 0 and t.restored(), f"{name}: so too")

t = Terminal(80, 24, "-I", "20")
t.wait_frame(measured)
t.press(b"\x1a")  # Ctrl-Z
stopped = os.WIFSTOPPED(os.waitpid(t.pid, os.WUNTRACED)[1])
while select.select([t.master], [], [], 0)[0] and t.read():
    pass
result(stopped and t.restored(), "Ctrl-Z: the shell gets its terminal as it was")
n = len(t.frames())
os.kill(t.pid, signal.SIGCONT)
frame, n = t.wait_frame(measured, n)
result(n > 0, "and it goes on")
t.press(b"q")
result(t.end() == 0 and t.restored(), "and ends")

t = Terminal(80, 24, UNCORE_SIM=sys.argv[2])
status = t.end()
result(status in (1, 2) and b"\x1b" not in t.text and b"uncore: " in t.text,
       "what cannot begin leaves the terminal alone", t.text.decode())
print(f"1..{number}")
