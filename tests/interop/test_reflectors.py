# SPDX-License-Identifier: GPL-2.0-or-later
"""rant emits to other reflectors: the log has exactly the values that each of them reported."""
import json
import os
import re
import sys

import harness
from harness import Program, Report, emitter, poll, read_log, same, true

COUNT = 40
KEY = "00112233445566778899aabbccddeeff"


def start_peer(kind, key=None):
    program = Program("peer", sys.executable, os.path.join(os.path.dirname(__file__), "reflectors.py"), kind,
                      harness.REFLECTOR_IP, os.path.join(harness.work, "peer.json"), *([key] if key else []),
                      there=True, cpu=harness.last_cpu)
    poll("the peer's port", lambda: program.has_port(harness.stamp.PORT))
    return program


def read_peer():
    with open(os.path.join(harness.work, "peer.json"), encoding="ascii") as f:
        return [json.loads(line) for line in f]


# ---- Checks after every run ------------------------------------------------------------------------------------------

def judge_record(seq, record, told, after, full):
    """The log's line of an exchange against the peer's own values. after: the report of its next reply."""
    joined = full and after is not None and after.get("follow_up") == told["seq"]
    contradicts = record["FLAGS"] == "stepped"  # no value of such a peer is used
    same(f"#{seq}: T2", record["T2"], None if contradicts else told["t2"])
    same(f"#{seq}: T3_SW", record["T3_SW"], None if contradicts else told["t3"])
    same(f"#{seq}: T2_SW, which nobody told", record["T2_SW"], None)
    same(f"#{seq}: T3", record["T3"], told["left"] if joined else None)
    same(f"#{seq}: RESPONSE", record["RESPONSE"], told["left"] - told["t2"] if joined else None)
    same(f"#{seq}: NETWORK", record["NETWORK"], record["RTT"] - record["RESPONSE"] if joined else None)
    if joined:
        same(f"#{seq}: FLAGS", record["FLAGS"], "-")
        true(f"#{seq}: NETWORK is negative", record["NETWORK"] >= 0)
    t1, t4 = (record.get(f"{name}_KERNEL") or record[f"{name}_SW"] for name in ("T1", "T4"))
    if told["t2"] and not contradicts:
        true(f"#{seq}: times out of order", t1 <= record["T2"] <= record["T3_SW"] <= t4)
    return joined


def judge_stages(report, joined, network="Network"):
    """An unreported stage is not in the report: neither as a row nor as a histogram."""
    same("the reflector's stages", {name: count for name, count in report.stages.items() if name in (
        "Response", "Network", "Network and hosts") or name.startswith("Remote")},
        {"Response": joined, network: joined} if joined else {})
    for name in ("Response", "Network"):
        heading = re.search(rf"^{name} Histogram \(us\):$", report.text, re.M)
        same(f"there is a {name} histogram", bool(heading), joined > 0)
    for line in report.text.splitlines():
        true(f"a clock was compared without times to compare: {line}",
             joined or report.sections.get("Reflector's stamps", {"Remote step": 1}).get("Remote step", 0) or not re.match("  (Forward|Backward|Reflector )", line))


NOT_OF_THE_MACHINE = "nothing was recorded|stamps|negative|the log|accounts"


def judge_verdict(report, program, doubt):
    """A busy machine may cause doubts; the peer must cause the given doubt, or none. Losses may take most of the time."""
    silent = report.reasons.startswith(": the peer did not answer")
    reasons = report.reasons.replace(doubt, "", 1) if doubt else report.reasons
    true(f"the verdict is {report.verdict}{report.reasons}",
         (report.verdict in ("trusted", "doubtful") or silent) and not re.search(NOT_OF_THE_MACHINE, reasons))
    true(f"no doubt that {doubt}: {report.reasons}", not doubt or doubt in report.reasons)
    same("output on stderr", program.text("err"), "")


