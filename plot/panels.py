# SPDX-License-Identifier: GPL-2.0-or-later
"""The panels of a picture: what is drawn of runs, as lines for gnuplot. Each is a row of PANELS."""
import itertools
import math
import re

from gnuplot import COLOURS, DASHES, FAINT, GREY, INK, LINE_PX, ON_COLOUR, TEXT, Scale, block, quote, quote_tick
from words import clean, count, name, time

ALMOST_NONE = 0.5  # the lower end of logarithmic counts: a bar of one sample is seen
POINTS = 800  # at most, of a line in time
THIN = f"linecolor rgb '{INK}' linewidth 1.1"
BELOW = 64  # px below a plot: ticks, what they are of, and some room


class Place:
    """Where a panel is: px in a picture of width x height, y from its top."""

    def __init__(self, form, width, height, top, tall):
        self.form, self.width, self.height, self.top, self.tall = form, width, height, top, tall
        self.narrow = width < 700
        self.head = 0  # px that a panel took for its title and key, once it was drawn

    def x(self, px):
        return f"{px / self.width:.6f}"

    def y(self, px):
        return f"{1 - px / self.height:.6f}"

    def font(self, px):
        return f"font ',{px if self.form == 'svg' else px * 0.75:.4g}'"

    def label(self, px, y_px, text, size_px=13, colour=INK, side="left"):
        return f"set label {quote(text)} at screen {self.x(px)}, screen {self.y(y_px)} {side} {self.font(size_px)} textcolor rgb '{colour}'"

    def part(self, left, right, top, bottom):
        """Margins of a plot, px from the left and from the top of the panel."""
        return [f"set lmargin at screen {self.x(left)}", f"set rmargin at screen {self.x(right)}",
                f"set tmargin at screen {self.y(self.top + top)}", f"set bmargin at screen {self.y(self.top + bottom)}"]

    def wrap(self, text, size_px=12, margin_px=40):
        """Lines of words that fit."""
        room, lines = max(20, int((self.width - margin_px) / (size_px * 0.55))), [""]
        for word in text.split(" "):
            if lines[-1] and len(lines[-1]) + 1 + len(word) > room:
                lines.append("")
            lines[-1] = clean((lines[-1] + " " + word).lstrip(), room)
        return lines


