#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# rant-plot with files of each kind of run: every picture, every error, and the page in a browser.
# shellcheck source=tests/link/link.sh
. "$(dirname "$0")/link.sh"

plot_here=$(readlink -f "$(dirname "${BASH_SOURCE[0]}")")
cp -r "$plot_here/../../plot" "$work/plot" # the rant that is tested is in the folder above
cp -r "$plot_here/../../python/rant_results" "$work/plot/rant_results"
export PLOT=$work/plot
plot=$PLOT/rant-plot
plots=$work/plots # files for later tests
plot_python=/usr/bin/python3
[ -x $plot_python ] || plot_python=python3
mkdir -p "$plots"

# looks KIND FILE TEXT...: see read_plot.py.
looks() {
	local line

	while read -r line; do
		complain "$line"
	done < <("$plot_python" "$plot_here/read_plot.py" "$@" 2>&1)
}

# draws_as STATUS ARGUMENTS...: runs rant-plot in the folder of the files.
draws_as() {
	local want=$1 have=0

	shift
	(cd "$plots" && "${plot_with[@]}" "$plot" "$@") >"$work/plot.out" 2>"$work/plot.err" || have=$?
	[ "$have" = "$want" ] || complain "rant-plot $*: exit status $have, not $want: $(head -5 "$work/plot.err")"
	[ ! -s "$work/plot.out" ] || complain "rant-plot $*: on stdout: $(head -3 "$work/plot.out")"
	[ "$want" != 0 ] || [ ! -s "$work/plot.err" ] || complain "rant-plot $*: $(head -5 "$work/plot.err")"
}
plot_with=("$plot_python")

json_says() { # FILE PYTHON: of JSON, the object
	"$plot_python" -B -c 'import json, sys; JSON = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$plots/$1" "$2"
}

# The verdict and the host of a JSON, as they are below a picture.
below() {
	json_says "$1" "'Verdict: ' + JSON['verdict']['level'] + '.'"
}

host_of() {
	json_says "$1" "'Host ' + JSON['host']['hostname'] + ' ' + JSON['run']['interface']"
}

# ---- Every picture ----------------------------------------------------------------------------------------------------

of_kernel() {
	local one kind percent

	for one in e r; do
		cp "$logs/$one.json" "$logs/$one.jsonl" "$plots"
		cp "$logs/$one.log" "$plots/$one.txt"
		looks same "$plots/$one.json" "$plots/$one.jsonl"
		looks same "$plots/$one.json" "$plots/$one.txt"
		for kind in json jsonl; do
			draws_as 0 $one.$kind -o $one.$kind.svg
			looks svg "$plots/$one.$kind.svg" "$(below $one.json)" "$(host_of $one.json)" 'kernel stamps' '~[0-9] [nµm]?s ' ' UTC, ' by\ percentile
		done
		draws_as 0 $one.txt -o $one.txt.svg
		looks svg "$plots/$one.txt.svg" 'Verdict: not judged (a log has no verdict).' 'in time' 'seconds after the start' 'Stages of the path' 'typical: samples near p50' 'the worst sample'
	done
	percent=$(json_says e.json "[sys.path.insert(0, '$plot_here/../../plot'), 'p50 ' + __import__('words').time(next(p['value_ns']
		for p in JSON['statistics']['rtt_ns']['percentiles'] if p['percent'] == 50))][1]")
	looks svg "$plots/e.json.svg" 'RTT = T4_KERNEL - T1_KERNEL' 'Remote app processing' 'round trip as a whole' 'mean of all samples' "$percent"
	looks svg "$plots/e.jsonl.svg" 'breaches' 'Round trip in time' 'max' 'samples in a bin'
	looks svg "$plots/r.json.svg" 'RESPONSE = T3_KERNEL - T2_KERNEL' 'Kernel to app' 'response as a whole'
}

of_user() {
	draws_as 0 "$logs/e.log" --title 'Before <lunch> & after' -o "$1.png"
	looks png "$plots/$1.png"
	cp "$logs/e.json" "$plots/$1.json"
	cp "$logs/e.log" "$plots/$1.log"
	looks same "$plots/$1.json" "$plots/$1.log"
}

