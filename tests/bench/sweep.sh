#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# sweep.sh [RANT] [--stamp SOURCE] [-- OPTION...]: the same test at growing rates, on a veth pair of its own, one line a rate; and
# the knee at the end. RANT is ./rant unless given, SOURCE kernel; the options after -- are the emitter's. Root.
# HOST=ADDRESS sweep.sh [RANT] -i IFACE [--stamp SOURCE] [-- OPTION...]: only the emitter, from IFACE, against a reflector that
# runs on another host. Where it runs here is the caller's: by taskset, chrt, nsenter.
#
#   RATES="1000 2000 ..."   probes a second, growing, up to 1000000: --interval is 1 s / RATE
#   SECONDS_EACH=3          of each rate, 1 to 3600
#   REFLECTOR="OPTION..."   of the reflector that is started here
#   CPUS="3 2"              CPUs of emitter and reflector. Default: the first two that this shell may use
#
# The knee is the highest rate up to which each rate
#   - was reached: round trips a second are at least 99 % of the probes that were asked for,
#   - lost nothing,
#   - was as quick: its 99th percentile is at most twice that of the lowest rate.
# The first rate that fails gives the reason. An unknown figure does not count as a failure or a success.
#
# A report, not a test: the exit status is 0 whatever the figures, and 1 if it could not run.
set -euo pipefail
export LC_ALL=C

here=$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")
# shellcheck source=tests/bench/pair.sh
source "$here/pair.sh"

reached_least=99 # % of the requested rate
slower_most=2    # times the 99th percentile of the lowest rate
most_rates=100   # in a sweep

# ---- Input --------------------------------------------------------------------------------------------------------------

usage="usage: [HOST=ADDRESS] sweep.sh [RANT] [-i IFACE] [--stamp SOURCE] [-- OPTION...]"

# is_number TEXT LEAST MOST
is_number() {
	[[ $1 =~ ^[1-9][0-9]{0,8}$ ]] && (($1 >= $2 && $1 <= $3))
}

