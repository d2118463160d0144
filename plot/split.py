# SPDX-License-Identifier: GPL-2.0-or-later
"""Time of typical, p99 and worst samples by stage.

Percentiles of stages do not add up to the percentile of the whole. The means of the stages over the same samples do, so each split is
the mean over the samples near one percentile. Only a log has each sample; of other files the mean of all samples is known.
"""
import array
import re

from rant_results.records import Log, Refused

from words import Bad

TYPICAL, P99, WORST, MEAN = "typical", "p99", "worst", "mean"
FEWEST_P99 = 100  # samples, below which no sample is a p99
REMOTE_COLUMN = re.compile(r"# T[23]_\w+ is (T[23]_\w+) from here on")


class Split:
    """stages: [(name, mean_ns)] in the order of the path; whole_ns: mean latency of the same samples, samples: their number."""

    def __init__(self, name, stages, whole_ns, samples):
        self.name, self.stages, self.whole_ns, self.samples = name, stages, whole_ns, samples


def window(name, samples):
    """Ranks (first, last) from 0 of the samples near a percentile; None: too few samples."""
    if name == WORST:
        return samples - 1, samples - 1
    if name == P99:
        middle, half = -(-99 * samples // 100) - 1, samples // 1000
        return None if samples < FEWEST_P99 else (middle - half, middle + half)
    middle, half = (samples - 1) // 2, samples // 200
    return middle - half, middle + half


def difference(formula, columns):
    """(minuend, subtrahend) as columns of the log; RTT and RESPONSE are columns too. None: the log lacks one."""
    found = re.fullmatch(r"(\w+) - (\w+)", formula or "")
    return found.groups() if found and set(found.groups()) <= set(columns) else None


def records(path, wanted):
    """(column names, rows of the wanted columns, comments) of a log; wanted: a function of the names. No wanted columns: no rows."""
    with open(path, "rb") as file:
        try:
            log = Log(file)
            columns = wanted(log.columns)
            yield log.columns
            for row in log.records(columns) if columns else ():
                yield row
            yield log.comments
        except Refused as error:
            raise Bad(str(error)) from None


def latencies_of(path, latency):
    """Sorted latencies of a log, as a list of 64-bit numbers."""
    rows = records(path, lambda columns: [latency] if latency in columns else [])
    next(rows)
    return array.array("q", sorted(row[0] for row in rows if isinstance(row, tuple) and row[0] is not None and row[0] >= 0))


def of_log(path, stages, formulas, latency):
    """Splits of a log. stages: names in the order of the path; formulas: of each name; latency: the column of the whole.

    The log is read twice, so that only the samples near the percentiles are in memory.
    """
    whole = latencies_of(path, latency)
    bounds = {}
    for name in (TYPICAL, P99, WORST):
        ranks = window(name, len(whole)) if whole else None
        if ranks:
            bounds[name] = whole[ranks[0]], whole[ranks[1]], ranks[1] - ranks[0] + 1
    pairs, at, near = [], {}, {name: [] for name in bounds}

    def wanted(columns):
        pairs.extend(difference(formulas.get(one), columns) for one in stages)
        if not pairs or None in pairs:
            return []
        names = sorted({column for pair in pairs for column in pair} | {latency})
        at.update((column, i) for i, column in enumerate(names))
        return names

    comments = []
    for row in records(path, wanted):
        if not isinstance(row, tuple):
            comments = row
            continue
        value = row[at[latency]]
        for name, (low, high, most) in bounds.items():
            # Samples of the same latency may be more than the ranks of the window.
            if value is not None and low <= value <= high and len(near[name]) < most:
                near[name].append(row)
    if not at or any(REMOTE_COLUMN.match(line) for line in comments):
        return []
    splits = []
    for name, rows in near.items():
        rows = [row for row in rows if None not in row and all(row[at[minuend]] >= row[at[less]] for minuend, less in pairs)]
        if rows:
            means = [sum(row[at[minuend]] - row[at[less]] for row in rows) / len(rows) for minuend, less in pairs]
            splits.append(Split(name, list(zip(stages, means)), sum(row[at[latency]] for row in rows) / len(rows), len(rows)))
    return splits


def of_means(stages, statistics, figure):
    """The mean of all samples, where every stage has the same samples as the whole."""
    parts = [statistics[one] for one in stages]
    whole = statistics[figure]
    if not parts or any(part.samples != whole.samples or part.negative or part.mean_ns is None for part in parts):
        return []
    return [Split(MEAN, [(one, part.mean_ns) for one, part in zip(stages, parts)], whole.mean_ns, whole.samples)]
