# SPDX-License-Identifier: GPL-2.0-or-later
"""scapy builds requests and decodes the replies of a reflecting rant: RFC 8762 and every TLV of RFC 8972."""
import os
import random
import socket
import struct
import time

import harness
import stamp
from harness import Report, complain, read_log, reflector, same, skip, true
from stamp import ACCESS_REPORT, CLASS_OF_SERVICE, DIRECT_MEASUREMENT, FOLLOW_UP, HMAC, LOCATION, PADDING, SOFTWARE
from stamp import TIMESTAMP_INFORMATION, I, M, U

try:
    from scapy.contrib import stamp as scapy_stamp
    from scapy.fields import RawVal
    from scapy.layers.inet import UDP
except ImportError:
    scapy_stamp = None

KEY = bytes.fromhex("00112233445566778899aabbccddeeff")
WRONG_KEY = bytes.fromhex("ff112233445566778899aabbccddeeff")
SILENCE_S = 0.3  # time without a reply; a later packet's reply shows that the reflector works


def clock_ns():
    return time.clock_gettime_ns(time.CLOCK_REALTIME)


# ---- scapy -----------------------------------------------------------------------------------------------------------

def tlv(kind, value=b"", flags=U, length=None):
    """A number for the flags: scapy 2.5 counts their names from the wrong end."""
    return scapy_stamp.STAMPTestTLV(flags=flags, type=kind, len=len(value) if length is None else length, value=value)


def request(seq, t1_ns, ssid=0, ptp=True, tlvs=(), multiplier=1, scale=0, synchronized=0):
    """The octets of a time are given as they are: scapy 2.5 cannot build the PTP format."""
    return bytes(scapy_stamp.STAMPSessionSenderTestUnauthenticated(
        seq=seq, ts=RawVal(stamp.time_octets(t1_ns, ptp)), ssid=ssid, tlv_objects=list(tlvs),
        err_estimate=scapy_stamp.ErrorEstimate(S=synchronized, Z=int(ptp), scale=scale, multiplier=multiplier)))


def decode(octets):
    """scapy 2.5 asks a parent for the length of the datagram, and sets none by itself."""
    try:
        return scapy_stamp.STAMPSessionReflectorTestUnauthenticated(octets, _parent=UDP(len=8 + len(octets)))
    except TypeError:
        datagram = UDP(bytes(UDP(sport=stamp.PORT, dport=9999) / octets))
        return datagram[scapy_stamp.STAMPSessionReflectorTestUnauthenticated]


def time_of(packet, field, ptp):
    return stamp.time_ns(int(packet.getfieldval(field)).to_bytes(8, "big"), ptp)


# ---- A sender --------------------------------------------------------------------------------------------------------