each_panel() {
	local one

	begin 'plot: each panel alone, SVG and PNG' || return 0
	change_json way.json "
for way in ('forward_ns', 'backward_ns'):
	JSON['statistics'][way]['within_ns'] = 1"
	for one in histogram percentiles time stages; do
		draws_as 0 e.jsonl --panel $one -o one.svg
		looks svg "$plots/one.svg" "$(below e.json)" "$(host_of e.json)" '~[0-9] [nµm]?s '
		[ "$(grep -c 'samples in a bin' "$plots/one.svg")" -eq "$([ $one = histogram ] && echo 1 || echo 0)" ] || complain "$one is another panel"
	done
	draws_as 0 e.json --panel percentiles,histogram -o one.png
	looks png "$plots/one.png"
	draws_as 0 way.json --panel one-way -o one.svg
	looks svg "$plots/one.svg" 'One way by percentile' 'Forward' 'Backward'
	refuses "no panel 'one-way' can be drawn of e.txt: a log does not have it" e.txt --panel one-way -o x.svg
	change_json way.json "
for way in ('forward_ns', 'backward_ns'):
	JSON['statistics'][way]['within_ns'] = 10**9"
	refuses "no panel 'one-way' can be drawn of way.json: it is known within 1.00 s, which is more than its median of" way.json --panel one-way -o x.svg
	verdict
}

several_runs() {
	begin 'plot: several runs in one plot are named, and may have different timestamp sources' || return 0
	draws_as 0 e.json csv.json npy.log -o three.svg
	looks svg "$plots/three.svg" '3 runs' 'e.json: Host' 'csv.json: Host' 'npy.log: Host not in a log' 'e.json: RTT = T4_KERNEL - T1_KERNEL' \
		'csv.json: RTT = T4_SW - T1_SW' 'user stamps' 'kernel stamps'
	verdict
}

made_files() {
	begin 'plot: seconds, gaps, stages and breaches of files that are known to the nanosecond' || return 0
	looks rooms "$plots"
	verdict
}

seconds_of_json() {
	begin 'plot: seconds in JSON are drawn as those of the lines are' || return 0
	change_json seconds.json "JSON['seconds'] = [one for one in map(json.loads, open('$plots/e.jsonl')) if one['type'] == 'second']"
	draws_as 0 seconds.json --panel time -o one.svg
	looks svg "$plots/one.svg" 'Round trip in time' 'p99' "$(below e.json)"
	looks same "$plots/seconds.json" "$plots/e.jsonl"
	change_json seconds.json "JSON['seconds'] = None"
	refuses 'seconds.json: it has no seconds' seconds.json --panel time -o x.svg
	verdict
}

all_in_overflow() {
	local why='all samples are above --overflow (1.00 µs), and 7 of them were not kept'

	begin 'plot: of samples that all are above --overflow there is a histogram, and a line says why no percentiles' || return 0
	change_json over.json "
for part in JSON['statistics'].values():
	if 'histogram' in part and part['samples'] > 7:
		part['histogram'] = {'bucket_ns': 1, 'overflow_from_ns': 1000, 'overflow_samples': part['samples'], 'overflow_not_kept': 7, 'buckets': [],
			'overflow': [[20000, part['samples'] - 9], [20001, 1], [20002, 1]]}"
	draws_as 0 over.json -o over.svg
	looks svg "$plots/over.svg" 'samples in a bin'
	draws_as 0 over.json -o over.html
	looks html "$plots/over.html" "$why"
	refuses "no panel 'percentiles' can be drawn of over.json: $why" over.json --panel percentiles -o x.svg
	refuses "no panel 'one-way' can be drawn of over.json: $why" over.json --panel one-way -o x.svg
	draws_as 0 over.json csv.json --panel percentiles -o over.svg
	looks svg "$plots/over.svg" 'by percentile'
	verdict
}

