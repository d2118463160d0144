#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# bench.sh [RANT]: compares rant with bare loops of the same system calls and with sockperf, on a veth pair of its own, then
# prints the budgets of design.md with the measured figures. RANT is ./rant unless given.
# bench.sh RANT OLD: RANT against another rant, in the same way, and the instructions of both per round trip.
#
# Compared programs run alternately, and each runs first in every other turn: a virtual machine may be 25 % faster in one half
# minute than in the next. The result is the median of the ratios of all turns with its 95 % confidence interval from order
# statistics.
#
# A report, not a test: the exit status is 0 whatever the figures, and 1 if it could not run. Needs root and a C compiler.
# ROUNDS (10), turns of a pair that is judged, and SECONDS_EACH (1) set how long it takes: about six minutes as they stand. One line
# reports whether other work on the machine was too much: then no ratio is judged. PUBLIC: the public tool of this name, if it is there.
# PAIRS: a regular expression that selects comparisons by name ("SUBJECT OTHER"); the bare loop is always compared with itself.
# CPUS: the CPUs of emitter and reflector, as "3 2". Default: the first two that this shell may use.
set -euo pipefail
export LC_ALL=C

rant=$(realpath -- "${1:-./rant}")
old=${2:+$(realpath -- "$2")} # the other rant
public=${PUBLIC:+$(realpath -- "$PUBLIC")}
rounds=${ROUNDS:-10}
seconds=${SECONDS_EACH:-1}
here=$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")
root=$(realpath -- "$here/../..")

headers=42 # octets of Ethernet, IPv4 and UDP
before=()   # words before rant
of_emitter=() # options of the emitter alone
snapshot='' # the option, where the kernel has it

# shellcheck source=tests/bench/pair.sh
source "$here/pair.sh"
# shellcheck source=tests/bench/quiet.sh
source "$here/quiet.sh"

say() {
	# shellcheck disable=SC2059 # the format is the first argument
	printf "$@"
}

# ---- Set-up -----------------------------------------------------------------------------------------------------------

check_input() {
	local tool

	[[ $rounds =~ ^[1-9][0-9]*$ && $seconds =~ ^[1-9][0-9]*$ ]] || die "ROUNDS and SECONDS_EACH are whole numbers from 1"
	((EUID == 0)) || die "network namespaces need root: use sudo"
	for tool in "$rant" ${old:+"$old"} ${public:+"$public"}; do
		[[ -x $tool ]] || die "$tool: not there or not executable: run 'make' first, or give its path"
	done
	for tool in ip taskset awk "${CC:-cc}"; do
		have "$tool" || die "$tool is not installed"
	done
}

compile_bare() {
	"${CC:-cc}" -O2 -std=gnu11 "$here/bare.c" -o "$work/bare" || die "bare.c does not compile"
}

compile_lograte() {
	local rooms

	mapfile -t rooms < <(find "$root" -maxdepth 3 -name "*.c" ! -name rant.c ! -path "$root/tests/*" ! -path "$root/build/*")
	"${CC:-cc}" -O2 -std=gnu11 -I"$root" -I/usr/include/libnl3 "$here/lograte.c" "${rooms[@]}" -o "$work/lograte" \
		-lnl-3 -lnl-genl-3 -lm -lpthread -ldl 2>"$work/compile" || rm -f "$work/lograte"
}

# ---- A run --------------------------------------------------------------------------------------------------------------

# An older rant has a log that is sized for 50,000 packets a second, and a veth carries five times that: so it gets a longer
# duration, and interrupted.
run_rant() {
	local stamp=$1 duration=$((6 * seconds)) kind outputs_e=()

	shift
	for kind in $outputs; do
		outputs_e+=("--$kind" "$work/e.$kind.log")
	done
	start_reflector "${before[@]}" "$rant" -i "$if_r" --stamp "$stamp" -H ${logged_there:+-l "$work/r.log"} -d $duration "$@"
	if [[ $two ]]; then
		slot=first start_emitter "$rant" -i "$if_e" -a "$ip_r" --stamp "$stamp" -H -l "$work/first.log" -d $duration
		pid_first=$pid_e
	fi
	start_emitter "${before[@]}" "$rant" -i "$if_e" -a "$ip_r" --stamp "$stamp" -H ${logged:+-l "$work/e.log"} -d $duration \
		"${of_emitter[@]}" "${outputs_e[@]}" "$@"
	sleep "$seconds"
	if [[ $two ]]; then
		kill -TERM "$pid_first" 2>/dev/null || true
	fi
	kill -TERM "$pid_e" 2>/dev/null || true
	wait_for_emitter
	if [[ $two ]]; then
		pid_e=$pid_first pid_first=''
		wait_for_emitter
	fi
	stop_reflector
	if grep -q 'left out because' "$work/e.out"; then
		left_out=yes
	fi
}

