# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads what rant --hlog has written, octet by octet, and what HdrHistogram's own reader says of it, and compares both with the JSON of
the same run. Prints a line for each fault.

  read_hlog.py JSON HLOG [INTERVALS]

INTERVALS: what HistogramLogProcessor -csv -outputValueUnitRatio 1 -o has written.
"""
import base64
import json
import re
import struct
import sys
import zlib

from read_json import faults, fault


def leb128(octets):
    """ZigZag LEB128, one after the other."""
    value = shift = 0
    for octet in octets:
        value |= (octet & 127) << shift
        shift += 7
        if octet < 128:
            yield (value >> 1) ^ -(value & 1)
            value = shift = 0
    if shift:
        fault("the last count is cut off")


def start_of(place):
    """The least value of a place: 2048 of 1 ns, then 1024 in each power of two."""
    shift = max(place // 1024 - 1, 0)
    return (place - shift * 1024) << shift, 1 << shift


def decode(text):
    """Pairs of the first and the last value of a place, and how many are there."""
    octets = base64.b64decode(text, validate=True)
    cookie, length = struct.unpack(">II", octets[:8])
    plain = zlib.decompressobj()
    encoded = plain.decompress(octets[8:])
    if cookie != 0x1c849314 or length != len(octets) - 8 or not plain.eof or plain.unused_data:
        fault("the compressed histogram is none, or has another length")
    cookie, length, offset, digits, least, most, ratio = struct.unpack(">IIIIQQd", encoded[:40])
    if (cookie, length, offset, digits, least, ratio) != (0x1c849313, len(encoded) - 40, 0, 3, 1, 1.0) or most < 3600 * 10**9:
        fault("the head of the histogram is another")
    place, places = 0, []
    for count in leb128(encoded[40:]):
        if count > 0:
            start, width = start_of(place)
            places.append((start, start + width - 1, count))
        place += -count if count < 0 else 1
    return places


def value_at(places, rank):
    for start, last, count in places:
        rank -= count
        if rank <= 0:
            return start, last
    return None


def compare_second(one, places, max_ms, coarse):
    samples = one["samples"] - one["not_in_percentiles"]
    if sum(count for _, _, count in places) != samples:
        fault(f"second {one['number']}: not {samples} samples")
    for name, thousandths in (("p50_ns", 500), ("p99_ns", 990), ("p99_9_ns", 999), ("max_ns", 1000)):
        if one[name] is None:
            continue
        start, last = value_at(places, max((samples * thousandths + 999) // 1000, 1))
        if not start <= one[name] <= last * (1 + coarse):
            fault(f"second {one['number']}: {name} {one[name]} is not from {start} to {last}")
    if max_ms != f"{(one['max_ns'] or 0) / 10**6:.6f}":
        fault(f"second {one['number']}: its maximum is {max_ms} ms, in JSON {one['max_ns']} ns")


def compare_lines(lines, seconds, start, coarse):
    if len(lines) != len(seconds):
        fault(f"{len(lines)} lines, {len(seconds)} seconds in JSON")
    for line, one in zip(lines, seconds):
        found = re.fullmatch(r"(\d+\.\d{3}),(\d+\.\d{3}),(\d+\.\d{6}),([A-Za-z0-9+/]+=*)", line)
        if not found:
            fault(f"no line of an interval log: {line[:60]}")
            continue
        begins, lasts = float(found[1]) - start, float(found[2])
        together = any(other.get("run", 1) > 1 for other in seconds)
        if (not together and abs(begins - one["from_ns"] / 10**9) > 0.0011) or abs(lasts - (one["to_ns"] - one["from_ns"]) / 10**9) > 0.0011:
            fault(f"second {one['number']}: from {begins} for {lasts} s")
        compare_second(one, decode(found[4]), found[3], coarse)


def compare_intervals(path, data, coarse):
    """As HdrHistogram's own reader has them."""
    with open(path, encoding="utf-8") as file:
        rows = [line.split(",") for line in file.read().split("\n") if line and line[0].isdigit()]
    if len(rows) != len(data["seconds"]):
        fault(f"its own reader has {len(rows)} intervals, of {len(data['seconds'])}")
    for row, one in zip(rows, data["seconds"]):
        if int(row[1]) != one["samples"]:
            fault(f"second {one['number']}: its own reader has {row[1]} samples, not {one['samples']}")
        for value, name in ((row[2], "p50_ns"), (row[4], "max_ns")):
            if one[name] is not None and not one[name] * (1 - coarse) <= float(value) <= one[name] * (1 + 1 / 1024):
                fault(f"second {one['number']}: {name} {one[name]}, its own reader has {value}")
    all_ = data["statistics"]["rtt_ns" if data["run"]["role"] == "emit" else "response_ns"]["samples"]
    if rows and int(rows[-1][5]) != all_:
        fault(f"its own reader has {rows[-1][5]} samples in all, not {all_}")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        data = json.load(file)
    with open(sys.argv[2], encoding="utf-8") as file:
        lines = file.read().split("\n")
    head = [line for line in lines if line.startswith("#")]
    start = re.search(r"^#\[StartTime: (\d+\.\d{3}) \(seconds since epoch\), .+\]$", "\n".join(head), re.M)
    if "#[Histogram log format version 1.2]" not in head or not start or max(map(len, head)) > 126:
        fault(f"the head is {head}")
    if lines[len(head)] != '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"' or lines[-1]:
        fault("there is no legend below the head, or the last line has no end")
    # What was read again has only buckets of 1/128, if it was JSON.
    coarse = 1 / 128 if "lower edges" in "".join(head) else 0
    if start and data["run"]["began_unix_ns"] and abs(float(start[1]) - data["run"]["began_unix_ns"] / 10**9) > 5:
        fault("it did not begin then")
    compare_lines(lines[len(head) + 1:-1], data["seconds"], float(start[1]) if start else 0, coarse)
    if sys.argv[3:]:
        compare_intervals(sys.argv[3], data, coarse)
    for one in faults[:20]:
        print(one)


main()
