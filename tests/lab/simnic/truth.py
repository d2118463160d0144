#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Compares what two runs of rant printed with the truth, which is computed from the parameters of simnic (simnic.c says how).

    truth.py FOLDER

FOLDER holds e.out, e.log (emitter, on sim0), r.out, r.log (reflector, on sim1); before and after, the states of simnic
around the run; and judge.name, judge.complaints, judge.words: the name of the test, what it complains about
already, and a line each NAME=VALUE... -- EXPECTATION... NAME=VALUE are the parameters of simnic; SELF=1 makes the truth wrong
on purpose, so that each comparison that means anything fails. EMITTER=0 or EMITTER=2 says that another emitter ran beside this one,
and which of sim0 and sim2 this one was on. The reflector's report and log are of both then: each of its lines must be true for one
of them.

Always compared, for every line of both logs: each stamp, the latency, that no sequence number is there twice; the accounts;
minimum, maximum, mean, percentiles and the number of lines; e.json and r.json, where --json has written them, with the schema and the
reports. An expectation is an expression that must be true, of:
    e["Row"], r["Row"]   counts of the reports               a.name, b.name   counters of sim0, sim1 during the run
    E, R                 logs: {seq: latency}                hit("X_every")   sequence numbers of E's run that X hit
    N                    probes sent                         c.name           with EMITTER: counters of the other one
    beside               with EMITTER: lines of the other one between the first and the last of R
Prints "ok - NAME", or "not ok - NAME" and the complaints. truth_eight.py takes all this from here and adds to it.
"""
import os
import re
import subprocess
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


def optional(text, convert=int):
    """A column of a log; None where it says that there is no such thing."""
    return None if text == "-" else convert(text)


def truncated(a, b):
    return abs(a) // b * (1 if a >= 0 else -1)


folder = sys.argv[1]
complaints += [line for line in read("judge.complaints").splitlines() if line]
words = read("judge.words").splitlines()
middle = words.index("--")
told = dict(word.split("=", 1) for word in words[:middle])
expectations = words[middle + 1:]
wrong = told.pop("SELF", "0") == "1"
is_one_of_two = "EMITTER" in told
emitter = int(told.pop("EMITTER", "0"))
P = {name: [int(v) for v in value.split(",")] if "," in value else int(value)
     for name, value in told.items() if re.fullmatch(r"-?\d+(,-?\d+)*", value)}


def par(name, default=0):
    return P.get(name, default)


def hits(name, seq):
    every = par(name)
    return every > 0 and seq >= par("from") and seq % every == every - 1


def strikes(name, seq, direction):
    """Does this fault hit the probe (direction 1) or the reply (2)?"""
    by_turns = told.get("alternate") == "Y"
    return (hits(name, seq) and par("directions", 3) & direction != 0 and
            (not by_turns or seq // par(name) % 2 == direction - 1))


def true_times(seq, device=emitter):
    """T1 .. T4 in true time, of an exchange that the device has begun."""
    more = par("third_ns") if device == 2 else 0
    wire = par("wire_ns", 1000)
    back = par("wire_back_ns", -1)
    delays = [par("before_ns"), wire + more, par("response_ns", 5000), (wire if back < 0 else back) + more]
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
    offset = P.get("phc_offset_ns", [0, 0, 0])[device]
    drift = P.get("drift_ppb", [0, 0, 0])[device]
    return t + offset + steps + truncated((t - par("epoch_ns", 1600000000 * NS)) * drift, NS)


def true_stamps(side, seq, device=emitter):
    """(first, second) of the side's latency, by its own PHC."""
    t = true_times(seq, device)
    if side == "r":
        return stamp(1, t[1], 0), stamp(1, t[2], 0)
    at = par("step_at", -1)
    step = par("step_ns") if at >= 0 else 0
    return stamp(device, t[0], step if seq > at else 0), stamp(device, t[3], step if seq >= at else 0)


def section(text, title):
    """What is indented below a heading that begins like that."""
    found = re.search(rf"^{title}.*\n((?:  .*\n)*)", text, re.M)
    return found.group(1) if found else ""


class Rows(dict):
    """Counts of a report by row: 0 where it folds those."""
    folded = False

    def __missing__(self, name):
        if self.folded:
            return 0
        raise KeyError(name)


def rows_of(text):
    rows = Rows()
    rows.folded = "\n  all others 0\n" in text
    for name, value in re.findall(r"^  (\S[\w -]*?) *:  (\d+)(?:  \(.*)?$", text, re.M):
        rows.setdefault(name, int(value))
    return rows


