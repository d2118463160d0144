# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks files of rant-plot. Prints a line for each fault.

  read_plot.py svg FILE TEXT...      well-formed, with these texts (~TEXT: a pattern), and with lines
  read_plot.py png FILE              whole, of some size, and not blank
  read_plot.py html FILE TEXT...     a page without other files, and with text alternatives
  read_plot.py same JSON OTHER       both files are read as the same run
  read_plot.py rooms FOLDER          logs and breaches with values that are known exactly
  read_plot.py spoil FILE...         each file with random changes is read, or refused in one line
  read_plot.py corner PNG light|dark
  read_plot.py frame HTML WIDTH...   prints a page that shows HTML at each width, and the px by which it is too wide
  read_plot.py boxes HTML WIDTH...   prints a page that shows HTML at each width, and the texts of pictures that overlap
"""
import html
import html.parser
import os
import random
import re
import struct
import sys
import xml.etree.ElementTree as tree
import zlib

faults = []


def fault(text):
    faults.append(text)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def same_spaces(text):
    return re.sub(r"\s+", " ", text)


def check_svg(data, texts, name="it"):
    root = tree.fromstring(data)
    said = same_spaces(" ".join("".join(one.itertext()) for one in root.iter() if one.tag.endswith("}text")))
    for text in texts:
        if not (re.search(text[1:], said) if text.startswith("~") else text in said):
            fault(f"{name} does not say '{text}': {said[:600]}")
    lines = sum(one.tag.endswith("}path") and len(one.get("d", "")) > 60 for one in root.iter())
    if lines < 1:
        fault(f"{name} has no line of a few points")
    if any(one.tag.endswith(("}script", "}image", "}foreignObject")) for one in root.iter()):
        fault(f"{name} has more than a picture")


def png_rows(data):
    """(width, height, octets of all rows, each with its filter)."""
    if data[:8] != b"\x89PNG\r\n\x1a\n" or data[-8:-4] != b"IEND":
        raise ValueError("is no whole PNG")
    at, packed, size = 8, b"", None
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        if struct.unpack(">I", data[at + 8 + length:at + 12 + length])[0] != zlib.crc32(kind + body):
            raise ValueError("has a wrong checksum")
        size = struct.unpack(">II", body[:8]) if kind == b"IHDR" else size
        packed += body if kind == b"IDAT" else b""
        at += 12 + length
    return *size, zlib.decompress(packed)


def check_png(data):
    width, height, rows = png_rows(data)
    if width < 1000 or not 300 < height < 20000:
        fault(f"it is {width} x {height}")
    # Filtered, an even ground is zeros.
    drawn = len(rows) - rows.count(0)
    if drawn < len(rows) / 1000 or len(set(rows)) < 20:
        fault(f"it is blank: {drawn} octets of {len(rows)}")


class Page(html.parser.HTMLParser):
    VOID = {"meta", "link", "br", "img", "input"}

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.ids, self.text, self.cells = [], [], [], "", []

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in self.VOID:
            self.open.append(tag)
        for name, value in attributes:
            if name == "id":
                self.ids.append(value)
            if name in ("src", "href", "xlink:href", "data", "action", "poster") and not (value.startswith("#") or value == "data:,"):
                fault(f"<{tag} {name}={value}> is of elsewhere")
            if name.startswith("on") or re.search(r"url\(\s*['\"]?(?!#)", value or ""):
                fault(f"<{tag} {name}={value}> does something")
            if value and value.startswith("#") and name.endswith("href") and value[1:] not in self.ids:
                fault(f"{value} is nowhere before <{tag}>")

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            fault(f"</{tag}> ends something else")

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        self.open.pop()

    def handle_data(self, data):
        if self.open and self.open[-1] == "style" and re.search(r"@import|url\(", data):
            fault("the style fetches something")
        self.text += data if not self.open or self.open[-1] != "style" else ""


def check_html(data, texts):
    text = data.decode("utf-8")
    page = Page()
    page.feed(text)
    page.close()
    names = [tag for tag, _ in page.tags]
    if page.open:
        fault(f"not ended: {page.open}")
    for one in ("script", "iframe", "img", "object", "embed", "base", "form"):
        if one in names:
            fault(f"it has <{one}>")
    if len(set(page.ids)) != len(page.ids):
        fault("an id is there twice")
    if names.count("h1") != 1 or names.count("h2") < 2 or ("html", {"lang": "en"}) not in page.tags:
        fault("it has no headings, or no language")
    pictures = [attributes for tag, attributes in page.tags if tag == "svg"]
    if len(pictures) < 4 or any(one.get("role") != "img" or len(one.get("aria-label", "")) < 40 for one in pictures):
        fault(f"{len(pictures)} pictures, or one that is not described")
    if any(attributes.get("scope") not in ("col", "row") for tag, attributes in page.tags if tag == "th") or names.count("th") < 10:
        fault("a table has no headings")
    if names.count("dt") != (0 if 'aria-label="Runs"' in text else 6):
        fault(f"{names.count('dt')} key figures")
    if "prefers-color-scheme: dark" not in text or 'name="viewport"' not in text:
        fault("it has one theme only, or is not for phones")
    said = same_spaces(page.text)
    for one in texts:
        if one not in said:
            fault(f"it does not say '{one}'")
    for picture in re.findall(r"<svg.*?</svg>", text, re.S):
        check_svg(picture, [], "a picture")


def plot_rooms():
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path.insert(0, os.environ.get("PLOT") or os.path.join(here, "../../plot"))
    sys.path.append(os.path.join(here, "../../python"))
    sys.dont_write_bytecode = True


def spoilt(chance, data):
    """The data with one random change."""
    at = chance.randrange(len(data))
    kind = chance.randrange(4)
    if kind == 0:
        return data[:at]
    if kind == 1:
        return data[:at] + bytes([chance.randrange(256)]) + data[at + 1:]
    found = chance.choice(list(re.finditer(rb'-?\d+|"[a-z_0-9]*"|null|true|false', data[:100000])))
    other = chance.choice([b"-1", b"0", b"null", b"9223372036854775807", b"1e999", b'"x"', b"[]", b"{}", b"true", b"3.5", b"", b"-", b"\n", b"\xff"])
    return data[:found.start()] + other + data[found.end():]


def check_spoilt(paths, variants=60):
    plot_rooms()
    import picture
    import runs
    import words
    seed = int(os.environ.get("SEED") or random.randrange(10**6))
    chance, read_all = random.Random(seed), 0
    for path in paths:
        data = read(path)
        for i in range(variants):
            changed = spoilt(chance, data)
            with open(paths[0] + ".spoilt", "wb") as file:
                file.write(changed)
            try:
                run = runs.read(paths[0] + ".spoilt")
                for panel, having in picture.choose([run], None)[0]:
                    picture.PANELS[panel][0](having, picture.Place("svg", 960, 400, 0, 400))
                read_all += 1
            except words.Bad as error:
                if "\n" in str(error) or not str(error):
                    fault(f"SEED={seed}: not one line: {error}")
            except Exception as error:
                fault(f"SEED={seed}: {path}, change {i}: {type(error).__name__}: {error}")
    os.unlink(paths[0] + ".spoilt")
    if read_all < 5:
        fault(f"SEED={seed}: only {read_all} could be read")


def log_of(path, names, rows, begin=1700000000 * 10**9):
    """A csv log; of a row of numbers those of times are added to begin. A text is a line."""
    with open(path, "w") as file:
        file.write(",".join(names) + "\n")
        for row in rows:
            file.write((row if isinstance(row, str) else ",".join(
                "" if value is None else str(value + begin if name[0] == "T" else value) for name, value in zip(names, row))) + "\n")
    return path


def expect(what, have, want):
    if have != want:
        fault(f"{what}: {have}, not {want}")


def check_seconds(runs, path):
    names, second = ("SEQ", "T1_KERNEL", "T4_KERNEL", "RTT"), 10**9
    rows = [(i, i * 5000000, i * 5000000 + 1000 + i, 1000 + i) for i in range(200)]  # the first second: 1000 to 1199
    rows += ["# 7 records left out from SEQ 300 on: the ring was full", (307, 4 * second + 5000, 4 * second + 5500, 500),
             (308, 6 * second + 5000, 6 * second + 5005, 5), (309, 9 * second + 5000, 9 * second + 5009, 9), (310, second // 2 - 77, second // 2, 77)]  # and a clock that was set back
    run = runs.read(log_of(path, names, rows))
    expect("seconds", [(row[0] // second, *row[2:]) for row in run.seconds], [(0, 1099, 1197, 1199), (4, 500, None, 500), (6, 5, None, 5), (9, 9, None, 77)])
    expect("samples", (run.main.samples, run.main.min_ns, run.main.max_ns), (204, 5, 1199))
    expect("notes", [text.split(":")[0] for _, text in run.notes], ["7 records were left out of the log"])
    expect("begin and duration", (run.began_unix_ns, run.duration_ns), (1700000000 * second + 1000, 9 * second + 4009))
    expect("of the run", (run.role, run.stamp, run.latency, run.lost, run.level), ("emit", "kernel", "RTT = T4_KERNEL - T1_KERNEL", None, None))


def check_stages(runs, path):
    names = ("SEQ", "T1_SW", "T1_HW", "T4_HW", "T4_SW", "RTT", "T2_HW", "T2_SW", "T3_SW", "T3_HW", "RESPONSE", "NETWORK", "FLAGS")
    row = (1, 0, 10, 110, 130, 100, 40, 43, 48, 60, 20, 80, "-")
    stages = {"rtt_ns": 100, "app_to_nic_ns": 10, "nic_to_app_ns": 20, "remote_nic_to_app_ns": 3, "remote_app_processing_ns": 5,
              "remote_app_to_nic_ns": 12, "response_ns": 20, "network_ns": 80}
    read = lambda rows: runs.read(log_of(path, names, rows))  # noqa: E731
    told = lambda run: {name: figure.max_ns for name, figure in run.statistics.items()}  # noqa: E731
    expect("stages", told(read([row] * 3)), stages)
    gap = (2, 0, 10, 110, 130, 100, 40, None, None, None, None, None, "unknown")
    expect("samples with T3", [figure.samples for figure in read([row, gap]).statistics.values()], [2, 2, 2, 1, 1, 1, 1, 1])
    other_clock = (1, 1000, 10, 110, 1130, 100, *row[6:])
    run = read([other_clock] * 3)
    expect("of two clocks", told(run), {name: ns for name, ns in stages.items() if name not in ("app_to_nic_ns", "nic_to_app_ns")})
    expect("said so", [text for _, text in run.notes], ["the stages of this host are left out: its times are of two clocks"])
    expect("a note of a duplicate", told(read([row, "# SEQ 1 was received again", row])), stages)
    far = (1, 0, 10, 20000110, 20000130, 20000100, 10000040, 10000043, 10000048, 10000060, 20, 20000080, "-")
    run = read([far] * 9000)  # more than a histogram of --report keeps above 1 ms
    expect("long stages", (told(run)["network_ns"], run.statistics["network_ns"].percentile(50)), (20000080, [20000080, False, 4500]))
    expect("short stages beside them", run.statistics["remote_nic_to_app_ns"].percentile(50), [3, False, 4500])
    expect("the latency", run.main.pairs, [(20000100, 9000)])
    run = read([row, "# T2_HW is T2_KERNEL from here on", "# T3_HW is T3_KERNEL from here on", row])
    expect("of two kinds", [name for name in told(run) if name.startswith("remote")], [])
    expect("said so too", len(run.notes), 1)


def check_halves(runs, path):
    """The halves of a receive stage take its place if the kernel has a time of each packet."""
    import panels
    names = ("SEQ", "T1_SW", "T1_HW", "T4_HW", "T4_SW", "RTT", "T2_HW", "T2_SW", "T3_SW", "T3_HW", "RESPONSE", "NETWORK", "T4_KERNEL", "T2_KERNEL", "FLAGS")
    row = (1, 0, 10, 110, 130, 100, 40, 43, 48, 60, 20, 80, 125, 42, "-")
    path_of = ["app_to_nic_ns", "network_ns", "remote_nic_to_kernel_ns", "remote_kernel_to_app_ns", "remote_app_processing_ns", "remote_app_to_nic_ns",
               "nic_to_kernel_ns", "kernel_to_app_ns"]
    run = runs.read(log_of(path, names, [row] * 3))
    expect("halves", panels.stages_of(run), path_of)
    expect("times of the halves", [panels.splits_of(run)[0].stages[at][1] for at in (2, 3, 6, 7)], [2, 1, 15, 5])
    expect("lighter", panels.colour_of("nic_to_kernel_ns", "emit") != panels.colour_of("kernel_to_app_ns", "emit"), True)
    run = runs.read(log_of(path, names, [row, (2, *row[1:12], 125, None, "-")]))
    expect("a half that is missing", panels.stages_of(run), [*path_of[:2], "remote_nic_to_app_ns", *path_of[4:]])


def check_split(runs, path):
    import panels
    names = ("SEQ", "T1_SW", "T1_HW", "T4_HW", "T4_SW", "RTT", "T2_HW", "T2_SW", "T3_SW", "T3_HW", "RESPONSE", "NETWORK", "FLAGS")

    def row(seq, more):
        """A sample with more ns in the reflector's program."""
        return (seq, 0, 10, 110 + more, 130 + more, 100 + more, 40, 43, 48 + more, 60 + more, 20 + more, 80, "-")

    run = runs.read(log_of(path, names, [row(i, i) for i in range(1000)]))
    found = {one.name: (one.samples, dict(one.stages)["remote_app_processing_ns"], one.whole_ns) for one in panels.splits_of(run)}
    expect("splits", found, {"typical": (11, 504, 599), "p99": (3, 994, 1089), "worst": (1, 1004, 1099)})
    for one in panels.splits_of(run):
        expect(f"the sum of {one.name}", sum(ns for _, ns in one.stages), one.whole_ns + 10 + 20)
    gap = (5000, 0, 10, 11000, 11020, 10990, 40, None, None, None, None, None, "unknown")
    run = runs.read(log_of(path, names, [row(i, i) for i in range(1000)] + [gap]))
    expect("the worst without T3 is a gap", [one.name for one in panels.splits_of(run)], ["typical", "p99"])
    run = runs.read(log_of(path, names, [row(i, i) for i in range(99)]))
    expect("few samples have no p99", [one.name for one in panels.splits_of(run)], ["typical", "worst"])
    run = runs.read(log_of(path, ("SEQ", "T1_HW", "T4_HW", "RTT"), [(i, 0, 100 + i, 100 + i) for i in range(200)]))
    expect("a log without stages", (panels.splits_of(run), panels.has_stages(run) is None), ([], False))


