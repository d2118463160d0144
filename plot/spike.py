# SPDX-License-Identifier: GPL-2.0-or-later
"""One breach at both hosts as one picture: rows of actors on one time axis."""
import html
import math

from timeline import ROLES
from words import Bad, clean, fit, time, width_of

WIDTH, LEFT, RIGHT = 1280, 232, 24
ROW_PX, BAR_PX, HEAD_PX = 24, 16, 26
OWNER_ROWS = 6
INK, SOFT, LATE = "#1b1f24", "#5f6b7a", "#c62828"
STAGE, WIRE = "#8593a6", "#1b1f24"

# By class of docs/json.md: a colour that colour-blind readers tell apart, and its word.
CLASSES = {
    "irq": ("#d55e00", "interrupt"), "interrupt": ("#e69f00", "interrupt of the CPU"), "softirq": ("#cc79a7", "softirq"),
    "nmi": ("#000000", "NMI"), "thread": ("#0072b2", "thread"), "idle": ("#d5d9de", "idle"), "rant": ("#009e73", "rant itself"),
    "interrupt_held": ("#f0e442", "interrupt held back"), "interrupt_held_idle": ("#f0e442", "interrupt held back"),
    "deferred": ("#56b4e9", "deferred to ksoftirqd"), "softirqs_off": ("#56b4e9", "softirqs off"), "packets": ("#b39ddb", "other packets"),
    "not_seen": ("#4a4a4a", "not seen by the kernel"), "nic": ("#8d6e63", "NIC or its bus"), "not_in_trace": ("#f6d5d5", "not in the trace"),
    "events_lost": ("#f6d5d5", "events lost"), "others": ("#9e9e9e", "others"),
}


def owner_name(owner):
    kind, name = owner["class"], clean(owner["name"] or "", 40)
    word = CLASSES.get(kind, CLASSES["others"])[1]
    if kind == "irq":
        return f"irq {owner['number']} {name}"
    if kind == "interrupt":
        return f"{name} interrupt"
    if kind == "idle":
        return {"exit": "exit from idle", "": "idle"}.get(name, f"idle {name}")
    if kind == "thread":
        return f"{name} ({owner['number']})"
    return f"{word} {name}".strip()


def long_name(owner):
    return owner_name(owner) + (f", {clean(owner['function'], 40)}" if owner["function"] else "")


def cause(host):
    """The sentence about the cause."""
    why = host.why
    if "not_explained" in why:
        return f"Cause not known: {clean(why['not_explained'].split(':')[0])}."
    usual = f"usually {time(round(why['typical_ns']))}" if why["typical_ns"] is not None else "usual time not known"
    first = f"{host.late['name']} took {time(why['value_ns'])} (± {time(why['bound_ns'])}; {usual})"
    if not why["parts_named"]:
        return f"{first}. " + ("It was not late within this bound." if why["class"] == "not_late" else "Cause: spread over several owners.")
    names = " and ".join(f"{CLASSES.get(p['class'], CLASSES['others'])[1]} {clean(p['name'] or '', 40)}".strip() for p in why["parts"][:why["parts_named"]])
    on = f" on CPU {why['cpu']}" if why["cpu"] is not None else ""
    of = "excess" if why["typical_ns"] is not None else "stage"
    return f"{first}. Cause: {names}{on}, {why['share_percent']} % of the {of}."