def counters_of(device):
    def table(name):
        return dict(re.findall(rf"^{device} (\w+): (\d+)$", read(name), re.M))
    before, after = table("before"), table("after")
    return SimpleNamespace(**{k: int(v) - int(before.get(k, 0)) + (1 if wrong else 0) for k, v in after.items()})


COLUMNS = {"e": ("T1_HW", "T4_HW", "RTT"), "r": ("T2_HW", "T3_HW", "RESPONSE")}


def lines_of(side):
    """The log's records, each {column: text}; not its notes."""
    lines = read(f"{side}.log").splitlines()
    names = lines[0].split() if lines else []
    return [dict(zip(names, line.split())) for line in lines[2:] if not line.startswith("#")]


def is_of_other(line):
    """Is this line of the reflector's log of the other emitter?"""
    stamps = ns(line["T2_HW"]), ns(line["T3_HW"])
    return is_one_of_two and stamps == true_stamps("r", int(line["SEQ"]), 2 - emitter)


def count_beside():
    """Lines of the other emitter between the first and the last of this emitter."""
    order = [is_of_other(line) for line in lines_of("r")]
    own = [place for place, other in enumerate(order) if not other]
    return sum(order[own[0]:own[-1]]) if own else 0


def check_log(side):
    """{seq: latency}. Every line against the truth; the first wrong lines are shown."""
    log, faults = {}, 0
    one, other, difference = COLUMNS[side]
    for line in lines_of(side):
        seq, first, second, latency = int(line["SEQ"]), ns(line[one]), ns(line[other]), int(line[difference])
        if side == "r" and is_of_other(line) and second - first == latency:
            continue
        if seq in log and not par("dup_every"):
            complain(f"{side}.log: #{seq} is there twice")
        log[seq] = latency
        expected = true_stamps(side, seq)
        good = second - first == latency
        if par("period_ns", 100000):
            good = good and (first, second) == expected
        elif told.get("live") != "Y":
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