def check_threshold(runs):
    import panels
    run = runs.Run("x")
    run.role, run.figure, run.threshold_on, run.threshold_ns = "emit", "rtt_ns", "rtt_ns", 50
    rows = [(0, 10, 1, 1, 40), (10, 20, 1, 1, 60), (20, 30, 1, 1, 70)]
    run.breaches, run.breach_count = [(25, 70)], 9
    expect("seconds above the threshold", panels.above_threshold(run, rows), [rows[1]])
    run.breach_count = 1
    expect("with every breach kept", panels.above_threshold(run, rows), [])
    from words import without_prefix
    expect("names", without_prefix(["run-6.12-a.json", "run-6.12-b.json"]), ["a.json", "b.json"])
    expect("names without a separator", without_prefix(["before.json", "best.json"]), ["before.json", "best.json"])


def check_breaches(runs):
    run = runs.Run("x")
    run.role, run.stamp, run.began_unix_ns, run.duration_ns = "emit", "hardware", 1700000000 * 10**9, 5 * 10**9
    tai = {"clocks": {"nic_clock": {"minus_realtime": {"offset_ns": 37 * 10**9, "bound_ns": 100}}}}
    part = {"number": 1, "seq": 8, "value_ns": 7, "latency_ns": 7, "stamps": {"t1_hw_ns": run.began_unix_ns, "t4_hw_ns": run.began_unix_ns + 39 * 10**9}}
    expect("a breach by a NIC's clock of TAI", runs.place_breach(run, part, runs.stamp_to_realtime(tai, run)), (2 * 10**9, 7))
    expect("one by a clock that is not known", runs.place_breach(run, part, runs.stamp_to_realtime({"clocks": None}, run)), None)
    expect("one beyond the run", runs.place_breach(run, part, 0), None)
    runs.place_breaches(run, [part, part], 37 * 10**9, 5)
    expect("of five", (run.breaches, run.breach_count, [text for _, text in run.notes]), ([(2 * 10**9, 7)], 5, ["the file has the time of 1 of 5 breaches"]))


