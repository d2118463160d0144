# SPDX-License-Identifier: GPL-2.0-or-later
"""Panels of a picture: gnuplot lines for the data of runs. Each panel is a row of PANELS."""
import itertools
import math
import re

import split
from gnuplot import COLOURS, DASHES, FAINT, GREY, INK, LINE_PX, ON_COLOUR, TEXT, Scale, block, quote, quote_tick
from words import clean, count, fit, name, percent, time, width_of

ALMOST_NONE = 0.5  # lower end of logarithmic counts, so that a bar of one sample is visible
POINTS = 800  # at most, of a line in time
FEWEST = 3  # points, below which a panel is left out
SPOTS = 160  # hover areas of a panel at most, because each takes 150 octets of the page
THIN = f"linecolor rgb '{INK}' linewidth 1.1"
BELOW = 64  # px below a plot for tick labels and the axis title
STRIP_PX = 15  # height of the losses of one run, with its name beside it
MARK_PX, GAP_PX = 34, 14  # of an entry of the key: its mark, and the space after its text


class Place:
    """Position of a panel: px in a picture of width x height, y from the top of the picture."""

    def __init__(self, form, width, height, top, tall):
        self.form, self.width, self.height, self.top, self.tall = form, width, height, top, tall
        self.narrow = width < 700
        self.head = 0  # px above the plot for title and key, known after the panel was drawn
        self.plot = (0, 0, 0, 0)  # left, right, top, bottom of the last plot, px in the picture
        self.spots = []  # (left, top, width, height, text) for hovering, px in the picture

    def x(self, px):
        return f"{px / self.width:.6f}"

    def y(self, px):
        return f"{1 - px / self.height:.6f}"

    def font(self, px):
        return f"font ',{px if self.form == 'svg' else px * 0.75:.4g}'"

    def label(self, px, y_px, text, size_px=13, colour=INK, side="left"):
        return f"set label {quote(text)} at screen {self.x(px)}, screen {self.y(y_px)} {side} {self.font(size_px)} textcolor rgb '{colour}'"

    def box(self, left, right, top, bottom, colour):
        return (f"set object rectangle from screen {self.x(left)}, screen {self.y(bottom)} to screen {self.x(right)}, screen {self.y(top)} "
                f"front noclip fillcolor rgb '{colour}' fillstyle solid 1 noborder")

    def part(self, left, right, top, bottom):
        """Margins of a plot: px from the left, and px from the top of the panel."""
        self.plot = left, right, self.top + top, self.top + bottom
        return [f"set lmargin at screen {self.x(left)}", f"set rmargin at screen {self.x(right)}",
                f"set tmargin at screen {self.y(self.top + top)}", f"set bmargin at screen {self.y(self.top + bottom)}"]

    def spot(self, from_share, to_share, text):
        """A hover area as tall as the plot, between two shares of its width."""
        left, right, top, bottom = self.plot
        from_px, to_px = (left + (right - left) * min(1, max(0, share)) for share in (from_share, to_share))
        if to_px > from_px:
            self.spots.append((from_px, top, to_px - from_px, bottom - top, text))

    def wrap(self, text, size_px=12, margin_px=30):
        """Lines of words that fit into the picture."""
        room, lines = self.width - margin_px, [""]
        for word in text.split(" "):
            if lines[-1] and width_of(f"{lines[-1]} {word}", size_px) > room:
                lines.append("")
            lines[-1] = fit((lines[-1] + " " + word).lstrip(), size_px, room)
        return lines


def mark_of(place, mark, left, y):
    """The sample of a curve, point or box beside its text in the key."""
    kind, colour, *more = mark
    if kind == "box":
        return place.box(left + 8, left + 26, y - 6, y + 6, colour)
    if kind == "point":
        return (f"set label '' at screen {place.x(left + 17)}, screen {place.y(y)} point pointtype {more[0]} pointsize {more[1]} "
                f"linewidth 1.6 linecolor rgb '{colour}'")
    return (f"set arrow from screen {place.x(left)}, screen {place.y(y)} to screen {place.x(left + 28)}, screen {place.y(y)} nohead front "
            f"linecolor rgb '{colour}' dashtype {more[0]} linewidth 2.4")


def key_of(place, entries, top):
    """The key in rows from top (px in the panel), above the plot and never over it, and where it ends."""
    lines, left, y = [], 14, top
    for text, mark in entries:
        text = fit(text, 13, place.width - 28 - MARK_PX)
        wide = MARK_PX + width_of(text, 13)
        if left > 14 and left + wide > place.width - 14:
            left, y = 14, y + LINE_PX
        lines += [mark_of(place, mark, left, place.top + y), place.label(left + MARK_PX, place.top + y, text)]
        left += wide + GAP_PX
    return lines, y + (LINE_PX if entries else 0)


