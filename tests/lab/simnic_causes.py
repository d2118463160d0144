#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Compares the causes that rant --explain names with the truth of the planter (simnic_plant.h).

    simnic_causes.py FOLDER

FOLDER holds saved.tar (the folders of --save-trace), plants (/proc/simnic_plants) and judge.name, judge.complaints,
judge.words: lines RANT=PATH, PLANTED=N,... (kinds, by enum plant_kind), LEAST=N (breaches of each kind that are wanted, without
PLANTED of all), STOPPED_NS=N (the guest stood still for so long, again and again), SELF=1 (each planted time is doubled on purpose,
and each kind is taken for the next).

For each saved breach: the sections sum to the stage, and so do the parts.
A breach belongs to a plant if the planted work had the CPU for at least half of its latency (T2_HW to T3_HW). Then its cause must
be the planted owner, with the time that the planter measured within the late stage, within 5 % or 2 us. The time that its loop did
not get may be that of another owner; where it was more than the planted work had, the breach is counted apart.
In a breach of at least STOPPED_NS the guest may have stood still; on a busy machine, one of its CPUs alone, which nothing in the guest
tells. LEAST of them must have the cause that the kernel did not see it, for nearly as long: the last tick was up to 4 ms before.
If the trace does not hold the whole stage, as after it was switched on within it, the breach is counted apart, too.
Each other breach, of which the guest itself is the reason, must not have a planted owner as its cause (but other packets) unless that
ran within the stage, and the owner that is named must be in the text of the trace, on this CPU and within the stage. Their number is printed.
"""
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter

THREADS = ("thread", "interrupt_held", "softirqs_off", "deferred")
# By the kind of plant: classes, name and function of the owner; None: any.
OWNERS = {
    "irq": (("interrupt",), "local timer", "plant_hrtimer_function"),
    "timer": (("softirq",), "TIMER", "plant_timer_function"),
    "tasklet": (("softirq",), "TASKLET", None),
    "work": (THREADS, r"kworker/.*", "plant_work_function"),
    "irqs_off": (THREADS, "plant-irqs_off", None),
    "preempt_off": (THREADS, "plant-preempt_o.*", None),
    "fifo": (THREADS, "plant-fifo", None),
    "packets": (("packets",), None, None),
    "send": (("interrupt",), "local timer", "plant_hrtimer_function"),
    "read": (("interrupt",), "local timer", "plant_hrtimer_function"),
}
STOPPED = "stopped"
OUTDONE = "outdone"
RECEIVES = ("netif_receive_skb_entry", "napi_gro_receive_entry")  # one of them for each packet
FALSE_PERCENT = 1  # of the breaches without a plant, fewer than this


def owner_is(kind, owner):
    classes, name, function = OWNERS[kind]
    return (owner["class"] in classes and (name is None or re.fullmatch(name, owner["name"] or "")) and
            (function is None or owner.get("function", function) == function))


class Plant:
    def __init__(self, line):
        words = line.split()
        self.seq, self.kind = int(words[0]), words[1]
        self.begun, self.ended, self.gaps = (int(word) for word in words[2:5])

    def within(self, from_ns, to_ns):
        return max(0, min(self.ended, to_ns) - max(self.begun, from_ns)) if self.begun else 0

    def owner_is(self, kind, seq, owner):
        """Packets that are planted before one packet delay others as the softirq NET_RX."""
        if kind == "packets" and seq != self.seq and (owner["class"], owner["name"]) == ("softirq", "NET_RX"):
            return True
        return owner_is(kind, owner)


class Breach:
    def __init__(self, folder, rant):
        self.folder, self.name = folder, os.path.basename(folder)
        run = subprocess.run([rant, "--explain", folder, "-q", "--json", "-"], capture_output=True, text=True, check=False)
        self.error = run.stderr.strip() or None
        data = json.loads(run.stdout) if run.stdout else {}
        self.seq = data.get("seq")
        self.why, self.timeline = data.get("why", {}), data.get("timeline", {})
        self.late = self.timeline.get("late")
        self.explained = self.late is not None and "parts" in self.why
        times = {stamp["name"]: stamp["ns"] for stamp in self.timeline.get("stamps", [])}
        self.from_ns, self.to_ns = times.get("T2_HW"), times.get("T3_HW")

    def plant(self, plants):
        """The plant that had the CPU for at least half of the latency."""
        if self.from_ns is None or self.to_ns is None or not plants:
            return None
        best = max(plants, key=lambda plant: plant.within(self.from_ns, self.to_ns))
        return best if 2 * best.within(self.from_ns, self.to_ns) >= self.to_ns - self.from_ns else None

    def owners(self):
        return [part for section in self.late["sections"] for part in section["parts"]]

    def cause(self):
        return self.why["parts"][:self.why["parts_named"]]

    def stage(self):
        return self.why["stage"].removesuffix("_ns")

    def text(self):
        parts = ", ".join(f"{p['class']} {p['name']} {p['value_ns'] / 1000:.1f}" for p in self.why["parts"][:4])
        return f"{self.name}: {self.late['name']} {self.why['value_ns'] / 1000:.1f} us, {self.why['parts_named']} of: {parts}"


def check_sums(b):
    late = b.late
    if late["sections"] and sum(p["value_ns"] for p in b.owners()) != late["to_ns"] - late["from_ns"]:
        return "the sections do not sum to the stage"
    if sum(p["value_ns"] for p in b.why["parts"]) != b.why["value_ns"]:
        return "the parts do not sum to the stage"
    return None


def check_planted(b, plant, kind, double):
    """The cause of a breach that belongs to a plant: None if it is right, else the reason. OUTDONE: the time of the planted owner is
    right, and another owner may have had more."""
    within = plant.within(b.late["from_ns"], b.late["to_ns"]) * double
    explained = sum(p["value_ns"] for p in b.owners() if plant.owner_is(kind, b.seq, p))
    allowed = max(within // 20, 2000)
    if not within - plant.gaps - allowed <= explained <= within + allowed:
        if 2 * plant.gaps > within:
            return OUTDONE
        return f"planted {kind} for {within / 1000:.1f} us (of these without the CPU {plant.gaps / 1000:.1f}), " \
               f"explained {explained / 1000:.1f}"
    if b.why["parts_named"] and plant.owner_is(kind, b.seq, b.cause()[0]):
        return None
    return OUTDONE if 2 * (within - plant.gaps) < b.to_ns - b.from_ns else f"planted {kind} is not named"


def is_stopped(b, stopped_ns):
    return any(p["class"] == "not_seen" and p["value_ns"] >= stopped_ns - 4000000 for p in b.cause())


LINE = re.compile(r"\s*(?P<task>.+)-(?P<pid>\d+)\s+\[(?P<cpu>\d+)\]\s+\S+\s+(?P<s>\d+)\.(?P<us>\d{6}): (?P<what>.*)")


def lines_of(b, cpu):
    """Events of a CPU within the late stage, and the last 50 ms before it: what runs may have begun there."""
    found = []
    with open(os.path.join(b.folder, "all.txt"), encoding="utf-8", errors="replace") as f:
        for text in f:
            line = LINE.match(text)
            if not line or int(line["cpu"]) != cpu:
                continue
            ns = int(line["s"]) * 10**9 + int(line["us"]) * 1000
            if b.late["from_ns"] - 50000000 <= ns <= b.late["to_ns"] + 1000:
                found.append((ns, line))
    return found


def is_in_trace(b, owner):
    """The text of the trace has this owner on its CPU within the stage."""
    kind, name = owner["class"], owner["name"]
    if kind in ("rant", "nic", "others", "not_in_trace", "events_lost") or owner["cpu"] is None:
        return True
    lines = lines_of(b, owner["cpu"])
    whats = [line["what"] for _, line in lines]
    if kind == "packets":
        return sum(ns >= b.late["from_ns"] and line["what"].startswith(RECEIVES) for ns, line in lines) > 1
    if kind in THREADS:
        return any(line["task"].strip() == name or f"next_comm={name} " in line["what"] for _, line in lines)
    if kind == "irq":
        return any(w.startswith("irq_handler_entry") and w.endswith(f"name={name}") for w in whats)
    if kind == "interrupt":
        return any(w.startswith(name.replace(" ", "_") + "_entry") for w in whats)
    if kind == "softirq":
        return any(w.startswith("softirq_entry") and f"action={name}]" in w for w in whats)
    if kind == "nmi":
        return any(w.startswith("nmi_handler") for w in whats)
    if kind == "not_seen":
        times = [b.late["from_ns"], *(ns for ns, _ in lines if ns > b.late["from_ns"]), b.late["to_ns"]]
        return max(later - earlier for earlier, later in zip(times, times[1:])) >= 10000
    return any("<idle>" in line["task"] or w.startswith("cpu_idle") for (_, line), w in zip(lines, whats))


def check_not_planted(b, plants):
    """The cause of any other breach; None: nothing speaks against it."""
    functions = {(p["class"], p["name"]): p["function"] for p in b.owners() if p["function"]}
    for owner in b.cause():
        planted = [kind for kind in OWNERS if owner_is(kind, {"function": functions.get((owner["class"], owner["name"])), **owner})]
        ran = any(p.kind in planted and p.within(b.late["from_ns"], b.late["to_ns"]) for p in plants)
        if planted and not ran and planted != ["packets"]:  # of those there are others, too: after a pause several come at once
            return f"{planted[0]} is named, but was not planted"
        if not is_in_trace(b, owner):
            return f"{owner['class']} {owner['name']} is named, but is not in the trace"
    return None


def read(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8") as f:
        return f.read()


def main():
    folder = sys.argv[1]
    complaints = [line for line in read(folder, "judge.complaints").splitlines() if line]
    words = dict(line.split("=", 1) for line in read(folder, "judge.words").splitlines() if line)
    wrong_world = words.get("SELF", "0") != "0"
    plants = [Plant(line) for line in read(folder, "plants").splitlines()]
    kinds = [list(OWNERS)[int(number) - 1] for number in words.get("PLANTED", "").split(",") if number]
    stopped_ns = int(words.get("STOPPED_NS", "0")) * (2 if wrong_world else 1)
    right, made, stages, apart, wrong, false, total = Counter(), Counter(), Counter(), Counter(), [], [], 0
    with tempfile.TemporaryDirectory() as work:
        with tarfile.open(os.path.join(folder, "saved.tar")) as tar:
            tar.extractall(work, filter="data")
        saved = os.path.join(work, "saved")
        for name in sorted(os.listdir(saved), key=lambda n: int(n.rsplit("-", 1)[-1])):
            b = Breach(os.path.join(saved, name), words["RANT"])
            total += 1
            if not b.explained:
                wrong.append(f"{name}: not explained: {b.error}")
                continue
            if b.error:
                complaints.append(b.error)
            error = check_sums(b)
            plant = b.plant(plants)
            if not error and any(p["class"] in ("not_in_trace", "events_lost") for p in b.why["parts"]):
                apart["not in the trace"] += 1
                continue
            if not error and not plant and stopped_ns and b.to_ns - b.from_ns >= stopped_ns and is_stopped(b, stopped_ns):
                made[STOPPED] += 1
                right[STOPPED] += 1
            elif not error and plant:
                kind = kinds[(kinds.index(plant.kind) + wrong_world) % len(kinds)]
                error = check_planted(b, plant, kind, 2 if wrong_world else 1)
                if error == OUTDONE:
                    apart["planted, and outdone by another"] += 1
                    continue
                made[plant.kind] += 1
                right[plant.kind] += not error
                stages[b.stage()] += not error
            elif not error:
                apart[b.cause()[0]["class"] if b.cause() else b.why["class"]] += 1
                error = check_not_planted(b, plants)
                if error:
                    false.append(f"{error}: {b.text()}")
                continue
            if error:
                wrong.append(f"{error}: {b.text()}")
    least = int(words["LEAST"])
    kinds += [STOPPED] if stopped_ns else []
    complaints += wrong
    complaints += [f"{kind}: {made[kind]} breaches, fewer than {least}" for kind in kinds if made[kind] < least]
    if not kinds and sum(apart.values()) < least:
        complaints.append(f"{sum(apart.values())} breaches, fewer than {least}")
    if len(false) * 100 >= max(FALSE_PERCENT * sum(apart.values()), 1):
        complaints += false
    print(("not ok" if complaints else "ok") + " - " + read(folder, "judge.name").strip())
    for kind in kinds:
        print(f"# {kind}: {right[kind]} of {made[kind]} right")
    if stages:
        print("# right by stage: " + ", ".join(f"{stage} {n}" for stage, n in stages.most_common()))
    print(f"# {sum(apart.values())} of {total} apart, most without a plant, {len(false)} false: " +
          ", ".join(f"{kind} {n}" for kind, n in apart.most_common()))
    for line in complaints[:20]:
        print("# " + line)
    if len(complaints) > 20:
        print(f"# and {len(complaints) - 20} more")


if __name__ == "__main__":
    main()
