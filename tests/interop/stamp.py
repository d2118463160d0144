# SPDX-License-Identifier: GPL-2.0-or-later
"""
STAMP and TWAMP-Light packets, written from RFC 8762, 8972, 5357 and 8186 and not from packet.c, so that the two can
disagree. Times are integers, nanoseconds since 1970.
"""
import hashlib
import hmac as hmac_module
import struct

PORT = 862
BASE = 44  # octets of an unauthenticated packet before its TLVs
AUTHENTICATED = 112
NS = 10**9
FROM_1900_S = 2208988800
IP_RECVTTL = 12  # from linux/in.h; missing in the socket module

U, M, I = 0x80, 0x40, 0x20
PADDING, LOCATION, TIMESTAMP_INFORMATION, CLASS_OF_SERVICE = 1, 2, 3, 4
DIRECT_MEASUREMENT, ACCESS_REPORT, FOLLOW_UP, HMAC = 5, 6, 7, 8
HARDWARE, SOFTWARE, CONTROL_PLANE = 1, 2, 3  # RFC 8972 table 9

NTP_ESTIMATE, PTP_ESTIMATE = 0x0001, 0x4001  # S=0, the smallest error
Z = 0x4000


def time_octets(ns, ptp):
    seconds, rest = divmod(ns, NS)
    if ptp:
        return struct.pack("!II", seconds & 0xffffffff, rest)
    return struct.pack("!II", (seconds + FROM_1900_S) & 0xffffffff, (rest << 32) // NS)


def time_ns(octets, ptp):
    """The time rounded to the nearest nanosecond."""
    seconds, rest = struct.unpack("!II", octets)
    if ptp:
        return seconds * NS + rest
    return (seconds - FROM_1900_S) * NS + (rest * NS + 2**31 >> 32)


def tlv(kind, value, flags=U):
    return struct.pack("!BBH", flags, kind, len(value)) + value


def tlvs_of(octets):
    """Yields (offset, flags, type, Length, value); the value may be shorter than its Length says. Stops where there is
    no room for a header."""
    at = 0
    while len(octets) - at >= 4:
        flags, kind, length = struct.unpack_from("!BBH", octets, at)
        yield at, flags, kind, length, octets[at + 4:at + 4 + length]
        at += 4 + length


def mac(key, text):
    return hmac_module.new(key, text, hashlib.sha256).digest()[:16]


class Layout:
    """Where the fields are: RFC 8762 figures 2, 4, 5 and 6."""

    def __init__(self, base, time, estimate, ssid, t2, sender_seq, sender_time, sender_estimate, ttl):
        self.base, self.time, self.estimate, self.ssid, self.t2 = base, time, estimate, ssid, t2
        self.sender_seq, self.sender_time, self.sender_estimate = sender_seq, sender_time, sender_estimate
        self.ttl = ttl


PLAIN = Layout(BASE, 4, 12, 14, 16, 24, 28, 36, 40)
SIGNED = Layout(AUTHENTICATED, 16, 24, 26, 32, 48, 64, 72, 80)


def request(seq, t1_ns, ssid=0, ptp=True, tlvs=b"", key=None, estimate=None):
    layout = SIGNED if key else PLAIN
    packet = bytearray(layout.base)
    struct.pack_into("!I", packet, 0, seq)
    packet[layout.time:layout.time + 8] = time_octets(t1_ns, ptp)
    struct.pack_into("!HH", packet, layout.estimate, estimate or (PTP_ESTIMATE if ptp else NTP_ESTIMATE), ssid)
    if key:
        packet[96:112] = mac(key, bytes(packet[:96]))
    return bytes(packet) + tlvs


class Request:
    """A received request; raises struct.error if it is too short."""

    def __init__(self, octets, key=None):
        layout = SIGNED if key else PLAIN
        self.octets = octets
        self.seq, = struct.unpack_from("!I", octets, 0)
        self.t1 = octets[layout.time:layout.time + 8]
        self.estimate, = struct.unpack_from("!H", octets, layout.estimate)
        self.ptp = bool(self.estimate & Z)
        self.t1_ns = time_ns(self.t1, self.ptp)
        self.ssid = struct.unpack_from("!H", octets, layout.ssid)[0] if len(octets) >= layout.base else 0
        self.tlvs = octets[layout.base:]


def base_of_reply(to, seq, t2_ns, t3_ns, ttl, ssid, ptp, key=None):
    layout = SIGNED if key else PLAIN
    packet = bytearray(layout.base)
    struct.pack_into("!I", packet, 0, seq)
    packet[layout.time:layout.time + 8] = time_octets(t3_ns, ptp)
    struct.pack_into("!HH", packet, layout.estimate, PTP_ESTIMATE if ptp else NTP_ESTIMATE, ssid)
    packet[layout.t2:layout.t2 + 8] = time_octets(t2_ns, ptp)
    struct.pack_into("!I", packet, layout.sender_seq, to.seq)
    packet[layout.sender_time:layout.sender_time + 8] = to.t1
    struct.pack_into("!H", packet, layout.sender_estimate, to.estimate)
    packet[layout.ttl] = ttl
    if key:
        packet[96:112] = mac(key, bytes(packet[:96]))
    return bytes(packet)
