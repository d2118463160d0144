# SPDX-License-Identifier: GPL-2.0-or-later
"""Traces of one breach, which --save-trace wrote at one or both hosts. `rant --explain` reads them: docs/json.md."""
import json
import os
import subprocess

import logs
from words import Bad, clean

FOLDERS_MAX = 64
RATE = 200e-6  # largest difference of the rates of the trace clocks of two hosts
SAME_STAMP_NS = 1000
ROLES = {"emit": "emitter", "reflect": "reflector"}

# Times of a packet in its order, and the stage that ends at each of them after the previous one that is known.
# With --stages full also when a sent packet entered the queueing discipline (SCHED), and when its driver got it (TXSW).
ORDER = {"emit": ("T1_SW", "T1_SCHED", "T1_TXSW", "T1_KERNEL", "T1_HW", "T4_HW", "T4_KERNEL", "T4_SW"),
         "reflect": ("T2_HW", "T2_KERNEL", "T2_SW", "T3_SW", "T3_SCHED", "T3_TXSW", "T3_KERNEL", "T3_HW")}
PLACES = {"SW": "App", "SCHED": "Qdisc", "TXSW": "Driver", "KERNEL": "Kernel", "HW": "NIC"}


class Stage:
    """A stage of the packet; row: the actor that has it."""

    def __init__(self, name, row, from_ns, to_ns):
        self.name, self.row, self.from_ns, self.to_ns = name, row, from_ns, max(from_ns, to_ns)


class Host:
    """One folder. Times are by the trace clock of the host, until shift_ns is subtracted."""

    def __init__(self, path, data):
        self.path, self.seq, self.why, self.data = path, data["seq"], data["why"], data["timeline"]
        self.role, self.latency_ns, self.shift_ns = self.data["role"], data["latency_ns"], 0
        self.run = clean(self.data["run"]) if self.data.get("run") else None
        self.name = f"{ROLES[self.role]} {clean(self.data['interface'] or '', 20)}".strip()
        self.stamps = {one["name"]: one for one in self.data["stamps"]}
        self.late = self.data["late"]
        if self.data["from_ns"] is None:
            raise Bad("no time of the packet can be placed in the trace: measure with -s, which records the times of the program")

    def at(self, name):
        """A time of the packet by the trace clock; None: not known."""
        return self.stamps[name]["ns"] if name in self.stamps else None

    def nearest(self, n):
        """The time T1 to T4 that is nearest to the wire; None: not known."""
        return next((self.at(f"{n}_{kind}") for kind in ("HW", "KERNEL", "SW") if self.at(f"{n}_{kind}") is not None), None)

    def known(self):
        out = [(name, self.at(name)) for name in ORDER[self.role] if self.at(name) is not None]
        # With timestamps of the kernel the time at the driver is that of the wire.
        return [one for one in out if not (one[0][3:] == "TXSW" and self.at(f"{one[0][:2]}_KERNEL") is not None)]

    def stages(self):
        out, known = [], self.known()
        for (first, from_ns), (last, to_ns) in zip(known, known[1:]):
            a, b = PLACES[first[3:]], PLACES[last[3:]]
            if first[:2] == last[:2]:
                row = "application" if (a, b) == ("Kernel", "App") else "kernel"
                out.append(Stage(f"{a}-to-{b[0].lower() + b[1:] if b != 'NIC' else b}", row, from_ns, to_ns))
            elif self.role == "reflect":
                out.append(Stage("App processing" if (a, b) == ("App", "App") else "Response", "application", from_ns, to_ns))
            else:
                out.append(Stage("Network and reflector", "wire", from_ns, to_ns))
        return out

    def has_packet(self):
        return any(one["seq"] == self.seq for one in self.data["packets"])

    def cpus(self):
        """CPUs of the late stage, then that of the thread."""
        late = {one["cpu"] for one in self.late["sections"] if one["cpu"] is not None} if self.late else set()
        return [*sorted(late), *({self.data["cpu"]} - late)]


