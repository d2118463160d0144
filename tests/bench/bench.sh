#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# bench.sh [RANT]: rant beside a bare loop with the same system calls and beside sockperf, in interleaved runs on a veth
# pair of its own, then the budgets of design.md with what was reached. RANT is ./rant unless given.
# bench.sh RANT OLD: RANT beside another rant, in the same way, and the instructions of both per round trip.
#
# A report, not a test: the exit status is 0 whatever the figures, and 1 if it could not run. Needs root and a C compiler.
# ROUNDS (5) and SECONDS_EACH (2) set how long it takes: about 90 s as they stand. Other work on the machine shows in
# every figure; the ratios, taken between neighbours in time, suffer least.
set -euo pipefail

rant=$(realpath -- "${1:-./rant}")
old=${2:+$(realpath -- "$2")} # the other rant
rounds=${ROUNDS:-5}
seconds=${SECONDS_EACH:-2}
here=$(dirname -- "$(realpath -- "$0")")
root=$(realpath -- "$here/../..")

tag=$$ # of all names
ns_e=rant-bench-$tag-e ns_r=rant-bench-$tag-r
if_e=rbe$tag if_r=rbr$tag
ip_e=192.0.2.1 ip_r=192.0.2.2 # RFC 5737
port=862
work='' pid_e='' pid_r=''
before=()   # words before rant
of_emitter=() # options of the emitter alone
snapshot='' # the option, where the kernel has it
undo=()

die() {
	printf 'bench.sh: %s\n' "$*" >&2
	exit 1
}

say() {
	# shellcheck disable=SC2059 # the format is the first argument
	printf "$@"
}

# Prints and runs each change to the machine.
change() {
	printf '+ %s\n' "$*" >&2
	"$@"
}

# Schedules a command for the end; the last one comes first.
defer() {
	undo=("${*@Q}" "${undo[@]}")
}

end_process() {
	[[ $1 ]] || return 0
	kill -TERM "$1" 2>/dev/null || true
	wait "$1" 2>/dev/null || true
}

clean_up() {
	local status=$? step

	trap '' INT TERM HUP
	set +e
	end_process "$pid_e"
	end_process "$pid_r"
	for step in "${undo[@]}"; do
		eval "$step"
	done
	exit "$status"
}

have() {
	command -v "$1" >/dev/null
}

# ---- Set-up -----------------------------------------------------------------------------------------------------------

check_input() {
	local tool

	[[ $rounds =~ ^[1-9][0-9]*$ && $seconds =~ ^[1-9][0-9]*$ ]] || die "ROUNDS and SECONDS_EACH are whole numbers from 1"
	((EUID == 0)) || die "network namespaces need root: use sudo"
	for tool in "$rant" ${old:+"$old"}; do
		[[ -x $tool ]] || die "$tool: not there or not executable: run 'make' first, or give its path"
	done
	for tool in ip taskset awk "${CC:-cc}"; do
		have "$tool" || die "$tool is not installed"
	done
}