def nearest_rank(values, name):
    """Of values in order."""
    numerator, denominator = PERCENTILES[name]
    return values[-(-len(values) * numerator // denominator) - 1]


def check_histogram(what, text, values, lines, column):
    """What is printed below "... Histogram" or "Histogram Summary" of values, which are in order."""
    for name, value in (("Minimum", values[0]), ("Maximum", values[-1])):
        found = re.search(rf"^  {name} +:  \S+ us \(#(\d+)\)", text, re.M)
        if found and not any(line["SEQ"] == found.group(1) and line[column] == str(value) for line in lines):
            complain(f"{what}: {name} is not that of #{found.group(1)}")
    shown = re.findall(r"^    (\S+th) *:  ([\d.]+)(?: \(Median\))?$", text, re.M)
    if len(shown) < 6:
        complain(f"{what}: only {len(shown)} percentiles")
    width = re.search(r"^  Resolution: +([\d.]+) us", text, re.M)
    limit = re.search(r"^ +([\d.]+) - +\(overflow\)", text, re.M)
    for name, value in shown:
        true = nearest_rank(values, name)
        if width and true < round(float(limit.group(1)) * 1000):
            true -= true % round(float(width.group(1)) * 1000)
        # From --overflow on, a bucket is at most 1/1024 of its value wide; the largest samples are exact.
        slack = true // 1024 if limit and true >= round(float(limit.group(1)) * 1000) else 0
        if not true - slack <= round(float(value) * 1000) - (1 if wrong else 0) <= true:
            complain(f"{what}: {name} is {value} us, but the log sorted says {true} ns")


def check_statistics(side, text):
    """Of all the lines, also those of a sequence number that is there twice."""
    lines, column = lines_of(side), COLUMNS[side][2]
    values = sorted(int(line[column]) for line in lines)
    rows = accounts_of(text)
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
    if "Histogram Summary" in text:
        check_histogram(f"{side}.out, Histogram Summary", section(text, "Histogram Summary"), values, lines, column)


SHOWN = ["50th", "90th", "95th", "99th", "99.9th", "99.99th"]


class Part:
    """A row: samples, negative, and what is shown in ns: percentiles by SHOWN, "max", "mean"; None for a bound."""
    def __init__(self, words):
        self.name, self.formula, self.samples, self.negative = words[0], words[1], int(words[2]), int(words[3])
        values = [None if word.startswith(">=") else round(float(word) * 1000)
                  for word in " ".join(words[4:]).replace("*", " ").split()]
        self.ns = dict(zip([*SHOWN, "max", "mean"], values))


def read_stages():
    rows = {}
    for line in section(text_e, r"Stages \(us\):").splitlines():
        words = re.split(r"\s{2,}", line.strip(), maxsplit=2)
        if len(words) == 3:
            rows[words[0]] = Part(words[:2] + words[2].split())
    return rows


def check_accounts(e, r):
    """The identities of docs/report.md."""
    def equal(what, left, right):
        if left != right:
            complain(f"{what}: {left} is not {right}")
    try:
        equal("emitter, sent", e["Sent"], sum(e[k] for k in ("Warm-up", "Recorded", "Lost", "Unstamped", "Negative",
                                                             "Stepped", "Unfinished", "Closing")) + e.get("Not asked", 0))
        equal("emitter, received", e["Received"], sum(e[k] for k in ("Answered", "Late", "Duplicate", "Foreign", "Malformed",
                                                                     "Unverified")))
        equal("reflector, received", r["Received"], sum(r[k] for k in ("Sent", "Unanswered", "Foreign", "Malformed",
                                                                       "Unverified", "Replayed")))
        equal("reflector, sent", r["Sent"], sum(r[k] for k in ("Warm-up", "Recorded", "Unstamped", "Negative", "Stepped")))
        equal("emitter's sends by the NIC", e["Sent"], a.stamp_probes_sent)
        equal("reflector's sends by the NIC", r["Sent"], b.stamp_replies_sent)
        equal("reflector, received from the wire", r["Received"],
              sum(one.stamp_probes_sent - one.dropped + one.duplicated for one in ([a, c] if is_one_of_two else [a])))
        for name, rows in (("emitter", e), ("reflector", r)):
            for row in ("Foreign", "Malformed", "Unverified", "Bad TLVs", "Refused", "Truncated"):
                equal(f"{name}, {row}", rows[row], 0)
        equal("strays", e["Strays"], 0)
    except KeyError as missing:
        complain(f"a report has no row {missing}")


def accounts_of(text):
    return rows_of(section(text, "Packets:") + section(text, "Missing stamps:"))


def below_the_top(text):
    """What follows the line on top and the verdict."""
    return text.partition("\n\n")[2]


text_e, text_r = read("e.out"), read("r.out")
e, r = accounts_of(text_e), accounts_of(text_r)
a, b, c = counters_of(emitter), counters_of(1), counters_of(2 - emitter)
E, R = check_log("e"), check_log("r")
N = e.get("Sent", 0)
check_statistics("e", text_e)
check_statistics("r", text_r)
check_accounts(e, r)
names = {"e": e, "r": r, "a": a, "b": b, "c": c, "beside": count_beside() if is_one_of_two else 0,
         "E": E, "R": R, "N": N, "text_e": text_e, "text_r": text_r, "below_the_top": below_the_top,
         "hit": lambda name: {n for n in range(N) if hits(name, n)}}


def check_expectations():
    for expectation in expectations:
        try:
            if not eval(expectation, names):  # the tests are the only authors
                values = [f"{word} = {eval(word, names)}" for word in
                          dict.fromkeys(re.findall(r'\b[a-z]+\["[^"]+"\]|\b[abc]\.\w+|\bbeside\b|\blen\(\w+\)', expectation))]
                complain(f"not so: {expectation}   ({', '.join(values)})")
        except (KeyError, AttributeError, NameError, ValueError) as missing:
            complain(f"{expectation}: {type(missing).__name__} {missing}")


def check_json():
    """What --json has written, against the schema and the report of the same run."""
    here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
    for side in ("e", "r"):
        path = os.path.join(folder, side + ".json")
        if os.path.exists(path):
            said = subprocess.run([sys.executable, os.path.join(here, "tests/link/read_json.py"), os.path.join(here, "docs/rant.schema.json"),
                                   path, os.path.join(folder, side + ".out")], capture_output=True, text=True, check=False)
            for line in (said.stdout + said.stderr).splitlines():
                complain(f"{side}.json: {line}")


def finish():
    check_expectations()
    check_json()
    print(("not ok" if complaints else "ok") + " - " + read("judge.name").strip())
    for line in complaints[:20]:
        print("# " + line)
    for name in ("e.err", "e.out", "r.err", "r.out") if complaints and not wrong else ():
        shown = read(name).splitlines()
        print(f"# {name}:", *(shown if len(shown) <= 50 else shown[:30] + ["..."] + shown[-20:]), sep="\n#   ")
    sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    finish()
