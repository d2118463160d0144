#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Compares all times that an emitter has of each packet (--stages full --log-full) with the times at which the simulated NICs had it.

    truth_twelve.py FOLDER

FOLDER holds e.npy, e.json and e.out of the emitter; truth, what /dev/simnic_truth had after the run (simnic_truth.h); and judge.name,
judge.complaints, judge.words: the name of the test, what it complains about already, and a line each NAME=VALUE... -- EXPECTATION...
NAME=VALUE are parameters of simnic; SELF=1 makes the truth wrong on purpose.

The times of the NICs must be equal. The kernel's time of a received packet must be within netif_receive_skb(), that of the driver
within ndo_start_xmit, that at the queueing discipline before it and after the send began, those of the program before or after all
these, none of them twice: each to within the bound that the report prints for its host. An expectation is an expression that must be true, of
    N, COUNT        records, probes             known["T1_SCHED"]   records with this time
    missing         the counts below "Missing stamps" of the report, by their names
Prints "ok - NAME", or "not ok - NAME" and the complaints, and the largest error of each time.
"""
import ast
import json
import os
import re
import struct
import sys

MISSING = -(2**63)
ROW = struct.Struct("=6q")  # struct truth of simnic_truth.h
SENT_STAMP, SENT_FROM, SENT_UNTIL, GOT_STAMP, GOT_FROM, GOT_UNTIL = range(6)

folder = sys.argv[1]


def read(name, mode="r"):
    with open(os.path.join(folder, name), mode) as f:
        return f.read()


def records(data):
    """Each record of an array of NumPy as {column: number}."""
    start = 10 + struct.unpack_from("<H", data, 8)[0]
    header = ast.literal_eval(data[10:start].decode())
    kinds = {"<u4": "I", "<u2": "H", "<i8": "q"}
    layout = struct.Struct("<" + "".join(kinds.get(kind, kind[2:] + "x") for _, kind in header["descr"]))
    names = [name for name, _ in header["descr"] if name]
    whole = len(data) - (len(data) - start) % layout.size
    for values in layout.iter_unpack(data[start:whole]):
        yield dict(zip(names, values))


complaints = [line for line in read("judge.complaints").splitlines() if line]
words = read("judge.words").splitlines()
middle = words.index("--")
told = dict(word.split("=", 1) for word in words[:middle])
COUNT = int(told["COUNT"])
wrong_ns = 1_000_000_000 if told.get("SELF") == "1" else 0
report = json.loads(read("e.json"))
bound = {"here": report["clocks"]["stages_within_ns"], "there": report["clocks"]["remote_stages_within_ns"]}
truth = read("truth", "rb")
missing = {name.strip(): int(count) for name, count in
           re.findall(r"^  ([A-Z][a-z ]+) *: +([0-9]+)", read("e.out").partition("\nMissing stamps:\n")[2].partition("\n\n")[0], re.M)}

# Of each host: the hardware stamps, where it received the packet and where it sent one; and its other times in their order.
HOSTS = {
    "here": ("T1_HW", "T4_HW", "T1_SW", "T1_SCHED", "T1_TXSW", "T4_KERNEL", "T4_SW"),
    "there": ("T3_HW", "T2_HW", "T3_SW", "T3_SCHED", "T3_TXSW", "T2_KERNEL", "T2_SW"),
}
known = {name: 0 for names in HOSTS.values() for name in names}
worst = dict.fromkeys(known, 0)
faults = dict.fromkeys(known, 0)
first = {}
seen = {name: set() for names in HOSTS.values() for name in (names[2], names[-1])}  # of the programs


def judge(record, name, earliest, latest, within):
    """None: no such limit."""
    value = record[name]
    if value == MISSING:
        return
    known[name] += 1
    value += wrong_ns
    error = max(0, earliest - value if earliest is not None else 0, value - latest if latest is not None else 0)
    worst[name] = max(worst[name], error)
    if error > within:
        faults[name] += 1
        first.setdefault(name, f"#{record['SEQ']} by {error} ns")


def judge_host(record, host, sent, got):
    sent_hw, got_hw, app_sent, queue, driver, kernel, app_got = HOSTS[host]
    within = bound[host]
    judge(record, sent_hw, sent[SENT_STAMP], sent[SENT_STAMP], 0)
    judge(record, got_hw, got[GOT_STAMP], got[GOT_STAMP], 0)
    judge(record, app_sent, None, sent[SENT_FROM], within)
    # Both are of the program's clock and placed alike: the send began before its packet was queued, with no error.
    judge(record, queue, record[app_sent] if record[app_sent] != MISSING else None, sent[SENT_FROM] + within, 0)
    judge(record, driver, sent[SENT_FROM], sent[SENT_UNTIL], within)
    judge(record, kernel, got[GOT_FROM], got[GOT_UNTIL], within)
    judge(record, app_got, got[GOT_FROM], None, within)
    for name in app_sent, app_got:
        if record[name] != MISSING and record[name] in seen[name]:
            complaints.append(f"#{record['SEQ']} has the {name} of an earlier packet")
        seen[name].add(record[name])


N = 0
for record in records(read("e.npy", "rb")):
    N += 1
    at = 2 * record["SEQ"] * ROW.size
    if at + 2 * ROW.size > len(truth):
        complaints.append(f"#{record['SEQ']} is beyond the truth")
        break
    probe, reply = ROW.unpack_from(truth, at), ROW.unpack_from(truth, at + ROW.size)
    judge_host(record, "here", probe, reply)
    judge_host(record, "there", reply, probe)

complaints += [f"{name}: {count} of {known[name]} are wrong, first {first[name]}" for name, count in faults.items() if count]
for expectation in words[middle + 1:]:
    if not eval(expectation):  # pylint: disable=eval-used # of the test
        complaints.append(f"{expectation} is not so: N {N}, known {known}, missing {missing}")
name = read("judge.name").strip()
print(f"not ok - {name}" if complaints else f"ok - {name}")
for line in complaints:
    print(f"# {line}")
print(f"# {name}: {N} records, bounds {bound['here']} and {bound['there']} ns; outside of what the NICs saw at most, in ns, of so many: " +
      ", ".join(f"{time} {worst[time]} of {known[time]}" for time in known))
