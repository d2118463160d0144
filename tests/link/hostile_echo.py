#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A host that answers echoes as none should. Its kernel must not answer any.

  hostile_echo.py IFACE ADDRESS SECOND    its addresses, of IPv4 or IPv6; ends by SIGTERM, and tells how often each thing was done

By the number of the STAMP packet modulo 16 it does what KINDS says; all others are answered well.
"""
import signal
import socket
import struct
import sys

KINDS = {1: "altered", 3: "again", 5: "other_id", 7: "stranger", 9: "short", 11: "other_t1", 13: "other_code", 15: "long"}


def checksum(octets):
    octets += bytes(len(octets) % 2)
    total = sum(struct.unpack(f"!{len(octets) // 2}H", octets))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def main():
    interface, first, second = sys.argv[1:4]
    six = ":" in second
    family, protocol = (socket.AF_INET6, socket.IPPROTO_ICMPV6) if six else (socket.AF_INET, socket.IPPROTO_ICMP)
    request, reply, before = (128, 129, 0) if six else (8, 0, 20)
    done = dict.fromkeys(KINDS.values(), 0)
    s, stranger = (socket.socket(family, socket.SOCK_RAW, protocol) for _ in range(2))
    s.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, interface.encode())
    s.bind((first, 0))
    stranger.bind((second, 0))

    def end(*_):
        print(*(f"{name}={count}" for name, count in done.items()), flush=True)
        sys.exit(0)

    def send(by, to, header, data, code=0, other_id=0):
        ident, seq = struct.unpack("!HH", header)
        message = struct.pack("!BBHHH", reply, code, 0, ident ^ other_id, seq) + data
        if not six:
            message = message[:2] + struct.pack("!H", checksum(message)) + message[4:]
        by.sendto(message, to)

    signal.signal(signal.SIGTERM, end)
    print("ready", flush=True)
    while True:
        packet, to = s.recvfrom(65536)
        packet, to = packet[before:], (to[0], 0) if not six else (to[0], 0, 0, to[3])
        if packet[0] != request:
            continue
        header, data = packet[4:8], packet[8:]
        kind = KINDS.get(struct.unpack("!I", data[:4])[0] % 16)
        done[kind or "again"] += kind is not None
        if kind == "altered":
            send(s, to, header, data[:-1] + bytes([data[-1] ^ 1]))
        elif kind == "other_id":
            send(s, to, header, data, other_id=0x5555)
        elif kind == "stranger":
            send(stranger, to, header, data)
        elif kind == "short":
            send(s, to, header, data[:-2])
        elif kind == "other_t1":
            send(s, to, header, data[:4] + bytes(8) + data[12:])
        elif kind == "other_code":
            send(s, to, header, data, code=1)
        elif kind == "long":
            send(s, to, header, data + b"more")
        else:
            send(s, to, header, data)
            if kind == "again":
                send(s, to, header, data)


main()
