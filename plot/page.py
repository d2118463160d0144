# SPDX-License-Identifier: GPL-2.0-or-later
"""A page of HTML without scripts, that fetches nothing."""
import html
import re

from gnuplot import COLOURS, FAINT, INK, ON_COLOUR
from picture import NARROW, WIDTH, choose, compose, described, facts, verdict
from panels import PANELS
from words import Bad, count, name, percent, time

# Colours for a dark theme, in the order of COLOURS: lighter, and distinct for colour-blind readers (Okabe and Ito).
ON_DARK = ("#56B4E9", "#FF8A3D", "#2FCF9F", "#E79FC6", "#F5C04A", "#A9DCFA")

STYLE = """
:root { color-scheme: light dark; --ink: #1a1a1a; --ground: #ffffff; --faint: #d0d0d0; --soft: #f3f4f6; --number: #ffffff; }
@media (prefers-color-scheme: dark) { :root { --ink: #ececec; --ground: #16181c; --faint: #44484f; --soft: #22262c; --number: #000000; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 1rem; font: 1rem/1.5 sans-serif; color: var(--ink); background: var(--ground); }
body { overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: .5rem 0; } h2 { font-size: 1.2rem; margin: 2rem 0 .5rem; }
h3 { font-size: 1rem; margin: 1.2rem 0 .4rem; }
.verdict { border: 2px solid; border-radius: .4rem; padding: .5rem .8rem; margin: .6rem 0; }
.trusted { border-color: #009E73; } .doubtful { border-color: #E69F00; border-style: dashed; }
.void { border-color: #D55E00; border-style: double; border-width: 5px; }
.verdict ul { margin: .3rem 0; padding-left: 1.2rem; }
dl.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr)); gap: .5rem; margin: .6rem 0; }
dl.figures div { background: var(--soft); border-radius: .4rem; padding: .5rem .7rem; }
dl.figures dt { font-size: .85rem; } dl.figures dd { margin: 0; font-size: 1.15rem; font-weight: bold; }
figure { margin: 1rem 0 2rem; } figure svg { display: block; width: 100%; height: auto; }
figcaption { font-size: .85rem; }
.narrow { display: none; } @media (max-width: 40rem) { .narrow { display: block; } .wide { display: none; } }
.table { overflow-x: auto; } .table:focus-visible { outline: 2px solid; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { border-bottom: 1px solid var(--faint); padding: .2rem .7rem .2rem 0; text-align: right; overflow-wrap: normal; }
th:first-child, td.text { text-align: left; } td.text { overflow-wrap: anywhere; min-width: 12rem; }
"""


def escape(text):
    return html.escape(str(text), quote=True)


# ---- Pictures ---------------------------------------------------------------------------------------------------------

def rgb(colour):
    """(red, green, blue) of a colour, as the svg terminal writes it."""
    return tuple(int(colour[i:i + 2], 16) for i in (1, 3, 5))


def themed(svg, prefix):
    """An svg of gnuplot for embedding: ids with a prefix, and colours as variables of the style of the page."""
    text = svg.decode("utf-8")
    text = text[text.index("<svg"):]
    text = re.sub(r"<(title|desc)>.*?</\1>", "", text, count=2, flags=re.S)  # gnuplot's own: the page has the picture described
    text = re.sub(r"""\b(id=)(["'])""", rf"\1\2{prefix}", text)
    text = re.sub(r"""((?:xlink:)?href=)(["'])#""", rf"\1\2#{prefix}", text)
    text = re.sub(r"url\(#", f"url(#{prefix}", text)
    for old, new in ((INK, "var(--ink)"), (FAINT, "var(--faint)"), (ON_COLOUR, "var(--number)"), *((colour, f"var(--c{i})") for i, colour in enumerate(COLOURS))):
        r, g, b = rgb(old)
        text = re.sub(rf"rgb\(\s*{r}\s*,\s*{g}\s*,\s*{b}\s*\)", new, text)
        text = re.sub(old, new, text, flags=re.I)
    return text


