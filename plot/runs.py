# SPDX-License-Identifier: GPL-2.0-or-later
"""A run, read from --json and --jsonl (docs/json.md), or from a log as --jsonl of --report. Times are whole nanoseconds.

Each member of a file is checked when it is read, so that a Run has the types that its comments state.
"""
import bisect
import itertools
import json
import os
import re
import stat

import logs
from words import Bad, PERCENTS, clean

SCHEMA_VERSION = 1
ENOUGH = 100  # samples that a 99th percentile of a second takes
EXACT_US, MOST_US = 10**3, 10**7  # --overflow up to which a histogram of --report has buckets of 1 ns, and its largest value


class Statistic:
    """Samples of one name. pairs: (start_ns, count) in order, each width_ns wide; None: only percentiles are known."""

    def __init__(self, name, formula=None, pairs=None, width_ns=1):
        self.name, self.formula, self.pairs, self.width_ns = name, formula, pairs, width_ns
        self.within_ns = None  # bound of each value; None: both timestamps are of one clock
        self.negative = 0  # number of samples below 0, which no other member contains
        self.unknown = 0  # number of samples that are in no pair
        self.above_all = True  # True: unknown samples are above every pair; False: they may be anywhere
        self.ends_ns = None  # from here on pairs are incomplete
        self.samples = self.max_ns = self.min_ns = self.mean_ns = None
        self.percentiles = []  # (percent, value_ns, is a bound, samples above)
        if pairs is not None:
            self._sums = list(itertools.accumulate(count for _, count in pairs))

    @property
    def known(self):
        return self._sums[-1] if self.pairs else 0

    @property
    def ranked(self):
        """Number of the smallest samples whose rank is certain: pairs from ends_ns on are incomplete."""
        if self.ends_ns is not None:
            return self.rank_below(self.ends_ns)
        return self.samples if self.above_all else self.known

    def at_rank(self, rank):
        """Value of the sample of this rank, counted from 1, among the samples in pairs."""
        return self.pairs[bisect.bisect_left(self._sums, rank)][0]

    def rank_below(self, ns):
        """Number of samples in pairs that begin below ns."""
        i = bisect.bisect_left(self.pairs, (ns,))
        return self._sums[i - 1] if i else 0

    def percentile(self, percent):
        """(value_ns, is a bound, samples above), or None."""
        return next((rest for one, *rest in self.percentiles if abs(one - percent) < 1e-9), None)

    def conclude(self):
        """Sets minimum, maximum, mean and percentiles (nearest rank) from pairs that contain all samples."""
        self.samples = self.known
        if not self.samples:
            return self
        self.min_ns, self.max_ns = self.pairs[0][0], self.pairs[-1][0]
        self.mean_ns = round(sum(value * count for value, count in self.pairs) / self.samples)
        self.percentiles = []
        for text in PERCENTS:
            whole, _, rest = text.partition(".")
            rank = -(-int(whole + rest) * self.samples // 10**(2 + len(rest)))
            if len(rest) < 3 or self.samples - rank >= 10:
                self.percentiles.append((float(text), self.at_rank(rank), False, self.samples - rank))
        return self


class Run:
    def __init__(self, path):
        self.path = path
        self.label = clean(os.path.basename(path).encode("utf-8", "replace").decode(), 60)
        self.name = self.label  # the label before a common prefix is cut
        self.colour, self.alone = 0, True  # number of its colour, and whether it is the only run of the picture
        self.is_log = False
        self.role = self.stamp = self.latency = self.figure = None
        self.interface = self.server = self.hostname = None
        self.began_unix_ns = self.duration_ns = None
        self.files = []  # (hostname, interface, began_unix_ns) of each file that --report merged; None: not known
        self.level = None  # of the verdict; None: the file has no verdict
        self.reasons = []
        self.statistics = {}
        self.seconds = None  # (from_ns, to_ns, p50_ns, p99_ns, max_ns), with None for too few samples; None: the file has no seconds
        self.why_no_seconds = ""
        self.losses = []  # (from_ns, to_ns, lost) of seconds with losses
        self.outages = []  # (from_ns, to_ns) after the start: the longest outage, the only one whose time a file has
        self.splits = None  # list of split.Split, filled by panels.splits_of()
        self.breaches = []  # (ns after the start, latency_ns) of breaches whose time is known
        self.breach_count = self.threshold_ns = None
        self.threshold_on = None
        self.accounts = {}  # rows of Packets, by name
        self.lost = None
        self.facts = []  # (what, text) for the table of the page
        self.notes = []  # (panels, data that they leave out, with the reason)

    @property
    def main(self):
        return self.statistics[self.figure]


# ---- Checks ---------------------------------------------------------------------------------------------------------

KINDS = {"text": str, "object": dict, "array": list, "flag": bool, "integer": int, "count": int, "number": (int, float)}
LARGEST = 2**64


def member(of, name, kind, none=False):
    """A member of an object. none: it may be null or absent."""
    if not isinstance(of, dict):
        raise Bad("has another value where an object should be")
    value = of.get(name)
    if value is None and none:
        return None
    if not isinstance(value, KINDS[kind]) or (isinstance(value, bool) and kind != "flag"):
        raise Bad(f"has no {kind} '{name}' where one should be")
    if kind in ("integer", "count", "number") and not (0 if kind == "count" else -LARGEST) <= value <= LARGEST:
        raise Bad(f"has a '{name}' that cannot be")
    return value


def pairs_of(of, name):
    """A list of [start_ns, count]."""
    pairs = member(of, name, "array")
    for pair in pairs:
        if not (isinstance(pair, list) and len(pair) == 2 and type(pair[0]) is int and type(pair[1]) is int and
                0 <= pair[0] < 2**63 and 0 < pair[1] < 2**63):
            raise Bad(f"has a pair in '{name}' that cannot be")
    return [tuple(pair) for pair in pairs]


def merged(pairs):
    """Pairs in order, with one pair for each start."""
    sums = {}
    for start, count in pairs:
        sums[start] = sums.get(start, 0) + count
    return sorted(sums.items())


def no_number(text):
    raise ValueError(f"{text} is not a number of JSON")


def parse(data):
    try:
        return json.loads(data, parse_constant=no_number)
    except RecursionError:
        raise Bad("is nested too deeply") from None
    except ValueError as error:
        raise Bad(f"is not JSON, or cut off: {clean(str(error), 80)}") from None


def check_format(of):
    if not isinstance(of, dict) or of.get("format") != "rant":
        raise Bad("is not a result of rant")
    version = member(of, "schema_version", "integer")
    if version != SCHEMA_VERSION:
        raise Bad(f"has schema version {version}, and this program reads {SCHEMA_VERSION}: take the rant-plot of the newer rant")


# ---- Members of both forms ------------------------------------------------------------------------------------------

def take_run(run, of):
    part = member(of, "run", "object")
    run.role = member(part, "role", "text")
    if run.role not in ("emit", "reflect"):
        raise Bad("has a role that is not known")
    run.figure = "rtt_ns" if run.role == "emit" else "response_ns"
    run.stamp = clean(member(part, "stamp", "text"), 20)
    run.latency = clean(member(part, "latency", "text"), 60)
    run.interface = clean(member(part, "interface", "text", none=True) or "", 20) or None
    run.server = clean(member(part, "server", "text", none=True) or "", 60) or None
    run.began_unix_ns = member(part, "began_unix_ns", "integer", none=True)
    run.duration_ns = member(part, "duration_ns", "count", none=True)


def take_verdict(run, of):
    part = member(of, "verdict", "object", none=True)
    if part is None:
        return
    run.level = member(part, "level", "text")
    if run.level not in ("trusted", "doubtful", "void"):
        raise Bad("has a verdict that is not known")
    for reason in member(part, "reasons", "array"):
        run.reasons.append((clean(member(reason, "name", "text")), clean(member(reason, "found", "text")),
                            clean(member(reason, "why", "text"), 400)))


def take_accounts(run, of):
    accounts = member(of, "accounts", "object")
    for name, number in member(accounts, "packets", "object").items():
        if number is not None and re.fullmatch("[a-z_]{1,40}", name):
            run.accounts[name] = member({name: number}, name, "count")
    run.lost = run.accounts.get("lost") if run.role == "emit" else None
    outage = member(accounts, "no_answer", "object", none=True) or {}
    longest, after = (member(outage, name, "count", none=True) for name in ("longest_ns", "longest_after_start_ns"))
    if longest and after is not None:
        run.outages = [(after, after + longest)]


def take_host(run, of):
    host, nic = member(of, "host", "object"), member(of, "nic", "object", none=True) or {}
    run.hostname = clean(member(host, "hostname", "text", none=True) or "", 60) or None
    for what, part, names in (("Host", host, ("hostname", "kernel", "machine", "cpu_model", "governor", "hypervisor")),
                              ("NIC", nic, ("interface", "driver", "driver_version", "firmware", "speed_mbps"))):
        known = [(name, part[name]) for name in names if isinstance(part.get(name), (str, int)) and part[name] != ""]
        run.facts.append((what, ", ".join(f"{name.replace('_', ' ')} {clean(str(value), 80)}" for name, value in known)))
    words = member(member(of, "configuration", "object"), "command_line", "array", none=True) or []
    run.facts.append(("Command line", clean(" ".join(str(word) for word in words), 1000)))


def take_files(run, of):
    for part in member(of, "read_from", "array", none=True) or []:
        run.files.append((clean(member(part, "hostname", "text", none=True) or "", 60) or None,
                          clean(member(part, "interface", "text", none=True) or "", 20) or None,
                          member(part, "began_unix_ns", "integer", none=True)))


def take_histogram(figure, of):
    part = member(of, "histogram", "object", none=True)
    if part is None:
        return
    not_kept = member(part, "overflow_not_kept", "count")
    by_bucket = not_kept and "overflow_buckets" in part
    pairs = merged(pairs_of(part, "buckets") + pairs_of(part, "overflow_buckets" if by_bucket else "overflow"))
    figure.__init__(figure.name, figure.formula, pairs, max(1, member(part, "bucket_ns", "count")))
    figure.unknown = 0 if by_bucket else not_kept
    if figure.unknown:
        figure.ends_ns = member(part, "overflow_from_ns", "count")


def take_statistics(run, of):
    for name, part in member(of, "statistics", "object").items():
        if not re.fullmatch("[a-z0-9_]{1,60}_ns", name):
            raise Bad("has a statistic of a name that cannot be")
        figure = Statistic(name, clean(member(part, "formula", "text", none=True) or "", 60))
        take_histogram(figure, part)
        figure.samples = member(part, "samples", "count")
        figure.negative = member(part, "negative", "count", none=True) or 0
        figure.within_ns = member(part, "within_ns", "count", none=True)
        for what in ("min_ns", "max_ns", "mean_ns"):
            setattr(figure, what, member(part, what, "count", none=figure.samples == 0))
        for one in member(part, "percentiles", "array"):
            figure.percentiles.append((float(member(one, "percent", "number")), member(one, "value_ns", "count"),
                                       member(one, "bound", "flag", none=True) or False, member(one, "samples_above", "count")))
        if figure.pairs is not None and figure.known + figure.unknown != figure.samples:
            raise Bad(f"has a histogram of {name} that does not add up to its samples")
        run.statistics[name] = figure
    if run.figure not in run.statistics:
        raise Bad(f"has no statistic {run.figure}")


def second_of(part):
    """(from_ns, to_ns, p50_ns, p99_ns, max_ns)"""
    from_ns, to_ns, samples = (member(part, name, "count") for name in ("from_ns", "to_ns", "samples"))
    p50_ns, p99_ns, max_ns = (member(part, name, "count", none=True) for name in ("p50_ns", "p99_ns", "max_ns"))
    return from_ns, to_ns, p50_ns, p99_ns if samples >= ENOUGH else None, max_ns


def loss_of(part):
    """[(from_ns, to_ns, lost)] of a second; empty without a loss."""
    lost = member(part, "lost", "count", none=True)
    return [(member(part, "from_ns", "count"), member(part, "to_ns", "count"), lost)] if lost else []


def stamp_to_realtime(of, run):
    """Offset of timestamps from CLOCK_REALTIME in ns; None: not known. Only timestamps of a NIC have one."""
    if run.stamp != "hardware":
        return 0
    clocks = member(of, "clocks", "object", none=True) or {}
    relation = member(clocks, "nic_clock", "object", none=True) or {}
    relation = member(relation, "minus_realtime", "object", none=True)
    return member(relation, "offset_ns", "integer") if relation else None


def place_breach(run, part, less_ns):
    """(ns after the start, latency_ns), or None if the time of its timestamps is not known."""
    stamps = member(part, "stamps", "object")
    names = [f"{t}_{kind}_ns" for t in (("t4", "t1") if run.role == "emit" else ("t3", "t2")) for kind in ("hw", "kernel", "sw")]
    at = next((member(stamps, name, "integer") for name in names if name in stamps), None)
    latency_ns = member(part, "latency_ns", "integer")
    if at is None or less_ns is None or run.began_unix_ns is None or latency_ns < 0:
        return None
    after_ns = at - less_ns - run.began_unix_ns
    # The start is computed from the clock at the end of the run, so that a second of error is possible.
    return (max(0, after_ns), latency_ns) if -10**9 < after_ns < (run.duration_ns or 0) + 10**9 else None


def place_breaches(run, parts, less_ns, count):
    placed = {(part.get("number"), part.get("seq")): place_breach(run, part, less_ns) for part in parts}
    run.breaches = sorted(where for where in placed.values() if where)
    run.breach_count = count
    if len(run.breaches) < count:
        run.notes.append((("time",), f"the file has the time of {len(run.breaches):,} of {count:,} breaches"))


# ---- The files --------------------------------------------------------------------------------------------------------

def read_json(run, data):
    of = parse(data)
    check_format(of)
    take_run(run, of)
    take_verdict(run, of)
    take_host(run, of)
    take_files(run, of)
    take_accounts(run, of)
    take_statistics(run, of)
    breaches = member(of, "breaches", "object", none=True)
    if breaches:
        parts = [member(breaches, name, "object", none=True) for name in ("first", "worst")] + member(breaches, "last", "array")
        run.threshold_ns = member(breaches, "threshold_ns", "count")
        run.threshold_on = member(breaches, "threshold_on", "text")
        place_breaches(run, [part for part in parts if part], stamp_to_realtime(of, run), member(breaches, "count", "count"))
    seconds = member(of, "seconds", "array", none=True)
    run.why_no_seconds = "it has no seconds: the run had no CPU for them, or an older rant wrote it: draw its --jsonl"
    if seconds is not None:
        run.seconds = [second_of(part) for part in seconds]
        run.losses = [loss for part in seconds for loss in loss_of(part)]
        leave_out_several(run, any(is_of_another(part) for part in seconds))
        note_left_out(run, sum(member(part, "not_in_percentiles", "count", none=True) or 0 for part in seconds), ("time",))


def is_of_another(part):
    """True for a second of a later run: --report merges several."""
    return (member(part, "run", "count", none=True) or 1) > 1


def leave_out_several(run, several):
    """Drops seconds of several runs, because their times overlap."""
    if several:
        run.seconds, run.why_no_seconds = None, "its seconds are of several runs: draw the file of each"
        run.losses, run.outages = [], []


def note_left_out(run, number, panels):
    if number:
        run.notes.append((panels, f"{number:,} samples are not in {', '.join(panels)}: more than the run could report while it ran"))


def json_lines(file):
    """Objects of the lines. Refuses a line that is cut off."""
    number = 0
    for number, line in enumerate(file, 1):
        try:
            if not line.endswith(b"\n"):
                raise Bad("is cut off")
            yield parse(line)
        except Bad as error:
            raise Bad(f"line {number} {error}") from None


def read_jsonl(run, file):
    lines = json_lines(file)
    first = next(lines)
    check_format(first)
    counts, left_out, breaches, last, has_buckets, width_ns, several = {}, 0, [], None, True, 1, False
    run.seconds = []
    for of in lines:
        kind = member(of, "type", "text")
        if last is not None:
            raise Bad("has lines after its summary: is it of more than one run?")
        if kind == "second":
            run.seconds.append(second_of(of))
            run.losses += loss_of(of)
            several = several or is_of_another(of)
            left_out += member(of, "not_in_percentiles", "count", none=True) or 0
            has_buckets = has_buckets and "buckets" in of and of.get("bucket_ns", 1) is not None
            width_ns = max(width_ns, member(of, "bucket_ns", "count", none=True) or 1)
            for start, count in pairs_of(of, "buckets") if has_buckets else ():
                counts[start] = counts.get(start, 0) + count
        elif kind == "breach":
            breaches.append(member(of, "breach", "object"))
        elif kind == "summary":
            last = of
    if last is None:
        raise Bad("has no summary as its last line: it is cut off, or the run has not ended")
    leave_out_several(run, several)
    conclude_jsonl(run, first, last, (merged(counts.items()) if has_buckets else []), width_ns, left_out)
    options = member(member(first, "configuration", "object"), "options", "object")
    run.threshold_ns = member(options, "threshold_ns", "count", none=True)
    if run.threshold_ns is not None:
        run.threshold_on = run.figure if options.get("threshold_on") in (None, "rtt", "response", run.figure) else "network_ns"
        place_breaches(run, breaches, stamp_to_realtime(last, run), len(breaches) + (member(last, "breaches_not_told", "count")))
    return last


def conclude_jsonl(run, first, last, pairs, width_ns, left_out):
    take_run(run, last)
    take_verdict(run, last)
    take_host(run, first)
    take_files(run, last)
    take_accounts(run, last)
    take_statistics(run, last)
    note_left_out(run, left_out, ("histogram", "percentiles", "time"))
    if run.seconds == []:
        run.seconds, run.why_no_seconds = None, "it has no seconds: the run had no CPU for them"
    if not pairs:
        return
    main = run.main
    figure = Statistic(main.name, main.formula, pairs, width_ns)
    for what in ("within_ns", "samples", "min_ns", "max_ns", "mean_ns", "percentiles"):
        setattr(figure, what, getattr(main, what))
    figure.unknown, figure.above_all = max(0, figure.samples - figure.known), False
    run.statistics[run.figure] = figure


# ---- Logs -------------------------------------------------------------------------------------------------------------

def stages_of_log(run):
    return [name for name in run.statistics if name != run.figure]


def lines_of_log(path, overflow_us, bucket):
    """The run from the lines of --report, and their summary."""
    run = Run(path)
    return run, logs.read(path, ["--overflow", str(overflow_us), "--bucket-size", bucket], lambda file: read_jsonl(run, file))


def place_long_stages(run, path):
    """Percentiles of stages above the range of the histogram, from a coarser histogram."""
    beyond = [name for name in stages_of_log(run) if any(bound for _, _, bound, _ in run.statistics[name].percentiles)]
    if beyond:
        longest_us = max(run.statistics[name].max_ns for name in beyond) // 1000 + 1
        coarse, _ = lines_of_log(path, min(longest_us, MOST_US), "10us")
        run.statistics.update((name, coarse.statistics[name]) for name in beyond)


def drop_strange(run):
    """Drops stages of a host whose user-space and NIC timestamps are of two clocks: some of them are below 0."""
    for remote in (False, True):
        mixed = [name for name in stages_of_log(run)
                 if name.startswith("remote_") == remote and name not in ("response_ns", "network_ns", "network_and_hosts_ns")]
        if any(run.statistics[name].negative * 100 > run.statistics[name].samples for name in mixed):
            host = "the other host" if remote else "this host"
            run.notes.append((("stages",), f"the stages of {host} are left out: its times are of two clocks"))
            for name in mixed:
                del run.statistics[name]
        elif negative := sum(run.statistics[name].negative for name in mixed):
            run.notes.append((("stages",), f"{negative:,} times of stages were below 0, and are left out"))


def read_log(path):
    run, last = lines_of_log(path, EXACT_US, "1ns")
    told = member(last, "read_from", "array")[0]
    run.is_log = True
    if not run.main.unknown:
        run.main.conclude()
    place_long_stages(run, path)
    drop_strange(run)
    if member(told, "stamps_changed", "flag", none=True):
        run.notes.append((("stages",), "the other host's stages are left out: its stamps were of two kinds"))
        run.statistics = {name: figure for name, figure in run.statistics.items() if not name.startswith("remote_")}
    run.statistics = {name: figure for name, figure in run.statistics.items() if figure.samples or name == run.figure}
    if run.seconds:
        run.began_unix_ns, run.duration_ns = member(told, "first_stamp_ns", "integer", none=True), run.seconds[-1][1]
        run.seconds = [row for row in run.seconds if row[4] is not None]
        run.seconds[-1:] = [(from_ns, to_ns + 1, *rest) for from_ns, to_ns, *rest in run.seconds[-1:]]
    if left_out := member(told, "left_out", "count", none=True):
        run.notes.append((None, f"{left_out:,} records were left out of the log"))
    return run


# ---- All of them ------------------------------------------------------------------------------------------------------

def read(path):
    """The run of a file. Raises Bad with one line without the name of the file."""
    run = Run(path)
    with open(path, "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise Bad("is not a regular file")
        begin = file.readline(1 << 20)
        file.seek(0)
        if not begin:
            raise Bad("is empty")
        if logs.is_log(begin):
            run = read_log(path)
        elif begin.lstrip()[:1] != b"{":
            raise Bad("is not a file of rant: give one of --json, --jsonl or --log")
        elif re.match(rb'\s*\{\s*"type"\s*:', begin):
            read_jsonl(run, file)
        else:
            read_json(run, file.read())
    if not run.main.samples:
        raise Bad("has no samples: there is nothing to draw")
    return run
