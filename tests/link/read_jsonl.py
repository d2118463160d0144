# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads what rant --jsonl has written: is each line as the schema says, and do the lines together make the run? Prints a line for
each fault.

  read_jsonl.py SCHEMA LINES REPORT [SECONDS]

SECONDS: at least so many lines of seconds.
"""
import json
import re
import sys

import jsonschema

from read_json import faults, fault, no_constant, no_twin, strict


def check_buckets(seconds):
    for one in seconds:
        starts = [start for start, _ in one["buckets"]]
        if starts != sorted(set(starts)) or any(start % one["bucket_ns"] for start in starts):
            fault(f"second {one['number']}: buckets are not in order, or begin at a wrong place")
        if sum(count for _, count in one["buckets"]) != one["samples"] - one["not_in_percentiles"]:
            fault(f"second {one['number']}: the buckets have not all samples")
        if one["samples"] and starts[-1] != one["max_ns"] // one["bucket_ns"] * one["bucket_ns"]:
            fault(f"second {one['number']}: the last bucket has not the maximum")
        below = 0
        for start, count in one["buckets"]:
            if below < (one["samples"] + 1) // 2 <= below + count and start != one["p50_ns"] // one["bucket_ns"] * one["bucket_ns"]:
                fault(f"second {one['number']}: the median is not in its bucket")
            below += count


def main():
    schema_path, path, report_path = sys.argv[1:4]
    least = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    with open(schema_path, encoding="utf-8") as file:
        definitions = strict(json.load(file)["definitions"])
    with open(path, encoding="utf-8") as file:
        text = file.read()
    with open(report_path, encoding="utf-8") as file:
        report = file.read()
    if not text.endswith("\n"):
        fault("the last line has no end")
    lines = [json.loads(line, parse_constant=no_constant, object_pairs_hook=no_twin) for line in text.splitlines()]
    for number, line in enumerate(lines, 1):
        one = {"$ref": f"#/definitions/line_{line['type']}", "definitions": definitions}
        for error in jsonschema.Draft7Validator(one).iter_errors(line):
            fault(f"line {number}: " + "/".join(map(str, error.absolute_path)) + ": " + error.message[:200])
    types = [line["type"] for line in lines]
    if types[0] != "configuration" or types[-1] != "summary" or {"configuration", "summary"} & set(types[1:-1]):
        fault("the first line is not the configuration, or the last one not the summary")
    last = lines[-1]
    packets = last["accounts"]["packets"]
    latency = last["statistics"]["rtt_ns" if last["run"]["role"] == "emit" else "response_ns"]
    seconds = [line for line in lines if line["type"] == "second"]
    if len(seconds) < least:
        fault(f"{len(seconds)} seconds, not {least}")
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
    check_buckets(seconds)
    breaches = [line["breach"]["number"] for line in lines if line["type"] == "breach"]
    if len(breaches) + last["breaches_not_told"] != packets["breaches"] or breaches != sorted(set(breaches)):
        fault(f"{len(breaches)} lines of breaches and {last['breaches_not_told']} not told, of {packets['breaches']}")
    for label, count in re.findall(r"^  (Sent|Recorded|Lost) *:  (\d+)", report, re.M):
        if packets[label.lower()] != int(count):
            fault(f"{label}: {count} in the report, {packets[label.lower()]} in the summary")
    for one in faults[:20]:
        print(one)


if __name__ == "__main__":
    main()