without_rant() {
	begin 'plot: without rant, JSON is drawn and a log gives one line' || return 0
	mkdir -p "$work/bin-with-gnuplot"
	ln -sf "$(command -v gnuplot)" "$work/bin-with-gnuplot"
	cp -r "$PLOT" "$work/bin-with-gnuplot"
	plot_with=(env "PATH=$work/bin-with-gnuplot" "$("$plot_python" -c 'import sys; print(sys.executable)')")
	plot=$work/bin-with-gnuplot/plot/rant-plot
	draws_as 0 e.json -o one.svg
	looks svg "$plots/one.svg" 'by percentile'
	refuses 'e.txt: is a log, and rant, which reads logs, is not in the folder of rant-plot and not in PATH' e.txt -o x.svg
	ln -s "$work/rant" "$work/bin-with-gnuplot/plot"
	draws_as 0 e.txt -o one.svg
	looks svg "$plots/one.svg" 'by percentile'
	plot_with=("$plot_python") plot=$PLOT/rant-plot
	verdict
}

# ---- Refused input --------------------------------------------------------------------------------------------------

# refuses TEXT ARGUMENTS...: one line with this text, and no file is left.
refuses() {
	local text=$1 before

	shift
	before=$(ls -A "$plots")
	draws_as 1 "$@"
	refused_in_a_line "rant-plot $*" "$work/plot.err" "$text" "$plots" "$before"
}

change_json() { # NEW PYTHON: made of e.json
	"$plot_python" -B -c 'import json, sys; JSON = json.load(open(sys.argv[1])); exec(sys.argv[3]); json.dump(JSON, open(sys.argv[2], "w"))' \
		"$plots/e.json" "$plots/$1" "$2"
}

make_bad_files() {
	cd "$plots" || return
	head -c 5000 e.json >cut.json
	head -n -1 e.jsonl >cut.jsonl
	head -c -20 e.txt >cut.txt
	head -c -20 npy.log >cut.npy
	echo hello >foreign.txt
	printf 'SEQ T4_KERNEL\n---\n' >columns.txt
	head -n 2 e.txt >none.txt
	{ head -n 4 e.txt; echo '  1 2 3'; } >fields.txt
	sed '0,/"samples": *[0-9]*/s//"samples": NaN/' e.json >nan.json
	sed '1s/"schema_version":1/"schema_version":2/' e.jsonl >future.jsonl
	: >empty.json
	cat e.jsonl e.jsonl >twice.jsonl
	"$plot_python" -c 'print("[" * 200000)' | sed '1s/^/{"a":/' >deep.json
	printf '\x93NUMPY\x01\x00\x10\x00{"descr": [1]}  \n' >header.npy
	change_json future.json 'JSON["schema_version"] = 2'
	change_json other.json 'JSON["format"] = "irtt"'
	change_json pairs.json 'JSON["statistics"]["rtt_ns"]["histogram"]["buckets"][0][1] = -5'
	change_json text.json 'JSON["statistics"]["rtt_ns"]["max_ns"] = "many"'
	change_json sum.json 'JSON["statistics"]["rtt_ns"]["samples"] += 1'
	cd "$OLDPWD" || return
}

bad_files() {
	begin 'plot: truncated, foreign, newer or empty files give one line' || return 0
	make_bad_files
	refuses 'cut.json: is not JSON, or cut off' cut.json -o x.svg
	refuses 'cut.jsonl: has no summary' cut.jsonl -o x.svg
	refuses 'cut.txt: line' cut.txt -o x.svg
	refuses 'cut.npy: has 500 records by its header, and room for 499.8: it was cut off' cut.npy -o x.svg
	refuses 'foreign.txt: is not a file of rant' foreign.txt -o x.svg
	refuses 'columns.txt: line 1 is not a header: its columns are not those of a log' columns.txt -o x.svg
	refuses 'fields.txt: line 5 has no valid T1_SW' fields.txt -o x.svg
	refuses 'none.txt: has no samples' none.txt -o x.svg
	refuses 'nan.json: is not JSON' nan.json -o x.svg
	refuses 'future.json: has schema version 2' future.json -o x.svg
	refuses 'future.jsonl: has schema version 2' future.jsonl -o x.svg
	refuses 'other.json: is not a result of rant' other.json -o x.svg
	refuses 'pairs.json: has a pair' pairs.json -o x.svg
	refuses "text.json: has no count 'max_ns'" text.json -o x.svg
	refuses 'sum.json: has a histogram of rtt_ns that does not add up' sum.json -o x.svg
	refuses 'empty.json: is empty' empty.json -o x.svg
	refuses 'twice.jsonl: has lines after its summary' twice.jsonl -o x.svg
	refuses 'deep.json: is' deep.json -o x.svg
	refuses 'header.npy: its header is not that of a log' header.npy -o x.svg
	refuses 'nowhere.json: No such file' nowhere.json -o x.svg
	refuses 'e.json: is given twice' e.json ./e.json -o x.svg
	refuses 'round trips and responses are different latencies' e.json r.json -o x.svg
	verdict
}

