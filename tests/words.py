# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds words that the glossary replaces (docs/glossary.md) and sentences that are hard to follow.

    words.py [FOLDER]    FOLDER: the tree to read, the current one unless given

Reads prose only: Markdown without code, comments and strings of C, comments of shell and Python, strings of the option table (--help).
A word of FORBIDDEN prints FILE:LINE and gives exit status 1. A pattern of COUNTED prints its count for each folder and changes nothing.
"""
import collections
import io
import os
import re
import sys
import tokenize

FORBIDDEN = [
    (r"\buntold\b", "not reported"),
    (r"\bcame twice\b", "duplicated"),
    (r"\btwo there\b", "duplicated"),
    (r"\b(lost|left out) there\b", "lost forward"),
    (r"\bdoz(e|es|ed|ing)\b", "idle sleep"),
    (r"\bwhat woke it\b", "wake-up"),
    (r"\bsieves?\b", "system call filter, receive filter or socket filter"),
    (r"\blanes?\b", "per-peer socket"),
    (r"\bpatience\b", "start-up watchdog or drain timeout"),
    (r"\bwitness(es|ed)?\b", "matching of transmit timestamps"),
    (r"\bdials?\b", "frequency setting (adjtimex)"),
    (r"\btall(y|ies)\b", "sample queue"),
    (r"\bmisplaced\b", "clock fault"),
    (r"\bone scale\b", "same timebase"),
    (r"\bhot rooms?\b", "hot path"),
    (r"\brules of the house\b", "conventions"),
    (r"\benvelopes?\b", "PTP encapsulation"),
    (r"\bintended time\b", "scheduled time"),
]

COUNTED = [
    ("headless what", r"(?<![\w-])[Ww]hat (?!to\b)\w+"),
    ("one(s)", r"\b(ones|(the|that|this|which|other|each|an?|last|first|same) one|one (that|which|of (them|these|those)))\b"),
    ("tell/told", r"\b([Tt]ells?|[Tt]old|[Tt]elling)\b"),
    ("sentence begins with Of/What/Who", r"(?:^|[.:;] )(Of|What|Who)\b"),
    ("is no", r"\b(is|are|was|were) no (?!longer\b|more\b)"),
    ("room, house, way, place", r"\b(rooms?|houses?|doors?|the way of|arrows)\b"),
]

# (pattern of the file, pattern of the text, reason). A finding on such a line is not reported.
EXCEPTIONS = [
    (r"^(docs/glossary\.md|tests/words\.(py|sh)|tests/test_words\.sh)$", r"", "lists the words themselves"),
    (r"^CHANGELOG\.md$", r"", "names what earlier releases printed"),
    (r"^LICENSE$", r"", "text of the GPL"),
    (r"", r"^(untold|lanes|no_lane)$|4 untold|- untold$", "values of the log and members of JSON of schema 1"),
    (r"", r"lanes? of (PCIe|a PCI)|PCIe lanes?|SIMD lanes?", "the field's own word for PCIe and SIMD"),
]

SKIPPED = {".git", "build", "golden", "pictures", "reports", "corpus"}


def markdown(text):
    """(line number, prose) without code blocks, code spans, link targets and addresses."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
            continue
        if fenced or line.startswith("    "):
            continue
        line = re.sub(r"`[^`]*`", " ", line)
        yield number, re.sub(r"\]\([^)]*\)", "]", line)


def identifiers(line):
    """Without what is a name in code: with underscore, parentheses, slash, or a file name."""
    return re.sub(r"[\w./-]*(_|/|\w\(\)|\.(c|h|sh|py|md)\b)[\w./()\[\]-]*|--[\w-]+", " ", line)


C_TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)


def c_source(text):
    for match in C_TOKEN.finditer(text):
        part = match.group()
        if part[0] == "'":
            continue
        first = text.count("\n", 0, match.start()) + 1
        start = text.rfind("\n", 0, match.start()) + 1
        if part[0] == '"' and text[start:match.start()].lstrip().startswith("#include"):
            continue
        part = re.sub(r"^(/\*+|//)|\*/$", "", part) if part[0] == "/" else part[1:-1]
        if part.lstrip().startswith("build:"):
            continue
        for offset, line in enumerate(part.split("\n")):
            yield first + offset, re.sub(r"^\s*\*+", "", line)


def shell(text):
    here = None
    for number, line in enumerate(text.splitlines(), 1):
        if here:
            here = None if line.strip() == here else here
            continue
        match = re.search(r"<<-?\s*['\"]?(\w+)", line)
        if match and "<<<" not in line:
            here = match.group(1)
        match = re.search(r"(?:^|\s)#(?!!)(?! shellcheck)(.*)", line)
        if match:
            yield number, match.group(1)


def python(text):
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string[1:]
            elif token.type == tokenize.STRING and token.string.startswith('"""'):
                for offset, line in enumerate(token.string.split("\n")):
                    yield token.start[0] + offset, line
    except (tokenize.TokenError, IndentationError):
        return


def reader_of(path, text):
    if path.endswith(".md"):
        return markdown
    if path.endswith((".c", ".h")):
        return c_source
    if path.endswith(".py") or text.startswith("#!") and "python" in text.split("\n")[0]:
        return python
    if path.endswith(".sh") or os.path.basename(path) == "Makefile" or text.startswith("#!"):
        return shell
    return None


def files(folder):
    for top, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in SKIPPED)
        for name in sorted(names):
            yield os.path.relpath(os.path.join(top, name), folder)


def excused(path, line):
    return any(re.search(file, path) and re.search(words, line, re.I) for file, words, _ in EXCEPTIONS)


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else "."
    counts, faults, read = collections.Counter(), 0, 0
    for path in files(folder):
        try:
            with open(os.path.join(folder, path), encoding="utf-8") as f:
                text = f.read()
        except (UnicodeDecodeError, OSError):
            continue
        reader = reader_of(path, text)
        if not reader:
            continue
        read += 1
        top = path.split("/")[0] if "/" in path else "top"
        for number, line in reader(text):
            if excused(path, line):
                continue
            prose = identifiers(line)
            for pattern, instead in FORBIDDEN:
                match = re.search(pattern, prose, re.I)
                if match:
                    print(f"{path}:{number}: '{match.group()}': write '{instead}'")
                    faults += 1
            for name, pattern in COUNTED:
                counts[name, top] += len(re.findall(pattern, prose.strip()))
    for name, _ in COUNTED:
        by_folder = {top: count for (kind, top), count in sorted(counts.items()) if kind == name and count}
        if by_folder:
            each = ", ".join(f"{top} {count}" for top, count in by_folder.items())
            print(f"warning: {name}: {sum(by_folder.values())} ({each})")
    if not read:
        sys.exit(f"words: no file to read in '{folder}': give the root of the source tree")
    if faults:
        sys.exit(1)
    print(f"words: {read} files, none of {len(FORBIDDEN)} forbidden patterns")


main()
