#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Reflectors of other makes, as the RFCs allow them to be. They take their times with the system clock.

    reflectors.py KIND ADDRESS FILE [KEY]     until SIGTERM; KEY: hexadecimal, of the authenticated mode

Writes one line of JSON for each request to FILE at the end: the request, and the reported values.
"""
import json
import random
import signal
import socket
import struct
import sys
import time

import stamp
from stamp import HARDWARE, I, M, SOFTWARE, U


def clock_ns():
    return time.clock_gettime_ns(time.CLOCK_REALTIME)


class Base:
    """RFC 8762 without RFC 8972: no SSID, and octets after the base are returned unchanged."""
    counts = True  # its own replies, so that loss has a direction
    keeps_ssid = False
    ttl = None  # reported instead of the received TTL
    ptp = None  # always this format, instead of that of the request
    sends = True  # a reply

    def __init__(self, key):
        self.key, self.number, self.previous, self.random = key, 0, None, random.Random(1)

    def reply(self, asked, told):
        """told: has t2, ttl, tos; the other reported values are added."""
        told["seq"] = self.number if self.counts else asked.seq
        told["t3"] = clock_ns()
        base = stamp.base_of_reply(asked, told["seq"], told["t2"], told["t3"], told["ttl"],
                                   asked.ssid if self.keeps_ssid else 0, told["ptp"], self.key)
        return base + self.tlvs(asked, told)

    def tlvs(self, asked, told):
        return asked.tlvs

    def extra(self, asked, reply):
        """Further packets to send before the reply."""
        return []

    def answer(self, octets, ttl, tos, t2_ns):
        asked = stamp.Request(octets, self.key)
        told = {"asked": asked.seq, "bytes": len(octets), "ssid": asked.ssid, "arrived_ttl": ttl, "arrived_tos": tos,
                "t1": asked.t1_ns, "t2": t2_ns, "ttl": ttl if self.ttl is None else self.ttl,
                "ptp": asked.ptp if self.ptp is None else self.ptp}
        packets = [self.reply(asked, told)]
        packets = self.extra(asked, packets[0]) + (packets if self.sends else [])
        told["left"] = clock_ns()
        self.previous = told
        self.number += 1
        return packets, told


class Stateless(Base):
    counts = False


class Light(Base):
    """TWAMP-Light: 41 octets, all padding cut off."""
    octets = 41

    def reply(self, asked, told):
        return super().reply(asked, told)[:self.octets]


class Light38(Light):
    """As some send it: without the TTL."""
    octets = 38


class LightLong(Light):
    """RFC 5357 section 4.2.1 without truncation: the request's padding after 41 octets."""

    def reply(self, asked, told):
        return super().reply(asked, told) + asked.octets[14:]


class Full(Base):
    """RFC 8972: Timestamp Information, Class of Service and Follow-Up; U for the rest."""
    keeps_ssid = True
    method = follow_up_method = SOFTWARE
    dscp = None  # reported instead of the received DSCP

    def tlvs(self, asked, told):
        told["follow_up"] = None
        out = b""
        for _, _, kind, _, value in stamp.tlvs_of(asked.tlvs):
            out += stamp.tlv(kind, *self.answer_tlv(kind, value, told))
        return self.seal(out, told)

    def seal(self, out, told):
        """The HMAC TLV is over the reply's number and all TLVs before it."""
        if not self.key:
            return out
        for at, _, kind, _, _ in stamp.tlvs_of(out):
            if kind == stamp.HMAC:
                value = stamp.mac(self.key, struct.pack("!I", told["seq"]) + out[:at])
                return out[:at] + stamp.tlv(kind, value, 0) + out[at + 20:]
        return out

    def answer_tlv(self, kind, value, told):
        if kind == stamp.TIMESTAMP_INFORMATION:
            return bytes([5, self.method, 5, SOFTWARE]) + value[4:], 0
        if kind == stamp.CLASS_OF_SERVICE:
            dscp = told["arrived_tos"] >> 2 if self.dscp is None else self.dscp
            return bytes([value[0] & 0xfc | dscp >> 4, (dscp & 15) << 4 | (told["arrived_tos"] & 3) << 2 | 1, 0, 0]), 0
        if kind == stamp.FOLLOW_UP:
            return self.follow_up(told), 0
        if kind in (stamp.PADDING, stamp.HMAC):
            return value, 0
        return value, U

    def follow_up(self, told):
        last = self.previous
        if not last or not self.counts:
            return bytes(16)
        told["follow_up"] = last["seq"]
        return struct.pack("!I8sB3x", last["seq"], stamp.time_octets(last["left"], told["ptp"]), self.follow_up_method)


