# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares results of rant_results with the JSON of the same run. Prints a line for each fault. Run in a clean environment.

  results.py FOLDER      with run.json, run.jsonl and run.log of one run, run.csv and run.npy of other runs, and the version in VERSION
"""
import importlib.metadata
import json
import os
import sys

import rant_results


def expect(what, have, want):
    if have != want:
        print(f"{what}: {have}, not {want}")


def refused(folder, name, data):
    path = os.path.join(folder, name)
    with open(path, "wb") as file:
        file.write(data)
    try:
        rant_results.load(path)
        print(f"{name} was loaded")
    except rant_results.Refused as error:
        if "\n" in str(error) or not str(error):
            print(f"{name}: not one line: {error}")


def read(folder, name):
    with open(os.path.join(folder, name), "rb") as file:
        return file.read()


def main():
    folder = sys.argv[1]
    expect("the folder of the package", os.path.realpath(rant_results.__file__).startswith(os.path.realpath(sys.prefix)), True)
    expect("the version of the package", importlib.metadata.version("rant-results"), read(folder, "VERSION").decode().strip())
    data = json.loads(read(folder, "run.json"))
    whole, lines, log = (rant_results.load(os.path.join(folder, name)) for name in ("run.json", "run.jsonl", "run.log"))
    latency = data["statistics"]["rtt_ns"]
    for run in (whole, lines):
        row = run.statistics.loc["rtt_ns"]
        expect(f"{run.kind}: figures", [int(row[name]) for name in ("samples", "min_ns", "max_ns", "sum_ns")],
               [latency[name] for name in ("samples", "min_ns", "max_ns", "sum_ns")])
        expect(f"{run.kind}: p99", int(row["p99_ns"]), next(one["value_ns"] for one in latency["percentiles"] if one["percent"] == 99))
        expect(f"{run.kind}: verdict", run.data["verdict"]["level"], data["verdict"]["level"])
        expect(f"{run.kind}: seconds", [int(n) for n in run.seconds["samples"]], [one["samples"] for one in data["seconds"]])
    expect("histogram", int(whole.histogram("rtt_ns")["samples"].sum()), latency["samples"])
    expect("log: latency", [len(log.records), int(log.records["RTT"].sum()), int(log.records["RTT"].max())],
           [latency["samples"], latency["sum_ns"], latency["max_ns"]])
    expect("log: exact times", int((log.records["T4_KERNEL"] - log.records["T1_KERNEL"] - log.records["RTT"]).abs().max()), 0)
    for name in ("run.csv", "run.npy"):
        run = rant_results.load(os.path.join(folder, name))
        expect(f"{name}: records", len(run.records), 50)
        expect(f"{name}: columns", sorted(one for one in run.records.columns if one != "LEFT_OUT"), sorted(log.records.columns))
        expect(f"{name}: types", [str(run.records[one].dtype) for one in ("RTT", "T1_KERNEL", "FLAGS")], ["Int64", "Int64", "object"])
        expect(f"{name}: exact times", int((run.records["T4_KERNEL"] - run.records["T1_KERNEL"] - run.records["RTT"]).abs().max()), 0)
        with open(os.path.join(folder, name), "rb") as file:
            other = list(rant_results.Log(file).records(["SEQ", "RTT", "T3_KERNEL", "FLAGS"]))
        table = run.records[["SEQ", "RTT", "T3_KERNEL", "FLAGS"]].astype(object)
        expect(f"{name}: the same without pandas", [tuple(row) for row in table.where(table.notna(), None).itertuples(index=False)], other)
    refused(folder, "cut.json", read(folder, "run.json")[:-40])
    refused(folder, "cut.jsonl", read(folder, "run.jsonl")[:-2000])
    refused(folder, "cut.log", read(folder, "run.log")[:-20])
    refused(folder, "cut.npy", read(folder, "run.npy")[:-20])
    refused(folder, "other.json", b'{"format": "other"}')
    refused(folder, "text", b"hello\n")


main()
