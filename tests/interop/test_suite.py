# SPDX-License-Identifier: GPL-2.0-or-later
"""
rant with stamp-suite (https://github.com/asmie/stamp-suite), which is STAMP by other people and in no distribution:
interop.sh has cargo install it. Both ways; without it nothing of this is tested, and test_reflectors.py and test_sender.py
have to do.
"""
import json
import os
import shutil

import harness
import stamp
from harness import Program, Report, emitter, poll, read_log, same, true
from test_reflectors import COUNT, judge_stages, judge_verdict
from test_sender import KEY, Reflecting

HEX_KEY = KEY.hex()
TLVS = ("--cos", "--dscp", "10", "--timestamp-info", "--direct-measurement", "--follow-up-telemetry",
        "--extra-padding", "33")


def its_reflector(*arguments):
    program = Program("peer", "stamp-suite", "-i", "-S", harness.REFLECTOR_IP, "-o", str(stamp.PORT), *arguments,
                      there=True, cpu=harness.last_cpu)
    poll("the port of stamp-suite", lambda: program.has_port(stamp.PORT))
    return program


def run(peers, emitters):
    peer, path = its_reflector(*peers), os.path.join(harness.work, "e.log")
    json_path = os.path.join(harness.work, "e.json")
    e = emitter("--stamp", "kernel", "--count", str(COUNT), "-H", "--log-full", "-l", path, "--json", json_path, *emitters)
    e.wait()
    peer.end(None)
    report = Report(e)
    judge_verdict(report, e, None)
    with open(json_path, encoding="ascii") as f:
        return report, read_log(path), json.load(f)["as_told"]


def to_it(*arguments, follow_up, emit=()):
    """follow_up: the row in which every exchange is counted."""
    report, log, told = harness.patiently(lambda: run(arguments, emit))
    joined = follow_up == "Complete"
    same("responses reported by its program only", told and told["response_ns"]["samples"], None if joined else COUNT)
    if told:
        responses = [record["T3_SW"] - record["T2"] for record in log.values()]
        same("their minimum and maximum", (told["response_ns"]["min_ns"], told["response_ns"]["max_ns"]),
             (min(responses), max(responses)))
    judge_stages(report, COUNT if joined else 0)
    report.rows("Packets", Recorded=COUNT, Lost=0, Foreign=0, Malformed=0, Bad_TLVs=0, Unverified=0, Bad_HMACs=0)
    report.rows("Reflector's stamps", **{follow_up: COUNT})
    true("the report has a changed TTL or DSCP", "arrived with another" not in report.text)
    for seq, record in log.items():
        times = [record[name] for name in ("T1_KERNEL", "T2", "T3_SW", "T4_KERNEL")]
        true(f"#{seq}: times out of order", times == sorted(times))
        same(f"#{seq}: a response is reported", record["RESPONSE"] is not None, joined)


def from_it(*arguments, unknown=(), key=()):
    """Its own report of rant's replies. unknown: type -> replies with U."""
    with Reflecting("kernel", *key) as r:
        s = Program("sender", "stamp-suite", "-r", harness.REFLECTOR_IP, "-c", str(COUNT), "-d", "5", "--ssid", "77",
                    "-R", "--output-format", "json", *arguments, cpu=harness.first_cpu)
        s.wait()
    told = json.loads(s.text("out"))
    measured = told["measurements"]
    validation = measured["tlv_validation"]
    same("packets received", (told["packets_sent"], told["packets_received"]), (COUNT, COUNT))
    same("rejected replies", validation["rejected_replies"], 0)
    same("TLVs with M and I", (validation["flags"]["malformed"], validation["flags"]["integrity_failed"]), (0, 0))
    of_type = {int(kind): seen["flags"]["unrecognized"] for kind, seen in validation["by_type"].items()}
    same("TLVs with U, by type", {kind: count for kind, count in of_type.items() if count}, dict(unknown))
    same("last number of a reply", measured["last_reflector_sequence"], COUNT - 1)
    if "--follow-up-telemetry" in arguments:
        same("follow-ups", (measured["follow_up"]["matched"], measured["follow_up"]["unavailable"]), (COUNT - 1, 1))
    if "--direct-measurement" in arguments:
        counts = measured["direct_measurement"]
        same("Direct Measurement", (counts["forward_missing"], counts["reverse_missing"]), (0, 0))
    if key and TLVS[0] in arguments:
        same("verified TLVs", validation["hmac"]["verified"], COUNT)
    r.report.rows("Packets", Sent=COUNT, Malformed=0, Bad_TLVs=0, Unverified=0)


def all_of_them():
    test, name = harness.test, "stamp-suite"
    if not shutil.which("stamp-suite"):
        harness.skip(name, f"it is not installed ({os.environ.get('SUITE_WHY')}); scapy and our own peers do its part")
        return
    test(f"emits to {name}: stateful", to_it, "--stateful-reflector", follow_up="Complete")
    test(f"emits to {name}: PTP format, --dscp", to_it, "--stateful-reflector", "-K", "PTP", follow_up="Complete",
         emit=("--dscp", "46"))
    test(f"emits to {name}: stateless", to_it, follow_up="Unknown")
    test(f"emits to {name}: RFC 8762 only", to_it, "--tlv-mode", "ignore", follow_up="Not reported")
    test(f"{name} sends without TLVs", from_it)
    # The first request for the class comes too early to be understood.
    test(f"{name} sends all that rant answers, NTP format", from_it, *TLVS, unknown={4: 1})
    test(f"{name} sends all that rant answers, PTP format", from_it, "-K", "PTP", *TLVS, unknown={4: 1})
    test(f"{name} sends Location", from_it, "--location", unknown={2: COUNT})
    if harness.has_key():
        test(f"emits to {name}, authenticated", keyed_to_it)
        test(f"{name} sends, authenticated", keyed_from_it)


def keyed_to_it():
    to_it("--stateful-reflector", "-A", "A", "--hmac-key", HEX_KEY, "--verify-tlv-hmac", follow_up="Complete",
          emit=("--key", harness.write_key(KEY)))


def keyed_from_it():
    from_it("-A", "A", "--hmac-key", HEX_KEY, "--verify-tlv-hmac", *TLVS, unknown={4: 1},
            key=("--key", harness.write_key(KEY)))
