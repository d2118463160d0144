# SPDX-License-Identifier: GPL-2.0-or-later
"""Scripts for gnuplot, and running it. Data from a file enters a script as a number or through quote()."""
import math
import os
import re
import subprocess

from words import Bad, clean

# Okabe and Ito's colours that are visible on white and on black. A run also has a dash or a point, a stage a number.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
DASHES = ("1", "(9,3)", "(2,2)", "(10,3,2,3)", "(5,3)", "(14,4)")
GREY, INK, FAINT, ON_COLOUR = "#7f7f7f", "#1a1a1a", "#d0d0d0", "#fefefe"
TEXT = f"textcolor rgb '{INK}'"
FONT_PX, LINE_PX = 13, 18
LONGEST_S = 300

MISSING = "gnuplot is not installed: install it (Debian and Ubuntu: gnuplot-nox, Fedora: gnuplot)"


def quote(text):
    """A string of gnuplot. Within single quotes only a single quote is special: it becomes a typographic quote, and so does a back quote."""
    return "'" + clean(text, 400).replace("`", "\u2018").replace("'", "\u2019") + "'"


def quote_tick(text):
    """A string for the label of a tick, which gnuplot reads as a format."""
    return quote(text).replace("%", "%%")


def version():
    """Version of gnuplot as (major, minor)."""
    try:
        output = subprocess.run(["gnuplot", "--version"], stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
    except OSError:
        raise Bad(MISSING) from None
    found = re.match(r"gnuplot (\d+)\.(\d+)", output.stdout)
    if not found or (int(found[1]), int(found[2])) < (5, 0):
        raise Bad(f"gnuplot 5.0 or newer is needed, and the installed version is '{clean(output.stdout.strip(), 40)}'")
    return int(found[1]), int(found[2])


def draw(script):
    """Output of gnuplot for a script, as octets."""
    try:
        # -d: without the user's settings.
        done = subprocess.run(["gnuplot", "-d", "-"], input=script.encode("utf-8"), capture_output=True,
                              env={**os.environ, "LC_ALL": "C.UTF-8"}, timeout=LONGEST_S)
    except subprocess.TimeoutExpired:
        raise Bad(f"gnuplot took more than {LONGEST_S} s") from None
    except OSError:
        raise Bad(MISSING) from None
    # A warning about an empty plot goes to stderr too, with exit status 0.
    if done.returncode or not done.stdout:
        lines = [line for line in done.stderr.decode("utf-8", "replace").split("\n") if line.strip(" ^\t")]
        raise Bad(f"gnuplot has drawn nothing: {clean(' '.join(lines), 200) or done.returncode}")
    return done.stdout


def block(name, rows):
    """A data block of rows of numbers. None is a gap in the line."""
    lines = [" ".join(f"{value:.12g}" for value in row) if row is not None else "" for row in rows]
    return [f"${name} << EOD", *lines, "EOD"]


def terminal(form, width, height, ground):
    """Lines that begin a picture of width x height px. A PNG has twice as many, for screens of high density."""
    if form == "svg":
        font = f"noenhanced font 'sans-serif,{FONT_PX}' linewidth 1.3"
        return ["set encoding utf8", f"set terminal svg size {width},{height} dynamic {font} {ground}"]
    # Points are of 1/72 inch, and px of 1/96.
    font = f"noenhanced font 'sans,{FONT_PX * 0.75:.4g}' fontscale 2 linewidth 2.4 pointscale 1.4"
    return ["set encoding utf8",
            f"if (strstrt(GPVAL_TERMINALS, 'pngcairo') > 0) {{ set terminal pngcairo size {2 * width},{2 * height} {font} }} "
            f"else {{ set terminal png truecolor size {2 * width},{2 * height} {font} }}"]


def nice(least):
    """The smallest 1, 2 or 5 times a power of ten that is not below least."""
    power = 10.0**math.floor(math.log10(least))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= least * 0.999)


class Scale:
    """An axis of times from lo_ns to hi_ns, with a unit at each number; logarithmic above a ratio of FACTOR."""

    FACTOR = 20

    def __init__(self, lo_ns, hi_ns):
        self.is_log = hi_ns > self.FACTOR * max(lo_ns, 1)
        self.lo_ns, self.hi_ns = max(lo_ns, 1) if self.is_log else lo_ns, max(hi_ns, lo_ns + max(1, lo_ns // 50))
        self.unit, self.size_ns = next(((u, s) for u, s in (("s", 10**9), ("ms", 10**6), ("µs", 10**3)) if self.hi_ns >= 2 * s), ("ns", 1))
        if self.is_log:
            self.unit, self.size_ns = "µs", 10**3

    def of(self, ns):
        return (max(ns, 1) if self.is_log else ns) / self.size_ns

    def share(self, ns):
        """Position of a value from lo_ns (0) to hi_ns (1)."""
        return self._between(self.lo_ns, self.hi_ns, ns)

    def along(self, ns):
        """Position of a value on the axis as set() drew it, from its lower end (0) to its upper end (1)."""
        return self._between(*self.drawn_ns, ns)

    def _between(self, low, high, at):
        low, high, at = (math.log(max(x, 1e-3)) for x in (low, high, at)) if self.is_log else (low, high, at)
        return (at - low) / (high - low)

    @staticmethod
    def _tick(ns):
        for unit, size in (("s", 10**9), ("ms", 10**6), ("µs", 10**3)):
            if ns >= size:
                return f"{ns // size:d} {unit}"
        return f"{ns:d} ns"

    def _ticks(self, axis, room):
        """room: number of labels that fit."""
        decades = len(str(self.hi_ns)) - len(str(self.lo_ns)) + 1
        named = (1,) if decades > room // 2 else (1, 3) if decades > room // 3 else (1, 2, 5)
        every, ticks = -(-decades // room), []
        for power in range(len(str(self.lo_ns)) - 1, len(str(self.hi_ns))):
            for digit in range(1, 10):
                ns = digit * 10**power
                shown = digit in named and power % every == 0
                ticks.append(f"{quote_tick(self._tick(ns) if shown else '')} {self.of(ns):.12g} {0 if digit in named else 1}")
        return f"set {axis}tics ({', '.join(ticks)})"

    def set(self, axis, room, above=1.0):
        """Lines that set the axis x or y with at most `room` labels. above: factor of the free range above the highest value of a logarithmic axis."""
        if self.is_log:
            low, high = self.drawn_ns = self.lo_ns / (1.3 if axis == 'y' else 1.1), self.hi_ns * 1.15 * above
            return [f"set logscale {axis} 10", self._ticks(axis, room),
                    f"set {axis}range [{low / self.size_ns:.12g}:{high / self.size_ns:.12g}]"]
        spread = self.hi_ns - self.lo_ns
        low, high = self.drawn_ns = max(0, self.lo_ns - 0.04 * spread), self.hi_ns + 0.05 * spread
        return [f"set {axis}tics {nice(spread / self.size_ns / room):.6g}", f"set format {axis} {quote('%g ' + self.unit)}",
                f"set {axis}range [{low / self.size_ns:.12g}:{high / self.size_ns:.12g}]"]
