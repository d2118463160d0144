# SPDX-License-Identifier: GPL-2.0-or-later
"""
Running programs in the two namespaces that interop.sh has made, and judging their output. This process is in the
emitters' one.
"""
import os
import re
import signal
import subprocess
import sys
import time
import traceback

import stamp

LANES = 8  # per-peer sockets of a reflector, besides the listening socket
GUARD_S = int(os.environ.get("GUARD_S", "60"))  # a program that runs longer hangs

EMITTER_IP, REFLECTOR_IP = "10.78.0.1", "10.78.0.2"
LINK = "wire0"  # in both namespaces

rant = work = inside_reflector = None
complaints = []
running = []
failed = 0
first_cpu, last_cpu = min(os.sched_getaffinity(0)), max(os.sched_getaffinity(0))


def set_up(rant_path, folder, reflector_namespace):
    global rant, work, inside_reflector
    rant, work = os.path.abspath(rant_path), folder
    inside_reflector = ["nsenter", f"--net=/var/run/netns/{reflector_namespace}"]


# ---- Verdicts --------------------------------------------------------------------------------------------------------

def complain(text):
    if len(complaints) < 20:
        complaints.append(text)


def same(what, have, want):
    if have != want:
        complain(f"{what} is {have!r}, not {want!r}")
    return have == want


def true(what, condition):
    if not condition:
        complain(what)
    return condition


def is_asked_for(name):
    return re.search(os.environ.get("ONLY", ""), f"interop: {name}")


def test(name, body, *arguments, **named):
    global failed
    if not is_asked_for(name):
        return
    complaints.clear()
    try:
        body(*arguments, **named)
    except Exception:  # any failure of a test: the other tests continue
        complain(traceback.format_exc().replace("\n", " | "))
    for program in list(running):
        program.kill()
    print(f"{'not ok' if complaints else 'ok'} - interop: {name}")
    for line in complaints:
        print(f"# {line}")
    if complaints:
        failed += 1
        for file in sorted(os.listdir(work)):
            if file.endswith((".out", ".err")):
                show(os.path.join(work, file))
    sys.stdout.flush()
    for file in os.listdir(work):
        os.unlink(os.path.join(work, file))


