#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Compares what two runs of rant printed with the truth, which is computed from the parameters of simnic (simnic.c says how).

    truth.py FOLDER

FOLDER holds e.out, e.log (emitter, on sim0), r.out, r.log (reflector, on sim1); before and after, the states of simnic
around the run; and judge.name, judge.complaints, judge.words: the name of the test, what it complains about
already, and a line each NAME=VALUE... -- EXPECTATION... NAME=VALUE are the parameters of simnic; SELF=1 makes the truth wrong
on purpose, so that each comparison that means anything fails.

Always compared, for every line of both logs: each stamp, the latency, that no sequence number is there twice; the accounts;
minimum, maximum, mean, percentiles and the number of lines. An expectation is an expression that must be true, of:
    e["Row"], r["Row"]   counts of the reports               a.name, b.name   counters of sim0, sim1 during the run
    E, R                 logs: {seq: latency}                hit("X_every")   sequence numbers of E's run that X hit
    N                    probes sent
Prints "ok - NAME", or "not ok - NAME" and the complaints.
"""
import os
import re
import sys
from types import SimpleNamespace

NS = 10**9
complaints = []


def complain(text):
    complaints.append(text)


def read(name):
    try:
        with open(os.path.join(folder, name), encoding="utf-8") as f:
            return f.read()
    except OSError as error:
        complain(f"{name}: {error.strerror}")
        return ""


def ns(text):
    seconds, rest = text.split(".")
    sign = -1 if seconds.startswith("-") else 1
    return sign * (int(seconds.lstrip("-")) * NS + int(rest))


def truncated(a, b):
    return abs(a) // b * (1 if a >= 0 else -1)


folder = sys.argv[1]
complaints += [line for line in read("judge.complaints").splitlines() if line]
words = read("judge.words").splitlines()
middle = words.index("--")
told = dict(word.split("=", 1) for word in words[:middle])
expectations = words[middle + 1:]
wrong = told.pop("SELF", "0") == "1"
P = {name: [int(v) for v in value.split(",")] if "," in value else int(value)
     for name, value in told.items() if re.fullmatch(r"-?\d+(,-?\d+)?", value)}


def par(name, default=0):
    return P.get(name, default)


def hits(name, seq):
    every = par(name)
    return every > 0 and seq >= par("from") and seq % every == every - 1


def true_times(seq):
    """T1 .. T4 in true time."""
    wire = par("wire_ns", 1000)
    back = par("wire_back_ns", -1)
    delays = [par("before_ns"), wire, par("response_ns", 5000), wire if back < 0 else back]
    if par("vary_steps"):
        delays[par("vary_stage", 1)] += par("vary_ns", 1) * (((seq * 2654435761 & 0xFFFFFFFF) >> 16) % par("vary_steps"))
    if hits("spike_every", seq) and par("spike_stage", 1) < 4:
        delays[par("spike_stage", 1)] += par("spike_ns")
    if wrong:
        delays[1] += 1
        delays[2] += 1
    t = par("epoch_ns", 1600000000 * NS) + seq * par("period_ns", 100000)
    return [t := t + d for d in delays]


def stamp(device, t, steps):
    offset = P.get("phc_offset_ns", [0, 0])[device]
    drift = P.get("drift_ppb", [0, 0])[device]
    return t + offset + steps + truncated((t - par("epoch_ns", 1600000000 * NS)) * drift, NS)


def true_stamps(side, seq):
    """(first, second) of the side's latency, by its own PHC."""
    t = true_times(seq)
    if side == "r":
        return stamp(1, t[1], 0), stamp(1, t[2], 0)
    at = par("step_at", -1)
    step = par("step_ns") if at >= 0 else 0
    return stamp(0, t[0], step if seq > at else 0), stamp(0, t[3], step if seq >= at else 0)


def rows_of(text):
    rows = {}
    for name, value in re.findall(r"^  (\S[\w -]*?) *:  (\d+)(?:  \(.*)?$", text, re.M):
        rows.setdefault(name, int(value))
    return rows


def counters_of(device):
    def table(name):
        return dict(re.findall(rf"^{device} (\w+): (\d+)$", read(name), re.M))
    before, after = table("before"), table("after")
    return SimpleNamespace(**{k: int(v) - int(before.get(k, 0)) + (1 if wrong else 0) for k, v in after.items()})


def check_log(side):
    """{seq: latency}. Every line against the truth; the first wrong ones are shown."""
    log, faults = {}, 0
    for line in read(f"{side}.log").splitlines()[2:]:
        seq, first, second, latency = line.split()
        seq, first, second, latency = int(seq), ns(first), ns(second), int(latency)
        if seq in log and not par("dup_every"):
            complain(f"{side}.log: #{seq} is there twice")
        log[seq] = latency
        expected = true_stamps(side, seq)
        good = second - first == latency
        if par("period_ns", 100000):
            good = good and (first, second) == expected
        else:
            good = good and latency == expected[1] - expected[0]
        if not good:
            faults += 1
            if faults <= 3:
                complain(f"{side}.log: #{seq} {first} {second} {latency}, but the truth is {expected[0]} "
                         f"{expected[1]} {expected[1] - expected[0]}")
    if faults > 3:
        complain(f"{side}.log: {faults} of {len(log)} lines are wrong")
    return log


