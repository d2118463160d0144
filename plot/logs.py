# SPDX-License-Identifier: GPL-2.0-or-later
"""Logs of rant (docs/report.md, "The log") in text, csv and npy, read once from the front: what is kept are counts of values, and the
samples of the seconds that are not over yet.
"""
import ast
import re
import struct

from words import Bad, clean

MAGIC = b"\x93NUMPY"
MISSING = -2**63
PLACES = {"HW": "nic", "KERNEL": "kernel"}
STAMPS = {"HW": "hardware", "KERNEL": "kernel", "SW": "user"}


def is_log(begin):
    """By the first line of a file."""
    return begin.startswith(MAGIC) or begin.split(b",")[0].split()[:1] == [b"SEQ"]


# ---- What is to be counted --------------------------------------------------------------------------------------------

def wire_of(names, times):
    """HW or KERNEL: what took the stamps of these; SW where only the program did."""
    for kind in ("HW", "KERNEL", "SW"):
        if all(f"{t}_{kind}" in names for t in times):
            return kind
    return None


def difference(names, to, of):
    return (to, of) if to in names and of in names else None


def stages_of(names, role):
    """{name: (column,) or (later, earlier)} of the stages, named as in docs/json.md, that the columns tell."""
    here = ("T1", "T4") if role == "emit" else ("T2", "T3")
    stages, wire, there = {}, wire_of(names, here), wire_of(names, ("T2", "T3")) or wire_of(names, ("T2",))
    if role == "reflect":
        if wire in PLACES:
            place = PLACES[wire]
            stages[f"{place}_to_app_ns"] = difference(names, "T2_SW", f"T2_{wire}")
            stages["app_processing_ns"] = difference(names, "T3_SW", "T2_SW")
            stages[f"app_to_{place}_ns"] = difference(names, f"T3_{wire}", "T3_SW")
    else:
        if wire in PLACES:
            place = PLACES[wire]
            stages[f"app_to_{place}_ns"] = difference(names, f"T1_{wire}", "T1_SW")
            stages[f"{place}_to_app_ns"] = difference(names, "T4_SW", f"T4_{wire}")
        if there in PLACES:
            place = PLACES[there]
            stages[f"remote_{place}_to_app_ns"] = difference(names, "T2_SW", f"T2_{there}")
            stages["remote_app_processing_ns"] = difference(names, "T3_SW", "T2_SW")
            stages[f"remote_app_to_{place}_ns"] = difference(names, f"T3_{there}", "T3_SW")
        if "RESPONSE" in names and "NETWORK" in names:
            stages["response_ns"] = ("RESPONSE",)
            stages["network_and_hosts_ns" if "SW" in (wire, there) else "network_ns"] = ("NETWORK",)
    return {name: columns for name, columns in stages.items() if columns}


def describe(run, names):
    """Sets what the columns tell of the run. Returns the columns of the latency and of the time of a sample."""
    latency = "RTT" if "RTT" in names else "RESPONSE"
    run.role = "emit" if latency == "RTT" else "reflect"
    begin, end = ("T1", "T4") if latency == "RTT" else ("T2", "T3")
    wire = wire_of(names, (begin, end))
    if latency not in names or not wire or len(set(names)) != len(names):
        raise Bad("is no log of rant: it has other columns")
    run.figure = "rtt_ns" if latency == "RTT" else "response_ns"
    run.stamp, run.latency = STAMPS[wire], f"{latency} = {end}_{wire} - {begin}_{wire}"
    return latency, f"{end}_{wire}"


# ---- Rows -------------------------------------------------------------------------------------------------------------

class Source:
    """rows(columns): of each record the values of these columns, None where one is missing. left_out: of records that are not there.
    changed: the stamps of the other host were of another kind from some record on."""

    left_out, changed = 0, False


