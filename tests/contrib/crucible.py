# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks contrib/crucible against the schemas of the engine, and its metrics against the results. Prints a line for
each fault. Of perftool-incubator: rickshaw schema/benchmark.json (205573d), schema/bench-metric.json (c8df93b); multiplex
JSON/req-schema.json (0c68f3a); workshop schema.json (09a363e).

  crucible.py files CONTRIB OPTIONS.C        rickshaw.json, multiplex.json, workshop.json, and what they name
  crucible.py metrics RESULTS FOLDER         what rant-post-process has made in FOLDER out of the JSON RESULTS
"""
import json
import lzma
import os
import re
import sys

import jsonschema

TEXT = {"type": "string", "minLength": 1}


def closed(required, /, **more):
    """Schema of an object with required and optional members, and no others."""
    return {"type": "object", "required": list(required), "properties": {**required, **more}, "additionalProperties": False}


def version(*known):
    return closed({"schema": closed({"version": {"enum": list(known)}})})


def array(items, **more):
    return {"type": "array", "items": items, **more}


COPY = closed({"src": TEXT, "dest": TEXT}, required={"type": "boolean"})
BENCHMARK = closed(
    {"rickshaw-benchmark": version("2020.05.18"), "benchmark": TEXT, "controller": closed({"post-script": TEXT}, **{"pre-script": TEXT}),
     "client": closed({"files-from-controller": array(COPY), "runtime": TEXT, "start": TEXT},
                      **{"client-server-ratio": TEXT, "infra": TEXT, "param_regex": array(TEXT)})},
    server=closed({"files-from-controller": array(COPY), "start": TEXT, "stop": TEXT}, param_regex=array(TEXT), required={"type": "boolean"}))

VALUES = array(TEXT, minItems=1, uniqueItems=True)
PARAMETER = closed({"arg": TEXT, "vals": VALUES}, role={"enum": ["client", "server", "all"]}, enabled={"enum": ["yes", "no"]},
                   id={"type": "string", "pattern": "^[1-9][0-9]*$"})
VALIDATION = closed({"args": VALUES, "vals": TEXT}, description=TEXT, convert=TEXT)
MULTIPLEX = closed({"validations": {"type": "object", "additionalProperties": VALIDATION}},
                   presets={"type": "object", "additionalProperties": array(PARAMETER, minItems=1, uniqueItems=True)})

PACKAGES = closed({"packages": array(TEXT, minItems=1)})
REQUIREMENT = {"oneOf": [
    closed({"name": TEXT, "type": {"const": "distro"}, "distro_info": PACKAGES}),
    closed({"name": TEXT, "type": {"const": "manual"}, "manual_info": closed({"commands": VALUES})}),
    closed({"name": TEXT, "type": {"const": "files"}, "files_info": closed({"files": array(closed({"src": TEXT, "dst": TEXT}))})}),
]}
WORKSHOP = closed({"workshop": version("2020.03.02", "2020.04.30", "2022.07.25", "2023.02.16", "2024.03.22", "2024.08.07"),
                   "userenvs": array(closed({"name": TEXT, "requirements": array(TEXT)}), minItems=1, uniqueItems=True),
                   "requirements": array(REQUIREMENT, uniqueItems=True)})

DESCRIBED = closed({"rickshaw-bench-metric": version("2021.04.12"), "periods": array(closed({"name": TEXT, "metric-files": array({"type": "string"})}))},
                   **{"benchmark": {"type": "string"}, "primary-metric": {"type": "string"}, "primary-period": {"type": "string"}})


def load(folder, name, rules):
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        data = json.load(file)
    for error in jsonschema.Draft7Validator(rules).iter_errors(data):
        print(f"{name}: {'/'.join(map(str, error.absolute_path))}: {error.message}")
    return data


# ---- The definition --------------------------------------------------------------------------------------------------

def check_scripts(folder, bench):
    """Each script that the engine runs exists, and is copied to the engine."""
    for role, runs in (("client", ("runtime", "start")), ("server", ("start", "stop"))):
        copied = {os.path.basename(one["src"]) for one in bench[role]["files-from-controller"]}
        for script in [bench[role][what] for what in runs]:
            if script not in copied:
                print(f"rickshaw.json: {script} is not copied to the {role}")
            if not os.access(os.path.join(folder, script), os.X_OK):
                print(f"{script} cannot be run")
        for name in copied:
            if not os.path.exists(os.path.join(folder, name)):
                print(f"rickshaw.json: {name} is not there")
    script = bench["controller"]["post-script"].replace("%bench-dir%", folder + "/")
    if not os.access(script, os.X_OK):
        print(f"{script} cannot be run")


def check_parameters(folder, multiplex, options):
    """multiplex.json and rant-base have the same parameters, for existing options, with valid presets."""
    with open(os.path.join(folder, "rant-base"), encoding="utf-8") as file:
        table = re.search(r"^parameters='\n(.*?)^'", file.read(), re.M | re.S)[1]
    rows = [line.split() for line in table.splitlines()]
    allowed = {}
    for rule in multiplex["validations"].values():
        for name in rule["args"]:
            if allowed.setdefault(name, rule["vals"]) is not rule["vals"]:
                print(f"multiplex.json: {name} has two rules")
    for name in {row[0] for row in rows} ^ set(allowed):
        print(f"{name} is not in both of multiplex.json and rant-base")
    with open(options, encoding="utf-8") as file:
        source = file.read()
    for name, role, option in rows:
        if option != "-" and f'"{option.strip("-!")}"' not in source:
            print(f"rant-base: rant has no option {option}")
    for preset, parameters in multiplex["presets"].items():
        for one in parameters:
            role = next((row[1] for row in rows if row[0] == one["arg"]), None)
            if one.get("role") != role:
                print(f"multiplex.json: {preset}: {one['arg']} is for {role}, and says {one.get('role')}")
            for value in one["vals"]:
                if not re.search(allowed.get(one["arg"], "$^"), value):
                    print(f"multiplex.json: {preset}: {one['arg']} may not be {value}")


def check_workshop(workshop):
    named = {one["name"] for one in workshop["requirements"]}
    asked = {name for one in workshop["userenvs"] for name in one["requirements"]}
    if named != asked:
        print(f"workshop.json: not asked for, or not there: {sorted(named ^ asked)}")


# ---- The metrics -----------------------------------------------------------------------------------------------------

def read_metrics(folder, name):
    """Samples of each metric by its type."""
    with lzma.open(os.path.join(folder, name + ".json.xz"), "rt") as file:
        described = json.load(file)
    metrics = {one["idx"]: (one["desc"]["type"], []) for one in described}
    with lzma.open(os.path.join(folder, name + ".csv.xz"), "rt") as file:
        for line in file:
            if not re.fullmatch(r"\d+,\d+,\d+,[0-9.e+-]+\n", line):
                print(f"no sample: {line}")
            index, begin, end, value = line.split(",")
            metrics[int(index)][1].append((int(begin), int(end), float(value)))
    return dict(metrics.values())


def whole(metrics, name):
    samples = metrics.get(name, [])
    return samples[0][2] if len(samples) == 1 else None


def check_figures(metrics, data):
    want = {}
    for name, statistic in data["statistics"].items():
        name = name.replace("_", "-")
        for what in ("min", "max", "mean", "stddev"):
            want[f"{name}-{what}"] = statistic[f"{what}_ns"]
        for one in statistic["percentiles"]:
            percent = str(one["percent"]).removesuffix(".0")
            want[f"{name}-p{percent}"] = one["value_ns"]
    packets = data["accounts"]["packets"]
    want["loss-percent"] = 100 * packets["lost"] / (packets["sent"] - packets["closing"])
    want["samples"] = packets["recorded"]
    want["exchanges-sec"] = data["accounts"]["rate_per_s"]
    want["verdict-level"] = ["trusted", "doubtful", "void"].index(data["verdict"]["level"])
    for name, value in want.items():
        if whole(metrics, name) != value:
            print(f"{name} is {whole(metrics, name)}, and {value} in the results")
    for name in set(metrics) - set(want):
        if not name.startswith("second-"):
            print(f"{name} is not in the results")


def check_seconds(metrics, data):
    seconds, last_ms = [], None
    for second in data["seconds"]:
        end_ms = second["unix_ns"] // 10**6
        if end_ms > last_ms if last_ms else second["to_ns"] - second["from_ns"] >= 10**6:
            seconds.append(second)
            last_ms = end_ms
    for name, key in (("samples", "samples"), ("lost", "lost"), ("rtt-ns-p50", "p50_ns"), ("rtt-ns-p99", "p99_ns"), ("rtt-ns-p99.9", "p99_9_ns"),
                      ("rtt-ns-max", "max_ns")):
        want = [(second["unix_ns"] // 10**6, second[key]) for second in seconds if second[key] is not None]
        have = [(end, value) for _, end, value in metrics.get(f"second-{name}", [])]
        if have != want:
            print(f"second-{name} is {have}, and {want} in the results")
    ends = [end for _, end, _ in metrics["second-samples"]]
    begins = [begin for begin, _, _ in metrics["second-samples"]]
    if any(begin != end + 1 for end, begin in zip(ends, begins[1:])):
        print(f"seconds do not follow each other: {begins} {ends}")


def check_metrics(results, folder):
    with open(results, encoding="utf-8") as file:
        data = json.load(file)
    described = load(folder, "post-process-data.json", DESCRIBED)
    period = next((one for one in described["periods"] if one["name"] == described["primary-period"]), None)
    if not period or len(period["metric-files"]) != 1:
        sys.exit("the primary period is not there, or has not one file")
    metrics = read_metrics(folder, period["metric-files"][0])
    begin, end, _ = metrics.get(described["primary-metric"], [(0, 0, 0)])[0]
    began, lasted = data["run"]["began_unix_ns"] / 1e6, data["run"]["duration_ns"] / 1e6
    if abs(begin - began) > 1 or abs(end - began - lasted) > 2:
        print(f"the period is {begin} to {end}, and the run began at {began:.0f} and took {lasted:.0f} ms")
    check_figures(metrics, data)
    check_seconds(metrics, data)


def main():
    if sys.argv[1] == "files":
        folder = sys.argv[2]
        check_scripts(folder, load(folder, "rickshaw.json", BENCHMARK))
        check_parameters(folder, load(folder, "multiplex.json", MULTIPLEX), sys.argv[3])
        check_workshop(load(folder, "workshop.json", WORKSHOP))
    else:
        check_metrics(*sys.argv[2:])


main()
