# SPDX-License-Identifier: GPL-2.0-or-later
"""A report compared with a report that was read and found good.

    compare_report.py GOOD REPORT

GOOD is a report as it was printed once. Any number stands for any other, and so many blanks for so many others. A line
that begins with "?" there may be missing, or be there several times; behind a line "?..." anything may come. What hangs on
the machine is left out of both: that it traces (another test may), how few samples support something, the rate while answered, for how long the loop stood, the period of spikes, modes,
intervals of percentiles, and reasons of the verdict that a busy machine has. Prints the first line that differs; exit status 1 if one does.
"""
import re
import sys

NUMBER = re.compile(r"(?<![\w.])[+-]?\d[\d,]*(\.\d+)?(?![\d]*(th\b|\w))\*?")
BUSY = re.compile("the measuring thread|the hypervisor took|slots of|page faults|the CPU|packets were dropped on receipt|memory of histogram|the NIC counted")


def shape_of(line):
    line = line.replace(" (too few for p99.9)", "")
    line = re.sub(r" \(\d+ while answered\)$", "", line)
    line = line.replace("  (folded; -v has all)", "").replace(" poll gap of ", " poll gaps of ")
    line = re.sub(r"  #+$", "", line)
    line = re.sub(r"(\d)\*", r"\1 ", line)
    return re.sub(r"\s+", " ", NUMBER.sub("0", line)).rstrip()


def as_brief(lines):
    """A brief report without what depends on the machine: the units of the answer, the reasons of the verdict, the name of the interface, and
    where the line of losses is broken."""
    if not any(line.startswith("Machine: ") for line in lines) or not lines[1].startswith("Measurement: "):
        return lines
    end = 2
    while end < len(lines) and lines[end].startswith("  "):
        end += 1
    rest = "\n".join(re.sub("^Machine: [a-z]+[0-9]+", "Machine: IFACE", line) for line in lines[end:])
    rest = re.sub(r"(?<=\n)Lost:.*(\n    .*)*(?=\nMachine:)", lambda lost: re.sub(r", late [0-9,]+(?=[;,])", "", lost[0].replace("\n   ", "")), rest)
    return [re.sub(r"(?<=\d) (us|ms|s)\b", " us", lines[0]), "Measurement:", *rest.split("\n")]


def without_busy(lines):
    """The verdict, and the level in the line above it, as a machine with nothing else to do would have them."""
    found = re.match(r"Measurement: (\w+)(: .*)?$", lines[1])
    if not found or not lines[0].endswith(": " + found[1]):
        return lines
    reasons = [one for one in (found[2] or "")[2:].split("; ") if one and not BUSY.match(one)]
    level = found[1] if reasons else "trusted"
    return [lines[0][:-len(found[1])] + level, f"Measurement: {level}" + (": " if reasons else "") + "; ".join(reasons),
            *lines[2:]]


def without_modes(text):
    """In the complete report a paragraph, in the brief report one line or two."""
    text = re.sub(r"^Modes:\n(  .*\n)+\n?", "", text, flags=re.M)
    return re.sub(r"^(\d+ modes of|Thin peak of) .*\n(    .*\n)?", "", text, flags=re.M)


def read(path):
    with open(path, encoding="ascii") as f:
        text = re.sub(r"\n{1,2}Spikes come every .*(\n    .*|\n  in the .*)*", "", f.read())
    text = text.replace(", tracing is on", "")
    text = re.sub(r"^  95 % intervals of the .*\n(    .*\n)+", "", text, flags=re.M)
    lines = without_busy(as_brief(without_modes(text).splitlines()))
    return [shape_of(line) for line in lines if not re.search("fewer than ten samples are above|^  Stalled for:|^  The negative values|^Note: tracing is on ", line)]


def compare(good, report):
    at = 0
    for line in report:
        options = []
        while at + len(options) < len(good) and good[at + len(options)].startswith("?"):
            options.append(good[at + len(options)][1:])
        if "..." in options or line in options:
            continue
        at += len(options)
        if at == len(good):
            return f"'{line}' is behind the end"
        if good[at] != line:
            return f"'{line}' is not '{good[at]}'"
        at += 1
    rest = [line for line in good[at:] if not line.startswith("?")]
    return f"it ends before '{rest[0]}'" if rest else ""


def main():
    wrong = compare(read(sys.argv[1]), read(sys.argv[2]))
    if wrong:
        print(wrong)
    sys.exit(1 if wrong else 0)


main()
