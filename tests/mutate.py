#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Mutation test: changes one expression or statement of the product's C code at a time, and prints the share of these mutants that the tests
notice, by folder.

  tests/mutate.py [--seed N] [--count N] [--folder NAME | --only FILE] [--out FILE] [--link] [--jobs N]
  tests/mutate.py --list ...       print the mutants only

A statement is the unit of choice. The seed, the file, the function and the text of the statement decide by a hash whether a statement is chosen
and the change in it, so a change of one file leaves the mutants of the other files, and of the other statements, as they were.

Everything happens in a copy of the tree in a temporary folder. Unit tests run without root, in a PID namespace where this script is root,
because a mutant may send a signal to any process or remove any file. Docs: docs/testing.md.
"""
import argparse
import collections
import concurrent.futures
import fnmatch
import glob
import hashlib
import json
import os
import pathlib
import queue
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

FOLDERS = ("host", "wire", "measure", "report", "results", "doctor", "options", "top")

# Link tests of a module (tests/link/namespace_NAME.sh): the first pattern that fits. They need root.
LINK_TESTS = (
    ("host/counters/activity*", "verdict machine"),
    ("host/clock/*", "verdict kinds json"),
    ("host/trace/*", "trace spikes"),
    ("host/nic/*", "machine refused kinds"),
    ("host/process/hook.c", "spikes signals"),
    ("host/process/privileges.c", "rights"),
    ("host/process/seccomp.c", "rights signals"),
    ("host/process/loop.c", "signals machine terminal"),
    ("host/process/affinity.c", "machine"),
    ("host/process/startup_watchdog.c", "patience signals"),
    ("host/*", "kinds signals patience refused"),
    ("wire/icmp.c", "icmp"),
    ("wire/session.c", "peers lanes standing"),
    ("wire/peer_socket.c", "lanes ports"),
    ("wire/allow.c", "peers hostile"),
    ("wire/hmac.c", "hostile kinds"),
    ("wire/transport.c", "transports"),
    ("wire/*", "kinds hostile transports ipv6 ports"),
    ("measure/window*", "window outage"),
    ("result/outage*", "outage"),
    ("result/breach*", "threshold spikes"),
    ("measure/pace.c", "schedule"),
    ("result/log.c", "log"),
    ("measure/source_port.c", "ports"),
    ("measure/*", "kinds report json outage window"),
    ("report/export/json*", "json"),
    ("report/export/outputs.c", "files json"),
    ("report/export/output_paths.c", "files"),
    ("report/log/*", "log files"),
    ("report/text/interim.c", "interim"),
    ("report/verdict/*", "verdict outage"),
    ("report/text/breach.c", "threshold spikes"),
    ("report/export/by_second.c", "files json"),
    ("report/export/second.c", "files json"),
    ("report/export/jsonl.c", "files json"),
    ("report/export/hlog.c", "files"),
    ("report/export/hgrm.c", "files"),
    ("report/export/prometheus.c", "files"),
    ("report/text/report.c", "terminal report json"),
    ("report/*", "report json kinds"),
    ("analyse/*", "results"),
    ("doctor/*", "doctor"),
    ("options*", "refused rights"),
    ("histogram.c", "report json"),
    ("tracefs.c", "trace spikes"),
    ("*", "kinds report signals json files refused"),
)

# ---- C in tokens and statements ------------------------------------------------------------------------------------------

TOKEN = re.compile(r"""(?P<space>\s+|//[^\n]*|/\*.*?\*/)
  |(?P<string>(?:L|u8|u|U)?"(?:\\.|[^"\\\n])*")
  |(?P<char>L?'(?:\\.|[^'\\\n])*')
  |(?P<number>\.?\d(?:[eEpP][-+]|[\w.])*)
  |(?P<name>[A-Za-z_]\w*)
  |(?P<sign><<=|>>=|\.\.\.|->|\+\+|--|<<|>>|[-+*/%&|^!=<>]=|&&|\|\||.)""", re.X | re.S)
DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\n|/\*.*?\*/|[^\n])*", re.M | re.S)

Token = collections.namedtuple("Token", "kind text start end")
Statement = collections.namedtuple("Statement", "tokens function")  # function: "" for the data of a file
Change = collections.namedtuple("Change", "start end text")
Mutant = collections.namedtuple("Mutant", "order id file line last change before after")


def tokens_of(text):
    """Without comments and preprocessor lines; positions are those in text."""
    text = DIRECTIVE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    return [Token(found.lastgroup, found[0], found.start(), found.end())
            for found in TOKEN.finditer(text) if found.lastgroup != "space"]


def name_of_function(tokens):
    """Of the tokens before a brace at the top of a file; "" where they are not the head of a function."""
    if not tokens or tokens[-1].text != ")" or "=" in (t.text for t in tokens):
        return ""
    for token, following in zip(tokens, tokens[1:]):
        if token.kind == "name" and following.text == "(" and token.text != "__attribute__":
            return token.text
    return ""


def is_whole(tokens, parens):
    """True where the statement, or its part before the next one, ends with the last of these tokens."""
    first, last = tokens[0].text, tokens[-1].text
    if parens:
        return False
    return (last == ";" or first in ("else", "do") or
            last == ":" and (first in ("case", "default") or len(tokens) == 2) or
            last == ")" and first in ("if", "for", "while", "switch"))


def statements_of(text):
    """Statements in functions, heads of if, for, while and switch, and initial values in braces at the top of the file."""
    found, tokens = [], []
    parens = braces = 0
    function, data = "", False

    def end():
        if tokens and (function or data or not braces and "=" in (t.text for t in tokens)):
            found.append(Statement(tuple(tokens), function))
        tokens.clear()

    every = tokens_of(text)
    for token, following in zip(every, every[1:] + [None]):
        if token.text == "{" and not parens:
            if not braces:
                function = name_of_function(tokens)
                data = not function and any(t.text in ("=", "enum") for t in tokens)
                tokens.clear()
            end()
            braces += 1
        elif token.text == "}" and not parens:
            end()
            braces -= 1
            if not braces:
                function, data = "", False
        else:
            tokens.append(token)
            parens += (token.text in "([") - (token.text in ")]")
            if is_whole(tokens, parens) or not parens and token.text == "," and following.text == ".":  # a member's initial value
                end()
    if braces or parens:
        raise ValueError("braces or parentheses do not match")
    return found


# ---- Changes of a statement ----------------------------------------------------------------------------------------------

OTHER = {
    "relation": {"<": ("<=", ">="), "<=": ("<", ">"), ">": (">=", "<="), ">=": (">", "<"), "==": ("!=",), "!=": ("==",)},
    "logic": {"&&": ("||",), "||": ("&&",)},
    "arithmetic": {"+": ("-",), "-": ("+",), "*": ("/",), "/": ("*",), "%": ("*",), "+=": ("-=",), "-=": ("+=",), "*=": ("/=",),
                   "/=": ("*=",), "|=": ("&=",), "&=": ("|=",), "++": ("--",), "--": ("++",), "<<": (">>",), ">>": ("<<",),
                   "&": ("|",), "|": ("&",)},
}
UNARY_TOO = ("+", "-", "*", "&")  # binary where there is a space on each side
TYPES = set("auto char const double enum extern float int long register short signed static struct typedef union unsigned void volatile "
            "_Bool bool".split())
NOT_DELETED = {"return", "goto", "case", "default", "if", "for", "while", "switch", "else", "do", ";"}


def spaced(text, token):
    return text[token.start - 1].isspace() and text[token.end:token.end + 1].isspace()


def operators(text, tokens):
    for kind, table in OTHER.items():
        for token in tokens:
            if token.kind == "sign" and token.text in table and (token.text not in UNARY_TOO or spaced(text, token)):
                for other in table[token.text]:
                    yield kind, Change(token.start, token.end, other)
    for token in tokens:
        if token.text == "!":
            yield "logic", Change(token.start, token.end, "")
        elif token.text == "-" and not spaced(text, token):
            yield "arithmetic", Change(token.start, token.end, "")


def other_numbers(number):
    """Small numbers by one, large numbers by a factor: one nanosecond of a second changes nothing."""
    if re.fullmatch(r"(?i)\d*\.?\d*(e[-+]?\d+)?[fl]?", number) and re.search(r"[.eE]", number):
        return (f"({number} * 2)", f"({number} / 2)") if float(number.rstrip("fFlL")) else ("1.0",)
    plain = re.fullmatch(r"(?i)(0x[0-9a-f]+|\d+)([ul]*)", number)
    if not plain:
        return ()
    digits, suffix = plain.groups()
    value = int(digits, 8 if re.fullmatch(r"0[0-7]+", digits) else 0)
    if value > 100:
        others = (value * 2, value // 2)
    else:
        others = (value + 1, value - 1) if value else (1,)
    return tuple(f"{other}{suffix}" for other in others)


def constants(tokens):
    for i, token in enumerate(tokens):
        if token.text in ("true", "false"):
            yield "constant", Change(token.start, token.end, "false" if token.text == "true" else "true")
        elif token.kind == "number" and not (i > 2 and tokens[i - 1].text == "[" and tokens[i - 3].kind == "name"):  # size of an array
            for other in other_numbers(token.text):
                yield "constant", Change(token.start, token.end, other)


def conditions(text, tokens):
    if len(tokens) > 3 and tokens[0].text in ("if", "while") and tokens[1].text == "(":
        start, end = tokens[1].start, tokens[-1].end
        yield "condition", Change(start, end, f"(!{text[start:end]})")
        if tokens[0].text == "if":
            yield "condition", Change(start, end, f"({text[start:end]} || 1)")
            yield "condition", Change(start, end, f"({text[start:end]} && 0)")


def is_declaration(text, tokens):
    first, second = tokens[0], tokens[1]
    return (first.text in TYPES or first.kind == second.kind == "name" or
            first.kind == "name" and second.text == "*" and not spaced(text, second))


def deletion(text, tokens):
    if len(tokens) > 1 and tokens[-1].text == ";" and tokens[0].text not in NOT_DELETED and not is_declaration(text, tokens):
        lines = text.count("\n", tokens[0].start, tokens[-1].end)
        yield "deletion", Change(tokens[0].start, tokens[-1].end, ";" + "\n" * lines)


def arguments_of(tokens, i):
    """Of the call whose parenthesis is tokens[i]: (start, end) of each argument."""
    depth, start, found = 0, i + 1, []
    for j in range(i, len(tokens)):
        depth += (tokens[j].text in "([{") - (tokens[j].text in ")]}")
        if depth == 0 or depth == 1 and tokens[j].text == ",":
            if j > start:
                found.append((tokens[start].start, tokens[j - 1].end))
            start = j + 1
        if depth == 0:
            break
    return found


def swaps(text, tokens):
    for i, (token, following) in enumerate(zip(tokens, tokens[1:])):
        if token.kind != "name" or following.text != "(" or token.text in ("if", "for", "while", "switch", "return", "sizeof"):
            continue
        arguments = arguments_of(tokens, i + 1)
        for (a, b), (c, d) in zip(arguments, arguments[1:]):
            if text[a:b] != text[c:d] and '"' not in text[a:b] + text[c:d]:
                yield "swap", Change(a, d, text[c:d] + text[b:c] + text[a:b])


def changes_of(text, statement):
    """All changes of a statement, by their kind."""
    tokens, found = statement.tokens, collections.defaultdict(list)
    if tokens[0].text in ("static_assert", "_Static_assert"):
        return found
    every = [constants(tokens)]
    if statement.function:
        every += [operators(text, tokens), conditions(text, tokens), deletion(text, tokens), swaps(text, tokens)]
    for changes in every:
        for kind, change in changes:
            found[kind].append(change)
    return found


def one_line(text):
    return " ".join(re.sub(r"/\*.*?\*/", " ", text, flags=re.S).split())


def mutants_of(file, text, seed):
    """One mutant a statement, with the number by which mutants are put in order."""
    seen = collections.Counter()
    for statement in statements_of(text):
        start, end = statement.tokens[0].start, statement.tokens[-1].end
        before = one_line(text[start:end])
        key = (seed, file, statement.function, before)
        seen[key] += 1
        digest = hashlib.sha256("\0".join(map(str, (*key, seen[key]))).encode()).digest()
        changes = changes_of(text, statement)
        if not changes:
            continue
        kind = sorted(changes)[int.from_bytes(digest[8:12], "big") % len(changes)]
        change = changes[kind][int.from_bytes(digest[12:16], "big") % len(changes[kind])]
        after = one_line(text[start:change.start] + change.text + text[change.end:end])
        name = hashlib.sha256(digest + after.encode()).hexdigest()[:12]
        yield Mutant(digest[:8], name, file, text.count("\n", 0, start) + 1, text.count("\n", 0, end) + 1, change, before, after)


def all_mutants(root, options):
    files = [options.only] if options.only else sorted(file for pattern in ("*.c", "[!t]*/*.c", "[!t]*/*/*.c")
                                                       for file in glob.glob(pattern, root_dir=root))
    found = []
    for file in files:
        if not options.folder or folder_of(file) == options.folder:
            try:
                found += mutants_of(file, (root / file).read_text(), options.seed)
            except ValueError as fault:
                sys.exit(f"mutate: {file}: {fault}")
    return sorted(found)


def folder_of(file):
    return file.partition("/")[0] if "/" in file else "top"


def shown(mutant):
    return f"{mutant.file}:{mutant.line}: {mutant.before} -> {mutant.after}"


# ---- A copy of the tree, built -------------------------------------------------------------------------------------------

Command = collections.namedtuple("Command", "words output inputs")
NOBODY = 65534
# PID 1 of the namespace is the shell, because the kernel drops signals that PID 1 does not handle.
CONFINED = ("unshare", "--pid", "--fork", "--mount-proc", "setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups",
            "sh", "-c", '"$@"; exit $?', "sh")
CONFINED = CONFINED if os.geteuid() == 0 else ()
OUT_OF_TIME = (-signal.SIGKILL, 128 + signal.SIGKILL)  # by RLIMIT_CPU; the second is how a shell tells it
SLOW = 10  # times as long as usual, and as many seconds: the test hangs


class Tree:
    def __init__(self, folder):
        self.folder = folder
        self.compiles = {}  # by object
        self.links = {}  # by test
        self.sources = {}  # of each object, with all that is included
        self.usual = {}  # seconds of each test that was run here; None: it fails
        self.reach = None

    def make(self, *arguments, **more):
        made = subprocess.run(["make", "-C", self.folder, "--no-print-directory", *arguments], text=True, check=False, **more)
        if made.returncode:
            sys.exit(f"mutate: make {' '.join(arguments)} failed: the tree must build as it is")
        return made

    def read_commands(self, tests):
        """The commands are those of the Makefile, whatever their rules are."""
        printed = self.make("-nB", *tests, stdout=subprocess.PIPE).stdout
        for line in printed.replace("\\\n", " ").splitlines():
            words = shlex.split(line)
            if "-o" not in words:
                continue
            output = words[words.index("-o") + 1]
            inputs = [word for word in words if word.endswith((".c", ".o")) and word != output]
            if "-c" in words:
                self.compiles[output] = Command(words, output, inputs)
            else:
                self.links[output] = Command(words, output, inputs)
        for output in self.compiles:
            rules = (self.folder / output).with_suffix(".d").read_text().replace("\\\n", " ")
            self.sources[output] = set(rules.splitlines()[0].split()[1:])

    def build(self, jobs):
        tests = ["build/" + pathlib.Path(name).stem for name in sorted(glob.glob(str(self.folder / "tests/unit/test_*.c")))]
        self.make("-s", f"-j{jobs}", *tests)
        self.read_commands(tests)
        subprocess.run(["strip", "--strip-debug", *self.compiles], cwd=self.folder, check=True)  # halves the time of the linker
        if CONFINED:
            subprocess.run(["chown", "-R", f"{NOBODY}:{NOBODY}", self.folder], check=True)
        return tests

    def copy(self, folder):
        other = Tree(folder)
        subprocess.run(["cp", "-a", self.folder, folder], check=True)
        other.compiles, other.links, other.sources, other.usual, other.reach = self.compiles, self.links, self.sources, self.usual, self.reach
        return other

    def run(self, words, seconds=600, quiet=True, cpu=resource.RLIM_INFINITY):
        """True: status 0; None: it took longer than this, or more CPU time."""
        def limits():
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu))

        environment = {**os.environ, "ASAN_OPTIONS": "detect_leaks=1:symbolize=0", "UBSAN_OPTIONS": "symbolize=0", "LC_ALL": "C"}
        process = subprocess.Popen(words, cwd=self.folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, start_new_session=True, preexec_fn=limits)
        try:
            status = process.wait(seconds)
            return None if status in OUT_OF_TIME else status == 0
        except subprocess.TimeoutExpired:
            return None
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()

    def passes(self, test, seconds):
        return self.run([*CONFINED, test], seconds, cpu=int(seconds))

    def seconds_of(self, test):
        """How long it usually takes; None: it fails without a mutant."""
        if test not in self.usual:
            begun = time.monotonic()
            passed = self.passes(test, 300)
            self.usual[test] = time.monotonic() - begun if passed else None
            if not passed:
                print(f"mutate: {test} fails without a mutant: left out", file=sys.stderr)
        return self.usual[test]

    def tests_of(self, mutant):
        """Those that run a line of the statement: first the test of the file's name, then those that include it, then those that are linked with it,
        each the smallest first; and the objects that are made of the file."""
        file, stem = mutant.file, "test_" + pathlib.Path(mutant.file).stem
        touched = {output for output, sources in self.sources.items() if file in sources}

        def order(test):
            inputs = self.links[test].inputs
            includes = any(o in touched and self.compiles[o].inputs != [file] for o in inputs)
            return pathlib.Path(test).name != stem, not includes, len(inputs), test

        tests = sorted((test for test, link in self.links.items() if touched & set(link.inputs)), key=order)
        return [test for test in tests if self.reach.runs(test, mutant)], touched


COVERAGE = "SANITIZE=--coverage -O0"  # as tests/coverage.sh


class Reach:
    """Which lines each test runs, by gcov in another copy of the tree."""

    def __init__(self, tree, tests, jobs):
        self.tree, self.lock, self.lines = tree, threading.Lock(), {}
        tree.make("-s", f"-j{jobs}", COVERAGE, "WARNINGS=-w", *tests)
        if CONFINED:
            subprocess.run(["chown", "-R", f"{NOBODY}:{NOBODY}", tree.folder], check=True)

    def measure(self, test):
        """(FILE, LINE): did it run? Nothing for a test with processes that may end without a word to gcov."""
        source = self.tree.folder / "tests/unit" / (pathlib.Path(test).name + ".c")
        if re.search(r"\bv?fork\(|_exit\(", source.read_text()):
            return {}
        for path in self.tree.folder.rglob("*.gcda"):
            path.unlink()
        self.tree.passes(test, 300)
        counted = [str(path.relative_to(self.tree.folder)) for path in self.tree.folder.rglob("*.gcda")]
        if not counted:
            return {}
        printed = subprocess.run(["gcov", "--json-format", "--stdout", *counted], cwd=self.tree.folder, check=True, stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL).stdout
        lines = collections.Counter()
        for text in printed.splitlines():
            for file in json.loads(text)["files"]:
                for line in file["lines"]:
                    lines[file["file"], line["line_number"]] += line["count"]
        return lines

    def runs(self, test, mutant):
        with self.lock:
            if test not in self.lines:
                self.lines[test] = self.measure(test)
        lines = self.lines[test]
        known = [(mutant.file, line) for line in range(mutant.line, mutant.last + 1) if (mutant.file, line) in lines]
        return not known or any(lines[key] for key in known)


# ---- One mutant ----------------------------------------------------------------------------------------------------------

def optimized(words, output):
    """The command for the product's object, without debug lines: to compare code."""
    dropped = ("-g", "-O1", "-Werror", "-MMD", "-MP", "-fno-omit-frame-pointer")
    words = [word for word in words if word not in dropped and not word.startswith(("-fsanitize", "-fno-sanitize"))]
    words[words.index("-o") + 1] = output
    return [*words, "-O2"]


