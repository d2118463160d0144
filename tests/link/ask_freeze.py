#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""ask_freeze.py ADDRESS MODE [KEY]: sends STAMP requests with the freeze TLV to a reflector, docs/protocol.md, and prints the flags and
the sequence number of the TLV in each reply. Modes: plain (without a key), signed, replayed (the last request of signed, twice), forged
(a TLV that was changed after it was signed), cause (then asks for the cause: of that breach, of another, from another run, by a truncated
TLV, again; with a key also by a TLV that was changed after it was signed, and by a replayed request). Of the cause TLV it prints flags, state and
sequence number."""
import hashlib
import hmac
import socket
import struct
import sys
import time

SEQ = 7
FLAG, MAGIC = 0x80, b"RANT"


def tlv(kind, value):
    return struct.pack(">BBH", 0x80, kind, len(value)) + value


def sign(key, data):
    return hmac.new(key, data, hashlib.sha256).digest()[:16]


def cause(seq, flags=FLAG):
    return tlv(245, MAGIC + struct.pack(">B3xI", flags, seq) + bytes(52))


def request(number, flags, key, more=b"", ssid=0x1234):
    now = time.time_ns()
    stamp = struct.pack(">II", now // 10**9, now % 10**9)
    freeze = tlv(244, MAGIC + struct.pack(">B3xII", flags, SEQ if flags else 0, 0)) + more
    if not key:
        return struct.pack(">I8sHH28x", number, stamp, 0x4001, ssid) + freeze
    base = struct.pack(">I12x8sHH68x", number, stamp, 0x4001, ssid)
    return base + sign(key, base) + freeze + tlv(8, sign(key, base[:4] + freeze))


def main():
    address, mode = sys.argv[1], sys.argv[2]
    key = bytes.fromhex(open(sys.argv[3], encoding="ascii").read()) if len(sys.argv) > 3 else None
    at = 112 if key else 44
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.settimeout(1)
    packets = [request(0, 0, key), request(1, FLAG, key), request(2, FLAG, key)]
    if mode == "forged":
        packets = [request(0, 0, key)] + [bytes(p[:at + 8]) + bytes([FLAG]) + p[at + 9:] for p in (request(1, 0, key), request(2, 0, key))]
    if mode == "replayed":
        packets += packets[1:2] + packets[1:2]
    asked = []
    if mode == "cause":
        asked = [request(3, 0, key, cause(SEQ)), request(4, 0, key, cause(SEQ + 1)), request(0, 0, key, cause(SEQ), 0x1235),
                 request(5, 0, key, cause(SEQ)[:2] + struct.pack(">H", 8) + cause(SEQ)[4:12]), request(6, 0, key, cause(SEQ))]
        if key:
            changed = request(7, 0, key, cause(SEQ, 0))
            asked += [changed[:at + 28] + bytes([FLAG]) + changed[at + 29:], asked[-1]]
    for packet in packets + asked:
        first = at + (20 if packet in asked else 0)
        s.sendto(packet, (address, 862))
        try:
            reply = s.recv(2000)
            print(f"{reply[first]:02x} {reply[first + 8]:02x} {int.from_bytes(reply[first + 12:first + 16]) if reply[first + 3] >= 16 else 0}")
        except TimeoutError:
            print("none")


main()
