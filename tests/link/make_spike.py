# SPDX-License-Identifier: GPL-2.0-or-later
"""Folders of one breach at both hosts, as --save-trace writes them, with times that are known to the nanosecond.

make_spike.py FOLDER: writes FOLDER/emit and FOLDER/reflect, and the truth to FOLDER/truth.json. The softirq TIMER on CPU 1
of the reflector delays packet 500 between its interrupt and NET_RX.
"""
import json
import os
import sys

US = 1000
S = 10**9
SEQ = 500
RUN = "1f3a"
ORDINARY = 20
BOOT_NS = {"emit": 7000 * S, "reflect": 52000 * S}  # trace clock at the time 0 of this file
REAL_NS = {"emit": 1000 * S, "reflect": 2500 * S + 123_456_789}  # CLOCK_REALTIME; the hosts are not synchronised
NIC_NS = {"emit": 37 * S, "reflect": 5 * S}  # clock of the NIC minus CLOCK_REALTIME
PID = {"emit": 77, "reflect": 88}
LATE_US = (ORDINARY + 1) * 1000
SOFTIRQ_US = 258

# Times of a packet in microseconds after its begin; the late one has the softirq in addition from T2_KERNEL on.
PATH = {"T1_SW": 0, "T1_HW": 4, "T2_HW": 9, "T2_KERNEL": 12, "T2_SW": 15, "T3_SW": 16, "T3_HW": 20, "T4_HW": 25, "T4_KERNEL": 27, "T4_SW": 30}


def path(late):
    return {name: us + (SOFTIRQ_US if late and name >= "T2_KERNEL" and name not in ("T1_SW", "T1_HW", "T2_HW") else 0)
            for name, us in PATH.items()}


def host_of(name):
    return "emit" if name[1] in "14" else "reflect"


def stamp(name, us):
    """A time by the clock that takes it."""
    host = host_of(name)
    return us * US + REAL_NS[host] + (NIC_NS[host] if name.endswith("_HW") else 0)


def stamps(begin_us, late):
    return {name: stamp(name, begin_us + us) for name, us in path(late).items()}


def seconds(ns):
    return f"{ns // S}.{ns % S:09d}"


def events(role):
    """Lines (microsecond, task, pid, CPU, context, event)."""
    own, out = ("rant-loop", PID[role]), []
    out.append((500, *own, 2, ".", "local_timer_entry: vector=236"))
    out.append((500, *own, 2, "h", "local_timer_exit: vector=236"))
    out.append((500, "<idle>", 0, 1, ".", "cpu_idle: state=0 cpu_id=1"))
    for i in range(1, ORDINARY + 2):
        late = i == ORDINARY + 1
        us, times = i * 1000, path(late)
        at, sent = (times["T4_HW"], times["T1_SW"]) if role == "emit" else (times["T2_HW"], times["T3_SW"])
        out.append((us + at + 1, "<idle>", 0, 1, "h", "irq_handler_entry: irq=45 name=eth1-rx-1"))
        out.append((us + at + 1, "<idle>", 0, 1, "h", "irq_handler_exit: irq=45 ret=handled"))
        after = 0
        if late and role == "reflect":
            out += [(us + at + 1, "<idle>", 0, 1, "s", "softirq_entry: vec=1 [action=TIMER]"),
                    (us + at + 1, "<idle>", 0, 1, "s", "timer_expire_entry: timer=0 function=wb_timer_fn now=1"),
                    (us + at + 100, "<idle>", 0, 1, "H", "irq_handler_entry: irq=23 name=ahci"),
                    (us + at + 104, "<idle>", 0, 1, "H", "irq_handler_exit: irq=23 ret=handled"),
                    (us + at + 1 + SOFTIRQ_US, "<idle>", 0, 1, "s", "timer_expire_exit: timer=0"),
                    (us + at + 1 + SOFTIRQ_US, "<idle>", 0, 1, "s", "softirq_exit: vec=1 [action=TIMER]")]
            after = SOFTIRQ_US
        out += [(us + at + 2 + after, "<idle>", 0, 1, "s", "softirq_entry: vec=3 [action=NET_RX]"),
                (us + at + 3 + after, "<idle>", 0, 1, "s", "netif_receive_skb_entry: dev=eth1 len=240"),
                (us + at + 4 + after, "<idle>", 0, 1, "s", "sk_data_ready: family=2 protocol=17 func=sock_def_readable"),
                (us + at + 5 + after, "<idle>", 0, 1, "s", "softirq_exit: vec=3 [action=NET_RX]"),
                (us + sent + 1, *own, 2, ".", "net_dev_queue: dev=eth1 len=254"),
                (us + sent + 2, *own, 2, ".", "net_dev_start_xmit: dev=eth1 len=254")]
    return sorted(out, key=lambda line: line[0])


