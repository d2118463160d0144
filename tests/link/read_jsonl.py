# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads what rant --jsonl has written: is each line as the schema says, and do the lines together make the run? Prints a line for
each fault.

  read_jsonl.py SCHEMA LINES REPORT [SECONDS [JSON]]

SECONDS: at least so many lines of seconds. JSON: of the same run, which had breaches with parts.
"""
import json
import re
import sys

import jsonschema

from read_json import check_seconds, faults, fault, no_constant, no_twin, strict


def compare_breaches(lines, path):
    """What was told of a breach at once is what is told of it at the end."""
    with open(path, encoding="utf-8") as file:
        last = {one["number"]: one for one in json.load(file)["breaches"]["last"]}
    told = [line["breach"] for line in lines if line["type"] == "breach" and line["breach"]["number"] in last]
    if not told:
        fault("no breach can be compared")
    for one in told:
        for name, value in one.items():
            if value != last[one["number"]][name]:
                fault(f"breach {one['number']}: {name} is {value}, and at the end {last[one['number']][name]}")
        if "parts" not in one or not one["parts"]:
            fault(f"breach {one['number']} has no parts")


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
    check_seconds(seconds, packets, latency)
    if sys.argv[5:]:
        compare_breaches(lines, sys.argv[5])
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