spoilt_files() {
	begin 'plot: files with something else in them are read or refused, and nothing else happens' || return 0
	looks spoil "$plots/csv.json" "$plots/r.jsonl" "$plots/e.txt" "$plots/csv.log" "$plots/npy.log"
	verdict
}

bad_output() {
	begin 'plot: an output that cannot be written fails before the input is read, and an earlier file stays' || return 0
	echo old >"$plots/old.svg"
	ln -sf old.svg "$plots/link.svg"
	mkdir -p "$plots/folder.png"
	refuses 'x.gif: the name has to end in' nowhere.json -o x.gif
	refuses 'nothere/x.svg: No such file or directory' nowhere.json -o nothere/x.svg
	refuses 'link.svg: is a link' nowhere.json -o link.svg
	refuses 'folder.png: is not a regular file' nowhere.json -o folder.png
	refuses 'old.svg: is one of the input files' old.svg -o old.svg
	refuses 'foreign.txt: is not a file' foreign.txt -o old.svg
	refuses '--panel cake: there are histogram' e.json --panel cake -o x.svg
	refuses 'required' e.json
	refuses '7 files: 6 runs at most' 1 2 3 4 5 6 7 -o x.svg
	[ "$(cat "$plots/old.svg")" = old ] || complain 'old.svg was changed'
	draws_as 0 e.json -o old.svg
	looks svg "$plots/old.svg" 'by percentile'
	plot_with=(env "PATH=$work/bin-of-nobody" "$("$plot_python" -c 'import sys; print(sys.executable)')")
	refuses 'gnuplot is not installed: install it (Debian and Ubuntu: gnuplot-nox' e.json -o x.svg
	plot_with=() # as a program
	refuses 'e.json: is given twice' e.json e.json -o x.svg
	plot_with=("$plot_python")
	verdict
}