# The first two CPUs that this shell may use.
choose_cpus() {
	local allowed part cpu cpus=()

	allowed=$(taskset -cp $$)
	IFS=, read -ra part <<<"${allowed##*: }"
	for cpu in "${part[@]}"; do
		mapfile -t -O ${#cpus[@]} cpus < <(seq "${cpu%-*}" "${cpu#*-}")
	done
	((${#cpus[@]} > 1)) || die "two loops that never sleep need two CPUs, and this shell may use only CPU ${cpus[0]}"
	cpu_e=${cpus[0]} cpu_r=${cpus[1]}
}

make_network() {
	local end ns interface address

	for end in "$ns_e" "$ns_r"; do
		change ip netns add "$end"
		defer change ip netns delete "$end"
		change ip -n "$end" link set lo up
	done
	# The pair goes with its namespaces.
	change ip link add "$if_e" netns "$ns_e" type veth peer name "$if_r" netns "$ns_r"
	for end in "$ns_e $if_e $ip_e" "$ns_r $if_r $ip_r"; do
		read -r ns interface address <<<"$end"
		change ip -n "$ns" link set "$interface" addrgenmode none up
		change ip -n "$ns" address add "$address/24" dev "$interface"
	done
}

compile() {
	local rooms

	"${CC:-cc}" -O2 -std=gnu11 "$here/bare.c" -o "$work/bare" || die "bare.c does not compile"
	mapfile -t rooms < <(find "$root" -maxdepth 2 -name "*.c" ! -name rant.c ! -path "$root/tests/*")
	"${CC:-cc}" -O2 -std=gnu11 -I"$root" -I/usr/include/libnl3 "$here/lograte.c" "${rooms[@]}" -o "$work/lograte" \
		-lnl-3 -lnl-genl-3 -lm -lpthread 2>"$work/compile" || rm -f "$work/lograte"
}

# ---- One run ------------------------------------------------------------------------------------------------------------

# By process id, so that only what was started here is ever ended. taskset and ip replace themselves by the command.
start_emitter() {
	ip netns exec "$ns_e" taskset -c "$cpu_e" "$@" >"$work/e.out" 2>"$work/e.err" &
	pid_e=$!
}

start_reflector() {
	local listening
	printf -v listening ':%04X ' "$port"

	ip netns exec "$ns_r" taskset -c "$cpu_r" "$@" >"$work/r.out" 2>"$work/r.err" &
	pid_r=$!
	for _ in {1..500}; do
		[[ -d /proc/$pid_r ]] || break
		if [[ $(readlink "/proc/$pid_r/ns/net") == "$net_r" ]] &&
			grep -q "$listening" "/proc/$pid_r/net/udp" 2>/dev/null; then
			return
		fi
		sleep 0.01
	done
	die "the reflector did not start: $* : $(tail -n 1 "$work/r.err")"
}

stop_reflector() {
	end_process "$pid_r"
	pid_r=''
}

wait_for_emitter() {
	local status=0

	wait "$pid_e" || status=$?
	pid_e=''
	((status == 0)) || die "the emitter failed ($status): $(tail -n 1 "$work/e.err")"
}

# A log is sized for 50,000 packets a second, a veth carries five times that, and a full log is less work: so rant is told
# a longer duration, and interrupted.
run_rant() {
	local stamp=$1

	shift
	start_reflector "${before[@]}" "$rant" -i "$if_r" --stamp "$stamp" --once -H -l "$work/r.log" -d $((6 * seconds)) "$@"
	start_emitter "${before[@]}" "$rant" -i "$if_e" -a "$ip_r" --stamp "$stamp" -H -l "$work/e.log" -d $((6 * seconds)) \
		"${of_emitter[@]}" "$@"
	sleep "$seconds"
	kill -TERM "$pid_e" 2>/dev/null || true
	wait_for_emitter
	stop_reflector
	if grep -q 'left out because it was full' "$work/e.out"; then
		log_full=yes
	fi
}

# With a threshold that nothing exceeds, and the trace ready. "ip netns exec" has unmounted tracefs, for itself alone.
run_traced() {
	# shellcheck disable=SC2016 # expanded by the inner shell
	local before=(sh -c 'mount -t tracefs none /sys/kernel/tracing 2>/dev/null; exec "$@"' sh)

	run_rant kernel -t 60000000 -T ${snapshot:+"$snapshot"}
}

# The other rant, at both ends.
run_old() {
	local rant=$old

	run_rant "$1"
}

# Without the reflector's stamps in the replies.
run_plain() {
	local of_emitter=(--plain)

	run_rant kernel
}

run_full() {
	local of_emitter=(--log-full)

	run_rant kernel -s
}

run_bare() {
	start_reflector "$work/bare" reflect "$1" "$if_r" "$port"
	start_emitter "$work/bare" emit "$1" "$if_e" "$port" "$ip_r" "$seconds"
	wait_for_emitter
	stop_reflector
}

run_sockperf() {
	start_reflector sockperf server -i "$ip_r" --port "$port" "$@"
	start_emitter sockperf ping-pong -i "$ip_r" --port "$port" -t "$seconds" -m 44 --mps=max "$@"
	wait_for_emitter
	stop_reflector
}

# Prints the round trips per second of a subject in one run.
measure() {
	case $1 in
	rant-traced) run_traced ;;
	rant-plain) run_plain ;;
	rant-full) run_full ;;
	rant-*) run_rant "${1#*-}" ;;
	old-*) run_old "${1#*-}" ;;
	bare-*) run_bare "${1#*-}" ;;
	sockperf) run_sockperf ;;
	sockperf-spin) run_sockperf --nonblocked ;;
	esac
	rate=$(sed -n 's/^Rate: \([0-9]*\) round trips.*/\1/p
		s/.*Valid Duration.*RunTime=\([0-9.]*\) sec.*ReceivedMessages=\([0-9]*\).*/\2 \1/p' "$work/e.out" |
		awk '{ printf "%.0f", (NF == 2 ? $1 / $2 : $1) }')
	[[ $rate ]] || die "$1 told no rate: $(tail -n 1 "$work/e.err")"
}

