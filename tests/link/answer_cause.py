#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""answer_cause.py ADDRESS MODE: a STAMP reflector without a key that confirms a freeze and answers the cause TLV, docs/protocol.md. Modes: valid,
escape (a name with control characters), class, stage, share, negative, longer (members that are not valid), other (another breach), truncated (the
TLV), unasked (a cause in each reply, also before the end of the run, and none when it is asked for), old (does not know the TLV)."""
import socket
import struct
import sys
import time

MEMBERS = {"class": (19, 1, 97, 512000, 498200), "stage": (5, 10, 97, 512000, 498200), "share": (5, 1, 101, 512000, 498200),
           "negative": (5, 1, 97, -1, -2), "longer": (5, 1, 97, 512000, 512001)}


def cause(mode, seq):
    kind, stage, share, stage_ns, ns = MEMBERS.get(mode, (5, 1, 97, 512000, 498200))
    name = b"\x1b[31mTIMER\n\xff" if mode == "escape" else b"TIMER"
    return struct.pack(">4sBBBBIHHqq32s", b"RANT", 2, kind, stage, share, seq + (mode == "other"), 1, 0, stage_ns, ns, name)


def answer(mode, data):
    out, at, is_asked = b"", 0, b"\x80\xf5\x00\x40RANT" in data
    while at + 4 <= len(data):
        kind, length = data[at + 1], int.from_bytes(data[at + 2:at + 4])
        value = data[at + 4:at + 4 + length]
        if kind == 244:
            flags = 0x41 if value[4] & 0x80 else 1
            out += struct.pack(">BBH", 0, kind, length) + value[:4] + bytes([flags]) + value[5:]
            if mode == "unasked" and not is_asked:
                return out + struct.pack(">BBH", 0, 245, 64) + cause(mode, int.from_bytes(value[8:12]))
        elif kind == 245 and mode not in ("old", "unasked"):
            if mode == "truncated":
                return out + struct.pack(">BBH", 0, kind, 8) + cause(mode, int.from_bytes(value[8:12]))[:8] + data[at + 12:]
            out += struct.pack(">BBH", 0, kind, length) + cause(mode, int.from_bytes(value[8:12]))
        else:
            out += data[at:at + 4 + length]
        at += 4 + length
    return out + data[at:]


def main():
    address, mode = sys.argv[1:]
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind((address, 862))
    number = 0
    while True:
        data, sender = s.recvfrom(2000)
        now = time.time_ns()
        stamp = struct.pack(">II", now // 10**9, now % 10**9)
        base = struct.pack(">I8s", number, stamp) + b"\x40\x01" + data[14:16] + stamp + data[:14] + bytes(2) + b"\x40" + bytes(3)
        reply = base + answer(mode, data[44:])
        s.sendto(reply[:len(data)].ljust(len(data), b"\0"), sender)
        number += 1


main()
