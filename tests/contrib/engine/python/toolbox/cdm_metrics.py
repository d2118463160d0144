# SPDX-License-Identifier: GPL-2.0-or-later
"""In place of the engine's library of that name (perftool-incubator/toolbox, python/toolbox/cdm_metrics.py): the same calls, the same two files,
and nothing is let pass. With ENGINE_BEFORE in the environment it is as that was before descriptions were checked: files in the folder
itself, and no class for latencies."""
import json
import lzma
import os

CLASSES = {"throughput", "count", "latency", "pass/fail", "boolean", "percentage"}
BEFORE = "ENGINE_BEFORE" in os.environ


def validate_metric_desc(desc):
    if desc["class"] not in CLASSES or desc.get("default-aggregation", "avg") not in ("sum", "avg", "max", "min"):
        raise ValueError(f"not a description: {desc}")


class CDMMetrics:
    def __init__(self):
        self.described, self.rows, self.at = [], [], {}

    def log_sample(self, file_id, desc, names, sample):
        keys = {"source", "type", "class"} | (set() if BEFORE else {"default-aggregation"})
        if set(desc) != keys or (BEFORE and desc["class"] not in ("throughput", "count")):
            raise ValueError(f"described by {desc}")
        validate(desc)
        if file_id != "0" or names or set(sample) != {"begin", "end", "value"}:
            raise ValueError(f"{desc['type']}: {file_id} {names} {sample}")
        if not all(isinstance(sample[key], int) for key in ("begin", "end")) or not isinstance(sample["value"], (int, float)):
            raise ValueError(f"{desc['type']}: no numbers: {sample}")
        index, last = self.at.get(desc["type"], (len(self.described), -1))
        if not last < sample["begin"] <= sample["end"]:
            raise ValueError(f"{desc['type']}: {sample} does not come after {last}")
        if index == len(self.described):
            self.described.append({"idx": index, "desc": desc, "names": names})
        self.at[desc["type"]] = (index, sample["end"])
        self.rows.append((index, sample["begin"], sample["end"], sample["value"]))

    def finish_samples(self, dont_delete=False):
        if not dont_delete:
            raise ValueError("a metric that is 0 would not be there")
        path = os.path.join("." if BEFORE else "postprocess", "metric-data-0")
        with lzma.open(path + ".json.xz", "wt") as file:
            json.dump(self.described, file)
        with lzma.open(path + ".csv.xz", "wt") as file:
            file.writelines(",".join(map(str, row)) + "\n" for row in self.rows)
        return "metric-data-0"


validate = validate_metric_desc
if BEFORE:
    del validate_metric_desc
