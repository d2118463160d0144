# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads what rant --json has written: is it as the schema says, does it agree with itself and with the text report of the
same run, to the digit? Prints a line for each fault.

  read_json.py SCHEMA JSON REPORT

The report is one with --histogram. Without jsonschema the schema is not asked, which is a fault.
"""
import json
import re
import sys

faults = []


def fault(text):
    faults.append(text)


def no_constant(text):
    raise ValueError(f"{text} is no number")


def no_twin(pairs):
    names = [name for name, _ in pairs]
    for name in set(names):
        if names.count(name) > 1:
            fault(f"a name is there twice: {name}")
    return dict(pairs)


def strict(schema):
    """The same, in which what the schema does not name is an error: so that it names all that there is."""
    if isinstance(schema, dict):
        if "properties" in schema and "additionalProperties" not in schema:
            schema["additionalProperties"] = False
        for part in schema.values():
            strict(part)
    elif isinstance(schema, list):
        for part in schema:
            strict(part)
    return schema


def validate(schema_path, data):
    import jsonschema
    with open(schema_path, encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft7Validator.check_schema(schema)
    for error in jsonschema.Draft7Validator(strict(schema)).iter_errors(data):
        fault("schema: " + "/".join(map(str, error.absolute_path)) + ": " + error.message[:200])


def us(ns, digits=3):
    return f"{ns / 1000:.{digits}f}"


class Report:
    """Rows of the text, by section and name."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.text = file.read()
        self.rows = {}
        section = ""
        for line in self.text.split("\n"):
            if line and not line.startswith(" "):
                section = line.split(":")[0].split(",")[0]
            row = re.match(r"  (\S.*?) *:  (\d+)(?:  \(|$)", line)
            if row:
                self.rows[section, row[1]] = int(row[2])


# Rows whose member of schema 1 has an older name.
RENAMED = {"Lost forward": "lost_there", "Lost backward": "lost_back", "Duplicated forward": "two_there",
           "Duplicated backward": "two_back", "Reordered forward": "late_there", "Reordered backward": "late_back",
           "Direction unknown": "either_way", "Not reported": "untold", "Remote step": "stepped_there",
           "Late stamps": "came_late", "Duplicated stamps": "came_twice", "Truncated requests": "cut_short",
           "Peer sockets": "lanes", "No peer socket": "no_lane"}


def name_of(label):
    return RENAMED.get(label) or re.sub("[^a-z0-9]+", "_", label.lower()).strip("_")


def compare_counts(report, data):
    """Each row of the report is in the object, with the same number; and what has none there is 0."""
    where = {"Packets": "packets", "Directions": "directions", "Reflector's stamps": "reflector_stamps",
             "Missing stamps": "missing_stamps"}
    compared = 0
    for (section, label), count in report.rows.items():
        if section not in where:
            continue
        have = (data["accounts"].get(where[section]) or {}).get(name_of(label))
        compared += 1
        if have != count:
            fault(f"{section}, {label}: {count} in the report, {have} in JSON")
    if compared < 3:
        fault(f"only {compared} rows of the accounts could be compared")
    shown = {(where[section], name_of(label)) for section, label in report.rows if section in where}
    for section in ("packets", "missing_stamps"):
        for name, count in data["accounts"][section].items():
            if count and (section, name) not in shown and name not in ("lanes", "no_lane"):  # only printed with -v
                fault(f"{section}, {name}: {count} in JSON, no row in the report")


