# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads what rant --report has made. Prints a line for each fault.

  read_results.py same REPORT AGAIN        the rows of statistics and histograms of AGAIN are those of REPORT
  read_results.py joined SCHEMA OWN JOINED the statistics of both logs, joined, are what the emitter heard itself
  read_results.py whole SCHEMA RUN AGAIN TWICE   AGAIN, made of RUN alone, has its accounts and statistics, and TWICE, made of AGAIN, what AGAIN has
  read_results.py sum SCHEMA SUM JSON...   SUM is the sum of the others
  read_results.py seconds SCHEMA RUN AGAIN LINES [CSV]   the seconds that are made of its log (which may be CSV) have what those of the run RUN
                                           have, and the lines of --jsonl too
  read_results.py together SCHEMA SUM LINES JSON...   SUM has the seconds of the others, in order
  read_results.py comparison SCHEMA JSON RESULT INTERVALS   what --compare has written: its result, and how many intervals
"""
import collections
import json
import os
import re
import sys

sys.path.insert(0, os.path.dirname(__file__))
import read_json

# Not in a log: one-way delays between two clocks, the IPDV of delays between two clocks, and the longest poll gaps.
OF_A_RUN = re.compile(r"  (Forward|Poll gap|Between exchanges|Backward|Send|Receive|Response IPDV|Network IPDV|IPDV:|The negative values|Median and 99th of delays|Not in )")
FIGURES = ("number", "from_ns", "to_ns", "unix_ns", "sent", "lost", "samples", "p50_ns", "p99_ns", "p99_9_ns", "max_ns", "longest_gap_ns",
           "not_in_percentiles", "run", "skipped")


def rows(path):
    """The lines from the statistics to the accounts that have numbers of the samples."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    found, wanted = [], False
    for line in text[text.index("--- Latency Statistics ---"):].split("\n"):
        if line and not line.startswith(" "):
            wanted = line.startswith(("---", "MIN", "Histogram", "Response Hist", "Network Hist", "Stages", "Delays"))
        if wanted and line and not OF_A_RUN.match(line):
            found.append(line)
        if line.startswith("Latency: "):
            found.append(line)
    return found


def same(report, again):
    """A plain log tells nothing of the other host, and its table is narrower: then each of its rows is the begin of one there."""
    left, right = ([re.sub(r"\s+", " ", line) for line in rows(path)] for path in (report, again))
    narrow = any(line.startswith("Stages") for line in right) and not any(line.endswith(" Average") for line in right)
    missing = [line for line in right if not any(mine == line or narrow and mine.startswith(line + " ") for mine in left)]
    if not narrow:
        missing += [line for line in left if line not in right]
    return [f"only in one of the two: {line}" for line in missing] + ([] if len(right) > 8 else ["there are no rows"])


def load(schema, path):
    with open(path, encoding="utf-8") as file:
        data = json.load(file, parse_constant=read_json.no_constant, object_pairs_hook=read_json.no_twin)
    read_json.validate(schema, data)
    read_json.check_histograms(data)
    return data


def joined(schema, own, join):
    mine, theirs = load(schema, own), load(schema, join)
    faults = []
    for name, s in mine["statistics"].items():
        if name in ("forward_ns", "backward_ns", "poll_gap_ns"):
            continue
        have = theirs["statistics"].get(name)
        if have is None or have["samples"] < s["samples"]:
            faults.append(f"{name}: {s['samples']} samples in the run, {have and have['samples']} joined")
        elif have["samples"] == s["samples"]:
            faults += [f"{name}, {key}: {s[key]} in the run, {have[key]} joined" for key in s if key != "within_ns" and s[key] != have[key]]
        elif have["samples"] > s["samples"] + 5:
            faults.append(f"{name}: {have['samples']} samples joined, {s['samples']} in the run")
    if len(mine["statistics"]) < 5 or theirs["accounts"]["packets"]["sent"] is not None or theirs["verdict"] is not None:
        faults.append("there are too few statistics, or what is not known is no null")
    return faults


def counts(node, path=""):
    """All numbers below a node, by their path."""
    if isinstance(node, dict):
        return {k: v for name, value in node.items() for k, v in counts(value, f"{path}/{name}").items()}
    return {path: node} if isinstance(node, int) and not isinstance(node, bool) else {}


