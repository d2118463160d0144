#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# JSON, JSONL, Prometheus, hlog and hgrm outputs: valid by their schema, with exactly the figures of the text report.
# shellcheck source=tests/link/link.sh
. "$(dirname "$0")/link.sh"

here=$(dirname "${BASH_SOURCE[0]}")

# commit_agrees NAME: the program that wrote it says the same of itself.
commit_agrees() {
	local told

	told=$("$rant" --version | sed -n 's/^  Commit    :  //p')
	json_has "$1" "JSON['rant_commit'] == (None if '$told' == 'unknown' else '$told')"
}

# machine_agrees NAME: the JSON file describes this machine and its end of the link correctly.
machine_agrees() {
	local at=link_$1 mtu speed

	mtu=$(ip netns exec "${ns[$1]}" cat "/sys/class/net/${!at}/mtu")
	speed=$(ip netns exec "${ns[$1]}" cat "/sys/class/net/${!at}/speed")
	json_has "$1" "(JSON['host']['hostname'], JSON['host']['kernel'], JSON['host']['machine']) == (os.uname().nodename, os.uname().release, os.uname().machine)"
	json_has "$1" "JSON['host']['isolated_cpus'] == open('/sys/devices/system/cpu/isolated').read().strip()"
	json_has "$1" "JSON['host']['cpus_online'] == os.sysconf('SC_NPROCESSORS_ONLN')"
	json_has "$1" "(JSON['nic']['interface'], JSON['nic']['mtu_bytes'], JSON['nic']['speed_mbps']) == ('${!at}', $mtu, $speed)"
	json_has "$1" "JSON['wire_time'] is None" # the speed of veth is made up
	json_has "$1" "JSON['clocks']['system_clock']['steered'] in ('yes', 'no')"
	json_has "$1" "JSON['activity']['run'] and all(d['count'] > 0 for d in JSON['activity']['run'] if d['change'] == 'counted')"
}

# findings_agree NAME OPTION...: the warnings are those that -v said before the run, and --check has them too.
findings_agree() {
	local at=link_$1 said all

	said=$(sed -n 's/^\(warn\|fail\) *\([^:]*\): .*/\1 \2/p' "$work/$1.err")
	all=$(inside "$1" taskset -c "$first_cpu" "$rant" -i "${!at}" "${@:2}" --check | sed -n 's/^\(warn\|fail\) *\([^:]*\): .*/\1 \2/p')
	json_has "$1" "[f['level'] + ' ' + f['subject'] for f in JSON['findings']] == '''$said'''.splitlines() and JSON['findings_left_out'] == 0"
	[ -z "$(comm -23 <(sort <<<"$said") <(sort <<<"$all"))" ] || complain "--check does not say all of: $said"
}

nothing_there() {
	[ -z "$(ls -A "$logs")" ] || complain "there is: $(ls -A "$logs")"
}

# again_agrees NAME: --report has read the file, and writes the same members and, below the headline and the verdict, the same text. It adds
# members of its own, and its exit status is its own.
again_agrees() {
	local text

	"$rant" --report "$logs/$1.json" -v --json "$logs/again.json" >"$logs/again.txt" 2>&1 || complain "--report fails: $(<"$logs/again.txt")"
	text=$(diff <(sed '1,/^Test is complete/d' "$work/$1.out") <("$rant" --report "$logs/$1.json" --details -H | sed '1,/^Duration/d')) ||
		complain "--report prints another text: $text"
	json_has again "all(has(JSON[name], value) for name, value in json.load(open('$logs/$1.json')).items() if name != 'exit_status')"
	rm -f "$logs"/again.*
}

