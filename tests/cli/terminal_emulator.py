"""A command in a terminal of a given size, as an emulator sees it. Prints what happened as JSON.

terminal_emulator.py COLUMNS ROWS [--when TEXT --type KEYS] [--resize COLUMNS] -- COMMAND...
  wrapped   lines that went over the right edge
  flickers  lines that were erased before they were written again
  seen      every line that stood on the screen at some time
  screen    the last picture
  code      exit code; seconds: from typing KEYS to the end
"""
import argparse
import codecs
import fcntl
import json
import os
import pty
import select
import struct
import sys
import termios
import time

import pyte

GRACE = 0.3  # seconds between telling a program of a narrower window and showing it as narrow


class Watched(pyte.Screen):
    def __init__(self, columns, rows):
        self.wrapped = []
        self.flickers = 0
        self.whole = False
        self.erased = set()
        self.user = None  # the user's screen while a program has one of its own
        super().__init__(columns, rows)

    def text(self, row):
        return "".join(self.buffer[row][x].data for x in range(self.columns)).rstrip()

    def draw(self, data):
        for character in data:
            if self.cursor.x == self.columns:
                self.wrapped.append(self.text(self.cursor.y))
            if self.cursor.y in self.erased:
                self.flickers += 1
                self.erased.remove(self.cursor.y)
            super().draw(character)

    def linefeed(self):
        self.erased.discard(self.cursor.y)  # left without text: the line is meant to be empty
        super().linefeed()

    # pyte does not know the second screen of xterm (mode 1049).
    def set_mode(self, *modes, **kwargs):
        super().set_mode(*modes, **kwargs)
        if kwargs.get("private") and 1049 in modes and self.user is None:
            self.user = ({y: dict(line) for y, line in self.buffer.items()}, self.cursor.x, self.cursor.y)
            self.clear()

    def reset_mode(self, *modes, **kwargs):
        super().reset_mode(*modes, **kwargs)
        if kwargs.get("private") and 1049 in modes and self.user is not None:
            self.clear()
            lines, x, y = self.user
            for row, line in lines.items():
                self.buffer[row].update({at: c for at, c in line.items() if at < self.columns})
            self.cursor.x, self.cursor.y = min(x, self.columns - 1), y
            self.user = None

    def clear(self):
        self.buffer.clear()
        self.erased.clear()

    def erase_in_display(self, how=0, *args, **kwargs):
        self.whole = True  # a block that is taken away, not a line that comes back
        super().erase_in_display(how, *args, **kwargs)
        self.whole = False

    def erase_in_line(self, how=0, private=False):
        if not self.whole and self.cursor.x == 0 and self.text(self.cursor.y):
            self.erased.add(self.cursor.y)
        super().erase_in_line(how, private)


def size(fd, columns, rows):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("columns", type=int)
    parser.add_argument("rows", type=int)
    parser.add_argument("--when", default="")
    parser.add_argument("--type", default="")
    parser.add_argument("--resize", type=int, default=0)
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    screen = Watched(options.columns, options.rows)
    stream = pyte.Stream(screen)
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    pid, fd = pty.fork()
    if pid == 0:
        time.sleep(0.05)  # until the size is set
        os.environ["TERM"] = "xterm-256color"
        os.execvp(options.command[0], options.command)
    size(fd, options.columns, options.rows)
    seen = []
    typed = None
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        # What is on its way was made for the old width, which no program can help; lines of the new one fit there too.
        if options.resize and typed is not None and time.monotonic() - typed > GRACE and not select.select([fd], [], [], 0)[0]:
            screen.resize(options.rows, options.resize)
        if not select.select([fd], [], [], 1)[0]:
            continue
        try:
            data = os.read(fd, 65536)
        except OSError:
            break
        if not data:
            break
        stream.feed(decoder.decode(data))
        for row in range(screen.lines):
            line = screen.text(row)
            if line and (not seen or line not in seen[-200:]):
                seen.append(line)
        if options.when and typed is None and any(options.when in screen.text(r) for r in range(screen.lines)):
            typed = time.monotonic()
            if options.resize:
                size(fd, options.resize, options.rows)
            else:
                os.write(fd, options.type.encode().decode("unicode_escape").encode())
    if time.monotonic() >= deadline:
        os.kill(pid, 9)
    status = os.waitpid(pid, 0)[1]
    code = os.waitstatus_to_exitcode(status)
    json.dump({"wrapped": screen.wrapped, "flickers": screen.flickers, "seen": seen,
               "screen": [screen.text(r) for r in range(screen.lines)], "code": code,
               "seconds": time.monotonic() - typed if typed else -1}, sys.stdout)


main()
