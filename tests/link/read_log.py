# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads logs in each form, and compares those of both ends of one run. Prints a line for each fault.

  read_log.py EMITTER REFLECTOR NAMES_EMITTER NAMES_REFLECTOR

The form is seen from the file. NAMES: of the columns, as a text log of the same options has them, with blanks between.
"""
import ast
import re
import struct
import sys

MISSING = -2**63


def nanoseconds(text):
    """Of a text log; no float, which is too coarse."""
    if text == "-":
        return None
    seconds, dot, rest = text.partition(".")
    return int(seconds) * 10**9 + int(rest) if dot else int(text)


def read_lines(lines, is_csv):
    def split(line):
        return line.split(",") if is_csv else line.split()

    names, rows = split(lines[0]), []
    for line in lines[1 if is_csv else 2:]:
        if not line.startswith("# "):
            fields = split(line)
            if len(fields) != len(names):
                raise ValueError(f"has {len(fields)} fields: {line}")
            rows.append({name: text if name == "FLAGS" else None if text == "" else nanoseconds(text)
                         for name, text in zip(names, fields)})
    return names, rows


def read_npy(path, data):
    """By the description of the format, and by NumPy where that is."""
    if data[6:8] != b"\1\0":
        raise ValueError("is not of version 1.0")
    length = struct.unpack("<H", data[8:10])[0]
    header = ast.literal_eval(data[10:10 + length].decode("latin1"))
    if length + 10 != 1024 or data[length + 9:length + 10] != b"\n" or header["fortran_order"]:
        raise ValueError(f"has a header of {length} octets: {header}")
    form, names = "<", []
    for name, kind in header["descr"]:
        form += {"<u4": "I", "<u2": "H", "<i8": "q"}.get(kind) or kind.replace("|V", "") + "x"
        names += [name] if name else []
    size = struct.calcsize(form)
    if size != (128 if "FLAGS" in names else 64):
        raise ValueError(f"has records of {size} octets")
    if header["shape"] != ((len(data) - 1024) // size,) or (len(data) - 1024) % size:
        raise ValueError(f"has the shape {header['shape']}, and {len(data) - 1024} octets")
    rows = [{name: None if value == MISSING else value for name, value in zip(names, record)}
            for record in struct.iter_unpack(form, data[1024:])]
    try:
        import numpy
    except ImportError:
        return names, rows
    array = numpy.load(path)
    if list(name for name, _ in header["descr"] if name) != [n for n in array.dtype.names if n in names] or \
       [int(seq) for seq in array["SEQ"]] != [row["SEQ"] for row in rows]:
        raise ValueError("is not what NumPy reads")
    return names, rows


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    if data.startswith(b"\x93NUMPY"):
        return read_npy(path, data)
    if not data.endswith(b"\n"):
        raise ValueError("does not end with a newline")
    lines = data.decode("ascii").split("\n")[:-1]
    return read_lines(lines, lines[0].startswith("SEQ,"))


def check_names(names, want):
    if "LEFT_OUT" in names:  # an array has its fields in an order of its own
        names, want = sorted(names), sorted([*want, "LEFT_OUT"])
    if names != want:
        raise ValueError(f"has the columns {' '.join(names)}, not {' '.join(want)}")


def check_record(row, before):
    wire = [name for name in row if re.fullmatch("T[1234]_KERNEL", name)]
    here = [name for name in wire if name[1] in ("14" if "RTT" in row else "23")]
    if row["SEQ"] <= before:
        raise ValueError(f"#{row['SEQ']} comes after #{before}")
    if None in (row[name] for name in here) or row[here[1]] - row[here[0]] != row.get("RTT", row.get("RESPONSE")):
        raise ValueError(f"#{row['SEQ']}: the latency is not {here[1]} - {here[0]}: {row}")
    if row.get("LEFT_OUT"):
        raise ValueError(f"#{row['SEQ']}: {row['LEFT_OUT']} are left out before it")


def check_pair(e, r):
    """What the replies told of a record is what the reflector has of it."""
    common = [name for name in r if name in e and name not in ("SEQ", "LEFT_OUT")]
    if len(common) < 3:
        raise ValueError(f"only {common} are in both logs")
    for name in common:
        if e[name] != r[name] and not (e[name] is None and e["FLAGS"] not in (1, "-")):
            raise ValueError(f"#{e['SEQ']}: {name} is {e[name]}, the reflector's log has {r[name]}")


def compare(paths, wanted):
    logs = []
    for path, want in zip(paths, wanted):
        try:
            names, rows = read(path)
            check_names(names, want.split())
            for i, row in enumerate(rows):
                check_record(row, rows[i - 1]["SEQ"] if i else -1)
        except (ValueError, KeyError, IndexError, OSError) as error:
            return f"{path.split('/')[-1]} {error}"
        logs.append({row["SEQ"]: row for row in rows})
    both = [seq for seq in logs[0] if seq in logs[1]]
    if len(both) < 100 or len(both) < 0.9 * len(logs[0]):
        return f"only {len(both)} records of {len(logs[0])} are in both"
    try:
        for seq in both:
            check_pair(logs[0][seq], logs[1][seq])
    except ValueError as error:
        return str(error)
    return None


fault = compare(sys.argv[1:3], sys.argv[3:5])
if fault:
    print(fault)