class Sender:
    """A session: a port and an SSID. Checks the requirements on every reply."""

    def __init__(self, ssid=0x4242, ptp=True, ttl=64, tos=0):
        self.ssid, self.ptp, self.ttl, self.tos, self.replies, self.last = ssid, ptp, ttl, tos, 0, None
        s = self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        s.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, ttl)
        s.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, tos)
        s.setsockopt(socket.IPPROTO_IP, socket.IP_RECVTOS, 1)
        s.connect((harness.REFLECTOR_IP, stamp.PORT))

    def silence(self, octets):
        """It must not be answered."""
        self.socket.send(octets)
        self.socket.settimeout(SILENCE_S)
        try:
            complain(f"{octets.hex()} was answered: {self.socket.recv(65536).hex()}")
        except socket.timeout:
            pass

    def exchange(self, octets):
        """The octets of the reply; and in which time it was made, and the TOS that it came with."""
        self.before = clock_ns()
        self.socket.send(octets)
        self.socket.settimeout(harness.GUARD_S)
        answer, control, _, _ = self.socket.recvmsg(65536, 64)
        self.after = clock_ns()
        self.reply_tos = next((data[0] for level, kind, data in control if (level, kind) ==
                               (socket.IPPROTO_IP, socket.IP_TOS)), None)
        return answer

    def ask(self, seq, tlvs=(), tail=b"", cut=None, **named):
        """Sends a request, checks the base of its reply, and returns the reply as scapy decodes it. .octets: the reply's own,
        .asked: those of the request."""
        octets = (request(seq, clock_ns(), self.ssid, self.ptp, tlvs, **named) + tail)[:cut]
        answer = self.exchange(octets)
        same(f"#{seq}: the length of the reply", len(answer), max(len(octets), stamp.BASE))
        reply = decode(answer)
        reply.octets, reply.asked = answer, octets
        same(f"#{seq}: Sequence Number", reply.seq, self.replies)
        same(f"#{seq}: SSID", reply.ssid, self.ssid if len(octets) >= stamp.BASE else 0)
        estimate = reply.err_estimate
        same(f"#{seq}: Z, S, Multiplier", (estimate.Z, estimate.S, estimate.multiplier > 0), (int(self.ptp), 0, True))
        same(f"#{seq}: Session-Sender Sequence Number", reply.seq_sender, seq)
        same(f"#{seq}: Session-Sender Timestamp and Error Estimate", answer[28:38], octets[4:14])
        same(f"#{seq}: Ses-Sender TTL", reply.ttl_sender, self.ttl)
        same(f"#{seq}: MBZ", (reply.mbz1, reply.mbz2), (0, 0))
        self.t2, self.t3 = time_of(reply, "ts_rx", self.ptp), time_of(reply, "ts", self.ptp)
        true(f"#{seq}: T2 and T3 are not between sending and receiving",
             self.before <= self.t2 <= self.t3 <= self.after)
        self.replies += 1
        return reply

    def tlvs(self, seq, *asked, **named):
        """(flags, type, value) of each TLV of the reply; there are as many as were sent."""
        reply = self.ask(seq, asked, **named)
        got = [(int(t.flags), t.type, bytes(t.value)) for t in reply.tlv_objects]
        same(f"#{seq}: the types of the TLVs", [kind for _, kind, _ in got], [t.type for t in asked])
        same(f"#{seq}: the lengths of the TLVs", [t.len for t in reply.tlv_objects], [t.len for t in asked])
        return got


class Reflecting:
    """A rant for a test; `log` and `report` are set after it."""

    def __init__(self, mode, *arguments):
        self.arguments, self.path = ("--stamp", mode, "-s", *arguments), os.path.join(harness.work, "r.log")

    def __enter__(self):
        self.program = reflector(*self.arguments, "-l", self.path)
        return self

    def __exit__(self, kind, error, trace):
        if error:
            return
        self.program.end(None)
        self.report, self.log = Report(self.program), read_log(self.path)
        same("output on stderr", self.program.text("err"), "")


def t3_of(record):
    return record["T3_KERNEL"] if "T3_KERNEL" in record else record["T3_SW"]


# ---- Requests without TLVs -------------------------------------------------------------------------------------------

def base(mode):
    """Formats, SSIDs and sessions: each has its own numbers. The log equals the replies."""
    with Reflecting(mode) as r:
        senders = [Sender(0, True), Sender(0, False), Sender(1, True), Sender(0xffff, False, ttl=255), Sender(7, ttl=1)]
        said = {}
        for turn in range(5):
            for n, sender in enumerate(senders):
                seq = 100 * n + turn
                sender.ask(seq, synchronized=n % 2, scale=3 * n, multiplier=1 + turn)
                said[seq] = sender.t2, sender.t3
    same("sequence numbers of the log", sorted(r.log), sorted(said))
    for seq, (t2, t3) in said.items():
        same(f"#{seq}: T2 and T3 of the log", (r.log[seq].get("T2_KERNEL") or r.log[seq]["T2_SW"], r.log[seq]["T3_SW"]),
             (t2, t3))
    r.report.rows("Packets", Sent=25, Received=25, Recorded=25, Sessions=5, Malformed=0, Foreign=0, Bad_TLVs=0)
    r.report.balances_as_reflector()


def one_port(mode):
    """Two SSIDs from one port are two sessions."""
    with Reflecting(mode) as r:
        sender = Sender(1)
        for turn in range(6):
            sender.ssid, sender.replies = 1 + turn % 2, turn // 2
            sender.ask(turn)
    r.report.rows("Packets", Sent=6, Sessions=2)


