# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads pictures of rant-plot --timeline, and compares them with the truth of make_spike.py. Prints a line for each difference.

read_spike.py PLOT svg FILE TRUTH: the bars of both hosts in the SVG
read_spike.py PLOT full FILE TRUTH: the parts of a stage
read_spike.py PLOT zip FILE TRUTH: the slices of both hosts in the archive, parsed by the protobufs of Perfetto
read_spike.py PLOT query FILE TRUTH: those that Perfetto's trace_processor finds by the sequence number
read_spike.py PLOT offset FOLDERS TRUTH: the offset between both hosts
"""
import json
import re
import sys
import xml.etree.ElementTree
import zipfile

sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True

SVG = "{http://www.w3.org/2000/svg}"
EVENTS = ("interrupt begins: irq 45 eth1-rx-1", "softirq begins: TIMER", "timer begins: wb_timer_fn", "a packet enters the stack from eth1")


def say(text):
    print(text)


def scale(texts):
    """(x of time 0, px per microsecond) of the axis."""
    marks = [(float(t.text), float(t.get("x"))) for t in texts if t.get("fill") == "#5f6b7a" and t.get("text-anchor") == "middle"]
    (a, x), (b, to_x) = marks[0], marks[-1]
    return x - a * (to_x - x) / (b - a), (to_x - x) / (b - a)


def read_bars(path):
    """Texts, and (title, begin in microseconds, length) of each bar."""
    root = xml.etree.ElementTree.parse(path).getroot()
    texts = list(root.iter(f"{SVG}text"))
    zero, px = scale(texts)
    return root, texts, [(r.find(f"{SVG}title").text, (float(r.get("x")) - zero) / px, float(r.get("width")) / px)
                         for r in root.iter(f"{SVG}rect") if r.find(f"{SVG}title") is not None]


def check_full(path, truth):
    _, _, bars = read_bars(path)
    sent = (truth["late_ns"] - truth["offset_ns"] - truth["first_ns"]) / 1e3 + 265
    for title, at, length in (("App-to-qdisc: 1.00 µs", sent, 1), ("Qdisc-to-driver: 1.50 µs", sent + 1, 1.5), ("Driver-to-NIC: 1.50 µs", sent + 2.5, 1.5)):
        if not any(t == title and abs(wide - length) < 0.5 and abs(x - at) < 0.5 for t, x, wide in bars):
            say(f"no bar '{title}' at {at} of {length} µs: {bars}")
    if sum(t.startswith("App-to-NIC") for t, *_ in bars) != 1:
        say("not only the emitter has App-to-NIC")


def check_svg(path, truth):
    root, texts, bars = read_bars(path)
    begin = truth["late_ns"] - truth["offset_ns"] - truth["first_ns"]
    wanted = [(r"NIC-to-kernel: 261 µs", begin / 1e3, 261), ("App-to-NIC: 4.00 µs", 0, 4),
              (r"softirq TIMER, wb_timer_fn: 254 µs", None, 254), (r"irq 23 ahci: 4.00 µs", begin / 1e3 + 100, 4)]
    for title, at, length in wanted:
        if not any(t == title and abs(wide - length) < 0.5 and (at is None or abs(x - at) < 0.5) for t, x, wide in bars):
            say(f"no bar '{title}' at {at} of {length} µs: {bars}")
    words = [t.text for t in texts]
    for text in EVENTS:
        if not any(text in one for one in words):
            say(f"no event '{text}'")
    if not any(one.startswith("NIC-to-kernel took 261 µs") and "Cause: softirq TIMER on CPU 1, 98 % of the excess." in one for one in words):
        say(f"no cause: {words[:3]}")
    bounds = [re.findall(r"[\d.]+", p.get("d")) for p in root.iter(f"{SVG}path")
              if p.find(f"{SVG}title") is not None and p.find(f"{SVG}title").text.startswith("position")]
    if len(bounds) != 2:
        say(f"{len(bounds)} bounds of the offset are drawn, not 2")


def check_offset(folder, truth):
    import logs
    import timeline
    program = logs.program
    logs.program = lambda fault="": sys.argv[5] if len(sys.argv) > 5 else program(fault)
    hosts, (offset, bound) = timeline.read_all([f"{folder}/reflect", f"{folder}/emit"])
    if [host.role for host in hosts] != ["emit", "reflect"]:
        say("the emitter is not first")
    if abs(offset - truth["offset_ns"]) > bound or not 0 < bound < 8000:
        say(f"offset {offset} +- {bound} ns, not {truth['offset_ns']}")
    for host in hosts:
        late = host.late
        for section in late["sections"] if late else ():
            if sum(part["value_ns"] for part in section["parts"]) != section["to_ns"] - section["from_ns"]:
                say(f"parts do not sum to the section: {section}")
        if late and sum(s["to_ns"] - s["from_ns"] for s in late["sections"]) != late["to_ns"] - late["from_ns"]:
            say("sections do not sum to the late stage")


def slices_of(data):
    """[(track, name, begin, length, args, flows, ended flows)] and [instants] of a trace."""
    from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent
    trace, names, opened, out, instants = Trace.FromString(data), {}, {}, [], []
    for packet in trace.packet:
        if packet.HasField("track_descriptor"):
            names[packet.track_descriptor.uuid] = packet.track_descriptor.name
            continue
        event = packet.track_event
        args = {one.name: one.int_value if one.HasField("int_value") else one.string_value for one in event.debug_annotations}
        if packet.timestamp_clock_id != 6:
            say(f"clock {packet.timestamp_clock_id}")
        if event.type == TrackEvent.TYPE_SLICE_BEGIN:
            if opened.get(event.track_uuid):
                say(f"{event.name} begins within another slice")
            opened[event.track_uuid] = (packet.timestamp, event, args)
        elif event.type == TrackEvent.TYPE_SLICE_END:
            begin, first, args = opened.pop(event.track_uuid)
            out.append((names[event.track_uuid], first.name, begin, packet.timestamp - begin, args, list(first.flow_ids),
                        list(first.terminating_flow_ids)))
        else:
            instants.append((names[event.track_uuid], packet.timestamp, args))
    if opened:
        say(f"{len(opened)} slices do not end")
    return out, instants


def check_zip(path, truth):
    with zipfile.ZipFile(path) as archive:
        manifest = json.loads(archive.read("perfetto_manifest.json"))["perfetto_manifest"]
        hosts = [(entry, *slices_of(archive.read(entry["path"]))) for entry in manifest["files"]]
    if manifest["version"] != 1 or [entry["machine"]["name"] for entry, *_ in hosts] != ["emitter eth1", "reflector eth1"]:
        say(f"manifest: {manifest}")
    # The emitter's clock reads T + offset_ns when that of the reflector reads T.
    shift = hosts[1][0]["clocks"]["offset_ns"]
    if abs(-shift - truth["offset_ns"]) > manifest["attributes"]["rant.offset_bound_ns"] or hosts[1][0]["clocks"]["sync_to"]["file"] != "emitter.pftrace":
        say(f"offset {shift}, not {-truth['offset_ns']}")
    first, late = truth["first_ns"], truth["late_ns"] - truth["offset_ns"]
    wanted = [(0, "packet: kernel", "App-to-NIC", first, 4000), (1, "packet: kernel", "NIC-to-kernel", late, 261000),
              (1, "CPU 1: softirqs", "softirq TIMER, wb_timer_fn", late + 1000, 99000), (1, "CPU 1: interrupts", "irq 23 ahci", late + 100000, 4000),
              (1, "late stage by owner: NIC-to-kernel", "softirq TIMER, wb_timer_fn", None, 254000), (0, "packet: wire", "Network and reflector", first + 4000, 279000),
              (1, "packet: thread", "App processing", late + 264000, 1000), (1, "CPU 2: threads and idle", "rant itself", None, None)]
    for number, track, name, at, length in wanted:
        add = shift if number else 0
        if not any(s[:2] == (track, name) and (at is None or s[2] + add == at) and length in (None, s[3]) and s[4]["seq"] == truth["seq"] for s in hosts[number][1]):
            say(f"no slice {track}, {name} at {at} of {length}: {[s[:4] for s in hosts[number][1]]}")
    for host, count in zip(hosts, (2, 0)):
        out, into = ([flow for s in host[1] for flow in s[i]] for i in (5, 6))
        if len(out) != count or sorted(out) != sorted(into):
            say(f"flows {out} and {into}")
    for number, (_, _, instants) in enumerate(hosts):
        if [(one[0], one[1] + (shift if number else 0), one[2]["seq"]) for one in instants] != [("breach", first + 400000, truth["seq"])]:
            say(f"breach: {instants}")
    bound = manifest["attributes"]["rant.offset_bound_ns"]
    if [s[3] for s in hosts[1][1] if s[0].startswith("bound of the offset")] != [2 * bound, 2 * bound]:
        say("the bound of the offset is not on both sides of T2 and T3")


SLICES = """select process.name host, track.name row, slice.name stage, ts, dur from slice join process_track track on track_id = track.id
    join process using (upid) where extract_arg(slice.arg_set_id, 'debug.seq') = {seq}"""
FLOWS = """select a.name stage, p.name host, b.name to_stage, q.name to_host from flow
    join slice a on a.id = slice_out join process_track t on a.track_id = t.id join process p on t.upid = p.upid
    join slice b on b.id = slice_in join process_track u on b.track_id = u.id join process q on u.upid = q.upid order by a.ts"""
FAULTS = "select name, value from stats where value > 0 and severity in ('error', 'data_loss')"


def check_query(path, truth):
    from trace_processor import ask
    with zipfile.ZipFile(path) as archive:
        bound = json.loads(archive.read("perfetto_manifest.json"))["perfetto_manifest"]["attributes"]["rant.offset_bound_ns"]
        hosts = [ask(archive.read(f"{role}.pftrace"), SLICES.format(seq=truth["seq"]), FLOWS, FAULTS) for role in ("emitter", "reflector")]
    first, late, sent = truth["first_ns"], truth["late_ns"], "rant emitter eth1"
    reflected = f"rant reflector eth1 ± {bound} ns"
    wanted = [(0, sent, "packet: kernel", "App-to-NIC", first, 4000), (0, sent, "breach", f"breach of packet {truth['seq']}", first + 400000, 0),
              (0, reflected, "packet: kernel", "NIC-to-kernel", late - truth["offset_ns"], 261000),
              (1, "rant reflector eth1", "packet: kernel", "NIC-to-kernel", late, 261000),
              (1, "rant reflector eth1", "CPU 1: softirqs", "softirq TIMER, wb_timer_fn", late + 1000, 99000)]
    for number, *one in wanted:
        if tuple(one) not in hosts[number][0]:
            say(f"no slice {one}: {hosts[number][0]}")
    flows = [("App-to-NIC", sent, "NIC-to-kernel", reflected), ("App-to-NIC", reflected, "NIC-to-kernel", sent)]
    if [host[1] for host in hosts] != [flows, []]:
        say(f"flows {[host[1] for host in hosts]}")
    if any(host[2] for host in hosts):
        say(f"faults {[host[2] for host in hosts]}")


if __name__ == "__main__":
    with open(sys.argv[4], encoding="ascii") as file:
        {"svg": check_svg, "full": check_full, "zip": check_zip, "query": check_query, "offset": check_offset}[sys.argv[2]](sys.argv[3], json.load(file))