def check_drawn(run):
    """Compares drawn values with those of the file."""
    import gnuplot
    import panels
    figure = run.main
    scale = gnuplot.Scale(figure.pairs[0][0], figure.pairs[-1][0])
    edges, _ = panels.edges_of([run], scale)
    bars = [count for _, count in panels.bars(run, edges, scale)]
    expect("samples in bars", sum(count for count in bars if count >= 1), figure.known)
    expect("the first bar has the minimum", bars[1] >= 1, True)
    certain, rest = panels.curve(figure, scale)
    told = {round(x, 6): value for x, value in [*rest, *certain]}
    for percent, x in ((90, 10.0), (99, 100.0)) if figure.width_ns == 1 else ():
        expect(f"the curve at {percent} %", told.get(x), scale.of(figure.percentile(percent)[0]))
    expect("the end of the curve", rest[-1][1], scale.of(figure.pairs[-1][0]))


def check_thinned():
    """2000 seconds without 100 of them."""
    import gnuplot
    import panels
    rows = [(i * 10**9, (i + 1) * 10**9, 10 + i % 3, 20 + i, 3000 - i) for i in range(2000) if not 900 <= i < 1000]
    out, each = panels.thinned(rows)
    expect("seconds that are put together", (each, len(out), out[0], out[-1]),
           (3, 634, (0, 3 * 10**9, 11, 22, 3000), (1998 * 10**9, 2000 * 10**9, 11, 2019, 1002)))
    line = panels.line_of(out, 4, gnuplot.Scale(10, 3000))
    expect("a gap", (line.count(None), line.index(None)), (1, 300))
    expect("few seconds", panels.thinned(rows[:700]), (rows[:700], 1))