def light(mode):
    """TWAMP-Light requests of 14 octets and more; the padding may be anything."""
    noise = random.Random(5)
    with Reflecting(mode, "--allow-short") as r:
        sender = Sender(0x1234, ptp=False)
        for octets in range(stamp.BASE - 1, 13, -1):
            sender.ask(octets, cut=octets)
        for octets in range(stamp.BASE - 1, 13, -1):
            # Neither zeros nor the values of a reply.
            head = request(1000 + octets, clock_ns(), 0, False)[:14]
            padding = bytes(1 + noise.randrange(255) for _ in range(octets - 14))
            answer = sender.exchange(head + padding)
            same(f"{octets} octets: length, head and MBZ of the reply",
                 (len(answer), answer[24:38], answer[14:16] + answer[38:40] + answer[41:44]),
                 (stamp.BASE, head, bytes(7)))
        for octets in range(1, 14):
            sender.silence(request(1, 0, 0, False)[:octets])
        sender.silence(request(1, clock_ns(), multiplier=0))
    r.report.rows("Packets", Sent=60, Malformed=14, Too_short=0, Bad_TLVs=0, Sessions=1)


def not_light(mode):
    """Without --allow-short no reply is longer than its request."""
    with Reflecting(mode) as r:
        sender = Sender(0x1234)
        for octets in (stamp.BASE - 1, 41, 14):
            sender.silence(request(1, clock_ns(), 0)[:octets])
        sender.ask(0)
    r.report.rows("Packets", Sent=1, Too_short=3, Malformed=0, Sessions=1)
    r.report.balances_as_reflector()


# ---- Single TLVs -----------------------------------------------------------------------------------------------------

def verbatim(mode, *asked, flags):
    """They come back as they were, but for the flags."""
    with Reflecting(mode):
        sender = Sender()
        for seq, one in enumerate(asked):
            for sent_flags in (U, 0, U | M | I | 0x1f):
                one.flags = sent_flags
                got, = sender.tlvs(3 * seq + (U, 0, U | M | I | 0x1f).index(sent_flags), one)
                same(f"TLV of type {one.type}, flags {sent_flags:#x}", got, (flags, one.type, bytes(one.value)))


def extra_padding(mode):
    sizes = (0, 1, 3, 4, 100, 1424)
    verbatim(mode, *(tlv(PADDING, os.urandom(size)) for size in sizes), flags=0)


def location(mode):
    """All four sub-TLVs; rant reports no addresses."""
    zeros = bytes(4) + stamp.tlv(1, bytes(8), 0) + stamp.tlv(4, bytes(16), 0) + stamp.tlv(7, bytes(16), 0)
    verbatim(mode, tlv(LOCATION, zeros), tlv(LOCATION, bytes(4)), flags=U)


def access_report(mode):
    verbatim(mode, tlv(ACCESS_REPORT, bytes([0x10, 1, 0, 0])), tlv(ACCESS_REPORT, bytes([0x20, 2, 0, 0])), flags=U)


def unknown(mode):
    """Of later RFCs, of all ranges, reserved; 240 to 242 are ours, but only with our magic."""
    kinds = (200, 0, 9, 10, 11, 12, 175, 176, 239, 240, 241, 242, 251, 252, 254, 255)
    verbatim(mode, *(tlv(kind, struct.pack("!I", kind) + b"\1\2\3") for kind in kinds), tlv(200), flags=U)


def timestamp_information(mode):
    with Reflecting(mode):
        sender = Sender()
        for seq, sent in enumerate((bytes(4), b"\xff\xff\xff\xff")):
            (flags, _, value), = sender.tlvs(seq, tlv(TIMESTAMP_INFORMATION, sent))
            same("flags", flags, 0)
            same("how T2 and T3 were taken", (value[1], value[3]), (SOFTWARE, SOFTWARE))
            true(f"synchronisation sources {value[0]} and {value[2]}", value[0] == value[2] and value[0] in range(1, 6))
        # With a sub-TLV: that is not understood, the TLV is.
        sub = stamp.tlv(77, b"abcd")
        (flags, _, value), = sender.tlvs(2, tlv(TIMESTAMP_INFORMATION, bytes(4) + sub))
        same("with a sub-TLV", (flags, value[1], value[3], value[4:]), (0, SOFTWARE, SOFTWARE, sub))