def begin(place, title, below, entries, left=72):
    """Lines that every panel begins with, and where the plot itself begins (px). below: a sentence below the title. entries: of the key."""
    lines = ["reset", f"set border 3 linecolor rgb '{INK}'", f"set grid back linecolor rgb '{FAINT}' linetype 1 linewidth 0.5",
             "set tics nomirror out scale 0.6", f"set xtics {TEXT}", f"set ytics {TEXT}",
             place.label(14, place.top + 14, title, 16)]
    at = place.top + 36
    for text in place.wrap(below):
        lines.append(place.label(14, at, text, 12))
        at += LINE_PX - 2
    if entries:
        columns = max(1, int((place.width - 30) // (58 + 7.2 * max(map(len, entries)))))
        rows = -(-len(entries) // columns)
        lines.append(f"set key at screen {place.x(14)}, screen {place.y(at - 6)} left top horizontal Left reverse samplen 4 "
                     f"maxcols {columns} {TEXT}")
        at += rows * LINE_PX + 10
    else:
        lines.append("set key off")
    place.head = at - place.top + 8
    return lines + place.part(left, place.width - 34, place.head, place.tall - BELOW)


def word(run):
    """What the latency of a run is called."""
    return name(run.figure).lower()


def style(i, width=2, dash=None):
    return f"linecolor rgb '{COLOURS[i]}' dashtype {dash or DASHES[i]} linewidth {width}"


def all_of(runs):
    """A word, where there are several runs."""
    return f", {len(runs)} runs" if len(runs) > 1 else ""


def coarse(runs):
    """A sentence, where values are known by their bucket only."""
    widest = max(run.main.width_ns for run in runs)
    return f" Values are the lower ends of buckets of {time(widest)}." if widest > 1 else ""


def formulas(runs):
    different = sorted({run.latency for run in runs})
    return different[0] if len(different) == 1 else "; ".join(f"{run.label}: {run.latency}" for run in runs)


# ---- Histogram --------------------------------------------------------------------------------------------------------

def edges_of(runs, scale):
    """Of the bins, in ns, and how wide one is in words. No bin is narrower than what the histograms tell apart."""
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


def bars(run, edges, scale):
    """Steps: the left end of each bin and its count."""
    ranks = [run.main.rank_below(edge) for edge in edges[1:-1]]
    ranks = [0, *ranks, run.main.known]
    rows = [(scale.of(edge), max(ALMOST_NONE, high - low)) for edge, low, high in zip(edges, ranks, ranks[1:])]
    return [(rows[0][0], ALMOST_NONE), *rows, (scale.of(edges[-1]), ALMOST_NONE)]


def marks(run, scale, highest):
    """Percentiles of a single run as lines to the top, each with its name."""
    lines, told = [], []
    for percent in (50, 99, 99.9):
        found = run.main.percentile(percent)
        if found and not found[1] and (percent == 50 or found[2] >= 10):
            told.append((found[0], f"p{percent:g} {time(found[0])}"))
    for i, (ns, text) in enumerate(told):
        x, y = f"{scale.of(ns):.12g}", 0.97 - 0.07 * i
        side, off = ("right", -0.6) if scale.share(ns) > 0.7 else ("left", 0.6)
        lines += [f"set arrow from first {x}, graph 0 to first {x}, graph {y + 0.02:.2f} nohead back {THIN} dashtype 3",
                  f"set label {quote(text)} at first {x}, graph {y:.2f} {side} offset character {off}, 0 {TEXT} front"]
    # Above the highest bar, where the names of percentiles are.
    return lines, highest * (highest / ALMOST_NONE)**(0.07 * len(told) + 0.08)


def histogram(runs, place):
    scale = Scale(min(run.main.pairs[0][0] for run in runs), max(run.main.pairs[-1][0] for run in runs))
    edges, width = edges_of(runs, scale)
    entries = [run.label for run in runs] if len(runs) > 1 else []
    lines = begin(place, f"{name(runs[0].figure)}: how often each was there{all_of(runs)}",
                  f"{formulas(runs)}. Logarithmic counts.{coarse(runs)}", entries)
    rows = [bars(run, edges, scale) for run in runs]
    highest = max(max(count for _, count in one) for one in rows)
    marked, top = marks(runs[0], scale, highest) if len(runs) == 1 else ([], highest * 2)
    lines += scale.set("x", place.width // 70)
    lines += [f"set xlabel {quote(f'{word(runs[0])} ({width})')} {TEXT}", f"set ylabel 'samples in a bin' {TEXT}",
              "set logscale y 10", "set format y '%.0s%c'", f"set yrange [{ALMOST_NONE}:{top:.6g}]",
              "set style fill transparent solid 0.25 noborder", *marked]
    plots = []
    for i, one in enumerate(rows):
        lines += block(f"bars{i}", one)
        if len(rows) == 1:
            plots.append(f"$bars{i} using 1:2 with fillsteps linecolor rgb '{COLOURS[i]}' notitle")
        plots.append(f"$bars{i} using 1:2 with steps {style(i, 1.6)} title {quote(runs[i].label)}")
    return [*lines, "plot " + ", ".join(plots)]


# ---- Percentiles ------------------------------------------------------------------------------------------------------

def nines(most, place):
    """Ticks of 1 / (1 - p)."""
    ticks = ["'0 %%' 1"] if place.narrow else ["'0 %%' 1", "'50 %%' 2"]
    every = -(-70 * len(str(most)) // (place.width - 106))
    for power in range(every, len(str(most)) + 1, every):
        percent = 100 - 100 / 10**power
        ticks.append(f"'{percent:.{max(0, power - 2)}f} %%' {10**power}")
    return f"set xtics ({', '.join(ticks)})"


def curve(figure, scale):
    """Points (1 / (1 - p), value) by nearest rank: up to where ten samples lie above, and from there on. The maximum ends it."""
    if not figure.pairs:
        told = [(100 / (100 - percent), scale.of(value), above) for percent, value, bound, above in figure.percentiles if not bound and above]
        certain, rest = ([point[:2] for point in told if (point[2] >= 10) == enough] for enough in (True, False))
        return certain, [*rest, (figure.samples, scale.of(figure.max_ns))]
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
    plots = []
    for i, (label, colour, dash, figure) in enumerate(figures):
        certain, rest = curve(figure, scale)
        kind = "lines" if figure.pairs else "linespoints pointtype 7 pointsize 0.5"
        title = f"title {quote(label)}"
        if len(certain) > 1:
            lines += block(f"certain{i}", certain)
            plots.append(f"$certain{i} using 1:2 with {kind} {style(colour, 2.4, dash)} {title}")
            title = "notitle"
        if rest:
            lines += block(f"rest{i}", rest)
            kind = f"points pointtype {(5, 7, 9, 11, 13, 15)[colour]} pointsize {0.35 if figure.pairs else 0.7}"
            plots.append(f"$rest{i} using 1:2 with {kind} linecolor rgb '{COLOURS[colour]}' {title}")
    return [*lines, "plot " + ", ".join(plots)]


def percentiles(runs, place):
    lines = begin(place, f"{name(runs[0].figure)} by percentile{all_of(runs)}",
                  f"{formulas(runs)}. Small points: fewer than ten samples lie above.{coarse(runs)}",
                  [run.label for run in runs] if len(runs) > 1 else [])
    if len(runs) == 1:
        lines.append("set key off")
    return by_percentile(place, lines, [(run.label, i, None, run.main) for i, run in enumerate(runs)])


def one_way(runs, place):
    figures, bounds = [], []
    for i, run in enumerate(runs):
        for j, way in enumerate(("forward_ns", "backward_ns")):
            figure = run.statistics.get(way)
            if not why_no_curve(figure):
                label = name(way) + (f", {run.label}" if len(runs) > 1 else "")
                figures.append((label, i if len(runs) > 1 else j, DASHES[0] if way == "forward_ns" else DASHES[1], figure))
                if figure.within_ns is not None:
                    bounds.append(figure.within_ns)
    known = f"They cross the two hosts' clocks: each value is known within {time(max(bounds))}." if bounds else ""
    lines = begin(place, f"One way by percentile{all_of(runs)}", f"Forward: T2 - T1; backward: T4 - T3. {known}",
                  [label for label, *_ in figures])
    return by_percentile(place, lines, figures)


# ---- Time -------------------------------------------------------------------------------------------------------------

def thinned(rows):
    """Rows (from_ns, to_ns, p50, p99, max) of fewer seconds than POINTS, and how many seconds each is of at most."""
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
    """With a gap where there is nothing: no value, or no row for a while."""
    out, before = [], None
    for row in rows:
        if row[which] is None or (before is not None and row[0] - before > 1.5 * 10**9):
            out.append(None)
        if row[which] is not None:
            out.append(((row[0] + row[1]) / 2e9, scale.of(row[which])))
        before = row[1]
    return out


def highest_breaches(run):
    """The highest one in each part of the time, and how long a part is."""
    part_ns, best = max(10**6, (run.duration_ns or 0) // 400), {}
    for at, value in run.breaches:
        best[at // part_ns] = max(best.get(at // part_ns, (0, 0)), (value, at))
    return [(at, value) for value, at in best.values()], part_ns


def in_time(runs, place):
    lines_of = (("p50", 2, DASHES[0], 7), ("p99", 3, DASHES[1], 5), ("max", 4, DASHES[2], 9)) if len(runs) <= 3 else (("p99", 3, None, 7),)
    prepared = [(run, i, *thinned(run.seconds)) for i, run in enumerate(runs) if run.seconds]
    values = [row[k] for _, _, rows, _ in prepared for row in rows for _, k, _, _ in lines_of if row[k] is not None]
    values += [value for run, *_ in prepared for _, value in run.breaches]
    scale, each = Scale(min(values), max(values)), max(each for *_, each in prepared)
    entries, plots, data = [], [], []
    for run, i, rows, _ in prepared:
        for j, (label, k, dash, point) in enumerate(lines_of):
            entries.append(label + (f" {run.label}" if len(runs) > 1 else ""))
            kind = f"linespoints pointtype {point} pointsize 0.55" if len(rows) <= 80 else "lines"
            data += block(f"line{i}_{k}", line_of(rows, k, scale))
            plots.append(f"$line{i}_{k} using 1:2 with {kind} {style(j if len(runs) == 1 else i, 1.8, dash)} title {quote(entries[-1])}")
        if run.breaches:
            entries.append("breaches" + (f" {run.label}" if len(runs) > 1 else ""))
            data += block(f"breaches{i}", [(at / 1e9, scale.of(value)) for at, value in highest_breaches(run)[0]])
            colour, size = INK if len(runs) == 1 else COLOURS[i], 1.1 if place.form == "png" else 0.7
            plots.append(f"$breaches{i} using 1:2 with points pointtype 2 pointsize {size} linewidth 1.6 linecolor rgb '{colour}' "
                         f"title {quote(entries[-1])}")
    below = "Each point: one second."
    if each > 1:
        below = f"Each point: {each} seconds; the middle of their p50, the highest of their p99 and maximum."
    if any(row[3] is None and row[4] is not None for _, _, rows, _ in prepared for row in rows):
        below += " No p99 where it has less than 100 samples."
    for shown, part_ns in (highest_breaches(run) for run, *_ in prepared):
        if len(shown) < max(len(run.breaches) for run, *_ in prepared) and shown:
            below += f" Crosses: the highest breach of each {time(part_ns)}."
            break
    lines = begin(place, f"{name(runs[0].figure)} in time{all_of(runs)}", f"{formulas(runs)}. {below}", entries)
    lines += scale.set("y", place.tall // 34, 1.3)
    longest = max(max(rows[-1][1] for _, _, rows, _ in prepared), max((at for run, *_ in prepared for at, _ in run.breaches), default=0))
    lines += [f"set xrange [0:{longest / 1e9:.9g}]", f"set xlabel 'seconds after the start' {TEXT}"]
    for ns in sorted({run.threshold_ns for run, *_ in prepared if run.threshold_ns and run.threshold_on == run.figure}):
        if scale.lo_ns < ns < scale.hi_ns:
            y = f"{scale.of(ns):.12g}"
            lines += [f"set arrow from graph 0, first {y} to graph 1, first {y} nohead front {THIN} dashtype 4",
                      f"set label {quote('threshold ' + time(ns))} at graph 0.99, first {y} right offset 0, 0.5 front {TEXT}"]
    return [*lines, *data, "plot " + ", ".join(plots)]


# ---- Stages -----------------------------------------------------------------------------------------------------------

# In the order of the way. Where the reflector's own are known they stand for the response.
WAY = (r"app_to_\w+_ns", r"network(_and_hosts)?_ns", r"response_ns", r"remote_(?!app)\w+_to_app_ns", r"remote_app_processing_ns",
       r"remote_app_to_\w+_ns", r"(?!app|remote)\w+_to_app_ns")
WAY_OF_REFLECTOR = (r"(?!app|remote)\w+_to_app_ns", r"app_processing_ns", r"app_to_\w+_ns")


def stages_of(run):
    """Names of stages that lie one after the other; fewer than two: none."""
    way = WAY if run.role == "emit" else WAY_OF_REFLECTOR
    known = [one for one in run.statistics if run.statistics[one].percentile(50) and one != run.figure]
    stages = [one for pattern in way for one in known if re.fullmatch(pattern, one)]
    remote = [one for one in stages if one.startswith("remote_")]
    stages = [one for one in stages if one != "response_ns"] if len(remote) == 3 else [one for one in stages if one not in remote]
    return stages if len(stages) > 1 else []


def stack(run, stages, percent, row, scale):
    """Rows of boxes (middle, row, from, to, low, high, number of the stage), and that of the whole."""
    at, boxes, begin_ns, own = 0, [], 0, stages_of(run)
    for number, one in enumerate(stages):
        found = run.statistics[one].percentile(percent) if one in own else None
        if found:
            boxes.append((scale.of(at + found[0] / 2), row + 0.08, scale.of(at), scale.of(at + found[0]), row - 0.16, row + 0.34, number))
            at += found[0]
            if re.fullmatch(WAY[0], one) and run.role == "emit":
                begin_ns = at
    whole = run.main.percentile(percent)
    if whole:
        end_ns = begin_ns + whole[0]
        boxes.append((scale.of((begin_ns + end_ns) / 2), row - 0.28, scale.of(begin_ns), scale.of(end_ns), row - 0.34, row - 0.22, -1))
        at = max(at, end_ns)
    return boxes, at


def linear(hi_ns):
    scale = Scale(0, 10)
    scale.lo_ns, scale.hi_ns, scale.is_log = 0, max(1, hi_ns), False
    scale.unit, scale.size_ns = next(((u, s) for u, s in (("s", 10**9), ("ms", 10**6), ("µs", 10**3)) if hi_ns >= 2 * s), ("ns", 1))
    return scale


def stages_plot(runs, names, percent, prefix, room):
    """Data, settings and the plot of one percentile."""
    totals = [stack(run, names, percent, 0, linear(1))[1] for run in runs]
    scale = linear(max(totals))
    boxes = [box for i, run in enumerate(runs) for box in stack(run, names, percent, len(runs) - i, scale)[0]]
    lines, plots = scale.set("x", room), []
    ticks = ", ".join(f"{quote_tick(clean(run.label, 16))} {len(runs) - i}" for i, run in enumerate(runs))
    for i, run in enumerate(runs):
        box = stack(run, names, percent, len(runs) - i, scale)[0][-1]
        if box[6] < 0:
            value = quote(time(run.main.percentile(percent)[0]))
            lines.append(f"set label {value} at {box[3]:.12g}, {box[1]:.12g} left offset character 0.5, 0 {TEXT}")
    lines += [f"set xrange [0:{scale.of(scale.hi_ns) * 1.18:.12g}]", f"set ytics ({ticks})" if len(runs) > 1 else "unset ytics",
              f"set yrange [0.4:{len(runs) + 0.6}]", f"set xlabel {quote(f'p{percent:g} of each')} {TEXT}", "set style fill solid 1 noborder"]
    for number in (*range(len(names)), -1):
        rows = [box[:6] for box in boxes if box[6] == number]
        if rows:
            lines += block(f"{prefix}{number + 1}", rows)
            colour = (*COLOURS, GREY)[number % 7] if number >= 0 else INK
            plots.append(f"${prefix}{number + 1} using 1:2:3:4:5:6 with boxxyerror linecolor rgb '{colour}' notitle")
    wide = [(box[0], box[1], box[6] + 1) for box in boxes if box[6] >= 0 and box[3] - box[2] > 0.03 * scale.of(scale.hi_ns)]
    for colour, numbers in ((ON_COLOUR, (1, 2, 3, 7)), ("#000000", (4, 5, 6))):
        rows = [row for row in wide if row[2] in numbers]
        if rows:
            lines += block(f"{prefix}numbers{numbers[0]}", rows)
            plots.append(f"${prefix}numbers{numbers[0]} using 1:2:(sprintf('%d', $3)) with labels textcolor rgb '{colour}' notitle")
    return lines, "plot " + ", ".join(plots)


def stages(runs, place):
    runs = [run for run in runs if stages_of(run)]
    names = list(dict.fromkeys(one for run in runs for one in stages_of(run)))
    order = WAY if runs[0].role == "emit" else WAY_OF_REFLECTOR
    names.sort(key=lambda one: next(i for i, pattern in enumerate(order) if re.fullmatch(pattern, one)))
    entries = [f"{i + 1} {name(one)}" for i, one in enumerate(names)] + [f"{word(runs[0])} as a whole"]
    colours = [(*COLOURS, GREY)[i % 7] for i in range(len(names))] + [INK]
    lines = begin(place, f"Stages, one after the other{all_of(runs)}",
                  "Left the median of each stage, right its 99th percentile. Those of parts do not add up to that of the whole, "
                  "the thin bar.", entries)
    left, top = 24 if len(runs) == 1 else 130, place.head
    middle = place.width / 2
    parts = ((50, left, middle - 20), (99, middle + (30 if len(runs) == 1 else 20), place.width - 28))
    bottom = place.tall - BELOW
    if place.narrow:
        half = (top + bottom) / 2
        spans = ((top, half - 40), (half + 22, bottom))
        parts = [(percent, left, place.width - 28) for percent, *_ in parts]
    else:
        spans = ((top, bottom),) * 2
    # First the title and the key alone, for a key is no wider than its plot.
    keys = [f"$nothing using 1:2 with boxes linecolor rgb '{colour}' title {quote(entry)}" for entry, colour in zip(entries, colours)]
    lines += ["unset border", "unset tics", "unset grid", "set xrange [0:1]", "set yrange [0:1]", "set style fill solid 1 noborder",
              *block("nothing", [(9, 9)]), "plot " + ", ".join(keys), "unset label", "set key off", f"set border 3 linecolor rgb '{INK}'",
              f"set grid x back linecolor rgb '{FAINT}' linetype 1 linewidth 0.5",
              "set tics out scale 0.6", f"set xtics nomirror {TEXT}", f"set ytics nomirror {TEXT}"]
    for i, ((percent, from_px, to_px), (high, low)) in enumerate(zip(parts, spans)):
        more, plot = stages_plot(runs, names, percent, f"p{percent}_", max(2, int((to_px - from_px) // 65)))
        more += ["unset ytics"] if i and not place.narrow else []
        lines += ["unset label", *place.part(from_px, to_px, high, low), *more, plot]
    return lines


# ---- All of them ------------------------------------------------------------------------------------------------------

def has_histogram(run):
    return None if run.main.pairs else "the file has no histogram"


def why_no_curve(figure):
    """None: it has a point by percentile at least."""
    if not figure or not figure.samples or not (figure.pairs or figure.percentiles):
        return "the file has no percentiles"
    if figure.pairs and not figure.ranked:
        return f"all samples are above --overflow ({time(figure.ends_ns)}), and {count(figure.unknown)} of them were not kept"
    return None


def has_percentiles(run):
    return why_no_curve(run.main)


def has_seconds(run):
    if any(row[1] > row[0] and row[4] is not None for row in run.seconds or ()):
        return None
    return run.why_no_seconds or "the file has no seconds"


def has_stages(run):
    return None if stages_of(run) else "the run did not tell its parts apart: see -s (--sw-timestamps) and, of a log, --log-full"


def has_one_way(run):
    ways = [run.statistics.get(way) for way in ("forward_ns", "backward_ns")]
    why = [why_no_curve(way) for way in ways if way and way.samples]
    if None in why:
        return None
    return "a log does not tell it" if run.is_log else why[0] if why else "it was not known"


# name: what draws it, what is missing of a run (None: nothing), px that it is tall, what it shows in words.
PANELS = {
    "histogram": (histogram, has_histogram, 400, "Histogram of the latency, with logarithmic counts"),
    "percentiles": (percentiles, has_percentiles, 400, "Latency by percentile, on a scale of nines"),
    "time": (in_time, has_seconds, 400, "Median, 99th percentile and maximum of each second, with breaches"),
    "stages": (stages, has_stages, 300, "Stages of the way, stacked: medians, and 99th percentiles"),
    "one-way": (one_way, has_one_way, 360, "Forward and backward by percentile"),
}


def offer(runs, panel):
    """The runs that have what a panel shows, and why the others do not."""
    missing = [(run, PANELS[panel][1](run)) for run in runs]
    return [run for run, why in missing if why is None], [(run, why) for run, why in missing if why is not None]