def total(schema, whole, parts):
    all_, each = load(schema, whole), [load(schema, path) for path in parts]
    faults = []
    for name, s in all_["statistics"].items():
        for kind in ("buckets", "overflow_buckets", "overflow"):
            want = collections.Counter()
            for run in each:
                for start, count in run["statistics"].get(name, {"histogram": {kind: []}})["histogram"][kind]:
                    want[start] += count
            if sorted(want.items()) != [tuple(pair) for pair in s["histogram"][kind]]:
                faults.append(f"{name}: its {kind} are not the sum")
        if s["max_ns"] != max(run["statistics"][name]["max_ns"] for run in each if name in run["statistics"]):
            faults.append(f"{name}: its maximum is not the largest")
    for path, count in counts(all_["accounts"]).items():
        if "longest" in path or "rate" in path:
            continue
        want = sum(counts(run["accounts"]).get(path, 0) for run in each)
        if want != count:
            faults.append(f"accounts{path}: {count}, and not {want}")
    levels = ["trusted", "doubtful", "void"]
    if all_["verdict"]["level"] != max((run["verdict"]["level"] for run in each), key=levels.index):
        faults.append("the verdict is not the worst of all")
    if len(all_["read_from"]) != len(parts) or len(counts(all_["accounts"])) < 20:
        faults.append("not all files are told, or too few accounts")
    return faults


def buckets_of(seconds):
    all_ = collections.Counter()
    for one in seconds:
        for start, count in one["buckets"]:
            all_[start] += count
    return all_


def lines_of(schema_path, path, seconds):
    """Those of --jsonl are as the schema says, and tell the same."""
    import jsonschema
    with open(schema_path, encoding="utf-8") as file:
        definitions = read_json.strict(json.load(file)["definitions"])
    with open(path, encoding="utf-8") as file:
        lines = [json.loads(line, parse_constant=read_json.no_constant, object_pairs_hook=read_json.no_twin) for line in file]
    faults = []
    for number, line in enumerate(lines, 1):
        one = {"$ref": f"#/definitions/line_{line['type']}", "definitions": definitions}
        faults += [f"line {number}: {error.message[:200]}" for error in jsonschema.Draft7Validator(one).iter_errors(line)]
    if [line["type"] for line in lines] != ["configuration"] + ["second"] * len(seconds) + ["summary"]:
        faults.append("there are other lines than one for each second, between configuration and summary")
    for line, one in zip(lines[1:], seconds):
        read_json.check_buckets(line)
        faults += [f"{name} of second {one['number']} is {line.get(name)} in its line" for name in FIGURES if line.get(name) != one.get(name)]
    return faults