def compare_others(report, data):
    """What the report says of the run in other words than rows."""
    granted, accounts = data["configuration"]["granted"], data["accounts"]
    place = re.search(r"^Measuring thread: (?:CPU (\d+)|any of (\d+) CPUs), (\w+)(?: (\d+))?$", report.text, re.M)
    have = (data["host"]["measuring_cpu"] if granted["cpus_allowed"] == 1 else None, granted["cpus_allowed"], granted["policy"], granted["priority"])
    want = place and (place[1] and int(place[1]), int(place[2] or 1), place[3], int(place[4] or 0))
    if have != want:
        fault(f"the measuring thread: {want} in the report, {have} in JSON")
    for name, words in (("ttl", "TTL"), ("dscp", "DSCP")):
        told = re.search(rf"^  (\d+) probes arrived with another {words} than \d+, the last with (\d+)$", report.text, re.M)
        arrived = accounts.get("arrived") or {f"other_{name}": 0, f"last_{name}": None}
        if (arrived[f"other_{name}"], arrived[f"last_{name}"]) != (int(told[1]) if told else 0, int(told[2]) if told else None):
            fault(f"{told and told[0]} in the report, {arrived} in JSON")
    told = re.search(r"^  Slowest of the woken:  ([0-9.]+) us  \(#(\d+)\)$", report.text, re.M)
    woken = accounts.get("slowest_woken") or {"response_ns": None, "seq": None}
    if (woken["response_ns"] and us(woken["response_ns"]), woken["seq"]) != (told and told[1], told and int(told[2])):
        fault(f"{told and told[0]} in the report, {woken} in JSON")


def compare_latency(report, data):
    name = "rtt_ns" if data["run"]["role"] == "emit" else "response_ns"
    s = data["statistics"][name]
    if not s["samples"]:
        if "MIN: n/a" not in report.text or s["min_ns"] is not None or s["percentiles"]:
            fault("no sample, but a number")
        return
    lines = [f"MIN: {s['min_ns']} ns | MAX: {s['max_ns']} ns | AVG: {s['mean_ns']} ns | Total Samples: {s['samples']}",
             f"  Minimum   :  {us(s['min_ns'], 2)} us (#{s['min_seq']})",
             f"  Maximum   :  {us(s['max_ns'], 2)} us (#{s['max_seq']})",
             f"  Std dev   :  {us(s['stddev_ns'])} us"]
    for p in s["percentiles"]:
        row = re.search(rf"^    {p['percent']:g}th *:  ([0-9.]+)", report.text, re.M)
        if not row or row[1] != us(p["value_ns"]):
            fault(f"{name}, {p['percent']} %: {p['value_ns']} ns in JSON, in the report {row and row[0]}")
    shown = len(re.findall(r"^    [0-9.]+th *:", report.text, re.M))
    if shown != len(s["percentiles"]):
        fault(f"{shown} percentiles in the report, {len(s['percentiles'])} in JSON")
    for line in lines:
        if line not in report.text.split("\n"):
            fault(f"the report has no line: {line}")


def compare_stages(report, data):
    """The table of the stages: samples, negative, median, 99th, maximum."""
    for name, s in data["statistics"].items():
        row = next((line for line in report.text.split("\n") if re.match(r"  [A-Z]", line) and s["formula"]
                    and f"{s['formula']} " in line and name_of(line.split("  ")[1]) + "_ns" == name), None)
        if row is None:
            continue
        cells = row.split(s["formula"], 1)[1].replace("*", " ").split()
        p = {q["percent"]: us(q["value_ns"]) for q in s["percentiles"]}
        want = [str(s["samples"]), str(s["negative"])]
        if s["samples"]:
            want += [p[50], p[90], p[95], p[99], p[99.9], p[99.99], us(s["max_ns"])]
        if cells[:len(want)] != want:
            fault(f"{name}: in the report {cells}, in JSON {want}")
        compare_stages.rows += 1


compare_stages.rows = 0


def log_edge(value, limit):
    """Where the log-linear bucket of this value begins: each power of two has 1,024."""
    return max(value >> max(value.bit_length() - 11, 0) << max(value.bit_length() - 11, 0), limit)


