#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Saved logs and JSON files: the report of a log is equal to that of its run to the digit, logs of both hosts join, runs add up.
# shellcheck source=tests/link/link.sh
. "$(dirname "$0")/link.sh"

results_here=$(dirname "${BASH_SOURCE[0]}")

# reads_again NAME LOG [OPTION...]: the report of the log has the same rows of statistics as that of the run NAME.
reads_again() {
	local name=$1 log=$2 line

	"$rant" --report --details -H "$log" "${@:3}" >"$work/$name.again" 2>"$work/$name.again.err" ||
		complain "$log is not read: $(cat "$work/$name.again.err")"
	while read -r line; do
		complain "$log: $line"
	done < <(python3 "$results_here/read_results.py" same "$work/$name.out" "$work/$name.again" 2>&1)
}

# results_agree CHECK FILE...: see read_results.py.
results_agree() {
	local line

	while read -r line; do
		complain "$1: $line"
	done < <(python3 "$results_here/read_results.py" "$@" 2>&1)
}

# Both logs joined, compared with the times that the emitter received; and all outputs of it.
joins_up() {
	local schema=$results_here/../../docs/rant.schema.json

	"$rant" --report "$logs/r.log" "$logs/e.log" -q --json "$logs/j.json" --hgrm "$logs/j.hgrm" --prometheus "$logs/j.prom" 2>"$work/j.err" ||
		complain "the two logs do not join: $(cat "$work/j.err")"
	results_agree joined "$schema" "$logs/e.json" "$logs/j.json"
	[ "$(grep -c . "$logs/j.hgrm")" -gt 10 ] || complain 'there is no distribution'
	grep -q '^rant_rtt_seconds_count{.*} [1-9]' "$logs/j.prom" || complain 'there is no histogram for Prometheus'
	! grep -q '^rant_sent_total' "$logs/j.prom" || complain 'a log has a number of packets sent'
}

# tells_seconds NAME LOG [csv]: outputs by the second of the log of the run NAME, compared with its JSON.
tells_seconds() {
	local schema=$results_here/../../docs/rant.schema.json made=$logs/$1.made

	"$rant" --report "$2" -q --json "$made.json" --jsonl "$made.jsonl" --hlog "$made.hlog" 2>"$work/made.err" ||
		complain "no output is made of $2: $(cat "$work/made.err")"
	results_agree seconds "$schema" "$logs/$1.json" "$made.json" "$made.jsonl" ${3:+"$2"}
	hlog_agrees "$1.made"
	"$rant" --report "$made.json" -q --json "$made.twice.json" --jsonl "$made.jsonl" --hlog "$made.twice.hlog" 2>"$work/made.err" ||
		complain "what was made is not read again: $(cat "$work/made.err")"
	results_agree together "$schema" "$made.twice.json" "$made.jsonl" "$made.json"
	hlog_agrees "$1.made.twice"
}

