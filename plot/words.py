# SPDX-License-Identifier: GPL-2.0-or-later
"""Words and numbers for people. All text that comes from a file goes through clean() before it is shown."""
import datetime

PERCENTS = ("50", "90", "95", "99", "99.9", "99.99", "99.999", "99.9999")


class Bad(Exception):
    """An error: one line for stderr, after which the program ends with status 1."""


def clean(text, most=200):
    """One line of printable characters, at most `most`, so that no text ends a line or makes XML invalid."""
    text = "".join(c if c.isprintable() else "\ufffd" for c in text[:most + 1])
    return text if len(text) <= most else text[:most - 1] + "…"


# Widths in em of DejaVu Sans, the widest of the usual sans-serif fonts.
NARROW_LETTERS, WIDE_LETTERS = set("iljI.,:;'|!() []/-"), set("mwMW%@—…")


def width_of(text, size_px):
    """Upper bound of the width of a text in px."""
    return size_px * sum(0.41 if c in NARROW_LETTERS else 1.0 if c in WIDE_LETTERS or ord(c) > 0x2000 else 0.72 if c.isupper() else 0.625 for c in text)


def fit(text, size_px, room_px):
    """The text, cut in its middle to room_px, because names of runs often differ at the end."""
    if width_of(text, size_px) <= room_px:
        return text
    keep = len(text) - 1
    while keep > 2 and width_of(text[:keep // 2] + "…" + text[len(text) - (keep + 1) // 2:], size_px) > room_px:
        keep -= 1
    return text[:keep // 2] + "…" + text[len(text) - (keep + 1) // 2:]


def without_prefix(labels):
    """Labels without the beginning that all share, up to a separator."""
    common = labels[0]
    for label in labels[1:]:
        common = common[:next((i for i, (a, b) in enumerate(zip(common, label)) if a != b), min(len(common), len(label)))]
    cut = max((common.rfind(c) for c in "-_. /"), default=-1) + 1
    return [label[cut:] for label in labels] if len(labels) > 1 and all(len(label) > cut for label in labels) else labels


def time(ns):
    """Three significant digits and a unit; whole nanoseconds below 1 µs."""
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
    """Date and time in UTC; None if unix_ns is None or beyond the calendar."""
    try:
        when = datetime.datetime.fromtimestamp(unix_ns // 10**9, datetime.timezone.utc)
    except (TypeError, ValueError, OverflowError, OSError):
        return None
    return when.strftime("%Y-%m-%d %H:%M:%S UTC")


def percent(value):
    return f"{value:.6f}".rstrip("0").rstrip(".")


def name(statistic):
    """Name of a member of `statistics`: remote_app_to_nic_ns is Remote app to NIC."""
    words = statistic.removesuffix("_ns").replace("_", " ").split()
    words = [{"nic": "NIC", "rtt": "RTT"}.get(word, word) for word in words]
    text = " ".join(words)
    return {"RTT": "Round trip"}.get(text, text[:1].upper() + text[1:])