def read(path):
    """Host of a folder. Raises Bad with the line of rant if rant refuses the folder."""
    path = path if os.path.isabs(path) else os.path.join(".", path)
    ran = subprocess.run([logs.program("rant, which reads traces, is not in the folder of rant-plot and not in PATH"), "--explain", path, "--quiet", "--json", "-"], stdin=subprocess.DEVNULL,
                         capture_output=True, check=False)
    if not ran.stdout:
        lines = ran.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
        raise Bad(clean(lines.removeprefix(f"rant: --explain {path}: "), 400) or "rant --explain could not read it")
    try:
        return Host(path, json.loads(ran.stdout))
    except (ValueError, KeyError):
        raise Bad("rant --explain wrote no time line: another version of rant?") from None


# ---- Two hosts ----------------------------------------------------------------------------------------------------------

def differ(a, b):
    """True if two times by one clock are not of one packet. Whole seconds may differ: clocks of NICs run in TAI or UTC."""
    return abs((a - b + 5 * 10**8) % 10**9 - 5 * 10**8) > SAME_STAMP_NS


def offset(emit, reflect):
    """(offset, bound): the trace clock of the reflector less that of the emitter. A packet arrives after it was sent, in both
    directions: each packet that both hosts have limits the offset. None: no offset fits all of them."""
    low = high = None
    late = next(one for one in emit.data["packets"] if one["seq"] == emit.seq)
    others = {one["seq"]: one for one in reflect.data["packets"]}
    for e in emit.data["packets"]:
        r = others.get(e["seq"])
        if r is None:
            continue
        slack = e["bound_ns"] + r["bound_ns"] + RATE * abs(e["sent_ns"] - late["sent_ns"])
        least, most = r["sent_ns"] - e["received_ns"] - slack, r["received_ns"] - e["sent_ns"] + slack
        low, high = least if low is None else max(low, least), most if high is None else min(high, most)
    if low is None or low > high:
        return None
    return round((low + high) / 2), round((high - low) / 2) + 1


def why_not_a_pair(one, other):
    """The reason for which two folders are not of one breach; None: they are."""
    if one.role == other.role:
        return f"both are of the {ROLES[one.role]}: give one folder of each host"
    if one.run is not None and other.run is not None and one.run != other.run:  # an older rant has saved none
        return f"they are of different runs, {one.run} and {other.run}"
    if one.seq != other.seq:
        return f"they are of different packets, {one.seq} and {other.seq}"
    emit, reflect = (one, other) if one.role == "emit" else (other, one)
    if not emit.has_packet() or not reflect.has_packet():
        return f"packet {one.seq} cannot be placed in both traces: the relation of a NIC's clock or a time of the packet is not known"
    for name in ("T2_HW", "T3_HW"):
        if name in emit.stamps and name in reflect.stamps and differ(emit.stamps[name]["own_ns"], reflect.stamps[name]["own_ns"]):
            return f"{name} of packet {one.seq} is another time in each: they are of different runs"
    if offset(emit, reflect) is None:
        return "no offset of the clocks fits the packets of both: they are of different runs"
    return None


def read_all(paths):
    """([emitter, reflector] or [the only host], offset with its bound or None): the pair of one breach in these folders."""
    if len(paths) > FOLDERS_MAX:
        raise Bad(f"{len(paths)} folders: at most {FOLDERS_MAX} can be searched for a pair")
    hosts = []
    for path in paths:
        try:
            hosts.append(read(path))
        except Bad as error:
            raise Bad(f"{clean(path)}: {error}") from None
    if len(hosts) == 1:
        return hosts, None
    emitters, reflectors = ([host for host in hosts if host.role == role] for role in ROLES)
    pairs = [(e, r) for e in emitters for r in reflectors if why_not_a_pair(e, r) is None]
    if len(hosts) == 2 and not pairs:
        raise Bad(f"{clean(paths[0])} and {clean(paths[1])} do not belong together: {why_not_a_pair(*hosts)}")
    if len(pairs) != 1:
        names = ", ".join(f"{e.seq} of run {e.run or r.run or 'not known'}" for e, r in pairs[:8])
        raise Bad(f"{len(hosts)} folders: {f'{len(pairs)} pairs, of packets {names}: give two folders' if pairs else 'no two of them are of one breach'}")
    emit, reflect = pairs[0]
    between = offset(emit, reflect)
    reflect.shift_ns = between[0]
    return [emit, reflect], between