# ---- Figures ----------------------------------------------------------------------------------------------------------

median() {
	printf '%s\n' "$@" | sort -g | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

declare -A rates

# Sets ratio_medians, ratio_best and ratio_paired of two subjects. The best of each is the least disturbed.
compare() {
	local a b i pairs=()

	read -ra a <<<"${rates[$1]}"
	read -ra b <<<"${rates[$2]}"
	for i in "${!a[@]}"; do
		pairs+=("$(awk "BEGIN { print ${a[i]} / ${b[i]} }")")
	done
	ratio_paired=$(printf '%.3f' "$(median "${pairs[@]}")")
	ratio_best=$(printf '%s\n' "${a[@]}" '' "${b[@]}" |
		awk '!NF { b = 1; next } $1 > best[b + 0] { best[b + 0] = $1 } END { print best[0] / best[1] }')
	ratio_medians=$(awk "BEGIN { print $(median "${a[@]}") / $(median "${b[@]}") }")
}

# All that can be measured here.
choose_subjects() {
	subjects=(bare-kernel rant-kernel rant-plain rant-full bare-messages rant-user bare-user)
	if [[ -d /sys/kernel/tracing ]]; then
		subjects+=(rant-traced)
		[[ ! -e /sys/kernel/tracing/snapshot ]] || snapshot=-S
	fi
	if have sockperf; then
		subjects+=(sockperf sockperf-spin)
	else
		say 'sockperf is not installed: left out.\n\n'
	fi
}

# measure_rates SUBJECT...
measure_rates() {
	local subjects=("$@") turn order subject

	say 'Round trips per second, %d rounds of %d s each\n\n  round ' "$rounds" "$seconds"
	say ' %13s' "${subjects[@]}"
	say '\n'
	for ((turn = 1; turn <= rounds; turn++)); do
		order=("${subjects[@]}")
		# Every other round backwards, so that what drifts favours nobody.
		((turn % 2)) || mapfile -t order < <(printf '%s\n' "${subjects[@]}" | tac)
		for subject in "${order[@]}"; do
			measure "$subject"
			rates[$subject]+="$rate "
		done
		say '  %-6d' "$turn"
		for subject in "${subjects[@]}"; do
			say ' %13s' "$(awk '{ print $NF }' <<<"${rates[$subject]}")"
		done
		say '\n'
	done
	say '  median'
	for subject in "${subjects[@]}"; do
		# shellcheck disable=SC2086 # a list of numbers
		say ' %13.0f' "$(median ${rates[$subject]})"
	done
	say '\n  best  '
	for subject in "${subjects[@]}"; do
		say ' %13d' "$(tr ' ' '\n' <<<"${rates[$subject]}" | sort -n | tail -n 1)"
	done
	say '\n\n'
}

write_ratios() {
	local pair

	say 'Ratios: %-32s of medians      of the best   median of the rounds\n' ''
	for pair in 'rant-kernel bare-kernel' 'rant-kernel rant-plain' 'rant-full rant-plain' 'rant-traced rant-kernel' \
		'rant-user bare-user' 'rant-user bare-messages' 'bare-messages bare-user' 'rant-user sockperf' \
		'rant-user sockperf-spin' 'rant-kernel old-kernel' 'rant-user old-user'; do
		[[ ${rates[${pair% *}]:-} && ${rates[${pair#* }]:-} ]] || continue
		# shellcheck disable=SC2086 # two words
		compare $pair
		say '  %-38s %10.3f %16.3f %22.3f\n' "${pair/ / : }" "$ratio_medians" "$ratio_best" "$ratio_paired"
	done
	say '\n'
	if [[ ${log_full:-} ]]; then
		say 'In some run the log was full before its end, and the rest of that run a little less work.\n\n'
	fi
}

# Counts the calls of a run of N probes by kind: sendmsg, error queue, receives that got something, those that did not,
# all others; of the measuring thread, whose line is the first. Under strace the reply is mostly there before the first receive.
count_calls() {
	start_reflector "$rant" -i "$if_r" --stamp kernel -q -d 60
	start_emitter strace -f -o "$work/strace" "$rant" -i "$if_e" -a "$ip_r" --stamp kernel -H -q -l /dev/null --count "$1" -d 30
	wait_for_emitter
	stop_reflector
	awk 'NR == 1 { measuring = $1 }
		$1 != measuring { next }
		{ call = $2; sub(/\(.*/, "", call) }
		call !~ /^[a-z0-9_]+$/ { next }
		call == "sendmsg" { send++; next }
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
	say '  sendmsg %s, error queue %s, receives with a reply %s, receives without %s, all others %s\n\n' "${calls[@]}"
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
		first_probe 1 -d 60 >"$work/ms"
		large+=("$(<"$work/ms")")
	done
	start_ms=$(median "${small[@]}")
	start_log_ms=$(median "${large[@]}")
	say 'Start to first probe (CLOCK_REALTIME read in the shell just before exec, to T1_SW of the first probe in the log):\n'
	say '  histogram, log of one record     %8.1f ms (median of %d)\n' "$start_ms" ${#small[@]}
	say '  histogram, log for 60 s (prefault) %6.1f ms (median of %d)\n\n' "$start_log_ms" ${#large[@]}
}

# kB of a line of /proc/PID/status.
status_kb() {
	awk -v line="$1:" '$1 == line { print $2 }' "/proc/$pid_e/status"
}

resident_memory() {
	local early

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
	say 'Resident memory of the emitter, histogram only (/proc/PID/status): peak %d kB; grown by %d kB between 0.5 s and 2 s\n\n' \
		"$peak_kb" "$growth_kb"
}

log_rate() {
	local records=3000000 columns target=/dev/shm file i values

	if [[ ! -x $work/lograte ]]; then
		say 'lograte.c does not compile with the rooms of this tree: log rate left out: %s\n\n' "$(grep -m 1 error "$work/compile" || true)"
		return
	fi
	# Up to 322 octets a record, twice: the new log stands beside the old one until it gets its name.
	(($(df --output=avail -k "$target" 2>/dev/null | tail -n 1 || echo 0) > 2200000)) || target=$work
	mkdir "$target/rant-bench-$tag"
	defer rm -rf -- "$target/rant-bench-$tag"
	say 'Writing a log of %d records (lograte.c: log_file_write of log_file.c), records per second, median of 5:\n' $records
	for columns in wire all full; do
		for file in /dev/null "$target/rant-bench-$tag/log"; do
			values=()
			for i in {1..5}; do
				values+=("$("$work/lograte" "$file" $records $columns)")
			done
			say '  %-46s %10.0f\n' "${columns/wire/default columns}, to ${file%/rant-bench*}" "$(median "${values[@]}")"
			[[ $columns$file == wire$target* ]] && log_records=$(median "${values[@]}")
		done
	done
	say '\n'
}

# Of the program given, which is at both ends.
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
		say 'valgrind told no count of instructions: left out.\n\n'
		return
	fi
	say 'Instructions of user space per round trip of the emitter (callgrind; fruitless receives and the writing of the log\n'
	say 'included), %s: %d\n\n' "$rant" $(((count[1] - count[0]) / n))
}

# ---- Budgets ------------------------------------------------------------------------------------------------------------

# judge WHAT BUDGET REACHED CONDITION-OF-AWK
judge() {
	local verdict='NOT met'

	awk "BEGIN { exit !($4) }" && verdict=met
	say '  %-48s %-26s %-24s %s\n' "$1" "$2" "$3" "$verdict"
}

unmeasured() {
	say '  %-48s %-26s %-24s %s\n' "$1" "$2" '-' 'not measured'
}

write_budgets() {
	local rival best=0 m # of the faster rival, the inverse ratio

	say 'Budgets (ratios: median of the rounds)\n\n  %-48s %-26s %-24s\n' what budget reached
	compare rant-kernel bare-kernel
	judge 'round trips/s, kernel stamps, log, histogram' '>= 0.95 of a bare loop' "$ratio_paired" "$ratio_paired >= 0.95"
	compare rant-user bare-user
	judge 'round trips/s, --stamp user, log, histogram' '>= 0.97 of a bare loop' "$ratio_paired" "$ratio_paired >= 0.97"
	compare rant-user bare-messages
	judge '  against one that has its control messages' '>= 0.97' "$ratio_paired" "$ratio_paired >= 0.97"
	compare rant-kernel rant-plain
	judge '  with the reflector'"'"'s stamps, against --plain' '>= 0.97' "$ratio_paired" "$ratio_paired >= 0.97"
	for rival in sockperf sockperf-spin; do
		[[ ${rates[$rival]:-} ]] || continue
		compare rant-user $rival
		m=$(awk "BEGIN { print 1 / $ratio_paired }")
		best=$(awk "BEGIN { print ($m > $best ? $m : $best) }")
	done
	if [[ $best != 0 ]]; then
		m=$(awk "BEGIN { printf \"%.3f\", 1 / $best }")
		judge '  against sockperf ping-pong, the faster one' '> 1' "$m" "$m > 1"
	else
		unmeasured '  against sockperf ping-pong' '> 1'
	fi
	if [[ ${calls[*]:-} ]]; then
		judge 'system calls per round trip, emit' '1 send, 1 error queue, 0' "${calls[0]} ${calls[1]} ${calls[4]}" \
			"${calls[0]} <= 1.01 && ${calls[1]} <= 1.01 && ${calls[4]} == 0"
	else
		unmeasured 'system calls per round trip, emit' '1 send, 1 error queue, 0'
	fi
	judge 'start to first probe' '< 50 ms' "$start_ms ms; 60 s log: ${start_log_ms%.*}" "$start_ms < 50"
	judge 'resident memory, histogram only' '< 8 MB' "$peak_kb kB" "$peak_kb < 8192"
	if [[ ${log_records:-} ]]; then
		judge 'writing the log' '>= 3000000 records/s' "$log_records" "$log_records >= 3000000"
	else
		unmeasured 'writing the log' '>= 3000000 records/s'
	fi
	judge 'any run length: nothing grows' '0 kB in 1.5 s' "$growth_kb kB" "$growth_kb <= 0"
}

# The machine, before the figures.
heading() {
	say '%s on Linux %s, %s; emitter on CPU %d, reflector on CPU %d; load average %s\n\n' "$("$rant" --version)" "$(uname -r)" \
		"$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)" "$cpu_e" "$cpu_r" "$(cut -d' ' -f1-3 /proc/loadavg)"
}

against_bare_loops() {
	local subjects

	compile
	choose_subjects
	measure_rates "${subjects[@]}"
	write_ratios
	calls_per_round_trip
	start_up
	resident_memory
	log_rate
	instructions "$rant"
	write_budgets
}

against_old() {
	say 'rant is %s, old is %s\n\n' "$rant" "$old"
	measure_rates rant-kernel old-kernel rant-user old-user
	write_ratios
	instructions "$rant"
	instructions "$old"
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
	net_r=$(ip netns exec "$ns_r" readlink /proc/self/ns/net)
	heading
	if [[ $old ]]; then
		against_old
	else
		against_bare_loops
	fi
	say '\nLoad average at the end %s; about 2 is this report itself, what is above it was in its way.\n' \
		"$(cut -d' ' -f1-3 /proc/loadavg)"
}

main
