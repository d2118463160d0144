#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Compares the traces that both hosts froze at a breach of the emitter with the truth of the planter (simnic_plant.h).

    simnic_freeze.py FOLDER

FOLDER holds saved.tar (frozen/r: folders of the reflector; frozen/e-N and e-N.json: folders and results of the run N of the
emitter), plants and plants.before (/proc/simnic_plants after and before) and judge.name, judge.complaints, judge.words: lines
RANT=PATH, KIND=NAME (what is planted), TWO_CLOCKS=1 (each host has a kernel of its own; the work was planted at times, not at packets), LEAST=N (breaches that are wanted), SELF=1 (on purpose another number and another kind are
taken for the planted ones).

For each folder of the emitter the reflector has one with the same id of the run and number, unless the emitter counted a request
that was refused or not sent; the reflector has no others. Two of 57 runs have the same id with a probability of 2 % (16 bits): then
the folder with the same T2 and T3 is compared. No more planted packets are without a folder than it counted. A breach belongs to a plant as in simnic_causes.py: then its number is
that of the planted packet, and rant --explain of the reflector's folder names the planted owner with its time. The first breach of
each run has the same cause in the results of the emitter. If both hosts have one clock: from the end of the planted work to the
marker in each trace is the time in which each host froze. rant-plot --timeline draws the first pair. Breaches without a plant are
counted apart.
"""
import glob
import json
import os
import re
import statistics
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter

from simnic_causes import OUTDONE, OWNERS, Breach, Plant, check_planted, check_sums, owner_is, read

NAME = re.compile(r"rant-emit-(run-([0-9a-f]{4})-seq-(\d+))")
PLOT = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", "plot", "rant-plot")
NOT_CONVERTED = "they could not be converted to the clock of the NIC"
NOT_FROZEN = ("refused", "occupied", "unconfirmed", "left_out")


def check_names(name, breaches):
    run, seq = NAME.fullmatch(name).group(2, 3)
    for b in breaches:
        if (b.timeline.get("run"), b.seq) != (run, int(seq)):
            return f"{b.name} has the breach #{b.seq} of the run {b.timeline.get('run')}"
    return None


def check_remote(first, b):
    """The cause in the results of the emitter is that of the reflector's own folder."""
    why = b.why
    want = {"state": "known", "stage": b.stage(), "stage_ns": why["value_ns"], "class": why["class"],
            "name": why["name"], "cpu": why["cpu"], "value_ns": why["parts"][0]["value_ns"] if why["parts_named"] else 0}
    cause = first["cause"] or {}
    have = {member: cause.get(member) for member in want}
    return None if have == want else f"{b.name}: the emitter has the remote cause {cause}, not {want}"


def stamps_of(b):
    """The times of the packet that both hosts have, by the clock of the reflector's NIC."""
    return {stamp["name"]: stamp["own_ns"] for stamp in b.timeline.get("stamps", []) if stamp["name"] in ("T2_HW", "T3_HW")}


