# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares what contrib/wireshark/rant.lua shows of the cause TLV, type 245, with the example of docs/protocol.md. Prints a line for each fault.

  cause.py PROTOCOL.md CAPTURE LUA: writes the capture
"""
import re
import struct
import subprocess
import sys

FIELDS = {"asked": "asked", "state": "state", "class": "class", "stage": "stage", "share": "share", "seq": "seq", "cpu": "cpu",
          "stage_ns": "stage_ns", "ns": "ns", "name": "name"}
REQUEST = {"asked": ("True", "1"), "seq": ("4711",)}
REPLY = {"state": ("2",), "class": ("5",), "stage": ("1",), "share": ("97",), "seq": ("4711",), "cpu": ("1",), "stage_ns": ("512000",),
         "ns": ("498200",), "name": ("TIMER",)}


def examples(path):
    """The octets of both TLVs."""
    with open(path, encoding="utf-8") as file:
        text = file.read().partition("## The cause TLV")[2].partition("```")[2].partition("```")[0]
    request, reply = text.split("reply")
    return [bytes.fromhex(re.sub("[^0-9a-f]", "", one)) for one in (request.replace("request", ""), reply)]


def packet(tlv, is_reply):
    """Ethernet, IPv4, UDP, STAMP."""
    base = bytearray(44)
    base[12:14] = b"\x40\x01"
    udp = struct.pack(">HHHH", *((862, 4000) if is_reply else (4000, 862)), 8 + len(base) + len(tlv), 0) + base + tlv
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0, bytes((10, 0, 0, 1)), bytes((10, 0, 0, 2)))
    return bytes(12) + b"\x08\x00" + ip + udp


def main():
    document, capture, lua = sys.argv[1:]
    tlvs = examples(document)
    if [len(one) for one in tlvs] != [68, 68]:
        print(f"the examples have {[len(one) for one in tlvs]} octets")
    frames = [packet(tlvs[0], False), packet(tlvs[1], True), packet(tlvs[1][:40], True)]
    with open(capture, "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
        for one in frames:
            file.write(struct.pack("<IIII", 0, 0, len(one), len(one)) + one)
    command = ["tshark", "-r", capture, "-X", f"lua_script:{lua}", "-T", "fields", "-E", "separator=|"]
    command += [word for name in FIELDS.values() for word in ("-e", f"rant.cause.{name}")] + ["-e", "_ws.expert.message"]
    output = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if output.returncode or "Lua: Error" in output.stderr:
        print(f"tshark: {output.stderr.strip()[-300:]}")
    lines = [dict(zip((*FIELDS, "expert"), line.split("|"))) for line in output.stdout.splitlines()]
    if len(lines) != 3:
        print(f"{len(lines)} packets")
        return
    for one, wanted in zip(lines, (REQUEST, REPLY, {})):
        for name in FIELDS:
            if one[name] not in wanted.get(name, ("",)):
                print(f"{name} is {one[name]!r}, not {wanted.get(name)}")
    if not lines[2]["expert"] or lines[0]["expert"] or lines[1]["expert"]:
        print(f"a truncated TLV is not reported, or another is: {[one['expert'] for one in lines]}")


main()
