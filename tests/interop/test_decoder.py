# SPDX-License-Identifier: GPL-2.0-or-later
"""tshark's TWAMP-Test dissector decodes the packets of two rants, and the values equal those in their logs."""
import os
import re
import shutil
import socket
import struct
import subprocess
import time
from datetime import datetime, timezone

import harness
import stamp
from harness import Program, Report, complain, emitter, poll, read_log, reflector, same, true

COUNT = 40
FIELDS = ("seq_number", "timestamp", "error_estimate", "error_estimate.s", "error_estimate.z", "error_estimate.scale",
          "error_estimate.multiplier", "mbz1", "receive_timestamp", "sender_seq_number", "sender_timestamp",
          "sender_error_estimate", "mbz2", "sender_ttl", "padding")
OF_IP = ("udp.srcport", "udp.dstport", "udp.length", "ip.ttl", "ip.dsfield.dscp", "udp.checksum.status")
CHECKSUM_IS_RIGHT = 1


# ---- Capturing and decoding ------------------------------------------------------------------------------------------

class Capture:
    """By dumpcap, on the emitters' side of the link."""

    def __enter__(self):
        self.path = os.path.join(harness.work, "capture.pcap")
        self.program = Program("dumpcap", "dumpcap", "-q", "-P", "-i", harness.LINK, "-f", f"udp port {stamp.PORT}",
                               "-w", self.path)
        poll("the capture", lambda: "File: " in self.program.text("err") or not self.program.is_running())
        return self

    def __exit__(self, kind, error, trace):
        if error:
            return
        poll(f"{self.packets} packets in the capture", lambda: self.count() >= self.packets)
        self.program.end()

    def count(self):
        """Packets in a file of the old pcap format, which may still grow."""
        with open(self.path, "rb") as f:
            data = f.read()
        at, packets = 24, 0
        while at + 16 <= len(data):
            at += 16 + struct.unpack_from("=I", data, at + 8)[0]
            packets += at <= len(data)
        return packets

    def decode(self):
        names = [f"twamp.test.{name}" for name in FIELDS] + list(OF_IP)
        columns = [word for name in names for word in ("-e", name)]
        done = subprocess.run(
            ["tshark", "-r", self.path, "-d", f"udp.port=={stamp.PORT},twamp.test", "-o", "udp.check_checksum:TRUE",
             "-T", "fields", "-E", "separator=|", "-E", "occurrence=f", *columns], capture_output=True, text=True, timeout=harness.GUARD_S, check=False,
            stdin=subprocess.DEVNULL)
        same("the exit status of tshark", done.returncode, 0)
        return [Packet(line.split("|")) for line in done.stdout.splitlines()]


def shown_ns(text):
    """A time as tshark shows it: 4.0 as `Nov 21, 2026 06:32:44.493516469 UTC`, later versions as ISO 8601 has it."""
    date, rest = re.fullmatch(r"(.*\d\d:\d\d:\d\d)\.(\d{9})(?: UTC|Z|\+0000)?", text).groups()
    for form in ("%b %d, %Y %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S"):
        try:
            seconds = datetime.strptime(date, form).replace(tzinfo=timezone.utc).timestamp()
            return int(seconds) * stamp.NS + int(rest)
        except ValueError:
            pass
    raise ValueError(text)


def misread_ns(ns):
    """The Sender Timestamp of a reply is read in NTP format by tshark 4.0 even where its Z bit says PTP."""
    seconds, fraction = struct.unpack("!II", stamp.time_octets(ns, True))
    return (seconds + (0 if seconds >> 31 else 2**32) - stamp.FROM_1900_S) * stamp.NS + (fraction * stamp.NS >> 32)


class Packet:
    """The fields of a packet as tshark shows them."""

    def __init__(self, words):
        shown = dict(zip(FIELDS, words))
        (self.source, self.port, length, self.arrived_ttl, self.dscp, checksum) = (int(word) for word in words[len(FIELDS):])
        same("the checksum as tshark judges it", checksum, CHECKSUM_IS_RIGHT)
        self.octets = length - 8
        self.is_request = self.port == stamp.PORT
        number = {name: int({"True": "1", "False": "0"}.get(word, word), 0) for name, word in shown.items()
                  if "timestamp" not in name and name != "padding"}
        self.seq, self.sender_seq, self.ttl = number["seq_number"], number["sender_seq_number"], number["sender_ttl"]
        self.mbz1, self.mbz2 = number["mbz1"], number["mbz2"]
        self.estimate, self.sender_estimate = number["error_estimate"], number["sender_error_estimate"]
        self.bits = tuple(number[f"error_estimate.{name}"] for name in ("s", "z", "scale", "multiplier"))
        self.time, self.t2, self.sender_time = (shown_ns(shown[name]) for name in (
            "timestamp", "receive_timestamp", "sender_timestamp"))
        padding = bytes.fromhex(shown["padding"].replace(":", ""))
        # To TWAMP the last three octets of STAMP's base and all TLVs are padding.
        self.rest_of_base, self.tlvs = padding[:3], {kind: (flags, value) for _, flags, kind, _, value in
                                                     stamp.tlvs_of(padding[3:])}