# --jsonl to a pipe: stdout has only its lines.
lines_on_stdout() {
	"$rant" --report "$logs/e.json" --jsonl - >"$work/lines" 2>"$work/text" || complain "status $?"
	[ "$(grep -cv '^{"type":"' "$work/lines")" -eq 0 ] || complain 'stdout has more than lines of JSON'
	grep -q '^Measurement: ' "$work/text" || complain 'the report is not on stderr'
	"$rant" --report "$logs/e.json" --json - >"$logs/alone.json" 2>"$work/text" || complain "status $?"
	json_has alone "JSON['read_from'][0]['file'] == '$logs/e.json'"
	grep -q '^Measurement: ' "$work/text" || complain 'the report is not on stderr with --json -'
}

adds_up() {
	local schema=$results_here/../../docs/rant.schema.json python line

	"$rant" --report --details "$logs/e.json" "$logs/e2.json" -H --json "$logs/m.json" --prometheus "$logs/m.prom" --hgrm "$logs/m.hgrm" \
		>"$work/m.out" 2>"$work/m.err" || complain "two runs do not add up: $(cat "$work/m.err")"
	for python in python3 /usr/bin/python3; do
		! "$python" -c 'import prometheus_client' 2>/dev/null || break
	done
	! "$python" -c 'import prometheus_client' 2>/dev/null ||
		while read -r line; do
			complain "m: $line"
		done < <("$python" "$results_here/read_prom.py" "$logs/m.json" "$logs/m.prom" "$logs/m.hgrm" 2>&1)
	results_agree sum "$schema" "$logs/m.json" "$logs/e.json" "$logs/e2.json"
	# Their logs have every sample.
	"$rant" --report "$logs/e.log" "$logs/e2.log" -q --json "$logs/l.json" || complain 'two logs do not add up'
	json_has l "all(JSON['statistics']['rtt_ns'][of] == json.load(open('$logs/m.json'))['statistics']['rtt_ns'][of] \
		for of in ('samples', 'sum_ns', 'percentiles', 'histogram'))"
	! command -v gnuplot >/dev/null || "$results_here/../../plot/rant-plot" "$logs/m.json" -o "$logs/m.svg" >"$work/plot.out" 2>&1 ||
		complain "there is no picture of it: $(cat "$work/plot.out")"
	json_has m "[(f['hostname'], f['interface'], f['began_unix_ns']) for f in JSON['read_from']] == [(run['host']['hostname'],
		'$link_e', run['run']['began_unix_ns']) for run in (json.load(open('$logs/' + of + '.json')) for of in ('e', 'e2'))]"
	[ ! -e "$logs/m.svg" ] || { grep -qF "Host $(uname -n)" "$logs/m.svg" && grep -qE '20[0-9]{2}-[0-9]{2}-[0-9]{2}' "$logs/m.svg"; } ||
		complain 'the picture has no host, or no date'
	"$rant" --report -q "$logs/m.json" --json "$logs/n.json" || complain 'what was made is not read again'
	results_agree sum "$schema" "$logs/n.json" "$logs/m.json"
	"$rant" --report "$logs/e2.json" "$logs/n.json" "$logs/made.json" -q --json "$logs/o.json" --jsonl "$logs/o.jsonl" --hlog "$logs/o.hlog" ||
		complain 'runs and sums of runs do not add up'
	results_agree together "$schema" "$logs/o.json" "$logs/o.jsonl" "$logs/e2.json" "$logs/e.json" "$logs/e2.json" "$logs/made.json"
	hlog_agrees o
	! command -v gnuplot >/dev/null || "$results_here/../../plot/rant-plot" "$logs/o.jsonl" -o "$logs/o.svg" >"$work/plot.out" 2>&1 ||
		complain "there is no picture of its lines: $(cat "$work/plot.out")"
	! command -v gnuplot >/dev/null || "$results_here/../../plot/rant-plot" "$logs/o.json" --panel time -o "$logs/t.svg" >"$work/plot.out" 2>&1 ||
		grep -q 'its seconds are of several runs' "$work/plot.out" || complain "no time is drawn of it: $(cat "$work/plot.out")"
	[ ! -e "$logs/t.svg" ] || complain 'a line is drawn through the seconds of several runs'
}

# reads_whole NAME...: JSON that is read and written again has the same members.
reads_whole() {
	local schema=$results_here/../../docs/rant.schema.json name

	for name in "$@"; do
		"$rant" --report "$logs/$name.json" -q --json "$logs/$name.a.json" 2>"$work/made.err" ||
			complain "$name.json is not read: $(cat "$work/made.err")"
		"$rant" --report "$logs/$name.a.json" -q --json "$logs/$name.b.json" 2>"$work/made.err" ||
			complain "what was made of $name.json is not read: $(cat "$work/made.err")"
		results_agree whole "$schema" "$logs/$name.json" "$logs/$name.a.json" "$logs/$name.b.json"
	done
}

nothing_partial() {
	[ -z "$(find "$logs" -name '*.partial*')" ] || complain "there is: $(ls "$logs")"
}

# A second run; the files of the first stay.
run_again() {
	start_emitter again "$K -s --timeout 5000 --count 300 --json $logs/e2.json -l $logs/e2.log"
	finish again
}