class Judge:
    def __init__(self, folder):
        self.words = dict(line.split("=", 1) for line in read(folder, "judge.words").splitlines() if line)
        self.wrong_world = self.words.get("SELF", "0") != "0"
        self.two_clocks = "TWO_CLOCKS" in self.words
        before = set(read(folder, "plants.before").splitlines())
        self.plants = [Plant(line) for line in read(folder, "plants").splitlines() if line not in before]
        self.complaints = [line for line in read(folder, "judge.complaints").splitlines() if line]
        self.apart, self.counts, self.stages = Counter(), Counter(), Counter()
        self.times = {"emitter": [], "reflector": [], "bound": []}
        self.kind, self.not_frozen, self.frozen, self.causes_apart = self.words["KIND"], 0, set(), set()
        kinds = list(OWNERS)
        self.owner = kinds[(kinds.index(self.kind) + self.wrong_world) % len(kinds)]

    def judge_cause(self, b, plant):
        error = check_sums(b)
        if not error and any(p["class"] in ("not_in_trace", "events_lost") for p in b.why["parts"]):
            self.apart["not in the trace"] += 1
            self.causes_apart.add(b.name)
            return None
        error = error or check_planted(b, plant, self.owner, 2 if self.wrong_world else 1)
        if error == OUTDONE:
            self.apart["planted, and outdone by another"] += 1
            self.causes_apart.add(b.name)
            return None
        self.counts["causes"] += 1
        self.counts["causes right"] += not error
        return error

    def judge_times(self, emit, reflect, plant):
        for side, b in (("emitter", emit), ("reflector", reflect)):
            if side == "emitter" and self.two_clocks:
                continue
            frozen_ns = b.timeline.get("breach_ns")
            if frozen_ns is None or frozen_ns < plant.ended:
                return f"{b.name} was frozen before the planted work ended"
            self.times[side].append(frozen_ns - plant.ended)
        return None

    def judge_pair(self, name, emit, reflect):
        """A reason if it is wrong. Whether the planted packet was delayed only the reflector's times show."""
        error = check_names(name, (emit, reflect))
        if not error and NOT_CONVERTED in str(reflect.error):
            self.apart["not explained: the NIC's clock was not known well enough"] += 1
            self.causes_apart.add(reflect.name)
            return None
        if error or not reflect.explained:
            return error or f"{reflect.name}: not explained: {reflect.error}"
        plant = reflect.plant(self.plants)
        if not plant:
            self.apart["without a plant"] += 1
            return None
        self.counts["pairs"] += 1
        self.frozen.add(plant)
        errors = [self.judge_times(emit, reflect, plant), self.judge_cause(reflect, plant)]
        # Work that is planted at a time belongs to the packet that Breach.plant() finds. "read" may be too late for its packet: then it
        # delays the next one.
        planted = (reflect.seq if self.two_clocks else plant.seq) + self.wrong_world
        if planted <= reflect.seq <= planted + (plant.kind == "read"):
            self.counts["pairs right"] += 1
        else:
            errors.append(f"the planted packet is #{planted}")
        errors = [error for error in errors if error]
        return f"{name}: {'; '.join(errors)}" if errors else None

    def draw(self, pairs):
        if self.counts["drawn"] or not pairs:
            return
        self.counts["drawn"] += 1
        folders = [b.folder for b in pairs[0]]
        svg = os.path.join(os.path.dirname(folders[0]), "spike.svg")
        run = subprocess.run([sys.executable, PLOT, "--timeline", *folders, "-o", svg], capture_output=True, text=True, check=False)
        if run.returncode or run.stderr:
            self.complaints.append(f"rant-plot --timeline: status {run.returncode}: {run.stderr.strip()}")
        elif pairs[0][1].late and pairs[0][1].late["name"] not in read(os.path.dirname(svg), "spike.svg"):
            self.complaints.append(f"rant-plot --timeline: no {pairs[0][1].late['name']} in the picture of {pairs[0][1].name}")

    def judge_first(self, freeze, run, pairs):
        """The remote cause of a run: its first breach at which the reflector froze."""
        first = freeze["first"]
        if not first or first["outcome"] != "frozen":
            self.apart[f"remote cause of a run without a confirmed first breach ({first['outcome'] if first else 'none'})"] += 1
            return
        emit, reflect = next(((e, r) for e, r in pairs if e.seq == first["seq"]), (None, None))
        if reflect and reflect.name in self.causes_apart and not reflect.explained:
            return
        if not reflect or not reflect.explained:
            self.complaints.append(f"run {run}: no folders of its first breach #{first['seq']}")
            return
        error = check_remote(first, reflect)
        between_ns = reflect.timeline["breach_ns"] - emit.timeline["breach_ns"]
        if not error and not self.two_clocks and between_ns > first["peer_ns"] + 1000:
            error = f"{reflect.name}: frozen {between_ns} ns after the emitter, which reports at most {first['peer_ns']}"
        self.times["bound"].append(first["peer_bound_ns"])
        if not reflect.plant(self.plants):
            self.apart["remote cause without a plant"] += 1
        elif reflect.name in self.causes_apart:
            self.apart["remote cause that is apart as that of the folder"] += 1
        else:
            if not error and not owner_is(self.owner, first["cause"]):
                error = f"{reflect.name}: planted {self.owner}, and the remote cause is {first['cause']}"
            self.counts["remote"] += 1
            self.counts["remote right"] += not error
            self.stages[reflect.stage()] += not error
        if error:
            self.complaints.append(error)

    def pair(self, path, other):
        """(emitter, reflector, None if it has no such folder)"""
        emit = Breach(path, self.words["RANT"])
        others = [Breach(folder, self.words["RANT"]) for folder in glob.glob(other) + glob.glob(other + ".[0-9]*")]
        return emit, max(others, key=lambda b: stamps_of(b) == stamps_of(emit), default=None)

    def judge_run(self, work, run, reflected):
        with open(os.path.join(work, f"{run}.json"), encoding="utf-8") as f:
            freeze = json.load(f)["freeze"]
        pairs, alone = [], 0
        for name in sorted(os.listdir(os.path.join(work, run))):
            if not NAME.fullmatch(name):
                self.complaints.append(f"{run}/{name} is not the name of a breach of a run")
                continue
            emit, reflect = self.pair(os.path.join(work, run, name), os.path.join(work, "r", name.replace("emit", "reflect")))
            if not reflect:
                alone += 1
            else:
                reflected.discard(reflect.name)
                pairs.append((emit, reflect))
                error = self.judge_pair(name, *pairs[-1])
                if error:
                    self.complaints.append(error)
        self.apart["frozen by the emitter only, as it counted"] += alone
        if alone > sum(freeze[count] for count in NOT_FROZEN):
            self.complaints.append(f"{run}: {alone} folders of the emitter alone, and its counts are {freeze}")
        if freeze["confirmed"] != len(pairs):
            self.complaints.append(f"{run}: {freeze['confirmed']} requests were confirmed, and there are {len(pairs)} pairs")
        self.not_frozen += 1 + sum(freeze[count] for count in NOT_FROZEN)  # one while the run ended
        self.judge_first(freeze, run, pairs)
        self.draw(pairs)

    def close(self, name):
        least, counts = int(self.words["LEAST"]), self.counts
        others = sum(1 for plant in self.plants if plant.begun and plant not in self.frozen)
        self.apart["planted, and no freeze requested or allowed"] = others
        if others > self.not_frozen and not self.two_clocks:
            self.complaints.append(f"{others} planted packets were not frozen, and the emitters counted {self.not_frozen}")
        self.complaints += [f"{counts[what]} {what}, fewer than {least}" for what in ("pairs", "causes", "remote") if counts[what] < least]
        print(("not ok" if self.complaints else "ok") + " - " + name)
        print(f"# both hosts frozen at the planted number {counts['pairs right']} of {counts['pairs']}, causes right "
              f"{counts['causes right']} of {counts['causes']}, remote causes right {counts['remote right']} of {counts['remote']}")
        print("# remote causes right by stage: " + (", ".join(f"{stage} {n}" for stage, n in self.stages.most_common()) or "none"))
        for side, times in self.times.items():
            if times:
                what = "bound of the reflector's time" if side == "bound" else f"{side} frozen after the planted work"
                print(f"# {what}: p50 {statistics.median(times) / 1000:.0f} us, max {max(times) / 1000:.0f} us")
        print("# apart: " + (", ".join(f"{what} {n}" for what, n in self.apart.most_common() if n) or "none"))
        for line in self.complaints[:20]:
            print("# " + line)


def main():
    folder = sys.argv[1]
    judge = Judge(folder)
    with tempfile.TemporaryDirectory() as work:
        with tarfile.open(os.path.join(folder, "saved.tar")) as tar:
            tar.extractall(work, filter="data")
        work = os.path.join(work, "frozen")
        reflected = set(os.listdir(os.path.join(work, "r")))
        for run in sorted(name for name in os.listdir(work) if name.startswith("e-") and not name.endswith(".json")):
            judge.judge_run(work, run, reflected)
        judge.complaints += [f"{name}: the emitter has no folder of it" for name in sorted(reflected)]
        judge.close(read(folder, "judge.name").strip())


main()
