#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""PTP messages that a rant must bear.

  hostile_ptp.py udp|l2 IFACE ADDRESS        to a reflector: tells how many are malformed, foreign and good
  hostile_ptp.py strays IFACE MAC COUNT      replies of a stranger, to an emitter on Ethernet
"""
import socket
import struct
import sys

ETHERTYPE = 0x88F7
DOMAIN = 127
REQUEST, REPLY = 0x2024, 0x2025
STRANGER = bytes.fromhex("020000000099")


def stamp(reply=False):
    """A STAMP packet of 44 octets: valid by its error estimate, a reply by a sender's error estimate."""
    packet = bytearray(44)
    packet[12:14] = b"\x40\x01"
    if reply:
        packet[36:38] = b"\x40\x01"
    return bytes(packet)


def message(inside=stamp(), kind=1, version=2, domain=DOMAIN, tlv=REQUEST, length=0, tlv_length=0):
    length += 48 + len(inside)
    return (struct.pack("!BBHBBH", kind, version, length, domain, 0, 0x0400) + bytes(12) + bytes(10) +
            struct.pack("!HBB", 1, 1, 0x7F) + bytes(10) + struct.pack("!HH", tlv, len(inside) + tlv_length) + inside)


GOOD = [message(), message(kind=0), message(version=0x12), message() + b"padding"]
FOREIGN = [message(stamp(reply=True))]
MALFORMED = (
    [message()[:n] for n in (5, 34, 44, 47, 48, 49, 91)] +
    [message(length=n) for n in (1, -1, 2, 4000)] +
    [message(tlv_length=n) for n in (-44, -1, 1, 2, 2000)] +
    [message(length=-44, tlv_length=-44), message(length=-43, tlv_length=-43)] +
    [message(tlv=n) for n in (REPLY, 0, 3, 0x8008)] +
    [message(kind=n) for n in (2, 8, 11, 15, 0x10)] +
    [message(bytes(44)), message(stamp()[:12])]
)
# Another version or domain: over UDP it was sent to us, on Ethernet it is PTP of other programs.
OTHERS = [message(version=1), message(version=3), message(domain=0), message(domain=126), message()[:4], b""]


def main():
    what, interface, address = sys.argv[1:4]
    if what == "udp":
        s = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_DGRAM)
        for m in GOOD + FOREIGN + MALFORMED + OTHERS:
            s.sendto(m, (address, 319))
        print(f"malformed={len(MALFORMED) + len(OTHERS)} foreign={len(FOREIGN)} good={len(GOOD)}")
        return
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    s.bind((interface, 0))
    own, to = s.getsockname()[4], bytes.fromhex(address.replace(":", ""))
    ethertype = struct.pack("!H", ETHERTYPE)
    if what == "strays":
        for _ in range(int(sys.argv[4])):
            s.send(to + STRANGER + ethertype + message(stamp(reply=True), tlv=REPLY))
        # For another station, of another domain, and of the server itself but for a group: no strays.
        s.send(bytes.fromhex("020000000098") + STRANGER + ethertype + message(tlv=REPLY))
        s.send(to + STRANGER + ethertype + message(tlv=REPLY, domain=3))
        s.send(bytes.fromhex("011b19000000") + own + ethertype + message(tlv=REPLY))
        return
    for m in GOOD + FOREIGN + MALFORMED + OTHERS:
        s.send(to + own + ethertype + m)
    # Messages to a group must not be answered; messages to other stations, or with our source address, are ignored.
    for group in ("ffffffffffff", "011b19000000", "0180c200000e"):
        s.send(bytes.fromhex(group) + own + ethertype + message())
    s.send(bytes.fromhex("020000000098") + own + ethertype + message())
    s.send(to + to + ethertype + message())
    print(f"malformed={len(MALFORMED)} foreign={len(FOREIGN) + 3 + 1} good={len(GOOD)}")


main()
