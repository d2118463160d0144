# SPDX-License-Identifier: GPL-2.0-or-later
"""Code blocks of a page: indented by four blanks, or between lines of ```.

    pages.py list PAGE...         a line for each block: the name of the page without its folder, "|", its first line
    pages.py block PAGE BEGIN     the block whose first line begins with that
    pages.py shows BLOCK OUTPUT   checks that OUTPUT contains each line of the file BLOCK, in this order. Numbers, blanks, the
                                  level of the verdict and its reasons are not compared; "..." stands for any lines.
                                  Prints the first missing line, with exit status 1.
"""
import os
import re
import sys

NUMBER = re.compile(r"(?<![\w.])[+-]?\d[\d,]*(\.\d+)?(?![\d]*(th\b|\w))\*?")


def blocks(path):
    """List of blocks, each a list of lines. A block includes its inner blank lines."""
    found, block, fenced = [], [], False
    with open(path, encoding="utf-8") as f:
        lines = f.read().splitlines() + ["end"]
    for line in lines:
        if line.startswith("```"):
            fenced = not fenced
            inside = False
        else:
            inside = fenced or line.startswith("    ")
        if inside:
            block.append(line if fenced else line[4:])
        elif line or not block:
            if block and block != [""]:
                found.append([*block])
            block.clear()
        else:
            found.append([*block])
            block.clear()
    return [one for one in found if any(one)]


def block_of(path, begin):
    found = [one for one in blocks(path) if one[0].startswith(begin)]
    if len(found) != 1:
        sys.exit(f"{path}: {len(found)} blocks begin with '{begin}'")
    return "\n".join(found[0])


def shape_of(line):
    line = re.sub(r"^Measurement: .*", "Measurement:", line)
    line = re.sub(r"( lost|samples in .* s)(: \w+)$", r"\1", line.replace(" (too few for p99.9)", ""))
    line = re.sub(r"(\d)\*", r"\1 ", line)
    line = re.sub(r"\b0 ms\b", "0 us", NUMBER.sub("0", line))  # the unit follows the size
    return re.sub(r"\s+", " ", line).strip()


def without_modes(lines):
    """A brief report without its modes, which depend on the machine: one line or two."""
    text = re.sub(r"^(\d+ modes of|Thin peak of) .*\n(    .*\n)?", "", "\n".join(lines) + "\n", flags=re.M)
    return text.splitlines()


def missing(shown, output):
    """The first line of `shown` that `output` does not contain in this order, or None."""
    at, gap = 0, True
    have = [shape_of(line) for line in without_modes(output)]
    for line in shown:
        if line.strip() == "...":
            gap = True
            continue
        shape = shape_of(line)
        while gap and at < len(have) and shape not in have[at]:
            at += 1
        if at == len(have) or shape not in have[at]:
            return line
        at, gap = at + 1, False
    return None


def main():
    what, *arguments = sys.argv[1:]
    if what == "list":
        for path in arguments:
            for block in blocks(path):
                print(f"{os.path.basename(path)}|{block[0]}")
    elif what == "block":
        print(block_of(*arguments))
    else:
        texts = []
        for path in arguments:
            with open(path, encoding="utf-8") as f:
                texts.append(f.read().splitlines())
        line = missing(*texts)
        if line is not None:
            print(line)
            sys.exit(1)


main()