class Lines(Source):
    def __init__(self, file):
        self.file = file
        begin = file.readline()
        self.is_csv = begin.startswith(b"SEQ,")
        self.names = [clean(name.decode("ascii", "replace"), 30) for name in (begin.strip().split(b",") if self.is_csv else begin.split())]
        if not self.is_csv and set(file.readline().strip()) != set(b"-"):
            raise Bad("is no log of rant: it has no rule below its header")

    def _comment(self, line):
        found = re.match(rb"# (\d{1,18}) records left out", line)
        if re.fullmatch(rb"# T[23]_[A-Z]+ is T[23]_[A-Z]+ from here on\n", line):
            self.changed = True
            return
        if re.fullmatch(rb"# SEQ \d{1,10} was received again\n", line):
            return
        if not found:
            raise Bad("has a line that is no record")
        self.left_out += int(found[1])

    def rows(self, columns):
        at = [(self.names.index(column), column[0] == "T") for column in columns]
        separator, missing = (b",", b"") if self.is_csv else (None, b"-")
        fields, number, last = len(self.names), 1 if self.is_csv else 2, b"\n"
        for number, last in enumerate(self.file, number + 1):
            if last[:1] == b"#":
                self._comment(last)
                continue
            words = last.rstrip(b"\n").split(separator)
            try:
                if len(words) != fields:
                    raise ValueError
                yield [None if words[i] == missing else int(words[i].replace(b".", b"") if is_time else words[i]) for i, is_time in at]
            except ValueError:
                if last.endswith(b"\n"):
                    raise Bad(f"line {number} is no record of its {fields} columns") from None
        if not last.endswith(b"\n"):
            raise Bad(f"line {number} is cut off: the run was killed. Without that line it can be read")


class Array(Source):
    def __init__(self, file):
        self.file = file
        try:
            if file.read(8) != MAGIC + b"\1\0":
                raise ValueError
            header = ast.literal_eval(file.read(struct.unpack("<H", file.read(2))[0]).decode("ascii"))
            self.fields = [(str(name), str(kind)) for name, kind in header["descr"]]
            self.records, = header["shape"]
            if header["fortran_order"] or type(self.records) is not int:
                raise ValueError
        except (ValueError, TypeError, KeyError, SyntaxError, RecursionError, MemoryError, struct.error):
            raise Bad("is no array of records of NumPy, version 1.0") from None
        self.names = [name for name, _ in self.fields if name]

    def _form(self, columns):
        """For struct, with what is not wanted left out; and the columns in the order of the file."""
        letters, order, found = {"u2": "H", "u4": "I", "i8": "q"}, "", []
        form = ""
        for name, kind in self.fields:
            if re.fullmatch(r"\|V\d{1,4}", kind):
                form += f"{kind[2:]}x"
                continue
            if kind[1:] not in letters or kind[0] not in "<>" or order not in ("", kind[0]):
                raise Bad("is no log of rant: it has fields of other kinds")
            order = kind[0]
            wanted = name in columns or name == "LEFT_OUT"
            form += letters[kind[1:]] if wanted else f"{kind[2:]}x"
            found += [name] if wanted else []
        return (order or "<") + form, found

    def rows(self, columns):
        form, found = self._form(columns)
        if "LEFT_OUT" not in found:
            raise Bad("is no log of rant: it has other columns")
        at, left_out, size, records = [found.index(column) for column in columns], found.index("LEFT_OUT"), struct.calcsize(form), 0
        while block := self.file.read(size * 16384):
            if len(block) % size:
                raise Bad("is cut off in a record: the run was killed. The next run with that name mends it")
            records += len(block) // size
            for record in struct.iter_unpack(form, block):
                self.left_out += record[left_out]
                yield [None if record[i] == MISSING else record[i] for i in at]
        if records != self.records:
            raise Bad(f"has {records} records, and its header says {clean(str(self.records), 30)}: it is cut off, or still written")


# ---- Seconds ----------------------------------------------------------------------------------------------------------