# Two emitters on one CPU, both answered by the same reflector.
run_two() {
	local two=yes

	run_rant kernel
}

# With a threshold that nothing exceeds, and the trace ready: events of both CPUs, in the emitter's instance. "ip netns exec" has
# unmounted tracefs, for itself alone.
run_traced() { # EVENTS OPTION...
	# shellcheck disable=SC2016 # expanded by the inner shell
	local before=(sh -c 'mount -t tracefs none /sys/kernel/tracing 2>/dev/null; exec "$@"' sh)
	local of_emitter=(-t 60s -T ${snapshot:+"$snapshot"} --trace-events "$@")

	run_rant kernel
}

# The other rant, at both ends.
run_old() {
	local rant=$old

	if [[ $1 == two ]]; then
		run_two
	else
		run_rant "$1"
	fi
}

# Without the reflector's stamps in the replies.
run_plain() {
	local of_emitter=(--plain)

	run_rant kernel
}

run_unlogged() {
	local logged='' logged_there=''

	run_rant kernel "$@"
}

# One program with its log. The log of the other end would be written on the same two CPUs, each of which has a loop that never sleeps,
# and take as much from this end.
run_logged() {
	local logged_there=''

	run_rant "$1"
}

# With all that a run can write, in the same way.
run_outputs() {
	local outputs='json jsonl hgrm hlog prometheus' logged_there=''

	run_rant kernel
}

run_full() {
	local of_emitter=(--log-full) logged_there=''

	run_rant kernel -s
}

# These never sleep and have no other thread: while they waited for their CPUs, others had them.
run_bare() {
	local kind=${1%-connected} waited of

	start_reflector "$work/bare" "reflect${1#"$kind"}" "$kind" "$if_r" "$port"
	start_emitter "$work/bare" emit "$kind" "$if_e" "$port" "$ip_r" "$seconds"
	wait_for_emitter
	stop_reflector
	while read -r _ waited _ _ of; do
		((others_ns += waited, watched_ns += of))
	done < <(grep -h '^Waited: ' "$work/e.out" "$work/r.out")
}

# It reports half of each round trip unless asked for all of it. It leaves out 0.4 s at the start, and the end.
run_sockperf() {
	start_reflector sockperf server -i "$ip_r" --port "$port" "$@"
	start_emitter sockperf ping-pong -i "$ip_r" --port "$port" -t $((seconds + 1)) -m "$payload" --mps=max \
		--full-rtt "$@"
	wait_for_emitter
	stop_reflector
}

# 64 probes in flight, with stamps.
run_flood() {
	local of_emitter=(--window 64)

	run_rant kernel
}

# It reads its clock for a second after it has bound its socket, and waits for ever for a packet that was lost.
run_public() {
	local port=12345

	start_reflector "$public" -i "$if_r" -R
	sleep 1.5
	start_emitter timeout -s INT $((seconds + 5)) "$public" -i "$if_e" -a "$ip_r" -R -d "$seconds"
	wait_for_emitter
	stop_reflector
}

# By the clock, as irtt sends.
run_clock() {
	local of_emitter=(--interval 1ms)

	run_rant user
}

run_irtt() {
	start_reflector irtt server -i 0 -b "$ip_r:$port"
	start_emitter irtt client -i 1ms -d "${seconds}s" -l "$payload_flood" -q "$ip_r:$port"
	wait_for_emitter
	stop_reflector
}

# As fast as it can send, each message answered; most of its messages may be dropped on the way.
run_sockperf_load() {
	start_reflector sockperf server -i "$ip_r" --port "$port" --nonblocked
	start_emitter sockperf under-load -i "$ip_r" --port "$port" -t $((seconds + 1)) -m "$payload_flood" --mps=max --reply-every=1 \
		--full-rtt --nonblocked
	wait_for_emitter
	stop_reflector
}

run_subject() {
	case $1 in
	control) run_bare "${control#*-}" ;;
	rant-two) run_two ;;
	rant-traced) run_traced light ;;
	rant-traced-packet) run_traced packet ;;
	rant-freeze) run_traced light --freeze-peer ;;
	rant-plain) run_plain ;;
	rant-full) run_full ;;
	rant-flood) run_flood ;;
	rant-clock) run_clock ;;
	rant-unlogged) run_unlogged ;;
	rant-logged) run_logged kernel ;;
	rant-user-logged) run_logged user ;;
	rant-outputs) run_outputs ;;
	rant-all) run_unlogged -s ;;
	rant-stages) run_unlogged -s --stages full ;;
	rant-some-stages) run_unlogged -s --stages full/64 ;;
	rant-*) run_rant "${1#*-}" ;;
	old-*) run_old "${1#*-}" ;;
	bare-*) run_bare "${1#*-}" ;;
	sockperf) run_sockperf ;;
	sockperf-spin) run_sockperf --nonblocked ;;
	sockperf-load) run_sockperf_load ;;
	irtt) run_irtt ;;
	public) run_public ;;
	esac
}

