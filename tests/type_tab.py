#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""type_tab.py SHELL TREE FOLDER TEXT [REST]: types TEXT, a tab and REST into an interactive bash or zsh on a terminal, with the completion of
TREE loaded, in FOLDER. Prints the words of the command line as the shell reads it, each in <>."""
import os
import pty
import re
import select
import sys
import time

shell, tree, folder, text = sys.argv[1:5]
rest = sys.argv[5] if len(sys.argv) > 5 else ""
arguments = {"bash": ["bash", "--norc", "--noprofile", "-i"], "zsh": ["zsh", "-f", "-i"]}[shell]
load = {"bash": f"bind 'set enable-bracketed-paste off'; . {tree}/completion/rant.bash",
        "zsh": f"fpath=({tree}/completion $fpath); autoload -Uz compinit && compinit -u -D; unsetopt promptsp"}[shell]

pid, fd = pty.fork()
if pid == 0:
    os.chdir(folder)
    os.environ.update(PATH=f"{tree}:{tree}/plot:{os.environ['PATH']}", TERM="dumb", PS1="$ ", HISTFILE="", LC_ALL="C.UTF-8")
    os.execvp(arguments[0], arguments)


def read(until, seconds=20):
    """All output up to a match of `until`, or of the given time."""
    seen, end = "", time.monotonic() + seconds
    while time.monotonic() < end and not re.search(until, seen):
        if select.select([fd], [], [], 0.1)[0]:
            try:
                seen += os.read(fd, 65536).decode(errors="replace")
            except OSError:
                break
    return seen


def quiet(seconds=0.7):
    """Waits until the shell has printed nothing for this time."""
    while select.select([fd], [], [], seconds)[0]:
        if not os.read(fd, 65536):
            break


os.write(fd, f"{load}\n".encode())
os.write(fd, b"echo rea''dy\n")
read(r"\nready")
quiet()
os.write(fd, text.encode() + b"\t")
read(r".", 20)
quiet(1.5)
# To the start of the line: the command becomes the arguments of printf.
os.write(fd, rest.encode() + b"\x01printf '<%s>' \x05; echo '[end'']'\n")
seen = read(r"\[end\]")
os.write(fd, b"exit\n")
found = re.findall(r"(?:^|\n)((?:<[^>\n]*>)+)\[end\]", seen.replace("\r", ""))
print(found[-1] if found else f"nothing was printed: {seen!r}")
os.close(fd)
os.waitpid(pid, 0)