def show(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        lines = f.read().splitlines()
    for line in ([f"{os.path.basename(path)}:"] if lines else []) + lines[:200]:
        print(f"#   {line[:200]}")


def skip(name, reason):
    if is_asked_for(name):
        print(f"ok - interop: {name} # SKIP {reason}", flush=True)


# ---- Programs --------------------------------------------------------------------------------------------------------

class Program:
    """Its output is in NAME.out and NAME.err of the folder."""

    def __init__(self, name, *argv, there=False, cpu=None):
        self.name = name
        prefix = (inside_reflector if there else []) + (["taskset", "-c", str(cpu)] if cpu is not None else [])
        with open(self.path("out"), "wb") as out, open(self.path("err"), "wb") as err:
            self.process = subprocess.Popen([*prefix, *argv], stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        running.append(self)

    def path(self, kind):
        return os.path.join(work, f"{self.name}.{kind}")

    def text(self, kind):
        with open(self.path(kind), encoding="utf-8") as f:
            return f.read()

    def is_running(self):
        return self.process.poll() is None

    def has_port(self, port):
        """Bound to it."""
        if not self.is_running():
            raise RuntimeError(f"{self.name} ended at once")
        with open(f"/proc/{self.process.pid}/net/udp", encoding="ascii") as f:
            return any(f":{port:04X}" in line.split()[1] for line in f)

    def has_lanes(self):
        """True when all per-peer sockets are open and unassigned. Between bind and connect they drop datagrams."""
        if not self.has_port(stamp.PORT):
            return False
        with open(f"/proc/{self.process.pid}/net/udp", encoding="ascii") as f:
            return sum(f":{stamp.PORT:04X}" in line.split()[1] and line.split()[2].endswith(":0001") for line in f) == LANES

    def wait(self, status=0):
        try:
            self.process.wait(GUARD_S)
        except subprocess.TimeoutExpired:
            complain(f"{self.name} hung: it was ended after {GUARD_S} s")
            self.process.kill()
            self.process.wait()
        running.remove(self)
        # More time was spent on lost probes than on all others, which depends on the machine.
        if status == 0 and "\nMeasurement: void: the peer did not answer" in self.text("out"):
            status = 3
        if status is not None:
            same(f"the exit status of {self.name}", self.process.returncode, status)
        return self.process.returncode

    def end(self, status=0, by=signal.SIGTERM):
        self.process.send_signal(by)
        return self.wait(status)

    def kill(self):
        self.process.kill()
        self.process.wait()
        running.remove(self)


def poll(what, condition):
    until = time.monotonic() + GUARD_S
    while not condition():
        if time.monotonic() > until:
            complain(f"waited {GUARD_S} s in vain for {what}")
            return False
        time.sleep(0.02)
    return True


def reflector(*arguments, name="r"):
    """More packets than any test sends: without a count a log is gigabytes, and its memory is touched before the start."""
    program = Program(name, rant, "--details", "-i", LINK, "--count", "100000", *arguments, there=True, cpu=last_cpu)
    poll("the reflector's sockets", program.has_lanes)
    return program


def emitter(*arguments, name="e"):
    """On a busy machine a process may not run for longer than the usual timeout."""
    return Program(name, rant, "--details", "-i", LINK, "-a", REFLECTOR_IP, "--timeout", "5000", *arguments, cpu=first_cpu)


def write_key(octets, name="key"):
    path = os.path.join(work, name)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="ascii") as f:
        f.write(octets.hex() + "\n")
    return path


def patiently(run):
    """run() returns a report first. Once more where the answer to the closing probe came too late, which rant waits for
    no longer than 100 ms: a busy machine may take longer."""
    for _ in range(5):
        told = run()
        if told[0].sections.get("Reflector's stamps", {}).get("At the end", 0) != 1:
            break
    return told


def has_key():
    """True if this rant supports --key; without libnettle it prints that as the reason."""
    done = subprocess.run([rant, "-i", LINK, "-a", REFLECTOR_IP, "--stamp", "user", "--count", "1", "--timeout", "1",
                           "--key", write_key(bytes(32))], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, timeout=GUARD_S, text=True, check=False)
    return "libnettle" not in done.stderr


# ---- Output of rant --------------------------------------------------------------------------------------------------

class Report:
    """Counts by section and row, e.g. row("Packets", "Lost"); stages: name -> number of samples."""

    def __init__(self, program):
        self.name, self.text = program.name, program.text("out")
        self.sections, self.stages, self.folded, section = {}, {}, [], None
        for line in self.text.splitlines():
            heading = re.match(r"([A-Z][A-Za-z' ]*?)(?: *[,(].*)?:$", line)
            if heading:
                section = self.sections.setdefault(heading[1], {})
            row = re.match(r"  ([A-Z][A-Za-z -]*?) *:  (\d+)", line)
            if row and section is not None:
                section[row[1]] = int(row[2])
            if line == "  all others 0":
                self.folded.append(section)
            stage = re.match(r"  ([A-Z].{21}) .{22} +(\d+) +\d+", line)
            if stage:
                self.stages[stage[1].strip()] = int(stage[2])
        verdict = re.search(r"^Measurement: (\w+)(.*)$", self.text, re.M)
        self.verdict, self.reasons = (verdict[1], verdict[2]) if verdict else (None, "")

    def row(self, section, name):
        try:
            rows = self.sections[section]
            return rows[name] if name in rows or not any(rows is folded for folded in self.folded) else 0
        except KeyError:
            complain(f"the report of {self.name} has no row '{name}' in '{section}'")
            return 0

    def rows(self, section, **want):
        """Names with _ for a blank."""
        for name, count in want.items():
            name = name.replace("_", " ")
            same(f"{self.name}: {section}, {name}", self.row(section, name), count)

    def balances(self):
        def of(*names):
            return sum(self.row("Packets", name) for name in names)

        same(f"{self.name}: Sent", of("Sent"), of("Warm-up", "Recorded", "Lost", "Unstamped", "Negative", "Stepped",
                                                  "Unfinished", "Closing"))
        same(f"{self.name}: Received", of("Received"), of("Answered", "Late", "Duplicate", "Foreign", "Malformed",
                                                          "Unverified"))

    def balances_as_reflector(self):
        def of(*names):
            return sum(self.row("Packets", name) for name in names)

        same(f"{self.name}: Sent", of("Sent"), of("Warm-up", "Recorded", "Unstamped", "Negative", "Stepped"))
        same(f"{self.name}: Received", of("Received"),
             of("Sent", "Foreign", "Malformed", "Unverified", "Unanswered", "Disallowed", "Too short", "No session",
                "Replayed", "Over rate"))


def read_log(path):
    """sequence number -> column -> nanoseconds, text of FLAGS, or None where there is no value. T2 and T3 are the
    reflector's stamps, whatever they are called there; the names of the file are in `.names`."""
    log = Log()
    with open(path, encoding="ascii") as f:
        lines = f.read().splitlines()
    if not true(f"{os.path.basename(path)} has no header", len(lines) >= 2):
        return log
    log.names = lines[0].split()
    for line in lines[2:]:
        if line.startswith("# "):
            continue
        record = {name: log_value(name, word) for name, word in zip(log.names, line.split())}
        for one in "T2", "T3":
            # If the program took the timestamp too, both share a column.
            others = [record[name] for name in log.names if name.startswith(f"{one}_") and name != f"{one}_SW"]
            record[one] = others[0] if others else record.get(f"{one}_SW")
        log[record.pop("SEQ")] = record
    return log


class Log(dict):
    names = ()


def log_value(name, word):
    if name == "FLAGS":
        return word
    if word == "-":
        return None
    if "." not in word:
        return int(word)
    seconds, rest = word.split(".")
    return int(seconds) * stamp.NS + int(rest)