# Prints the round trips of a report: per second, 50th and 99.9th percentile and average in us, and the wire duty:
# the share of the duration that they took together. "-": not reported. rant counts its rate up to the last reply but one look at the clock:
# if it had no CPU at the end, the whole duration counts. The report prints it in units of 0.01 s.
figures_of() {
	awk '
		# A number of irtt with its unit behind it.
		function in_us(text) {
			return text * (text ~ /ns$/ ? 1e-3 : text ~ /ms$/ ? 1e3 : text ~ /[0-9]s$/ ? 1e6 : 1)
		}
		/^ +RTT +[0-9]/ && NF == 6 { avg = in_us($3); p50 = in_us($4) }
		/^ +duration: / { duration = in_us($2) / 1e6 }
		/^ +packets sent\/received: / { split($3, sent, "/"); samples = sent[2]; rate = duration > 0 ? samples / duration : 0 }
		/^Test is complete. Duration:/ { duration = $5 }
		/^MIN:.* Total Samples:/ { samples = $NF; for (i = 1; i < NF; i++) if ($i == "AVG:") avg = $(i + 1) / 1e3 }
		/^ +50th +:/ && p50 == "" { p50 = $3 == ">=" ? $4 : $3 }
		/^ +99\.9th +:/ && p999 == "" { p999 = $3 == ">=" ? $4 : $3 }
		/^Rate: [0-9]+ round trips/ { rate = $2 }
		/\[Valid Duration\]/ {
			duration = samples = $0
			sub(/.*RunTime=/, "", duration)
			sub(/.*ReceivedMessages=/, "", samples)
			duration += 0
			samples += 0
			rate = duration > 0 ? samples / duration : 0
		}
		/Summary: Round trip is/ { avg = $(NF - 1) }
		/percentile 50\.000 =/ { p50 = $NF }
		/percentile 99\.900 =/ { p999 = $NF }
		END {
			if (rate == "" && samples && duration > 0)
				rate = samples / duration
			if (samples && duration > 0.01 && rate > samples / (duration - 0.005))
				rate = samples / (duration - 0.005)
			if (samples && duration > 0 && avg != "")
				duty = avg * 1e-6 * samples / duration
			printf "%s %s %s %s %s\n", (rate > 0 ? sprintf("%.0f", rate) : "-"), p50 == "" ? "-" : p50,
				p999 == "" ? "-" : p999, avg == "" ? "-" : avg, duty == "" ? "-" : sprintf("%.4f", duty)
		}' "$1"
}

# Octets and packets that the emitters' interface has sent.
sent_so_far() {
	# shellcheck disable=SC2016 # expanded by the inner shell
	ip netns exec "$ns_e" sh -c 'cat "$0/tx_bytes" "$0/tx_packets"' "/sys/class/net/$if_e/statistics" | tr '\n' ' '
}

# Octets of UDP payload in each packet since then; now and then one of ARP is among them.
payload_since() {
	local before now

	read -ra before <<<"$1"
	read -ra now <<<"$(sent_so_far)"
	awk "BEGIN { n = ${now[1]} - ${before[1]}; printf \"%.0f\", n ? (${now[0]} - ${before[0]}) / n - $headers : 0 }"
}

give_up() {
	look_at_machine after
	judge_machine
	[[ ! $busy ]] || say '%s.\n' "$busy_line"
	die "$1 reported no rate in three runs: $(tail -n 1 "$work/e.err")"
}