results_tests() {
	local form

	for form in text csv npy; do
		pair "results: the report of a log as $form is that of its run, and both logs join" '0 0' \
			"$K -s -H -l $logs/r.log --log-format $form" "$K -s -H --log-full -l $logs/e.log --log-format $form --count 500 --json $logs/e.json" \
			"@reads_again e $logs/e.log" "@reads_again r $logs/r.log" '@joins_up'
	done
	slow pair 'results: all outputs by the second can be made of logs' '0 0' "$K -l $logs/r.log --log-format npy --json $logs/r.json" \
		"$K --log-full -l $logs/e.log --log-format csv -d 2.3 --json $logs/e.json" "@tells_seconds e $logs/e.log csv" \
		"@tells_seconds r $logs/r.log" '@nothing_partial'
	pair 'results: JSON that is read and written again has lost nothing' '0 0' "$K -s -H --json $logs/r.json" \
		"$K -s -H --interval 2ms --count 300 --json $logs/e.json" '@reads_whole e r'
	slow pair 'results: JSON of many probes in flight that is read and written again has lost nothing' '0 0' "$K --rate-limit 2000 --json $logs/r.json" \
		"$K --window 16 -d 1.5 --json $logs/e.json" '@reads_whole e r'
	pair 'results: the only second of a log is equal to that of its run' '0 0' "$U" "$U -l $logs/e.log --count 300 --plain --json $logs/e.json" \
		"@tells_seconds e $logs/e.log"
	pair 'results: the report of a log with user timestamps is that of its run' '0 0' "$U -H -l $logs/r.log" "$U -H -l $logs/e.log --count 300 --plain" \
		"@reads_again e $logs/e.log" "@reads_again r $logs/r.log"
	pair 'results: the report of a log without transmit timestamps is that of its run' '0 0' "$K -N -H -l $logs/r.log" "$K -H -l $logs/e.log --count 300" \
		"@reads_again r $logs/r.log"
	pair 'results: coarse buckets and a small overflow are as in the run' '0 0' "$K -H -o 5 -b 5 -l $logs/r.log" \
		"$K -H -o 5 -b 0.5 -l $logs/e.log --count 300" "@reads_again e $logs/e.log -o 5 -b 0.5" "@reads_again r $logs/r.log -o 5 -b 5"
}

runs_add_up() {
	begin 'results: runs add up, histogram by histogram and row by row' || return 0
	start_reflector r "$K -s"
	start_emitter e "$K -s --timeout 5000 --count 300 --json $logs/e.json -l $logs/e.log"
	finish e
	run_again
	terminate r
	made_of made samples=900 seconds=3
	check '@adds_up'
	check '@lines_on_stdout'
	verdict
}

refused_again() { # STATUS PATTERN OPTION...
	local got=0

	"$rant" "${@:3}" >"$work/no.out" 2>"$work/no.err" || got=$?
	[ "$got" -eq "$1" ] || complain "${*:3}: status $got"
	[ "$(wc -l <"$work/no.err")" -eq 1 ] || complain "${*:3}: not one line: $(cat "$work/no.err")"
	grep -qE "$2" "$work/no.err" || complain "${*:3}: $(cat "$work/no.err")"
}

# Outputs by the second are written while a log is read: after an error no file is left.
seconds_refused() {
	local -a all=(--json "$logs/x" --jsonl "$logs/y" --hlog "$logs/z" -q)
	local before

	before=$(ls -A "$logs")
	sed 's/"to_ns":[0-9]*/"to_ns":-5/' "$logs/e.json" >"$work/negative"
	python3 - "$work/long" <<-'END'
		import sys
		with open(sys.argv[1], "w") as file:
		    file.write("SEQ,T1_KERNEL,T4_KERNEL,RTT\n")
		    file.writelines(f"{i},{i * 10**8},{i * 10**8 + 5000},5000\n" for i in range(3000))
		    file.write("3000,1")
	END
	refused_again 1 'has no end: the log was cut off there' --report "$work/long" "${all[@]}"
	refused_again 1 'has no end: the log was cut off there' --report "$logs/cut" "${all[@]}"
	refused_again 1 'is not complete JSON' --report "$logs/cut.json" "${all[@]}"
	refused_again 1 'has schema version 2' --report "$logs/newer" "${all[@]}"
	refused_again 1 'has an element without its percentiles and times' --report "$work/negative" "${all[@]}"
	refused_again 1 'is the same file as' --report "$logs/e.log" "$logs/e.log" "${all[@]}"
	refused_again 1 'a log and JSON cannot be combined' --report "$logs/e.log" "$logs/e.json" "${all[@]}"
	refused_again 1 'both would write to the same place' --report "$logs/e.log" "${all[@]}" --prometheus "$logs/z"
	refused_again 1 'both would write to the same place' --report "$logs/e.log" --jsonl - --hlog -
	refused_again 1 'is an input file' --report "$logs/e.log" --jsonl "$logs/e.log"
	refused_again 1 'jsonl /dev/full: could not be written' --report "$logs/e.log" -q --jsonl /dev/full
	refused_again 1 'hlog /dev/full: could not be written' --report "$logs/e.json" -q --hlog /dev/full
	[ "$(ls -A "$logs")" = "$before" ] || complain "there is: $(ls -A "$logs")"
	head -n 2999 "$work/long" >"$work/whole"
	{ "$rant" --report "$work/whole" -q --jsonl - 2>"$work/no.err"; echo $? >"$work/gone"; } | head -n 1 >"$work/one"
	[ "$(cat "$work/gone")" = 1 ] || complain "a reader that goes away: status $(cat "$work/gone")"
	grep -q 'its reader has gone away' "$work/no.err" || complain "a reader that goes away: $(cat "$work/no.err")"
}