def check_rooms(folder):
    plot_rooms()
    import runs
    path = os.path.join(folder, "made.csv")
    check_seconds(runs, path)
    check_stages(runs, path)
    check_halves(runs, path)
    check_split(runs, path)
    check_threshold(runs)
    check_breaches(runs)
    check_thinned()
    second = {"from_ns": 1, "to_ns": 2, "samples": 100, "p50_ns": 3, "p99_ns": 4, "max_ns": 5}
    expect("a second", (runs.second_of(second), runs.second_of({**second, "samples": 99})), ((1, 2, 3, 4, 5), (1, 2, 3, None, 5)))
    os.unlink(path)


def check_same(paths):
    plot_rooms()
    import runs
    one, other = (runs.read(path) for path in paths)
    check_drawn(one)
    check_drawn(other)
    if (one.role, one.stamp, one.latency, one.figure) != (other.role, other.stamp, other.latency, other.figure):
        fault(f"{(one.role, one.stamp, one.latency)} and {(other.role, other.stamp, other.latency)}")
    if not other.is_log:
        if (one.reasons, one.level, one.accounts, one.hostname) != (other.reasons, other.level, other.accounts, other.hostname):
            fault("verdict, accounts or host are others")
        if sum(count for _, count in other.main.pairs) != one.main.samples:
            fault("the seconds do not have all samples")
        if one.seconds is not None and one.seconds != other.seconds:
            fault("the seconds are others")
    elif other.main.pairs != one.main.pairs:
        fault("the latency has other samples")
    for name in other.statistics:
        if one.statistics[name].percentiles != other.statistics[name].percentiles and one.statistics[name].width_ns == 1:
            fault(f"{name}: {one.statistics[name].percentiles} and {other.statistics[name].percentiles}")
        if one.statistics[name].samples != other.statistics[name].samples:
            fault(f"{name}: {one.statistics[name].samples} and {other.statistics[name].samples} samples")
    if other.seconds and max(row[4] for row in other.seconds if row[4] is not None) != one.main.max_ns:
        fault("the maximum is in no second")


