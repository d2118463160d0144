#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The recipes of docs/log.md, as they stand there, on the files of a run, against what the run's own JSON says.
# shellcheck source=tests/link/link.sh
. "$(dirname "$0")/link.sh"

page=$(readlink -f "$(dirname "${BASH_SOURCE[0]}")/../../docs/log.md")

# recipe TITLE [NUMBER]: the block of so many below the heading that begins with this, the first by default.
recipe() {
	awk -v title="$1" -v wanted="${2:-1}" '
		/^## / { here = index($0, "## " title) == 1; block = 0; inside = 0; next }
		/^    / { if (here && !inside) block++; inside = 1; if (here && block == wanted) print substr($0, 5); next }
		/^$/ { inside = 0 }' "$page"
}

p99() { # NAME
	python3 -c 'import json, sys
print(next(p["value_ns"] for p in json.load(open(sys.argv[1]))["statistics"]["rtt_ns"]["percentiles"] if p["percent"] == 99))' "$logs/$1.json"
}

# says WANTED COMMAND...: in the folder of the files.
says() {
	local wanted=$1 said

	shift
	said=$(cd "$logs" && "$@" 2>&1)
	[ "$said" = "$wanted" ] || complain "'$*' says '$said', not '$wanted'"
}

# draws FILE POINTS SCRIPT: so many points and more.
draws() {
	printf '%s\n' "$3" >"$logs/picture.gp"
	says '' gnuplot picture.gp
	[ "$(grep -oE '[0-9.]+,[0-9.]+' "$logs/$1" | wc -l)" -ge "$2" ] || complain "$1 has too few points"
}

of_text() {
	local slowest

	for one in txt:log json:json jsonl:jsonl hgrm:hgrm; do
		cp "$logs/e.${one#*:}" "$logs/run.${one%:*}"
	done
	says "$(p99 e)" sh -c "$(recipe awk)"
	slowest=$(cd "$logs" && sh -c "$(recipe sort)" | awk '{ print $NF }' | head -n 1)
	[ "$(cd "$logs" && sh -c "$(recipe sort)" | wc -l)" -eq 5 ] || complain 'not the five slowest packets'
	grep -q "| MAX: $slowest ns |" "$work/e.out" || complain "the slowest is not of $slowest ns"
	says "$(p99 e)" sh -c "$(recipe jq 2)"
	[ "$(cd "$logs" && sh -c "$(recipe jq)" | awk '{ n += $2 } END { print n }')" = 1000 ] || complain 'the seconds do not have all packets'
	draws packets.svg 900 "$(recipe gnuplot)"
	draws percentiles.svg 30 "$(recipe gnuplot 2)"
}

of_csv() {
	cp "$logs/e.log" "$logs/run.csv"
	says "$(p99 e)" /usr/bin/python3 -c "$(recipe pandas)"
}

of_npy() {
	cp "$logs/e.log" "$logs/run.npy"
	says "$(p99 e)" /usr/bin/python3 -c "$(recipe NumPy)"
}

J="--json $logs/e.json --count 1000"
if command -v jq gnuplot >/dev/null && /usr/bin/python3 -c 'import numpy, pandas' 2>/dev/null; then
	pair 'recipes: text, JSON and percentiles' '0 0' "$K" "$K -H -s -l LOG --jsonl $logs/e.jsonl --hgrm $logs/e.hgrm $J" '@of_text'
	pair 'recipes: csv' '0 0' "$K" "$K -l LOG --log-format csv --log-full $J" '@of_csv'
	pair 'recipes: npy' '0 0' "$K" "$K -l LOG --log-format npy $J" '@of_npy'
else
	for one in 'text, JSON and percentiles' csv npy; do
		skip "recipes: $one" 'jq, gnuplot, NumPy or pandas is not here'
	done
fi
