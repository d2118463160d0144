# SPDX-License-Identifier: GPL-2.0-or-later
"""Recomputes the tables of docs/fleet.md by the formulas of the page. Prints a line for each different value.

  fleet.py PAGE
"""
import re
import sys

WIRE = 200 + 20 + 8 + 18 + 8 + 12
ROUND_S = 10 + 5


def tables(path):
    """Tables as lists of rows, with the heading first."""
    found, rows = [], []
    with open(path, encoding="utf-8") as file:
        for line in [*file, ""]:
            if line.startswith("|"):
                rows.append([cell.strip() for cell in line.strip().strip("|").split("|")])
            elif rows:
                found.append([rows[0], *rows[2:]])
                rows = []
    return found


def number(text):
    return float(re.sub(r"[^\d.]", "", text))


def table_with(found, word):
    return next(table for table in found if table[0][0] == word)


def compare(where, has, want):
    if has != want:
        print(f"{where} is {has}, and {want} by the formula")


def check_paths(table):
    ports = [number(head) for head in table[0][1:]]
    for row in table[1:]:
        paths = number(row[0])
        for n, has in zip(ports, row[1:]):
            compare(f"{row[0]} paths, {n:.0f} ports", has, f"{paths * (1 - 1 / paths) ** n:.2f}")


def as_time(seconds):
    for unit, size, digits in (("s", 1, 0), ("min", 60, 1), ("h", 3600, 1)):
        if seconds < 60 * size or (unit == "min" and seconds < 2 * 3600) or unit == "h":
            return f"{seconds / size:.{digits}f} {unit}"
    return ""


def as_size(octets):
    return f"{octets / 1e9:.1f} GB" if octets >= 1e9 else f"{octets / 1e6:.1f} MB"


def rounds_of(hosts):
    """Rounds of a tournament: with an odd number, one host waits in each round."""
    return hosts - 1 if hosts % 2 == 0 else hosts


def check_plans(table, json_octets):
    for plan, hosts, k, interval, *figures in table[1:]:
        n, rate = number(hosts), 1000 / number(interval)
        if plan == "all at once":
            runs, rounds, packets = n * (n - 1), 1, 2 * (n - 1) * rate
        elif plan == "in turn":
            runs, rounds, packets = n * (n - 1) / 2, rounds_of(n), rate
        else:
            k = number(k)
            racks = n / k
            runs, rounds, packets = racks * k * (k - 1) / 2 + racks * (racks - 1) / 2, rounds_of(k) + rounds_of(racks), rate
        want = [f"{runs:,.0f}", as_time(rounds * ROUND_S), f"{packets:.0f}", f"{packets * WIRE * 8 / 1e6:.3f}", as_size(runs * json_octets[rate])]
        for head, has, value in zip(table[0][4:], figures, want):
            compare(f"{plan}, {hosts} hosts, {interval}: {head}", has, value)


def main():
    found = tables(sys.argv[1])
    check_paths(table_with(found, "paths P"))
    json_octets = {number(row[0]): number(row[1]) for row in table_with(found, "probes/s")[1:]}
    check_plans(table_with(found, "plan"), json_octets)


main()
