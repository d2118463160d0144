# SPDX-License-Identifier: GPL-2.0-or-later
"""Functions for the methods of this tool, with the standard library only. Each method reads JSON from stdin and writes JSON to stdout."""
import configparser
import datetime
import json
import math
import os
import random
import re
import socket
import subprocess
import sys
import time

CONFIG = "/etc/pscheduler/tool/rant.conf"
STAMP_PORT = 862
LEAD_S = 2   # the reflector is there by then
FUDGE_S = 4  # both ends start, lock their memory, and report

# Largest content of a probe without padding, less the 44 octets of the base packet: docs/protocol.md.
LEAST_PADDING = 168
NEWEST_SPEC = 4

# Members of the specification of the latency test that this tool accepts.
TAKEN = ("schema", "source", "source-node", "dest", "dest-node", "protocol", "packet-count", "packet-interval", "packet-timeout",
         "packet-padding", "ctrl-port", "ip-tos", "ip-version", "bucket-width", "flip", "reverse")
# Members that this tool refuses.
NOT_DONE = {
    "output-raw": "single packets are not told, for their time to live is not recorded",
    "data-ports": "the emitter's port is chosen by the kernel",
    "traverse-nat": "nothing is done to get through NAT",
}


# ---- In and out ------------------------------------------------------------------------------------------------------

def read_input():
    try:
        return json.load(sys.stdin)
    except ValueError as error:
        sys.exit(f"rant: the input is no JSON: {error}")


def answer(what):
    json.dump(what, sys.stdout)
    sys.stdout.write("\n")


def success(result, diags):
    return {"succeeded": True, "result": result, "error": None, "diags": diags}


def failure(error, diags):
    return {"succeeded": False, "result": None, "error": error, "diags": diags}


# ---- Settings and test specification ---------------------------------------------------------------------------------

class Settings:
    """Settings of this host: rant.conf. Without synced-ns the error of the clocks is unknown, and no one-way delay is measured."""

    def __init__(self):
        config = configparser.ConfigParser()
        config.read(os.environ.get("RANT_PSCHEDULER_CONF", CONFIG))
        here = config["rant"] if config.has_section("rant") else {}
        self.program = here.get("program", "rant")
        self.interface = here.get("interface")
        self.stamp = here.get("stamp", "hardware")
        self.synced_ns = int(here["synced-ns"]) if "synced-ns" in here else None
        low, _, high = here.get("ports", "8760-8960").partition("-")
        self.ports = range(int(low), int(high or low) + 1)


class Plan:
    """Settings for both ends from a specification. The emitter is at the source, with "flip" at the destination."""

    def __init__(self, spec):
        self.spec = spec
        flip = bool(spec.get("flip"))
        self.emitter = 1 if flip else 0
        self.client, self.server = (spec.get("dest"), spec.get("source")) if flip else (spec.get("source"), spec.get("dest"))
        # Source to destination is forward, seen from the source; and "reverse" asks for the other way.
        self.is_forward = flip == bool(spec.get("reverse"))
        self.count = spec.get("packet-count", 100)
        self.interval_s = spec.get("packet-interval", 0.1)
        self.timeout_s = spec.get("packet-timeout", 2)
        self.bucket_s = spec.get("bucket-width", 0.001)
        self.port = spec.get("ctrl-port")
        self.ip_version = spec.get("ip-version")
        self.silence_s = min(86400, max(1, 3 * self.interval_s) + self.timeout_s)

    def options(self):
        """Options of the emitter. The duration ends a run without replies."""
        duration_s = self.count * self.interval_s + self.timeout_s
        words = ["--count", str(self.count), "--interval", f"{self.interval_s:.9f}s", "--timeout", f"{self.timeout_s}s",
                 "--duration", f"{duration_s:.3f}"]
        if self.spec.get("packet-padding"):
            words += ["--size", str(44 + self.spec["packet-padding"])]
        if self.spec.get("ip-tos"):
            words += ["--dscp", str(self.spec["ip-tos"] >> 2)]
        return words


def reasons_against(task, settings):
    if task.get("type") != "latency":
        return ["Unsupported test type" if "type" in task else "Missing test type"]
    if "spec" not in task:
        return ["Missing test specification"]
    spec, plan = task["spec"], Plan(task["spec"])
    reasons = [f"rant does not do {name}: {NOT_DONE[name]}" for name in NOT_DONE if spec.get(name)]
    reasons += [f"rant does not know {name}" for name in spec if name not in TAKEN and name not in NOT_DONE]
    limits = (
        (spec.get("schema", 1) > NEWEST_SPEC, f"schema {spec.get('schema')} is newer than {NEWEST_SPEC}"),
        (spec.get("protocol", "stamp") != "stamp", f"protocol {spec.get('protocol')} is not stamp"),
        (plan.server is None, "the address of the reflector is not given"),
        (not 1e-6 <= plan.interval_s <= 3600, "packet-interval is 0.000001 to 3600 s"),
        (not 0 < plan.timeout_s <= 60, "packet-timeout is 1 to 60 s"),
        (0 < spec.get("packet-padding", 0) < LEAST_PADDING, f"packet-padding is 0 or from {LEAST_PADDING} on: less is in every probe"),
        (spec.get("ip-tos", 0) & 3, "ip-tos is a DSCP, without ECN: its last two bits are 0"),
        (settings.synced_ns is None, f"the clock of this host is not said to be synchronised: set synced-ns in {CONFIG}"),
    )
    return reasons + [reason for is_so, reason in limits if is_so]


