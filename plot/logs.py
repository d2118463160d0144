# SPDX-License-Identifier: GPL-2.0-or-later
"""Logs of rant (docs/report.md, "The log"): `rant --report` reads them, and writes them as lines of JSON."""
import os
import shutil
import subprocess
import sys

from words import Bad, clean

MAGIC = b"\x93NUMPY"


def is_log(begin):
    """By the first line of a file."""
    return begin.startswith(MAGIC) or begin.split(b",")[0].split()[:1] == [b"SEQ"]


def program():
    """Beside rant-plot, in the tree that it is a part of, or in PATH."""
    tree = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    for folder in (os.path.dirname(os.path.abspath(sys.argv[0])), tree):
        path = os.path.join(folder, "rant")
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    path = shutil.which("rant")
    if path is None:
        raise Bad("is a log, and rant, which reads logs, is not beside rant-plot and not in PATH: give what --json has written")
    return path


def refusal(path, error):
    """What rant has said of a file, without the names of both."""
    words = error.decode("utf-8", "replace").strip().rpartition("\n")[2]
    return clean(words.removeprefix("rant: ").removeprefix(f"{path}: ")) or "rant --report has not read it"


def read(path, options, take):
    """What take() makes of a file of the lines of JSON. Bad: one line, rant's own where it refuses the log."""
    path = path if os.path.isabs(path) else os.path.join(".", path)
    command = [program(), "--report", path, "--quiet", "--jsonl", "-", *options]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as rant:
        try:
            result, fault = take(rant.stdout), None
        except (Bad, StopIteration) as error:
            result, fault = None, error
        for _ in rant.stdout:
            pass  # a reader that goes away would be a fault of its own
        error = rant.stderr.read()
    if rant.returncode and error:
        raise Bad(refusal(path, error))
    if fault:
        raise fault if isinstance(fault, Bad) else Bad("rant --report has written nothing of it")
    return result