def run(kind, *arguments, key=None, doubt=None):
    """The peer has the key, if any; whether rant has it is up to the arguments."""
    peer = start_peer(kind, key)
    log = ("-l", os.path.join(harness.work, "e.log"), *(() if "--plain" in arguments else ("--log-full",)))
    e = emitter("--stamp", "kernel", "--count", str(COUNT), "-H", *log, *arguments)
    e.wait()
    peer.end()
    report = Report(e)
    report.balances()
    judge_verdict(report, e, doubt)
    return report, read_log(os.path.join(harness.work, "e.log")), read_peer()


# ---- A run with a peer -----------------------------------------------------------------------------------------------

REASONS = {  # in the words of the report
    "Unknown": "the reflector did not have the stamp in time, or keeps no state",
    "Not reported": "the reflector does not report when a reply left: RFC 8972 section 4.7",
    "Mixed": "the reflector's two stamps are of different or unreported kinds",
    "Remote step": "T2 and T3 contradict the relation of the two hosts' clocks: not used",
}


def answered_all(kind, *arguments, follow_up, joined=0, flag="-", labels="LOCAL", directions=True, rows=None, lines=(),
                 key=None, network="Network", doubt=None):
    """The peer answers every probe. follow_up: the row in which all that have no follow-up are counted, None: --plain.
    rows: counts that are not 0; of the probes that were sent where they are EACH."""
    report, log, told = harness.patiently(lambda: run(kind, *arguments, key=key, doubt=doubt))
    told = [record for record in told if "asked" in record]
    same("the numbers in the log", list(log), list(range(COUNT)))
    by_seq, done = {record["asked"]: record for record in told}, 0
    for seq, record in log.items():
        if follow_up:
            done += judge_record(seq, record, by_seq[seq], by_seq.get(seq + 1), joined)
            same(f"#{seq}: FLAGS", record["FLAGS"], flag)
    same("exchanges with a follow-up", done, joined)
    counts = dict.fromkeys(("Lost", "Late", "Duplicate", "Reordered", "Foreign", "Malformed", "Bad_TLVs", "Bad_HMACs",
                            "Unverified", "Refused"), 0)
    counts.update(rows or {})
    report.rows("Packets", Recorded=COUNT, **{name: len(told) if n is EACH else n for name, n in counts.items()})
    judge_follow_ups(report, log, follow_up, joined, labels)
    if directions:
        same("loss by direction", report.sections.get("Directions"), {"Lost forward": 0, "Lost backward": 0})
    same("the directions of loss are not known", "\nDirections: not known: " in report.text, not directions)
    judge_stages(report, joined, network)
    for line in lines:
        true(f"no line of the report matches {line}", re.search(line, report.text, re.M))
    if not any("arrived with another" in line for line in lines):
        true("the report has a changed TTL or DSCP", "arrived with another" not in report.text)
    return report, log, told


EACH = object()


def judge_follow_ups(report, log, follow_up, joined, labels):
    if not follow_up:
        true("the report has follow-ups that were not requested", "Reflector's stamps" not in report.sections)
        same("the columns of the log", log.names, ["SEQ", "T1_KERNEL", "T4_KERNEL", "RTT"])
        return
    true(f"the columns are {log.names}", f"T2_{labels}" in log.names and f"T3_{labels}" in log.names)
    others = dict.fromkeys(("Reply_lost", "Unknown", "Not_reported", "Mixed", "At_the_end", "Remote_step"), 0)
    others[follow_up.replace(" ", "_")] = COUNT - joined
    report.rows("Reflector's stamps", Complete=joined, **others)
    if COUNT > joined:
        true(f"the reason is missing in the counters: {REASONS[follow_up]}",
             f"{COUNT - joined}  ({REASONS[follow_up]})\n" in report.text)
        true(f"the reason is missing at the stages: {REASONS[follow_up]}",
             f"\n  Response and network: not known: {REASONS[follow_up]}\n" in report.text)


def sizes(told, want):
    for record in told:
        same(f"octets of probe {record['asked']}", record["bytes"], want)


# ---- The tests -------------------------------------------------------------------------------------------------------