# measure SUBJECT KEY...: adds the figures of one run to those of each key. On a machine that is very busy there may be no round trip
# at all.
measure() {
	local names=(rate p50 p999 avg duty) values=(-) first sent i key repeatable=yes

	for _ in 1 2 3; do
		sent=$(sent_so_far)
		run_subject "$1"
		octets[$1]=$(payload_since "$sent")
		# Pending disk writes would slow the next run.
		rm -f -- "$work"/*.log
		read -ra values <<<"$(figures_of "$work/e.out")"
		if [[ $1 == *-two && ${values[0]} != - ]]; then
			read -r first _ <<<"$(figures_of "$work/first.out")"
			if [[ $first == - ]]; then
				values=(-)
				continue
			fi
			values=($((values[0] + first)) - - - -)
		fi
		[[ ${values[0]} == - ]] || break
	done
	[[ ${values[0]} != - ]] || give_up "$1"
	if grep -q '^Measurement: void' "$work/e.out"; then
		voided=$((voided + 1))
	fi
	for i in "${!names[@]}"; do
		[[ ${values[i]} != - ]] || continue
		for key in "${@:2}"; do
			figures[${names[i]}/$key]+="${values[i]} "
		done
	done
}

# ---- Figures ----------------------------------------------------------------------------------------------------------

# Prints minimum, lower quartile, median, upper quartile and maximum. Between two values a line is drawn.
distribution() {
	printf '%s\n' "$@" | sort -g | awk '
		function at(part,   place, i) {
			place = 1 + (NR - 1) * part
			i = int(place)
			return v[i] + (place > i ? (place - i) * (v[i + 1] - v[i]) : 0)
		}
		{ v[NR] = $1 }
		END { printf "%.6f %.6f %.6f %.6f %.6f\n", at(0), at(0.25), at(0.5), at(0.75), at(1) }'
}

median() {
	local spread

	read -ra spread <<<"$(distribution "$@")"
	awk "BEGIN { printf \"%.10g\", ${spread[2]} }"
}

# figures: by KIND/SUBJECT, of all its runs; by KIND/A:B/A and KIND/A:B/B, those of their turns
declare -A figures octets log_records
logged=yes logged_there=yes outputs='' left_out='' two=''
judged=() printed=() # pairs

has() {
	[[ ${figures[$1]:-} ]]
}

# Prints the median, and lower and upper end of its interval: the outermost of the values that leave out at most 2.5 % at each side,
# by the binomial distribution; of fewer than six all of them, which is less.
interval() {
	printf '%s\n' "$@" | sort -g | awk '
		{ v[NR] = $1 }
		END {
			term = below = 0.5 ^ NR
			for (k = 0; below <= 0.025; below += term)
				term *= (NR - k) / ++k
			if (k < 1)
				k = 1
			printf "%.6f %.6f %.6f\n", (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2, v[k], v[NR + 1 - k]
		}'
}

# Sets ratios, one of each turn, ratio (its median and interval), and ratio_medians.
compare() {
	local kind=$1 a b i

	read -ra a <<<"${figures[$kind/$2:$3/$2]}"
	read -ra b <<<"${figures[$kind/$2:$3/$3]}"
	ratios=()
	for i in "${!a[@]}"; do
		ratios+=("$(awk "BEGIN { printf \"%.6f\", (${b[i]} > 0 ? ${a[i]} / ${b[i]} : 0) }")")
	done
	read -ra ratio <<<"$(interval "${ratios[@]}")"
	ratio_medians=$(awk "BEGIN { print $(median "${a[@]}") / $(median "${b[@]}") }")
}

# All pairs that can be measured here, one per line: judged pairs, and pairs that are only printed.
choose_pairs() {
	judged=("$control control" 'rant-kernel bare-kernel-connected' 'rant-user bare-user-connected' 'rant-user-logged bare-user-connected'
		'rant-user bare-stamp-connected' 'rant-kernel rant-plain' 'rant-logged rant-unlogged' 'rant-outputs rant-unlogged' 'rant-full rant-all'
		'rant-some-stages rant-all')
	printed=('rant-kernel rant-unlogged' 'rant-kernel bare-kernel' 'rant-user bare-user' 'bare-stamp-connected bare-user-connected' 'rant-two rant-kernel'
		'rant-stages rant-all')
	if have sockperf; then
		judged+=('rant-user sockperf-spin')
		printed+=('rant-user sockperf' 'rant-flood sockperf-load')
	else
		say 'sockperf is not installed: left out.\n\n'
	fi
	[[ ! $public ]] || judged+=('rant-kernel public')
	if have irtt; then
		printed+=('rant-clock irtt')
	else
		say 'irtt is not installed: left out.\n\n'
	fi
	if [[ -d /sys/kernel/tracing ]]; then
		printed+=('rant-traced rant-kernel' 'rant-traced-packet rant-kernel' 'rant-freeze rant-traced')
		[[ ! -e /sys/kernel/tracing/snapshot ]] || snapshot=-S
	fi
}

# Removes the pairs that PAIRS does not select. The control pair stays.
keep_wanted() {
	local list i

	for list in judged printed; do
		local -n pairs=$list
		for i in "${!pairs[@]}"; do
			[[ ${pairs[i]} == "$control control" || ${pairs[i]} =~ ${PAIRS:-.} ]] || unset "pairs[i]"
		done
	done
}

# The length of rant's probe with these options: sockperf's gets as many octets.
measure_payload() {
	local sent

	sent=$(sent_so_far)
	start_reflector "$rant" -i "$if_r" --stamp user -q -d 60
	start_emitter "$rant" -i "$if_e" -a "$ip_r" --stamp user -q --count 1000 -d 30 "$@"
	wait_for_emitter
	stop_reflector
	payload_since "$sent"
}

# measure_pair TURNS A B
measure_pair() {
	local turn order one

	for ((turn = 0; turn < $1; turn++)); do
		order=("$2" "$3")
		((turn % 2 == 0)) || order=("$3" "$2")
		for one in "${order[@]}"; do
			measure "$one" "$one" "$2:$3/$one"
		done
	done
	printf '%s : %s measured, %d turns\n' "$2" "$3" "$1" >&2
}

# For the pairs in `judged` and `printed`.
measure_rates() {
	local pair a b subject few=$(((2 * rounds + 4) / 5))

	keep_wanted
	look_at_machine before
	for pair in "${judged[@]}"; do
		read -r a b <<<"$pair"
		measure_pair "$rounds" "$a" "$b"
	done
	for pair in "${printed[@]}"; do
		read -r a b <<<"$pair"
		measure_pair "$few" "$a" "$b"
	done
	look_at_machine after

	say 'Round trips per second in runs of %d s, and octets of UDP payload on the wire\n\n' "$seconds"
	say '  %-23s %6s %6s' subject octets runs
	say ' %10s' minimum quartile median quartile maximum
	say '\n'
	while read -r subject; do
		read -ra values <<<"${figures[rate/$subject]}"
		say '  %-23s %6d %6d' "$subject" "${octets[$subject]}" ${#values[@]}
		# shellcheck disable=SC2046 # a list of numbers
		say ' %10.0f' $(distribution "${values[@]}")
		say '\n'
	done < <(printf '%s\n' "${!octets[@]}" | sort)
	say '\n'
	say 'control is %s once more.\n\n' "$control"
}

# The programs that report it. rant-user and sockperf read the clock before the send and after the receive.
write_round_trips() {
	local subject kind

	say 'Round trips in us and wire duty (all round trips together, of the duration), medians of the rounds\n\n'
	say '  %-23s %6s %10s %10s %10s %10s\n' subject octets 50th 99.9th average duty
	for subject in rant-kernel old-kernel rant-user old-user sockperf-spin sockperf rant-clock irtt; do
		has "duty/$subject" || continue
		say '  %-23s %6d' "$subject" "${octets[$subject]}"
		for kind in p50 p999 avg duty; do
			if has "$kind/$subject"; then
				# shellcheck disable=SC2086 # a list of numbers
				say ' %10.3f' "$(median ${figures[$kind/$subject]})"
			else
				say ' %10s' -
			fi
		done
		say '\n'
	done
	say '\n  kernel: from T1_KERNEL to T4_KERNEL; the others: in user space, from before the send to after the receive\n\n'
}

# write_ratios KIND: the pairs whose programs both report this figure.
write_ratios() {
	local kind=$1 pair a b

	for pair in "${judged[@]}" "${printed[@]}"; do
		read -r a b <<<"$pair"
		[[ ${figures[$kind/$a:$b/$a]:-} && ${figures[$kind/$a:$b/$b]:-} ]] || continue
		compare "$kind" "$a" "$b"
		say '  %-6s %-42s %5d' "$kind" "$a : $b" ${#ratios[@]}
		# shellcheck disable=SC2046 # a list of numbers
		say ' %8.3f' $(distribution "${ratios[@]}") "${ratio[@]:1}"
		say ' %12.3f\n' "$ratio_medians"
	done
}

write_all_ratios() {
	say 'Ratios of the turns, each between neighbours in time\n\n  %-49s %5s' '' turns
	say ' %8s' minimum quartile median quartile maximum '95 %' interval
	say ' %12s\n' 'of medians'
	write_ratios rate
	write_ratios p50
	write_ratios p999
	say '\n'
	if [[ ${left_out:-} ]]; then
		say 'In some run records were left out of the log, so that this run was a little less work.\n\n'
	fi
}

write_machine() {
	judge_machine
	say '%s.\n\n' "$busy_line"
}

# Counts the calls of a run of N probes by kind: sends, error queue, receives that got something, those that did not,
# all others; of the measuring thread, which gives itself its name. Under strace the reply is mostly there before the first receive.
count_calls() {
	start_reflector "$rant" -i "$if_r" --stamp kernel -q -d 60
	start_emitter strace -f -o "$work/strace" "$rant" -i "$if_e" -a "$ip_r" --stamp kernel -H -q -l /dev/null --count "$1" -d 30
	wait_for_emitter
	stop_reflector
	awk '/prctl\(PR_SET_NAME, "rant-loop"/ { measuring = $1 }
		$1 != measuring { next }
		{ call = $2; sub(/\(.*/, "", call) }
		call !~ /^[a-z0-9_]+$/ { next }
		call == "sendmsg" || call == "sendto" { send++; next }
		call == "recvmsg" && /MSG_ERRQUEUE/ { queue++; next }
		call == "recvmsg" { if (/= -1 EAGAIN/) empty++; else got++; next }
		{ other++ }
		END { print send + 0, queue + 0, got + 0, empty + 0, other + 0 }' "$work/strace"
}

