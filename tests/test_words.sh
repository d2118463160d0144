#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# words.sh finds planted words in each kind of file, and leaves code and exceptions alone.
# Prints "ok - NAME", "not ok - NAME" and lines that begin with "# ". Exit status 1 when anything failed.
# Backquotes in single quotes are Markdown.
# shellcheck disable=SC2016,SC2034
set -uo pipefail

words=$(cd "$(dirname "$0")" && pwd)/words.sh
family=words
# shellcheck source=tests/judge.sh
. "$(dirname "$0")/judge.sh"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# finds NAME FILE TEXT EXPECTED: words.sh fails and its first line begins with EXPECTED.
finds() {
	local output status=0

	rm -rf "${work:?}"/*
	mkdir -p "$work/$(dirname "$2")"
	printf '%b\n' "$3" >"$work/$2"
	output=$("$words" "$work" 2>&1) || status=$?
	judge "$1" "$([ "$status" -eq 1 ] && [[ $output == "$4"* ]] || echo "status $status: $output")"
}

# passes NAME FILE TEXT [WARNING]: words.sh succeeds, with that warning if one is given and without any if not.
passes() {
	local output status=0

	rm -rf "${work:?}"/*
	mkdir -p "$work/$(dirname "$2")"
	printf '%b\n' "$3" >"$work/$2"
	output=$("$words" "$work" 2>&1) || status=$?
	judge "$1" "$([ "$status" -eq 0 ] && [ "$(grep '^warning' <<<"$output")" = "${4:-}" ] || echo "status $status: $output")"
}

finds 'a page' docs/x.md 'Text.\nThe untold rest.' "docs/x.md:2: 'untold'"
finds 'a comment of C' wire/x.c 'int a; /* first\n * then the lane */' "wire/x.c:2: 'lane'"
finds 'a line comment of C' wire/x.h '// its patience' "wire/x.h:1: 'patience'"
finds 'a string of C' report/x.c 'puts("Came twice");' "report/x.c:1: 'Came twice'"
finds 'a comment of shell' tests/x.sh 'a=1 # may doze' "tests/x.sh:1: 'doze'"
finds 'a comment of Python' plot/x.py 'a = 1\n# the witness' "plot/x.py:2: 'witness'"
finds 'a text of Python' plot/x.py 'def a():\n    """First.\n\n    Its dial."""' "plot/x.py:4: 'dial'"
finds 'a comment of a Makefile' Makefile 'a:\n\techo # a sieve' "Makefile:2: 'sieve'"
passes 'code of C is not prose' wire/x.c 'struct lane *lane; /* see lane_open(), wire/peer_socket.c and lane_of */'
passes 'code on a page is not prose' docs/x.md 'See `lane`.\n\n    lane\n\n```\nlane\n```\n[x](lane.md)'
passes 'code of shell and Python is not prose' tests/x.sh 'lane=1'
passes 'links of a unit test are not prose' tests/x.c '/* build: sources=wire/peer_socket.c libs=lane */'
passes 'an exception is not reported' docs/x.md 'Eight PCIe lanes.'
passes 'a headless what is counted' docs/x.md 'It prints what happened.' 'warning: headless what: 1 (docs 1)'
passes 'a sentence that begins with Of is counted' wire/x.c '/* Of each packet. */' \
	'warning: sentence begins with Of/What/Who: 1 (wire 1)'
passes 'tell is counted, per folder' docs/x.md 'It tells. It told.' 'warning: tell/told: 2 (docs 2)'
passes '"is no" is counted' docs/x.md 'This is no file. It is no longer here.' 'warning: is no: 1 (docs 1)'
finds 'a folder without files' empty/x '' 'words: no file to read'

exit "${failed:-0}"
