# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes what --json has written into another run, valid like the first: for tests of --compare.

  make_results.py FROM TO [highest=MEDIANS] [scale=1.0] [seconds=0] [samples=0] [lost=0] [seed=1] [verdict=LEVEL]

highest: without the samples above so many times the median. scale: every latency by so much. samples: so many, drawn from those of FROM.
seconds: with so many of them, in which the samples are as they come; 0: null. lost: so many more were sent and not answered.
"""
import json
import random
import sys


def bucket_of(ns):
    if ns < 128:
        return ns
    width = 1 << (ns.bit_length() - 8)
    return ns // width * width


def pairs(values):
    counts = {}
    for value in values:
        counts[value] = counts.get(value, 0) + 1
    return [list(pair) for pair in sorted(counts.items())]


def log_edge(value, limit):
    """Where the log-linear bucket of this value begins: each power of two has 1,024."""
    return max(value >> max(value.bit_length() - 11, 0) << max(value.bit_length() - 11, 0), limit)


def rank(values, part, whole):
    return values[max(-(-len(values) * part // whole), 1) - 1]


def set_latency(s, values):
    h, ordered = s["histogram"], sorted(values)
    edge = h["overflow_from_ns"]
    over = [v for v in ordered if v >= edge]
    mean = sum(ordered) / len(ordered)
    h.update(buckets=pairs(v for v in ordered if v < edge), overflow_buckets=pairs(log_edge(v, edge) for v in over),
             overflow=pairs(over[-4096:]), overflow_samples=len(over), overflow_not_kept=max(0, len(over) - 4096))
    s.update(samples=len(values), min_ns=ordered[0], max_ns=ordered[-1], min_seq=values.index(ordered[0]), max_seq=values.index(ordered[-1]),
             sum_ns=sum(ordered), mean_ns=round(mean), stddev_ns=round((sum((v - mean) ** 2 for v in ordered) / len(ordered)) ** 0.5))
    s["percentiles"] = [dict(percent=100 * a / b, value_ns=rank(ordered, a, b), samples_above=len(ordered) * (b - a) // b)
                        for a, b in ((50, 100), (90, 100), (95, 100), (99, 100), (999, 1000), (9999, 10000))]


def second(number, values, lost):
    ordered = sorted(values)
    some = {name: rank(ordered, a, b) if ordered else None
            for name, a, b in (("p50_ns", 50, 100), ("p99_ns", 99, 100), ("p99_9_ns", 999, 1000), ("max_ns", 1, 1))}
    return dict(number=number + 1, from_ns=number * 10**9, to_ns=(number + 1) * 10**9, unix_ns=10**18 + number * 10**9,
                sent=len(values) + lost, lost=lost, samples=len(values), longest_gap_ns=1000, not_in_percentiles=0,
                buckets=pairs(map(bucket_of, values)), **some)


def main():
    options = dict(argument.split("=") for argument in sys.argv[3:])
    with open(sys.argv[1], encoding="utf-8") as file:
        data = json.load(file)
    draw = random.Random(int(options.get("seed", 1)))
    s = data["statistics"]["rtt_ns" if data["run"]["role"] == "emit" else "response_ns"]
    values = [v for v, n in s["histogram"]["buckets"] + s["histogram"]["overflow"] for _ in range(n)]
    if "highest" in options:
        values = [v for v in values if v <= float(options["highest"]) * rank(values, 1, 2)]
    values = draw.choices(values, k=int(options.get("samples", 0)) or len(values))
    values = [round(v * float(options.get("scale", 1))) for v in values]
    more, lost = len(values) - s["samples"], int(options.get("lost", 0))
    set_latency(s, values)
    packets = data["accounts"]["packets"]
    for name in ("recorded", "received", "answered"):
        if name in packets:
            packets[name] += more
    packets["sent"] += more + lost
    if "lost" in packets:
        packets["lost"] += lost
        data["accounts"]["reflector_stamps"]["complete"] += more
        data["accounts"].pop("traffic", None)
    seconds = int(options.get("seconds", 0))
    each = [[] for _ in range(seconds)]
    gone = [0] * seconds
    for value in values if seconds else ():
        draw.choice(each).append(value)
    for _ in range(lost if seconds else 0):
        gone[draw.randrange(seconds)] += 1
    data["seconds"] = [second(i, some, gone[i]) for i, some in enumerate(each)] or None
    if "verdict" in options:
        data["verdict"].update(level=options["verdict"], reasons=[])
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        json.dump(data, file)


main()
