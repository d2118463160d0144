# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads pictures of rant-plot --timeline, and compares them with the truth of make_spike.py. Prints a line for each difference.

read_spike.py PLOT svg FILE TRUTH: the bars of both hosts in the SVG
read_spike.py PLOT offset FOLDERS TRUTH: the offset between both hosts
"""
import json
import re
import sys
import xml.etree.ElementTree

sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True

SVG = "{http://www.w3.org/2000/svg}"
EVENTS = ("interrupt begins: irq 45 eth1-rx-1", "softirq begins: TIMER", "timer begins: wb_timer_fn", "a packet enters the stack from eth1")


def say(text):
    print(text)


def scale(texts):
    """(x of time 0, px per microsecond) of the axis."""
    marks = [(float(t.text), float(t.get("x"))) for t in texts if t.get("fill") == "#5f6b7a" and t.get("text-anchor") == "middle"]
    (a, x), (b, to_x) = marks[0], marks[-1]
    return x - a * (to_x - x) / (b - a), (to_x - x) / (b - a)


def check_svg(path, truth):
    root = xml.etree.ElementTree.parse(path).getroot()
    texts = list(root.iter(f"{SVG}text"))
    zero, px = scale(texts)
    bars = [(r.find(f"{SVG}title").text, (float(r.get("x")) - zero) / px, float(r.get("width")) / px)
            for r in root.iter(f"{SVG}rect") if r.find(f"{SVG}title") is not None]
    begin = truth["late_ns"] - truth["offset_ns"] - truth["first_ns"]
    wanted = [(r"NIC-to-kernel: 261 µs", begin / 1e3, 261), ("App-to-NIC: 4.00 µs", 0, 4),
              (r"softirq TIMER, wb_timer_fn: 254 µs", None, 254), (r"irq 23 ahci: 4.00 µs", begin / 1e3 + 100, 4)]
    for title, at, length in wanted:
        if not any(t == title and abs(wide - length) < 0.5 and (at is None or abs(x - at) < 0.5) for t, x, wide in bars):
            say(f"no bar '{title}' at {at} of {length} µs: {bars}")
    words = [t.text for t in texts]
    for text in EVENTS:
        if not any(text in one for one in words):
            say(f"no event '{text}'")
    if not any(one.startswith("NIC-to-kernel took 261 µs") and "Cause: softirq TIMER on CPU 1, 98 % of the excess." in one for one in words):
        say(f"no cause: {words[:3]}")
    bounds = [re.findall(r"[\d.]+", p.get("d")) for p in root.iter(f"{SVG}path")
              if p.find(f"{SVG}title") is not None and p.find(f"{SVG}title").text.startswith("position")]
    if len(bounds) != 2:
        say(f"{len(bounds)} bounds of the offset are drawn, not 2")


def check_offset(folder, truth):
    import logs
    import timeline
    program = logs.program
    logs.program = lambda fault="": sys.argv[5] if len(sys.argv) > 5 else program(fault)
    hosts, (offset, bound) = timeline.read_all([f"{folder}/reflect", f"{folder}/emit"])
    if [host.role for host in hosts] != ["emit", "reflect"]:
        say("the emitter is not first")
    if abs(offset - truth["offset_ns"]) > bound or not 0 < bound < 8000:
        say(f"offset {offset} +- {bound} ns, not {truth['offset_ns']}")
    for host in hosts:
        late = host.late
        for section in late["sections"] if late else ():
            if sum(part["value_ns"] for part in section["parts"]) != section["to_ns"] - section["from_ns"]:
                say(f"parts do not sum to the section: {section}")
        if late and sum(s["to_ns"] - s["from_ns"] for s in late["sections"]) != late["to_ns"] - late["from_ns"]:
            say("sections do not sum to the late stage")


if __name__ == "__main__":
    with open(sys.argv[4], encoding="ascii") as file:
        {"svg": check_svg, "offset": check_offset}[sys.argv[2]](sys.argv[3], json.load(file))
