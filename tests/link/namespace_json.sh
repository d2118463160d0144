#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What programs read of a run: valid by its schema, and the figures of the text report to the digit. Run by namespace.sh, or
# alone.
# shellcheck source=tests/link/link.sh
. "$(dirname "$0")/link.sh"

here=$(dirname "${BASH_SOURCE[0]}")

# json_agrees NAME [JSON [REPORT]]: of this program.
json_agrees() {
	local line

	while read -r line; do
		complain "$1.json: $line"
	done < <(python3 "$here/read_json.py" "$here/../../docs/rant.schema.json" "${2:-$logs/$1.json}" "${3:-$work/$1.out}" 2>&1)
}

json_has() { # NAME PYTHON: true of JSON, the object
	python3 -c 'import json, sys; JSON = json.load(open(sys.argv[1])); sys.exit(not eval(sys.argv[2]))' "$logs/$1.json" "${*:2}" ||
		complain "$1.json: not so: ${*:2}"
}

nothing_there() {
	[ -z "$(ls -A "$logs")" ] || complain "there is: $(ls -A "$logs")"
}

json_tests() {
	local R="-H --json $logs/r.json" M="-H --json $logs/e.json"

	pair 'json: both ends with kernel stamps, stages and breaches agree with the report' '0 0' \
		"$K -s -t 0.001 -C $R" "$K -s -t 0.001 -C --count 300 $M" '@json_agrees e' '@json_agrees r' \
		"@json_has e JSON['run']['role'] == 'emit' and JSON['run']['end'] == 'count' and JSON['exit_status'] == 0" \
		"@json_has e JSON['breaches']['count'] == 300 and JSON['breaches']['first']['stamps']['t4_kernel_ns'] > 10**18" \
		"@json_has e {'rtt_ns', 'response_ns', 'network_ns', 'app_to_kernel_ns', 'forward_ns'} <= set(JSON['statistics'])" \
		"@json_has r {'response_ns', 'kernel_to_app_ns'} <= set(JSON['statistics']) and JSON['run']['end'] == 'signal'" \
		"@json_has e JSON['configuration']['options']['threshold_ns'] == 1 and JSON['configuration']['options']['count'] == 300" \
		"@json_has e '--json' in JSON['configuration']['command_line'] and JSON['nic']['driver'] == 'veth'"
	pair 'json: both ends with user stamps agree with the report' '0 0' "$U $R" "$U --count 100 $M" \
		'@json_agrees e' '@json_agrees r' "@json_has e JSON['run']['stamp'] == 'user' and JSON['breaches'] is None"
	pair 'json: by the clock, with a window' '0 0' "$K $R" "$K --count 100 --interval 1ms $M" '@json_agrees e' \
		"@json_has e JSON['schedule']['slots'] >= 100 and 'sent_late_ns' in JSON['statistics'] and JSON['window']['most'] > 1"
	emitter_signal=INT pair 'json: an interrupted run is whole' '0 0' "$K $R" "$K --count 1000000 $M" '@json_agrees e' \
		'@json_agrees r' "@json_has e JSON['run']['end'] == 'signal' and JSON['statistics']['rtt_ns']['samples'] > 0"
	pair 'json: a breach that ends the run' '0 2' "$K $R" "$K -t 0.001 $M" '@json_agrees e' \
		"@json_has e JSON['exit_status'] == 2 and JSON['run']['end'] == 'breach'"
	alone 'json: nothing that ever answered is null and not 0' 1 e "$E -d 0.3 --timeout 10 $M" '@json_agrees e' \
		"@json_has e JSON['exit_status'] == 1 and JSON['statistics']['rtt_ns']['min_ns'] is None" \
		"@json_has e JSON['accounts']['directions']['lost_there'] is None and JSON['verdict']['level'] == 'void'"
}

# The text is then on stderr.
json_to_stdout() {
	begin 'json: with - it is alone on stdout' || return 0
	start_reflector r "$K"
	start_emitter e "$K -H --count 100 --timeout 5000 --json -"
	finish e
	terminate r
	expect_status e 0
	json_agrees e "$work/e.out" "$work/e.err"
	check 'e.err ~ ^Measurement: '
	verdict
}

json_refused() {
	local S="with --json .* both would write to the same place: give each a file of its own$"

	alone 'json: the same file twice is refused' 1 e "$E -d 1 -l $logs/x --json $logs/../logs/x" '@one_line e' \
		"e.err ~ ^rant: --log .* $S" '@silent' '@nothing_there'
	alone 'json: two outputs on stdout are refused' 1 e "$E -d 1 -l - --json /dev/stdout" '@one_line e' \
		"e.err ~ ^rant: --log - $S" '@silent'
	alone 'json: a place that cannot be written is told before the run' 1 e "$E -d 1 --json $logs/none/x" '@one_line e' \
		"e.err ~ ^rant: --json $logs/none/x: cannot write there \(No such file or directory\): choose another place$" '@silent'
	prepare=make_link alone 'json: a symbolic link is not followed' 1 e "$E -d 1 --json $logs/link" '@one_line e' \
		"e.err ~ ^rant: --json $logs/link: is a symbolic link: give the path of a file$" '@silent' '@link_stays'
	pair 'json: what cannot be written at the end is one line and status 1' '0 1' "$K" "$K --count 20 --json /dev/full" '@one_line e' \
		'e.err ~ ^rant: --json /dev/full: could not be written \(No space left on device\)' 'e.out ~ ^Measurement: '
}

make_link() {
	ln -s "$logs/target" "$logs/link"
}

link_stays() {
	[ "$(ls -A "$logs")" = link ] || complain "there is: $(ls -A "$logs")"
}

json_of_an_earlier_run_stays_until_it_is_replaced() {
	begin 'json: the file of an earlier run stays until there is another' || return 0
	echo old >"$logs/e.json"
	chmod 600 "$logs/e.json"
	start_reflector r "$K"
	start_emitter e "$K -H --count 1000000 --json $logs/e.json"
	wait_for_packets e e 20
	[ "$(cat "$logs/e.json")" = old ] || complain 'it was replaced before the end'
	terminate e r
	json_agrees e
	[ "$(stat -c %a "$logs/e.json")" = 600 ] || complain "its mode is $(stat -c %a "$logs/e.json")"
	verdict
}

if python3 -c 'import jsonschema' 2>/dev/null; then
	json_tests
	json_to_stdout
	json_of_an_earlier_run_stays_until_it_is_replaced
else
	skip 'json: its contents' "'python3-jsonschema' is not installed"
fi
json_refused
