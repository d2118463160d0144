#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Compares the blame of each breach that both hosts have kept with the delay that the test planted at the reflector.

    truth_blame.py FOLDER

FOLDER holds e.json and r.json of the emitter and the reflector; spins, what spinner.c printed, if that made the delays; and
judge.name, judge.complaints, judge.words: the name of the test, what it complains about already, and a line each of
    plant=spin|poll|qdisc   what was planted        part=NAME   the stage of the reflector that is to be blamed
    least=N                 breaches with a plant that each host has to have kept

A breach has a plant if the packet reached the kernel while spinner.c had the CPU of the reflector (spin), if its sequence number is one
of those that simnic held back (poll), or if it was between queueing discipline and driver for more than half of its latency (qdisc). A
breach without one is late by the guest itself: it is counted, not judged. Prints "ok - NAME", or "not ok - NAME" and the complaints.
"""
import json
import os
import sys

SIM1_MINUS_REALTIME_NS = -123456789  # live.sh
EVERY = 100  # test_stages.sh

folder = sys.argv[1]


def read(name):
    with open(os.path.join(folder, name), encoding="utf-8") as f:
        return f.read()


complaints = [line for line in read("judge.complaints").splitlines() if line]
told = dict(word.split("=", 1) for word in read("judge.words").splitlines())
spins = [tuple(map(int, line.split())) for line in read("spins").splitlines()] if told["plant"] == "spin" else []


def is_planted(breach):
    stamps = breach["stamps"]
    if told["plant"] == "poll":
        return breach["seq"] % EVERY == EVERY - 1
    if told["plant"] == "qdisc":
        return "t3_sched_ns" in stamps and 2 * (stamps["t3_txsw_ns"] - stamps["t3_sched_ns"]) > breach["latency_ns"]
    if "t2_kernel_ns" not in stamps:
        return False
    kernel = stamps["t2_kernel_ns"] - SIM1_MINUS_REALTIME_NS
    return any(begin <= kernel <= end for begin, end in spins)


counts = []
for host, prefix in (("e", "remote_"), ("r", "")):
    kept = json.loads(read(f"{host}.json"))["breaches"]["last"]
    planted = [b for b in kept if is_planted(b)]
    wrong = [f"#{b['seq']} on {b['blame']['part']}" for b in planted if b["blame"]["part"] != prefix + told["part"]]
    if len(planted) < int(told["least"]):
        complaints.append(f"{host}: {len(planted)} of {len(kept)} breaches have a plant, not {told['least']}")
    if wrong:
        complaints.append(f"{host}: {len(wrong)} of {len(planted)} are blamed on another stage: {', '.join(wrong)}")
    counts.append(f"{host}: {len(planted) - len(wrong)} of {len(planted)} right, and {len(kept) - len(planted)} breaches of the guest")
name = read("judge.name").strip()
print(f"not ok - {name}" if complaints else f"ok - {name}")
for line in complaints + counts:
    print(f"# {line}")