class Trial:
    """A mutant in a tree: its objects and tests are built next to the originals."""

    def __init__(self, tree, mutant):
        self.tree, self.mutant, self.built = tree, mutant, {}
        self.tests, self.touched = tree.tests_of(mutant)
        self.path = tree.folder / mutant.file
        self.text = self.path.read_text()
        self.at = "build/mutant/"

    def is_equal(self):
        """True where the optimizer makes the same code of both; None where the mutant does not compile."""
        pattern = next(iter(self.tree.compiles.values()))
        words = [self.mutant.file if word == pattern.inputs[0] else word for word in pattern.words]
        true, other = self.at + "true.o", self.at + "other.o"
        self.write(self.text)
        if not self.tree.run(optimized(words, true)):
            raise RuntimeError(f"{self.mutant.file} does not compile as it is")
        self.write(self.mutated())
        if not self.tree.run(optimized(words, other)):
            return None
        return (self.tree.folder / true).read_bytes() == (self.tree.folder / other).read_bytes()

    def mutated(self):
        change = self.mutant.change
        return self.text[:change.start] + change.text + self.text[change.end:]

    def write(self, text):
        self.path.write_text(text)

    def object(self, output):
        """Builds an object that is made of the mutated file: its path, or None."""
        if output not in self.built:
            words = [word for word in self.tree.compiles[output].words if word not in ("-MMD", "-MP")]
            words[1:1] = ["-Wno-parentheses", "-Wno-format-truncation"]  # of && next to ||; not known without an optimizer
            words += ["-O0", "-g0"]  # a quarter of the time of a hot file
            made = self.at + output.replace("/", "_")
            words[words.index("-o") + 1] = made
            self.built[output] = made if self.tree.run(words) else None
        return self.built[output]

    def build(self, test):
        """The test with the mutant in it: its path, or None."""
        made = self.at + pathlib.Path(test).name
        words = []
        for word in self.tree.links[test].words:
            if word in self.touched:
                word = self.object(word)
                if not word:
                    return None
            words.append(made if word == test else word)
        return made if self.tree.run([*words, *FAST_LINKER]) else None

    def verdict(self):
        """(WORD, TEST). A test that fails on a mutant must fail twice."""
        self.write(self.mutated())
        for output in sorted(self.touched, key=len)[:1]:
            if not self.object(output):
                return "uncompiled", ""
        for test in self.tests:
            usual = self.tree.seconds_of(test)
            if usual is None:
                continue
            made = self.build(test)
            if not made:
                return "uncompiled", test
            seconds = SLOW * usual + SLOW
            passed = self.tree.passes(made, seconds)
            if passed is None:
                return "noticed", f"{test} hangs"
            if not passed and not self.tree.passes(made, seconds):
                return "noticed", test
        equal = self.is_equal()
        if equal is None or equal:
            return "uncompiled" if equal is None else "equal", ""
        return "survived", "" if self.tests else "no test runs it"

    def link_verdict(self):
        """The same, of the link tests of this module."""
        self.write(self.mutated())
        self.tree.make("-s", *LINK_PROGRAMS, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        names = next(names for pattern, names in LINK_TESTS if fnmatch.fnmatch(self.mutant.file, pattern))
        for name in names.split():
            command = [f"tests/link/namespace_{name}.sh", "./" + LINK_PROGRAMS[0], *LINK_PROGRAMS[1:]]
            if not self.tree.run(command, 900) and not self.tree.run(command, 900):
                return "noticed", command[0]
        return "survived", ""

    def run(self, verdict):
        shutil.rmtree(self.tree.folder / self.at, ignore_errors=True)
        (self.tree.folder / self.at).mkdir(parents=True)
        try:
            return verdict()
        finally:
            self.write(self.text)


LINK_PROGRAMS = ("rant", "build/hostile", "build/spike.so")
FAST_LINKER = ("-fuse-ld=gold",) if shutil.which("ld.gold") else ()


# ---- All of them ---------------------------------------------------------------------------------------------------------

class Results:
    """Lines "WORD<tab>ID<tab>FILE:LINE: BEFORE -> AFTER<tab>TEST" in a file, of which an earlier run of the same tree is not repeated."""

    def __init__(self, path, tree):
        self.lock, self.words, self.file = threading.Lock(), {}, None
        if not path:
            return
        head = f"# mutate {tree}\n"
        old = pathlib.Path(path)
        if old.exists() and old.stat().st_size:
            first, *lines = old.read_text().splitlines(keepends=True)
            if first != head:
                sys.exit(f"mutate: {path} has results of another tree: move it, or choose another file")
            for line in lines:
                if line.endswith("\n"):
                    word, name, *_ = line.split("\t")
                    self.words[name] = word
        self.file = open(path, "a")
        if not self.words and not self.file.tell():
            self.file.write(head)

    def add(self, mutant, word, test):
        with self.lock:
            self.words[mutant.id] = word
            if self.file:
                self.file.write(f"{word}\t{mutant.id}\t{shown(mutant)}\t{test}\n")
                self.file.flush()
            print(f"{word}: {shown(mutant)}{' by ' + test if test else ''}", flush=True)


def judge_all(mutants, count, trees, results, verdict):
    """The first COUNT mutants that compile to other code. An equivalent mutant is replaced by the next in order."""
    ready = queue.Queue()
    for tree in trees:
        ready.put(tree)

    def judge(mutant):
        if mutant.id not in results.words:
            tree = ready.get()
            try:
                trial = Trial(tree, mutant)
                results.add(mutant, *trial.run(getattr(trial, verdict)))
            finally:
                ready.put(tree)

    taken, valid, remaining = [], [], iter(mutants)
    pool = concurrent.futures.ThreadPoolExecutor(len(trees))
    try:
        while len(valid) < count:
            batch = [mutant for _, mutant in zip(range(count - len(valid)), remaining)]
            if not batch:
                break
            list(pool.map(judge, batch))
            taken += batch
            valid += [mutant for mutant in batch if results.words[mutant.id] in ("noticed", "survived")]
    finally:
        pool.shutdown(cancel_futures=True)
    return taken, valid


def summary(taken, valid, words):
    print()
    for word in ("uncompiled", "equal"):
        print(f"{word}: {sum(words[m.id] == word for m in taken)}, replaced by others")
    for folder in (*FOLDERS, "all"):
        inside = [m for m in valid if folder in (folder_of(m.file), "all")]
        noticed = sum(words[m.id] == "noticed" for m in inside)
        if inside:
            print(f"{folder}: {noticed} of {len(inside)} mutants noticed, {100 * noticed / len(inside):.1f} %")


def arguments():
    parser = argparse.ArgumentParser(description="mutation test of the C code")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=300, help="mutants (300)")
    parser.add_argument("--folder", choices=FOLDERS, help="only mutants of this folder")
    parser.add_argument("--only", metavar="FILE", help="only mutants of this file")
    parser.add_argument("--out", metavar="FILE", help="a line for each mutant; what it has of this tree is not run again")
    parser.add_argument("--list", action="store_true", help="print the mutants, run nothing")
    parser.add_argument("--link", action="store_true", help="run link tests on mutants that unit tests do not notice (root)")
    parser.add_argument("--jobs", type=int, default=1, help="trees in which mutants are tried at the same time (1)")
    return parser.parse_args()


