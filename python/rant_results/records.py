# SPDX-License-Identifier: GPL-2.0-or-later
"""Records of a log of rant (docs/report.md, "The log"): text, csv and npy, read with Python's standard library alone.

Times and latencies are whole nanoseconds, because a double rounds a point in time to 256 ns. A missing value is None.
"""
import ast
import struct

MAGIC = b"\x93NUMPY"
MISSING = -2**63  # in an array
WORDS = ("FLAGS",)  # columns that are not numbers
FLAGS_OF_ARRAY = ("", "-", "lost", "unknown", "untold", "mixed", "end", "stepped")  # by the lower octet
UNPLACED = 0x100
_STRUCT = {"u1": "B", "i1": "b", "u2": "H", "i2": "h", "u4": "I", "i4": "i", "u8": "Q", "i8": "q"}


class Refused(ValueError):
    """A file that cannot be read, as one line without its name."""


def is_log(begin):
    """True if a file with these first octets is a log."""
    return begin.startswith(MAGIC) or begin.split(b"\n")[0].split(b",")[0].split()[:1] == [b"SEQ"]


def nanoseconds(text):
    """Exact value of a field of a text log: seconds with nine digits are a point in time."""
    whole, point, fraction = text.partition(".")
    return int(whole + fraction) if point else int(whole)


def flags_of_array(value):
    words = [FLAGS_OF_ARRAY[value & 0xff] if value & 0xff < len(FLAGS_OF_ARRAY) else "untold"] if value & 0xff > 1 else []
    return ",".join(words + ["unplaced"] * bool(value & UNPLACED)) or "-"


class Log:
    """An open log: its form (text, csv or npy), the names of its columns, its comments and its records in the order of the file."""

    def __init__(self, file):
        self._file = file
        self.comments = []  # lines that begin with #, complete after all records were read
        self.left_out = 0  # records that the log writer left out, complete after all records were read
        if file.read(len(MAGIC)) == MAGIC:
            self.form = "npy"
            self._read_header_of_array()
            return
        file.seek(0)
        head = file.readline()
        self.form = "csv" if b"," in head else "text"
        try:
            self.columns = [name.strip() for name in (head.decode().split(",") if self.form == "csv" else head.decode().split())]
        except UnicodeDecodeError:
            self.columns = []
        if self.columns[:1] != ["SEQ"] or not head.endswith(b"\n"):
            raise Refused("is not a log of rant: its first line does not name the columns")
        if self.form == "text":
            file.readline()  # the rule of dashes

    def _read_header_of_array(self):
        version = self._file.read(2)
        size_format = "<H" if version[:1] == b"\x01" else "<I"
        try:
            length, = struct.unpack(size_format, self._file.read(struct.calcsize(size_format)))
            header = ast.literal_eval(self._file.read(length).decode("latin-1").strip())
            fields, self._records = header["descr"], header["shape"][0]
            order, names, codes = "<", [], ""
            for name, kind in fields:
                if kind[1] == "V":
                    codes += f"{int(kind[2:])}x"
                    continue
                order = ">" if kind[0] == ">" else order
                names.append(name)
                codes += _STRUCT[kind[1:]]
        except (struct.error, ValueError, SyntaxError, KeyError, TypeError, IndexError, MemoryError, RecursionError):
            raise Refused("is not a log of rant: the header of the array cannot be read") from None
        if names[:1] != ["SEQ"] or header.get("fortran_order"):
            raise Refused("is not a log of rant: the fields of the array are not those of a log")
        self.columns, self._struct = names, struct.Struct(order + codes)
        self._data = self._file.tell()

    def _array(self, wanted):
        at = [self.columns.index(name) for name in wanted]
        flags = {i for i, name in enumerate(wanted) if name == "FLAGS"}
        lost_at = self.columns.index("LEFT_OUT") if "LEFT_OUT" in self.columns else None
        self._file.seek(self._data)
        for _ in range(self._records):
            data = self._file.read(self._struct.size)
            if len(data) < self._struct.size:
                raise Refused("is cut off: it has fewer records than its header states")
            row = self._struct.unpack(data)
            if lost_at is not None:
                self.left_out += row[lost_at]
            yield tuple(flags_of_array(row[k]) if i in flags else None if row[k] == MISSING else row[k] for i, k in enumerate(at))

    def _lines(self, wanted):
        at = [(self.columns.index(name), name in WORDS) for name in wanted]
        comma, number = ("," if self.form == "csv" else None), (int if self.form == "csv" else nanoseconds)
        for line in self._file:
            text = line.decode("utf-8", "replace")
            if text.startswith("#"):
                self.comments.append(text.strip())
                words = text.split()
                self.left_out += int(words[1]) if words[2:5] == ["records", "left", "out"] and words[1].isdigit() else 0
                continue
            fields = text.split(comma)
            if len(fields) != len(self.columns) or not text.endswith("\n"):
                raise Refused("has a line with another number of columns than its first line")
            try:
                yield tuple(fields[k].strip().replace(";", ",") if word else None if fields[k].strip() in ("", "-") else number(fields[k])
                            for k, word in at)
            except ValueError:
                raise Refused("has a line with something else where a number should be") from None

    def records(self, wanted=None):
        """Tuples of the wanted columns (all columns if None). Can be called once."""
        wanted = self.columns if wanted is None else wanted
        return self._array(wanted) if self.form == "npy" else self._lines(wanted)