class Seconds:
    """Samples by the second in which they ended, counted from the first one. A second is over when two later ones have begun."""

    OPEN = 3

    def __init__(self, enough):
        self.enough = enough
        self.first_ns, self.open, self.done, self.misplaced, self.next = None, {}, {}, 0, 0

    def begin(self, index):
        """The list for samples of this second; None: it is over, or before the first."""
        if index < self.next:
            return None
        samples = self.open.setdefault(index, [])
        while len(self.open) > self.OPEN:
            self._end(min(self.open))
        return samples

    def _end(self, index):
        samples = sorted(self.open.pop(index))
        n = len(samples)
        self.next = max(self.next, index + 1)
        if n:
            p99 = samples[-(-n * 99 // 100) - 1] if n >= self.enough else None
            self.done[index] = (index * 10**9, (index + 1) * 10**9, samples[-(-n // 2) - 1], p99, samples[-1])

    def all(self):
        """In order; one without a sample is not there."""
        for index in sorted(self.open):
            self._end(index)
        return [self.done[index] for index in sorted(self.done)]


def count_rows(rows, differences, enough):
    """Counts of the latency and of each difference, and the seconds. rows: latency, time, and what the differences index."""
    counts, others, seconds = {}, [{} for _ in differences], Seconds(enough)
    begin_ns = end_ns = last_ns = 0
    samples = None
    for row in rows:
        latency, at = row[0], row[1]
        if latency is None or latency < 0:
            raise Bad("has a record without a latency, or with one below 0")
        counts[latency] = counts.get(latency, 0) + 1
        if at is None:
            seconds.misplaced += 1
            continue
        if not begin_ns <= at < end_ns:
            if seconds.first_ns is None:
                seconds.first_ns = at
            index = (at - seconds.first_ns) // 10**9
            begin_ns = seconds.first_ns + index * 10**9
            end_ns = begin_ns + 10**9
            samples = seconds.begin(index)
        if samples is None:
            seconds.misplaced += 1
        else:
            samples.append(latency)
        last_ns = max(last_ns, at)
        for count, one in zip(others, differences):
            value = row[one[0]]
            if len(one) == 2 and value is not None:
                value = None if row[one[1]] is None else value - row[one[1]]
            if value is not None:
                value = max(value, -1)
                count[value] = count.get(value, 0) + 1
    return counts, others, seconds, last_ns


def drop_strange(run, stages, others):
    """Of user space and of the NIC are times of one clock, or a part of the stages is below 0: then those of that host are left out.
    Counts of -1 stand for all below 0."""
    negative = dict(zip(stages, (count.pop(-1, 0) for count in others)))
    for remote in (False, True):
        mixed = [name for name in stages if len(stages[name]) == 2 and name.startswith("remote_") == remote]
        if any(negative[name] * 100 > sum(count.values()) for name, count in zip(stages, others) if name in mixed):
            host = "the other host" if remote else "this host"
            run.notes.append((("stages",), f"the stages of {host} are left out: its times are of two clocks"))
            for count in (count for name, count in zip(stages, others) if name in mixed):
                count.clear()
        elif sum(negative[name] for name in mixed):
            run.notes.append((("stages",), f"{sum(negative[name] for name in mixed):,} times of stages were below 0, and are left out"))


def read_log(run, file, statistic, enough):
    """Sets all of `run` that a log tells. statistic: the class of figures. enough: samples that a 99th percentile of a second takes."""
    begin = file.read(len(MAGIC))
    file.seek(0)
    source = (Array if begin == MAGIC else Lines)(file)
    latency, time = describe(run, source.names)
    stages = stages_of(source.names, run.role)
    columns = [latency, time, *sorted({column for pair in stages.values() for column in pair})]
    differences = [tuple(columns.index(column, 2) for column in pair) for pair in stages.values()]
    counts, others, seconds, last_ns = count_rows(source.rows(columns), differences, enough)
    if max(counts, default=0) >= 2**63:
        raise Bad("has a latency that cannot be")
    run.is_log = True
    drop_strange(run, stages, others)
    if source.changed:
        run.notes.append((("stages",), "the other host's stages are left out: its stamps were of two kinds"))
        for one, count in zip(stages, others):
            if one.startswith("remote_"):
                count.clear()
    for name, count in ((run.figure, counts), *zip(stages, others)):
        if count or name == run.figure:
            formula = " - ".join(stages[name]) if name != run.figure else run.latency.partition(" = ")[2]
            run.statistics[name] = statistic(name, formula, sorted(count.items())).conclude()
    if seconds.first_ns is not None:
        run.began_unix_ns, run.duration_ns = seconds.first_ns, last_ns - seconds.first_ns
        run.seconds = [(row[0], min(row[1], run.duration_ns + 1), *row[2:]) for row in seconds.all()]
    if source.left_out:
        run.notes.append((None, f"{source.left_out:,} records were left out of the log"))
    if seconds.misplaced:
        run.notes.append((("time",), f"{seconds.misplaced:,} samples are in no second: they have no time, or one of a second that was over"))