def check_above(name, h):
    """The kept samples are the largest of those in the buckets above the limit."""
    values = [v for v, n in h["overflow"] for _ in range(n)]
    edges = [v for v, n in h["overflow_buckets"] for _ in range(n)]
    if len(edges) != h["overflow_samples"] or len(values) != min(4096, len(edges)):
        fault(f"{name}: {len(values)} samples are kept of {len(edges)} in buckets and {h['overflow_samples']} that are counted")
    if [log_edge(v, h["overflow_from_ns"]) for v in values] != edges[len(edges) - len(values):]:
        fault(f"{name}: the kept samples are not the largest")
    if edges and any(log_edge(v, h["overflow_from_ns"]) != v for v in edges):
        fault(f"{name}: a bucket above the limit begins elsewhere")


def check_histograms(data):
    for name, s in data["statistics"].items():
        h = s["histogram"]
        counts = h["buckets"] + h["overflow"]
        for which in (counts, h["buckets"] + h["overflow_buckets"]):
            if sum(n for _, n in which) + (h["overflow_not_kept"] if which is counts else 0) != s["samples"]:
                fault(f"{name}: the histogram has not as many samples as there are")
            if any(n <= 0 for _, n in which) or [v for v, _ in which] != sorted({v for v, _ in which}):
                fault(f"{name}: an empty bucket, or one that is not in its place")
        check_above(name, h)
        if s["samples"] and h["bucket_ns"] == 1 and not h["overflow_not_kept"]:
            values = [v for v, n in counts for _ in range(n)]
            if (values[0], values[-1], sum(values)) != (s["min_ns"], s["max_ns"], s["sum_ns"]):
                fault(f"{name}: minimum, maximum or sum are not those of the histogram")
            for p in s["percentiles"]:
                rank = len(values) - p["samples_above"]
                if values[max(rank, 1) - 1] != p["value_ns"]:
                    fault(f"{name}: the {p['percent']} % is not the sample with {p['samples_above']} above it")


def compare_verdict(report, data):
    v = data["verdict"]
    words = "; ".join(re.sub(r"\((for [^,]*), ", r"\1 (", f"{r['name']} ({r['found']})") for r in v["reasons"])
    line = f"Measurement: {v['level']}" + (f": {words}" if words else "")
    if line not in report.text.split("\n"):
        fault(f"the report has no line: {line}")
    not_judged = re.findall(r"^Not judged, cannot be read: (.*)$", report.text, re.M)
    if "-v" in data["configuration"]["command_line"] and not_judged != v["not_judged"]:
        fault(f"not judged: {not_judged} in the report, {v['not_judged']} in JSON")
    for r in v["reasons"]:
        if not r["id"] or re.search("[0-9]", r["name"]) or not isinstance(r["unit"], str):
            fault(f"{r['name']}: no id, no unit or a number in its name")
        if r["number"] <= r["limit"]:
            fault(f"{r['name']}: {r['number']} is not above its limit {r['limit']}")


def compare_breaches(report, data):
    b = data["breaches"]
    if b is None or not b["first"]:
        return
    stamps = {name.upper()[:-3]: f"{ns // 10**9}.{ns % 10**9:09}" for name, ns in b["first"]["stamps"].items()}
    for name, seconds in stamps.items():
        if not re.search(rf"^  {name} \(.*\): {seconds}$", report.text, re.M):
            fault(f"the first breach has {name} {seconds} in JSON, and not in the report")
    if f"  Sequence number: {b['first']['seq']}\n" not in report.text:
        fault("the first breach has another sequence number in the report")
    if len(b["last"]) != min(b["count"], 63):
        fault(f"{len(b['last'])} breaches are kept of {b['count']}")
    blame = b["first"]["blame"]
    if blame and blame["part"] and f"{us(blame['value_ns'])} us, typical {us(blame['typical_ns'])} us" not in report.text:
        fault("the report blames another part, or says other numbers")


def compare_ports(report, data):
    ports = data.get("source_ports")
    for p in ports["each"] if ports else []:
        row = [str(p["port"]), str(p["samples"]), str(p["lost"])]
        row += ["-" if p[name] is None else str(p[name]) for name in ("lost_there", "lost_back")]
        row += ["-" if p[name] is None else us(p[name]) for name in ("p50_ns", "p99_ns", "max_ns")]
        row += ["*"] * (p["port"] == ports["worst_port"])
        if not any(line.split() == row for line in report.text.split("\n")):
            fault(f"no row of the report is {row}")