def class_of_service(mode):
    """RFC 8972 section 4.4. The reply has the received DSCP, whatever DSCP1 requests; RP shows if that is not the
    same. The first TLV of a run may come too early to be understood."""
    with Reflecting(mode):
        first = Sender()
        first.tlvs(0, tlv(CLASS_OF_SERVICE, bytes(4)))
        for tos in (0, 0xb8, 0x29, 0xfe, 3):
            sender = Sender(tos=tos)
            for seq, wanted in enumerate((0, 46, 63)):
                sent = bytes([wanted << 2 | 3, 0xff, 0xff, 0xff])
                (flags, _, value), = sender.tlvs(seq, tlv(CLASS_OF_SERVICE, sent))
                same(f"TOS {tos:#x}: flags", flags, 0)
                bits, = struct.unpack("!I", value)
                same(f"TOS {tos:#x}: DSCP1, DSCP2, ECN, RP, Reserved",
                     (bits >> 26, bits >> 20 & 63, bits >> 18 & 3, bits >> 16 & 3, bits & 0xffff),
                     (wanted, tos >> 2, tos & 3, wanted != tos >> 2, 0))
                same(f"TOS {tos:#x}: DSCP of the reply", sender.reply_tos >> 2, tos >> 2)
            sender.ask(99)
            same("DSCP of a reply that was asked for none", sender.reply_tos, 0)


def class_of_service_beside(mode):
    """A reflector that sends with a DSCP of its own uses that which came all the same, even if it is 0."""
    with Reflecting(mode, "--dscp", "10"):
        sender = Sender()
        sender.ask(0)
        same("DSCP of a reply", sender.reply_tos >> 2, 10)
        sender.tlvs(1, tlv(CLASS_OF_SERVICE, bytes(4)))
        (flags, _, value), = sender.tlvs(2, tlv(CLASS_OF_SERVICE, bytes(4)))
        same("flags and RP", (flags, value[1] & 3), (0, 0))
        same("DSCP of the reply to one with 0", sender.reply_tos >> 2, 0)


def direct_measurement(mode):
    """Of each session by itself."""
    with Reflecting(mode):
        for sender in (Sender(1), Sender(2)):
            sender.ask(0)
            for seq in range(1, 5):
                (flags, _, value), = sender.tlvs(seq, tlv(DIRECT_MEASUREMENT, struct.pack("!III", 1000 + seq, 77, 88)))
                same("flags, S_TxC, R_RxC, R_TxC", (flags, *struct.unpack("!III", value)),
                     (0, 1000 + seq, seq + 1, seq + 1))


def follow_up(mode, ptp):
    """When each reply left, by its number; compared with the log, which is written by the other end of the program."""
    told = {}
    with Reflecting(mode) as r:
        sender = Sender(ptp=ptp)
        for seq in range(20):
            sent = os.urandom(16) if seq % 2 else bytes(16)
            (flags, _, value), = sender.tlvs(seq, tlv(FOLLOW_UP, sent))
            number, octets, method, reserved = struct.unpack("!I8sB3s", value)
            same(f"#{seq}: flags and Reserved", (flags, reserved), (0, bytes(3)))
            if seq == 0:
                same("the first", (number, octets, method), (0, bytes(8), 0))
                continue
            if same(f"#{seq}: method", method, SOFTWARE):
                same(f"#{seq}: number of the previous reply", number, seq - 1)
                told[seq - 1] = stamp.time_ns(octets, ptp)
    for seq, t3 in told.items():
        same(f"#{seq}: the follow-up and T3 of the log", t3, t3_of(r.log[seq]))


def follow_up_of_others(mode):
    """Requests of other sessions, and without the TLV, come between: the previous reply is that of the session."""
    told = []
    with Reflecting(mode) as r:
        one, other = Sender(1), Sender(2)
        for seq in range(10):
            if seq % 3:
                one.ask(seq)
                other.ask(100 + seq)
                continue
            (_, _, value), = one.tlvs(seq, tlv(FOLLOW_UP, bytes(16)))
            told.append((seq - 1, struct.unpack_from("!I", value)[0], stamp.time_ns(value[4:12], True)))
    for previous, number, t3 in told[1:]:
        same(f"after #{previous}: number and time", (number, t3), (previous, t3_of(r.log[previous])))