# Sets rant, interface, stamp, of_emitter.
read_arguments() {
	rant=./rant interface='' stamp=kernel of_emitter=()
	if (($#)) && [[ $1 != -* ]]; then
		rant=$1
		shift
	fi
	while (($#)); do
		case $1 in
		--)
			of_emitter=("${@:2}")
			return
			;;
		-i | --stamp)
			[[ ${2:--} != -* ]] || die "$1 has no value: $usage"
			if [[ $1 == -i ]]; then interface=$2; else stamp=$2; fi
			shift 2
			;;
		*) die "'$1' is not known: $usage" ;;
		esac
	done
}

# Sets host, seconds, rates, of_reflector.
read_environment() {
	local rate before=0

	host=${HOST:-} seconds=${SECONDS_EACH:-3}
	read -ra of_reflector <<<"${REFLECTOR:-}"
	is_number "$seconds" 1 3600 || die "SECONDS_EACH is '$seconds': give a whole number from 1 to 3600"
	read -ra rates <<<"${RATES-1000 2000 5000 10000 20000 50000 100000 200000 500000}"
	((${#rates[@]} > 0 && ${#rates[@]} <= most_rates)) || die "RATES are ${#rates[@]}: give 1 to $most_rates"
	for rate in "${rates[@]}"; do
		is_number "$rate" 1 1000000 || die "RATES: '$rate' is no whole number from 1 to 1000000"
		((rate > before)) || die "RATES: $rate comes after $before: give them growing"
		before=$rate
	done
}

check_input() {
	local tool

	[[ $stamp =~ ^(hardware|kernel|user)$ ]] || die "--stamp is '$stamp': give hardware, kernel or user"
	[[ $host || ! $interface ]] || die "-i is for HOST=ADDRESS: without it there is a veth pair"
	[[ ! $host || $interface ]] || die "HOST needs -i IFACE"
	[[ ! $host || ! ${of_reflector[*]} ]] || die "REFLECTOR is for the reflector that is started here: give its options at $host"
	[[ $host || $EUID -eq 0 ]] || die "network namespaces need root: use sudo"
	[[ -f $rant && -x $rant ]] || die "$rant: not there or not executable: run 'make' first, or give its path"
	rant=$(realpath -- "$rant")
	for tool in ip taskset timeout awk; do
		have "$tool" || die "$tool is not installed"
	done
}

# ---- Figures ------------------------------------------------------------------------------------------------------------

columns='  %8s %9s %9s %9s %9s %9s %11s %8s %8s\n'

# row_of ASKED <REPORT: prints the line of a rate. A figure that the report lacks is "-"; a percentile with only a lower bound
# begins with ">"; "<" is before a share that is not 0 but too small to be printed. Fails if it is not the report of an emitter.
row_of() {
	awk -v asked="$1" -v columns="$columns" '
		function share(part, all) {
			if (part == "" || all == "" || all + 0 == 0) return "-"
			return part > 0 && part / all < 1e-6 ? "<0.0001" : sprintf("%.4f", part * 100 / all)
		}
		function known(value) { return value == "" ? "-" : value }
		function us(first, second) { return first == ">=" ? ">" second : first }
		/^MIN:.* Total Samples:/ { samples = $NF; for (i = 1; i < NF; i++) if ($i == "MAX:") max = sprintf("%.3f", $(i + 1) / 1e3) }
		/^ +50th +:/ && p50 == "" { p50 = us($3, $4) }
		/^ +99th +:/ && p99 == "" { p99 = us($3, $4) }
		/^ +99\.9th +:/ && p999 == "" { p999 = us($3, $4) }
		/^Rate: [0-9]+ round trips/ { reached = $2 }
		/^  Slots +:/ { slots = $3 }
		/^  Missed +:/ { missed = $3 }
		/^  Sent +:/ { sent = $3 }
		/^  Closing +:/ { closing = $3 }
		/^  Lost +:/ { lost = $3 }
		END {
			if (sent == "") exit 1
			printf columns, asked, known(reached), known(samples), known(p50), known(p99), known(p999), known(max),
				share(lost, sent - closing), share(missed, slots)
		}'
}

# knee <LINES: prints the knee from the lines of all rates; other lines are ignored.
knee() {
	awk -v reached_least="$reached_least" -v slower_most="$slower_most" '
		function add(text) { why = why (why == "" ? "" : "; ") text }
		function judge(  p99) {
			why = ""
			p99 = $5
			if ($2 == "-") add("no rate is known")
			else if ($2 * 100 < $1 * reached_least) add(sprintf("%d/s were reached, %.1f %%", $2, $2 * 100 / $1))
			if ($8 == "-") add("the loss is not known")
			else if ($8 + 0 > 0 || $8 ~ /^</) add($8 " % were lost")
			if (p99 !~ /^[0-9.]+$/) add("the 99th percentile is not known (" p99 ")")
			else if (lines == 1) base = p99
			else if (base == "") add("the 99th percentile of the lowest rate is not known")
			else if (p99 > slower_most * base)
				add(sprintf("the 99th percentile is %s us, %.1f times that of the lowest rate", p99, p99 / base))
			return why == ""
		}
		NF == 9 && $1 ~ /^[0-9]+$/ {
			lines++
			if (judge()) { if (failed == "") best = $1; else again = again " " $1 }
			else if (failed == "") { failed = $1; reason = why }
		}
		END {
			if (!lines) print "Knee: not known: there is no line of a rate"
			else if (failed == "") printf "Knee: none up to %d/s: give higher RATES\n", best
			else if (best == "") printf "Knee: below %d/s, where %s\n", failed, reason
			else printf "Knee: %d/s. At %d/s %s\n", best, failed, reason
			if (again != "") print "Above it there is no fault at" again ": was the machine disturbed?"
		}'
}

# ---- Runs ---------------------------------------------------------------------------------------------------------------

# run_emitter OPTION...: to its end.
run_emitter() {
	local command=(timeout -k 5 $((seconds + 60)) "$rant" --details -i "$interface" -a "$host" --stamp "$stamp" "$@" "${of_emitter[@]}")

	if [[ $remote ]]; then
		"${command[@]}" >"$work/e.out" 2>"$work/e.err" &
		pid_e=$!
	else
		start_emitter "${command[@]}"
	fi
	wait_for_emitter
}

sweep() {
	local rate row

	# Neighbours find each other, and the kernel begins to stamp.
	run_emitter -q --count 100 --interval 1ms -d 10
	# shellcheck disable=SC2059 # the format of all lines
	printf "$columns" rate/s reached/s samples '50th us' '99th us' '99.9th us' 'maximum us' 'lost %' 'missed %'
	for rate in "${rates[@]}"; do
		run_emitter -H --interval "$(awk "BEGIN { printf \"%.3fus\", 1e6 / $rate }")" -d "$seconds"
		row=$(row_of "$rate" <"$work/e.out") || die "the emitter told nothing at $rate/s: do options behind -- keep it from that?"
		printf '%s\n' "$row" | tee -a "$work/rows"
		[[ $remote ]] || kill -0 "$pid_r" 2>/dev/null || die "the reflector has ended: $(tail -n 1 "$work/r.err")"
	done
	knee <"$work/rows"
}

main() {
	local remote
	read_arguments "$@"
	read_environment
	check_input
	remote=$host
	trap clean_up EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	work=$(mktemp -d)
	defer rm -rf -- "$work"
	printf '%s on Linux %s, %s, %d CPUs; %d s each, --stamp %s%s\n\n' "$("$rant" --version | sed -n 1p)" "$(uname -r)" \
		"$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)" "$(nproc)" "$seconds" "$stamp" \
		"${of_emitter[*]:+ ${of_emitter[*]}}"
	if [[ ! $remote ]]; then
		choose_cpus
		make_network
		interface=$if_e host=$ip_r
		start_reflector "$rant" -i "$if_r" --stamp "$stamp" -q "${of_reflector[@]}"
	fi
	sweep
	printf 'Load average at the end %s; about 1 to 2 is this sweep itself.\n' "$(cut -d' ' -f1-3 /proc/loadavg)"
}

# The test of its figures reads it, and runs nothing.
[[ ${BASH_SOURCE[0]} != "$0" ]] || main "$@"
