#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# build: rant
# Tests of contrib/ and python/ by the rules of other engines, with a run on the loopback interface. Tests with a network: namespace_contrib.sh.
set -uo pipefail

cd "$(dirname "$0")/.." || exit 1
[ -n "${WITH_TRACEFS:-}" ] || exec tests/with_tracefs.sh tests/test_contrib.sh "$@"
here=tests/contrib
work=$(mktemp -d)
recorded=$work/run.json
trap 'rm -rf "$work"' EXIT
export PYTHONDONTWRITEBYTECODE=1

# judge NAME COMMAND...: passes if the command succeeds and prints nothing.
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

# Another test may have the instance of rant for a while.
can_trace() {
	local i

	for ((i = 0; i < 600; i++)); do
		[ -w /sys/kernel/tracing/instances ] || return 1
		[ -e /sys/kernel/tracing/instances/rant ] || return 0
		sleep 0.1
	done
	return 1
}

# Longer than two seconds, so that the run has complete seconds.
record() {
	local port=$((20000 + $$ % 40000)) reflector i

	./rant -i lo --port "$port" --stamp kernel --prometheus "$work/reflect.prom" >"$work/reflector" 2>&1 &
	reflector=$!
	for ((i = 0; i < 100; i++)); do
		! is_bound "$port" || break
		sleep 0.1
	done
	./rant -i lo -a 127.0.0.1 --port "$port" --stamp kernel --sw-timestamps --interval 2ms --count 1300 --timeout 10000 \
		--json "$recorded" --jsonl "${recorded}l" --log-full -l "$work/run.log" --prometheus "$work/emit.prom" >"$work/emitter" 2>&1 || cat "$work/reflector" "$work/emitter"
	for i in csv npy; do
		./rant -i lo -a 127.0.0.1 --port "$port" --stamp kernel --sw-timestamps --count 50 --timeout 10000 --log-full --log-format $i \
			-l "$work/run.$i" >"$work/emitter" 2>&1 || cat "$work/reflector" "$work/emitter"
	done
	# Causes of breaches are of saved traces: a threshold that no packet exceeds.
	if can_trace; then
		./rant -i lo -a 127.0.0.1 --port "$port" --stamp kernel --count 50 --timeout 10000 -t 9000000 -T --save-trace "$work" \
			--prometheus "$work/causes.prom" >"$work/emitter" 2>&1 || cat "$work/emitter"
	fi
	kill "$reflector"
	wait "$reflector" || cat "$work/reflector"
}

# ---- Crucible --------------------------------------------------------------------------------------------------------

# post_process FOLDER: with the parameters of the client, as rickshaw-post-process-bench runs it.
post_process() {
	(cd "$1" && mkdir -p postprocess && RS_CS_LABEL=client-1 TOOLBOX_HOME=$OLDPWD/$here/engine \
		"$OLDPWD/contrib/crucible/rant-post-process" --duration=3 --stamp=kernel)
}

metrics() {
	mkdir "$work/now" && cp "$recorded" "$work/now/rant-client.json" && post_process "$work/now" &&
		python3 "$here/crucible.py" metrics "$recorded" "$work/now/postprocess"
}

# For engines without the folder postprocess.
metrics_before() {
	mkdir "$work/before" && cp "$recorded" "$work/before/rant-client.json" && ENGINE_BEFORE=1 post_process "$work/before" &&
		python3 "$here/crucible.py" metrics "$recorded" "$work/before"
}

# Values that are not known: a percentile that is a bound, a second without a sample; and a loss.
unknown() {
	mkdir "$work/unknown" && jq '.accounts.packets.lost = 3 | .accounts.rate_per_s = null |
		.seconds[1] += { samples: 0, p50_ns: null, p99_ns: null, p99_9_ns: null, max_ns: null }' \
		"$recorded" >"$work/unknown/rant-client.json" || return
	post_process "$work/unknown" >"$work/told" || return
	[ "$(grep -c 'left out$' "$work/told")" -eq 5 ] || cat "$work/told"
	python3 "$here/crucible.py" metrics "$work/unknown/rant-client.json" "$work/unknown/postprocess"
}

# refuses WORDS JQ: invalid results.
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

# ---- Container -------------------------------------------------------------------------------------------------------

# A reflector at port 862 as root with the capabilities of the DaemonSet alone, in a network of its own.
few_capabilities() {
	local -a words

	read -ra words < <(python3 $here/container.py capabilities contrib/container)
	# shellcheck disable=SC2016 # for that shell
	unshare --net sh -c 'ip link set lo up && exec setpriv --no-new-privs --bounding-set="$0" --inh-caps=-all "$@"' \
		"-all$(printf ',+%s' "${words[@]}")" sh -c './rant -i lo --stamp kernel --once --duration 30 >"$0/few" 2>&1 & reflector=$!
			for try in 1 2 3 4 5 6 7 8 9; do ss -Hlun "sport = :862" | grep -q . && break; sleep 0.5; done
			./rant -i lo -a 127.0.0.1 --stamp kernel --count 200 --timeout 10000 --give-up 10 >"$0/few.emitter" 2>&1 || cat "$0/few.emitter"
			wait $reflector || cat "$0/few"' "$work"
	! grep -h 'not locked' "$work/few" "$work/few.emitter"
}

