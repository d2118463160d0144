# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares files of rant --prometheus (with the parser of the Prometheus client library) and --hgrm with the JSON of the same run.
Prints a line for each fault.

  read_prom.py JSON PROM HGRM
"""
import json
import re
import sys

from prometheus_client.parser import text_string_to_metric_families

from read_json import faults, fault


def read_metrics(path):
    """Values by name of a sample and its labels other than the common labels."""
    metrics = {}
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            labels = dict(sample.labels)
            if any(labels.pop(name, None) is None for name in ("role", "interface", "server", "port")):
                fault(f"{sample.name} lacks a label")
            if sample.timestamp is not None:
                fault(f"{sample.name} has a timestamp")
            key = sample.name, tuple(sorted(labels.items()))
            if key in metrics:
                fault(f"{key} is there twice")
            metrics[key] = sample.value
            if family.type not in ("counter", "gauge", "histogram") or not family.documentation:
                fault(f"{family.name} has no type or no help")
    return metrics


def compare_metrics(metrics, data):
    role = data["run"]["role"]
    latency = data["statistics"]["rtt_ns" if role == "emit" else "response_ns"]
    name = "rant_rtt_seconds" if role == "emit" else "rant_response_seconds"
    packets = data["accounts"]["packets"]
    compared = 0
    for (metric, labels), value in metrics.items():
        row = re.fullmatch("rant_(.*)_total", metric)
        if row and not labels and row[1] in packets:
            compared += 1
            if packets[row[1]] != value:
                fault(f"{metric}: {value}, in JSON {packets[row[1]]}")
    if compared < 15:
        fault(f"only {compared} counters could be compared")
    if metrics[name + "_count", ()] != latency["samples"] or metrics["rant_samples_unbinned_total", ()]:
        fault("the histogram has not all samples")
    if round(metrics[name + "_sum", ()] * 1e9) != latency["sum_ns"]:
        fault(f"the sum is {metrics[name + '_sum', ()]} s, in JSON {latency['sum_ns']} ns")
    histogram = latency["histogram"]
    values = histogram["buckets"] + histogram["overflow_buckets" if histogram["overflow_not_kept"] else "overflow"]
    for (metric, labels), value in metrics.items():
        if metric == name + "_bucket":
            edge_ns = float(labels[0][1]) * 1e9
            want = sum(n for at, n in values if at <= edge_ns + 0.5)
            if latency["histogram"]["bucket_ns"] == 1 and value != want:
                fault(f"up to {labels[0][1]} s: {value}, in JSON {want}")
    for level in ("trusted", "doubtful", "void"):
        if metrics["rant_verdict", (("level", level),)] != (level == data["verdict"]["level"]):
            fault(f"the verdict is not {data['verdict']['level']}")
    if metrics["rant_running", ()]:
        fault("it is said to run")


def compare_distribution(path, data):
    latency = data["statistics"]["rtt_ns" if data["run"]["role"] == "emit" else "response_ns"]
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    if lines[0].split() != ["Value", "Percentile", "TotalCount", "1/(1-Percentile)"] or lines[1]:
        fault("the head of the distribution is another")
    rows = [line.split() for line in lines[2:] if line and not line.startswith("#")]
    if [row[1] for row in rows] != sorted({row[1] for row in rows}) or [float(r[0]) for r in rows] != sorted(float(r[0]) for r in rows):
        fault("the distribution is not in order")
    if rows[-1] != [f"{latency['max_ns'] / 1000:.3f}", "1.000000000000", str(latency["samples"])]:
        fault(f"the last step is {rows[-1]}")
    at = {row[1]: row[0] for row in rows}
    for percent in (50, 90):
        want = next(p["value_ns"] for p in latency["percentiles"] if p["percent"] == percent)
        if at.get(f"{percent / 100:.12f}") != f"{want / 1000:.3f}":
            fault(f"{percent} %: {at.get(f'{percent / 100:.12f}')} us, in JSON {want} ns")
    for row in rows[:-1]:
        if abs(float(row[3]) - 1 / (1 - float(row[1]))) > 0.01 + 1e-3 * float(row[3]):
            fault(f"the last column of {row} is wrong")


def main():
    path, prom, hgrm = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        data = json.load(file)
    compare_metrics(read_metrics(prom), data)
    compare_distribution(hgrm, data)
    for one in faults[:20]:
        print(one)


main()