STAGES_OCTETS, OURS_OCTETS, RECEIPT_OCTETS, CLASS_OCTETS, SEAL_OCTETS = 8 + 20, 24, 12, 8, 20  # lengths of TLVs with headers
FULL = harness.stamp.BASE + STAGES_OCTETS + OURS_OCTETS  # length of a probe, except with NIC timestamps


def untold(kind, *arguments, **named):
    return answered_all(kind, *arguments, follow_up="Not reported", flag="untold", directions=False, **named)


def plain(kind):
    _, _, told = answered_all(kind, "--plain", follow_up=None, directions=False)
    sizes(told, harness.stamp.BASE)


def full(kind, *arguments, octets=FULL, **named):
    """Every exchange is complete, which needs a closing probe."""
    report, log, told = answered_all(kind, *arguments, follow_up="At the end", joined=COUNT, **named)
    same("the probes are numbered from 0, with one more at the end", [record["asked"] for record in told],
         list(range(COUNT + 1)))
    sizes(told, octets)
    return report, log


def one_way():
    """With --synced both one-way delays are known: both ends use the same clock."""
    report, log = full("Full", "--synced", "50")
    for name, values in (("Forward", [r["T2"] - r["T1_KERNEL"] for r in log.values()]),
                         ("Backward", [r["T4_KERNEL"] - r["T3"] for r in log.values()])):
        same(f"{name}: samples", report.stages.get(name), COUNT)
        found = re.search(rf"^  {name}  .* {COUNT} +0 +([0-9.]+) .* ([0-9.]+) +[0-9.]+$", report.text, re.M)
        if true(f"there is no row {name}", found):
            median, most = (round(float(word) * 1000) for word in found.groups())
            # Percentiles are lower edges of buckets of 10 ns.
            same(f"{name}: median and maximum", (median, most),
                 (sorted(values)[(COUNT + 1) // 2 - 1] // 10 * 10, max(values)))


def figure(values):
    """The statistics in JSON, without its percentiles, which are within 1/64."""
    return {"samples": len(values), "min_ns": min(values), "max_ns": max(values),
            "mean_ns": int(sum(values) / len(values) + 0.5)} if values else None


def differences(values):
    return [abs(b - a) for a, b in zip(values, values[1:])]


def as_told(kind, *arguments, key=None, two_clocks=0, no_part=0):
    """T2 and T3 of the replies by the peer's program: exact to the nanosecond, and none in the timestamp statistics."""
    path = os.path.join(harness.work, "e.json")
    report, log, told = run(kind, "--json", path, *arguments, key=key)
    with open(path, encoding="ascii") as f:
        data = json.load(f)
    have = data["as_told"]
    by_seq = {record["asked"]: record for record in told}
    pairs = [(record, by_seq[seq]) for seq, record in log.items()] if not two_clocks and not no_part else []
    responses = [peer["t3"] - peer["t2"] for _, peer in pairs]
    networks = [record["RTT"] - response for (record, _), response in zip(pairs, responses)]
    backs = [record["T4_KERNEL"] - peer["t3"] for record, peer in pairs]
    want = {"response_ns": responses, "network_ns": networks, "response_ipdv_ns": differences(responses),
            "network_ipdv_ns": differences(networks), "receive_ipdv_ns": differences(backs)}
    for name, values in want.items():
        one = have[name] and {part: have[name][part] for part in ("samples", "min_ns", "max_ns", "mean_ns")}
        expected = figure(values)
        if one and expected:
            true(f"{name}: the mean is {one['mean_ns']}, not {expected['mean_ns']}", abs(one["mean_ns"] - expected["mean_ns"]) <= 1)
            expected["mean_ns"] = one["mean_ns"]
        same(name, one, expected)
    same("samples of two clocks, and that are no part", (have["two_clocks"], have["no_part"]), (two_clocks, no_part))
    true("its origin is missing", "T3 of the reflector's program" in have["from"])
    same("it is in the report", "\nAs its program reports, by T2 and T3 in the replies" in report.text, True)
    if pairs:
        true("the report has another response", re.search(
            rf"^  Response +{COUNT} +{min(responses) / 1000:.3f} .* {max(responses) / 1000:.3f} +[0-9.]+$", report.text, re.M))
    judge_stages(report, 0)
    same("timestamp statistics", [name for name in ("response_ns", "network_ns", "forward_ns") if name in data["statistics"]], [])


def stamps_alone():
    """With a reflector that reports departures the report has no values of its program."""
    path = os.path.join(harness.work, "e.json")
    report, _, _ = harness.patiently(lambda: run("Full", "--json", path))
    with open(path, encoding="ascii") as f:
        same("as_told", json.load(f)["as_told"], None)
    true("it is not in the report", "As its program reports" not in report.text)


def threshold(kind, which, breached):
    """A threshold on an unreported metric is never breached, and the report says so; on a reported metric it is."""
    peer = start_peer(kind)
    e = emitter("--stamp", "kernel", "--count", str(COUNT), "-t", "0.001", "--threshold-on", which)
    e.wait(2 if breached else 0)
    peer.end()
    report = Report(e)
    line = rf"^{which.title()} time \(\d+ ns\) exceeds threshold \(1 ns\)\.$"
    same("it is breached", bool(re.search(line, report.text, re.M)), breached)
    if not breached:
        report.rows("Reflector's stamps", Not_judged=COUNT)


def unanswered(kind, key, *arguments, refused=False, unverified=False):
    """The two do not agree on the key: no number, exit status 1 and the reason in the accounts."""
    peer = start_peer(kind, key)
    e = emitter("--stamp", "kernel", "--count", "3", "--timeout", "100", *arguments)
    e.wait(1)
    peer.end()
    report, told = Report(e), read_peer()
    same("the verdict", report.verdict, "void")
    true("a sample was recorded", "Total Samples: 0" in report.text)
    report.rows("Packets", Lost=3, Recorded=0)
    # The last reply may come when the run is over.
    same("replies were not to be verified", report.row("Packets", "Unverified") in range(1, 4), unverified)
    same("probes that the peer refused", sum("refused" in record for record in told), 3 if refused else 0)


def keyed(kind, peer_key, **named):
    unanswered(kind, peer_key, "--key", harness.write_key(bytes.fromhex(KEY)), **named)


def signed(kind, *arguments, **named):
    full(kind, "--key", harness.write_key(bytes.fromhex(KEY)), *arguments, key=KEY, **named)


def signed_untold(kind, octets, **named):
    _, _, told = untold(kind, "--key", harness.write_key(bytes.fromhex(KEY)), key=KEY, **named)
    sizes(told, octets)


def loses():
    """Loss by direction equals the packets that the peer dropped; a slow answer is not a loss in a direction."""
    report, log, told = run("Forgetful", "--timeout", "200")
    unknown = report.sections.get("Directions", {}).get("Direction unknown", 0)
    known = [record.get("dropped") for record in told[:len(told) - unknown]]
    report.rows("Directions", Lost_forward=known.count("there"), Lost_backward=known.count("back"))
    # After the last answer the direction is unknown. The answer to the closing probe may have been too slow.
    true("loss without a direction in the middle of the run",
         unknown < 3 and all("dropped" in record for record in told[len(told) - unknown:COUNT]))
    dropped = sum("dropped" in record for record in told[:COUNT])
    same("Lost without Late", report.row("Packets", "Lost") - report.row("Packets", "Late"), dropped)
    same("the records of the log", len(log), report.row("Packets", "Recorded"))
    told_next = {record.get("follow_up"): record for record in told if "dropped" not in record}
    joined = 0
    for seq, record in log.items():
        after = told_next.get(told[seq]["seq"])
        joined += judge_record(seq, record, told[seq], after, True)
        if not after:
            true(f"#{seq}: FLAGS is {record['FLAGS']}", record["FLAGS"] in ("lost", "end"))
    same("Complete", report.row("Reflector's stamps", "Complete"), joined)
    true("too little was lost to prove anything", dropped > 10 and joined > 10)


def babble():
    """Nothing but junk comes: no number, exit status 1."""
    peer = start_peer("Babble")
    e = emitter("--stamp", "kernel", "--count", "5", "--timeout", "100", name="e")
    e.wait(1)
    peer.end()
    report = Report(e)
    same("the verdict", report.verdict, "void")
    same("samples", "Total Samples: 0" in report.text, True)
    true("the warning is missing that this is not a reflector", "answers, but is not a STAMP reflector" in e.text("err"))
    judge_stages(report, 0)
    for row in ("Malformed", "Foreign"):
        true(f"no junk in the row {row}", report.row("Packets", row) > 0)


def backward():
    """It is recorded as reported, and the verdict has the reason."""
    report, log, _ = harness.patiently(lambda: run("Backward", doubt=f"times were out of order ({COUNT} negative times of response or network)"))
    for seq, record in log.items():
        same(f"#{seq}: RESPONSE and NETWORK", (record["RESPONSE"], record["NETWORK"]), (-1000, record["RTT"] + 1000))
    report.rows("Packets", Recorded=COUNT)
    report.rows("Reflector's stamps", Complete=COUNT)


def babbling():
    """Each injected packet is counted by its kind."""
    answered_all("Babbling", follow_up="At the end", joined=COUNT,
                 rows={"Malformed": 2 * (COUNT + 1), "Foreign": COUNT + 1})


def all_of_them():
    test, other = harness.test, rf"^  {COUNT + 1} probes arrived with another"
    signed_octets = harness.stamp.AUTHENTICATED + STAGES_OCTETS + OURS_OCTETS + SEAL_OCTETS
    test("emits to RFC 8762: it copies what it does not know", untold, "Base")
    test("emits to RFC 8762: stateless", untold, "Stateless")
    test("emits to TWAMP-Light: replies of 41 octets", untold, "Light")
    test("emits to TWAMP-Light: replies of 38 octets, no TTL", untold, "Light38")
    test("emits to TWAMP-Light: replies longer than the request by 27 octets", untold, "LightLong",
         rows={"Bad_TLVs": EACH})
    test("emits to RFC 8972: no TLV is known", untold, "Unknowing", "-s")
    test("emits to RFC 8972: M in the first TLV", untold, "Refusing", rows={"Bad_TLVs": EACH})
    test("emits to RFC 8972: I in the first TLV", untold, "Distrusting", rows={"Bad_HMACs": EACH})
    test("emits to RFC 8972: a Follow-Up longer than the packet", untold, "TooLong", rows={"Bad_TLVs": EACH})
    for kind in ("Base", "Stateless", "Light", "Light38", "LightLong", "Full", "FullStateless"):
        test(f"emits --plain to a reflector: {kind}", plain, kind)
    test("emits to RFC 8972: every stamp is in its place", full, "Full")
    test("emits to RFC 8972: with -s, T2_SW is not told", full, "Full", "-s", octets=FULL + RECEIPT_OCTETS, lines=(
        "^  Remote stages: not known: the reflector does not report when its program had the probe$",))
    for arguments in ((), ("-s",), ("-s", "--window", "4")):
        test(f"emits to RFC 8972: TLVs that it does not know come back as if it did {' '.join(arguments)}", full, "Echoing", *arguments,
             octets=FULL + ("-s" in arguments) * RECEIPT_OCTETS + ("--window" in arguments) * (8 + 6 * 16))
    test("emits to RFC 8972: --stamp user", full, "Full", "--stamp", "user", network="Network and hosts")
    test("emits to RFC 8972: NTP format", full, "InNtp")
    test("emits to RFC 8972: PTP format", full, "InPtp")
    test("emits to RFC 8972: SSID 0", full, "NoSsid")
    test("emits to RFC 8972: hardware stamps", full, "ByHardware", labels="HW")
    test("emits to RFC 8972: --size", full, "Full", "--size", "1472", octets=1472)
    test("emits to RFC 8972: --dscp arrives", full, "Full", "--dscp", "46", octets=FULL + CLASS_OCTETS)
    test("emits to RFC 8972: TTL and DSCP arrive changed", full, "OtherState", "--dscp", "46", "--ttl", "99",
         octets=FULL + CLASS_OCTETS,
         lines=(f"{other} TTL than 99, the last with 200$", f"{other} DSCP than 46, the last with 10$"))
    test("emits to RFC 8972: stateless", answered_all, "FullStateless", follow_up="Unknown", flag="unknown",
         directions=False)
    test("emits to RFC 8972: T2 and follow-up of two clocks", answered_all, "Mixed", follow_up="Mixed", flag="mixed")
    test("emits to RFC 8972: it is not told how T2 was taken", answered_all, "NoMethod", follow_up="Mixed",
         flag="mixed")
    test("emits to RFC 8762: T2 and T3 are zeros", untold, "WithoutClock")
    test("emits to RFC 8972: T2 is zeros", answered_all, "WithoutT2", follow_up="Mixed", flag="mixed")
    test("emits to RFC 8972: T2 and follow-up of two scales", answered_all, "OtherScale", follow_up="Remote step",
         flag="stepped", doubt="the reflector's stamps contradict each other")
    test("emits to RFC 8972: a reply leaves before its request came", backward)
    test("emits to RFC 8972: loss, and its directions", loses)
    test("emits to RFC 8972: forward and backward with --synced", one_way)
    for kind in ("Base", "Stateless", "Light", "Light38", "Unknowing", "FullStateless", "NoMethod", "Mixed", "Unsynchronised", "InPast"):
        test(f"emits to {kind}: response as its program tells", as_told, kind)
    test("emits --plain to TWAMP-Light: response as its program tells", as_told, "Light", "--plain")
    test("emits --plain to RFC 8762, 8 in flight: response as its program tells", as_told, "Base", "--plain", "--window", "8")
    test("emits to RFC 8972: T2 by hardware, T3 by the program, and no follow-up", as_told, "HardwareStateless", two_clocks=COUNT)
    test("emits --plain to RFC 8762: T2 and T3 of two scales", as_told, "TwoScales", "--plain", no_part=COUNT)
    test("emits to RFC 8972: nothing as its program tells", stamps_alone)
    for which in ("response", "network"):
        test(f"--threshold-on {which}: told", threshold, "Full", which, True)
        test(f"--threshold-on {which}: not told", threshold, "Base", which, False)
    test("emits to one that sends junk before each answer", babbling)
    test("emits to one that sends nothing but junk", babble)
    if not harness.has_key():
        harness.skip("emits, authenticated", "this rant is built without libnettle")
        return
    test("emits to RFC 8972, authenticated: every stamp is in its place", signed, "Full", octets=signed_octets)
    test("emits to RFC 8972, authenticated: NTP format", signed, "InNtp", octets=signed_octets)
    test("emits to RFC 8972, authenticated: with -s", signed, "Full", "-s", octets=signed_octets + RECEIPT_OCTETS)
    test("emits to RFC 8972, authenticated: forged replies before each answer", signed, "Forging", octets=signed_octets,
         rows={"Unverified": 2 * (COUNT + 1)})
    test("emits to RFC 8762, authenticated: response as its program tells", as_told, "Base", "--key",
         harness.write_key(bytes.fromhex(KEY)), key=KEY)
    test("emits to RFC 8972, authenticated: the TLVs have a wrong HMAC", signed_untold, "WronglySealed",
         octets=signed_octets, rows={"Bad_HMACs": EACH})
    test("emits to RFC 8762, authenticated: TLVs and their HMAC come back as they were", signed_untold, "Base",
         octets=signed_octets)
    test("emits, authenticated, to one with another key", keyed, "Full", "ff" * 16, refused=True)
    test("emits, authenticated, to one without a key", keyed, "Full", None, unverified=True)
    test("emits, not authenticated, to one with a key", unanswered, "Full", KEY, refused=True)
