#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
What an emitter knows of both hosts (--log-full), compared with the truth. Beside all that truth.py compares, whose
arguments and expectations these are:

Every line of the emitter's log: T2_HW, T3_HW, RESPONSE, NETWORK by the parameters of simnic and by the reflector's own log;
FLAGS (why T3 is missing), and the counts of "Reflector's stamps" and "Directions", by a simulation of what the faults do to
the packets on their way and to the times that the next reply tells (simulate()); "unplaced" by the columns that are empty.
The table of stages by the columns of the log; Forward and Backward by the parameters, within the bound that is printed. With
--sw-timestamps and live=Y all eight times of a packet are put on one time line: they must be in order, and add up.

More for expectations:
    T                  lines of the emitter's log, {seq: {column: text}}
    stamps["Row"]      counts below "Reflector's stamps"       way["Row"]   counts below "Directions", 0 if not shown
    flagged("word")    sequence numbers that have this flag    stage["Row"] counts and percentiles of a stage, see Part
    struck("X_every", DIRECTION)   sequence numbers that this fault hit on their way there (1) or back (2)
    one_way_bound      ns, None if it is not printed
    stamp_slots        how many transmit stamps the NIC was found to take at once, None if no limit was found
"""
import re
from collections import Counter
from types import SimpleNamespace

import truth as t

THERE, BACK = 1, 2
FLAGS = {"Complete": "-", "Reply lost": "lost", "Unknown": "unknown", "Not reported": "untold", "Mixed": "mixed", "At the end": "end"}
live = t.told.get("live") == "Y"
scripted = t.par("period_ns", 100000) != 0
# Who knows when a stamp comes where every one is late, or which packet is sent before which of many is answered.
simulated = not t.par("tx_stamp_delay_us") and "\nWindow: " not in t.text_e


# ---- What must become of each packet ---------------------------------------------------------------------------------

def travel(packets, direction):
    """Packets (seq, ...) in the order of their arrival. A copy that the wire made has the mark True behind it."""
    arrived, held, copies = [], [], Counter()
    for packet in packets:
        copies[packet[0]] += 1
        spared = direction == BACK and t.par("drop_reply") not in (0, copies[packet[0]])
        if t.strikes("drop_every", packet[0], direction) and not spared:
            continue
        if t.strikes("reorder_every", packet[0], direction):
            held.append((*packet, False))
        else:
            arrived += [(*packet, False), *held]
            held = []
        if t.strikes("dup_every", packet[0], direction):
            arrived += [(*packet, True), *held]
            held = []
    return arrived + held


def count_losses(way, probes, arrived, answered, seen):
    """
    Each has its direction up to the last answer, unless the replies show a duplicated probe: then a number that is missing
    between those of two neighbours may be of its second reply. arrived: probes; answered: {seq: number}; seen: numbers.
    """
    lost = set(range(probes)) - set(answered)
    neighbours = [(-1, -1), *sorted(answered.items())]
    if any(one[1] > other[1] for one, other in zip(neighbours, neighbours[1:])):
        neighbours = [neighbours[0], (neighbours[-1][0], max(seen))]
    there, hidden = 0, 0
    for (first, early), (last, late) in zip(neighbours, neighbours[1:]):
        more = len(lost & set(range(first, last))) - len(set(range(early + 1, late)) - seen)
        there, hidden = there + max(0, more), hidden + max(0, -more)
    if way["Duplicated forward"] or hidden:
        way.update({"Duplicated forward": hidden, "Lost forward": there, "Direction unknown": len(lost) - there})
        return
    newest = max(answered, default=-1)
    for seq in lost:
        way["Direction unknown" if seq > newest else "Lost backward" if seq in arrived else "Lost forward"] += 1


def simulate(probes, closing):
    """
    One probe after the other, each answered or given up; what the replies tell of the one before; and the order of all. With
    closing the last probe's first answer ends it. The flag of every sample that is recorded, and counts.
    """
    known = SimpleNamespace(flags={}, way=Counter(), came_late=0, late=0)
    there = travel([(seq,) for seq in range(probes)], THERE)
    replies, t3 = [], []  # (seq, number of the reply, is its T2 the NIC's?); is the T3 of each told in time?
    for number, (seq, copy) in enumerate(there):
        replies.append((seq, number, copy or not t.strikes("rx_stamp_missing_every", seq, THERE)))
        t3.append(not t.strikes("tx_stamp_missing_every", seq, BACK) and not t.strikes("tx_stamp_late_every", seq, BACK))
    waiting, answered, newest, last = None, {}, -1, -1
    seen = set()
    for seq, number, t2, copy in travel(replies, BACK):
        if closing and newest == probes - 1:
            break
        told = number > 0 and t3[number - 1]
        fits = waiting is not None and waiting.number == number - 1
        again = seq in answered
        if seq <= newest and not again:
            known.late += 1
            known.way["Reordered forward" if number > last else "Reordered backward"] += 1
            known.came_late += told and not fits
        elif again:
            known.way["Duplicated backward" if number in seen else "Duplicated forward"] += 1
        if fits:
            known.flags[waiting.seq] = "unknown" if not told else "-" if waiting.t2 else "mixed"
        elif seq > newest and waiting:
            known.flags[waiting.seq] = "lost"
        if fits or seq > newest:
            waiting = None
        if seq > newest:
            stamped = not t.strikes("tx_stamp_missing_every", seq, THERE) and \
                (copy or not t.strikes("rx_stamp_missing_every", seq, BACK))
            waiting = SimpleNamespace(seq=seq, number=number, t2=t2) if stamped else None
            newest = seq
        answered.setdefault(seq, number)
        seen.add(number)
        last = max(last, number)
    if waiting:
        known.flags[waiting.seq] = "end"
    count_losses(known.way, probes, {seq for seq, _ in there}, answered, seen)
    return known


def words_of(line):
    """Of FLAGS; "-" is none of them, but means that T3 came."""
    words = set(line["FLAGS"].split(","))
    return words if words != {"unplaced"} else words | {"-"}


def why_no_t3(line):
    return ",".join(words_of(line) - {"unplaced"})


def check_flags():
    """A reply that a stalled guest has let time out may have told of the one before, or not; a late stamp may be in time."""
    stalled = {seq for seq in sent if seq not in T and seq in expected.flags}
    wrong = []
    for seq, line in T.items():
        allowed = {expected.flags.get(seq)}
        if t.strikes("tx_stamp_late_every", seq, BACK):
            allowed.add("-")
        after = seq + 1  # the next probe whose reply could report it
        while after < t.N and after not in T and after not in stalled:
            after += 1
        if after in stalled:
            allowed |= {"-", "lost"}
        if why_no_t3(line) not in allowed:
            wrong.append(f"e.log: #{seq} has the flag {line['FLAGS']}, not {' or '.join(sorted(map(str, allowed)))}")
    t.complaints.extend(wrong[:3])
    if len(wrong) > 3:
        t.complain(f"e.log: {len(wrong)} of {len(T)} flags are wrong")
    return stalled


def check_counts(stalled):
    flags = Counter(why_no_t3(line) for line in T.values())
    for row, flag in FLAGS.items():
        if not t.e.get("Negative") and stamps[row] != flags[flag] + (1 if t.wrong else 0):
            t.complain(f"Reflector's stamps: {row} {stamps[row]}, but {flags[flag]} lines have the flag {flag}")
    if sum(stamps[row] for row in FLAGS) != t.e.get("Recorded", 0) + t.e.get("Negative", 0):
        t.complain("Reflector's stamps: the counts do not add up to what was recorded")
    if not simulated:
        return
    for row in ("Lost forward", "Lost backward", "Direction unknown", "Duplicated forward", "Duplicated backward", "Reordered forward", "Reordered backward", "Restarts"):
        if way[row] != expected.way[row] and not (row.startswith("Late") and stalled):
            t.complain(f"Directions: {row} {way[row]}, not {expected.way[row]}")
    if not stalled and (stamps["Too late"], t.e.get("Late", 0)) != (expected.came_late, expected.late):
        t.complain(f"{stamps['Late stamps']} follow-ups and {t.e.get('Late')} replies came late, not {expected.came_late} and "
                   f"{expected.late}")


# ---- What each line says ---------------------------------------------------------------------------------------------

def on_the_wire(ns):
    """A packet has 32 bits for the seconds (IEEE 1588 truncated, RFC 8186). The first time is read as one after 1970; a clock that
    passes the end of that goes on."""
    return ns - first_ns // (2**32 * t.NS) * 2**32 * t.NS


def true_network(line, response):
    """To the nanosecond; of a live exchange, whose response is not known before, by the rates of the clocks."""
    if not live:
        first, last = t.true_stamps("e", int(line["SEQ"]))
        return last - first - response
    rates = [1 + ppb / 1e9 for ppb in t.P.get("drift_ppb", [0, 0, 0])]
    times = t.true_times(int(line["SEQ"]))
    wires = times[1] - times[0] + times[3] - times[2]
    true_response = response / rates[1]
    return (wires + true_response) * rates[t.emitter] - response


def faults_of(line):
    seq, rtt = int(line["SEQ"]), int(line["RTT"])
    t2, t3 = (t.optional(line[name], t.ns) for name in ("T2_HW", "T3_HW"))
    response, network = (t.optional(line[name]) for name in ("RESPONSE", "NETWORK"))
    own = own_log.get(seq, set())
    # T2_SW has no place where T3_SW has none, but may also not have been asked for.
    empty = [name for name in ("T1_SW", "T4_SW", "T3_SW") if line.get(name) == "-"]
    if ("unplaced" in words_of(line)) != bool(empty) and "stepped" not in words_of(line):
        yield f"flags {line['FLAGS']}, but the columns that are empty are: {' '.join(empty)}"
    missing = t.strikes("rx_stamp_missing_every", seq, THERE) and why_no_t3(line) != "-"
    if (t2 is None) != missing:
        yield f"T2_HW is {line['T2_HW']}"
    if why_no_t3(line) != "-":
        if (t3, response, network) != (None, None, None):
            yield f"flag {line['FLAGS']}, but there is T3_HW, RESPONSE or NETWORK"
        if t2 is not None and own and t2 not in {on_the_wire(one) for one, _ in own}:
            yield f"T2_HW {t2} is not in the reflector's log"
        if t2 is not None and scripted and t2 != on_the_wire(t.true_stamps("r", seq)[0]):
            yield f"T2_HW {t2}, but the truth is {t.true_stamps('r', seq)[0]}"
        return
    if None in (t2, t3, response, network):
        yield "something is missing, but it has no flag"
        return
    if response + network != rtt:
        yield f"{response} + {network} is not {rtt}"
    if response != t3 - t2:
        yield f"RESPONSE {response} is not T3_HW - T2_HW"
    if (t2, t3) not in {(on_the_wire(one), on_the_wire(other)) for one, other in own}:
        yield f"T2_HW {t2} and T3_HW {t3} are not in the reflector's log: {sorted(own)}"
    true = t.true_stamps("r", seq)
    if scripted and (t2, t3) != (on_the_wire(true[0]), on_the_wire(true[1])):
        yield f"T2_HW {t2} and T3_HW {t3}, but the truth is {true[0]} and {true[1]}"
    if not live and response != true[1] - true[0]:
        yield f"RESPONSE {response}, but the truth is {true[1] - true[0]}"
    if abs(network - true_network(line, response)) > (3 if live and "drift_ppb" in t.P else 0):
        yield f"NETWORK {network}, but the truth is {true_network(line, response)}"


def check_lines():
    wrong = []
    for seq, line in T.items():
        for text in faults_of(line):
            wrong.append(f"e.log: #{seq}: {text}")
    t.complaints.extend(wrong[:3])
    if len(wrong) > 3:
        t.complain(f"e.log: {len(wrong)} faults in {len(T)} lines")


# ---- All eight on one time line --------------------------------------------------------------------------------------

def bound_of(text, row):
    found = re.search(rf"^  {row} +: user-space times are on .* within \+-(\d+) ns$", text, re.M)
    if not found:
        t.complain(f"no bound is printed for: {row}")
    return int(found.group(1)) if found else 0


TIMES = ("T1_SW", "T1_HW", "T2_HW", "T2_SW", "T3_SW", "T3_HW", "T4_HW", "T4_SW")


def line_up(line):
    """The times that there are, those there by the clock of here. Without drift, the offsets are known."""
    offset = t.P.get("phc_offset_ns", [0, 0, 0])
    here, there = offset[t.emitter], offset[1]
    offsets = {"1": here, "2": there, "3": there, "4": here}
    return {name: t.ns(line[name]) - offsets[name[1]] for name in TIMES if line[name] != "-"}


def out_of_line(line, bound, own_bound):
    """bound: of the times of user space, by the number in the name."""
    at, steady = line_up(line), "drift_ppb" not in t.P
    wires = t.true_times(int(line["SEQ"]))
    for (early, one), (late, other) in zip(at.items(), list(at.items())[1:]):
        slack = sum(bound[name[1]] for name in (early, late) if name.endswith("SW"))
        same_host = (early[1] in "14") == (late[1] in "14")
        if other - one < -slack and (same_host or steady):
            yield f"{late} is {one - other} ns before {early}, the bound is {slack}"
    for name in ("T2_SW", "T3_SW"):
        # What the reflector has no stamp of is not in its log, but a second answer to the same probe may be.
        own = own_lines.get(int(line["SEQ"]), []) if "-" not in (line["T2_HW"], line[name]) else []
        # Both place them, but the reflector looks later: just at a step one may know what the other does not.
        own = [one for one in own if one[name] != "-"]
        if own and all(abs(t.ns(line[name]) - t.ns(one[name])) > bound[name[1]] + own_bound for one in own):
            yield f"{name} {line[name]} is not that of the reflector's log"
    if not steady or len(at) < len(TIMES):
        return
    there, back = wires[1] - wires[0], wires[3] - wires[2]
    if (at["T2_HW"] - at["T1_HW"], at["T4_HW"] - at["T3_HW"]) != (there, back):
        yield f"the wires took {at['T2_HW'] - at['T1_HW']} and {at['T4_HW'] - at['T3_HW']} ns, not {there} and {back}"
    stages = [t.ns(line[late]) - t.ns(line[early]) for early, late in
              (("T1_SW", "T1_HW"), ("T2_HW", "T2_SW"), ("T2_SW", "T3_SW"), ("T3_SW", "T3_HW"), ("T4_HW", "T4_SW"))]
    if sum(stages) + there + back != at["T4_SW"] - at["T1_SW"]:
        yield f"the stages and the wires do not add up to {at['T4_SW'] - at['T1_SW']} ns"
    if sum(stages[1:4]) + there + back != int(line["RTT"]):
        yield f"the stages there and the wires do not add up to {line['RTT']} ns"


def check_line_up():
    if not live or "T1_SW" not in columns:
        return
    here, there = bound_of(t.text_e, "Stages"), bound_of(t.text_e, "Remote stages")
    own_bound, bound = bound_of(t.text_r, "Stages"), {"1": here, "2": there, "3": there, "4": here}
    wrong = [f"e.log: #{seq}: {text}" for seq, line in T.items() for text in out_of_line(line, bound, own_bound)]
    t.complaints.extend(wrong[:3])
    if len(wrong) > 3:
        t.complain(f"e.log: {len(wrong)} times out of line")


# ---- The table of stages ---------------------------------------------------------------------------------------------

def value_of(line, column):
    text = line.get(column, "-")
    return None if text == "-" else t.ns(text) if "." in text else int(text)


def compare_part(part, values, slack, width):
    """Are these, in order, what the row shows? Each may be off by slack, and is rounded down to its bucket: the width, above 100 us 1/1024."""
    if part.samples + part.negative != len(values):
        t.complain(f"stage {part.name}: {part.samples} samples and {part.negative} negative, but there are {len(values)}")
        return
    if not slack and part.negative != sum(value < 0 for value in values):
        t.complain(f"stage {part.name}: {part.negative} negative, but {sum(value < 0 for value in values)} are")
    counted = values[part.negative:]
    for name, shown in part.ns.items():
        true = counted[-1] if name == "max" else sum(counted) / len(counted) if name == "mean" else \
            t.nearest_rank(counted, name)
        rounding = 1 if name == "mean" else 0 if name == "max" else max(width - 1, true // 1024 if true >= 100000 else 0)
        if shown is not None and not true - slack - rounding <= shown - (1 if t.wrong else 0) <= true + slack + \
                (1 if name == "mean" else 0):
            t.complain(f"stage {part.name}: {name} is {shown} ns, but the log says {true} (+-{slack})")


def check_histogram(column, width):
    """The smaller histograms: extremes and percentiles, in microseconds. Buckets that are wider than 1 ns round down."""
    values = [int(line[column]) for line in T.values() if line[column] != "-"]
    values = sorted(value for value in values if value >= 0)
    if "Histogram Summary" not in t.text_e or not values:
        return
    text = t.section(t.text_e, f"{column.capitalize()} Histogram")
    found = re.search(r"^  (\d+) samples from ([\d.]+) \(#(\d+)\) to ([\d.]+) \(#(\d+)\)$", text, re.M)
    ends = [f"{value / 1000:.3f}" for value in (values[0], values[-1])]
    if not found or [found.group(2), found.group(4)] != ends or int(found.group(1)) != len(values) or \
            [T.get(int(found.group(i)), {}).get(column) for i in (3, 5)] != [str(values[0]), str(values[-1])]:
        t.complain(f"{column.capitalize()} Histogram: {found and found.group(0)}, but {len(values)} from {ends[0]} to {ends[1]}")
    shown = re.findall(r"([\d.]+th) ([\d.]+)", text)
    if len(shown) < 6:
        t.complain(f"{column.capitalize()} Histogram: only {len(shown)} percentiles")
    for name, value in shown:
        true, given = t.nearest_rank(values, name), round(float(value) * 1000) - (1 if t.wrong else 0)
        if not true - max(width - 1, true // 1024 if true >= 100000 else 0) <= given <= true:
            t.complain(f"{column.capitalize()} Histogram: {name} is {value} us, but the log sorted says {true} ns")


def check_stages():
    resolution = re.search(r"^  Resolution: +([\d.]+) us", t.text_e, re.M)
    width = round(float(resolution.group(1)) * 1000) if resolution else 1
    for part in stage.values():
        names = part.formula.split(" - ")
        # A negative round trip is in no log.
        if len(names) != 2 or (part.name == "Round trip" and part.negative):
            continue
        pairs = [[value_of(line, name) for name in names] for line in T.values()]
        compare_part(part, sorted(late - early for late, early in pairs if None not in (late, early)), 0, width)
    check_histogram("RESPONSE", width)
    check_histogram("NETWORK", width)


def check_one_way():
    """Each way is within the bound. A clock that drifts makes nanoseconds a little shorter or longer."""
    if one_way_bound is None:
        return
    for name, first in (("Forward", 0), ("Backward", 2)):
        times = [t.true_times(seq) for seq, line in T.items() if why_no_t3(line) == "-"]
        slack = one_way_bound + (2 if "drift_ppb" in t.P else 0)
        compare_part(stage[name], sorted(at[first + 1] - at[first] for at in times), slack, 10)


# ---- All of it -------------------------------------------------------------------------------------------------------

lines = t.lines_of("e")
columns = list(lines[0]) if lines else []
T = {int(line["SEQ"]): line for line in lines}
own_lines, own_log, first_ns = {}, {}, None
for own_line in t.lines_of("r"):
    first_ns = t.ns(own_line["T2_HW"]) if first_ns is None else first_ns
    own_lines.setdefault(int(own_line["SEQ"]), []).append(own_line)
    own_log.setdefault(int(own_line["SEQ"]), set()).add((t.ns(own_line["T2_HW"]), t.ns(own_line["T3_HW"])))
stamps = Counter(t.rows_of(t.section(t.text_e, "Reflector's stamps")))
way = Counter(t.rows_of(t.section(t.text_e, "Directions")))
stage = t.read_stages()
found = re.search(r"^  Forward and backward are within \+-(\d+) ns", t.text_e, re.M)
one_way_bound = int(found.group(1)) if found else None
# All but the probe after the end, and what the warm-up left out.
sent = range(t.e.get("Warm-up", 0), t.N - t.e.get("Closing", 0))
expected = simulate(t.N, t.e.get("Closing", 0) > 0)

for name in ("T2_HW", "T3_HW", "RESPONSE", "NETWORK", "FLAGS"):
    if name not in columns:
        t.complain(f"e.log has no column {name}")
if not t.complaints or "FLAGS" in columns:
    check_lines()
    check_counts(check_flags() if simulated else set())
    check_stages()
    check_one_way()
    check_line_up()
found = re.search(r"^  Transmit stamps at once: +(\d+)  \(with more at once some were missing", t.text_e, re.M)
t.names.update({"T": T, "stamps": stamps, "way": way, "stage": stage, "one_way_bound": one_way_bound,
                "stamp_slots": int(found.group(1)) if found else None,
                "flagged": lambda flag: {seq for seq, line in T.items() if flag in words_of(line)},
                "struck": lambda name, direction: {seq for seq in range(t.N) if t.strikes(name, seq, direction)}})
t.finish()