class FullStateless(Full):
    """RFC 8972 section 4.7: then the follow-up is all zeros."""
    counts = False


class NoSsid(Full):
    keeps_ssid = False


class InNtp(Full):
    ptp = False


class InPtp(Full):
    ptp = True


class ByHardware(Full):
    method = follow_up_method = HARDWARE


class HardwareStateless(FullStateless):
    method = HARDWARE


class Mixed(Full):
    """T2 by software, the follow-up by hardware: two clocks."""
    follow_up_method = HARDWARE


class NoMethod(Full):
    """Without support for the Timestamp Information TLV."""

    def answer_tlv(self, kind, value, told):
        if kind == stamp.TIMESTAMP_INFORMATION:
            return value, U
        return super().answer_tlv(kind, value, told)


class OtherState(Full):
    """Reports a changed TTL and DSCP, as by routers and their policies on the path."""
    ttl, dscp = 200, 10


class Unknowing(Full):
    """RFC 8972 without any of its TLVs."""

    def answer_tlv(self, kind, value, told):
        return value, U


class Echoing(Full):
    """Returns unsupported TLVs unchanged, with U clear."""

    def answer_tlv(self, kind, value, told):
        return value if kind >= 240 else super().answer_tlv(kind, value, told)[0], 0


class Refusing(Full):
    """Marks the first TLV as malformed, which ends the processing, though the rest looks well."""
    flag = M

    def tlvs(self, asked, told):
        out = super().tlvs(asked, told)
        return bytes([self.flag]) + out[1:] if out else out


class Distrusting(Refusing):
    """Reports that the integrity check failed."""
    flag = I


class WronglySealed(Full):
    """The HMAC of the base is right, that of the TLVs is not."""

    def seal(self, out, told):
        out = super().seal(out, told)
        return out[:-1] + bytes([out[-1] ^ 1]) if out else out


class Forging(Full):
    """Every reply comes twice, the first time with an octet that its HMAC does not cover rightly."""

    def extra(self, asked, reply):
        return [reply[:40] + bytes([reply[40] ^ 1]) + reply[41:], reply[:44]]


class WithoutClock(Base):
    """T2 and T3 are zeros."""

    def reply(self, asked, told):
        reply = super().reply(asked, told)
        told["t2"] = told["t3"] = None
        return reply[:4] + bytes(8) + reply[12:16] + bytes(8) + reply[24:]


class Unsynchronised(Light):
    """NTP format by a clock that was never set: it counts from its start, which it takes for 1970."""
    ptp = False
    since = clock_ns() - 3600 * stamp.NS

    def reply(self, asked, told):
        told["t2"] -= self.since
        return self.shift(super().reply(asked, told), told, -self.since)

    @staticmethod
    def shift(reply, told, by_ns):
        """T3 by so much."""
        told["t3"] += by_ns
        return reply[:4] + stamp.time_octets(told["t3"], told["ptp"]) + reply[12:]


class InPast(Unsynchronised):
    """The same in PTP format, a day late."""
    ptp, since = True, 86400 * stamp.NS


class TwoScales(Base):
    """T2 is TAI, T3 is UTC, which no field of a packet shows."""

    def reply(self, asked, told):
        return Unsynchronised.shift(super().reply(asked, told), told, -37 * stamp.NS)


class WithoutT2(Full):
    """T2 is zeros, T3 and the follow-up are not; in the format that takes zeros for another time than 1970."""
    ptp = False

    def reply(self, asked, told):
        reply = super().reply(asked, told)
        told["t2"] = None
        return reply[:16] + bytes(8) + reply[24:]


class OtherScale(Full):
    """The follow-up and T2 are on different time scales, TAI and UTC, which no field of a packet shows."""

    def answer(self, octets, ttl, tos, t2_ns):
        packets, told = super().answer(octets, ttl, tos, t2_ns)
        told["left"] += 37 * stamp.NS
        return packets, told