# ---- Two rants -------------------------------------------------------------------------------------------------------

def capture_pair(*emitters, **named):
    """Requests and replies by number, and both logs."""
    return harness.patiently(lambda: run_pair(*emitters, **named))[1:]


def run_pair(*emitters, reflectors=("--stamp", "kernel"), closing=1):
    logs = [os.path.join(harness.work, name) for name in ("r.log", "e.log")]
    with Capture() as capture:
        r = reflector("-s", *reflectors, "-l", logs[0])
        e = emitter("--stamp", "kernel", "-s", "--count", str(COUNT), *emitters, "-l", logs[1])
        e.wait()
        r.end()
        capture.packets = 2 * (COUNT + closing)
    report = Report(e)
    report.rows("Packets", Recorded=COUNT)
    packets = capture.decode()
    requests, replies = ([p for p in packets if p.is_request == wanted] for wanted in (True, False))
    same("the number of requests and replies", (len(requests), len(replies)), (COUNT + closing, COUNT + closing))
    return (report, {p.seq: p for p in requests}, {p.sender_seq: p for p in replies}, read_log(logs[0]),
            read_log(logs[1]))


def judge_request(seq, p, record, octets):
    same(f"#{seq}: T1", p.time, record["T1_SW"])
    same(f"#{seq}: S, Z, Scale, Multiplier", p.bits, (0, 1, 0, 1))
    same(f"#{seq}: all that is zero in a request",
         (p.t2, p.sender_seq, p.sender_time, p.sender_estimate, p.mbz2, p.ttl, p.rest_of_base),
         (0, 0, 0, 0, 0, 0, bytes(3)))
    same(f"#{seq}: octets of the request", p.octets, octets)


def judge_reply(seq, p, request, here, there, ttl=255):
    """here, there: the logs of emitter and reflector."""
    same(f"#{seq}: Sequence Number of the reply", p.seq, seq)
    same(f"#{seq}: S, Z, Scale, Multiplier of the reply", p.bits, (0, 1, 0, 1))
    true(f"#{seq}: T1 in the reply is {p.sender_time}", p.sender_time in (here["T1_SW"], misread_ns(here["T1_SW"])))
    same(f"#{seq}: T2", p.t2, there.get("T2_KERNEL") or there["T2_SW"])
    same(f"#{seq}: T3", p.time, there["T3_SW"])
    same(f"#{seq}: Sender Error Estimate", p.sender_estimate, request.estimate)
    same(f"#{seq}: SSID", p.mbz1, request.mbz1)
    same(f"#{seq}: Sender TTL", (p.ttl, p.ttl), (request.arrived_ttl, ttl))
    same(f"#{seq}: MBZ", (p.mbz2, p.rest_of_base), (0, bytes(3)))
    same(f"#{seq}: octets of the reply", p.octets, request.octets)


def judge_tlvs(seq, p, before, wire):
    """The TLVs that tshark takes for padding, against the reflector's log. before: its record of the reply before."""
    information, follow, ours = (p.tlvs.get(kind) for kind in (stamp.TIMESTAMP_INFORMATION, stamp.FOLLOW_UP, 240))
    same(f"#{seq}: types", sorted(p.tlvs), [stamp.TIMESTAMP_INFORMATION, stamp.FOLLOW_UP, 240, 242])
    same(f"#{seq}: flags", (information[0], follow[0], ours[0]), (0, 0, 0))
    same(f"#{seq}: methods", (information[1][1], information[1][3]), (stamp.SOFTWARE, stamp.SOFTWARE))
    if before is not None:
        number, octets, method = struct.unpack("!I8sB3x", follow[1])
        same(f"#{seq}: the follow-up", (number, stamp.time_ns(octets, True), method),
             (seq - 1, before[wire], stamp.SOFTWARE))