results_refused() {
	begin 'results: files that do not come from a run give one line and status 1' || return 0
	start_reflector r "$K -l $logs/r.log"
	start_emitter e "$K --timeout 5000 --count 50 --json $logs/e.json -l $logs/e.log"
	finish e
	terminate r
	: >"$logs/empty"
	head -c 2000 "$logs/e.log" >"$logs/cut"
	head -c 2000 "$logs/e.json" >"$logs/cut.json"
	sed 's/"schema_version": 1/"schema_version": 2/' "$logs/e.json" >"$logs/newer"
	sed 's/"samples": 50/"samples": 51/' "$logs/e.json" >"$logs/wrong"
	refused_again 1 'is empty' --report "$logs/empty"
	refused_again 1 'has no end' --report "$logs/cut"
	refused_again 1 'is not complete JSON' --report "$logs/cut.json"
	refused_again 1 'has schema version 2, and this rant reads up to 1: use a newer rant' --report "$logs/newer"
	refused_again 1 'has not as many samples' --report "$logs/wrong"
	refused_again 1 'is the same file as' --report "$logs/e.json" "$logs/../logs/e.json"
	refused_again 1 'a log and JSON cannot be combined' --report "$logs/e.json" "$logs/e.log"
	refused_again 1 'is neither a log nor JSON of rant' --report /bin/sh
	refused_again 1 'is an input file' --report "$logs/e.json" --json "$logs/e.json"
	refused_again 1 "the finest bucket that there is has 10.000 us" --report "$logs/e.log" -o 2000000 -b 1
	refused_again 1 'cannot write there' --report "$logs/e.json" --json "$logs/none/x"
	seconds_refused
	verdict
}

# compares STATUS RESULT INTERVALS PATTERN OPTION...: the first line matches PATTERN.
compares() {
	local got=0

	"$rant" --compare "${@:5}" --json "$logs/compared.json" >"$work/c.out" 2>"$work/c.err" || got=$?
	[ "$got" -eq "$1" ] || complain "${*:5}: status $got: $(cat "$work/c.err")"
	head -n 1 "$work/c.out" | grep -qE "$4" || complain "${*:5}: not '$4' but '$(head -n 1 "$work/c.out")'"
	results_agree comparison "$results_here/../../docs/rant.schema.json" "$logs/compared.json" "$2" "$3"
}

made_of() { # TO OPTION...: a run made of that of the emitter, see make_results.py
	python3 "$results_here/make_results.py" "$logs/e.json" "$logs/$1.json" "${@:2}" || complain "$1.json cannot be made"
}

