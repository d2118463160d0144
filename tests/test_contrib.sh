#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# build: rant
# What contrib/ gives other engines, by the rules that they state and with a run on the loopback interface. namespace_contrib.sh runs it.
set -uo pipefail

cd "$(dirname "$0")/.." || exit 1
here=tests/contrib
work=$(mktemp -d)
recorded=$work/run.json
trap 'rm -rf "$work"' EXIT
export PYTHONDONTWRITEBYTECODE=1

# judge NAME COMMAND...: it prints nothing, and succeeds.
judge() {
	local name=$1 output

	shift
	output=$("$@" 2>&1) && [ -z "$output" ] && echo "ok - contrib: $name" && return
	echo "not ok - contrib: $name"
	printf '# %s\n' "${output//$'\n'/$'\n# '}"
}

skip() {
	echo "ok - contrib: $1 # SKIP $2"
}

# ---- A run -----------------------------------------------------------------------------------------------------------

is_bound() { # PORT
	[ -n "$(ss -Hlun "sport = :$1")" ]
}

# Longer than two seconds, so that there are whole ones.
record() {
	local port=$((20000 + $$ % 40000)) reflector i

	./rant -i lo --port "$port" --stamp kernel --prometheus "$work/reflect.prom" >"$work/reflector" 2>&1 &
	reflector=$!
	for ((i = 0; i < 100; i++)); do
		! is_bound "$port" || break
		sleep 0.1
	done
	./rant -i lo -a 127.0.0.1 --port "$port" --stamp kernel --sw-timestamps --interval 2ms --count 1300 --timeout 10000 \
		--json "$recorded" --prometheus "$work/emit.prom" >"$work/emitter" 2>&1 || cat "$work/reflector" "$work/emitter"
	kill "$reflector"
	wait "$reflector" || cat "$work/reflector"
}

# ---- Crucible --------------------------------------------------------------------------------------------------------

# post_process FOLDER: as rickshaw-post-process-bench does, which gives it the client's parameters.
post_process() {
	(cd "$1" && mkdir -p postprocess && RS_CS_LABEL=client-1 TOOLBOX_HOME=$OLDPWD/$here/engine \
		"$OLDPWD/contrib/crucible/rant-post-process" --duration=3 --stamp=kernel)
}

metrics() {
	mkdir "$work/now" && cp "$recorded" "$work/now/rant-client.json" && post_process "$work/now" &&
		python3 "$here/crucible.py" metrics "$recorded" "$work/now/postprocess"
}

# Before there was a folder for what is made.
metrics_before() {
	mkdir "$work/before" && cp "$recorded" "$work/before/rant-client.json" && ENGINE_BEFORE=1 post_process "$work/before" &&
		python3 "$here/crucible.py" metrics "$recorded" "$work/before"
}

# Figures that are not known: a percentile of which a bound is told, a second without a sample; and a loss.
unknown() {
	mkdir "$work/unknown" && jq '.accounts.packets.lost = 3 | .statistics.rtt_ns.percentiles[0].bound = true | .accounts.rate_per_s = null |
		.seconds[1] += { samples: 0, p50_ns: null, p99_ns: null, p99_9_ns: null, max_ns: null }' \
		"$recorded" >"$work/unknown/rant-client.json" || return
	post_process "$work/unknown" >"$work/told" || return
	[ "$(grep -c 'left out$' "$work/told")" -eq 6 ] || cat "$work/told"
	python3 "$here/crucible.py" metrics "$work/unknown/rant-client.json" "$work/unknown/postprocess"
}

# refuses WORDS JQ: results that are none.
refuses() {
	rm -rf "$work/none"
	mkdir "$work/none" && jq "$2" "$recorded" >"$work/none/rant-client.json" || return
	! post_process "$work/none" >"$work/told" 2>&1 || echo "it made something of: $2"
	grep -q "$1" "$work/told" || cat "$work/told"
}

no_results() {
	refuses 'not been written by rant' '.format = "other"'
	refuses 'schema is not 1' '.schema_version = 2'
	refuses 'did not begin' '.run.began_unix_ns = null'
	rm "$work/none/rant-client.json"
	! post_process "$work/none" >"$work/told" 2>&1 || echo 'a client without results'
	(cd "$work/none" && RS_CS_LABEL=server-1 "$OLDPWD/contrib/crucible/rant-post-process" >"$work/told") || echo 'a server has no results of its own'
	(cd "$work/none" && cp "$recorded" rant-client.json && TOOLBOX_HOME='' "$OLDPWD/contrib/crucible/rant-post-process" >"$work/told" 2>&1) &&
		echo 'without the library of the engine'
	grep -q 'TOOLBOX_HOME' "$work/told"
}

runtime() {
	local get=contrib/crucible/rant-get-runtime

	[ "$($get --duration=30 --stamp=kernel --spin=on)" = 30 ] && [ "$($get --interval=1ms)" = 60 ] || echo 'not the duration'
	! $get --color=blue 2>"$work/told" || echo 'a parameter that there is not'
	! $get --poisson=yes 2>>"$work/told" || echo 'a switch that is neither on nor off'
	! $get --duration 30 2>>"$work/told" || echo 'words without ='
	[ "$(wc -l <"$work/told")" -eq 3 ] || cat "$work/told"
}

# ---- All of it -------------------------------------------------------------------------------------------------------

judge 'a run on the loopback interface' record
if ! python3 -c 'import jsonschema' 2>/dev/null; then
	skip 'Crucible, pScheduler' 'python3-jsonschema is not installed'
else
	judge 'Crucible: the definition keeps the rules of its schemas' python3 $here/crucible.py files contrib/crucible options/table.c
	judge 'Crucible: metrics are the figures of a run' metrics
	judge 'Crucible: metrics for an engine of before' metrics_before
	judge 'Crucible: what is not known is left out' unknown
	judge 'Crucible: results that are none make no metrics' no_results
	judge 'pScheduler: the methods answer by its rules' env RANT_PSCHEDULER_CONF=$here/rant.conf \
		python3 $here/pscheduler.py methods contrib/pscheduler "$recorded"
fi
judge 'Crucible: the time that a client takes' runtime
judge 'the tables of docs/fleet.md are those of its formulas' python3 $here/fleet.py docs/fleet.md
judge 'Grafana: the dashboard keeps the rules of its model' python3 $here/dashboard.py contrib/grafana/rant.json "$work/emit.prom" "$work/reflect.prom"
if PYTHONPATH=build/python python3 -c 'import promql_parser, grafana_foundation_sdk' 2>/dev/null; then
	judge "Grafana: its own model loads it, and each query is PromQL" python3 $here/dashboard.py load contrib/grafana/rant.json build/python
else
	skip "Grafana: its own model loads it" 'promql-parser and grafana-foundation-sdk are not in build/python: tests/packages.sh puts them there'
fi