PERCENTILES = {"50th": (50, 100), "90th": (90, 100), "95th": (95, 100), "99th": (99, 100), "99.9th": (999, 1000),
               "99.99th": (9999, 10000), "99.999th": (99999, 100000), "99.9999th": (999999, 1000000)}


def check_statistics(side, text):
    """Of all the lines, also those of a sequence number that is there twice."""
    lines = [line.split() for line in read(f"{side}.log").splitlines()[2:]]
    values = sorted(int(line[-1]) for line in lines)
    rows = rows_of(text)
    if rows.get("Recorded") != len(values):
        complain(f"{side}: {rows.get('Recorded')} recorded, {len(values)} lines in the log")
    found = re.search(r"MIN: (-?\d+) ns \| MAX: (-?\d+) ns \| AVG: (-?\d+) ns \| Total Samples: (\d+)", text)
    if not values:
        return
    if not found:
        complain(f"{side}.out has no statistics")
        return
    low, high, mean, total = (int(x) for x in found.groups())
    if (low, high, total) != (values[0], values[-1], len(values)) or abs(mean - sum(values) / total) > 0.501:
        complain(f"{side}.out: {found.group(0)}, but the log has {values[0]} {values[-1]} {sum(values) / total}")
    for name, value in (("Minimum", low), ("Maximum", high)):
        found = re.search(rf"^  {name} +:  \S+ us \(#(\d+)\)", text, re.M)
        if found and not any(line[0] == found.group(1) and int(line[-1]) == value for line in lines):
            complain(f"{side}.out: {name} is not the latency of #{found.group(1)}")
    shown = re.findall(r"^    (\S+th) *:  ([\d.]+)(?: \(Median\))?$", text, re.M)
    if "Histogram Summary" in text and len(shown) < 6:
        complain(f"{side}.out: only {len(shown)} percentiles")
    width = re.search(r"^  Resolution: +([\d.]+) us", text, re.M)
    limit = re.search(r"^ +([\d.]+) - +\(overflow\)", text, re.M)
    for name, value in shown:
        numerator, denominator = PERCENTILES[name]
        true = values[-(-len(values) * numerator // denominator) - 1]
        if width and true < round(float(limit.group(1)) * 1000):
            true -= true % round(float(width.group(1)) * 1000)
        if round(float(value) * 1000) != true + (1 if wrong else 0):
            complain(f"{side}.out: {name} is {value} us, but the log sorted says {true} ns")


def check_accounts(e, r):
    """The identities of the README."""
    def equal(what, left, right):
        if left != right:
            complain(f"{what}: {left} is not {right}")
    try:
        equal("emitter, sent", e["Sent"], sum(e[k] for k in ("Warm-up", "Recorded", "Lost", "Unstamped", "Negative",
                                                             "Stepped", "Unfinished")))
        equal("reflector, received", r["Received"], sum(r[k] for k in ("Sent", "Unanswered", "Foreign", "Malformed")))
        equal("reflector, sent", r["Sent"], sum(r[k] for k in ("Warm-up", "Recorded", "Unstamped", "Negative", "Stepped")))
        equal("emitter's sends by the NIC", e["Sent"], a.stamp_probes_sent)
        equal("reflector's sends by the NIC", r["Sent"], b.stamp_replies_sent)
        equal("reflector, received from the wire", r["Received"],
              a.stamp_probes_sent - a.dropped + a.duplicated)
        for name, rows in (("emitter", e), ("reflector", r)):
            for row in ("Foreign", "Malformed", "Refused", "Truncated"):
                equal(f"{name}, {row}", rows[row], 0)
        equal("strays", e["Strays"], 0)
    except KeyError as missing:
        complain(f"a report has no row {missing}")


text_e, text_r = read("e.out"), read("r.out")
e, r = rows_of(text_e), rows_of(text_r)
a, b = counters_of(0), counters_of(1)
E, R = check_log("e"), check_log("r")
N = e.get("Sent", 0)
check_statistics("e", text_e)
check_statistics("r", text_r)
check_accounts(e, r)
names = {"e": e, "r": r, "a": a, "b": b, "E": E, "R": R, "N": N, "text_e": text_e, "text_r": text_r,
         "hit": lambda name: {n for n in range(N) if hits(name, n)}}
for expectation in expectations:
    try:
        if not eval(expectation, names):  # the tests are the only authors
            values = [f"{word} = {eval(word, names)}" for word in
                      dict.fromkeys(re.findall(r'[er]\["[^"]+"\]|[ab]\.\w+|len\([ER]\)', expectation))]
            complain(f"not so: {expectation}   ({', '.join(values)})")
    except (KeyError, AttributeError, NameError) as missing:
        complain(f"{expectation}: there is no {missing}")
print(("not ok" if complaints else "ok") + " - " + read("judge.name").strip())
for line in complaints[:20]:
    print("# " + line)
for name in ("e.err", "e.out", "r.err", "r.out") if complaints and not wrong else ():
    print(f"# {name}:", *read(name).splitlines()[:30], sep="\n#   ")
sys.exit(1 if complaints else 0)