def begin(place, title, below, entries, left=72, strips=0):
    """Lines that every panel begins with. below: a sentence below the title; entries: (text, mark) of the key; strips: px above the plot."""
    lines = ["reset", f"set border 3 linecolor rgb '{INK}'", f"set grid back linecolor rgb '{FAINT}' linetype 1 linewidth 0.5",
             "set tics nomirror out scale 0.6", f"set xtics {TEXT}", f"set ytics {TEXT}", "set key off"]
    at = 14
    for text in place.wrap(title, 16):
        lines.append(place.label(14, place.top + at, text, 16))
        at += 20
    for text in place.wrap(below):
        lines.append(place.label(14, place.top + at, text, 12))
        at += LINE_PX - 2
    more, at = key_of(place, entries, at + 4)
    place.head = at + 12 + strips
    return lines + more + place.part(left, place.width - 34, place.head, place.tall - BELOW)


def several(runs):
    """True if a picture names its runs: also in a panel for which only one run has data."""
    return not runs[0].alone


def word(run):
    """Name of the latency of a run in small letters."""
    return name(run.figure).lower()


def style(i, width=2, dash=None):
    return f"linecolor rgb '{COLOURS[i]}' dashtype {dash or DASHES[i]} linewidth {width}"


def line_mark(i, dash=None):
    return "line", COLOURS[i], dash or DASHES[i]


def all_of(runs):
    """The number of runs for a title, if there are several."""
    return f", {len(runs)} run{'s' * (len(runs) > 1)}" if several(runs) else ""


def coarse(runs):
    """A sentence about the width of buckets, if they are wider than 1 ns."""
    widest = max(run.main.width_ns for run in runs)
    return f" Values are the lower ends of buckets of {time(widest)}." if widest > 1 else ""


def formulas(runs):
    different = sorted({run.latency for run in runs})
    return different[0] if len(different) == 1 else "; ".join(f"{run.label}: {run.latency}" for run in runs)


def run_entries(runs):
    return [(run.label, line_mark(run.colour)) for run in runs] if several(runs) else []


def of_run(run, runs):
    """A prefix with the name of the run, if there are several."""
    return f"{run.label}: " if several(runs) else ""


# ---- Histogram --------------------------------------------------------------------------------------------------------