def svg_of(runs, panel, having, width, prefix, label):
    text = themed(compose("svg", runs, [(panel, having)], width, ground=""), prefix)
    start = f'<svg role="img" aria-label="{escape(label)}" class="{"wide" if width == WIDTH else "narrow"}"'
    return start + text.removeprefix("<svg")


def figure(runs, number, panel, having):
    label = described(panel, having)
    pictures = [svg_of(runs, panel, having, width, f"p{number}{'w' if width == WIDTH else 'n'}_", label) for width in (WIDTH, NARROW)]
    return f"<figure>\n{''.join(pictures)}\n<figcaption>{escape(PANELS[panel][3])}.</figcaption>\n</figure>"


# ---- Tables -----------------------------------------------------------------------------------------------------------

def table(title, heads, rows, texts=()):
    """texts: numbers of columns with words, aligned left."""
    out = [f'<div class="table" tabindex="0" role="region" aria-label="{escape(title)}"><table>',
           "<thead><tr>" + "".join(f'<th scope="col">{escape(head)}</th>' for head in heads) + "</tr></thead>", "<tbody>"]
    for row in rows:
        cells = "".join(f'<td{" class=text" if i in texts else ""}>{escape(cell)}</td>' for i, cell in enumerate(row[1:], 1))
        out.append(f'<tr><th scope="row">{escape(row[0])}</th>{cells}</tr>')
    return "\n".join([*out, "</tbody></table></div>"])


def value(found, bound=False):
    return "-" if found is None else (">= " if bound else "") + count(found)


def percentile_table(runs):
    every = sorted({one[0] for run in runs for one in run.main.percentiles})
    rows = []
    for one in every:
        row = [f"{percent(one)} %"]
        for run in runs:
            found = run.main.percentile(one)
            row += [value(found[0], found[1]), count(found[2])] if found else ["-", "-"]
        rows.append(row)
    rows += [[what, *(cell for run in runs for cell in (value(getattr(run.main, member)), ""))]
             for what, member in (("minimum", "min_ns"), ("mean", "mean_ns"), ("maximum", "max_ns"))]
    heads = ["percentile"]
    for run in runs:
        several = f"{run.label}: " if len(runs) > 1 else ""
        heads += [f"{several}ns", f"{several}samples above"]
    return table("Percentiles", heads, rows)


def account_table(runs):
    known = [run for run in runs if run.accounts]
    names = list(dict.fromkeys(one for run in known for one in run.accounts))
    names = [one for one in names if any(run.accounts.get(one) for run in known) or one == "lost"]
    rows = [(name(one), *(value(run.accounts.get(one)) for run in known)) for one in names]
    return table("Packets", ["row", *((run.label for run in known) if len(runs) > 1 else ("packets",))], rows) if rows else ""


def stage_table(run):
    rows = []
    for one, figure in run.statistics.items():
        half, late = figure.percentile(50), figure.percentile(99)
        rows.append((name(one), figure.formula or "-", count(figure.samples),
                     *(value(found[0], found[1]) if found else "-" for found in (half, late)), value(figure.max_ns), value(figure.within_ns)))
    heads = ["stage", "formula", "samples", "median, ns", "99th, ns", "maximum, ns", "bound, ns"]
    return table(f"Stages of {run.label}", heads, rows, texts=(1,))


# ---- The page ---------------------------------------------------------------------------------------------------------

def key_figures(run):
    told = []
    for one in (50, 99, 99.9):
        found = run.main.percentile(one)
        told.append((f"p{one:g}", (("≥ " if found[1] else "") + time(found[0])) if found else "not known"))
    told.append(("maximum", time(run.main.max_ns) if run.main.max_ns is not None else "not known"))
    told.append(("lost", count(run.lost) if run.lost is not None else "not known"))
    told.append(("samples", count(run.main.samples)))
    return '<dl class="figures">' + "".join(f"<div><dt>{escape(what)}</dt><dd>{escape(text)}</dd></div>" for what, text in told) + "</dl>"