hostile_file() {
	local name="%n%s \$(touch pwned1) \`touch pwned2\`'; system('touch pwned3') # | < %s%n.json"

	begin 'plot: nothing in a file, or its name, is a command' || return 0
	change_json hostile.json "
TEXT = '\\'; system(\"touch pwned4\") #\`touch pwned5\` <script>alert(1)</script> </svg> %d%s \\\\ \" \x00\n\u202e\ud800 @x {/*9 big}'
JSON['host']['hostname'] = JSON['run']['interface'] = JSON['run']['server'] = TEXT
JSON['run']['latency'] = JSON['host']['cpu_model'] = JSON['nic']['driver'] = TEXT
for part in JSON['statistics'].values():
	part['formula'] = TEXT
JSON['configuration']['command_line'] = [TEXT, TEXT]
JSON['verdict'] = {'level': 'void', 'reasons': [{'name': TEXT, 'found': TEXT, 'why': TEXT}]}"
	cp "$plots/hostile.json" "$plots/$name"
	draws_as 0 hostile.json "$name" --title "'; system('touch pwned6') \`touch pwned7\`" -o hostile.svg
	looks svg "$plots/hostile.svg" "’; system(\"touch pwned4\") #" 'Verdict: void'
	draws_as 0 hostile.json "$name" -o hostile.html
	looks html "$plots/hostile.html" "Measurement: void" '<script>alert(1)</script>'
	draws_as 0 hostile.json "$name" -o hostile.png
	looks png "$plots/hostile.png"
	change_json hostile.json "JSON['statistics']['<b>'] = JSON['statistics']['rtt_ns']"
	refuses 'hostile.json: has a statistic of a name that cannot be' hostile.json -o x.svg
	[ -z "$(find "$plots" "$work" -maxdepth 1 -name 'pwned*')" ] || complain "ran: $(find "$plots" "$work" -maxdepth 1 -name 'pwned*')"
	verdict
}

# ---- The page ---------------------------------------------------------------------------------------------------------

page_alone() {
	local samples

	begin 'plot: the page has its figures, tables and pictures, and nothing of elsewhere' || return 0
	samples=$(json_says e.json "format(JSON['statistics']['rtt_ns']['samples'], ',')")
	draws_as 0 e.jsonl -o e.html
	looks html "$plots/e.html" "Measurement: $(json_says e.json "JSON['verdict']['level']")" "samples$samples" 'p99.9' 'Percentiles of the latency' \
		'Remote app processing' "$(json_says e.json "format(JSON['statistics']['rtt_ns']['max_ns'], ',')")" "$(host_of e.json)" 'Packets'
	draws_as 0 e.json csv.json --title 'Two & <three>' -o two.html
	looks html "$plots/two.html" 'Two & <three>' 'csv.json' 'runfileverdictstampssampleslostp50p99p99.9maximum'
	verdict
}

# many_runs: six files with long names that begin alike, of two runs.
many_runs() {
	local name

	for name in baseline patched irq-moved idle-poll c1-disabled c6-disabled; do
		change_json "kernel-6.12-tuned-$name.json" "
JSON['seconds'] = [one for one in map(json.loads, open('$plots/e.jsonl')) if one['type'] == 'second']
JSON['seconds'][1]['lost'] = 3
JSON['accounts']['no_answer'] = {'outages': 1, 'total_ns': 10**8, 'longest_ns': 10**8, 'longest_after_start_ns': 10**9}"
	done
}

names_and_losses() {
	local files

	begin 'plot: six runs have short names, shares, a strip of losses, and values on hover' || return 0
	many_runs
	mapfile -t files < <(cd "$plots" && printf '%s\n' kernel-*.json)
	draws_as 0 "${files[@]}" -o six.svg
	looks svg "$plots/six.svg" '6 runs' 'c1-disabled.json: Host' 'share of the samples' 'second with losses' 'longest outage' 'c6-disabled.json: p99'
	! grep -q 'tuned' "$plots/six.svg" || complain 'the beginning of all names is in the picture'
	grep -q '<title>[0-9.]* s: .*baseline.json: .*p50 ' "$plots/six.svg" || complain "no value of a second on hover: $(grep -o '<title>1 s[^<]*' "$plots/six.svg")"
	grep -q '<title>p9[0-9.]*: .*baseline.json: ' "$plots/six.svg" || complain 'no value of a percentile on hover'
	grep -q '<title>.* samples (.* %); ' "$plots/six.svg" || complain 'no bin of the histogram on hover'
	verdict
}

few_points() {
	begin 'plot: a panel with fewer than three points is left out' || return 0
	change_json few.json "JSON['seconds'] = [one for one in map(json.loads, open('$plots/e.jsonl')) if one['type'] == 'second'][:2]"
	refuses "no panel 'time' can be drawn of few.json: 2 seconds: fewer than 3 are no picture" few.json --panel time -o x.svg
	draws_as 0 few.json -o one.svg
	! grep -q 'seconds after the start' "$plots/one.svg" || complain 'two seconds were drawn'
	verdict
}

small_overflow() {
	local one

	for one in o.json o.jsonl; do
		draws_as 0 "$logs/$one" -o one.html
		looks html "$plots/one.html" 'Percentiles of the latency'
		draws_as 0 "$logs/$one" -o one.png
	done
}

# browse WORD... : chromium without a window; its messages are in browser.err.
browse() {
	timeout 60 chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars --user-data-dir="$work/browser" \
		--enable-logging=stderr --v=0 "$@" >"$work/browser.out" 2>"$work/browser.err" || complain "chromium: status $?: $(tail -3 "$work/browser.err")"
	! grep ':CONSOLE' "$work/browser.err" >"$work/console" || complain "on the console: $(head -3 "$work/console")"
}

# overlaps: of texts with each other, with the edge of a picture and with curves, as the browser sets them.
overlaps() {
	local files number theme

	for number in 1 3 6; do
		files=(e.jsonl)
		[ "$number" -eq 1 ] || mapfile -t files < <(cd "$plots" && printf '%s\n' kernel-*.json | head -"$number")
		draws_as 0 "${files[@]}" -o "over$number.html"
		"$plot_python" "$plot_here/read_plot.py" boxes "$plots/over$number.html" 400 1200 >"$plots/boxes.html"
		for theme in 1 0; do
			browse --blink-settings=preferredColorScheme=$theme --window-size=1700,3200 --dump-dom "file://$plots/boxes.html"
			grep -oE 'data-told="[^"]*"' "$work/browser.out" | sed 's/ texts [0-9]*//' >"$work/told"
			[ "$(cat "$work/told")" = $'data-told="wide 400: nothing overlaps"\ndata-told="wide 1200: nothing overlaps"' ] ||
				complain "$number runs, theme $theme: $(cut -c 1-600 "$work/told")"
		done
	done
}

in_a_browser() {
	begin 'plot: the page in a browser, light and dark, wide and narrow' || return 0
	draws_as 0 e.jsonl -o e.html
	browse --window-size=1200,2400 --screenshot="$plots/light.png" "file://$plots/e.html"
	looks corner "$plots/light.png" light
	browse --force-dark-mode --blink-settings=preferredColorScheme=0 --window-size=500,2400 --screenshot="$plots/dark.png" "file://$plots/e.html"
	looks corner "$plots/dark.png" dark
	overlaps
	"$plot_python" "$plot_here/read_plot.py" frame "$plots/e.html" 360 1100 >"$plots/frame.html"
	browse --window-size=1600,3200 --dump-dom "file://$plots/frame.html"
	grep -oE 'data-told="[^"]*"' "$work/browser.out" >"$work/told"
	[ "$(cat "$work/told")" = $'data-told="wide 360 over 0 shown narrow"\ndata-told="wide 1100 over 0 shown wide"' ] || complain "it is shown as: $(cat "$work/told")"
	verdict
}

# Of NIC timestamps, made of a run with kernel timestamps: each part as long as its stage.
parts_of_stages() {
	begin 'plot: parts take the place of their stage' || return 0
	change_json parts.json "s = JSON['statistics']
for whole, parts in (('nic_to_app_ns', ('nic_to_kernel_ns', 'kernel_to_app_ns')),
		('app_to_nic_ns', ('app_to_qdisc_ns', 'qdisc_to_driver_ns', 'driver_to_nic_ns'))):
	s[whole] = s.pop('kernel_to_app_ns' if whole == 'nic_to_app_ns' else 'app_to_kernel_ns')
	s.update((part, s[whole]) for part in parts)"
	draws_as 0 parts.json --panel stages -o parts.svg
	looks svg "$plots/parts.svg" 'App to qdisc' 'Qdisc to driver' 'Driver to NIC' 'NIC to kernel' 'Kernel to app'
	! grep -q 'App to NIC\|NIC to app' "$plots/parts.svg" || complain 'a stage is drawn beside its parts'
	verdict
}

# ---- All of them ------------------------------------------------------------------------------------------------------

plot_tests() {
	local F="--json $logs/e.json --log-full -l LOG"

	pair 'plot: kernel stamps, both ends, from JSON, lines and logs' '0 0' "$K -s -H -l LOG --json $logs/r.json --jsonl $logs/r.jsonl" \
		"$K -s -H -t 0.001 -C -d 2.2 --interval 1ms $F --jsonl $logs/e.jsonl" '@of_kernel'
	pair 'plot: user stamps, csv' '0 0' "$U" "$U --count 500 $F --log-format csv" '@of_user csv'
	pair 'plot: user stamps, npy' '0 0' "$U" "$U --count 500 $F --log-format npy" '@of_user npy'
	pair 'plot: a run with --overflow 1us' '0 0' "$K" "$K -s -o 1us --count 600 --json $logs/o.json --jsonl $logs/o.jsonl" '@small_overflow'
	each_panel
	several_runs
	names_and_losses
	few_points
	parts_of_stages
	made_files
	seconds_of_json
	all_in_overflow
	without_rant
	bad_files
	spoilt_files
	bad_output
	hostile_file
	page_alone
	if command -v chromium >/dev/null; then
		in_a_browser
	else
		skip 'plot: the page in a browser, light and dark, wide and narrow' "'chromium' is not installed"
	fi
}

if command -v gnuplot python3 >/dev/null; then
	plot_tests
else
	skip 'plot: all' "'gnuplot' or 'python3' is not installed"
fi