class Backward(Full):
    """Reports a departure before the arrival of the request, within the clock tolerance."""

    def answer(self, octets, ttl, tos, t2_ns):
        packets, told = super().answer(octets, ttl, tos, t2_ns)
        told["left"] = t2_ns - 1000
        return packets, told


class TooLong(Full):
    """A Follow-Up TLV whose Length exceeds the rest of the packet, without an M flag."""

    def tlvs(self, asked, told):
        out = super().tlvs(asked, told)
        for at, _, kind, _, _ in stamp.tlvs_of(out):
            if kind == stamp.FOLLOW_UP:
                return out[:at + 2] + struct.pack("!H", 2000) + out[at + 4:]
        return out


class Babbling(Full):
    """Before each good answer: too few random octets, others without a Multiplier, and a packet that looks like a reply
    to a probe of the far future."""

    def extra(self, asked, reply):
        generator = random.Random(asked.seq)
        length = generator.randrange(38)
        noise = bytearray(generator.getrandbits(8) for _ in range(generator.randrange(38, 1400)))
        noise[13] = noise[37] = 0
        other = bytearray(reply)
        other[24:28] = struct.pack("!I", asked.seq + 1000000)
        return [bytes(generator.getrandbits(8) for _ in range(length)), bytes(noise), bytes(other)]


class Babble(Babbling):
    """Without any good answer."""
    sends = False


class Forgetful(Full):
    """Drops every 7th request as if the network had, and every 5th of its replies."""
    arrived = 0

    def answer(self, octets, ttl, tos, t2_ns):
        self.arrived += 1
        if self.arrived % 7 == 0:
            return [], {"asked": stamp.Request(octets, self.key).seq, "dropped": "there"}
        packets, told = super().answer(octets, ttl, tos, t2_ns)
        if self.arrived % 5 == 0:
            told["dropped"] = "back"
            return [], told
        return packets, told


KINDS = {kind.__name__: kind for kind in (
    Base, Stateless, Light, Light38, LightLong, Full, FullStateless, NoSsid, InNtp, InPtp, ByHardware, Mixed, NoMethod,
    OtherState, Unknowing, Refusing, Distrusting, Echoing, Unsynchronised, InPast, TwoScales, HardwareStateless,
    WithoutClock, WithoutT2, OtherScale, Backward, WronglySealed, Forging, TooLong, Babbling, Babble, Forgetful)}


class Ended(Exception):
    pass


def on_signal(_number, _frame):
    raise Ended


def receive(s):
    octets, control, _, peer = s.recvmsg(65536, 256)
    t2_ns, ttl, tos = clock_ns(), 255, 0
    for level, kind, data in control:
        if (level, kind) == (socket.IPPROTO_IP, socket.IP_TTL):
            ttl = struct.unpack("=i", data)[0]
        if (level, kind) == (socket.IPPROTO_IP, socket.IP_TOS):
            tos = data[0]
    return octets, peer, ttl, tos, t2_ns


def is_genuine(octets, key):
    """RFC 8762 section 4.4. Unauthenticated packets get no reply."""
    return not key or (len(octets) >= stamp.AUTHENTICATED and stamp.mac(key, octets[:96]) == octets[96:112])


def serve(s, kind, records):
    while True:
        octets, peer, ttl, tos, t2_ns = receive(s)
        if not is_genuine(octets, kind.key):
            records.append({"refused": len(octets)})
            continue
        packets, told = kind.answer(octets, ttl, tos, t2_ns)
        for packet in packets:
            s.sendto(packet, peer)
        records.append(told)


def main():
    key = bytes.fromhex(sys.argv[4]) if len(sys.argv) > 4 else None
    kind, records = KINDS[sys.argv[1]](key), []
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.setsockopt(socket.IPPROTO_IP, stamp.IP_RECVTTL, 1)
    s.setsockopt(socket.IPPROTO_IP, socket.IP_RECVTOS, 1)
    s.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, 255)
    signal.signal(signal.SIGTERM, on_signal)
    try:
        s.bind((sys.argv[2], stamp.PORT))
        serve(s, kind, records)
    except Ended:
        pass
    with open(sys.argv[3], "w", encoding="ascii") as f:
        for record in records:
            f.write(json.dumps(record) + "\n")


if __name__ == "__main__":
    main()