def run_table(runs):
    """One row for each run."""
    rows = []
    for run in runs:
        found = [run.main.percentile(one) for one in (50, 99, 99.9)]
        rows.append((run.label, run.name, verdict(run), run.stamp, count(run.main.samples), value(run.lost),
                     *(("≥ " if one[1] else "") + time(one[0]) if one else "-" for one in found),
                     time(run.main.max_ns) if run.main.max_ns is not None else "-"))
    return table("Runs", ["run", "file", "verdict", "stamps", "samples", "lost", "p50", "p99", "p99.9", "maximum"], rows)


def top_of(run, several):
    reasons = "".join(f"<li>{escape(what)} ({escape(found)}): {escape(why)}</li>" for what, found, why in run.reasons)
    notes = "".join(f"<li>{escape(note)}</li>" for _, note in run.notes)
    return "\n".join([f"<h2>{escape(run.label)}</h2>" if several else "",
                      f'<div class="verdict {escape(run.level or "none")}"><strong>Measurement: {escape(verdict(run))}</strong>'
                      + (f"<ul>{reasons}</ul>" if reasons else "") + "</div>",
                      "" if several else key_figures(run), f"<p>{escape(facts(run))} {escape(run.latency)}.</p>",
                      f"<p>Not in the pictures:</p><ul>{notes}</ul>" if notes else ""])


def page(runs, wanted, title):
    """The page, UTF-8. wanted: names of panels, or None."""
    chosen, missing = choose(runs, wanted)
    heading = title or f"{name(runs[0].figure)} of {' and '.join(run.label for run in runs)}"
    colours = "".join(f"--c{i}: {light}; " for i, light in enumerate(COLOURS))
    dark = "".join(f"--c{i}: {one}; " for i, one in enumerate(ON_DARK))
    style = f"{STYLE}:root {{ {colours}}}\n@media (prefers-color-scheme: dark) {{ :root {{ {dark}}} }}\n"
    body = [f"<h1>{escape(heading)}</h1>", run_table(runs) if len(runs) > 1 else "", *(top_of(run, len(runs) > 1) for run in runs), "<h2>Pictures</h2>",
            *(figure(runs, i, panel, having) for i, (panel, having) in enumerate(chosen))]
    lacking = "".join(f"<li>{escape(PANELS[panel][3])}, {escape(run.label)}: {escape(why)}</li>" for panel, run, why in missing)
    body += [f"<h3>Not drawn</h3><ul>{lacking}</ul>" if lacking else "", "<h2>Tables</h2>", "<h3>Percentiles of the latency</h3>",
             percentile_table(runs)]
    accounts = account_table(runs)
    body += ["<h3>Packets</h3>", accounts] if accounts else []
    for run in runs:
        body += [f"<h3>Stages{f', {escape(run.label)}' if len(runs) > 1 else ''}</h3>", stage_table(run)]
    told = [(f"{run.label}: {what}" if len(runs) > 1 else what, text) for run in runs for what, text in run.facts if text]
    body += ["<h3>Where it ran</h3>", table("Where it ran", ["item", "as the program reported"], told, texts=(1,))] if told else []
    text = "\n".join(['<!DOCTYPE html>', '<html lang="en">', "<head>", '<meta charset="utf-8">',
                      '<meta name="viewport" content="width=device-width, initial-scale=1">',
                      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">",
                      '<link rel="icon" href="data:,">',
                      f"<title>{escape(heading)}</title>", f"<style>{style}</style>", "</head>", "<body>", "<main>", *body, "</main>", "</body>",
                      "</html>", ""])
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise Bad("a text of a run cannot be written as UTF-8") from None