json_tests() {
	local R="-H --json $logs/r.json" M="-H --json $logs/e.json"

	pair 'json: both ends with kernel stamps, stages and breaches agree with the report' '0 0' \
		"$K -s -t 0.001 -C $R --jsonl $logs/r.jsonl" "$K -s -t 0.001 -C --count 300 $M --jsonl $logs/e.jsonl" '@json_agrees e' \
		'@json_agrees r' '@breaches_agree e' '@breaches_agree r' '@commit_agrees e' '@again_agrees e' '@again_agrees r' \
		"@json_has e JSON['run']['role'] == 'emit' and JSON['run']['end'] == 'count' and JSON['exit_status'] == 0" \
		"@json_has e JSON['breaches']['count'] == 300 and JSON['breaches']['first']['stamps']['t4_kernel_ns'] > 10**18" \
		"@json_has e {'rtt_ns', 'response_ns', 'network_ns', 'app_to_kernel_ns', 'forward_ns'} <= set(JSON['statistics'])" \
		"@json_has r {'response_ns', 'kernel_to_app_ns'} <= set(JSON['statistics']) and JSON['run']['end'] == 'signal'" \
		"@json_has e JSON['configuration']['options']['threshold_ns'] == 1 and JSON['configuration']['options']['count'] == 300" \
		'@machine_agrees e' '@machine_agrees r' \
		"@json_has e '--json' in JSON['configuration']['command_line'] and JSON['nic']['driver'] == 'veth'"
	pair 'json: both ends with user stamps agree with the report' '0 0' "$U $R" "$U -v --count 100 $M" \
		"@findings_agree e -a $ip_r $U" \
		'@json_agrees e' '@json_agrees r' "@json_has e JSON['run']['stamp'] == 'user' and JSON['breaches'] is None"
	pair 'json: by the clock, with a window' '0 0' "$K $R" "$K --count 100 --interval 1ms $M" '@json_agrees e' '@again_agrees e' \
		"@json_has e JSON['schedule']['slots'] >= 100 and 'sent_late_ns' in JSON['statistics'] and JSON['window']['most'] > 1"
	pair 'json: one of four probes is stamped' '0 0' "$K $R" "$K --count 400 --window 8 --stamp-every 4 $M --jsonl $logs/e.jsonl" \
		'@json_agrees e' '@lines_agree e' "@json_has e JSON['accounts']['packets']['not_asked'] >= 200"
	pair 'json: many source ports' '0 0' "$K $R" "$K --count 400 --source-ports 4 $M" '@json_agrees e' '@again_agrees e' \
		"@json_has e len(JSON['source_ports']['each']) == 4 and JSON['accounts']['packets']['strays'] is None"
	emitter_signal=INT pair 'json: an interrupted run is whole' '0 0' "$K $R" "$K --count 1000000 $M" '@json_agrees e' \
		'@again_agrees e' '@again_agrees r' '@json_agrees r' "@json_has e JSON['run']['end'] == 'signal' and JSON['statistics']['rtt_ns']['samples'] > 0"
	if inside e "$rant" -i "$link_e" -a "$ip_nobody" --stamp user --pmc --timeout 1 -d 0.01 2>&1 | grep -q '^rant: --pmc'; then
		skip 'json: hardware counters' 'there are none here'
	else
		pair 'json: hardware counters' '0 0' "$K --pmc $R" "$K --pmc --count 300 $M" '@json_agrees e' '@json_agrees r' \
			"@json_has e len(JSON['counters']['each']) >= 1 and JSON['counters']['quick_exchanges'] >= 200"
	fi
	emitter_signal=INT pair 'json: a run that is interrupted in the warm-up is whole' '0 3' "$K $R" "$K -w 1000000000 $M" '@json_agrees e' \
		"@json_has e JSON['run']['end'] == 'signal' and JSON['statistics']['rtt_ns']['samples'] == 0 and JSON['accounts']['packets']['warm_up'] > 0"
	pair 'json: a breach that ends the run' '0 2' "$K $R" "$K -t 0.001 $M" '@json_agrees e' \
		"@json_has e JSON['exit_status'] == 2 and JSON['run']['end'] == 'breach'"
	alone 'json: nothing that ever answered is null and not 0' 1 e "$E -d 0.3 --timeout 10 $M" '@json_agrees e' \
		"@json_has e JSON['exit_status'] == 1 and JSON['statistics']['rtt_ns']['min_ns'] is None" \
		"@json_has e JSON['accounts']['directions']['lost_there'] is None and JSON['verdict']['level'] == 'void'"
}