calls_per_round_trip() {
	local n=300 once twice i

	if ! have strace; then
		say 'strace is not installed: system calls per round trip are left out.\n\n'
		return
	fi
	# count_calls starts processes: not in a subshell, or they could not be ended from here.
	count_calls $n >"$work/once"
	count_calls $((2 * n)) >"$work/twice"
	read -ra once <"$work/once"
	read -ra twice <"$work/twice"
	calls=()
	for i in "${!once[@]}"; do
		calls+=("$(awk "BEGIN { printf \"%.3f\", (${twice[i]} - ${once[i]}) / $n }")")
	done
	say 'System calls per round trip of the emitter, kernel stamps, log and histogram on (strace; a run of %d probes less\n' $((2 * n))
	say 'one of %d, which takes set-up out):\n' $n
	say '  sends %s, error queue %s, receives with a reply %s, receives without %s, all others %s\n\n' "${calls[@]}"
}

# Milliseconds from just before exec to T1_SW of the first probe. "$@": options of rant; the emitter is ended after $1 s.
first_probe() {
	local limit=$1
	shift

	start_reflector "$rant" -i "$if_r" --stamp kernel -q -d 60
	# EPOCHREALTIME is CLOCK_REALTIME, as is T1_SW. The shell is on its CPU and in its namespace already.
	# shellcheck disable=SC2016 # expanded by the inner shell
	start_emitter bash -c 'printf "%s\n" "$EPOCHREALTIME" >"$0"; exec "$@"' "$work/exec" \
		"$rant" -i "$if_e" -a "$ip_r" --stamp kernel -H -s -q -l "$work/e.log" "$@"
	if ((limit)); then
		sleep "$limit"
		kill -TERM "$pid_e"
	fi
	wait_for_emitter
	stop_reflector
	sed -n '1s/^ *SEQ  *T1_SW .*/ok/p; 3p' "$work/e.log" |
		awk -v began="$(<"$work/exec")" 'NR == 1 && $1 == "ok" { ok = 1 } NR == 2 && ok {
			split(began, a, "."); split($2, b, "."); printf "%.3f\n", (b[1] - a[1]) * 1e3 + b[2] / 1e6 - a[2] / 1e3 }'
}