runs_compare() {
	slow begin 'results: the second of two runs is worse, not worse, or undecided' || return 0
	start_reflector r "$K"
	start_emitter e "$K --timeout 5000 --count 1000 --json $logs/e.json"
	finish e
	terminate r
	made_of e highest=3 # whether a comparison is decided is not left to a few late samples of this machine
	made_of a samples=20000 seconds=40 verdict=trusted
	cp "$logs/a.json" "$logs/again.json"
	cp "$logs/e.json" "$logs/e2.json"
	made_of b samples=20000 seconds=40 seed=2 verdict=doubtful
	made_of slow samples=20000 seconds=40 seed=3 scale=1.2 verdict=trusted
	made_of slower samples=20000 seconds=40 seed=3 scale=10 verdict=trusted
	made_of lossy samples=20000 seconds=40 seed=4 lost=400 verdict=trusted
	made_of short samples=20000 seconds=29 seed=5 scale=1.2 verdict=trusted
	made_of few samples=19 verdict=trusted
	made_of void samples=20000 seconds=40 verdict=void
	compares 5 undecided 15 '^undecided: .*allowed 0: give --tolerance$' "$logs/a.json" "$logs/again.json"
	compares 0 equal 15 '^not worse: no difference is above the tolerance$' "$logs/a.json" "$logs/b.json" --tolerance 1000%
	compares 4 worse 15 '^worse: p[0-9.]+ is .* [nu]s \([0-9.]+ %\) higher, interval .* [nu]s, allowed 0$' "$logs/a.json" "$logs/slow.json"
	compares 4 worse 15 '^worse: p[0-9.]+ is .* higher' "$logs/a.json" "$logs/slow.json" --tolerance 5%,100ns
	compares 0 equal 15 '^not worse: ' "$logs/a.json" "$logs/slow.json" --tolerance 1000%
	compares 0 better 15 '^not worse: .* lower, interval ' "$logs/slower.json" "$logs/a.json" --tolerance 10%
	compares 4 worse 15 '^worse: loss is .* percentage points higher, interval ' "$logs/a.json" "$logs/lossy.json" --tolerance 10%
	compares 4 worse 0 '^worse: ' "$logs/a.json" "$logs/short.json" --tolerance 5%
	grep -q '^No intervals, each run needs 30 seconds' "$work/c.out" || complain 'the text does not report that there are no intervals'
	compares 0 equal 0 '^not worse: no difference is above 0$' "$logs/e.json" "$logs/e2.json"
	"$rant" --report -q "$logs/a.json" "$logs/b.json" --json "$logs/ab.json" || complain 'two runs do not add up'
	"$rant" --report -q "$logs/slow.json" "$logs/short.json" --json "$logs/sum.json" || complain 'two slow runs do not add up'
	compares 4 worse 15 '^worse: p[0-9.]+ is .* higher, interval ' "$logs/ab.json" "$logs/sum.json" --tolerance 5%
	grep -q '40000 samples, 80 seconds' "$work/c.out" || complain 'not all seconds of both runs are compared'
	refused_again 1 'its verdict is void: it cannot be compared' --compare "$logs/a.json" "$logs/void.json"
	refused_again 1 'fewer than ten samples are above p50 in one of them: they cannot be compared' --compare "$logs/few.json" "$logs/slow.json"
	refused_again 1 'its verdict is doubtful.* and --strict compares only trusted runs' --compare "$logs/a.json" "$logs/b.json" --strict
	refused_again 1 'cannot be read' --compare "$logs/a.json" "$logs/none"
	refused_again 1 'none/x: cannot write there' --compare "$logs/a.json" "$logs/none" --json "$logs/none/x"
	refused_again 1 'is an input file' --compare "$logs/a.json" "$logs/b.json" --json "$logs/b.json"
	"$rant" --compare "$logs/a.json" "$logs/slow.json" --json - >"$logs/c.json" 2>"$work/c.err"
	json_has c "JSON['comparison']['result'] == 'worse'"
	grep -q '^Deciles in us' "$work/c.err" || complain 'the text is not on stderr, or has no deciles'
	nothing_partial
	refused_again 1 'is the same file as .*: give each run once' --compare "$logs/a.json" "$logs/../logs/a.json"
	sed 's/"interval_ns": null/"interval_ns": 1000/' "$logs/a.json" >"$logs/clock.json"
	sed -i 's/"ttl": 255/"ttl": 64/' "$logs/clock.json"
	refused_again 1 ': --ttl 255 and 64, --interval not set and 1us: the settings differ: .* give --anyway$' --compare "$logs/a.json" "$logs/clock.json"
	refused_again 1 ': --ttl 255 and 64, --interval not set and 1us: the settings differ: ' --report "$logs/a.json" "$logs/clock.json"
	compares 0 equal 15 '^not worse: ' "$logs/a.json" "$logs/clock.json" --tolerance 1000% --anyway
	grep -q 'Settings that differ: --ttl 255 and 64, --interval not set and 1us$' "$work/c.out" || complain 'the text does not list the settings'
	verdict
}

if python3 -c 'import jsonschema' 2>/dev/null; then
	results_tests
	if grep -qF libjansson.so "$rant"; then
		runs_add_up
		runs_compare
		results_refused
	else
		skip 'results: of JSON' 'rant was built without libjansson'
	fi
else
	skip 'results: saved runs' "'python3-jsonschema' is not installed"
fi