# log_agrees NAME STATISTIC COLUMN: the percentiles in JSON are those of the sorted log, or at most 1/1024 too low.
log_agrees() {
	python3 - "$logs/$1.json" "$logs/$1.csv" "$2" "$3" <<-'EOF' || complain "$2 of $1.json is not that of the log"
		import csv, json, sys
		with open(sys.argv[1]) as file:
		    figure = json.load(file)["statistics"][sys.argv[3]]
		with open(sys.argv[2]) as file:
		    values = sorted(int(row[sys.argv[4]]) for row in csv.DictReader(line for line in file if line[0] != "#"))
		assert len(values) == figure["samples"], (len(values), figure["samples"])
		for p in figure["percentiles"]:
		    value = values[-(-len(values) * round(p["percent"] * 10**4) // 10**6) - 1]
		    assert 0 <= value - p["value_ns"] <= value / 1024, (p, value)
	EOF
}

above_the_overflow() {
	pair 'json: percentiles of 6,000 samples that all are above --overflow are those of the log' '0 0' "$K" \
		"$K -o 1 -b 0.001 --count 6000 -H -l $logs/e.csv --log-format csv --json $logs/e.json" '@json_agrees e' 'e.out !~ >=' \
		"@json_has e JSON['statistics']['rtt_ns']['histogram']['overflow_not_kept'] >= 5000 - 4096" \
		"@json_has e not any('overflow' in r['name'] for r in JSON['verdict']['reasons'])" '@log_agrees e rtt_ns RTT'
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

# The seconds of --json are those of --jsonl, but for the buckets; each stands in a line of its own, as jq reads it too.
seconds_agree() { # NAME
	local figures='[.number, .from_ns, .to_ns, .unix_ns, .sent, .lost, .samples, .p50_ns, .p99_ns, .p99_9_ns, .max_ns, .longest_gap_ns]'

	json_has "$1" "[line for line in open(sys.argv[1]) if line.startswith('\t\t{\"number\":')].__len__() == len(JSON['seconds']) >= 3"
	command -v jq >/dev/null || return 0
	[ "$(jq -c ".seconds[] | $figures" "$logs/$1.json")" = "$(jq -c "select(.type == \"second\") | $figures" "$logs/$1.jsonl")" ] ||
		complain "$1.json: the seconds are not those of $1.jsonl"
}

lines_agree() { # NAME [SECONDS [LINES [REPORT [JSON]]]]
	local line

	while read -r line; do
		complain "$1.jsonl: $line"
	done < <(python3 "$here/read_jsonl.py" "$here/../../docs/rant.schema.json" "${3:-$logs/$1.jsonl}" "${4:-$work/$1.out}" "${2:-1}" ${5:+"$5"} 2>&1)
}

# With the JSON of the same run, which had breaches.
breaches_agree() { # NAME
	lines_agree "$1" 1 '' '' "$logs/$1.json"
}

line_tests() {
	local R="--jsonl $logs/r.jsonl" M="--jsonl $logs/e.jsonl"

	pair 'jsonl, json: the seconds of both ends make the run' '0 0' "$K -H $R --json $logs/r.json" \
		"$K -H -d 3.2 -t 1000 -C $M --json $logs/e.json" '@lines_agree e 3' '@lines_agree r 3' '@json_agrees e' '@json_agrees r' \
		'@seconds_agree e' '@seconds_agree r'
	pair 'jsonl: the parts of a breach without the times of the reflector' '0 0' "$K" \
		"$K -s --plain -t 0.001 -C --count 50 $M --json $logs/e.json" '@breaches_agree e'
	pair 'jsonl: the parts of a breach where the reflector has user stamps' '0 0' "$U -s" \
		"$K -s -t 0.001 -C --count 50 $M --json $logs/e.json" '@breaches_agree e'
	pair 'jsonl: by the clock, with user stamps and a warm-up' '0 0' "$U $R" "$U -w 20 --count 200 --interval 100us $M" \
		'@lines_agree e' '@lines_agree r'
	emitter_signal=INT pair 'jsonl: an interrupted run has its summary' '0 0' "$K $R" "$K --count 1000000 $M" '@lines_agree e'
	alone 'jsonl: nothing that ever answered' 1 e "$E -d 0.3 --timeout 10 $M" '@lines_agree e'
}

lines_come_while_it_runs() {
	begin 'jsonl: lines are written during the run, and a breach at once' || return 0
	start_reflector r "$K"
	start_emitter e "$K --timeout 5000 -t 0.001 -C --interval 100ms --jsonl $logs/e.jsonl"
	poll grep -qs '"type":"second"' "$logs/e.jsonl.partial"
	grep -q '"type":"breach"' "$logs/e.jsonl.partial" || complain 'no breach is told yet'
	is_running e || complain 'the run was over'
	terminate e r
	lines_agree e
	verdict
}

seconds_come_while_it_runs() {
	local locked

	begin 'json: seconds are in the file while the run goes on' || return 0
	start_reflector r "$K"
	start_emitter e "$K -H --timeout 5000 --interval 100ms --json $logs/e.json"
	poll grep -qs '"number":2,' "$logs/e.json.partial"
	is_running e || complain 'the run was over'
	locked=$(awk '$1 == "VmLck:" { print $2 }' "/proc/$(pid_of e)/status")
	[ "$locked" -lt 12288 ] || complain "$locked kB are locked: what is of another thread is among them"
	terminate e r
	json_agrees e
	verdict
}

lines_through_a_pipe() {
	local name='jsonl: through a pipe into jq'

	command -v jq >/dev/null || { skip "$name" "'jq' is not installed"; return; }
	begin "$name" || return 0
	start_reflector r "$K"
	start e e sh -c "$rant $E --timeout 5000 -d 2.2 --jsonl - 2>$work/text | jq -c 'select(.type == \"second\") | .samples'"
	finish e
	terminate r
	[ "$(grep -cE '^[0-9]+$' "$work/e.out")" -ge 2 ] || complain 'jq has not seen two seconds'
	grep -q '^Measurement: ' "$work/text" || complain 'the report is not on stderr'
	verdict
}

reader_goes() {
	begin 'jsonl: a reader that closes the pipe gives one line and status 1' || return 0
	start_reflector r "$K"
	start e e sh -c "{ $rant $E --timeout 5000 -q -d 2.2 --jsonl - 2>$work/text.err; echo \$? >$work/status; } | head -n 1"
	finish e
	terminate r
	[ "$(cat "$work/status")" = 1 ] || complain "status $(cat "$work/status")"
	[ "$(said text)" = 'rant: --jsonl -: its reader has gone away: the rest of it is left out' ] || complain "$(said text)"
	verdict
}

hlog_tests() {
	local R="--json $logs/r.json --hlog $logs/r.hlog"

	pair 'hlog: both ends, by the octet and with its own reader' '0 0' "$K $R" "$K -d 3.2 ${R//r\./e.}" '@hlog_agrees e' '@hlog_agrees r'
	emitter_signal=INT pair 'hlog: an interrupted run is whole' '0 0' "$K" "$K --count 1000000 ${R//r\./e.}" '@hlog_agrees e'
	alone 'hlog: nothing that ever answered is a histogram without samples' 1 e "$E -d 0.3 --timeout 10 ${R//r\./e.}" '@hlog_agrees e'
}

hlog_to_stdout() {
	begin 'hlog: with - it is alone on stdout, and there while it runs' || return 0
	start_reflector r "$K"
	start_emitter e "$K --timeout 5000 --hlog -"
	poll grep -q '^[0-9]' "$work/e.out"
	is_running e || complain 'the run was over'
	terminate e r
	[ "$(grep -cvE '^(#\[.*\]|"StartTimestamp",.*|[0-9.]+,[0-9.]+,[0-9.]+,HISTF[A-Za-z0-9+/=]+)$' "$work/e.out")" -eq 0 ] ||
		complain 'there is more than lines of the log'
	check 'e.err ~ ^Measurement: '
	verdict
}

prom_agrees() { # NAME
	local line

	while read -r line; do
		complain "$1: $line"
	done < <("$prom_python" "$here/read_prom.py" "$logs/$1.json" "$logs/$1.prom" "$logs/$1.hgrm" 2>&1)
}

prom_tests() {
	local R="--json $logs/r.json --prometheus $logs/r.prom --hgrm $logs/r.hgrm"

	pair 'prometheus and hgrm: both ends agree with json' '0 0' "$K $R" "$K --count 3000 ${R//r\./e.}" '@prom_agrees e' '@prom_agrees r'
}

# Three short runs, as cron starts them: the counters of one file have the packets of all.
prom_goes_on() {
	local i sent=0 samples=0

	begin 'prometheus: counters go on over runs, and promtool finds no fault' || return 0
	start_reflector r "$K --prometheus $logs/r.prom"
	for i in 1 2 3; do
		start_emitter e "$K --count $((50 * i)) --timeout 5000 --prometheus $logs/e.prom"
		finish e
		expect_status e 0
		[ ! -s "$work/e.err" ] || ! grep -q -e --prometheus "$work/e.err" || complain "said: $(cat "$work/e.err")"
		sent=$((sent + $(row e Sent)))
		samples=$((samples + $(row e Recorded)))
	done
	terminate r
	grep -qx "rant_sent_total{.*} $sent" "$logs/e.prom" || complain "not $sent: $(grep ^rant_sent_total "$logs/e.prom")"
	grep -qx "rant_rtt_seconds_count{.*} $samples" "$logs/e.prom" || complain "not $samples: $(grep _count "$logs/e.prom")"
	grep -qx "rant_last_run_samples{.*} $(row e Recorded)" "$logs/e.prom" || complain 'no gauge of the last run'
	if command -v promtool >/dev/null; then
		for i in e r; do
			promtool check metrics <"$logs/$i.prom" >"$work/promtool" 2>&1 || complain "promtool, $i: $(cat "$work/promtool")"
			[ ! -s "$work/promtool" ] || complain "promtool, $i: $(cat "$work/promtool")"
		done
	fi
	verdict
}

prom_while_it_runs() {
	begin 'prometheus: the file exists during the run, without a verdict, and replaces an earlier file' || return 0
	echo old >"$logs/e.prom"
	start_reflector r "$K"
	start_emitter e "$K --timeout 5000 --prometheus $logs/e.prom"
	poll grep -q '^rant_running{.*} 1$' "$logs/e.prom"
	grep -qE '^rant_verdict\{.*\} 1$' "$logs/e.prom" && complain 'there is a verdict'
	[ "$(ls -A "$logs")" = e.prom ] || complain "there is: $(ls -A "$logs")"
	terminate e r
	grep -qE '^rant_verdict\{.*\} 1$' "$logs/e.prom" || complain 'there is no verdict'
	check "e.err ~ ^rant: --prometheus $logs/e.prom: line 1 is not what rant writes, so its counters begin at 0$"
	verdict
}

# As on a machine where all other CPUs are set aside.
without_another_cpu() {
	have_one_cpu 'json: without a second CPU' || return
	begin 'json: without a second CPU there are no seconds, and all else at the end' || return 0
	start_reflector r "$K"
	as="$one_cpu" start_emitter e "$K --timeout 5000 --count 20 -t 0.001 -C \
		--json $logs/e.json --jsonl $logs/e.jsonl --prometheus $logs/e.prom --hlog $logs/e.hlog"
	finish e
	terminate r
	expect_status e 0
	check "@json_has e JSON['configuration']['granted']['other_cpu'] is False and JSON['breaches']['count'] == 20"
	check "@json_has e JSON['seconds'] is None"
	[ "$(sed 's/^{"type":"\([a-z]*\)".*/\1/' "$logs/e.jsonl" | uniq -c | xargs)" = '1 configuration 20 breach 1 summary' ] ||
		complain "lines: $(cut -c 1-30 "$logs/e.jsonl")"
	grep -q '^#.No intervals: ' "$logs/e.hlog" || complain 'the interval log does not tell why it has no lines'
	! grep -q '^[0-9]' "$logs/e.hlog" || complain 'the interval log has lines'
	grep -qE '^rant_samples_unbinned_total\{.*\} 20$' "$logs/e.prom" || complain 'samples are in no histogram, and that is not told'
	verdict
}

theirs() {
	[ "$(stat -c %U "$logs"/* | sort -u)" = nobody ] || complain "not nobody's: $(stat -c '%n %U' "$logs"/*)"
	[ "$(find "$logs" -type f | wc -l)" -eq 5 ] || complain "there is: $(ls "$logs")"
}

json_refused() {
	local S="with --json .* both would write to the same place: give each a file of its own$"

	alone 'json: the same file twice is refused' 1 e "$E -d 1 -l $logs/x --json $logs/../logs/x" '@one_line e' \
		"e.err ~ ^rant: --log .* $S" '@silent' '@nothing_there'
	alone 'json: two outputs on stdout are refused' 1 e "$E -d 1 -l - --json /dev/stdout" '@one_line e' \
		"e.err ~ ^rant: --log - $S" '@silent'
	alone 'jsonl: the same file as the log or --json is refused' 1 e "$E -d 1 --jsonl $logs/x --json $logs/x" '@one_line e' \
		"e.err ~ ^rant: --json $logs/x with --jsonl $logs/x: both would" '@silent' '@nothing_there'
	alone 'hlog: the same file as another is refused' 1 e "$E -d 1 --hgrm $logs/x --hlog $logs/x" '@one_line e' \
		"e.err ~ ^rant: --hgrm $logs/x with --hlog $logs/x: both would" '@silent' '@nothing_there'
	pair 'hlog: a write error gives one line and status 1' '0 1' "$K" "$K --count 20 --hlog /dev/full" '@one_line e' \
		'e.err ~ ^rant: --hlog /dev/full: could not be written \(No space left on device\)' 'e.out ~ ^Measurement: '
	alone 'prometheus: a path that is not a regular file is refused' 1 e "$E -d 1 --prometheus /dev/null" '@one_line e' \
		'e.err ~ ^rant: --prometheus /dev/null: not a regular file: give the path of a file that rant may replace$' '@silent'
	alone 'hgrm: a path that cannot be written fails before the run' 1 e "$E -d 1 --hgrm $logs/none/x" '@one_line e' \
		"e.err ~ ^rant: --hgrm $logs/none/x: cannot write there" '@silent'
	alone 'prometheus: a path that cannot be written fails before the run' 1 e "$E -d 1 --prometheus $logs/none/x" '@one_line e' \
		"e.err ~ ^rant: --prometheus $logs/none/x: cannot write there" '@silent'
	alone 'json: a path that cannot be written fails before the run' 1 e "$E -d 1 --json $logs/none/x" '@one_line e' \
		"e.err ~ ^rant: --json $logs/none/x: cannot write there \(No such file or directory\): choose another place$" '@silent'
	prepare=make_link alone 'json: a symbolic link is not followed' 1 e "$E -d 1 --json $logs/link" '@one_line e' \
		"e.err ~ ^rant: --json $logs/link: is a symbolic link: give the path of a file$" '@silent' '@link_stays'
	pair 'json: a write error during the run gives one line and status 1' '0 1' "$K" "$K -d 2.2 --json /dev/full" '@one_line e' \
		'e.err ~ ^rant: --json /dev/full: could not be written \(No space left on device\)' 'e.out ~ ^Measurement: '
	pair 'json: a write error at the end gives one line and status 1' '0 1' "$K" "$K --count 20 --json /dev/full" '@one_line e' \
		'e.err ~ ^rant: --json /dev/full: could not be written \(No space left on device\)' 'e.out ~ ^Measurement: '
}

# Its port is taken, which is known after all outputs are open.
begins_not() {
	begin 'json, jsonl, hlog: a run that does not begin leaves nothing' || return 0
	start_reflector r "$K"
	start e r sh -c "$rant -i $link_r $K --json $logs/x --hlog $logs/y --jsonl $logs/z"
	finish e
	terminate r
	expect_status e 1
	nothing_there
	verdict
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

[ -n "$hdr_jar" ] || skip 'hlog: its own reader' "'libhdrhistogram-java' or a Java runtime is not installed"
if [ -n "${has_jsonschema:-}" ]; then
	json_tests
	above_the_overflow
	json_to_stdout
	json_of_an_earlier_run_stays_until_it_is_replaced
	line_tests
	lines_come_while_it_runs
	seconds_come_while_it_runs
	hlog_tests
	hlog_to_stdout
else
	skip 'json: its contents' "'python3-jsonschema' is not installed"
fi
# The distribution's package is for its own Python.
prom_python=
for python in python3 /usr/bin/python3; do
	[ -n "$prom_python" ] || ! "$python" -c 'import prometheus_client' 2>/dev/null || prom_python=$python
done
if [ -n "$prom_python" ]; then
	prom_tests
else
	skip 'prometheus: its contents' "'python3-prometheus-client' is not installed"
fi
prom_goes_on
prom_while_it_runs
lines_through_a_pipe
reader_goes
without_another_cpu
if getent passwd nobody >/dev/null; then
	pair 'json: with --user all files are theirs' '0 0' "$K" \
		"$K --count 100 --user nobody --json $logs/a --jsonl $logs/b --hgrm $logs/c --prometheus $logs/d --hlog $logs/e" @theirs
fi
begins_not
json_refused
