#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Runs in which a clock is set, stands or runs at a wrong rate, by the running clocks (live=Y), compared with the truth. Beside what
truth.py compares of accounts and statistics, whose arguments and expectations these are:

Every NETWORK of the emitter's log is what the wires take; every RESPONSE fits into its round trip; Forward and Backward are within
the bound that is printed. RATE_PPM, a word beside the parameters: how far NETWORK may be off for each ns of the response. With it
NETWORK may also be off by as much as is not seen (docs/clocks.md): the time on the wires and 1 us. step_ns is not seen where the exchanges
around it are so far apart that the clocks may have parted by it: where the guest, or the machine, had other work.

More for expectations:
    T                  lines of the emitter's log, {seq: {column: text}}        stage["Row"]   see Part in truth.py
    hidden             sequence numbers of samples whose NETWORK is off by step_ns, which cannot be seen
    off_by             sequence numbers of the reflector's log whose RESPONSE is not the truth, {seq: ns}
    outage_is_reported(S)  the longest time without an answer is that of the blackout, S seconds or more
    stamps["Row"]      counts below "Reflector's stamps"                        says(REGEX)    the report does, somewhere
    flagged("word")    sequence numbers that have this flag
    jumped(NS)         the report has a jump of this size, within its bound
    verdict(REGEX)     the second line of the emitter's report, behind "Measurement: ", matches from its beginning; that the
                       thread had to wait for its CPU, which is common in the guest, is left out
"""
import re
from collections import Counter

import truth as t

WAITED = r"(?:the measuring thread had to wait for its CPU|the hypervisor took the measuring CPU) \([^;]*\)"


def verdict(regex):
    line = t.text_e.splitlines()[1]
    said = re.sub(rf"(: |; ){WAITED}(; )?", r"\1", line).rstrip("; ")
    return re.match("Measurement: " + regex, said) is not None


def can_hide(seq, off_ns):
    """The step may be in this sample: by its size, and by what clocks part (977 ppm) between its neighbours."""
    neighbours = sorted(T)
    at = neighbours.index(seq)
    before, after = (T[n]["T1_HW"] for n in (neighbours[max(at - 1, 0)], neighbours[min(at + 1, len(T) - 1)]))
    unseen = t.par("wire_ns") + t.par("wire_back_ns") + 1000 + (t.ns(after) - t.ns(before)) * 977 // 10**6
    return abs(off_ns - abs(t.par("step_ns"))) <= 2 and off_ns <= unseen


def check_lines():
    wrong = []
    wires = t.par("wire_ns") + t.par("wire_back_ns") + (1 if t.wrong else 0)
    for seq, line in T.items():
        response, network = (t.optional(line[name]) for name in ("RESPONSE", "NETWORK"))
        if network is None:
            continue
        unseen = wires + 1000 + response * t.par("RATE_PPM") // 10**6 if t.par("RATE_PPM") else 0
        off = abs(network - wires)
        if off > 2 + unseen and not hidden and can_hide(seq, off):
            hidden.add(seq)
        elif off > 2 + unseen:
            wrong.append(f"e.log: #{seq}: NETWORK {network}, but the truth is {wires}")
    t.complaints.extend(wrong[:3])
    if len(wrong) > 3:
        t.complain(f"e.log: {len(wrong)} of {len(T)} network times are wrong")


def check_responses():
    """What the reflector recorded itself: the round trip of its packet less what the wires take."""
    wires = t.par("wire_ns") + t.par("wire_back_ns")
    for seq, response in ((int(line["SEQ"]), int(line["RESPONSE"])) for line in t.lines_of("r")):
        off = response - (int(T[seq]["RTT"]) - wires) if seq in T else 0
        if abs(off) > 2 + (1000 + response * t.par("RATE_PPM") // 10**6 if t.par("RATE_PPM") else 0):
            off_by[seq] = off


def check_one_way():
    found = re.search(r"^  Forward and backward are within \+-(\d+) ns", t.text_e, re.M)
    if not found or hidden:
        return
    bound = int(found.group(1))
    for name, true in (("Forward", t.par("wire_ns")), ("Backward", t.par("wire_back_ns"))):
        part = t.read_stages()[name]
        wrong = part.samples and (part.ns["max"] > true + bound or part.ns["50th"] < true - bound - true // 1024)
        if wrong or part.negative and true > bound:
            t.complain(f"{name}: {part.ns}, {part.negative} negative; the truth is {true} +-{bound}")


def outage_is_reported(seconds):
    """
    Within 1 % or 10 ms, and the longest time for which the emitter says that its own loop stood, from T1 of the first exchange that was
    dropped, as simnic says in the file "blackout": until the next answer; or until the next probe that was answered was sent, where others
    were in flight meanwhile.
    """
    state = dict(re.findall(r"^0 (lost_\w+): (\d+)$", t.read("blackout"), re.M))
    found = re.search(r"^  Outages *: .* the longest ([0-9.]+) s", t.text_e, re.M)
    if not state or not found:
        return False
    first = int(state["lost_seq"])
    after = T[min(seq for seq in T if seq > first)]
    truths_ns = [t.ns(after[end]) - int(state["lost_t1"]) for end in ("T1_HW", "T4_HW")]
    reported_ns = round(float(found.group(1)) * 1e9)
    stalled = re.search(r"^  Stalled for: .* the longest ([0-9.]+) s", t.text_e, re.M)
    stalled_ns = float(stalled.group(1)) * 1e9 if stalled else 0
    return first not in T and max(truths_ns) >= seconds * 1e9 - stalled_ns and \
        any(abs(reported_ns - truth) <= max(truth / 100, 10e6) + stalled_ns for truth in truths_ns)


def jumped(true_ns):
    """The report has a jump of this size within its bound, which is at most 10 us."""
    return any(abs(int(ns) - true_ns) <= int(bound) <= 10**4 for ns, bound in re.findall(r"jumped by ([+-]\d+) ns \(\+-(\d+)\)", t.text_e))


lines = t.lines_of("e")
T = {int(line["SEQ"]): line for line in lines}
hidden = set()
off_by = {}
check_lines()
check_responses()
check_one_way()
t.names.update({"T": T, "hidden": hidden, "stage": t.read_stages(), "verdict": verdict, "outage_is_reported": outage_is_reported, "off_by": off_by,
                "jumped": jumped,
                "says": lambda regex: re.search(regex, t.text_e) is not None,
                "flagged": lambda flag: {seq for seq, line in T.items() if flag in line["FLAGS"].split(",")},
                "stamps": Counter(t.rows_of(t.section(t.text_e, "Reflector's stamps")))})
t.finish()