def our_follow_ups(mode, ptp):
    """docs/protocol.md: the requested number of last replies, newest first; compared with the log."""
    told = []
    with Reflecting(mode) as r:
        sender = Sender(ptp=ptp)
        for seq in range(20):
            wanted = 1 + seq % 6
            sent = os.urandom(16 * wanted) if seq % 2 else bytes(16 * wanted)
            (flags, _, value), = sender.tlvs(seq, tlv(241, b"RANT" + sent))
            same(f"#{seq}: flags and magic", (flags, value[:4]), (0, b"RANT"))
            entries = list(struct.iter_unpack("!IB3s8s", value[4:]))
            there = min(wanted, seq)
            same(f"#{seq}: numbers, methods and reserved", [entry[:3] for entry in entries[:there]],
                 [(seq - 1 - back, SOFTWARE, bytes(3)) for back in range(there)])
            same(f"#{seq}: the rest", value[4 + 16 * there:], bytes(16 * (wanted - there)))
            told += [(number, stamp.time_ns(octets, ptp)) for number, _, _, octets in entries[:there]]
    for number, t3 in told:
        same(f"#{number}: when it left, and T3 of the log", t3, t3_of(r.log[number]))


def our_follow_ups_malformed(mode):
    sizes = (4, 5, 19, 21, 28, 101, 116)
    with Reflecting(mode) as r:
        sender = Sender()
        for seq, size in enumerate(sizes):
            got, sent = damaged(sender, seq, stamp.tlv(241, b"RANT" + bytes(size - 4)) + TAIL)
            same(f"Length {size}", got, bytes([M]) + sent[1:])
    r.report.rows("Packets", Bad_TLVs=len(sizes))


def hmac_without_key(mode):
    """RFC 8972 section 4.8 in the unauthenticated mode, for a reflector that has no key."""
    verbatim(mode, tlv(HMAC, os.urandom(16)), flags=U)


def all_at_once(mode):
    """Each is answered at its position as if it was alone, whatever the other TLVs."""
    asked = ((PADDING, bytes(5)), (LOCATION, bytes(4)), (200, b"x" * 7), (TIMESTAMP_INFORMATION, bytes(4)),
             (CLASS_OF_SERVICE, bytes(4)), (DIRECT_MEASUREMENT, bytes(12)), (ACCESS_REPORT, bytes([16, 1, 0, 0])),
             (FOLLOW_UP, bytes(16)), (9, b""), (PADDING, bytes(30)), (FOLLOW_UP, bytes(16)))
    with Reflecting(mode) as r:
        sender = Sender(ptp=False)
        for seq in range(3):
            got = sender.tlvs(seq, *(tlv(kind, value) for kind, value in asked))
        same("flags of all", [flags for flags, _, _ in got], [0, U, U, 0, 0, 0, U, 0, U, 0, 0])
        for n in (0, 1, 2, 6, 8, 9):
            same(f"value of the TLV of type {asked[n][0]}", got[n][2], asked[n][1])
        same("Direct Measurement", struct.unpack("!III", got[5][2]), (0, 3, 3))
        same("the follow-up, twice", got[7][2], got[10][2])
        same("the number in it", struct.unpack_from("!I", got[7][2])[0], 1)
    same("the time in it", stamp.time_ns(got[7][2][4:12], False), t3_of(r.log[1]))
    r.report.rows("Packets", Sent=3, Bad_TLVs=0)


# ---- Malformed TLVs --------------------------------------------------------------------------------------------------

def damaged(sender, seq, tail):
    """A good TLV before a malformed TLV: the first is answered. Returns the rest of the reply, and of the request."""
    reply = sender.ask(seq, (tlv(TIMESTAMP_INFORMATION, bytes(4)),), tail)
    same(f"{tail.hex()}: the TLV before", reply.octets[44:46] + reply.octets[49:50],
         bytes([0, TIMESTAMP_INFORMATION, SOFTWARE]))
    return reply.octets[52:], reply.asked[52:]


TAIL = stamp.tlv(TIMESTAMP_INFORMATION, bytes(4)) + stamp.tlv(200, b"zz", 0) + b"\1\2"