start_up() {
	local small=() large=() i

	for i in {1..7}; do
		first_probe 0 --count 1 >"$work/ms"
		small+=("$(<"$work/ms")")
	done
	for i in {1..3}; do
		first_probe 1 -d 60 --log-full >"$work/ms"
		large+=("$(<"$work/ms")")
	done
	start_ms=$(median "${small[@]}")
	start_log_ms=$(median "${large[@]}")
	say 'Start to first probe (CLOCK_REALTIME read in the shell just before exec, to T1_SW of the first probe in the log):\n'
	say '  histogram, log of one record     %8.1f ms (median of %d)\n' "$start_ms" ${#small[@]}
	say '  histogram, full log for 60 s     %8.1f ms (median of %d)\n\n' "$start_log_ms" ${#large[@]}
}

# kB of a line of /proc/PID/status.
status_kb() {
	awk -v line="$1:" '$1 == line { print $2 }' "/proc/$pid_e/status"
}

# Sets log_peak_kb of an emitter with these options.
peak_of() {
	start_reflector "$rant" -i "$if_r" --stamp kernel -q -d 60
	start_emitter "$rant" -i "$if_e" -a "$ip_r" --stamp kernel -d 60 "$@"
	sleep 2
	log_peak_kb=$(status_kb VmHWM)
	kill -TERM "$pid_e"
	wait_for_emitter
	stop_reflector
}

resident_memory() {
	local early

	peak_of -H -s -l "$work/e.log" --log-full

	start_reflector "$rant" -i "$if_r" --stamp kernel -q -d 60
	start_emitter "$rant" -i "$if_e" -a "$ip_r" --stamp kernel -H -d 60
	sleep 0.5
	early=$(status_kb VmRSS)
	sleep 1.5
	peak_kb=$(status_kb VmHWM)
	growth_kb=$(($(status_kb VmRSS) - early))
	kill -TERM "$pid_e"
	wait_for_emitter
	stop_reflector
	say 'Resident memory of the emitter, histogram only (/proc/PID/status): peak %d kB; grown by %d kB between 0.5 s and 2 s;\n' \
		"$peak_kb" "$growth_kb"
	say 'with stages and a full log: peak %d kB\n\n' "$log_peak_kb"
}

log_rate() {
	local records=3000000 columns target=/dev/shm form i values

	if [[ ! -x $work/lograte ]]; then
		say 'lograte.c does not compile with the rooms of this tree: log rate left out: %s\n\n' "$(grep -m 1 error "$work/compile" || true)"
		return
	fi
	# Up to 324 octets a record, twice: the old log stays until the new log gets its name.
	(($(df --output=avail -k "$target" 2>/dev/null | tail -n 1 || echo 0) > 2200000)) || target=$work
	mkdir "$target/rant-bench-$tag"
	defer rm -rf -- "$target/rant-bench-$tag"
	say 'Writing a log of %d records to %s (lograte.c: log_writer.c), records per second, median of 5:\n' $records "$target"
	for form in text csv npy; do
		for columns in wire all full; do
			values=()
			for i in {1..5}; do
				values+=("$("$work/lograte" "$target/rant-bench-$tag/log" $records $columns $form)")
			done
			say '  %-46s %10.0f\n' "$form, ${columns/wire/default columns}" "$(median "${values[@]}")"
			[[ $columns != wire ]] || log_records[$form]=$(median "${values[@]}")
		done
	done
	say '\n'
}

# The given program at both ends.
instructions() {
	local rant=$1 n=3000 count=() i

	if ! have valgrind; then
		say 'valgrind is not installed: instructions per round trip are left out.\n\n'
		return
	fi
	for i in $n $((2 * n)); do
		start_reflector "$rant" -i "$if_r" --stamp kernel -q -d 60
		start_emitter valgrind --tool=callgrind --callgrind-out-file=/dev/null \
			"$rant" -i "$if_e" -a "$ip_r" --stamp kernel -H -q -l /dev/null --count "$i" -d 30
		wait_for_emitter
		stop_reflector
		count+=("$(sed -n 's/.*Collected : \([0-9]*\).*/\1/p' "$work/e.err")")
	done
	if [[ ! ${count[0]} || ! ${count[1]} ]]; then
		say 'valgrind reported no instruction count: omitted.\n\n'
		return
	fi
	say 'Instructions of user space per round trip of the emitter (callgrind; fruitless receives and the writing of the log\n'
	say 'included), %s: %d\n\n' "$rant" $(((count[1] - count[0]) / n))
}

# ---- Budgets ------------------------------------------------------------------------------------------------------------

# row NAME BUDGET REACHED VERDICT
row() {
	say '  %-52s %-26s %-24s %s\n' "$@"
}

# judge NAME BUDGET REACHED CONDITION-OF-AWK
judge() {
	local verdict='NOT met'

	awk "BEGIN { exit !($4) }" && verdict=met
	row "$1" "$2" "$3" "$verdict"
}

# For figures that other work makes worse and never better.
judge_time() {
	local verdict='NOT met'

	[[ ! $busy ]] || verdict='too busy to tell'
	awk "BEGIN { exit !($4) }" && verdict=met
	row "$1" "$2" "$3" "$verdict"
}

# judge_ratio NAME LIMIT SUBJECT OTHER: LIMIT is the minimum; without a limit: only printed
judge_ratio() {
	local verdict='NOT met'

	if ! has "rate/$3:$4/$3"; then
		unmeasured "$1" "${2:+>= $2}"
		return
	fi
	compare rate "$3" "$4"
	if [[ ! $2 ]]; then
		verdict='no budget'
	elif [[ $busy ]]; then
		verdict='too busy to tell'
	elif awk "BEGIN { exit !(${ratio[0]} >= $2) }"; then
		verdict=met
	elif awk "BEGIN { exit !(${ratio[2]} >= $2) }"; then
		verdict='not shown'
	fi
	row "$1" "${2:+>= $2}" "$(printf '%.3f (%.3f to %.3f)' "${ratio[@]}")" "$verdict"
}

unmeasured() {
	row "$1" "$2" - 'not measured'
}

write_budgets() {
	say 'Budgets (ratios of round trips per second: median of the turns, and its interval, 95 %%; not shown: the limit is in it)\n\n'
	row what budget reached ''
	judge_ratio 'kernel stamps, log, histogram : bare, connected' 0.95 rant-kernel bare-kernel-connected
	judge_ratio '  : bare, not connected' '' rant-kernel bare-kernel
	judge_ratio '--stamp user, log, histogram : bare, connected' 0.95 rant-user bare-user-connected
	judge_ratio '  : bare, connected; a log at this end alone' 0.95 rant-user-logged bare-user-connected
	judge_ratio '  : bare, not connected' '' rant-user bare-user
	judge_ratio '  : bare, connected, with the times of STAMP' 0.95 rant-user bare-stamp-connected
	judge_ratio '    which itself is, of the one without' '' bare-stamp-connected bare-user-connected
	judge_ratio "  : sockperf ping-pong --nonblocked, $payload octets" 1.05 rant-user sockperf-spin
	judge_ratio "  : sockperf ping-pong, $payload octets" '' rant-user sockperf
	judge_ratio "--window 64, kernel stamps : sockperf under-load, $payload_flood octets" 1 rant-flood sockperf-load
	judge_ratio 'a probe each ms, kept : irtt' 1 rant-clock irtt
	judge_ratio "kernel stamps : the public rant's -R (PUBLIC=)" 6 rant-kernel public
	judge_ratio 'two emitters on one reflector : one (compare OLD=)' '' rant-two rant-kernel
	judge_ratio 'with the stamps of the reflector : --plain' 0.97 rant-kernel rant-plain
	judge_ratio 'with a log : without' 0.99 rant-logged rant-unlogged
	judge_ratio '  one at each end, on these two CPUs' '' rant-kernel rant-unlogged
	judge_ratio 'with --log and all outputs for programs : without' 0.99 rant-outputs rant-unlogged
	judge_ratio '--log-full -s : -s without a log' 0.97 rant-full rant-all
	judge_ratio '--stages full/64 : -s' 0.98 rant-some-stages rant-all
	judge_ratio '--stages full : -s' '' rant-stages rant-all
	judge_ratio '--trace-events light, a threshold : without' '' rant-traced rant-kernel
	judge_ratio '--trace-events packet, a threshold : without' '' rant-traced-packet rant-kernel
	judge_ratio '--freeze-peer, no breach : without' '' rant-freeze rant-traced
	if [[ ${calls[*]:-} ]]; then
		judge_time 'system calls per round trip, emit' '1 send, 1 error queue, 0' "${calls[0]} ${calls[1]} ${calls[4]}" \
			"${calls[0]} <= 1.01 && ${calls[1]} <= 1.01 && ${calls[4]} <= 0.01"
	else
		unmeasured 'system calls per round trip, emit' '1 send, 1 error queue, 0'
	fi
	judge_time 'start to first probe' '< 50 ms' "$start_ms ms; full log: $start_log_ms" "$start_ms < 50 && $start_log_ms < 50"
	judge 'resident memory, histogram only' '< 8 MB' "$peak_kb kB" "$peak_kb < 8192"
	if [[ ${log_records[*]:-} ]]; then
		judge_time 'writing the log as text' '>= 3000000 records/s' "${log_records[text]}" "${log_records[text]} >= 3000000"
		judge_time 'writing the log as npy' '>= 20000000 records/s' "${log_records[npy]}" "${log_records[npy]} >= 20000000"
	else
		unmeasured 'writing the log' '>= 3000000 records/s'
	fi
	judge 'resident memory, --log --log-full' '< 32 MB' "$log_peak_kb kB" "$log_peak_kb < 32768"
	judge 'any run length: nothing grows' '0 kB in 1.5 s' "$growth_kb kB" "$growth_kb <= 0"
}

# The machine, before the figures.
heading() {
	say '%s on Linux %s, %s; emitter on CPU %d, reflector on CPU %d\n\n' "$("$rant" --version | sed -n 1p)" "$(uname -r)" \
		"$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)" "$cpu_e" "$cpu_r"
}

against_bare_loops() {
	choose_pairs
	payload=$(measure_payload) payload_flood=$(measure_payload --window 64)
	measure_rates
	write_round_trips
	write_all_ratios
	compile_lograte
	calls_per_round_trip
	start_up
	resident_memory
	log_rate
	instructions "$rant"
	write_machine
	write_budgets
}

# The bare loop is there to judge the machine.
against_old() {
	say 'rant is %s, old is %s\n\n' "$rant" "$old"
	judged=("$control control" 'rant-kernel old-kernel' 'rant-user old-user' 'rant-two old-two')
	printed=('rant-kernel bare-kernel-connected')
	measure_rates
	write_round_trips
	write_all_ratios
	instructions "$rant"
	instructions "$old"
	write_machine
}

main() {
	check_input
	trap clean_up EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	work=$(mktemp -d)
	defer rm -rf -- "$work"
	choose_cpus
	make_network
	compile_bare
	heading
	if [[ $old ]]; then
		against_old
	else
		against_bare_loops
	fi
	say '\nLoad average at the end %s; about 2 is this report itself. It took %d s.\n' \
		"$(cut -d' ' -f1-3 /proc/loadavg)" "$SECONDS"
}

# The test of its figures reads it, and runs nothing.
[[ ${BASH_SOURCE[0]} != "$0" ]] || main
