# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks a dashboard against the JSON model of Grafana, and its queries against the metrics of rant. Prints a line for each fault.

  dashboard.py DASHBOARD PROM...             PROM: written by rant --prometheus at both ends
  dashboard.py without METRIC DASHBOARD PROM...   without the panels of a metric that these runs do not write
  dashboard.py load DASHBOARD MODULES        with the model of Grafana and a PromQL parser, in the folder MODULES
"""
import json
import re
import sys

PANELS = {"stat", "table", "timeseries", "heatmap"}
SCRAPED = {"job", "instance"}  # the labels that Prometheus gives; in the text they are not


def queries(dashboard):
    """(location, expression) of each target and variable."""
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            yield f"panel {panel['id']} {target['refId']}", target["expr"]
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            yield f"variable {variable['name']}", re.fullmatch(r"label_values\((.*), (\w+)\)", variable["query"]["query"])[1]


def with_values(expression):
    """The expression with values for variables, as Grafana sends it."""
    return re.sub(r"\$\w+", ".*", expression.replace("$__rate_interval", "5m"))


def check_places(panels):
    taken = {}
    for panel in panels:
        at = panel["gridPos"]
        if at["x"] < 0 or at["y"] < 0 or at["w"] < 1 or at["h"] < 1 or at["x"] + at["w"] > 24:
            print(f"panel {panel['id']} is outside of the 24 columns: {at}")
        for cell in ((x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])):
            if taken.setdefault(cell, panel["id"]) != panel["id"]:
                print(f"panel {panel['id']} lies on panel {taken[cell]}")
                break


def check_panels(panels):
    ids = [panel["id"] for panel in panels]
    if len(set(ids)) != len(ids) or any(not isinstance(one, int) or one < 1 for one in ids):
        print(f"panels are not numbered: {ids}")
    for panel in panels:
        refs = [target["refId"] for target in panel["targets"]]
        if not refs or len(set(refs)) != len(refs):
            print(f"panel {panel['id']}: targets are {refs}")
        if panel["type"] not in PANELS or not panel["title"] or not panel["description"]:
            print(f"panel {panel['id']}: a {panel['type']} '{panel['title']}' '{panel['description']}'")
        for one in (panel, *panel["targets"]):
            if one["datasource"] != {"type": "prometheus", "uid": "${datasource}"}:
                print(f"panel {panel['id']}: the data source is {one['datasource']}")
        if any(bool(target["instant"]) == bool(target["range"]) for target in panel["targets"]):
            print(f"panel {panel['id']}: neither for a moment nor for a time")


def check_variables(dashboard):
    defined = [variable["name"] for variable in dashboard["templating"]["list"]]
    if len(set(defined)) != len(defined) or dashboard["templating"]["list"][0]["type"] != "datasource":
        print(f"variables are {defined}")
    used = set(re.findall(r"\$\{?([A-Za-z]\w*)", json.dumps(dashboard)))
    for name in used ^ set(defined):
        print(f"variable {name} is not both defined and used")


def read_written(paths):
    """Labels of each sample by its name."""
    written = {}
    for path in paths:
        with open(path, encoding="utf-8") as file:
            for line in file:
                found = re.match(r"(\w+)\{(.*)\} ", line)
                if found:
                    written.setdefault(found[1], set()).update(re.findall(r'(\w+)="', found[2]), SCRAPED)
    return written


def check_queries(dashboard, written):
    for where, expression in queries(dashboard):
        metrics = re.findall(r"\brant_\w+", expression)
        if not metrics:
            print(f"{where} asks for nothing: {expression}")
        for metric in metrics:
            if metric not in written:
                print(f"{where}: rant does not write {metric}")
                continue
            labels = set(re.findall(r"(\w+)=~?\"", expression))
            for group in re.findall(r"by \(([^)]*)\)", expression):
                labels |= set(group.split(", "))
            for label in labels - written[metric]:
                print(f"{where}: {metric} has no label {label}")
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            labels = set.union(set(), *(written.get(metric, set()) for metric in re.findall(r"\brant_\w+", target["expr"])))
            for label in set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"])) - labels:
                print(f"panel {panel['id']} {target['refId']}: there is no label {label} to show")


def load(path, modules):
    """Loads the dashboard into the model of Grafana, which drops unknown members, and compares the result."""
    sys.path.insert(0, modules)
    import promql_parser
    from grafana_foundation_sdk.cog.encoder import JSONEncoder
    from grafana_foundation_sdk.cog.plugins import register_default_plugins
    from grafana_foundation_sdk.models.dashboard import Dashboard

    with open(path, encoding="utf-8") as file:
        dashboard = json.load(file)
    register_default_plugins()
    model = json.loads(JSONEncoder(sort_keys=True).encode(Dashboard.from_json(dashboard)))
    compare("", dashboard, model)
    for where, expression in queries(dashboard):
        try:
            promql_parser.parse(with_values(expression))
        except ValueError as error:
            print(f"{where}: {error}: {expression}")


def compare(where, mine, theirs):
    """Each member of the dashboard is in the model, with its value; the model may add defaults."""
    if isinstance(mine, dict) and isinstance(theirs, dict):
        for key, value in mine.items():
            if key in theirs:
                compare(f"{where}/{key}", value, theirs[key])
            elif value not in ({}, [], None, ""):
                print(f"{where}/{key} is not in Grafana's model")
    elif isinstance(mine, list) and isinstance(theirs, list) and len(mine) == len(theirs):
        for i, (one, other) in enumerate(zip(mine, theirs)):
            compare(f"{where}/{i}", one, other)
    elif mine != theirs:
        print(f"{where} is {mine}, and {theirs} in Grafana's model")


def main():
    if sys.argv[1] == "load":
        load(*sys.argv[2:])
        return
    left_out = sys.argv[2] if sys.argv[1] == "without" else None
    path, *written = sys.argv[3 if left_out else 1:]
    with open(path, encoding="utf-8") as file:
        dashboard = json.load(file)
    if left_out:
        dashboard["panels"] = [one for one in dashboard["panels"] if left_out not in one["targets"][0]["expr"]]
    for key, want in (("title", str), ("uid", str), ("schemaVersion", int), ("panels", list), ("time", dict)):
        if not isinstance(dashboard.get(key), want) or not dashboard[key]:
            print(f"the dashboard has no {key}")
    check_places(dashboard["panels"])
    check_panels(dashboard["panels"])
    check_variables(dashboard)
    check_queries(dashboard, read_written(written))


main()