def times(path):
    """By the log itself: for each second the latencies."""
    with open(path, encoding="utf-8") as file:
        names = file.readline().strip().split(",")
        t4, rtt, each, at, begin = names.index("T4_KERNEL"), names.index("RTT"), {}, 0, None
        for line in file:
            row = line.split(",")
            begin = int(row[t4]) if begin is None else begin
            at = max(at, int(row[t4]) - begin)
            each.setdefault(at // 10**9, []).append(int(row[rtt]))
    return {second: sorted(values) for second, values in each.items()}


def by_the_log(seconds, path):
    told, faults = {one["from_ns"] // 10**9: one for one in seconds if one["samples"]}, []
    for second, values in times(path).items():
        one = told.pop(second, {"samples": 0})
        want = [len(values)] + [values[-(-len(values) * part // 1000) - 1] for part in (500, 990, 999, 1000)]
        if [one.get(name) for name in ("samples", "p50_ns", "p99_ns", "p99_9_ns", "max_ns")] != want:
            faults.append(f"second {second} of the log has {want}, and not {one}"[:300])
    return faults + [f"second {second} is not in the log" for second in told]


def seconds_again(schema, run, again, lines, log=None):
    mine, theirs = load(schema, run), load(schema, again)
    live, made = mine["seconds"], theirs["seconds"]
    latency = "rtt_ns" if mine["run"]["role"] == "emit" else "response_ns"
    faults = lines_of(schema, lines, made)
    for one in made:
        read_json.check_buckets(one)
    for one, after in zip(made, made[1:]):
        if one["to_ns"] != after["from_ns"] or one["number"] + 1 != after["number"] or one["to_ns"] % 10**9 or one["to_ns"] <= one["from_ns"]:
            faults.append(f"second {after['number']} does not follow the one before it")
    if sum(one["samples"] for one in made) != mine["statistics"][latency]["samples"] or buckets_of(made) != buckets_of(live):
        faults.append("the samples of all seconds are not those of the run")
    if len(live) == len(made) == 1 and any(live[0][name] != made[0][name] for name in FIGURES[7:11]):
        faults.append(f"the only second of the run is {live[0]}, of its log {made[0]}"[:500])
    if any(one["sent"] is not None or one["run"] != 1 for one in made) or not made:
        faults.append("there are no seconds, or they tell what was sent, or are of several runs")
    if not live[0]["unix_ns"] - live[0]["to_ns"] - 10**9 < made[0]["unix_ns"] - made[0]["to_ns"] < live[-1]["unix_ns"]:
        faults.append("the first second was at another time")
    if latency == "rtt_ns" and theirs["ipdv"]["rtt_ipdv_ns"] != mine["ipdv"]["rtt_ipdv_ns"]:
        faults.append("the round trips vary in another way")
    return faults + (by_the_log(made, log) if log else [])


def together(schema, whole, lines, *parts):
    all_ = load(schema, whole)["seconds"]
    each = [load(schema, path)["seconds"] for path in parts]
    faults = lines_of(schema, lines, all_)
    for run, seconds in enumerate(each, 1):
        mine = [one for one in all_ if one["run"] == run]
        for name in FIGURES[1:12] + ("buckets",):
            if [one.get(name) for one in mine] != [one.get(name) for one in seconds]:
                faults.append(f"run {run}: its {name} are others")
    ends = [one["unix_ns"] for one in all_]
    if ends != sorted(ends) or [one["number"] for one in all_] != list(range(1, len(all_) + 1)) or len(all_) != sum(map(len, each)):
        faults.append("they are not in order, or too many")
    return faults


def comparison(schema_path, path, result, intervals):
    import jsonschema
    with open(path, encoding="utf-8") as file:
        data = json.load(file, parse_constant=read_json.no_constant, object_pairs_hook=read_json.no_twin)
    with open(schema_path, encoding="utf-8") as file:
        schema = read_json.strict(json.load(file))
    schema = {"definitions": schema["definitions"], **schema["definitions"]["comparison"]}
    faults = [f"schema: {error.message[:200]}" for error in jsonschema.Draft7Validator(schema).iter_errors(data)]
    found = data["comparison"]
    if found["result"] != result:
        faults.append(f"it is {found['result']} and not {result}: {found['words']}")
    if sum(row["low"] is not None for row in found["rows"]) != int(intervals):
        faults.append("there are other intervals")
    for row in found["rows"]:
        if row["low"] is not None and not row["low"] <= row["difference"] <= row["high"] and row["name"] not in ("p99", "p99.9", "p99.99"):
            faults.append(f"{row['name']}: {row['difference']} is not from {row['low']} to {row['high']}")
        if row["difference"] is not None and abs(row["now"] - row["before"] - row["difference"]) > 1e-9:
            faults.append(f"{row['name']}: {row['difference']} is not the difference")
    return faults


def leaves(node, path=""):
    """Each member of an object, however deep; lists whole."""
    if isinstance(node, dict):
        return {key: value for name, below in node.items() for key, value in leaves(below, f"{path}.{name}").items()}
    return {path: node}


def whole(schema, run, again, twice):
    """What is read and written again is what it was; of a verdict each reason names its own file."""
    faults, data = [], [load(schema, path) for path in (run, again, twice)]
    for a, b, parts in ((data[0], data[1], ("accounts", "statistics")), (data[1], data[2], set(data[1]) - {"read_from", "verdict"})):
        for part in parts:
            left, right = leaves(a[part], part), leaves(b.get(part), part)
            faults += [f"{path}: {left.get(path)} became {right.get(path)}" for path in sorted(set(left) | set(right))
                       if left.get(path, "nothing") != right.get(path, "nothing")]
    return faults


def main():
    what, args = sys.argv[1], sys.argv[2:]
    faults = {"same": same, "joined": joined, "comparison": comparison, "seconds": seconds_again, "together": together, "whole": whole,
              "sum": lambda schema, whole, *parts: total(schema, whole, parts)}[what](*args)
    for text in (read_json.faults + faults)[:20]:
        print(text)


main()