def malformed(mode):
    """M for a wrong Length, and all octets after it are returned unchanged."""
    wrong = [(kind, size) for kind, sizes in ((TIMESTAMP_INFORMATION, (0, 1, 3)), (CLASS_OF_SERVICE, (0, 3, 5)),
                                              (DIRECT_MEASUREMENT, (0, 11, 13, 16))) for size in sizes]
    with Reflecting(mode) as r:
        sender = Sender()
        for seq, (kind, size) in enumerate(wrong):
            got, sent = damaged(sender, seq, stamp.tlv(kind, os.urandom(size)) + TAIL)
            same(f"type {kind}, Length {size}", got, bytes([M]) + sent[1:])
    r.report.rows("Packets", Sent=len(wrong), Bad_TLVs=len(wrong))


def malformed_follow_up(mode):
    """RFC 8972 section 4.7 and its erratum: its number and time go back as zeros."""
    sizes = (0, 3, 4, 11, 12, 15, 17, 40)
    with Reflecting(mode) as r:
        sender = Sender()
        for seq, size in enumerate(sizes):
            got, sent = damaged(sender, seq, stamp.tlv(FOLLOW_UP, b"\xff" * size) + TAIL)
            zeros = min(12, size)
            same(f"Length {size}", got, bytes([M]) + sent[1:4] + bytes(zeros) + sent[4 + zeros:])
    r.report.rows("Packets", Bad_TLVs=len(sizes))


def too_long(mode):
    """A Length of more than the packet has left, by 1 and by a lot, of types that are understood and that are not."""
    cases = [(kind, size, more) for kind in (PADDING, LOCATION, TIMESTAMP_INFORMATION, 200, 0) for size in (0, 4, 9)
             for more in (1, 60000)]
    with Reflecting(mode) as r:
        sender = Sender()
        for seq, (kind, size, more) in enumerate(cases):
            got, sent = damaged(sender, seq, struct.pack("!BBH", U, kind, size + more) + os.urandom(size))
            true(f"type {kind}, {more} more than {size}: flags {got[0]:#x}",
                 got[0] in ((M,) if kind in (PADDING, TIMESTAMP_INFORMATION) else (M, M | U)))
            same(f"type {kind}, {more} more than {size}: the rest", got[1:], sent[1:])
    r.report.rows("Packets", Sent=len(cases), Bad_TLVs=len(cases))


def stray(mode):
    """One to three octets after the last TLV, or after the base, are not a TLV."""
    with Reflecting(mode) as r:
        sender = Sender()
        for octets in (1, 2, 3):
            got, sent = damaged(sender, octets, b"\x80\x07\x00"[:octets])
            same(f"{octets} stray octets", got, sent)
            reply = sender.ask(10 + octets, tail=b"abc"[:octets])
            same(f"{octets} octets after the base", reply.octets[44:], b"abc"[:octets])
    r.report.rows("Packets", Sent=6, Bad_TLVs=6)


def random_tlvs(mode):
    """Whatever follows the base: the reply is as long, and its base is right. Seeded."""
    generator = random.Random(8972)
    with Reflecting(mode) as r:
        sender = Sender()
        for seq in range(300):
            tail = b"".join(stamp.tlv(generator.choice((0, 1, 2, 3, 4, 5, 6, 7, 8, 200, 240, 241, 255)),
                                      generator.randbytes(generator.choice((0, 3, 4, 12, 16, 20))),
                                      generator.randrange(256)) for _ in range(generator.randrange(8)))
            sender.ask(seq, tail=tail + generator.randbytes(generator.randrange(12)))
    r.report.rows("Packets", Sent=300, Received=300)


# ---- The authenticated mode ------------------------------------------------------------------------------------------

