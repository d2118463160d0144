# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares what contrib/wireshark/rant.lua shows of a capture with the log of the emitter. Prints a line for each fault.

  dissected.py LOG.csv CAPTURE LUA
"""
import csv
import subprocess
import sys

FIELDS = ("rant.kind", "rant.seq", "rant.sender.seq", "rant.own.t2_sw", "rant.reply.seq", "rant.reply.timestamp", "rant.followup.seq",
          "rant.followup.timestamp", "_ws.malformed", "rant.tlv.type", "rant.own.stamped_by", "rant.receive_timestamp", "rant.own.poll_gap",
          "rant.departure.seq", "rant.departure.sched")


def fields(path, lua):
    command = ["tshark", "-r", path, "-X", f"lua_script:{lua}", "-t", "u", "-T", "fields", "-E", "separator=|"]
    output = subprocess.run([*command, *(word for name in FIELDS for word in ("-e", name))], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if output.returncode or "Lua: Error" in output.stderr:
        print(f"tshark: {output.stderr.strip()[-300:]}")
    return [dict(zip(FIELDS, line.split("|"))) for line in output.stdout.splitlines()]


def fraction(shown):
    """Nanoseconds within the second: tshark shows the date in words."""
    return int(shown.split(".")[1].split()[0])


def main():
    log, capture, lua = sys.argv[1:]
    with open(log, encoding="utf-8") as file:
        rows = {int(row["SEQ"]): row for row in csv.DictReader(line for line in file if not line.startswith("#"))}
    packets = fields(capture, lua)
    requests = [one for one in packets if one["rant.kind"] == "request"]
    replies = [one for one in packets if one["rant.kind"] == "reply"]
    # The capture ends after 100 packets, before the run.
    if len(rows) < 60 or len(requests) + len(replies) < 100 or min(len(requests), len(replies)) < 40:
        print(f"{len(requests)} requests and {len(replies)} replies are dissected, and the log has {len(rows)} records")
    compared = dict.fromkeys(("T2_SW", "T2_KERNEL", "followup", "entries", "T3_SCHED"), 0)
    sent_ns = {seq: int(row["T3_KERNEL"]) % 10**9 for seq, row in rows.items() if row["T3_KERNEL"]}  # by request = by reply: nothing is lost
    for one in replies:
        row = rows.get(int(one["rant.sender.seq"]))
        if one["_ws.malformed"] or one["rant.own.stamped_by"] != "2" or one["rant.tlv.type"].split(",")[:6] != ["3", "7", "240", "241", "242", "243"]:
            print(f"reply {one['rant.seq']}: {one}")
        if row is None:
            continue
        if one["rant.own.poll_gap"] != row["REMOTE_POLL_GAP"]:
            print(f"request {row['SEQ']}: the poll gap is {one['rant.own.poll_gap']} in tshark and {row['REMOTE_POLL_GAP']} in the log")
        for name, field in (("T2_SW", "rant.own.t2_sw"), ("T2_KERNEL", "rant.receive_timestamp")):
            if fraction(one[field]) != int(row[name]) % 10**9:
                print(f"request {row['SEQ']}: {name} is {one[field]} in tshark and {row[name]} in the log")
            compared[name] += 1
        entries = list(zip(one["rant.reply.seq"].split(","), (text for text in one["rant.reply.timestamp"].split(" UTC") if "." in text)))
        entries = [("entries", *pair) for pair in entries]
        if one["rant.followup.timestamp"]:
            entries.append(("followup", one["rant.followup.seq"], one["rant.followup.timestamp"]))
        for what, seq, shown in entries:
            if int(seq) in sent_ns:
                compared[what] += 1
                if fraction(shown) != sent_ns[int(seq)]:
                    print(f"reply {seq}: T3 is {shown} in tshark ({what}) and {sent_ns[int(seq)]} in the log")
        for seq, shown in zip(one["rant.departure.seq"].split(","), one["rant.departure.sched"].split(",")):
            row = rows.get(int(seq)) if seq else None
            if row and row["T3_SCHED"]:
                compared["T3_SCHED"] += 1
                if int(shown) != int(row["T3_SCHED"]) - int(row["T3_SW"]):
                    print(f"reply {seq}: T3_SCHED is {shown} ns after T3_SW in tshark and {row['T3_SCHED']} in the log")
    for what, number in compared.items():
        if number < 10:
            print(f"only {number} values of {what} could be compared")


main()