def edges_of(runs, scale):
    """Edges of the bins in ns, and their width in words. No bin is narrower than the buckets of the histograms."""
    finest = max(run.main.width_ns for run in runs)
    if scale.is_log:
        coarse = finest / scale.lo_ns
        a_decade = max(5, min(40, int(1 / math.log10(1 + coarse))))
        bins = math.ceil(math.log10((scale.hi_ns + 1) / scale.lo_ns) * a_decade)
        edges = sorted({math.ceil(scale.lo_ns * 10**(i / a_decade) / finest) * finest for i in range(1, bins + 1)} | {scale.lo_ns})
        return edges + ([scale.hi_ns + 1] if edges[-1] <= scale.hi_ns else []), f"{a_decade} bins a decade"
    width = -(-(scale.hi_ns - scale.lo_ns + 1) // 120)
    width = -(-width // finest) * finest
    start = scale.lo_ns // finest * finest
    return list(range(start, scale.hi_ns + width + 1, width)), f"bins of {time(width)}"


def counts_of(run, edges):
    ranks = [0, *(run.main.rank_below(edge) for edge in edges[1:-1]), run.main.known]
    return [high - low for low, high in zip(ranks, ranks[1:])]


def bars(run, edges, scale, whole=None):
    """Steps: the left end of each bin and its count, or its share in percent of whole samples."""
    unit = 100 / whole if whole else 1
    rows = [(scale.of(edge), max(ALMOST_NONE, number) * unit) for edge, number in zip(edges, counts_of(run, edges))]
    return [(rows[0][0], ALMOST_NONE * unit), *rows, (scale.of(edges[-1]), ALMOST_NONE * unit)]


def marks(run, scale, highest, tall_px):
    """Percentiles of a single run as lines to the top of the plot, each with its name."""
    lines, shown, step = [], [], 18 / tall_px
    for one in (50, 99, 99.9):
        found = run.main.percentile(one)
        if found and not found[1] and (one == 50 or found[2] >= 10):
            shown.append((found[0], f"p{one:g} {time(found[0])}"))
    for i, (ns, text) in enumerate(shown):
        x, y = f"{scale.of(ns):.12g}", 0.97 - step * i
        side, off = ("right", -0.6) if scale.share(ns) > 0.7 else ("left", 0.6)
        lines += [f"set arrow from first {x}, graph 0 to first {x}, graph {y + 0.02:.3f} nohead back {THIN} dashtype 3",
                  f"set label {quote(text)} at first {x}, graph {y:.3f} {side} offset character {off}, 0 {TEXT} front"]
    # The names of percentiles are above the highest bar.
    return lines, highest * (highest / ALMOST_NONE)**(step * len(shown) + 0.1)


def hover_bins(runs, place, edges, scale):
    every = -(-(len(edges) - 1) // SPOTS)
    counted = [counts_of(run, edges) for run in runs]
    for i in range(0, len(edges) - 1, every):
        upper = edges[min(i + every, len(edges) - 1)]
        found = [(run, sum(numbers[i:i + every])) for run, numbers in zip(runs, counted)]
        if any(number for _, number in found):
            share = lambda number, run: f" ({100 * number / run.main.known:.3g} %)"  # noqa: E731
            text = "; ".join(f"{of_run(run, runs)}{count(number)} samples{share(number, run)}" for run, number in found)
            place.spot(scale.along(edges[i]), scale.along(upper), f"{time(edges[i])} to {time(upper)}: {text}")


def histogram(runs, place):
    scale = Scale(min(run.main.pairs[0][0] for run in runs), max(run.main.pairs[-1][0] for run in runs))
    edges, width = edges_of(runs, scale)
    named = several(runs)
    lines = begin(place, f"{name(runs[0].figure)}: histogram{all_of(runs)}",
                  f"{formulas(runs)}. Logarithmic {'shares of the samples of each run' if named else 'counts'}.{coarse(runs)}", run_entries(runs),
                  left=88 if named else 72)
    rows = [bars(run, edges, scale, run.main.known if named else None) for run in runs]
    highest, lowest = max(max(number for _, number in one) for one in rows), min(one[0][1] for one in rows)
    marked, top = ([], highest * 2) if named else marks(runs[0], scale, highest, place.tall - place.head - BELOW)
    lines += scale.set("x", place.width // 80)
    lines += [f"set xlabel {quote(f'{word(runs[0])} ({width})')} {TEXT}", f"set ylabel '{'share of the samples' if named else 'samples in a bin'}' {TEXT}",
              "set logscale y 10", f"set format y '{'%g %%' if named else '%.0s%c'}'", f"set yrange [{lowest:.6g}:{top:.6g}]",
              "set style fill transparent solid 0.25 noborder", *marked]
    hover_bins(runs, place, edges, scale)
    plots = []
    for run, one in zip(runs, rows):
        i = run.colour
        lines += block(f"bars{i}", one)
        if not named:
            plots.append(f"$bars{i} using 1:2 with fillsteps linecolor rgb '{COLOURS[i]}' notitle")
        plots.append(f"$bars{i} using 1:2 with steps {style(i, 1.6)} notitle")
    return [*lines, "plot " + ", ".join(plots)]


# ---- Percentiles ------------------------------------------------------------------------------------------------------

def nines(most, place):
    """Ticks of 1 / (1 - p)."""
    ticks = ["'0 %%' 1"] if place.narrow else ["'0 %%' 1", "'50 %%' 2"]
    every = -(-70 * len(str(most)) // (place.width - 106))
    for power in range(every, len(str(most)) + 1, every):
        value = 100 - 100 / 10**power
        ticks.append(f"'{value:.{max(0, power - 2)}f} %%' {10**power}")
    return f"set xtics ({', '.join(ticks)})"


def curve(figure, scale):
    """Points (1 / (1 - p), value) by nearest rank: up to where ten samples lie above, and from there on. The maximum ends it."""
    if not figure.pairs:
        known = [(100 / (100 - value), scale.of(ns), above) for value, ns, bound, above in figure.percentiles if not bound and above]
        certain, rest = ([point[:2] for point in known if (point[2] >= 10) == enough] for enough in (True, False))
        return certain, [*certain[-1:], *rest, (figure.samples, scale.of(figure.max_ns))]
    n = figure.samples if figure.above_all else figure.known
    x, certain, rest = 1.0, [], []
    last = figure.ranked
    while x < n:
        rank = max(1, math.ceil(n - n / x - 1e-9))
        if rank > last:
            break
        point = (x, scale.of(figure.at_rank(rank)))
        (certain if n - rank >= 10 else rest).append(point)
        x *= 10**(1 / 80)
    if last == n:
        rest.append((n, scale.of(figure.at_rank(n))))
    return certain, certain[-1:] + rest


def hover_percentiles(place, figures, most):
    """A hover area for each tenth of a decade of 1 / (1 - p)."""
    end = math.log10(most * 1.3)
    for i in range(math.ceil(end * 10)):
        share = 1 - 10**(-(i + 0.5) / 10)
        texts = []
        for label, _, _, figure in figures:
            n = figure.samples if figure.above_all else figure.known
            rank = max(1, math.ceil(n * share))
            if figure.pairs and rank <= figure.ranked and 10**(i / 10) <= n:
                texts.append(f"{label}: {time(figure.at_rank(rank))}")
        if texts:
            place.spot(i / 10 / end, (i + 1) / 10 / end, f"p{percent(100 * share)}: {'; '.join(texts)}")


def by_percentile(place, lines, figures):
    """figures: (label, style number, dash, statistic). Returns all lines."""
    values = []
    for _, _, _, f in figures:
        values += [f.pairs[0][0], f.pairs[-1][0]] if f.pairs else [f.max_ns, *(one[1] for one in f.percentiles)]
    # A single sample near 0 would take half of a logarithmic axis.
    usual = [f.at_rank(max(1, f.known // 100)) // 4 for _, _, _, f in figures if f.pairs]
    scale = Scale(max(min(values), min(usual, default=0)), max(values))
    most = max(f.samples for _, _, _, f in figures)
    lines += scale.set("y", place.tall // 34)
    lines += ["set logscale x 10", nines(most, place), f"set xrange [1:{most * 1.3:.6g}]", "set mxtics 1",
              f"set xlabel 'percentile' {TEXT}"]
    hover_percentiles(place, figures, most)
    plots = []
    for i, (_, colour, dash, figure) in enumerate(figures):
        certain, rest = curve(figure, scale)
        kind = "lines" if figure.pairs else "linespoints pointtype 7 pointsize 0.5"
        if len(certain) > 1:
            lines += block(f"certain{i}", certain)
            plots.append(f"$certain{i} using 1:2 with {kind} {style(colour, 2.4, dash)} notitle")
        # Few samples lie above these points, so that they are not drawn with more weight than the others.
        lines += [*block(f"rest{i}", rest), *block(f"end{i}", rest[-1:])]
        plots.append(f"$rest{i} using 1:2 with lines {style(colour, 0.8, dash)} notitle")
        plots.append(f"$end{i} using 1:2 with points pointtype 7 pointsize 0.35 linecolor rgb '{COLOURS[colour]}' notitle")
    return [*lines, "plot " + ", ".join(plots)]


def percentiles(runs, place):
    lines = begin(place, f"{name(runs[0].figure)} by percentile{all_of(runs)}",
                  f"{formulas(runs)}. Thin: fewer than ten samples lie above.{coarse(runs)}", run_entries(runs))
    return by_percentile(place, lines, [(run.label, run.colour, None, run.main) for run in runs])


def why_no_way(figure):
    """Reason for which the curve of a one-way delay is omitted, or None."""
    why = why_no_curve(figure)
    if why or figure.within_ns is None:
        return why
    half = figure.percentile(50)
    if half and figure.within_ns > half[0]:
        return f"it is known within {time(figure.within_ns)}, which is more than its median of {time(half[0])}"
    return None


def one_way(runs, place):
    figures, bounds = [], []
    for run in runs:
        for j, way in enumerate(("forward_ns", "backward_ns")):
            figure = run.statistics.get(way)
            if not why_no_way(figure):
                figures.append((of_run(run, runs) + name(way), run.colour if several(runs) else j, DASHES[0] if way == "forward_ns" else DASHES[1], figure))
                if figure.within_ns is not None:
                    bounds.append(figure.within_ns)
    known = f"They cross the clocks of two hosts: each value is known within {time(max(bounds))}." if bounds else ""
    lines = begin(place, f"One way by percentile{all_of(runs)}", f"Forward: T2 - T1; backward: T4 - T3. {known}",
                  [(label, line_mark(colour, dash)) for label, colour, dash, _ in figures])
    return by_percentile(place, lines, figures)


# ---- Time -------------------------------------------------------------------------------------------------------------

def thinned(rows):
    """Rows (from_ns, to_ns, p50, p99, max) of fewer seconds than POINTS, and the number of seconds that a row covers at most."""
    rows = [row for row in rows if row[1] > row[0]]
    each = max(1, -(-(rows[-1][1] - rows[0][0]) // (POINTS * 10**9)))
    if each == 1:
        return rows, 1
    out = []
    for _, group in itertools.groupby(rows, lambda row: row[0] // (each * 10**9)):
        group = list(group)
        p50 = sorted(row[2] for row in group if row[2] is not None)
        p99, most = (max((row[k] for row in group if row[k] is not None), default=None) for k in (3, 4))
        out.append((group[0][0], group[-1][1], p50[len(p50) // 2] if p50 else None, p99, most))
    return out, each


def line_of(rows, which, scale):
    """Points of a line, with a gap (None) where a value or a row is missing."""
    out, before = [], None
    for row in rows:
        if row[which] is None or (before is not None and row[0] - before > 1.5 * 10**9):
            out.append(None)
        if row[which] is not None:
            out.append(((row[0] + row[1]) / 2e9, scale.of(row[which])))
        before = row[1]
    return out


def highest_breaches(run):
    """The highest breach in each part of the time, and the length of a part."""
    part_ns, best = max(10**6, (run.duration_ns or 0) // 400), {}
    for at, value in run.breaches:
        best[at // part_ns] = max(best.get(at // part_ns, (0, 0)), (value, at))
    return [(at, value) for value, at in best.values()], part_ns


def above_threshold(run, rows):
    """Rows whose maximum is above the threshold, without a breach that the file kept; none if the file kept all breaches."""
    if run.threshold_ns is None or run.threshold_on != run.figure or len(run.breaches) >= (run.breach_count or 0):
        return []
    kept = [at for at, _ in run.breaches]
    return [row for row in rows if row[4] is not None and row[4] > run.threshold_ns and not any(row[0] <= at < row[1] for at in kept)]


def strip(place, losing, top, longest_ns):
    """Losses and outages by time: a row of px above the plot for each run that lost something."""
    left, right, lines = place.plot[0], place.plot[1], []
    at = lambda ns: left + (right - left) * min(1, max(0, ns / longest_ns))  # noqa: E731
    for k, run in enumerate(losing):
        y = place.top + top + k * STRIP_PX
        lines.append(place.box(left, right, y, y + STRIP_PX - 6, FAINT))
        for colour, spans in ((COLOURS[1], [one[:2] for one in run.losses]), (INK, run.outages)):
            parts = sorted({(int(at(begin_ns)), max(int(at(end_ns)), int(at(begin_ns)) + 1)) for begin_ns, end_ns in spans})
            lines += [place.box(from_px, to_px, y, y + STRIP_PX - 6, colour) for from_px, to_px in parts]
        lines.append(place.label(left - 6, y + 4, fit(run.label, 10, left - 12) if not run.alone else "lost", 10, side="right"))
    return lines


def hover_seconds(runs, place, prepared, longest_ns):
    by_time = {}
    for run, _, rows, each in prepared:
        every = -(-len(rows) // SPOTS)
        for row in rows[::every]:
            values = ", ".join(f"{label} {time(row[k])}" for label, k in (("p50", 2), ("p99", 3), ("max", 4)) if row[k] is not None)
            begin_ns, end_ns, texts = by_time.setdefault(row[0] // (each * every * 10**9), [row[0], row[0], []])
            by_time[row[0] // (each * every * 10**9)] = [min(begin_ns, row[0]), max(end_ns, row[0] + (row[1] - row[0]) * every), texts + [
                f"{of_run(run, runs)}{values}"]]
    for begin_ns, end_ns, texts in by_time.values():
        place.spot(begin_ns / longest_ns, end_ns / longest_ns, f"{begin_ns / 1e9:.3g} s: {'; '.join(texts)}")


def in_time(runs, place):
    lines_of = (("p50", 2, DASHES[0], 7), ("p99", 3, DASHES[1], 5), ("max", 4, DASHES[2], 9)) if len(runs) <= 3 else (("p99", 3, None, 7),)
    prepared = [(run, run.colour, *thinned(run.seconds)) for run in runs if run.seconds]
    values = [row[k] for _, _, rows, _ in prepared for row in rows for _, k, _, _ in lines_of if row[k] is not None]
    values += [value for run, *_ in prepared for _, value in run.breaches]
    values += [row[4] for run, _, rows, _ in prepared for row in above_threshold(run, rows)]
    values = values or [row[4] for _, _, rows, _ in prepared for row in rows if row[4] is not None]
    scale, each = Scale(min(values), max(values)), max(each for *_, each in prepared)
    entries, plots, data = [], [], []
    for run, i, rows, _ in prepared:
        for j, (label, k, dash, point) in enumerate(lines_of):
            colour = j if not several(runs) else i
            entries.append((of_run(run, runs) + label, line_mark(colour, dash)))
            kind = f"linespoints pointtype {point} pointsize 0.55" if len(rows) <= 80 else "lines"
            points = line_of(rows, k, scale)
            if any(points):
                data += block(f"line{i}_{k}", points)
                plots.append(f"$line{i}_{k} using 1:2 with {kind} {style(colour, 1.8, dash)} notitle")
        colour, size = INK if not several(runs) else COLOURS[i], 1.1 if place.form == "png" else 0.7
        beyond = [((row[0] + row[1]) / 2e9, scale.of(row[4])) for row in above_threshold(run, rows)]
        kept = [(at / 1e9, scale.of(value)) for at, value in highest_breaches(run)[0]]
        for what, points, kind in (("breaches", kept, 2), ("seconds above the threshold", beyond, 8)):
            if points:
                mark = what, ("point", GREY if several(runs) else colour, kind, size)
                entries += [] if mark in entries else [mark]
                data += block(f"{what.split()[0]}{i}", points)
                plots.append(f"${what.split()[0]}{i} using 1:2 with points pointtype {kind} pointsize {size} linewidth 1.6 "
                             f"linecolor rgb '{colour}' notitle")
    below = "Each point: one second."
    if each > 1:
        below = f"Each point: {each} seconds; the median of their p50, the highest of their p99 and maximum."
    if any(row[3] is None and row[4] is not None for _, _, rows, _ in prepared for row in rows):
        below += " No p99 for a second with fewer than 100 samples."
    for shown, part_ns in (highest_breaches(run) for run, *_ in prepared):
        if len(shown) < max(len(run.breaches) for run, *_ in prepared) and shown:
            below += f" Crosses: the highest breach of each {time(part_ns)}."
            break
    losing = [run for run, *_ in prepared if run.losses or run.outages]
    if losing:
        entries.append(("second with losses", ("box", COLOURS[1])))
    if any(run.outages for run in losing):
        entries.append(("longest outage", ("box", INK)))
    high = len(losing) * STRIP_PX + 4 if losing else 0
    lines = begin(place, f"{name(runs[0].figure)} in time{all_of(runs)}", f"{formulas(runs)}. {below}", entries, strips=high)
    longest = max(max(rows[-1][1] for _, _, rows, _ in prepared), max((at for run, *_ in prepared for at, _ in run.breaches), default=0))
    lines += strip(place, losing, place.head - high - 4, longest) if losing else []
    hover_seconds(runs, place, prepared, longest)
    lines += scale.set("y", place.tall // 34, 1.3)
    lines += [f"set xrange [0:{longest / 1e9:.9g}]", f"set xlabel 'seconds after the start' {TEXT}"]
    for ns in sorted({run.threshold_ns for run, *_ in prepared if run.threshold_ns and run.threshold_on == run.figure}):
        if scale.lo_ns < ns < scale.hi_ns:
            y = f"{scale.of(ns):.12g}"
            lines += [f"set arrow from graph 0, first {y} to graph 1, first {y} nohead front {THIN} dashtype 4",
                      f"set label {quote('threshold ' + time(ns))} at graph 0.99, first {y} right offset 0, 0.5 front {TEXT}"]
    return [*lines, *data, "plot " + ", ".join(plots)]


# ---- Stages -----------------------------------------------------------------------------------------------------------

# In the order of the path. Where the stages of the reflector are known they replace the response.
WAY = (r"app_to_\w+_ns", r"network(_and_hosts)?_ns", r"response_ns", r"remote_(?!app)\w+_to_app_ns", r"remote_app_processing_ns",
       r"remote_app_to_\w+_ns", r"(?!app|remote)\w+_to_app_ns")
WAY_OF_REFLECTOR = (r"(?!app|remote)\w+_to_app_ns", r"app_processing_ns", r"app_to_\w+_ns")
# Parts take the place of their stage.
TRANSMIT_PARTS = ("app_to_qdisc_ns", "qdisc_to_driver_ns", "driver_to_nic_ns")
RECEIVE_PARTS = ("nic_to_kernel_ns", "kernel_to_app_ns")
PARTS = {"nic_to_app_ns": RECEIVE_PARTS, "app_to_nic_ns": TRANSMIT_PARTS, "app_to_kernel_ns": TRANSMIT_PARTS[:2]}
# A stage has its colour in every picture; the reflector's stages have those that an emitter's picture gives them.
STAGE_COLOURS = (COLOURS[0], COLOURS[1], COLOURS[4], COLOURS[2], COLOURS[3], COLOURS[5], GREY)
STAGE_COLOURS_OF_REFLECTOR = STAGE_COLOURS[3:6]
DARK_COLOURS = (COLOURS[0], COLOURS[1], COLOURS[2], GREY)  # with a light number on them


def divided(run, stages, prefix):
    """The stages with the parts of a stage in its place, if they have the same samples."""
    for whole, parts in ((prefix + whole, [prefix + part for part in parts]) for whole, parts in PARTS.items()):
        if whole in stages and all(one in run.statistics and run.statistics[one].samples == run.statistics[whole].samples for one in parts):
            at = stages.index(whole)
            stages = [*stages[:at], *parts, *stages[at + 1:]]
    return stages


def stages_of(run):
    """Names of stages that lie one after the other; fewer than two: none."""
    way = WAY if run.role == "emit" else WAY_OF_REFLECTOR
    known = [one for one in run.statistics if run.statistics[one].percentile(50) and one != run.figure]
    for prefix in ("", "remote_"):
        parts = TRANSMIT_PARTS
        if prefix + RECEIVE_PARTS[0] in known:  # else the second is the whole of timestamps by the kernel
            parts += RECEIVE_PARTS
        known = [one for one in known if one not in [prefix + part for part in parts]]
    stages = [one for pattern in way for one in known if re.fullmatch(pattern, one)]
    remote = [one for one in stages if one.startswith("remote_")]
    stages = [one for one in stages if one != "response_ns"] if len(remote) == 3 else [one for one in stages if one not in remote]
    stages = divided(run, divided(run, stages, ""), "remote_")
    return stages if len(stages) > 1 else []


def splits_of(run):
    """Splits of the run, read once: of a log by sample, of other files the mean."""
    if run.splits is None:
        stages = stages_of(run)
        if run.is_log:
            column = "RTT" if run.role == "emit" else "RESPONSE"
            run.splits = split.of_log(run.path, stages, {one: run.statistics[one].formula for one in stages}, column)
        else:
            run.splits = split.of_means(stages, run.statistics, run.figure)
    return run.splits


def lighter(colour):
    """Halfway to white."""
    return "#" + "".join(f"{(int(colour[at:at + 2], 16) + 255) // 2:02x}" for at in (1, 3, 5))


def of_way(stage, role):
    """(index in the path, index from the end of a part of it) of a stage."""
    way = WAY if role == "emit" else WAY_OF_REFLECTOR
    prefix = "remote_" if stage.startswith("remote_") else ""
    one = stage.removeprefix(prefix)
    for whole, parts in PARTS.items():
        if one in parts:
            stage, back = prefix + whole, len(parts) - 1 - parts.index(one)
            break
    else:
        back = 0
    return next(i for i, pattern in enumerate(way) if re.fullmatch(pattern, stage)), back


def colour_of(stage, role):
    at, back = of_way(stage, role)
    colour = (STAGE_COLOURS if role == "emit" else STAGE_COLOURS_OF_REFLECTOR)[at]
    for _ in range(back):
        colour = lighter(colour)
    return colour


def stack(run, one):
    """[(stage, from_ns, to_ns)] of a split, and (from_ns, to_ns) of the latency."""
    at, parts, begin_ns = 0.0, [], 0.0
    for stage, mean_ns in one.stages:
        parts.append((stage, at, at + mean_ns))
        at += mean_ns
        if run.role == "emit" and (re.fullmatch(WAY[0], stage) or stage in TRANSMIT_PARTS):
            begin_ns = at
    if run.role != "emit" and parts and re.fullmatch(WAY_OF_REFLECTOR[0], parts[0][0]):
        begin_ns = 0.0
    return parts, (begin_ns, begin_ns + one.whole_ns)


def linear(hi_ns):
    scale = Scale(0, 10)
    scale.lo_ns, scale.hi_ns, scale.is_log = 0, max(1, hi_ns), False
    scale.unit, scale.size_ns = next(((u, s) for u, s in (("s", 10**9), ("ms", 10**6), ("µs", 10**3)) if hi_ns >= 2 * s), ("ns", 1))
    return scale


def stages_plot(place, runs, names, kind, prefix, room):
    """Settings, data and the plot of one kind of split, a row for each run. A run without it has an empty row."""
    rows = [(len(runs) - i, run, one) for i, run in enumerate(runs) for one in splits_of(run) if one.name == kind]
    scale = linear(max(max(stack(run, one)[0][-1][2], stack(run, one)[1][1]) for _, run, one in rows))
    end = scale.hi_ns * 1.34
    lines, boxes, numbers = scale.set("x", room), {}, []
    left, right, top, bottom = place.plot
    row_px = (bottom - top) / (len(runs) + 0.2)
    for row, run, one in rows:
        parts, (begin_ns, end_ns) = stack(run, one)
        middle_px = bottom - (row - 0.4) * row_px
        for stage, from_ns, to_ns in parts:
            number = names.index(stage)
            boxes.setdefault(number, []).append((scale.of((from_ns + to_ns) / 2), row + 0.08, scale.of(from_ns), scale.of(to_ns), row - 0.16, row + 0.34))
            wide_px = (to_ns - from_ns) / end * (right - left)
            if wide_px > 9 * len(str(number + 1)) + 5:
                numbers.append((scale.of((from_ns + to_ns) / 2), row + 0.08, number + 1))
            place.spots.append((left + from_ns / end * (right - left), middle_px - 0.34 * row_px, max(2, wide_px), 0.5 * row_px,
                                f"{of_run(run, runs)}{name(stage)}: {time(round(to_ns - from_ns))}, mean of {count(one.samples)} samples"))
        boxes.setdefault(-1, []).append((scale.of((begin_ns + end_ns) / 2), row - 0.28, scale.of(begin_ns), scale.of(end_ns), row - 0.34, row - 0.22))
        lines.append(f"set label {quote(time(round(one.whole_ns)))} at {scale.of(end_ns):.12g}, {row - 0.28:.12g} left offset character 0.5, 0 {TEXT}")
    ticks = ", ".join(f"{quote_tick(fit(run.label, 13, 104))} {len(runs) - i}" for i, run in enumerate(runs))
    what = {split.TYPICAL: "typical: samples near p50", split.P99: "samples near p99", split.WORST: "the worst sample",
            split.MEAN: "mean of all samples"}[kind]
    lines += [f"set xrange [0:{scale.of(end):.12g}]", f"set ytics ({ticks})" if several(runs) else "unset ytics",
              f"set yrange [0.4:{len(runs) + 0.6}]", f"set xlabel {quote(what)} {TEXT}", "set style fill solid 1 noborder"]
    plots = []
    for number in sorted(boxes):
        colour = INK if number < 0 else colour_of(names[number], runs[0].role)
        lines += block(f"{prefix}{number + 1}", boxes[number])
        plots.append(f"${prefix}{number + 1} using 1:2:3:4:5:6 with boxxyerror linecolor rgb '{colour}' notitle")
    for k, (colour, light) in enumerate(((ON_COLOUR, True), ("#000000", False))):
        found = [row for row in numbers if (colour_of(names[row[2] - 1], runs[0].role) in DARK_COLOURS) == light]
        if found:
            lines += block(f"{prefix}numbers{k}", found)
            plots.append(f"${prefix}numbers{k} using 1:2:(sprintf('%d', $3)) with labels textcolor rgb '{colour}' notitle")
    return lines, "plot " + ", ".join(plots)


def kinds_of(runs):
    """Kinds of splits that a run of these has, in order."""
    found = {one.name for run in runs for one in splits_of(run)}
    return [kind for kind in (split.TYPICAL, split.P99, split.WORST, split.MEAN) if kind in found]


def stages_px(runs, px, narrow):
    """Height of the panel: narrow pictures have the splits one below the other."""
    more = 40 * (len(runs) - 1)
    return px + more + (len(kinds_of(runs)) - 1) * (130 + more) if narrow else px + more


def stages(runs, place):
    names = list(dict.fromkeys(stage for run in runs for one in splits_of(run) for stage, _ in one.stages))
    names.sort(key=lambda one: (of_way(one, runs[0].role)[0], -of_way(one, runs[0].role)[1]))
    entries = [(f"{i + 1} {name(one)}", ("box", colour_of(one, runs[0].role))) for i, one in enumerate(names)]
    entries.append((f"{word(runs[0])} as a whole", ("box", INK)))
    lines = begin(place, f"Stages of the path{all_of(runs)}",
                  "Each stage is the mean over the same samples, so that stages add up. The thin bar is the latency as a whole.", entries)
    kinds = kinds_of(runs)
    left, right = 24 if not several(runs) else 130, place.width - 28
    top, bottom = place.head, place.tall - BELOW
    lines += ["unset border", f"set border 3 linecolor rgb '{INK}'", "unset grid", f"set grid x back linecolor rgb '{FAINT}' linetype 1 linewidth 0.5",
              "set tics out scale 0.6", f"set xtics nomirror {TEXT}", f"set ytics nomirror {TEXT}"]
    for i, kind in enumerate(kinds):
        if place.narrow:
            high = (bottom - top + 60) / len(kinds)
            spans = left, right, top + i * high, top + (i + 1) * high - 60
        else:
            wide = (right - left + 52) / len(kinds)
            spans = left + i * wide, left + (i + 1) * wide - 52, top, bottom
        lines += ["unset label", "unset arrow", "unset object"] if i else []
        lines += place.part(*spans)
        more, plot = stages_plot(place, runs, names, kind, f"split{i}_", max(2, int((spans[1] - spans[0]) // 80)))
        lines += [*more, *(["unset ytics"] if i and not place.narrow else []), plot]
    return lines


# ---- All of them ------------------------------------------------------------------------------------------------------

def why_few(number, what):
    return f"{number} {what}{'s' * (number != 1)}: fewer than {FEWEST} are no picture"


def has_histogram(run):
    if not run.main.pairs:
        return "the file has no histogram"
    return why_few(len(run.main.pairs), "different value") if len(run.main.pairs) < FEWEST else None


def why_no_curve(figure):
    """None if at least FEWEST points by percentile are known."""
    if not figure or not figure.samples or not (figure.pairs or figure.percentiles):
        return "the file has no percentiles"
    if figure.pairs and not figure.ranked:
        return f"all samples are above --overflow ({time(figure.ends_ns)}), and {count(figure.unknown)} of them were not kept"
    known = figure.ranked if figure.pairs else figure.samples
    return why_few(known, "sample") if known < FEWEST else None


def has_percentiles(run):
    return why_no_curve(run.main)


def has_seconds(run):
    number = sum(row[1] > row[0] and row[4] is not None for row in run.seconds or ())
    if number >= FEWEST:
        return None
    return why_few(number, "second") if run.seconds else run.why_no_seconds or "the file has no seconds"


def has_stages(run):
    if not stages_of(run):
        return "the run did not measure its stages: see -s (--sw-timestamps) and, for a log, --log-full"
    if splits_of(run):
        return None
    return ("no sample of the log has all stages" if run.is_log else
            "the stages have not the same samples, and means of different samples do not add up: draw the log (--log-full)")


def has_one_way(run):
    ways = [run.statistics.get(way) for way in ("forward_ns", "backward_ns")]
    why = [why_no_way(way) for way in ways if way and way.samples]
    if None in why:
        return None
    return "a log does not have it" if run.is_log else why[0] if why else "it was not known"


# name: drawing function, reason for which a run is left out (None: it is drawn), height in px, description.
PANELS = {
    "histogram": (histogram, has_histogram, 400, "Histogram of the latency, with logarithmic counts"),
    "percentiles": (percentiles, has_percentiles, 400, "Latency by percentile, on a scale of nines"),
    "time": (in_time, has_seconds, 400, "Median, 99th percentile and maximum of each second, with breaches and losses"),
    "stages": (stages, has_stages, 270, "Stages of the path, stacked: typical, p99 and worst samples"),
    "one-way": (one_way, has_one_way, 360, "Forward and backward by percentile"),
}


def offer(runs, panel):
    """The runs that have the data of a panel, and the reasons for the others."""
    missing = [(run, PANELS[panel][1](run)) for run in runs]
    return [run for run, why in missing if why is None], [(run, why) for run, why in missing if why is not None]