def tree_name(folder):
    """A hash of all inputs of the results."""
    digest = hashlib.sha256()
    for pattern in ("*.[ch]", "*/*.[ch]", "*/*/*.[ch]", "Makefile"):
        for path in sorted(folder.glob(pattern)):
            digest.update(str(path.relative_to(folder)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def copy_tree(root, folder, with_objects=True):
    """With the objects that are there: make builds those that are older than their sources."""
    def left_out(where, names):
        if where == str(root):
            return {".git", "rant"} if with_objects else {".git", "rant", "build"}
        if where == str(root / "build"):
            return {name for name in names if name != "sanitized" and not name.startswith(("test_", "with-"))}
        return ()

    shutil.copytree(root, folder, symlinks=True, ignore=left_out)


def run(root, mutants, options):
    with tempfile.TemporaryDirectory(prefix="rant-mutate-") as work:
        first = Tree(pathlib.Path(work, "tree"))
        copy_tree(root, first.folder)
        os.chmod(work, 0o755)
        results = Results(options.out, tree_name(first.folder))
        begun = time.monotonic()
        cover = Tree(pathlib.Path(work, "cover"))
        copy_tree(root, cover.folder, with_objects=False)
        if (root / "build/coverage/tree/build").is_dir():
            shutil.copytree(root / "build/coverage/tree/build", cover.folder / "build")
        tests = first.build(options.jobs)
        first.reach = Reach(cover, tests, options.jobs)
        print(f"built in {time.monotonic() - begun:.0f} s", flush=True)
        trees = [first] + [first.copy(pathlib.Path(work, f"tree{i}")) for i in range(1, options.jobs)]
        taken, valid = judge_all(mutants, options.count, trees, results, "verdict")
        summary(taken, valid, results.words)
        if options.link:
            survivors = [mutant for mutant in valid if results.words.pop(mutant.id) == "survived"]
            linked = Results(options.out + ".link" if options.out else None, tree_name(first.folder))
            judge_all(survivors, len(survivors), [first], linked, "link_verdict")
            words = {mutant.id: linked.words.get(mutant.id, "noticed") for mutant in valid}
            summary([], valid, words)


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("mutate: ended by SIGTERM"))  # the temporary folder goes
    options = arguments()
    root = pathlib.Path(__file__).resolve().parent.parent
    if options.only and not (root / options.only).is_file():
        sys.exit(f"mutate: there is no file {options.only}: give its path from the root of the tree")
    if options.link and os.geteuid() != 0:
        sys.exit("mutate: link tests need root: run this as root, or without --link")
    mutants = all_mutants(root, options)
    if options.list:
        for mutant in mutants[:options.count]:
            print(shown(mutant))
    else:
        run(root, mutants, options)


if __name__ == "__main__":
    main()