def check_corner(data, theme):
    # Of the first pixel each filter leaves the value as it is.
    width, _, rows = png_rows(data)
    if (sum(rows[1:4]) > 600) != (theme == "light") or width < 300:
        fault(f"the corner is {tuple(rows[1:4])}")


# Texts that stand among the curves, each at its line: percentiles of a histogram, the threshold, the whole of a split.
AMONG_CURVES = r"/^(p[0-9.]+ |threshold |[0-9.]+ [nµm]?s$|[0-9]$)/"

BOXES = """onload = () => document.querySelectorAll("iframe").forEach(frame => {
const page = frame.contentDocument, faults = [], name = t => t.textContent.trim().slice(0, 40);
for (const svg of page.querySelectorAll("figure svg")) {
  const edge = svg.getBoundingClientRect();
  if (edge.width === 0) continue;
  const texts = [...svg.querySelectorAll("text")].filter(t => t.textContent.trim()).map(t => [t, t.getBoundingClientRect()]);
  const meet = (a, b, by) => a.left < b.right - by && b.left < a.right - by && a.top < b.bottom - by && b.top < a.bottom - by;
  texts.forEach(([t, a], i) => {
    if (a.left < edge.left - 1 || a.right > edge.right + 1 || a.top < edge.top - 1 || a.bottom > edge.bottom + 1) faults.push("outside: " + name(t));
    texts.slice(i + 1).forEach(([u, b]) => { if (meet(a, b, 2)) faults.push(name(t) + " over " + name(u)); });
  });
  const marked = texts.filter(([t]) => !AMONG_CURVES.test(t.textContent.trim()));
  for (const path of svg.querySelectorAll("path")) {
    if (path.closest("defs") || path.getAttribute("d").length < 60) continue;
    const length = path.getTotalLength(), matrix = path.getScreenCTM();
    for (let k = 0; k <= 300; k++) {
      const at = path.getPointAtLength(length * k / 300).matrixTransform(matrix);
      for (const [t, a] of marked)
        if (at.x > a.left + 1 && at.x < a.right - 1 && at.y > a.top + 3 && at.y < a.bottom - 3) { faults.push("curve over " + name(t)); k = 999; break; }
    }
  }
  frame.dataset.texts = Number(frame.dataset.texts || 0) + texts.length;
}
const found = frame.dataset.texts > 20 ? [...new Set(faults)].join("; ") || "nothing overlaps" : "no texts";
frame.removeAttribute("srcdoc");
frame.dataset.told = `wide ${frame.clientWidth}: ${found}`; });"""