def two_rants(stamps):
    """With all TLVs. Every time on the wire is that of both logs."""
    reflectors = ("--stamp", stamps)
    wire = "T3_KERNEL" if stamps == "kernel" else "T3_SW"
    requests, replies, there, here = capture_pair("--log-full", reflectors=reflectors)
    for seq in range(COUNT):
        judge_request(seq, requests[seq], here[seq], 44 + 8 + 20 + 24 + 12)
        judge_reply(seq, replies[seq], requests[seq], here[seq], there[seq])
        judge_tlvs(seq, replies[seq], there.get(seq - 1), wire)
        same(f"#{seq}: T2_SW", stamp.time_ns(replies[seq].tlvs[240][1][12:20], True), there[seq]["T2_SW"])
        same(f"#{seq}: poll gap", struct.unpack("!I", replies[seq].tlvs[242][1][4:])[0], here[seq]["REMOTE_POLL_GAP"])
        same(f"#{seq}: the reflector's times, in both logs",
             [here[seq][name] for name in ("T2", "T2_SW", "T3_SW", "T3")],
             [replies[seq].t2, there[seq]["T2_SW"], there[seq]["T3_SW"], there[seq][wire]])
    same("SSIDs", len({p.mbz1 for p in requests.values()}), 1)
    true("the SSID is 0", requests[0].mbz1)


def two_plain_rants():
    requests, replies, there, here = capture_pair("--plain", closing=0)
    for seq in range(COUNT):
        judge_request(seq, requests[seq], here[seq], 44)
        judge_reply(seq, replies[seq], requests[seq], here[seq], there[seq])


def padded():
    """--size, --ttl and --dscp are on the wire, in both directions as far as they belong there."""
    requests, replies, there, here = capture_pair("--size", "1000", "--ttl", "9", "--dscp", "46")
    for seq in range(COUNT):
        judge_request(seq, requests[seq], here[seq], 1000)
        judge_reply(seq, replies[seq], requests[seq], here[seq], there[seq], 9)
        same(f"#{seq}: DSCP of the request", requests[seq].dscp, 46)
        same(f"#{seq}: Extra Padding", replies[seq].tlvs[stamp.PADDING], (0, requests[seq].tlvs[stamp.PADDING][1]))
        true(f"#{seq}: the padding is constant", len(set(requests[seq].tlvs[stamp.PADDING][1])) > 50)
        if seq > 0:  # the first request for the class comes too early for an answer
            bits, = struct.unpack("!I", replies[seq].tlvs[stamp.CLASS_OF_SERVICE][1])
            same(f"#{seq}: DSCP2 and the DSCP of the reply", (bits >> 20 & 63, replies[seq].dscp), (46, 46))


def ntp():
    """To a sender that uses NTP format rant answers in it. tshark rounds down to whole nanoseconds what we round to the
    nearest, and so shows one less."""
    log = os.path.join(harness.work, "r.log")
    with Capture() as capture:
        r = reflector("--stamp", "kernel", "-s", "-l", log)
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        s.connect((harness.REFLECTOR_IP, stamp.PORT))
        s.settimeout(harness.GUARD_S)
        for seq in range(COUNT):
            s.send(stamp.request(seq, time.clock_gettime_ns(time.CLOCK_REALTIME), 5, False))
            s.recv(2000)
        r.end()
        capture.packets = 2 * COUNT
    there = read_log(log)
    for p in capture.decode():
        if p.is_request:
            continue
        same(f"#{p.sender_seq}: Z", p.bits, (0, 0, 0, 1))
        for what, shown, logged in (("T2", p.t2, there[p.sender_seq]["T2_KERNEL"]),
                                    ("T3", p.time, there[p.sender_seq]["T3_SW"])):
            if shown not in (logged, logged - 1):
                complain(f"#{p.sender_seq}: {what} is {shown}, not {logged}")


def all_of_them():
    for tool in ("tshark", "dumpcap", "ethtool"):
        if not shutil.which(tool):
            harness.skip("tshark decodes", f"{tool} is not installed")
            return
    known = subprocess.run(["tshark", "-G", "fields"], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                           timeout=harness.GUARD_S, check=False).stdout
    for field in FIELDS:
        if f"\ttwamp.test.{field}\t" not in known:
            harness.skip("tshark decodes", f"this tshark has no field twamp.test.{field}")
            return
    for there in [], harness.inside_reflector:  # checksums are the kernel's: offloaded checksums are not in the capture
        subprocess.run([*there, "ethtool", "-K", harness.LINK, "tx", "off"], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    for stamps in ("kernel", "user"):
        harness.test(f"tshark decodes two rants, reflector --stamp {stamps}: all times are those of both logs",
                     two_rants, stamps)
    harness.test("tshark decodes two rants with --plain", two_plain_rants)
    harness.test("tshark decodes --size, --ttl and --dscp", padded)
    harness.test("tshark decodes answers in NTP format", ntp)