# ---- Alert rules -----------------------------------------------------------------------------------------------------

alert_rules() {
	mkdir "$work/rules" && cp contrib/grafana/rules.yaml $here/rules_test.yaml "$work/rules" || return
	(cd "$work/rules" && promtool check rules rules.yaml && promtool test rules rules_test.yaml) >"$work/promtool" 2>&1 || cat "$work/promtool"
}

# A Prometheus scrapes the file of an emitter that runs several times, as cron starts it.
scraped() {
	local port=$((20000 + ($$ + 1) % 40000)) reflector

	mkdir "$work/scraped" || return
	./rant -i lo --port "$port" --stamp kernel >"$work/scraped/reflector" 2>&1 &
	reflector=$!
	for _ in $(seq 100); do
		! is_bound "$port" || break
		sleep 0.1
	done
	timeout 180 python3 $here/scraped.py "$work/scraped" $((port + 1)) ./rant -i lo -a 127.0.0.1 --port "$port" --stamp kernel \
		--interval 4ms --count 250 --timeout 10000 --give-up 20 || echo "status $?"
	kill "$reflector"
	wait "$reflector" || true
}

# ---- Python ----------------------------------------------------------------------------------------------------------

# A clean environment, with NumPy and pandas of the distribution; pip fetches nothing.
python_package() {
	/usr/bin/python3 -m venv --without-pip --system-site-packages "$work/venv" && cp -r python "$work/python" &&
		"$work/venv/bin/python" -m pip install -q --no-index --no-deps --no-build-isolation --disable-pip-version-check \
			--root-user-action=ignore "$work/python" || return
	sed -n 's/^#define RANT_VERSION "\(.*\)".*/\1/p' rant.h >"$work/VERSION"
	(cd "$work" && "$work/venv/bin/python" "$OLDPWD/$here/results.py" "$work")
}

# ---- All of it -------------------------------------------------------------------------------------------------------

judge 'a run on the loopback interface' record
if ! python3 -c 'import jsonschema' 2>/dev/null; then
	skip 'Crucible, pScheduler' 'python3-jsonschema is not installed'
else
	judge 'Crucible: the definition keeps the rules of its schemas' python3 $here/crucible.py files contrib/crucible options/table.c
	judge 'Crucible: metrics are the figures of a run' metrics
	judge 'Crucible: metrics for an older engine' metrics_before
	judge 'Crucible: unknown values are left out' unknown
	judge 'Crucible: invalid results make no metrics' no_results
	judge 'pScheduler: the methods answer by its rules' env RANT_PSCHEDULER_CONF=$here/rant.conf \
		python3 $here/pscheduler.py methods contrib/pscheduler "$recorded"
fi
judge 'Crucible: the time that a client takes' runtime
judge 'the tables of docs/fleet.md are those of its formulas' python3 $here/fleet.py docs/fleet.md
judge 'container: its packages are those of debian/control' python3 $here/container.py contrib/container debian/control
if [ "$(id -u)" -eq 0 ] && unshare --net true 2>/dev/null; then
	judge 'container: a reflector runs with the capabilities of the example' few_capabilities
else
	skip 'container: a reflector runs with the capabilities of the example' 'it makes a network namespace, which needs root'
fi
if /usr/bin/python3 -c 'import setuptools, pip, venv, pandas, numpy' 2>/dev/null; then
	judge 'Python: rant_results loads json, jsonl, text, csv and npy in a clean environment' python_package
else
	skip 'Python: rant_results in a clean environment' 'pandas, pip, setuptools or venv of the distribution is not installed'
fi
if [ -e "$work/causes.prom" ]; then
	judge 'Grafana: the dashboard keeps the rules of its model' python3 $here/dashboard.py contrib/grafana/rant.json "$work/emit.prom" \
		"$work/reflect.prom" "$work/causes.prom"
else
	judge 'Grafana: the dashboard keeps the rules of its model' python3 $here/dashboard.py without rant_breach_causes_total \
		contrib/grafana/rant.json "$work/emit.prom" "$work/reflect.prom"
	skip 'Grafana: the panel of the causes' 'no kernel trace here, so there are no causes of breaches'
fi
if command -v promtool >/dev/null; then
	judge 'Grafana: each alert fires on its condition, and on a quiet path none' alert_rules
	if [ "$(scraped >"$work/scraped.out" 2>&1; cat "$work/scraped.out")" = 'starts again' ]; then
		skip 'Prometheus: increase() over runs of cron is the number of probes' 'each run of this rant starts its counters at 0'
	else
		judge 'Prometheus: increase() over runs of cron is the number of probes' cat "$work/scraped.out"
	fi
else
	skip 'Grafana: each alert fires on its condition' 'promtool (package prometheus) is not installed'
fi
if PYTHONPATH=build/python python3 -c 'import promql_parser, grafana_foundation_sdk' 2>/dev/null; then
	judge "Grafana: its own model loads it, and each query is PromQL" python3 $here/dashboard.py load contrib/grafana/rant.json build/python
else
	skip "Grafana: its own model loads it" 'promql-parser and grafana-foundation-sdk are not in build/python: tests/packages.sh puts them there'
fi