class Canvas:
    def __init__(self, from_ns, to_ns):
        self.from_ns, self.to_ns, self.out, self.y = from_ns, to_ns, [], 0

    def x(self, ns):
        share = (min(max(ns, self.from_ns), self.to_ns) - self.from_ns) / (self.to_ns - self.from_ns)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def text(self, x, y, text, size=13, fill=INK, anchor="start", weight="normal"):
        self.out.append(f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{fill}" text-anchor="{anchor}" font-weight="{weight}">{html.escape(text)}</text>')

    def rect(self, x, y, wide, tall, fill, title="", extra=""):
        about = f"<title>{html.escape(title)}</title>" if title else ""
        self.out.append(f'<rect x="{x:.2f}" y="{y:.1f}" width="{wide:.2f}" height="{tall:.1f}" fill="{fill}"{extra}>{about}</rect>')

    def line(self, x, y, to_x, to_y, stroke=SOFT, wide=1.0, extra=""):
        self.out.append(f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}" stroke="{stroke}" stroke-width="{wide}"{extra}/>')

    def bar(self, from_ns, to_ns, fill, title, extra=""):
        """A bar of the row at self.y, at least one pixel wide."""
        x = self.x(from_ns)
        wide = max(self.x(to_ns) - x, 1.0)
        self.rect(x, self.y + (ROW_PX - BAR_PX) / 2, wide, BAR_PX, fill, title, extra)
        return x, wide

    def row(self, label, strong=False):
        self.line(LEFT, self.y + ROW_PX, WIDTH - RIGHT, self.y + ROW_PX, "#e7eaee")
        self.text(LEFT - 10, self.y + 16, fit(label, 12.5, LEFT - 20), 12.5, INK, "end", "bold" if strong else "normal")


# ---- One host -----------------------------------------------------------------------------------------------------------

def owners(host, view):
    """Rows [(label, spans)] of owners, the longest within the late stage, or within the picture, first, rant last; and of all
    others."""
    rows, late = {}, host.late
    first, last = (late["from_ns"], late["to_ns"]) if late else view
    for cpu in host.data["cpus"]:
        if cpu["cpu"] not in host.cpus():
            continue
        for span in cpu["spans"]:
            if span["to_ns"] > view[0] and span["from_ns"] < view[1]:
                row = rows.setdefault((cpu["cpu"], span["class"], span["name"], span["number"]), [0, 0, []])
                row[0] += max(0, min(span["to_ns"], last) - max(span["from_ns"], first))
                row[1] += span["to_ns"] - span["from_ns"]
                row[2].append(span)
    order = sorted(rows.items(), key=lambda one: (one[0][1] == "rant", -one[1][0], -one[1][1]))
    shown = OWNER_ROWS if len(order) > OWNER_ROWS + 1 else len(order)
    out = [(f"{owner_name(row[2][0])}, CPU {key[0]}", row[2]) for key, row in order[:shown]]
    rest = order[shown:]
    if rest:
        out.append((f"{len(rest)} other owner{'s' if len(rest) > 1 else ''}", [span for _, row in rest for span in row[2]]))
    return out


def put_owners(c, host):
    shift = host.shift_ns
    for label, spans in owners(host, (c.from_ns + shift, c.to_ns + shift)):
        c.row(label)
        for span in spans:
            late = host.late and span["to_ns"] > host.late["from_ns"] and span["from_ns"] < host.late["to_ns"]
            faded = "" if late or not host.late else ' fill-opacity="0.35"'
            c.bar(span["from_ns"] - shift, span["to_ns"] - shift, CLASSES.get(span["class"], CLASSES["others"])[0],
                  f"{long_name(span)}: {time(span['to_ns'] - span['from_ns'])}", faded)
        c.y += ROW_PX


def put_sections(c, host):
    """The late interval: in each section the time of each owner."""
    c.row("late stage by owner", True)
    for section in host.late["sections"]:
        at = section["from_ns"] - host.shift_ns
        for part in section["parts"]:
            x, wide = c.bar(at, at + part["value_ns"], CLASSES.get(part["class"], CLASSES["others"])[0],
                            f"{long_name(part)}: {time(part['value_ns'])}", f' stroke="{INK}" stroke-width="0.4"')
            words = f"{long_name(part)} {time(part['value_ns'])}"
            if width_of(words, 11) < wide - 8:
                dark = part["class"] in ("thread", "nmi", "not_seen", "rant", "irq")
                c.text(x + 4, c.y + 16, words, 11, "#ffffff" if dark else INK)
            at += part["value_ns"]
    c.y += ROW_PX


def is_late(host, stage):
    return bool(host.late) and stage.from_ns >= host.late["from_ns"] - 1 and stage.to_ns <= host.late["to_ns"] + 1


def put_stages(c, host, row, label):
    c.row(label)
    right = LEFT
    for stage in host.stages():
        if stage.row != row:
            continue
        late, length = is_late(host, stage), time(stage.to_ns - stage.from_ns)
        x, wide = c.bar(stage.from_ns - host.shift_ns, stage.to_ns - host.shift_ns, LATE if late else STAGE, f"{stage.name}: {length}")
        words = f"{stage.name} {length}"
        length_px = width_of(words, 11.5)
        if length_px < wide - 16:
            c.text(x + 8, c.y + 16, words, 11.5, "#ffffff" if late else INK)
        elif x + wide + 4 + length_px < WIDTH - RIGHT and x >= right:
            c.text(x + wide + 4, c.y + 16, words, 11.5, LATE if late else INK)
            right = x + wide + 4 + length_px
        elif x - 4 - length_px > right:
            c.text(x - 4, c.y + 16, words, 11.5, LATE if late else INK, "end")
        right = max(right, x + wide)
    c.y += ROW_PX


def put_wire(c, host, alone):
    """The row of the NIC: a mark at each time that is nearest to the wire. Returns its middle."""
    middle = c.y + ROW_PX / 2
    if alone and host.role == "emit":
        put_stages(c, host, "wire", "NIC and wire")
    else:
        c.row("NIC and wire")
        c.y += ROW_PX
    for n in ("T1", "T2", "T3", "T4"):
        ns = host.nearest(n)
        if ns is not None:
            x = c.x(ns - host.shift_ns)
            c.out.append(f'<path d="M{x:.1f},{middle - 5:.1f} l5,5 -5,5 -5,-5 z" fill="{WIRE}"><title>{n}</title></path>')
    return middle


def put_host(c, host, upside, alone):
    """Rows of one host; upside: the wire is the last row. Returns the middle of the row of the NIC."""
    data = host.data
    c.text(14, c.y + 18, fit(f"{host.name[0].upper()}{host.name[1:]}", 14.5, LEFT - 28), 14.5, INK, weight="bold")
    c.y += HEAD_PX
    top, middle = c.y, 0
    steps = [lambda: put_stages(c, host, "application", f"thread {data['pid']}, CPU {data['cpu']}"), lambda: put_stages(c, host, "kernel", "kernel")]
    mark = len(c.out)
    if upside:
        put_owners(c, host)
        if host.late:
            put_sections(c, host)
        for step in steps:
            step()
        middle = put_wire(c, host, alone)
    else:
        middle = put_wire(c, host, alone)
        for step in reversed(steps):
            step()
        if host.late:
            put_sections(c, host)
        put_owners(c, host)
    if host.late:  # below the bars
        x, to_x = (c.x(host.late[end] - host.shift_ns) for end in ("from_ns", "to_ns"))
        c.out.insert(mark, f'<rect x="{x:.1f}" y="{top:.1f}" width="{max(to_x - x, 1.5):.1f}" height="{c.y - top:.1f}" fill="{LATE}" fill-opacity="0.09"/>')
    return middle


# ---- The picture --------------------------------------------------------------------------------------------------------

def step_of(ns):
    """A round step for about eight marks."""
    rough = ns / 8
    size = 10 ** math.floor(math.log10(rough))
    return next(size * k for k in (1, 2, 5, 10) if size * k >= rough)


def put_axis(c, zero, top, bottom):
    step = step_of(c.to_ns - c.from_ns)
    unit, size = ("µs", 10**3) if c.to_ns - c.from_ns < 5 * 10**6 else ("ms", 10**6)
    marks = []
    at = math.ceil((c.from_ns - zero) / step)
    while zero + at * step <= c.to_ns:
        x = c.x(zero + at * step)
        marks.append((x, f"{at * step / size:g}"))
        at += 1
    for x, label in marks:
        c.line(x, top, x, bottom, "#e7eaee")
        c.text(x, top - 5, label, 11.5, SOFT, "middle")
    c.text(LEFT - 10, top - 5, f"{unit} after the first time", 11.5, SOFT, "end")


def put_wires(c, emit, reflect, upper, lower, between):
    """Arrows of the packet between both hosts, and the bound of the offset where it arrives."""
    for out, into, down in (("T1", "T2", True), ("T3", "T4", False)):
        from_host, to_host = (emit, reflect) if down else (reflect, emit)
        from_ns, to_ns = from_host.nearest(out), to_host.nearest(into)
        if from_ns is None or to_ns is None:
            continue
        x, to_x = c.x(from_ns - from_host.shift_ns), c.x(to_ns - to_host.shift_ns)
        y, to_y = (upper, lower) if down else (lower, upper)
        c.line(x, y, to_x, to_y, WIRE, 1.4, ' marker-end="url(#arrow)"')
        far = to_ns if down else from_ns
        left, right = (c.x(far - reflect.shift_ns + sign * between[1]) for sign in (-1, 1))
        c.out.append(f'<path d="M{left:.1f},{lower - 6:.1f} v12 M{left:.1f},{lower:.1f} H{right:.1f} M{right:.1f},{lower - 6:.1f} v12" '
                     f'fill="none" stroke="{LATE}" stroke-width="1.3"><title>position of the reflector: ± {time(between[1])}</title></path>')


def put_events(c, host, zero):
    events = host.data["events"]
    if not events:
        return
    what = "the late stage ended" if host.late else "the end of the packet"
    many = "The last event" if len(events) == 1 else f"The last {len(events)} events"
    c.y += 8
    c.text(14, c.y + 16, f"{many} of the {ROLES[host.role]} before {what}", 13.5, weight="bold")
    c.y += 22
    half = (len(events) + 1) // 2
    for i, one in enumerate(events):
        x, y = (14 if i < half else WIDTH / 2 + 8), c.y + 16 + 18 * (i % half)
        c.text(x + 78, y, time_at(one["ns"] - host.shift_ns - zero), 12, SOFT, "end")
        c.text(x + 90, y, f"CPU {one['cpu']}", 12, SOFT)
        who = clean(one["task"], 20) + (f" ({one['pid']})" if one["pid"] else "")
        c.text(x + 140, y, fit(f"{who}: {clean(one['text'])}", 12, WIDTH / 2 - 170), 12)
    c.y += 18 * half


def time_at(ns):
    return ("−" if ns < 0 else "") + (f"{abs(ns) / 1e3:,.1f} µs" if abs(ns) < 10**7 else f"{abs(ns) / 1e6:,.3f} ms")


def put_legend(c, hosts):
    seen = {span["class"] for host in hosts for cpu in host.data["cpus"] if cpu["cpu"] in host.cpus() for span in cpu["spans"]}
    seen |= {part["class"] for host in hosts if host.late for one in host.late["sections"] for part in one["parts"]}
    x, done = 14, set()
    c.y += 10
    for fill, word in [*([(LATE, "late stage")] if any(host.late for host in hosts) else []), (STAGE, "other stage"), *(CLASSES[kind] for kind in CLASSES if kind in seen)]:
        if (fill, word) in done:
            continue
        done.add((fill, word))
        if x + width_of(word, 12) + 26 > WIDTH:
            x, c.y = 14, c.y + 18
        c.rect(x, c.y + 4, 12, 12, fill, extra=f' stroke="{SOFT}" stroke-width="0.5"')
        c.text(x + 17, c.y + 14.5, word, 12, SOFT)
        x += width_of(word, 12) + 34
    c.y += 24


def notes(hosts, between):
    out = []
    if between:
        out.append(f"The clocks of both hosts are aligned by the packets of both traces, within ± {time(between[1])} (red bars at the wire).")
    out.append("Times of events ± " + ", ".join(f"{time(max(host.data['bound_ns'], host.data['resolution_ns']))} ({ROLES[host.role]})" for host in hosts) + ".")
    for host in hosts:
        if host.data["cut_off"]:
            out.append(f"The trace of the {ROLES[host.role]} is truncated.")
        if host.data["spans_left_out"]:
            out.append(f"{host.data['spans_left_out']:,} intervals of the {ROLES[host.role]} are left out.")
        if host.late and host.late["longest"]:
            out.append("Which stage was late is not known: the longest is shown.")
    return out


def put_notes(c, sentences):
    """Sentences in as many lines as they need."""
    lines = [""]
    for one in sentences:
        longer = f"{lines[-1]} {one}".strip()
        if width_of(longer, 11) > WIDTH - 28 and lines[-1]:
            lines.append(one)
        else:
            lines[-1] = longer
    for line in lines:
        c.text(14, c.y + 12, fit(line, 11, WIDTH - 28), 12, SOFT)
        c.y += 18


def compose(hosts, between, title=None):
    """The octets of the picture."""
    times = [ns - host.shift_ns for host in hosts for _, ns in host.known()]
    zero, last = min(times), max(times)
    if last <= zero:
        raise Bad("the times of the packet have no length")
    c = Canvas(zero - (last - zero) * 0.05, last + (last - zero) * 0.13)
    guilty = next((host for host in hosts if host.late and "not_explained" not in host.why), hosts[0])
    late = f": late in {guilty.late['name']}" if guilty.late else ""
    c.text(14, 30, title or f"Packet {hosts[0].seq}{late} at the {guilty.name}" if guilty.late or title else f"Packet {hosts[0].seq}", 20, weight="bold")
    c.text(14, 52, fit(cause(guilty), 13.5, WIDTH - 28), 13.5)
    c.y = 62
    top, mark = c.y + 22, len(c.out)
    c.y = top + 2
    middles = []
    for i, host in enumerate(hosts):
        middles.append(put_host(c, host, upside=len(hosts) > 1 and i == 0, alone=len(hosts) == 1))
        c.y += 6
    bottom, bars = c.y, c.out[mark:]
    del c.out[mark:]
    put_axis(c, zero, top, bottom)
    c.out += bars
    if between:
        put_wires(c, *hosts, *middles, between)
    put_events(c, guilty, zero)
    put_legend(c, hosts)
    put_notes(c, notes(hosts, between))
    tall = c.y + 10
    about = html.escape(f"Packet {hosts[0].seq} on a time axis. {cause(guilty)}")
    head = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {tall:.0f}" width="{WIDTH}" height="{tall:.0f}" role="img" font-family="DejaVu Sans, Arial, sans-serif">',
            f"<title>{about}</title>",
            f'<defs><marker id="arrow" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto"><path d="M0,0 L10,5 L0,10 z" fill="{WIRE}"/></marker></defs>',
            f'<rect width="{WIDTH}" height="{tall:.0f}" fill="#ffffff"/>']
    return "\n".join([*head, *c.out, "</svg>", ""]).encode("utf-8", "replace")
