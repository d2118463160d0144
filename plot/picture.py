# SPDX-License-Identifier: GPL-2.0-or-later
"""A picture: panels one below the other, and below them host, date, samples and verdict of each run."""
import html

from gnuplot import LINE_PX, draw, terminal
from panels import PANELS, Place, offer, stages_px
from words import Bad, clean, count, date, name, seconds

WIDTH, NARROW = 960, 420
USUAL_HEAD = 80  # px above a plot that the height of a panel includes
HOSTS = 6  # at most, in a sentence


def verdict(run):
    return run.level or ("not judged (a log has no verdict)" if run.is_log else "not judged")


def where_and_when(run):
    """Host and date in words. A file that --report merged has all its hosts, the first date and the last."""
    hosts = sorted({f"{host} {interface or ''}".strip() for host, interface, _ in run.files if host})
    dates = sorted(date(ns) for _, _, ns in run.files if date(ns))
    if run.hostname or not hosts:
        where = f"Host {run.hostname}" if run.hostname else "Host not known"
        if run.interface:
            where += f" {run.interface}" + (f" to {run.server}" if run.server else "")
    else:
        where = f"Host{'s' * (len(hosts) > 1)} {', '.join(hosts[:HOSTS])}" + (f" and {len(hosts) - HOSTS} more" if len(hosts) > HOSTS else "")
    when = date(run.began_unix_ns) or " to ".join(dict.fromkeys(dates[:1] + dates[-1:])) or "date not known"
    return where, when


def facts(run):
    """Host, date, stamps, duration, samples, loss and verdict in one sentence."""
    where, when = where_and_when(run)
    if run.is_log:
        where, when = "Host not in a log", f"{when} by the clock of the stamps" if run.began_unix_ns is not None else when
    parts = [where, when, f"{run.stamp} stamps"]
    if run.duration_ns is not None:
        parts.append(seconds(run.duration_ns))
    parts.append(f"{count(run.main.samples)} samples")
    if run.lost is not None:
        parts.append(f"{count(run.lost)} lost")
    return f"{', '.join(parts)}. Verdict: {verdict(run)}."


def notes(run, panels):
    """Notes about data that these panels leave out."""
    return [text for about, text in run.notes if about is None or set(about) & set(panels)]


def footer(runs, place, panels):
    """Lines of text, as wide as the picture."""
    lines = []
    for run in runs:
        lines += place.wrap((f"{run.label}: " if len(runs) > 1 else "") + facts(run))
        for note in notes(run, panels):
            lines += place.wrap(f"{run.label}: {note}." if len(runs) > 1 else f"{note[:1].upper()}{note[1:]}.")
    return lines


def choose(runs, wanted):
    """[(panel, runs with its data)], and [(panel, run, reason)] of the others. wanted: names, or None for every panel with data."""
    chosen, missing = [], []
    for panel in PANELS if wanted is None else wanted:
        having, lacking = offer(runs, panel)
        if having:
            chosen.append((panel, having))
        elif wanted is not None:
            raise Bad(f"no panel '{panel}' can be drawn of {lacking[0][0].path}: {lacking[0][1]}")
        missing += [(panel, run, why) for run, why in lacking]
    if not chosen:
        raise Bad(f"nothing can be drawn: {missing[0][2]}")
    return chosen, missing


def fitted(form, width, panel, having):
    """Height of a panel in px, so that title and key take nothing from its plot."""
    px = PANELS[panel][2]
    if panel == "stages":
        px = stages_px(having, px, width < 700)
    place = Place(form, width, 1000, 0, px)
    PANELS[panel][0](having, place)
    return px + max(0, place.head - USUAL_HEAD)


def compose(form, runs, chosen, width=WIDTH, title=None, ground="background rgb 'white'"):
    """The octets of a picture of the panels chosen. form: svg or png. ground: of an svg."""
    head = 40 if title else 6
    drawn = [fitted(form, width, panel, having) for panel, having in chosen]
    tall = sum(drawn)
    below = footer(runs, Place(form, width, 100, 0, 0), [panel for panel, _ in chosen])
    height = head + tall + 16 + (LINE_PX - 2) * len(below)
    script, top, spots = [*terminal(form, width, height, ground), "set multiplot"], head, []
    for i, ((panel, having), px) in enumerate(zip(chosen, drawn)):
        place = Place(form, width, height, top, px)
        lines, extra = PANELS[panel][0](having, place), []
        if not i:
            extra = [place.label(14, head + tall + 12 + (LINE_PX - 2) * k, text, 12) for k, text in enumerate(below)]
            extra += [place.label(14, 22, title, 19)] if title else []
        script += [lines[0], *extra, *lines[1:]]
        spots += place.spots
        top += px
    data = draw("\n".join([*script, "unset multiplot", ""]))
    about = html.escape(" ".join(described(panel, having) for panel, having in chosen))
    if form != "svg":
        return data
    data = data.replace(b"<title>Gnuplot</title>", f"<title>{about}</title>".encode("utf-8", "replace"), 1)
    return hovering(spots).join(data.rsplit(b"</svg>", 1))


def hovering(spots):
    """Areas that are not drawn, with the values that a browser shows for them, and the end of the SVG."""
    areas = [f'<rect x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{tall:.1f}"><title>{html.escape(clean(text, 400))}</title></rect>'
             for x, y, wide, tall, text in spots]
    return "\n".join(['<g class="values" fill="none" stroke="none" pointer-events="all">', *areas, "</g>", "</svg>"]).encode("utf-8", "replace")


def described(panel, runs):
    """Text alternative of a picture."""
    values = []
    for run in runs:
        half = run.main.percentile(50)
        values.append(f"{run.label}: median {f'{half[0]} ns' if half else 'not known'}, maximum {run.main.max_ns} ns")
    values = "; ".join(values)
    return f"{PANELS[panel][3]}. {name(runs[0].figure)} of {values}. Verdict: {', '.join(verdict(run) for run in runs)}."