class SignedSender(Sender):
    """scapy 2.5 has no layer for it; its TLVs are scapy's."""
    key = KEY

    def packet(self, seq, tlvs):
        octets = b"".join(bytes(one) for one in tlvs)
        return stamp.request(seq, clock_ns(), self.ssid, self.ptp, octets, self.key)

    def sealed(self, seq, *tlvs):
        """The TLVs followed by their HMAC TLV."""
        text = b"".join(bytes(one) for one in tlvs)
        return (*tlvs, tlv(HMAC, stamp.mac(self.key, struct.pack("!I", seq) + text)))

    def answers(self, seq, *tlvs):
        """Sends, judges the base of the reply, and returns (flags, type, value) of its TLVs."""
        asked = self.packet(seq, tlvs)
        answer = self.exchange(asked)
        if not same(f"#{seq}: the length of the reply", len(answer), len(asked)):
            return []
        same(f"#{seq}: HMAC", answer[96:112], stamp.mac(KEY, answer[:96]))
        same(f"#{seq}: Sequence Number", struct.unpack_from("!I", answer)[0], self.replies)
        same(f"#{seq}: Error Estimate and SSID", struct.unpack_from("!HH", answer, 24),
             (stamp.PTP_ESTIMATE if self.ptp else stamp.NTP_ESTIMATE, self.ssid))
        same(f"#{seq}: sender's number, time and Error Estimate", (answer[48:52], answer[64:72], answer[72:74]),
             (asked[:4], asked[16:24], asked[24:26]))
        same(f"#{seq}: Ses-Sender TTL", answer[80], self.ttl)
        zeros = ((4, 16), (28, 32), (40, 48), (52, 64), (74, 80), (81, 96))
        same(f"#{seq}: MBZ", b"".join(answer[begin:end] for begin, end in zeros), bytes(57))
        t2, t3 = (stamp.time_ns(answer[at:at + 8], self.ptp) for at in (32, 16))
        true(f"#{seq}: T2 and T3 are not between sending and receiving", self.before <= t2 <= t3 <= self.after)
        self.number, self.replies, rest = struct.unpack_from("!I", answer)[0], self.replies + 1, answer[112:]
        got = [(flags, kind, value) for _, flags, kind, _, value in stamp.tlvs_of(rest)]
        for at, _, kind, _, value in stamp.tlvs_of(rest):
            if kind == HMAC and not got[-1][0] & I:
                same(f"#{seq}: value of the HMAC TLV", value, stamp.mac(KEY, answer[:4] + rest[:at]))
        return got


def signed(mode):
    """Both formats, with and without TLVs; numbers that begin elsewhere than the reflector's."""
    with Reflecting(mode, "--key", harness.write_key(KEY)) as r:
        for ptp in (True, False):
            sender = SignedSender(ptp=ptp)
            for seq in range(70, 74):
                same("TLVs", sender.answers(seq), [])
            information, follow, seal = sender.answers(80, *sender.sealed(80, tlv(TIMESTAMP_INFORMATION, bytes(4)),
                                                                          tlv(FOLLOW_UP, bytes(16))))
            same("flags", (information[0], follow[0], seal[0]), (0, 0, 0))
            same("how T2 was taken; number of the previous reply", (information[2][1], follow[2][:4]),
                 (SOFTWARE, struct.pack("!I", 3)))
            tlvs = *sender.sealed(81, tlv(200, b"?")), tlv(PADDING, b"12345")
            (flags, _, value), seal, padding = sender.answers(81, *tlvs)
            same("an unknown one, sealed; and padding behind the seal", (flags, value, seal[0], padding),
                 (U, b"?", 0, (0, PADDING, b"12345")))
            same("padding alone needs no seal", sender.answers(82, tlv(PADDING, b"12")), [(0, PADDING, b"12")])
    r.report.rows("Packets", Sent=14, Received=14, Unverified=0, Bad_TLVs=0)


def badly_signed(mode):
    """RFC 8762 section 4.4: no reply; counted. A good request in between shows that the reflector works."""
    with Reflecting(mode, "--key", harness.write_key(KEY)) as r:
        good, bad = SignedSender(), SignedSender()
        bad.key = WRONG_KEY
        good.answers(0)
        whole = good.packet(1, ())
        bad.silence(bad.packet(0, ()))
        bad.silence(whole[:95] + bytes([whole[95] ^ 1]) + whole[96:])
        bad.silence(whole[:111])
        bad.silence(request(2, clock_ns()))
        bad.silence(request(3, clock_ns(), tlvs=[tlv(PADDING, bytes(100))]))
        good.answers(1)
    r.report.rows("Packets", Sent=2, Received=7, Unverified=5, Malformed=0, Sessions=1)