def marker(role, us, times):
    own = " ".join(f"{name}={seconds(ns)}" for name, ns in times.items())
    real, trace = us * US + REAL_NS[role], us * US + BOOT_NS[role]
    return (f"RANT_BREACH role={role} seq={SEQ} latency_ns={(PATH['T4_HW'] - PATH['T1_HW'] + SOFTIRQ_US) * US} threshold_ns=100000 "
            f"{own} REALTIME={seconds(real)} TAI={seconds(real + 37 * S)} MONOTONIC_RAW={seconds(trace)}")


def write(folder, role):
    marker_us = LATE_US + 400
    # The emitter has the remote times of the breach, which the peer reported.
    times = {name: ns for name, ns in stamps(LATE_US, True).items()
             if host_of(name) == role or (role == "emit" and name in ("T2_HW", "T3_HW"))}
    lines = [*events(role), (marker_us, "rant-loop", PID[role], 2, ".", "tracing_mark_write: " + marker(role, marker_us, times))]
    os.makedirs(folder)
    with open(os.path.join(folder, "all.txt"), "w", encoding="ascii") as file:
        file.write(f"# rant: trace of a breach of '{role}', sequence number {SEQ}\n# Trace clock: mono_raw\n"
                   "# Buffer: 100 KiB per CPU; events lost before the first lines, of all CPUs: 17\n#\n")
        for us, task, pid, cpu, context, event in lines:
            ns = us * US + BOOT_NS[role]
            file.write(f"{task:>16}-{pid:<7} [{cpu:03}] ..{context}.. {ns // S}.{ns % S // US:06}: {event}\n")
    # Another emitter measures with the same numbers, at other times.
    others = [{"seq": SEQ - ORDINARY + i, "run": "000b", **{name: ns for name, ns in stamps(i * 1000 - 7400, False).items() if host_of(name) == role}}
              for i in range(1, ORDINARY + 1)]
    packets = [{"seq": SEQ - ORDINARY - 1 + i, **{name: ns for name, ns in stamps(i * 1000, False).items() if host_of(name) == role}}
               for i in range(1, ORDINARY + 1)]
    with open(os.path.join(folder, "breach.json"), "w", encoding="ascii") as file:
        json.dump({"schema": 1, "role": role, "run": RUN, "seq": SEQ, "host_cpu": 2, "interface": "eth1",
                   "irqs": [{"irq": 45, "name": "eth1-rx-1"}],
                   "blame": "nic_to_kernel" if role == "reflect" else "remote_nic_to_kernel",
                   "relations": {"hw_minus_realtime_ns": NIC_NS[role], "hw_bound_ns": 200},
                   "packets": [*packets, *(others if role == "reflect" else ()), {"seq": SEQ, **times}]}, file)


def main():
    for role in ("emit", "reflect"):
        write(os.path.join(sys.argv[1], role), role)
    truth = {"seq": SEQ, "offset_ns": BOOT_NS["reflect"] - BOOT_NS["emit"], "softirq_ns": SOFTIRQ_US * US,
             "first_ns": BOOT_NS["emit"] + LATE_US * US,
             "late_ns": BOOT_NS["reflect"] + (LATE_US + PATH["T2_HW"]) * US}
    with open(os.path.join(sys.argv[1], "truth.json"), "w", encoding="ascii") as file:
        json.dump(truth, file)


if __name__ == "__main__":
    main()
