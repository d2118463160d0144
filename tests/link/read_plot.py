# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads what rant-plot has made. Prints a line for each fault.

  read_plot.py svg FILE TEXT...      well-formed, with these texts, and with lines
  read_plot.py png FILE              whole, of some size, and not blank
  read_plot.py html FILE TEXT...     a page that needs nothing else, and can be read without eyes
  read_plot.py same JSON OTHER       both are read as the same: latency and, of a log, all that it tells
  read_plot.py spoil FILE...         each is read, or refused in one line, whatever is changed in it
  read_plot.py corner PNG light|dark
  read_plot.py frame HTML WIDTH...   prints a page that shows it so wide each, and says by how much it is too wide
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
        if text not in said:
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
    if names.count("dt") % 6 or not names.count("dt"):
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
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../plot"))
    sys.dont_write_bytecode = True


def spoilt(chance, data):
    """One thing is another."""
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


def check_same(paths):
    plot_rooms()
    import runs
    one, other = (runs.read(path) for path in paths)
    if (one.role, one.stamp, one.latency, one.figure) != (other.role, other.stamp, other.latency, other.figure):
        fault(f"{(one.role, one.stamp, one.latency)} and {(other.role, other.stamp, other.latency)}")
    if not other.is_log:
        if (one.reasons, one.level, one.accounts, one.hostname) != (other.reasons, other.level, other.accounts, other.hostname):
            fault("verdict, accounts or host are others")
        if sum(count for _, count in other.main.pairs) != one.main.samples:
            fault("the seconds do not have all samples")
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
    elif what == "spoil":
        check_spoilt([path, *rest])
    elif what == "corner":
        check_corner(read(path), rest[0])
    elif what == "frame":
        frame(read(path).decode("utf-8"), rest)
except Exception as error:
    fault(f"{type(error).__name__}: {error}")
for line in faults[:10]:
    print(f"{os.path.basename(path)}: {line}")