def replayed(mode):
    """A replayed request gets no second reply, not even after its sender restarted; a late request gets its reply."""
    with Reflecting(mode, "--key", harness.write_key(KEY)) as r:
        sender = SignedSender()
        recorded = [sender.packet(seq, ()) for seq in range(5)]
        for seq in (0, 1, 2, 4):
            sender.exchange(recorded[seq])
        for seq in (0, 2, 4):
            sender.silence(recorded[seq])
        sender.exchange(recorded[3])
        sender.silence(recorded[3])
        sender.replies = 5
        sender.answers(0)
        for octets in recorded:
            sender.silence(octets)
        sender.answers(1)
    r.report.rows("Packets", Sent=7, Received=16, Replayed=9, Reordered=1, Duplicate=0, Unverified=0, Sessions=1)
    r.report.balances_as_reflector()


def badly_sealed(mode):
    """RFC 8972 section 4.8: I in each TLV, and all as they were."""
    ask = tlv(TIMESTAMP_INFORMATION, bytes(4)), tlv(FOLLOW_UP, bytes(16)), tlv(200, b"abc")
    with Reflecting(mode, "--key", harness.write_key(KEY)) as r:
        sender = SignedSender()
        right = sender.sealed(1, *ask)
        cases = {
            "none": ask,
            "wrong": (*ask, tlv(HMAC, os.urandom(16))),
            "of another number": sender.sealed(77, *ask),
            "not the last": (*sender.sealed(1, *ask[:2]), ask[2]),
            "two": (*right, right[-1]),
            "too short": (*ask, tlv(HMAC, bytes(right[-1])[4:16])),
        }
        for what, tlvs in cases.items():
            got = sender.answers(1, *tlvs)
            same(f"HMAC TLV: {what}: flags", [flags for flags, _, _ in got], [U | I] * len(tlvs))
            same(f"HMAC TLV: {what}: values", [value for _, _, value in got], [bytes(one)[4:] for one in tlvs])
    r.report.rows("Packets", Sent=len(cases), Unverified=0)


# ---- The tests -------------------------------------------------------------------------------------------------------

TESTS = (
    ("requests of 44 octets, in NTP and PTP format, in five sessions", base),
    ("two sessions from one port", one_port),
    ("TWAMP-Light requests of 14 to 43 octets; less is not answered", light),
    ("short requests are not answered without --allow-short", not_light),
    ("Extra Padding", extra_padding),
    ("Location is not told", location),
    ("Timestamp Information", timestamp_information),
    ("Class of Service", class_of_service),
    ("Class of Service, of a reflector with --dscp", class_of_service_beside),
    ("Direct Measurement", direct_measurement),
    ("Access Report is not understood", access_report),
    ("Follow-Up, PTP format", lambda mode: follow_up(mode, True)),
    ("Follow-Up, NTP format", lambda mode: follow_up(mode, False)),
    ("Follow-Up, with other sessions between", follow_up_of_others),
    ("our own follow-ups, PTP format", lambda mode: our_follow_ups(mode, True)),
    ("our own follow-ups, NTP format", lambda mode: our_follow_ups(mode, False)),
    ("our own follow-ups, of a wrong length", our_follow_ups_malformed),
    ("HMAC without a key", hmac_without_key),
    ("types that are not understood", unknown),
    ("all TLVs in one packet", all_at_once),
    ("TLVs of a wrong length", malformed),
    ("a Follow-Up of a wrong length", malformed_follow_up),
    ("TLVs that are longer than the packet", too_long),
    ("octets too few for a TLV", stray),
    ("random TLVs", random_tlvs),
)

SIGNED_TESTS = (
    ("authenticated requests", signed),
    ("requests with a wrong HMAC, or none, get no reply", badly_signed),
    ("recorded requests that come again get no reply", replayed),
    ("TLVs with a wrong HMAC, or none", badly_sealed),
)


def all_of_them():
    if not scapy_stamp:
        skip("scapy sends", "scapy with its STAMP layer (scapy.contrib.stamp) is not installed")
        return
    for mode in ("kernel", "user"):
        for name, body in TESTS:
            harness.test(f"scapy sends, --stamp {mode}: {name}", body, mode)
    for name, body in SIGNED_TESTS:
        if harness.has_key():
            harness.test(f"scapy sends: {name}", body, "kernel")
        else:
            skip(f"scapy sends: {name}", "this rant is built without libnettle")
