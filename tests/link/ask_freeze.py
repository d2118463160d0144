#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""ask_freeze.py ADDRESS MODE [KEY]: sends STAMP requests with the freeze TLV to a reflector, docs/protocol.md, and prints the flags and
the sequence number of the TLV in each reply. Modes: plain (without a key), signed, replayed (the last request of signed, twice), forged
(a TLV that was changed after it was signed)."""
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


def request(number, flags, key):
    now = time.time_ns()
    stamp = struct.pack(">II", now // 10**9, now % 10**9)
    freeze = tlv(244, MAGIC + struct.pack(">B3xII", flags, SEQ if flags else 0, 0))
    if not key:
        return struct.pack(">I8sHH28x", number, stamp, 0x4001, 0x1234) + freeze
    base = struct.pack(">I12x8sHH68x", number, stamp, 0x4001, 0x1234)
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
    for packet in packets:
        s.sendto(packet, (address, 862))
        try:
            reply = s.recv(2000)
            print(f"{reply[at]:02x} {reply[at + 8]:02x} {struct.unpack('>I', reply[at + 12:at + 16])[0]}")
        except TimeoutError:
            print("none")


main()
