# SPDX-License-Identifier: GPL-2.0-or-later
"""One breach at both hosts for ui.perfetto.dev: an archive with a protobuf trace of each host, and perfetto_manifest, which aligns
them (docs/reference/perfetto-manifest.md of Perfetto, version 1)."""
import io
import json
import zipfile

from spike import cause, long_name
from timeline import ROLES
from words import Bad, clean

CLOCK_BOOTTIME = 6  # BuiltinClock; each host has its own, and that of the trace takes its place
SEQUENCE = 1
FIRST_PID = 1 << 20  # processes of the tracks, which no thread of the trace has

# Tracks of a CPU by the class of an owner; all other classes are on the last one.
LEVELS = (("interrupts", ("nmi", "irq", "interrupt")), ("softirqs", ("softirq",)), ("threads and idle", ()))


def trace_type():
    try:
        from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace
    except ImportError:
        raise Bad("a .zip for ui.perfetto.dev needs the Python module perfetto, which is not installed: pip install perfetto") from None
    return Trace


class Writer:
    """The trace of one host."""

    def __init__(self, host, number):
        self.trace, self.host, self.base = trace_type()(), host, (number + 1) << 32
        self.tracks = 0
        self.process = self.add_process(FIRST_PID + 2 * number, f"rant {host.name}")

    def descriptor(self):
        packet = self.trace.packet.add()
        packet.trusted_packet_sequence_id = SEQUENCE
        self.tracks += 1
        packet.track_descriptor.uuid = self.base + self.tracks
        return packet

    def add_process(self, pid, name):
        packet = self.descriptor()
        packet.track_descriptor.process.pid, packet.track_descriptor.process.process_name = pid, name
        return packet.track_descriptor.uuid

    def track(self, name, process=None):
        packet = self.descriptor()
        packet.track_descriptor.parent_uuid, packet.track_descriptor.name = process or self.process, name
        return packet.track_descriptor.uuid

    def event(self, track, ns, kind, name=None):
        packet = self.trace.packet.add()
        packet.trusted_packet_sequence_id, packet.timestamp, packet.timestamp_clock_id = SEQUENCE, ns, CLOCK_BOOTTIME
        packet.track_event.type, packet.track_event.track_uuid = getattr(packet.track_event, f"TYPE_{kind}"), track
        if name is not None:
            packet.track_event.name = name
        return packet.track_event

    def slice(self, track, from_ns, to_ns, name, values=None):
        event = self.event(track, from_ns, "SLICE_BEGIN", name)
        annotate(event, {"seq": self.host.seq, **(values or {})})
        self.event(track, to_ns, "SLICE_END")
        return event

    def octets(self):
        return self.trace.SerializeToString()


def annotate(event, values):
    for name, value in values.items():
        if value is None:
            continue
        one = event.debug_annotations.add()
        one.name = name
        if isinstance(value, int):
            one.int_value = value
        else:
            one.string_value = clean(value)


def put_packet(w, host, process=None, add_ns=0, joined=False):
    """The stages of the packet, add_ns later than the clock of this host has them; joined: with the flows of the wire, from the last stage
    of one host to the first of the other."""
    rows = {row: w.track(f"packet: {name}", process) for row, name in (("application", "thread"), ("kernel", "kernel"), ("wire", "wire"))}
    for stage in host.stages():
        event = w.slice(rows[stage.row], stage.from_ns + add_ns, stage.to_ns + add_ns, stage.name)
        for flow, (leaves, arrives) in enumerate((("T1", "T2"), ("T3", "T4")) if joined else (), 2 * host.seq + 1):
            if stage.to_ns == host.nearest(leaves) and stage.row != "wire":
                event.flow_ids.append(flow)
            elif stage.from_ns == host.nearest(arrives) and stage.row != "wire":
                event.terminating_flow_ids.append(flow)


def put_breach(w, host):
    event = w.event(w.track("breach"), host.data["breach_ns"], "INSTANT", f"breach of packet {host.seq}")
    annotate(event, {"seq": host.seq, "latency_ns": host.latency_ns, "cause": cause(host)})


def put_other_host(w, host, offset_ns, bound_ns):
    """The other host's stages of the packet once more: Perfetto joins the slices of a flow only within one file and machine."""
    name = f"rant {host.name} ± {bound_ns} ns"
    put_packet(w, host, w.add_process(FIRST_PID + 1, name), -offset_ns, joined=True)


def put_owners(w, host):
    for cpu in host.data["cpus"]:
        for level, classes in LEVELS:
            others = [name for _, names in LEVELS for name in names]
            spans = [one for one in cpu["spans"] if (one["class"] in classes if classes else one["class"] not in others)]
            track = w.track(f"CPU {cpu['cpu']}: {level}") if spans else None
            for one in spans:
                w.slice(track, one["from_ns"], one["to_ns"], long_name(one), {"class": one["class"], "number": one["number"], "cpu": cpu["cpu"]})


def put_late(w, host):
    track = w.track(f"late stage by owner: {host.late['name']}")
    for section in host.late["sections"]:
        at = section["from_ns"]
        for part in section["parts"]:
            w.slice(track, at, at + part["value_ns"], long_name(part), {"class": part["class"], "cpu": section["cpu"]})
            at += part["value_ns"]


def put_bound(w, host, bound_ns):
    for name in ("T2", "T3"):
        at = host.nearest(name)
        w.slice(w.track(f"bound of the offset at {name}"), at - bound_ns, at + bound_ns, f"± {bound_ns} ns", {"bound_ns": bound_ns})


def compose(hosts, between):
    """The octets of the archive."""
    files, out = [], io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        def add(name, data):
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)  # without a date: the same folders give the same file

        for number, host in enumerate(hosts):
            w, name = Writer(host, number), f"{ROLES[host.role]}.pftrace"
            put_packet(w, host, joined=between and not number)
            put_breach(w, host)
            if between and not number:
                put_other_host(w, hosts[1], *between)
            if host.late:
                put_late(w, host)
            put_owners(w, host)
            entry = {"path": name, "machine": {"name": host.name}}
            if between and number:
                put_bound(w, host, between[1])
                entry["clocks"] = {"clock": "BOOTTIME", "sync_to": {"file": files[0]["path"], "clock": "BOOTTIME"}, "offset_ns": -between[0]}
            files.append(entry)
            add(name, w.octets())
        attributes = {"rant.seq": hosts[0].seq, **({"rant.offset_bound_ns": between[1]} if between else {})}
        add("perfetto_manifest.json", json.dumps({"perfetto_manifest": {
            "version": 1, "trace_time": {"clock": "BOOTTIME", "file": files[0]["path"]}, "files": files, "attributes": attributes}}, indent=1))
    return out.getvalue()
