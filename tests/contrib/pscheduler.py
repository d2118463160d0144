# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls the methods of contrib/pscheduler as pScheduler does, and checks their answers against its rules. Prints a line for each fault. From
perfsonar/pscheduler: the methods by pscheduler-docs plugin-development/00-plugin-basics.md (137100c), the result by
pscheduler-test-latency/latency/result-jsonschema.json (6b1caa8).

  pscheduler.py methods CONTRIB RESULTS                       all but run, and the result that is made of the JSON RESULTS
  pscheduler.py run CONTRIB SPEC WRAP_0 WRAP_1                a whole test; WRAP: the command that runs a method where that participant is
"""
import datetime
import json
import os
import subprocess
import sys

import jsonschema

WHOLE = {"type": "integer", "minimum": 0}
RESULT = {
    "type": "object", "required": ["schema", "succeeded"], "additionalProperties": False,
    "properties": {
        "schema": {"const": 1}, "succeeded": {"type": "boolean"}, "error": {"type": "string"}, "diags": {"type": "string"},
        "packets-sent": WHOLE, "packets-received": WHOLE, "packets-lost": WHOLE, "packets-duplicated": WHOLE, "packets-reordered": WHOLE,
        "max-clock-error": {"type": "number"},
        "histogram-latency": {"type": "object", "additionalProperties": False,
                              "patternProperties": {r"^[-+]?([0-9]+(\.[0-9]+)?|\.[0-9]+)$": {"type": "integer"}}},
    },
}
ENUMERATED = {
    "type": "object", "required": ["schema", "name", "description", "version", "tests", "preference", "maintainer"],
    "properties": {"name": {"pattern": "^[a-z]+$"}, "tests": {"const": ["latency"]}, "preference": {"type": "integer"},
                   "version": {"pattern": "^[0-9]+[.][0-9]+$"}, "maintainer": {"type": "object", "required": ["name"]}},
}
DEST = {"schema": 4, "source": "192.0.2.1", "dest": "192.0.2.2"}

# Members of the specification for can-run, and a word of the expected reason; None: can-run accepts it.
CAN_RUN = (
    ({}, None),
    ({"packet-count": 600, "packet-interval": 0.001, "packet-timeout": 1, "ip-tos": 184, "ip-version": 4, "bucket-width": 0.00001}, None),
    ({"flip": True, "reverse": True, "ctrl-port": 8800, "protocol": "stamp", "packet-padding": 168}, None),
    ({"output-raw": False, "traverse-nat": False}, None),
    ({"output-raw": True}, "output-raw"),
    ({"data-ports": {"lower": 5000, "upper": 5010}}, "data-ports"),
    ({"traverse-nat": True}, "traverse-nat"),
    ({"protocol": "owamp"}, "owamp"),
    ({"packet-padding": 167}, "packet-padding"),
    ({"packet-interval": 4000}, "packet-interval"),
    ({"packet-timeout": 0}, "packet-timeout"),
    ({"packet-timeout": 61}, "packet-timeout"),
    ({"ip-tos": 185}, "ECN"),
    ({"schema": 5}, "schema 5"),
    ({"color": "blue"}, "color"),
    ({"flip": True, "source": None}, "reflector"),
)


def is_valid(what, data, rules):
    for error in jsonschema.Draft7Validator(rules).iter_errors(data):
        print(f"{what}: {'/'.join(map(str, error.absolute_path))}: {error.message}")


def start(folder, method, given, wrap=()):
    process = subprocess.Popen([*wrap, os.path.join(folder, method)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        process.stdin.write(json.dumps(given))
        process.stdin.close()
    except BrokenPipeError:  # enumerate does not read it
        pass
    process.stdin = None
    return process


def end(process, method):
    out, err = process.communicate(timeout=50)
    if process.returncode or err:
        print(f"{method} ended with status {process.returncode}: {err.strip()}")
    return json.loads(out) if out else None


def call(folder, method, given, wrap=()):
    return end(start(folder, method, given, wrap), method)


# ---- All but run -----------------------------------------------------------------------------------------------------

def check_can_run(folder):
    for given, word in CAN_RUN:
        spec = {key: value for key, value in {**DEST, **given}.items() if value is not None}
        has = call(folder, "can-run", {"type": "latency", "spec": spec})
        if word is None and has != {"can-run": True}:
            print(f"can-run: {given}: {has}")
        if word and (has["can-run"] or len(has["reasons"]) != 1 or word not in has["reasons"][0]):
            print(f"can-run: {given}: {has}, without '{word}'")
    for given in ({"type": "rtt", "spec": DEST}, {"spec": DEST}, {"type": "latency"}):
        if call(folder, "can-run", given)["can-run"]:
            print(f"can-run: {given}")
    settings = os.environ.pop("RANT_PSCHEDULER_CONF")
    if "synced-ns" not in str(call(folder, "can-run", {"type": "latency", "spec": DEST}).get("reasons")):
        print("can-run: without synced-ns")
    os.environ["RANT_PSCHEDULER_CONF"] = settings


def check_duration(folder):
    """The duration is in whole seconds, and long enough for the probes."""
    for given, least in (({}, 12), ({"packet-count": 600, "packet-interval": 0.5, "packet-timeout": 3}, 303), ({"packet-interval": 0.0101}, 4)):
        text = call(folder, "duration", {"type": "latency", "spec": {**DEST, **given}})["duration"]
        if not text.startswith("PT") or not text.endswith("S") or not least < int(text[2:-1]) <= least + 10:
            print(f"duration: {given}: {text}")


def check_participants(folder):
    for flip in (False, True):
        for participant in (0, 1):
            data = call(folder, "participant-data", {"participant": participant, "test": {"type": "latency", "spec": {**DEST, "flip": flip}}})
            is_reflector = (participant == 1) != flip
            if ("port" in data) != is_reflector or (data and not 8760 <= data["port"] <= 8960):
                print(f"participant-data: {participant}, flip {flip}: {data}")
    data = call(folder, "participant-data", {"participant": 1, "test": {"type": "latency", "spec": {**DEST, "ctrl-port": 9000}}})
    if data != {"port": 9000}:
        print(f"participant-data: ctrl-port: {data}")


def check_merged(folder):
    mine, theirs = {"schema": 1, "succeeded": True, "packets-sent": 7}, {"schema": 1, "succeeded": True}
    good = [{"succeeded": True, "result": one, "error": None, "diags": ""} for one in (mine, theirs)]
    bad = {"succeeded": False, "result": None, "error": "no answer", "diags": ""}
    failed = {"schema": 1, "succeeded": False, "error": "no answer"}
    for flip, results, want in ((False, good, mine), (True, good[::-1], mine), (False, good[:1], mine), (False, [bad, good[1]], failed),
                                (False, [None, bad], failed), (False, [None, None], {**failed, "error": "no result came from the emitter"})):
        has = call(folder, "merged-results", {"test": {"type": "latency", "spec": {**DEST, "flip": flip}}, "results": results})
        if has != want:
            print(f"merged-results: {results}: {has}")
        is_valid("merged-results", has, RESULT)


def check_result(folder, results):
    """Checks the library for each direction and bucket: it computes every value of the result."""
    sys.path.insert(0, folder)
    import rant_tool

    with open(results, encoding="utf-8") as file:
        data = json.load(file)
    ways = data["accounts"]["directions"]
    # Numbers that differ, so that none is taken for another.
    ways.update(lost_there=3, lost_back=4, two_there=5, two_back=6, late_there=7, late_back=8)
    for name in ("forward_ns", "backward_ns"):
        data["statistics"][name]["histogram"]["overflow"].append([200_000, 2])
        data["statistics"][name].update(max_ns=200_000, samples=data["statistics"][name]["samples"] + 2)
    sent = data["accounts"]["packets"]["sent"] - data["accounts"]["packets"]["closing"] - data["accounts"]["packets"]["unfinished"]
    for flip, reverse, width, name, counts in (
            (False, False, 0.001, "forward_ns", (sent, 3, 5, 7)), (True, False, 0.00001, "backward_ns", (sent - 3, 4, 6, 8)),
            (False, True, 0.00002, "backward_ns", (sent - 3, 4, 6, 8)), (True, True, 0.000001, "forward_ns", (sent, 3, 5, 7))):
        plan = rant_tool.Plan({**DEST, "flip": flip, "reverse": reverse, "bucket-width": width})
        has = rant_tool.result_of(plan, data, "")["result"]
        is_valid(name, has, RESULT)
        if tuple(has[f"packets-{what}"] for what in ("sent", "lost", "duplicated", "reordered")) != counts:
            print(f"{name}: {has}, not {counts}")
        if has["packets-received"] != counts[0] - counts[1]:
            print(f"{name}: {has['packets-received']} received")
        check_histogram(name, has, data["statistics"][name], width)
    data["accounts"]["packets"]["lost"] = 9
    for unknown in ({"either_way": 2}, {"lost_there": None}):
        ways.update(unknown)
        has = rant_tool.result_of(rant_tool.Plan(DEST), data, "")
        if has["result"]["packets-lost"] != 9 or "not known" not in has["diags"]:
            print(f"{unknown}: {has}")
    data["statistics"].pop("forward_ns")
    if rant_tool.result_of(rant_tool.Plan(DEST), data, "")["succeeded"]:
        print("it succeeded without a latency")


def check_histogram(name, has, statistic, width):
    histogram = {float(key): n for key, n in has["histogram-latency"].items()}
    if sum(histogram.values()) != statistic["samples"]:
        print(f"{name}: {sum(histogram.values())} of {statistic['samples']} samples are in the histogram")
    for edge, want in ((min(histogram), statistic["min_ns"]), (max(histogram), statistic["max_ns"])):
        if abs(edge * width * 1e9 - want) > 0.006 * width * 1e9 + statistic["histogram"]["bucket_ns"]:
            print(f"{name}: a latency of {want} ns stands as {edge} of {width} s")
    if has["max-clock-error"] != statistic["within_ns"] / 1e6:
        print(f"{name}: max-clock-error {has['max-clock-error']} ms, and {statistic['within_ns']} ns in the results")


def check_methods(folder, results):
    is_valid("enumerate", call(folder, "enumerate", {}), ENUMERATED)
    check_can_run(folder)
    check_duration(folder)
    check_participants(folder)
    check_merged(folder)
    check_result(folder, results)


# ---- A whole test ----------------------------------------------------------------------------------------------------

def run_test(folder, spec, *wraps):
    """Runs both ends at the same time and merges the results, as pScheduler does."""
    test = {"type": "latency", "spec": json.loads(spec)}
    wraps = [wrap.split() for wrap in wraps]
    for wrap in wraps:
        if call(folder, "can-run", test, wrap) != {"can-run": True}:
            sys.exit("it cannot be run")
    data = [call(folder, "participant-data", {"participant": i, "test": test}, wrap) for i, wrap in enumerate(wraps)]
    start_at = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=0.5)
    schedule = {"start": start_at.isoformat(), "duration": call(folder, "duration", test)["duration"]}
    runs = [start(folder, "run", {"schema": 1, "schedule": schedule, "test": test, "participant": i, "participant-data": data, "limits-passed": []}, wrap)
            for i, wrap in enumerate(wraps)]
    results = [end(run, f"run {i}") for i, run in enumerate(runs)]
    merged = call(folder, "merged-results", {"test": test, "results": results})
    is_valid("merged-results", merged, RESULT)
    sent = merged.get("packets-sent", 0)
    # A busy machine misses slots, and sends less in the time that it has.
    if not merged["succeeded"] or not 0 < sent <= test["spec"]["packet-count"] or not sum(merged["histogram-latency"].values()):
        sys.exit(f"{merged}: {results}")
    if merged.get("max-clock-error") != 0.001:  # of rant.conf
        print(f"max-clock-error is {merged.get('max-clock-error')} ms")
    if merged["packets-received"] + merged["packets-lost"] != sent:
        print(f"{merged['packets-received']} received and {merged['packets-lost']} lost of {sent}")


def main():
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    sys.dont_write_bytecode = True
    if sys.argv[1] == "methods":
        check_methods(*sys.argv[2:])
    else:
        run_test(*sys.argv[2:])


main()