def boxes(text, widths):
    text = html.escape(re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text))
    frames = "".join(f'<iframe style="width:{width}px;height:3000px;border:0" srcdoc="{text}"></iframe>' for width in widths)
    print(f"<!DOCTYPE html><html><body>{frames}<script>{BOXES.replace('AMONG_CURVES', AMONG_CURVES)}</script></body></html>")


def frame(text, widths):
    text = html.escape(re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text))
    frames = "".join(f'<iframe style="width:{width}px;height:3000px;border:0" srcdoc="{text}"></iframe>' for width in widths)
    print(f"""<!DOCTYPE html><html><body>{frames}<script>onload = () => document.querySelectorAll("iframe").forEach(frame => {{
const e = frame.contentDocument.documentElement, shown = [...e.querySelectorAll("svg")].filter(s => s.getBoundingClientRect().width > 0);
frame.removeAttribute("srcdoc");
frame.dataset.told = `wide ${{e.clientWidth}} over ${{e.scrollWidth - e.clientWidth}} shown ${{[...new Set(shown.map(s => s.getAttribute("class")))]}}`; }})
</script></body></html>""")


what, path, *rest = sys.argv[1:]
try:
    if what == "svg":
        check_svg(read(path), rest)
    elif what == "png":
        check_png(read(path))
    elif what == "html":
        check_html(read(path), rest)
    elif what == "same":
        check_same([path, *rest])
    elif what == "rooms":
        check_rooms(path)
    elif what == "spoil":
        check_spoilt([path, *rest])
    elif what == "corner":
        check_corner(read(path), rest[0])
    elif what == "boxes":
        boxes(read(path).decode("utf-8"), rest)
    elif what == "frame":
        frame(read(path).decode("utf-8"), rest)
except Exception as error:
    fault(f"{type(error).__name__}: {error}")
for line in faults[:10]:
    print(f"{os.path.basename(path)}: {line}")
