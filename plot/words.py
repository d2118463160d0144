# SPDX-License-Identifier: GPL-2.0-or-later
"""Words and numbers as people read them. All text that comes from a file goes through clean() before it is shown."""
import datetime

PERCENTS = ("50", "90", "95", "99", "99.9", "99.99", "99.999", "99.9999")


class Bad(Exception):
    """What the user is told, in one line, before the program ends with status 1."""


def clean(text, most=200):
    """One line of printable characters, cut to `most`: nothing in it can end a line, or be no XML."""
    text = "".join(c if c.isprintable() else "\ufffd" for c in text[:most + 1])
    return text if len(text) <= most else text[:most - 1] + "…"


def time(ns):
    """Three digits and a unit."""
    for unit, size in (("s", 10**9), ("ms", 10**6), ("µs", 10**3)):
        if ns >= size:
            value = ns / size
            return f"{value:.{0 if value >= 99.95 else 1 if value >= 9.995 else 2}f} {unit}"
    return f"{ns} ns"


def count(number):
    return f"{number:,}"


def seconds(ns):
    return f"{ns / 1e9:.3g} s" if ns < 10**11 else f"{ns / 1e9:.0f} s"


def date(unix_ns):
    """None: not known, or beyond the calendar."""
    try:
        when = datetime.datetime.fromtimestamp(unix_ns // 10**9, datetime.timezone.utc)
    except (TypeError, ValueError, OverflowError, OSError):
        return None
    return when.strftime("%Y-%m-%d %H:%M:%S UTC")


def percent(value):
    return f"{value:.6f}".rstrip("0").rstrip(".")


def name(statistic):
    """Of a member of `statistics`: remote_app_to_nic_ns is Remote app to NIC."""
    words = statistic.removesuffix("_ns").replace("_", " ").split()
    words = [{"nic": "NIC", "rtt": "RTT"}.get(word, word) for word in words]
    text = " ".join(words)
    return {"RTT": "Round trip"}.get(text, text[:1].upper() + text[1:])