def start_of(value_ns, second):
    """Where the bucket begins that has the value."""
    width_ns = second.get("bucket_ns") or 1 << max(value_ns.bit_length() - 8, 0)
    return value_ns // width_ns * width_ns


def check_buckets(one):
    starts = [start for start, _ in one["buckets"]]
    if starts != sorted(set(starts)) or any(start != start_of(start, one) for start in starts):
        fault(f"second {one['number']}: buckets are not in order, or begin at a wrong place")
    if any(count <= 0 for _, count in one["buckets"]):
        fault(f"second {one['number']}: an empty bucket")
    if sum(count for _, count in one["buckets"]) != one["samples"] - one["not_in_percentiles"]:
        fault(f"second {one['number']}: the buckets have not all samples")
    if one["samples"] and starts[-1] != start_of(one["max_ns"], one):
        fault(f"second {one['number']}: the last bucket has not the maximum")
    for name, thousandths in (("p50_ns", 500), ("p99_ns", 990), ("p99_9_ns", 999)):
        rank, below = (one["samples"] * thousandths + 999) // 1000, 0
        for start, count in one["buckets"]:
            if below < rank <= below + count and start != start_of(one[name], one):
                fault(f"second {one['number']}: {name} is not in its bucket")
            below += count


def check_seconds(seconds, packets, latency):
    """Do they make the run?"""
    for before, after in zip(seconds, seconds[1:]):
        if before["to_ns"] != after["from_ns"] or before["number"] + 1 != after["number"]:
            fault(f"second {after['number']} does not follow the one before it")
    for one in seconds[:-1]:
        if one["to_ns"] // 10**9 <= one["from_ns"] // 10**9:
            fault(f"second {one['number']} ended before its time")
    for name, all_of_them in (("samples", packets["recorded"]), ("sent", packets["sent"]), ("lost", packets.get("lost", 0))):
        if sum(one.get(name, 0) for one in seconds) != all_of_them:
            fault(f"{name}: {sum(one.get(name, 0) for one in seconds)} in the seconds, {all_of_them} in all")
    if any(one["not_in_percentiles"] for one in seconds):
        fault("samples are in no percentile")
    if max((one["max_ns"] for one in seconds if one["samples"]), default=None) != latency["max_ns"]:
        fault("the largest of the seconds is not the largest of all")
    if len(seconds) == 1 and latency["samples"]:
        whole = {p["percent"]: p["value_ns"] for p in latency["percentiles"]}
        if [seconds[0][name] for name in ("p50_ns", "p99_ns", "p99_9_ns")] != [whole[50], whole[99], whole[99.9]]:
            fault("the percentiles of the only second are not those of the run")
    for one in seconds:
        if one["samples"] and not one["p50_ns"] <= one["p99_ns"] <= one["p99_9_ns"] <= one["max_ns"]:
            fault(f"second {one['number']}: percentiles are not in order")
        check_buckets(one)


def compare_seconds(report, data):
    seconds = data["seconds"]
    if data["configuration"]["granted"]["other_cpu"] != (seconds is not None):
        fault("there are seconds without another CPU, or none with one")
    if seconds is not None:
        check_seconds(seconds, data["accounts"]["packets"], data["statistics"]["rtt_ns" if data["run"]["role"] == "emit" else "response_ns"])


def main():
    schema, path, report_path = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        data = json.load(file, parse_constant=no_constant, object_pairs_hook=no_twin)
    validate(schema, data)
    report = Report(report_path)
    for part in (compare_counts, compare_others, compare_latency, compare_stages, compare_verdict, compare_breaches, compare_ports, compare_seconds):
        part(report, data)
    check_histograms(data)
    if data["statistics"].get("network_ns", {}).get("samples") and compare_stages.rows < 2:
        fault("no stage could be compared")
    for text in faults[:20]:
        print(text)


if __name__ == "__main__":
    main()