def seconds_needed(plan):
    return math.ceil(plan.count * plan.interval_s + plan.timeout_s) + LEAD_S + FUDGE_S


def parse_time(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


def parse_duration(text):
    """Seconds of an ISO 8601 duration with weeks, days, hours, minutes and seconds, as pScheduler writes it."""
    found = re.fullmatch(r"P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?)?", text)
    if not found:
        raise ValueError(f"'{text}' is no duration")
    return sum(float(number or 0) * unit for number, unit in zip(found.groups(), (604800, 86400, 3600, 60, 1)))


def now():
    return datetime.datetime.now(datetime.timezone.utc)


def sleep_until(moment):
    time.sleep(max(0, (moment - now()).total_seconds()))


# ---- This host -------------------------------------------------------------------------------------------------------

def resolve(host, ip_version):
    family = {4: socket.AF_INET, 6: socket.AF_INET6}.get(ip_version, socket.AF_UNSPEC)
    return socket.getaddrinfo(host, None, family, socket.SOCK_DGRAM)[0][4][0]


def ask_ip(*words):
    return json.loads(subprocess.run(["ip", "-j", *words], stdout=subprocess.PIPE, check=True, timeout=10).stdout or "[]")


def interface_to(address):
    return ask_ip("route", "get", address)[0]["dev"]


def interface_of(address):
    for link in ask_ip("address", "show"):
        if any(one.get("local") == address for one in link.get("addr_info", ())):
            return link["ifname"]
    raise ValueError(f"no interface has the address {address}: set interface in {CONFIG}")


def free_port(ports):
    """A free port. rant binds it when the test starts, so tests at the same time must get different ports."""
    for port in random.sample(ports, len(ports)):
        with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as here:
            here.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
            try:
                here.bind(("::", port))
                return port
            except OSError:
                continue
    sys.exit(f"rant: no UDP port from {ports[0]} to {ports[-1]} is free: set ports in {CONFIG}")


# ---- The result ------------------------------------------------------------------------------------------------------

def histogram_of(statistic, bucket_s):
    """Counts by latency in units of the bucket of the test, with two decimals. A bucket of rant counts at its lower edge."""
    counts = {}
    histogram = statistic["histogram"]
    above = histogram["overflow_buckets" if histogram["overflow_not_kept"] else "overflow"]
    for at_ns, n in histogram["buckets"] + above:
        key = f"{round(at_ns / 1e9 / bucket_s, 2):.2f}"
        counts[key] = counts.get(key, 0) + n
    return counts


def counts_of(plan, accounts):
    """Packets of the requested direction; of both directions, with a remark, if the sequence numbers of the reflector do not show it."""
    packets, ways = accounts["packets"], accounts["directions"]
    sent = packets["sent"] - packets["closing"] - packets["unfinished"]
    if ways["lost_there"] is None or (ways["either_way"] and packets["lost"]):
        counts = (sent, packets["lost"], packets["duplicate"], packets["reordered"])
        note = "which way packets were lost on is not known: the counts are of the way there and back"
    elif plan.is_forward:
        counts, note = (sent, ways["lost_there"], ways["two_there"], ways["late_there"]), ""
    else:
        counts, note = (sent - ways["lost_there"], ways["lost_back"], ways["two_back"], ways["late_back"]), ""
    sent, lost, duplicated, reordered = counts
    return {"packets-sent": sent, "packets-received": sent - lost, "packets-lost": lost, "packets-duplicated": duplicated,
            "packets-reordered": reordered}, note


def reasons_of(data):
    return [f"{why['name']}: {why['found']}" for why in data["verdict"]["reasons"]]


def result_of(plan, data, diags):
    """Result of the latency test from the file of rant --json."""
    statistic = data["statistics"].get("forward_ns" if plan.is_forward else "backward_ns")
    if not statistic or not statistic["samples"]:
        return failure("no one-way latency was measured: " + "; ".join(reasons_of(data)), diags)
    counts, note = counts_of(plan, data["accounts"])
    notes = [note, f"verdict: {data['verdict']['level']}", *reasons_of(data)]
    if statistic["negative"]:
        notes.append(f"{statistic['negative']} latencies were below 0, and are in no bucket: the clocks differ by more than synced-ns")
    result = {"schema": 1, "succeeded": True, **counts, "max-clock-error": round(statistic["within_ns"] / 1e6, 6),
              "histogram-latency": histogram_of(statistic, plan.bucket_s)}
    return success(result, "\n".join([diags.rstrip(), *filter(None, notes)]))
