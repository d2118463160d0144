# SPDX-License-Identifier: GPL-2.0-or-later
"""Logs of rant (docs/report.md, "The log"): `rant --report` reads them, and writes them as lines of JSON."""
import os
import shutil
import subprocess
import sys

from words import Bad, clean

MAGIC = b"\x93NUMPY"


def is_log(begin):
    """True if this is the first line of a log."""
    return begin.startswith(MAGIC) or begin.split(b",")[0].split()[:1] == [b"SEQ"]


def program(fault="is a log, and rant, which reads logs, is not in the folder of rant-plot and not in PATH: give the file of --json"):
    """Path of rant: in the folder of rant-plot, in the source tree, or in PATH."""
    tree = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    for folder in (os.path.dirname(os.path.abspath(sys.argv[0])), tree):
        path = os.path.join(folder, "rant")
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    path = shutil.which("rant")
    if path is None:
        raise Bad(fault)
    return path


def refusal(path, error):
    """The error of rant about a file, without the names of program and file."""
    words = error.decode("utf-8", "replace").strip().rpartition("\n")[2]
    return clean(words.removeprefix("rant: ").removeprefix(f"{path}: ")) or "rant --report could not read it"


def read(path, options, take):
    """Result of take() for the lines of JSON of a log. Raises Bad with the error line of rant if rant refuses the log."""
    path = path if os.path.isabs(path) else os.path.join(".", path)
    command = [program(), "--report", path, "--quiet", "--jsonl", "-", *options]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as rant:
        try:
            result, fault = take(rant.stdout), None
        except (Bad, StopIteration) as error:
            result, fault = None, error
        for _ in rant.stdout:
            pass  # rant would fail if its reader closed the pipe
        error = rant.stderr.read()
    if rant.returncode and error:
        raise Bad(refusal(path, error))
    if fault:
        raise fault if isinstance(fault, Bad) else Bad("rant --report wrote nothing")
    return result
