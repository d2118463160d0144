# SPDX-License-Identifier: GPL-2.0-or-later
"""Results of rant as pandas objects.

    import rant_results
    run = rant_results.load("run.json")      # also run.jsonl, run.log (text or csv), run.npy
    run.seconds.plot(y="p99_ns")
    run.records["RTT"].quantile(0.999)

Times stay whole nanoseconds (Int64). pandas is imported at the first use, so that records.py works without it.
"""
import json
import re

from .records import Log, Refused, flags_of_array, is_log

__all__ = ["Log", "Refused", "Result", "is_log", "load"]
SCHEMA_VERSIONS = (1, 2)  # no rant writes version 2 yet


class Result:
    """A result file. Absent parts are empty tables.

    kind        "json", "jsonl" or "log"
    data        the JSON object: of --jsonl its start and its summary merged; of a log {}
    records     one row for each record of a log
    seconds     one row for each second of the run
    statistics  one row for each latency: samples, min_ns, mean_ns, max_ns, stddev_ns, p50_ns, p99_ns ...
    histogram(name)  bucket starts and counts of a latency
    """

    def __init__(self, path, kind, data, records, seconds):
        self.path, self.kind, self.data, self.records, self.seconds = path, kind, data, records, seconds

    @property
    def statistics(self):
        import pandas

        rows = {}
        for name, part in self.data.get("statistics", {}).items():
            row = {key: value for key, value in part.items() if isinstance(value, (int, float)) and not isinstance(value, bool)}
            row.update((f"p{one['percent']:g}_ns".replace(".", "_"), one["value_ns"]) for one in part.get("percentiles", [])
                       if not one.get("bound"))
            rows[name] = row
        return pandas.DataFrame.from_dict(rows, orient="index").convert_dtypes()

    def histogram(self, name):
        import pandas

        part = self.data["statistics"][name].get("histogram") or {"buckets": [], "overflow": []}
        pairs = sorted([*part["buckets"], *part["overflow"]])
        return pandas.DataFrame(pairs, columns=["from_ns", "samples"]).groupby("from_ns", as_index=False).sum()


def _check(data):
    if not isinstance(data, dict) or data.get("format") != "rant":
        raise Refused("is not a result of rant")
    if data.get("schema_version") not in SCHEMA_VERSIONS:
        raise Refused(f"has schema version {data.get('schema_version')}: take the rant_results of the newer rant")
    return data


def _table(rows):
    import pandas

    return pandas.DataFrame(rows).convert_dtypes()


def _load_lines(path, file):
    start, summary, seconds = None, {}, []
    for line in file:
        if not line.endswith(b"\n"):
            raise Refused("is cut off within a line")
        part = json.loads(line)
        start = _check(part) if start is None else start
        if part.get("type") == "second":
            seconds.append({key: value for key, value in part.items() if not isinstance(value, (list, dict)) and key != "type"})
        elif part.get("type") == "summary":
            summary = part
    if not summary:
        raise Refused("has no summary as its last line: it is cut off, or the run has not ended")
    return Result(path, "jsonl", {**start, **summary}, _table([]), _table(seconds))


def _load_object(path, file):
    data = _check(json.load(file))
    seconds = [{key: value for key, value in part.items() if not isinstance(value, (list, dict))} for part in data.get("seconds") or []]
    return Result(path, "json", data, _table([]), _table(seconds))


def _load_array(path):
    import numpy
    import pandas

    try:
        array = numpy.load(path)
    except ValueError as error:
        raise Refused(str(error)) from None
    table = pandas.DataFrame({name: array[name] for name in array.dtype.names if name})
    for name in table.columns:
        if table[name].dtype == "int64":
            table[name] = table[name].astype("Int64").mask(array[name] == numpy.iinfo("int64").min)
    if "FLAGS" in table:
        table["FLAGS"] = table["FLAGS"].map({value: flags_of_array(int(value)) for value in table["FLAGS"].unique()})
    return table


def load(path):
    """A Result. Raises Refused for a file that rant did not write or that is cut off, OSError if it cannot be opened."""
    import pandas

    with open(path, "rb") as file:
        begin = file.read(4096)
        file.seek(0)
        try:
            if is_log(begin):
                log = Log(file)
                if log.form == "npy":
                    records = _load_array(path)
                else:
                    records = pandas.DataFrame(log.records(), columns=log.columns)
                    records = records.astype({name: "Int64" for name in log.columns if name != "FLAGS"})
                return Result(path, "log", {}, records, _table([]))
            if re.match(rb'\s*\{\s*"type"\s*:', begin):
                return _load_lines(path, file)
            return _load_object(path, file)
        except (ValueError, KeyError) as error:
            raise error if isinstance(error, Refused) else Refused(f"is not JSON, or cut off: {error}") from None
