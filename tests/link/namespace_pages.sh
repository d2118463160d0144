#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Runs the commands of the documentation on the veth pair and compares their output with the page.
# shellcheck source=tests/link/link.sh
. "$(dirname "$0")/link.sh"

tree=$(readlink -f "$(dirname "${BASH_SOURCE[0]}")/../..")

# Each block of each page, by page and first words, with the test that runs it or compares with it, or the reason why no test does.
# A block without a row fails.
page_rows='
README.md|gcc -O2|else: check.sh compiles by it
README.md|$ rant -i eth1|pages: the report of the README
README.md|$ rant 192.0.2.2|pages: the report of the README
README.md|RTT p50|pages: the report of the README
README.md|us (|pages: the report of the README
README.md|Test is complete|pages: the report of the README
README.md|   emit (client)|else: a diagram
tutorial.md|largest gap:|pages: the doctor
tutorial.md|rant -i eth0 -a 192.0.2.2|pages: pictures
tutorial.md|nsenter --net=|pages: a command of its own
measure-in-the-cloud.md|rant -i ens5 --stamp|pages: measure in the cloud
measure-in-the-cloud.md|rant -i ens5 -a|pages: measure in the cloud
clocks.md|rant --check|pages: the doctor
clocks.md|fail  stamps|pages: the doctor
prove.md|rant --prove|else: lab/test_prove.sh, on simulated NICs
prove.md|Timestamps of|else: lab/test_prove.sh, which compares the slopes
clocks.md|  NIC clock     : sim0|else: test_clock_packets in the lab has these lines
compare.md|rant --compare|pages: saved results
compare.md|worse: p99.9 is|else: namespace_results.sh and test_results_compare, where one is worse
config.md|config.sh eth0 --ip 192.168.10.1 --remote-ip 192.168.10.2 --cpu 3 --irq-cpu 2 --dry-run|else: config_veth.sh; it changes the host
config.md|config.sh eth0 --ip 192.168.10.1 --remote-ip 192.168.10.2 --cpu 3 --irq-cpu 2|else: config_veth.sh; it changes the host
fleet.md|  rant -i eth1|pages: a fleet
fleet.md|  rant -i eth0|pages: a fleet
fleet.md|rant --report|pages: a fleet
fleet.md|jq -r|pages: a fleet
json.md|rant -i eth0 -a 192.0.2.1 -d 10|pages: JSON into jq
json.md|rant -i eth0 -a 192.0.2.1 --jsonl|pages: JSON into jq
json.md|jq -r|pages: JSON into jq
json.md|rant --check|pages: JSON into jq
json.md|rant --prove|else: lab/test_prove.sh, on simulated NICs
json.md|jq -c|else: namespace_explain.sh checks these members
json.md|java -cp|else: namespace_json.sh, where Java is
testing.md|    rate/s|else: test_sweep.sh has that table
testing.md|nice tests/mutate.py|else: test_mutate.sh, in a small tree
log.md|*|else: namespace_recipes.sh
options.md|rant HOST|pages: the usage
options.md|ip netns add|else: needs a port of a card, which it moves; link.sh does it for its pair
options.md|nsenter --net=/var/run/netns/ns_eth1|pages: the run on real hardware
options.md|nsenter --net=/var/run/netns/ns_eth0|pages: the run on real hardware
plot.md|rant-plot FILE|else: namespace_plot.sh
plot.md|rant-plot --timeline|else: namespace_timeline.sh
plot.md|rant -i eth0|pages: pictures
privileges.md|sudo setcap|else: namespace_privileges.sh
privileges.md|sudo groupadd|else: packages.sh, as a package does it
privileges.md|[Service]|else: a unit of systemd, which is not here
protocol.md|request  |else: test_tlv_rant and test_tlv have these octets
report.md|So far: |else: namespace_interim.sh
report.md|RTT p50 6|pages: a command of its own
report.md|us (|pages: a command of its own
report.md|Test is complete|pages: a command of its own
report.md|1.0 s|else: namespace_interim.sh
report.md|RTT p50 11|else: test_report_headline
report.md|  100.000 -|else: test_report_buckets
report.md|95 % intervals|else: test_confidence, and namespace_pair.sh prints these lines
report.md|emitter:    sent|else: link_audit.sh adds this up after each run
report.md|  a = numpy.load|else: read_log.py and namespace_recipes.sh
report.md|Measurement: trusted|else: test_verdict
report.md|Measurement: doubtful|else: test_steadiness
report.md|  Wire time:|else: test_report_statistics; the speed of veth is made up
report.md|Modes:|else: test_teeth
reading.md|            program |else: a picture
reading.md|ping -q|pages: four programs on one link
reading.md|1500 packets|pages: four programs on one link
reading.md|sockperf ping-pong|pages: four programs on one link
reading.md|sockperf: Summary|pages: four programs on one link
reading.md|irtt client|pages: four programs on one link
reading.md|                        Min|pages: four programs on one link
reading.md|rant -i eth0|pages: four programs on one link
reading.md|RTT p50|pages: four programs on one link
find-a-spike.md|taskset -c 0 chrt -f 22 rant -i eth0 -a 192.0.2.2 --stamp kernel -s --warmup 1000 -d 10|pages: find a spike
find-a-spike.md|RTT p50|pages: find a spike
find-a-spike.md|taskset -c 0 chrt -f 22 rant -i eth0 -a 192.0.2.2 --stamp kernel -s --warmup 1000 -t|pages: find a spike
find-a-spike.md|Round-trip latency|pages: find a spike
find-a-spike.md|taskset -c 1|pages: find a spike
find-a-spike.md|Response latency|pages: find a spike
find-a-spike.md|grep sched_switch|pages: find a spike
find-a-spike.md|cc1-6625|pages: find a spike
qualify-a-host.md|rant --check|pages: qualify a host
qualify-a-host.md|warn  isolated|pages: qualify a host
qualify-a-host.md|rant -i eth0 -a 192.0.2.2 --stamp kernel -s --cpu 0 --warmup|pages: qualify a host
qualify-a-host.md|RTT p50 4.36|pages: qualify a host
qualify-a-host.md|rant -i eth0 -a 192.0.2.2 --stamp kernel -s --cpu 0 --fifo|pages: qualify a host
qualify-a-host.md|RTT p50 5.24|pages: qualify a host
qualify-a-host.md|rant --compare|pages: qualify a host
qualify-a-host.md|undecided: ...|else: intervals need 30 s; test_results_compare has that table
qualify-a-host.md|rant -i eth0 -a 192.0.2.2 --stamp kernel --cpu 0 --fifo 22 --strict|pages: qualify a host
gate-a-kernel.md|rant -i eth0 -a 192.0.2.2 --stamp kernel --cpu 0 --fifo 22 --interval 1ms --warmup 1000 -d 31 -q --json good.json|pages: gate a kernel
gate-a-kernel.md|rant -i eth0 -a 192.0.2.2 --stamp kernel --cpu 0 --fifo 22 --interval 1ms --warmup 1000 -d 31 -q --json now.json|pages: gate a kernel
gate-a-kernel.md|worse: p50 is|pages: gate a kernel
watch-a-fleet.md|rant -i eth1|pages: watch a fleet
watch-a-fleet.md|rant -i eth0|pages: watch a fleet
watch-a-fleet.md|rant_|pages: watch a fleet
watch-a-fleet.md|rant --report|pages: watch a fleet
watch-a-fleet.md|RTT p50|pages: watch a fleet
results.md|rant --report|pages: saved results
standing.md|systemctl enable|else: a unit of systemd, which is not here: namespace_standing.sh, test_service.sh
standing.md|RANT_OPTIONS=|else: the same; namespace_standing.sh has options in that place
standing.md|So far: |else: namespace_interim.sh
source.md|*|else: the map of the source
spikes.md|Response latency|pages: a spike at both ends
spikes.md|Round-trip latency|pages: a spike at both ends
spikes.md|Spikes come every|else: test_rhythm
spikes.md|mkdir /sys|pages: the trace
spikes.md|rant -i eth1|pages: the trace
spikes.md|irq/irq_handler_entry|else: test_trace_events
spikes.md|napi/napi_poll|else: test_trace_events
spikes.md|cd /var/tmp/rant-emit|else: trace-cmd and KernelShark
spikes.md|Trace (tracing|else: namespace_trace.sh
spikes.md|rant -i eth0 -T|else: namespace_freeze.sh
spikes.md|Frozen: this host|else: namespace_freeze.sh
spikes.md|Frozen: on request|else: namespace_freeze.sh
spikes.md|Remote NIC-to-kernel|else: test_report_freeze
spikes.md|rant --explain|else: namespace_explain.sh
spikes.md|Why (trace|else: test_explain_cause
spikes.md|rant -i eth0|else: namespace_explain.sh, at a reflector
spikes.md|  Cause: softirq|else: test_explain_run
spikes.md|  Cause: not seen by|else: test_explain_cause
'

# ---- Blocks of the pages -----------------------------------------------------------------------------------------------

of_pages() {
	python3 "$(dirname "${BASH_SOURCE[0]}")/pages.py" "$@"
}

page_path() {
	local folder

	for folder in "$tree" "$tree/docs" "$tree/docs/tasks"; do
		[ ! -e "$folder/$1" ] || { echo "$folder/$1" && return; }
	done
}

# block PAGE BEGIN
block() {
	of_pages block "$(page_path "$1")" "$2" 2>&1 || complain "$1 has no block that begins with '$2'"
}

# Kernels without CONFIG_TRACER_SNAPSHOT have no such file.
without_snapshots=
[ -e /sys/kernel/tracing/snapshot ] || without_snapshots=yes

# here_as SIDE TEXT: replaces names, addresses and CPUs by those of the pair, and shortens runs. The veth pair has no PHC.
# Real-time priority is replaced, because programs that spin on all CPUs would stop the test.
here_as() {
	local cpu=$first_cpu

	[ "$1" = e ] || cpu=$last_cpu
	sed -E "s/^\\\$ //; s/\bv?eth0\b/$link_e/g; s/\bv?eth1\b/$link_r/g; s/\bns_eth0\b/${ns[e]}/; s/\bns_eth1\b/${ns[r]}/
		s/\b(192\.168\.10\.2|192\.0\.2\.[12])\b/$ip_r/g; s/taskset -c [0-9]+/taskset -c $cpu/; s/chrt -f 22/chrt -o 0/
		s/(--duration|-d) (600|660|10)\b/\1 0.5/; s/(--duration|-d) (60|15)\b/\1 2.2/; s/--warmup 100000/--warmup 100/; s#/var/(tmp|lib/node_exporter)#$logs#g
		${without_snapshots:+s/ -S / /; s/--snapshot/--trace-marker/}
		/--stamp|--check/! s/\brant -i/rant --stamp kernel -i/" <<<"$2"
}

# run_page NAME SIDE TEXT: starts a command of a page in the folder of the files.
run_page() {
	local instead=exec

	[[ $3 != *' | '* && $3 != *$'\n'rant* ]] || instead=
	start "$1" "$2" env PATH="$work:$PATH" ${preload:+LD_PRELOAD="$spike"} ${preload:+SPIKE="$preload"} \
		sh -c "cd $logs && exec 2>&1
$instead $(here_as "$2" "$3")"
}

# Ends a program started by run_page; fails unless its exit status is among these.
page_ended() { # NAME STATUS...
	local name=$1 want

	finish "$name"
	for want in "${@:2}"; do
		[ "${status[$name]}" != "$want" ] || return 0
	done
	complain "$name: exit status ${status[$name]}, not ${*:2}"
}

# shows NAME PAGE BEGIN [SED]: the output, edited by SED, contains the lines of that block. Lines of the block that match `but`
# are ignored.
shows() {
	local line

	block "$2" "$3" | grep -Ev "${but:-^\$}" >"$work/block"
	sed -E "${4:-}" "$work/$1.out" >"$work/$1.changed"
	line=$(of_pages shows "$work/block" "$work/$1.changed" 2>&1) || complain "$1 does not show what $2 shows: $line"
}

# ---- What stands there -----------------------------------------------------------------------------------------------

all_of_them() {
	local page first row words left="$page_rows" found

	begin 'pages: every block of every page is run, or is left out with a reason' || return 0
	while IFS='|' read -r page first; do
		found=
		while IFS='|' read -r row words _; do
			if [ "$row" = "$page" ] && { [ "$words" = '*' ] || [[ $first == "$words"* ]]; }; then
				found=$row\|$words
				left=${left//$found|/used|}
				break
			fi
		done <<<"$page_rows"
		[ -n "$found" ] || complain "$page: nobody runs the block that begins with: $first"
	done < <(of_pages list "$tree/README.md" "$tree"/docs/*.md "$tree"/docs/tasks/*.md)
	while IFS='|' read -r page first _; do
		[ -z "$page" ] || [ "$page" = used ] || complain "$page has no block any more that begins with: $first"
	done <<<"$left"
	verdict
}

# The reflector is delayed now and then, as in the run that the page shows.
readme() {
	begin 'pages: the report of the README' || return 0
	preload=rx,2000,30000 run_page r r "$(block README.md '$ rant -i eth1')"
	poll has_port r 862
	run_page e e "$(block README.md '$ rant 192.0.2.2')"
	page_ended e 0 3
	send TERM r
	page_ended r 0 3
	but='^$|^Measurement|^  +[0-9]' shows e README.md 'RTT p50'
	but='^$|^Machine' shows e README.md 'us ('
	shows e README.md 'Test is complete'
	verdict
}

# Its interface ens5 is that of the pair at each end.
cloud() {
	begin 'pages: measure in the cloud' || return 0
	run_page r r "$(block measure-in-the-cloud.md 'rant -i ens5 --stamp' | sed 's/ens5/eth1/')"
	poll has_port r 862
	run_page e e "$(block measure-in-the-cloud.md 'rant -i ens5 -a' | sed 's/ens5/eth0/; s/--warmup 1000/--warmup 100/')"
	page_ended e 0 3
	send TERM r
	page_ended r 0 3
	[ -s "$logs/cloud.json" ] || complain 'no cloud.json was written'
	verdict
}

own_command() {
	begin 'pages: a command of its own' || return 0
	start_reflector r "$K"
	run_page e e "$(block tutorial.md 'nsenter --net=')"
	page_ended e 0 3
	terminate r
	but='^(Measurement|  )' shows e report.md 'RTT p50 6' 's/ (ms|s)([ ,])/ us\2/g'
	but='^Machine' shows e report.md 'us ('
	shows e report.md 'Test is complete'
	verdict
}

real_hardware() {
	begin 'pages: the run on real hardware' || return 0
	run_page r r "$(block options.md 'nsenter --net=/var/run/netns/ns_eth1')"
	poll has_port r 862
	run_page e e "$(block options.md 'nsenter --net=/var/run/netns/ns_eth0')"
	page_ended e 0 2 3
	send TERM r
	page_ended r 0 3
	if [ ! -s "$logs/roundtrip.txt" ] || [ ! -s "$logs/response.txt" ]; then complain "no logs: $(ls "$logs")"; fi
	verdict
}

doctor() {
	begin 'pages: the doctor' || return 0
	run_page e e "$(block clocks.md 'rant --check' | sed 's/^/taskset -c 0 /')"
	page_ended e 1
	shows e clocks.md 'fail  stamps'
	shows e tutorial.md 'largest gap:'
	verdict
}

usage() {
	begin 'pages: the usage' || return 0
	run_page e e 'rant --help'
	page_ended e 0
	shows e options.md 'rant HOST'
	verdict
}

# Pairs of a reflector and an emitter with kernel timestamps.
manual_page() {
	local -a line port
	local i

	begin 'pages: the examples of rant.1' || return 0
	mapfile -t line < <(sed -n 's/^\.Dl \(rant .*--stamp kernel.*\)/\1/p' "$tree/man/rant.1.in")
	for ((i = 0; i < ${#line[@]}; i += 2)); do
		read -ra port < <(sed -n 's/.*--port //p' <<<"${line[i]}")
		run_page r r "${line[i]/--once/--once --once-silence 0.2}"
		poll has_port r "${port[0]:-862}"
		run_page e e "${line[i + 1]/1h/0.5} --timeout 5000"
		page_ended e 0 3
		page_ended r 0 3
	done
	[ "$i" -ge 4 ] || complain "it has ${#line[@]} such commands"
	verdict
}

into_jq() {
	local name='pages: JSON into jq'

	command -v jq >/dev/null || { skip "$name" "'jq' is not installed"; return; }
	begin "$name" || return 0
	start_reflector r "$K"
	run_page e e "$(block json.md 'rant -i eth0 -a 192.0.2.1 -d 10')"
	run_page e2 e "$(block json.md 'rant -i eth0 -a 192.0.2.1 --jsonl' | sed 's/--jsonl -/& -d2.2 --json run.json/')"
	page_ended e 0
	page_ended e2 0
	terminate r
	[[ $(tr '\n' ' ' <"$work/e.out") =~ ^\"(trusted|doubtful|void)\"\ [0-9]+\ $ ]] || complain 'no verdict and no maximum'
	[ "$(grep -cE '^[0-9]+$' "$work/e2.out")" -ge 2 ] || complain 'not a line for each second'
	run_page j e "$(block json.md 'jq -r')"
	page_ended j 0
	[ "$(grep -cE $'^[0-9]+\t[0-9]+\t[0-9]*\t[0-9]*\t[0-9]*$' "$work/j.out")" -ge 2 ] || complain 'not a row for each second'
	run_page c e "$(block json.md 'rant --check')" # a veth pair has no hardware clock
	page_ended c 0
	grep -qx 'stamps: no hardware clock' "$work/c.out" || complain 'no failure of the doctor'
	verdict
}

# Draws pictures of one run. Copies of its file replace the files of other runs.
pictures() {
	local name='pages: pictures' one page words change

	command -v gnuplot >/dev/null || { skip "$name" "'gnuplot' is not installed"; return; }
	begin "$name" || return 0
	ln -sf "$tree/plot/rant-plot" "$work/rant-plot"
	start_reflector r "$K -s"
	for one in 'tutorial.md:rant -i eth0 -a 192.0.2.2:s/.*/cp fifo.json normal.json/' \
		'plot.md:rant -i eth0 -a 192.0.2.1 -s:s/.*/cp run.json before.json; cp run.json after.json/'; do
		IFS=: read -r page words change <<<"$one"
		block "$page" "$words" >"$work/block"
		{ head -n 1 "$work/block" && echo | sed "$change" && tail -n +2 "$work/block"; } >"$work/commands"
		start p e env PATH="$work:$PATH" sh -c "cd $logs && exec 2>&1
$(here_as e "$(cat "$work/commands")")"
		page_ended p 0
	done
	terminate r
	for one in percentiles.svg time.svg run.html talk.svg; do
		[ -s "$logs/$one" ] || complain "no $one was drawn"
	done
	verdict
}

# Runs each command that reads saved files on copies of one run, without optional arguments.
what_is_left() {
	local command page

	begin 'pages: saved results' || return 0
	run_page r r 'rant -i eth1 -l reflector.log'
	poll has_port r 862
	run_page e e 'rant -i eth0 -a 192.168.10.2 --count 500 --timeout 5000 -l run.log --json host1.json'
	page_ended e 0 3
	send TERM r
	page_ended r 0 3
	(cd "$logs" && cp run.log emitter.log && for page in host2 before now; do cp host1.json $page.json; done)
	while IFS='|' read -r page command; do
		[[ $command == 'rant --'* ]] || continue
		if [[ $command == *.json* ]] && ! grep -qF libjansson.so "$rant"; then continue; fi # it was built without
		command=$(sed -E 's/ \[[^]]*\]//g; s/FILE\.\.\./run.log/; s/ \.\.\.$//' <<<"$command")
		run_page w e "$command"
		page_ended w 0
		grep -qE '^(MIN: [0-9]| +p50 )' "$work/w.out" || complain "$page: '$command' says: $(head -3 "$work/w.out")"
	done < <(of_pages list "$tree/docs/results.md" "$tree/docs/compare.md")
	verdict
}

# Adds up two copies of one run.
fleet() {
	local name='pages: a fleet'

	command -v jq >/dev/null || { skip "$name" "'jq' is not installed"; return; }
	begin "$name" || return 0
	run_page r r "$(block fleet.md '  rant -i eth1' | sed "s#192[.]0[.]2[.]0/24#$ip_e/32#")"
	poll has_port r 862
	run_page e e "$(block fleet.md '  rant -i eth0' | sed 's/$/ --timeout 5000/')"
	page_ended e 0 3
	send TERM r
	page_ended r 0 3
	(cd "$logs" && cp host1-host2.json host1.json && cp host1-host2.json host2.json)
	if grep -qF libjansson.so "$rant"; then
		run_page w e "$(block fleet.md 'rant --report')"
		page_ended w 0
		check 'w.out ~ ^MIN: [0-9]'
		[ -s "$logs/all.json" ] || complain 'there is no sum'
	fi
	run_page j e "$(block fleet.md 'jq -r')"
	page_ended j 0
	[ "$(grep -cE $'^[0-9.]+\t(trusted|doubtful|void)\t[0-9]+\t[0-9]+$' "$work/j.out")" -eq 2 ] || complain 'not a line for each run'
	verdict
}

# The runs of the page had hardware timestamps; the labels differ by that only.
AS_OF_A_NIC='s/_KERNEL/_HW/g; s/([Kk])ernel-to-app/NIC-to-app/g; s/-to-kernel/-to-NIC/g'

spike_at_both_ends() {
	begin 'pages: a spike at both ends' || return 0
	# It goes on, so that the next reply tells when the late one left.
	preload=rx,500,60000 run_page r r 'rant -i eth1 --details -s -C --threshold 50000'
	poll has_port r 862
	run_page e e 'rant -i eth0 -a 192.168.10.2 --details --timeout 5000 -s --threshold 50000'
	page_ended e 2
	send TERM r
	page_ended r 0 3
	shows r spikes.md 'Response latency' "$AS_OF_A_NIC"
	shows e spikes.md 'Round-trip latency' "$AS_OF_A_NIC"
	verdict
}

with_trace() {
	local name='pages: the trace' instance=/sys/kernel/tracing/instances/rant

	[ -d "${instance%/*}" ] || { skip "$name" 'tracefs is not mounted'; return; }
	begin "$name" || return 0
	own_trace
	trace_instance=$instance
	block spikes.md 'mkdir /sys' | sed 's/echo 6 >/echo 3 >/' >"$work/prepare" # the CPUs of this machine
	(cd / && sh -e "$work/prepare") 2>"$work/prepare.err" || complain "$(cat "$work/prepare.err")"
	preload=rx,500,60000 run_page r r "$(block spikes.md 'rant -i eth1' | sed 's/-t 100 /-t 50000 /')"
	poll has_port r 862
	start_emitter e "$K --count 1000 --timeout 5000"
	page_ended r 2
	terminate e
	check 'r.out ~ ^  Saved     : '
	[ -s "$(echo "$logs"/rant-reflect-*/all.txt)" ] || complain "no trace is in $(ls "$logs")"
	rmdir "$instance"
	trace_instance=
	leave_trace
	verdict
}

# ---- The guides ------------------------------------------------------------------------------------------------------

# guide PAGE BEGIN [SED]: that command, shorter. No real-time priority, for the machine is not left to it alone, and no probe is given up
# because a process has no CPU.
guide() {
	local shorter='s/ --fifo 22//; s/-d (600|35|31|10)\b/-d 0.5/; s/--(warmup|interval)/--timeout 5000 &/'

	block "$1" "$2" | sed -E "$shorter; ${3:-}"
}

# like NAME PAGE BEGIN: it printed lines like those of the block, whatever the numbers and their units.
like() {
	local any='s/[0-9][0-9.,]*(ns|µs|ms|s)?/0/g; s/ +/ /g; s/^ | $//g' line

	sed -E "$any" "$work/$1.out" >"$work/$1.changed"
	while IFS= read -r line; do
		grep -qF -- "$line" "$work/$1.changed" || complain "$1 has no line like that of $2: $line"
	done < <(block "$2" "$3" | sed -E "$any")
}

four_programs() {
	local name='pages: four programs on one link' tool

	for tool in ping sockperf irtt; do
		command -v $tool >/dev/null || { skip "$name" "'$tool' is not installed"; return; }
	done
	begin "$name" || return 0
	run_page p e "$(guide reading.md 'ping -q' 's/-c 1500/-c 50/')"
	start s r sockperf server -i "$ip_r" -p 11111
	start i r irtt server -i 0 -b "$ip_r"
	start_reflector r "$K -s"
	page_ended p 0
	like p reading.md '1500 packets'
	poll has_port s 11111
	run_page e e "$(guide reading.md 'sockperf ping-pong' 's/-t 3/-t 1/')"
	page_ended e 0
	like e reading.md 'sockperf: Summary'
	poll has_port i 2112
	run_page e e "$(guide reading.md 'irtt client' 's/-d 3s/-d 0.3s/')"
	page_ended e 0
	like e reading.md '                        Min'
	run_page e e "$(guide reading.md 'rant -i eth0')"
	page_ended e 0 3
	shows e reading.md 'RTT p50'
	terminate r s i
	verdict
}

# The reflector's program is held up now and then, as a compiler held up that of the page. The columns of the stages are as many as
# the samples support.
find_a_spike() {
	local page=find-a-spike.md run='taskset -c 0 chrt -f 22 rant -i eth0 -a 192.0.2.2 --stamp kernel -s --warmup 1000'

	begin 'pages: find a spike' || return 0
	preload=app,2500,60000 run_page r r 'rant -i eth1 -s'
	poll has_port r 862
	run_page e e "$(guide $page "$run -d")"
	page_ended e 0 3
	but='^ +(Network|Remote kernel)' shows e $page 'RTT p50'
	run_page e e "$(guide $page "$run -t" 's/-t 2000 -d 0.5/-t 50000 -d 20/')"
	page_ended e 2
	shows e $page 'Round-trip latency'
	terminate r
	verdict
}

# The host that is to blame, with the trace as spikes.md prepares it; and what had the CPU.
trace_a_spike() {
	local name='pages: find a spike, by what' page=find-a-spike.md instance=/sys/kernel/tracing/instances/rant file

	[ -d "${instance%/*}" ] || { skip "$name" 'tracefs is not mounted'; return; }
	begin "$name" || return 0
	own_trace
	trace_instance=$instance
	block spikes.md 'mkdir /sys' | sed 's/echo 6 >/echo 3 >/; s/16384/2048/' >"$work/prepare"
	(cd / && sh -e "$work/prepare") 2>"$work/prepare.err" || complain "$(cat "$work/prepare.err")"
	preload=rx,6000,60000 run_page r r "$(guide $page 'taskset -c 1' 's/-t 2000/-t 50000/')"
	poll has_port r 862
	start_emitter e "$K -d 20 --timeout 5000"
	page_ended r 2
	terminate e
	but='^  (Stopped|Saved)' shows r $page 'Response latency'
	file=$(sed -n 's/^  Saved     : *\([^,]*\),.*, the spike is in \(.*\)/\1\/\2/p' "$work/r.out")
	run_page g r "$(guide $page 'grep sched_switch' "s#[^ ]*/cpu1.txt#$file#")"
	page_ended g 0
	[ "$(grep -cE ' sched_switch: prev_comm=.* prev_prio=.* ==> next_comm=.* next_pid=' "$work/g.out")" -eq 2 ] ||
		complain "no switch is in $file: $(cat "$work/g.out")"
	rmdir "$instance"
	trace_instance=
	leave_trace
	verdict
}

qualify() {
	local page=qualify-a-host.md first='rant -i eth0 -a 192.0.2.2 --stamp kernel'

	begin 'pages: qualify a host' || return 0
	start_reflector r "$K -s"
	run_page c e "$(guide $page 'rant --check')"
	page_ended c 0
	but='^warn  isolated' shows c $page 'warn  isolated'
	run_page e e "$(guide $page "$first -s --cpu 0 --warmup")"
	page_ended e 0 3
	shows e $page 'RTT p50 4.36'
	run_page e e "$(guide $page "$first -s --cpu 0 --fifo")"
	page_ended e 0 3
	shows e $page 'RTT p50 5.24'
	run_page w e "$(guide $page 'rant --compare')"
	page_ended w 0 4 5 1
	grep -qF libjansson.so "$rant" || status[w]=0
	[ "${status[w]}" -ne 1 ] || complain "they cannot be compared: $(cat "$work/w.out")"
	run_page e e "$(guide $page "$first --cpu 0 --fifo 22 --strict")"
	page_ended e 0 2 3
	terminate r
	verdict
}

# As that of the page the reflector is held up at each packet when it has to be worse: by more, for it is few that are measured.
gate() {
	local page=gate-a-kernel.md first='rant -i eth0 -a 192.0.2.2 --stamp kernel --cpu 0 --fifo 22 --interval 1ms --warmup 1000 -d 31 -q --json'
	local rarer='s/1ms --warmup 1000 -d 0.5/25ms --warmup 2 -d 1/'

	begin 'pages: gate a kernel' || return 0
	grep -qF libjansson.so "$rant" || { skip 'pages: gate a kernel' 'it was built without libjansson'; return; }
	run_page r r 'rant -i eth1'
	poll has_port r 862
	run_page e e "$(guide $page "$first good" "$rarer")"
	page_ended e 0 3
	terminate r
	preload=rx,1,20000 run_page r r 'rant -i eth1'
	poll has_port r 862
	run_page e e "$(guide $page "$first now" "$rarer")"
	page_ended e 4
	terminate r
	check 'e.out ~ ^worse: p[0-9.]+ is [0-9.]+ us \([0-9]+ %\) higher'
	check 'e.out ~ ^  p50 .* worse'
	verdict
}

watch_fleet() {
	local page=watch-a-fleet.md line

	begin 'pages: watch a fleet' || return 0
	run_page r r "$(guide $page 'rant -i eth1' "s#192.0.2.0/24#${ip_r%.*}.0/24#")"
	poll has_port r 862
	run_page e e "$(guide $page 'rant -i eth0' 's/-d 0.5/-d 1/')"
	page_ended e 0 3
	[ ! -s "$work/e.out" ] || complain "-q says: $(cat "$work/e.out")"
	while IFS= read -r line; do
		line=${line% *}
		grep -qF "$line " "$logs/rant.prom" || complain "rant.prom has no $line"
	done < <(here_as e "$(block $page rant_)")
	if grep -qF libjansson.so "$rant"; then
		(cd "$logs" && cp host1.json host2.json && cp host1.json host3.json)
		run_page w e "$(guide $page 'rant --report')"
		page_ended w 0
		but='^ +host[0-9].json' shows w $page 'RTT p50'
	fi
	terminate r
	verdict
}

# ---- The table of commands.md -----------------------------------------------------------------------------------------

# Row "purpose | how": how the commands of that row are run, or which test runs them. The commands of other rows are options of an emitter.
# shellcheck disable=SC2016 # the marks of code are those of the page
use_rows='
reflect probes, until the first emitter has ended|run_reflector
list problems of this host that would disturb a measurement|else: pages: the doctor
prove whether the NIC'"'"'s timestamps are of the wire, and what it timestamps|else: tests/lab/test_prove.sh, on a NIC with timestamps
run a permanent reflector under systemd; print its interim report|else: test_service.sh, and namespace_standing.sh
end the run when p99.9 is known to 5 %|else: namespace_pair.sh
use a NIC that timestamps PTP packets only|else: namespace_transports.sh
use a NIC that timestamps received packets only|else: tests/lab/test_receive.sh, on such a NIC
measure on Ethernet without IP|else: namespace_transports.sh
measure by the timestamps of the PHY, not of the MAC|else: needs a NIC with both; test_nic_provider
cover all paths of a fabric (ECMP), or all queues of a NIC|run_emitter --count 200
set CPU and priority as `taskset -c 5 chrt -f 22` does|run_emitter --cpu FIRST
prepare a host; restore its settings|else: config_veth.sh
freeze the trace of the reflector as well|else: namespace_freeze.sh
name the cause of a spike whose trace was saved|else: namespace_explain.sh
draw a run; make an HTML page of a run|else: pages: pictures
draw a breach at both hosts from its saved traces|else: namespace_timeline.sh
measure over IPv6, or to a host name (a reflector answers IPv4 and IPv6)|else: needs IPv6 and a name, which this pair has not; namespace_ipv6.sh
'

# codes TEXT: its code spans, one per line.
# shellcheck disable=SC2016
codes() {
	grep -oE '`[^`]*`' <<<"$1" | tr -d '`'
}

use_one() { # FOR COMMAND
	local for=$1 text how code before

	how=$(sed -n "s/^${for//[\/.*\`]/.}|//p" <<<"$use_rows")
	case $how in
	else:*) return ;;
	esac
	while read -r code; do
		text="rant -i eth0 -a 192.168.10.2 --count 100 --timeout 5000 $code"
		[[ $code != rant* ]] || text=$code
		[[ $code != --log-* ]] || text+=' --log some.log'
		[[ $code != --log-last* ]] || text+=' --threshold 50000'
		[[ $code != --cpu* ]] || text=${text/--cpu 5/--cpu $first_cpu}
		if [ "$how" = run_reflector ]; then
			run_page u r "${text/--once/--once --once-silence 0.2 --port 5000}"
			poll has_port u 5000
			start_emitter e "$K --count 20 --port 5000"
			finish e
		else
			run_page u e "$text"
		fi
		before=${#complaints[@]}
		page_ended u 0 2 3
		[[ $code == *'--jsonl -'* ]] || check 'u.out ~ ^Measurement: '
		[ ${#complaints[@]} -eq "$before" ] || complain "this was: $code: $(<"$work/u.err")"
	done < <(codes "$2")
}

use() {
	local for command rows=0

	begin 'pages: the table of commands' || return 0
	own_trace
	start_reflector r "$K"
	while IFS='|' read -r _ for command _; do
		for=${for# } command=${command# }
		[[ $for != 'to ' && $for != ---* ]] || continue
		rows=$((rows + 1))
		use_one "${for% }" "${command% }"
	done < <(sed -n '/^## Use/,/^## /{/^|/p}' "$tree/docs/commands.md")
	terminate r
	leave_trace
	[ "$rows" -ge 15 ] || complain "only $rows rows"
	verdict
}

if ! command -v python3 >/dev/null; then
	skip 'pages: the first hour' 'python3 is not installed'
else
	all_of_them
	for one in usage doctor own_command use; do
		$one
	done
	for one in cloud real_hardware manual_page into_jq pictures what_is_left fleet four_programs qualify watch_fleet; do
		slow $one
	done
	if [ -n "$spike" ]; then
		readme
		for one in spike_at_both_ends with_trace find_a_spike trace_a_spike gate; do
			slow $one
		done
	else
		skip 'pages: spikes' 'no library that makes spikes was given'
	fi
fi
