#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The whole program on a veth pair between two network namespaces, with good peers and bad ones. Root.
#
#   namespace.sh RANT HOSTILE [SPIKE]     SPIKE: the library made of lab/spike.c; without it no spikes and faults are made
#
#   ONLY=REGEX    only the tests whose name matches
#
# Prints "ok - NAME", "not ok - NAME" and lines that begin with "# ". Exit status 1 when anything failed.
#
# A test is a line: its name, the expected exit status, the arguments, and what must be true after it (see `check`).
# After every run of rant its accounts are added up again from what it printed (see `audit`). The machine may be busy:
# no time here is compared with anything but a generous range, and a limit is only a guard against a hang.
# Text in single quotes is for awk and sh; functions are called by the names that tests give to `check` and `poll`.
# shellcheck disable=SC2016,SC2317
set -uo pipefail
export LC_ALL=C

if [ $# -lt 2 ] || [ $# -gt 3 ]; then
	echo "usage: namespace.sh RANT HOSTILE [SPIKE]" >&2
	exit 1
fi
if [ "$(id -u)" -ne 0 ]; then
	echo "ok - namespace tests # SKIP they make network namespaces, which needs root: sudo make check"
	exit 0
fi
for tool in ip nsenter timeout awk; do
	if ! command -v "$tool" >/dev/null; then
		echo "ok - namespace tests # SKIP '$tool' is not installed"
		exit 0
	fi
done

[ -n "${WITH_TRACEFS:-}" ] || exec "$(dirname "$0")/../with_tracefs.sh" "$0" "$@"

GUARD_S=60 # a program that runs longer hangs

# ---- Two namespaces, and removing them -------------------------------------------------------------------------------

declare -A ns=([e]="rant-e-$$" [r]="rant-r-$$") # where emitters and reflectors run
link_e="re$$" link_r="rr$$"                     # the pair between them
link_bare="rn$$" link_down="rd$$"               # emitters' side: up without an address; down
ip_e=10.77.0.1 ip_r=10.77.0.2 ip_second=10.77.0.3 ip_nobody=10.77.0.99 ip_broadcast=10.77.0.255
allowed=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)
first_cpu=${allowed%%[,-]*} last_cpu=${allowed##*[,-]}
work=$(mktemp -d /tmp/rant-namespace.XXXXXX) || exit 1
logs=$work/logs
declare -A guard=() # name of a program that was started: process of its timeout(1)

# The process that timeout(1) guards.
program_of() {
	local child

	# The file does not end in a newline, so read fails although it has read.
	read -r child _ 2>/dev/null <"/proc/$1/task/$1/children"
	[ -n "${child:-}" ] && echo "$child"
}

remove_all() {
	local name child

	trap '' INT TERM
	for name in "${!guard[@]}"; do
		child=$(program_of "${guard[$name]}")
		[ -z "$child" ] || kill -KILL "$child" 2>/dev/null
		kill -KILL "${guard[$name]}" 2>/dev/null
	done
	wait
	ip netns del "${ns[e]}" 2>/dev/null
	ip netns del "${ns[r]}" 2>/dev/null
	rm -rf "$work"
}
trap remove_all EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# By nsenter and not by ip netns exec: /sys then shows another namespace, which rant has to bear.
inside() {
	local side=$1

	shift
	nsenter --net="/var/run/netns/${ns[$side]}" "$@"
}

# Known neighbours: no ARP packet moves the counters of the links.
know_neighbours() {
	local mac_e mac_r

	mac_e=$(ip -n "${ns[e]}" -o link show dev "$link_e" | sed 's/.*link.ether \([^ ]*\).*/\1/')
	mac_r=$(ip -n "${ns[r]}" -o link show dev "$link_r" | sed 's/.*link.ether \([^ ]*\).*/\1/')
	ip -n "${ns[e]}" neigh replace "$ip_r" lladdr "$mac_r" nud permanent dev "$link_e" &&
		ip -n "${ns[e]}" neigh replace "$ip_second" lladdr "$mac_r" nud permanent dev "$link_e" &&
		ip -n "${ns[e]}" neigh replace "$ip_nobody" lladdr 02:00:00:00:00:99 nud permanent dev "$link_e" &&
		ip -n "${ns[r]}" neigh replace "$ip_e" lladdr "$mac_e" nud permanent dev "$link_r"
}

build_namespaces() {
	local side

	for side in e r; do
		ip netns add "${ns[$side]}" || return 1
		# IPv6 sends on its own when a link comes up.
		inside "$side" sh -c 'for f in /proc/sys/net/ipv6/conf/*/disable_ipv6; do
			[ ! -e "$f" ] || echo 1 >"$f"; done'
		ip -n "${ns[$side]}" link set lo up || return 1
	done
	ip link add name "$link_e" netns "${ns[e]}" type veth peer name "$link_r" netns "${ns[r]}" &&
		ip link add name "$link_bare" netns "${ns[e]}" type veth peer name "$link_down" netns "${ns[e]}" &&
		ip -n "${ns[e]}" link set "$link_e" up && ip -n "${ns[r]}" link set "$link_r" up &&
		ip -n "${ns[e]}" link set "$link_bare" up &&
		ip -n "${ns[e]}" address add "$ip_e/24" brd + dev "$link_e" &&
		ip -n "${ns[r]}" address add "$ip_r/24" brd + dev "$link_r" &&
		ip -n "${ns[r]}" address add "$ip_second/24" dev "$link_r" && know_neighbours
}

if ! build_namespaces 2>"$work/build.err"; then
	echo "ok - namespace tests # SKIP no network namespaces or no veth here: $(head -1 "$work/build.err")"
	exit 0
fi
mkdir "$logs"
# Copies that nobody may run, wherever the tree is.
chmod 711 "$work"
chmod 1777 "$logs"
install -m 755 "$1" "$work/rant" || exit 1
install -m 755 "$2" "$work/hostile" || exit 1
rant=$work/rant hostile=$work/hostile spike=
million=1000000
if [ $# -eq 3 ]; then
	install -m 644 "$3" "$work/spike.so" || exit 1
	spike=$work/spike.so
fi

# ---- Verdicts --------------------------------------------------------------------------------------------------------

failed=0 test_name=""
declare -a complaints=()
declare -A status=() # of a program that ended
declare -A moved=()  # packets that a side had sent when the test began

complain() {
	complaints+=("$*")
}

sent_by() {
	inside "$1" awk -F '[: ]+' '/:/ { sub(/^ +/, ""); sum += $11 } END { print sum + 0 }' /proc/net/dev
}

# False: not asked for.
begin() {
	test_name=$1
	[[ $test_name =~ ${ONLY:-} ]] || return 1
	complaints=() status=() moved=([e]=$(sent_by e) [r]=$(sent_by r))
	rm -rf "${work:?}"/*.out "$work"/*.err "$work"/*.tty "${logs:?}"/*
}

verdict() {
	local name file

	for file in "$logs"/*.??????; do
		[ ! -e "$file" ] || complain "a temporary file was left behind: ${file##*/}"
	done
	if [ ${#complaints[@]} -eq 0 ]; then
		echo "ok - $test_name"
		return
	fi
	failed=1
	echo "not ok - $test_name"
	printf '# %s\n' "${complaints[@]}"
	for name in "${!status[@]}"; do
		echo "# $name ended with status ${status[$name]}"
		for file in "$work/$name.err" "$work/$name.out"; do
			[ -s "$file" ] || continue
			echo "# ${file##*/}:"
			head -60 "$file" | cut -c 1-200 | cat -v | sed 's/^/#   /'
		done
	done
}

skip() {
	[[ $1 =~ ${ONLY:-} ]] && echo "ok - $1 # SKIP $2"
}

# ---- Running programs ------------------------------------------------------------------------------------------------

# poll CONDITION...: until the command succeeds; a failure of the test when that takes too long.
poll() {
	local until=$((SECONDS + GUARD_S))

	until "$@"; do
		if [ "$SECONDS" -ge "$until" ]; then
			complain "waited $GUARD_S s in vain for: $*"
			return 1
		fi
		sleep 0.02
	done
}

# start NAME SIDE COMMAND...: in the background; its output is in NAME.out and NAME.err. The signals that a shell makes
# its background programs ignore are as at a terminal.
start() {
	local name=$1 side=$2

	shift 2
	: >"$work/$name.out"
	timeout --foreground -k 5 "$GUARD_S" env --default-signal=INT,QUIT,HUP,TERM \
		nsenter --net="/var/run/netns/${ns[$side]}" "$@" \
		>"${stdout:-$work/$name.out}" 2>"${stderr:-$work/$name.err}" </dev/null &
	guard[$name]=$!
}

# By its guard: just after the start there is no other process yet.
is_running() {
	kill -0 "${guard[$1]}" 2>/dev/null
}

# The program that `start` started, as against its guard.
pid_of() {
	program_of "${guard[$1]}"
}

send() {
	local child

	child=$(pid_of "$2")
	[ -n "$child" ] && kill "-$1" "$child" 2>/dev/null
}

finish() {
	local name

	for name in "$@"; do
		wait "${guard[$name]}" 2>/dev/null
		status[$name]=$?
		unset "guard[$name]"
		[ "${status[$name]}" -ne 124 ] || complain "$name hung: it was ended after $GUARD_S s"
	done
}

# Bound to the port, or gone.
has_port() {
	local child

	is_running "$1" || return 0
	child=$(pid_of "$1")
	[ -n "$child" ] && grep -qi ":$(printf '%04x' "$2") " "/proc/$child/net/udp" 2>/dev/null
}

has_sent() {
	! is_running "$1" || [ "$(sent_by "$2")" -ge "$3" ]
}

# Starts a reflector or an emitter and waits until it is ready; LOG in the arguments becomes a path.
start_reflector() {
	local name=$1
	local -a words prefix

	shift
	read -ra prefix <<<"${as:-}"
	read -ra words <<<"${*//LOG/$logs/$name.log}"
	start "$name" r taskset -c "$last_cpu" "${prefix[@]}" "$rant" -i "${link:-$link_r}" "${words[@]}"
	poll has_port "$name" "${port:-862}"
}

start_emitter() {
	local name=$1
	local -a words prefix

	shift
	read -ra prefix <<<"${as:-}"
	read -ra words <<<"${*//LOG/$logs/$name.log}"
	stdout=${emitter_stdout:-} start "$name" "${emitter_side:-e}" taskset -c "$first_cpu" "${prefix[@]}" \
		"$rant" -i "${link:-$link_e}" -a "${server:-$ip_r}" "${words[@]}"
}

# Until it has sent so many more packets than when the test began.
wait_for_packets() {
	poll has_sent "$1" "$2" $((moved[$2] + $3))
}

# ---- Checks ----------------------------------------------------------------------------------------------------------

# row NAME ROW: a count of its report; blanks in a row's name are written as _.
row() {
	awk -F ' *:  ' -v row="  ${2//_/ }" '$1 == row { print $2 + 0; found = 1; exit } END { exit !found }' "$work/$1.out"
}

value() {
	case $1 in
	[a-z]*:*) row "${1%%:*}" "${1#*:}" || echo "no row $1" ;;
	*) echo "$1" ;;
	esac
}

#   NAME.out ~ REGEX, NAME.err !~ REGEX    some line matches, none does
#   NAME.out empty
#   NAME:Row -eq 5, NAME:Row -ge OTHER:Row  a count of the report
#   @function arguments                     complains by itself
check() {
	local what op want left right

	read -r what op want <<<"$1"
	case $what in
	@*)
		# shellcheck disable=SC2086 # words
		${what#@} $op $want
		;;
	*.out | *.err)
		case $op in
		'~') grep -Eq -- "$want" "$work/$what" || complain "no line of $what matches: $want" ;;
		'!~') ! grep -Eq -- "$want" "$work/$what" || complain "a line of $what matches: $want" ;;
		empty) [ ! -s "$work/$what" ] || complain "$what is not empty" ;;
		*) complain "test error: $1" ;;
		esac
		;;
	*:*)
		left=$(value "$what") right=$(value "$want")
		test "$left" "$op" "$right" 2>/dev/null || complain "$1 is not so: $left $op $right"
		;;
	*) complain "test error: $1" ;;
	esac
}

expect_status() {
	[ "${status[$1]}" = "$2" ] || complain "$1: exit status ${status[$1]}, not $2"
}

# Nothing left through any interface.
silent() {
	local side

	for side in e r; do
		[ "$(sent_by "$side")" -eq "${moved[$side]}" ] || complain "packets were sent on side $side"
	done
}

# One line on stderr, from rant.
one_line() {
	[ "$(wc -l <"$work/$1.err")" -eq 1 ] || complain "$1.err has not one line"
	grep -q '^rant: ' "$work/$1.err" || complain "$1.err is not from rant"
}

# The identities of struct account, of the histogram and of the log, from the text of a report.
audit() {
	local name=$1

	! grep -qs 'do not balance' "$work/$name.err" || complain "$name says that its accounts do not balance"
	! grep -qs $'\033' "$work/$name.err" || complain "$name drew progress although stderr is no terminal"
	grep -q '^Packets:' "$work/$name.out" || return 0
	while IFS= read -r line; do
		complain "$name: $line"
	done < <(awk '
		function same(what, a, b) { if (a != b) print what ": " a " is not " b }
		/^Packets:/ { table = 1 }
		/^(Directions|Reflector.s stamps)/ { table = 3 }
		/^Missing stamps:/ { table = 2 }
		/^(Response|Network) Histogram:/ { parts = 1 }
		/^  Buckets \(us\):/ { buckets = !parts; next }
		/^$/ { if (table == 2) table = 0; buckets = 0 }
		table == 1 && match($0, /^  [A-Z][A-Za-z -]*[a-zA-Z] *:  /) {
			key = substr($0, 3, RLENGTH - 5); sub(/ *:$/, "", key); sub(/ +$/, "", key)
			n[key] = substr($0, RLENGTH + 1) + 0
		}
		buckets { line = $0; sub(/.*\) :|.* - +[0-9.]+ :/, "", line); split(line, f, " "); in_buckets += f[1]; any = 1 }
		/^MIN: / { total = $0; sub(/.*Total Samples: /, "", total); total += 0 }
		/^  Samples   :/ && !parts { samples = $3; summary = 1 }
		/^Log: / { log_line = 1; used = $2; of = $4
			if (match($0, /[0-9]+ left out/) || match($0, /[0-9]+ older ones were overwritten/)) left = substr($0, RSTART) + 0
			if (match($0, /[0-9]+ not above/)) below = substr($0, RSTART) + 0 }
		END {
			placed = n["Warm-up"] + n["Recorded"] + n["Unstamped"] + n["Negative"] + n["Stepped"]
			if ("Lost" in n) {
				same("Sent", n["Sent"], placed + n["Lost"] + n["Unfinished"] + n["Closing"])
				rest = n["Received"] - placed - n["Late"] - n["Duplicate"] - n["Foreign"] - n["Malformed"] - n["Unverified"]
				if (rest < 0 || rest > n["Unfinished"] + n["Closing"]) print "Received: " n["Received"] ", of these " rest " nowhere"
			} else {
				same("Sent", n["Sent"], placed)
				same("Received", n["Received"], n["Sent"] + n["Foreign"] + n["Malformed"] + n["Unverified"] + n["Unanswered"])
				if (n["Evicted"] > 0) same("Sessions", n["Sessions"], n["Evicted"] + 1024)
			}
			same("Total Samples", total, n["Recorded"])
			if (summary) same("Samples", samples, total)
			if (any) same("sum of the buckets", in_buckets, total)
			if (log_line) { same("records of the log", used + left + below, of); same("Log of", of, total) }
		}' "$work/$name.out")
}

# rows_are NAME HOSTILE: every account that the bad peer tells is that of rant. A probe whose good answer was slow,
# because the machine was busy, is lost and late at once: only the difference is compared.
rows_are() {
	local pair name want have slow
	local -a words

	read -ra words <"$work/$2.out"
	for pair in "${words[@]}"; do
		name=${pair%%=*} want=${pair#*=}
		case $name in
		sent) have=$(($(row "$1" Received) - ${others:-0})) ;;
		good) have=$(($(row "$1" Sent) - ${others:-0})) ;;
		probes) have=$(row "$1" Sent) ;;
		malformed | foreign | duplicate | reordered | strays) have=$(row "$1" "${name^}") ;;
		bad_tlvs) have=$(row "$1" Bad_TLVs) ;;
		sessions) have=$(($(row "$1" Sessions) - ${other_sessions:-0})) ;;
		late)
			slow=$(($(row "$1" Late) - want))
			[ "$slow" -ge 0 ] || complain "Late is $slow more than $want"
			continue
			;;
		lost) have=$(($(row "$1" Lost) - slow_allowed)) ;;
		*) continue ;;
		esac
		[ "$have" = "$want" ] || complain "the bad peer says $pair, $1 says $have"
	done
	grep -q '^hostile ' "$work/$2.out" || complain "the bad peer told nothing"
}

# ---- The log ---------------------------------------------------------------------------------------------------------

# awk would say nothing about a file that is not there.
has_log() {
	[ -s "$logs/$1.log" ] || { complain "there is no $1.log" && false; }
}

# columns NAME COLUMN...: the header, in order and in its widths (10, 30 each, 15), the rule, and every line in these
# widths.
columns() {
	local name=$1 line

	has_log "$name" || return
	shift
	while IFS= read -r line; do
		complain "$name.log: $line"
	done < <(awk -v want="$*" '
		function field(i) {
			at = i == 1 ? 1 : 12 + (i - 2) * 31
			text = substr($0, at, i == 1 ? 10 : i == n ? 15 : 30)
			if (i > 1 && substr($0, at - 1, 1) != " ") print "line " NR ": no blank before column " i
			sub(/^ +/, "", text)
			return text
		}
		BEGIN { n = split(want, names, " ") }
		NR == 2 { if ($0 !~ /^-+$/ || length($0) != 150) print "line 2 is no rule of 150 dashes"; next }
		{
			if (length($0) != 10 + 31 * (n - 2) + 16) { print "line " NR " has " length($0) " characters"; exit }
			for (i = 1; i <= n; i++) {
				text = field(i)
				pattern = i == 1 || i == n ? "^[0-9]+$" : "^[0-9]+[.][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9]$"
				if (NR == 1 ? text != names[i] : text !~ pattern && text != "-") {
					print "line " NR ", column " i ": " text; exit
				}
			}
		}
		END { if (NR < 3) print "has no records" }' "$logs/$name.log")
}

# log_agrees NAME FROM TO: the last column is the difference of two stamps; the file has as many records as the report
# says; and minimum, maximum, average and percentiles of the report are those of the records, when all are there.
log_agrees() {
	local line

	has_log "$1" || return
	while IFS= read -r line; do
		complain "$1.log: $line"
	done < <(awk 'NR > 2 { print $NF }' "$logs/$1.log" | sort -n | awk -v from="$2" -v to="$3" '
		function ns(later, earlier) {
			split(later, a, "."); split(earlier, b, ".")
			return (a[1] - b[1]) * 1000000000 + a[2] - b[2]
		}
		function rank(q, r) { r = int(q * n / 100); if (r < q * n / 100 - 1e-9) r++; return value[r < 1 ? 1 : r] }
		part == 0 { value[++n] = $1; sum += $1; next }
		part == 1 {
			if (FNR == 1) for (i = 1; i <= NF; i++) { if ($i == from) f = i; if ($i == to) t = i }
			if (FNR == 1 && (!f || !t)) { print "no column " from " or " to; exit }
			if (FNR > 2 && ns($t, $f) != $NF) { print "SEQ " $1 ": " to " - " from " is not " $NF; exit }
			next
		}
		/^Log: / && $2 != n { print "has " n " records, the report says " $2 }
		/^Log: / && $2 == $4 { complete = 1 }
		/^MIN: / { min = $2; max = $6; avg = $10 }
		/Percentiles/ { summary = 1 }
		/^(Response|Network) Histogram:/ { parts = 1 }
		/^    [0-9.]+th *:  / && !parts { q = $1 + 0; p = $0; sub(/.*:  /, "", p); percentile[q] = p + 0 }
		END {
			if (!complete || !n) exit
			if (min != value[1] || max != value[n]) print "MIN and MAX should be " value[1] " " value[n]
			if (avg - sum / n > 1 || sum / n - avg > 1) print "AVG should be " sum / n
			for (q in percentile) {
				count++
				if (sprintf("%.3f", rank(q) / 1000) != sprintf("%.3f", percentile[q]))
					print q "th percentile should be " rank(q) / 1000 ", not " percentile[q]
			}
			if (summary && count < 6) print "the report has only " count + 0 " percentiles"
		}' part=0 - part=1 "$logs/$1.log" part=2 "$work/$1.out")
}

# logs_join: the records of the emitter are those of the reflector, and the times of one exchange are in order: all are
# of one clock here.
logs_join() {
	local line

	{ has_log e && has_log r; } || return
	while IFS= read -r line; do
		complain "join: $line"
	done < <(awk -v unstamped="$(row r Unstamped)" '
		FNR == 1 { part++; for (i = 2; i < NF; i++) name[part, i] = $i; next }
		FNR == 2 { next }
		part == 1 { for (i = 2; i < NF; i++) if (name[1, i] ~ /^T2/) { t2[$1] = "x" $i; break }
			for (; i < NF; i++) t3[$1] = "x" $i; next }
		{
			records++
			if (!($1 in t2)) { missing++; next }
			t4 = ""
			for (i = 2; i < NF; i++) {
				if (name[2, i] ~ /^T1/) t1 = "x" $i
				if (name[2, i] ~ /^T4/ && !t4) t4 = "x" $i
			}
			if (t1 > t2[$1] || t2[$1] > t3[$1] || t3[$1] > t4) { print "SEQ " $1 ": times out of order"; exit }
		}
		END {
			if (!records || missing + 0 > unstamped + 0)
				print missing + 0 " of " records + 0 " records have no other half"
		}' "$logs/r.log" "$logs/e.log")
}

first_record() {
	[ "$(awk 'NR == 3 { print $1 }' "$logs/$1.log")" = "$2" ] || complain "the first record of $1.log is not SEQ $2"
}

# ---- The report, line by line ----------------------------------------------------------------------------------------

count_line() { # name, meaning, which a count of 0 need not have
	printf '^  %-10s:  (0|[0-9]+%s)$\n' "$1" "${2:+  \\($2\\)}"
}

# What an emitter's report has of the reflector, with -H.
parts_template() {
	local number='[0-9]+' us='[0-9]+\.[0-9]{3}' name

	for name in Response Network; do
		cat <<-END
			^$
			^$name Histogram \(us\):$
			^  $number samples from $us \(#$number\) to $us \(#$number\)$
			^  average $us, standard deviation $us$
			^  50th $us, 90th $us, 95th $us, 99th $us, 99\.9th $us, 99\.99th $us$
			* ^  [ 0-9]{8}\.[0-9]{3} - [ 0-9]{8}\.[0-9]{3} : [ 0-9]{12} [ 0-9]{3}\.[0-9]{4}%$
			^  [ 0-9]{8}\.[0-9]{3} -   \(overflow\) : [ 0-9]{12} [ 0-9]{3}\.[0-9]{4}%$
		END
	done
	cat <<-END
		^$
		^Stages \(us\): +Samples +Negative +50th +90th +95th +99th +99\.9th +99\.99th +Maximum +Average$
		^  Response +T3_KERNEL - T2_KERNEL( +$number){2}( +$us){8}$
		^  Network +RTT - RESPONSE( +$number){2}( +$us){8}$
		^  Forward +\+-$us us( +$number){2}( +$us){8}$
		* ^  Forward, variation +above its minimum( +$number){2}( +$us){8}$
		^  Backward +\+-$us us( +$number){2}( +$us){8}$
		* ^  Backward, variation +above its minimum( +$number){2}( +$us){8}$
		^  Forward and backward are within \+-$number ns \(at the end \+-$number\): the clocks were compared by the exchanges themselves$
	END
}

directions_template() {
	echo '^$'
	echo '^Directions:$'
	count_line 'Lost there' '.*'
	count_line 'Lost back' '.*'
	echo '^$'
	echo "^Reflector's stamps, by its kernel \(T3_KERNEL comes with the next reply\):\$"
	count_line Complete
	count_line 'Reply lost' '.*'
	count_line Unknown '.*'
	count_line Untold '.*'
	count_line Mixed '.*'
	count_line 'At the end' '.*'
}

# The lines of a report with -H, in order. "* REGEX": any number of such lines.
report_template() {
	local role=$1 latency=$2 number='[0-9]+' p

	cat <<-END
		^Test is complete\. Duration: [0-9]+\.[0-9]{2} s$
		^$
		^--- Latency Statistics ---$
		^MIN: $number ns \| MAX: $number ns \| AVG: $number ns \| Total Samples: $number$
		^$
		^Histogram Summary:$
		^  Samples   :  $number$
		^  Minimum   :  $number\.[0-9]{2} us \(#$number\)$
		^  Maximum   :  $number\.[0-9]{2} us \(#$number\)$
		^  Average   :  $number\.[0-9]{2} us$
		^  Percentiles \(us\):$
		^    50th    :  $number\.[0-9]{3} \(Median\)$
	END
	for p in '90th   ' '95th   ' '99th   ' '99\.9th ' '99\.99th'; do
		echo "^    $p ?:  $number\\.[0-9]{3}\$"
	done
	cat <<-END
		^  Std dev   :  $number\.[0-9]{3} us$
		^  Buckets \(us\):$
		* ^  [ 0-9]{8}\.[0-9]{3} - [ 0-9]{8}\.[0-9]{3} : [ 0-9]{12} [ 0-9]{3}\.[0-9]{4}%$
		^  [ 0-9]{8}\.[0-9]{3} -   \(overflow\) : [ 0-9]{12} [ 0-9]{3}\.[0-9]{4}%$
	END
	[ "$role" = r ] || parts_template
	cat <<-END
		^$
		^Latency: $latency$
		^$
		^Packets:$
	END
	count_line Sent
	count_line Received
	count_line Warm-up 'answered, left out of the statistics'
	count_line Recorded
	[ "$role" = r ] || count_line Lost 'no reply within --timeout'
	count_line Unstamped 'answered, but a stamp is missing: not recorded'
	count_line Negative 'the clock went back: not recorded'
	count_line Stepped 'a clock was set in between: not recorded'
	if [ "$role" = e ]; then
		count_line Unfinished interrupted
		count_line Closing 'sent after the end, to hear when the last reply left'
		count_line Late 'replies to probes that were given up'
		count_line Duplicate 'replies that came again'
	else
		count_line Duplicate 'requests that came again, answered'
	fi
	count_line Reordered 'came after a later one'
	if [ "$role" = e ]; then
		count_line Foreign 'not an answer to a probe of this run'
		count_line Malformed
		count_line Unverified 'the HMAC is wrong or missing: not used'
		count_line 'Bad TLVs' 'of replies: malformed, or marked so'
		count_line 'Bad HMACs' 'of replies: .*'
	else
		count_line Foreign "not answered: .*"
		count_line Malformed
		count_line Unverified 'the HMAC is wrong or missing: not used'
		count_line 'Bad TLVs' 'answered, marked as malformed'
		count_line Unanswered 'the kernel did not take the reply'
	fi
	count_line Refused 'by the kernel: sends, and errors it reported'
	if [ "$role" = e ]; then
		count_line Strays 'to our port from others than the server, dropped'
	else
		count_line Sessions
		count_line Evicted 'sessions forgotten for newer ones'
	fi
	[ "$role" = r ] || directions_template
	echo '^$'
	echo '^Missing stamps:$'
	count_line Transmit
	count_line Receive
	count_line 'Came late' 'transmit stamps after --timeout'
	count_line 'Came twice' 'transmit stamps'
	count_line Unmatched 'transmit stamps of no packet in flight'
	count_line Truncated 'control messages'
	count_line Other 'entries of the error queue, not our stamps'
	echo '^$'
	echo "^Rate: [0-9]+ $([ "$role" = e ] && echo 'round trips' || echo responses)/s\$"
	echo '^$'
	echo '* ^Note: tracing is on \(.*\): it moves what is measured$'
	echo '^Measurement: (trusted|doubtful: .*)$'
}

report_is() { # name, words of the latency line
	local name=$1 line i=0
	local -a template

	shift
	mapfile -t template < <(report_template "$name" "$*")
	while IFS= read -r line; do
		# Past the lines of which there may be none or no more.
		while [[ ${template[i]:-} == '* '* ]] && ! [[ $line =~ ${template[i]#'* '} ]]; do
			i=$((i + 1))
		done
		[[ ${template[i]:-} == '* '* ]] && continue
		if [ "$i" -ge ${#template[@]} ] || ! [[ $line =~ ${template[i]} ]]; then
			complain "report of $name: '$line' is not ${template[i]:-the end}"
			return
		fi
		i=$((i + 1))
	done <"$work/$name.out"
	[ "$i" -eq ${#template[@]} ] || complain "report of $name ends before ${template[i]}"
}

# ---- One test, one line ----------------------------------------------------------------------------------------------

# pair NAME 'STATUS_R STATUS_E' REFLECTOR_ARGUMENTS EMITTER_ARGUMENTS CHECK...
# The reflector is ended by SIGTERM when the emitter is done, unless `ends=itself`. With `emitter_signal` the emitter
# gets that signal when it has sent some packets.
pair() {
	local name=$1 want_r want_e one

	begin "$name" || return 0
	read -r want_r want_e <<<"$2"
	${prepare:-true}
	start_reflector r "$3"
	# On a busy machine a process may not run for longer than the usual timeout; what is to be lost says so itself.
	start_emitter e "--timeout 5000 $4"
	if [ -n "${emitter_signal:-}" ]; then
		wait_for_packets e "${emitter_side:-e}" 20
		send "$emitter_signal" e
	fi
	finish e
	[ "${ends:-}" = itself ] || send TERM r
	finish r
	expect_status r "$want_r"
	expect_status e "$want_e"
	shift 4
	for one in '@audit e' '@audit r' "$@"; do
		check "$one"
	done
	verdict
}

# alone NAME STATUS SIDE ARGUMENTS CHECK...: one rant, called e or r as its side, with all its arguments.
alone() {
	local name=$1 want=$2 side=$3 one
	local -a words prefix

	begin "$name" || return 0
	read -ra words <<<"${4//LOG/$logs/$side.log}"
	read -ra prefix <<<"${as:-}"
	${prepare:-true}
	start "$side" "$side" "${prefix[@]}" "$rant" "${words[@]}"
	finish "$side"
	expect_status "$side" "$want"
	shift 4
	for one in "@audit $side" "$@"; do
		check "$one"
	done
	verdict
}

# A good emitter measures while MODE is played; then the accounts of the reflector must be those of both.
bad_emitter() { # mode, arguments, checks
	local mode=$1 one arguments others other_sessions
	local -a words

	begin "a reflector bears a bad emitter: $mode" || return 0
	arguments=$2
	shift 2
	read -ra words <<<"$arguments"
	start_reflector r --stamp kernel
	start_emitter e --stamp kernel --timeout 5000
	wait_for_packets e e 5
	start h e "$hostile" emit "$mode" "${target:-$ip_r}" "${words[@]}"
	finish h
	send TERM e
	finish e
	send TERM r
	finish r
	expect_status h 0
	expect_status e 0
	expect_status r 0
	audit e
	audit r
	# What the good emitter had in flight when it was ended may be answered or not.
	others=$(row r Sent)
	others=$((others - $(told h good)))
	if [ $(($(row e Sent) - others)) -lt 0 ] || [ $(($(row e Sent) - others)) -gt "$(row e Unfinished)" ]; then
		complain "the good emitter sent $(row e Sent), of which the reflector answered $others"
	fi
	other_sessions=1
	rows_are r h
	# By what the link counts, nothing else left the reflector but fragments of what is answered.
	[ "$mode" = largest ] || [ "$mode" = random ] ||
		[ "$(($(sent_by r) - moved[r]))" -eq "$(row r Sent)" ] ||
		complain "the link of the reflector moved by $(($(sent_by r) - moved[r])), it answered $(row r Sent)"
	[ "$(told h exact)" -eq "$(told h good)" ] || complain "not every good packet had an exact answer: $(cat "$work/h.out")"
	[ "$(told h replies)" -eq "$(told h good)" ] || complain "what must not be answered was: $(cat "$work/h.out")"
	for one in 'e:Recorded -gt 0' 'e:Lost -eq 0' 'e:Foreign -eq 0' 'e:Malformed -eq 0' 'e:Duplicate -eq 0' "$@"; do
		check "$one"
	done
	verdict
}

# What a bad peer told.
told() {
	local n

	n=$(sed -n "s/^hostile .* $2=\\([0-9]*\\).*/\\1/p" "$work/$1.out")
	echo "${n:--1}"
}

# bad_reflector MODE HOSTILE_ARGUMENTS COUNT STATUS EMITTER_ARGUMENTS CHECK...
bad_reflector() {
	local mode=$1 count=$3 want=$4 one slow_allowed
	local -a peer words

	begin "an emitter bears a bad reflector: $mode${2:+ $2}" || return 0
	read -ra peer <<<"$2"
	read -ra words <<<"--stamp kernel --count $count $5"
	start h r "$hostile" reflect "$mode" "$ip_r" --count "$count" --for 10 "${peer[@]}"
	poll has_port h 862
	start_emitter e "${words[@]}"
	finish e h
	expect_status e "$want"
	expect_status h 0
	audit e
	slow_allowed=$(($(row e Late) - $(told h late)))
	rows_are e h
	shift 5
	for one in "$@"; do
		check "$one"
	done
	verdict
}

K='--stamp kernel' U='--stamp user'
KERNEL='\(CLOCK_REALTIME, read by the kernel\)' USER='\(CLOCK_REALTIME, read by the program\)'

# What must be as before when all tests are done.
settings() {
	local side

	for side in e r; do
		ip -n "${ns[$side]}" -d link
		inside "$side" sh -c 'find /proc/sys/net -type f -readable ! -name flush -exec grep -H . {} + 2>/dev/null' |
			grep -Ev 'nf_conntrack_count|tcp_fastopen_key|rpc_|stable_secret'
	done
}
settings >"$work/settings.before"

# The kernel begins to stamp what it receives only some time after the first socket of the machine has asked for it
# (net_enable_timestamp() leaves it to a worker). So this test comes first, and can fail only on a machine where nothing
# else asks for stamps.
pair 'kernel stamps are there from the first packet on' '0 0' "$U" "$K --count 20" \
	'e:Unstamped -eq 0' 'e:Recorded -eq 20'
# All others are spared it.
GUARD_S=600 start hold e "$hostile" hold stamps "$ip_e" --for 600

# ---- The pair --------------------------------------------------------------------------------------------------------

pair 'kernel stamps: report and log' '0 0' "$K -H -l LOG --count 100000" "$K -H -l LOG --count 300" \
	'e:Sent -eq 301' 'r:Sent -eq 301' 'e:Closing -eq 1' 'e:Recorded -eq 300' 'e:Lost -eq 0' \
	'@columns e SEQ T1_KERNEL T4_KERNEL RTT' '@columns r SEQ T2_KERNEL T3_KERNEL RESPONSE' \
	'@log_agrees e T1_KERNEL T4_KERNEL' '@log_agrees r T2_KERNEL T3_KERNEL' '@logs_join' \
	'e.out !~ HW' 'r.out !~ HW' 'e.err empty' 'r.err empty'
pair 'kernel stamps with -s' '0 0' "$K -s -H -l LOG --count 100000" "$K -s -H -l LOG --count 200" \
	'@columns e SEQ T1_SW T1_KERNEL T4_KERNEL T4_SW RTT' \
	'@columns r SEQ T2_KERNEL T2_SW T3_SW T3_KERNEL RESPONSE' \
	'@log_agrees e T1_KERNEL T4_KERNEL' '@log_agrees r T2_KERNEL T3_KERNEL' '@logs_join'
pair 'user stamps' '0 0' "$U -H -l LOG --count 100000" "$U -H -l LOG --count 200" \
	'@columns e SEQ T1_SW T4_SW RTT' '@columns r SEQ T2_SW T3_SW RESPONSE' \
	'@log_agrees e T1_SW T4_SW' '@log_agrees r T2_SW T3_SW' '@logs_join' \
	'e.out !~ KERNEL' 'r.out !~ KERNEL' \
	"e.out ~ ^Latency: RTT = T4_SW - T1_SW $USER\$" "r.out ~ ^Latency: RESPONSE = T3_SW - T2_SW $USER\$"
pair '-R is --stamp user, and a mixed pair' '0 0' '-R' "$K --count 50" 'e:Recorded -eq 50' 'r:Recorded -eq 51' \
	'r.out ~ ^Latency: RESPONSE = T3_SW - T2_SW ' 'e.out ~ ^Latency: RTT = T4_KERNEL - T1_KERNEL '
pair '-N: no transmit stamps, and labelled so' '0 0' "$K -N -H -l LOG --count 100000" "$K --count 100" \
	'@columns r SEQ T2_KERNEL T2_SW T3_SW RESPONSE' '@log_agrees r T2_SW T3_SW' \
	"r.out ~ ^Latency: RESPONSE = T3_SW - T2_SW $USER\$"
pair '-N with hardware stamps leaves the NIC alone, so that it works on veth' '0 0' '-N' "$K --count 20" \
	'r.out ~ ^Latency: RESPONSE = T3_SW - T2_SW '
pair 'the report is line by line what it must be' '0 0' "$K -H" "$K -H --count 100" \
	"@report_is e RTT = T4_KERNEL - T1_KERNEL $KERNEL" "@report_is r RESPONSE = T3_KERNEL - T2_KERNEL $KERNEL"
pair 'without -H there is no histogram' '0 0' "$K" "$K --count 20" 'e.out !~ Histogram|Percentiles|Buckets' \
	'r.out !~ Histogram|Percentiles|Buckets' 'e.out ~ ^MIN: [0-9]+ ns \| MAX: ' 'r.out ~ ^MIN: [0-9]+ ns \| MAX: '
pair '-w leaves the first packets out' '0 0' "$K -w 30 -l LOG --count 100000" "$K -w 30 --count 70 -l LOG" \
	'e:Warm-up -eq 30' 'r:Warm-up -eq 30' 'e:Sent -eq 101' 'e:Recorded -eq 70' '@first_record e 30' '@first_record r 30'
pair '-d ends the emitter by time' '0 0' "$K" "$K -d 0.5" 'e:Recorded -gt 0' \
	'e.out ~ ^Test is complete\. Duration: (0\.[5-9]|[1-9]\.|[1-9][0-9]\.)'
ends=itself pair '-d ends the reflector by time' '0 0' "$K -d 0.5" "$K -d 1 --timeout 20" 'r:Recorded -gt 0' \
	'e:Lost -gt 0' 'r.out ~ ^Test is complete\. Duration: (0\.[5-9]|[1-9]\.|[1-9][0-9]\.)'
ends=itself pair '--count ends both' '0 0' "$K --count 40 -w 10" "$K --count 40 -w 10" 'r:Sent -eq 50' 'e:Sent -eq 51'
ends=itself pair '--once ends with the first emitter' '0 0' "$K --once" "$K --count 30" 'r:Sent -eq 31' \
	'r.out ~ ^Test is complete\. Duration: [0-9]'
pair '-q prints nothing on stdout' '0 0' "$K -q -H -l LOG --count 100000" "$K -q -H --count 20 -l LOG" \
	'e.out empty' 'r.out empty' '@columns e SEQ T1_KERNEL T4_KERNEL RTT' '@columns r SEQ T2_KERNEL T3_KERNEL RESPONSE'
pair '-v tells the configuration on stderr' '0 0' "$K -v -l LOG --count 1000" "$K -v --count 20" \
	"e.err ~ Emitting on $link_e .*port 862" "r.err ~ Reflecting on $link_r .*port 862" \
	'e.err ~ Socket receive buffer: [1-9][0-9]+ bytes granted' 'r.err ~ Log buffer of 1000 records' \
	'e.err ~ ^Histogram: ' 'e.out ~ ^Test is complete' 'r.out !~ Reflecting'
pair '-b and -o: buckets of 50 us to 1 s, counts add up' '0 0' "$K -H -o 1000000 -b 50" "$K -H -o 1000000 -b 50 --count 100" \
	'e.out ~ ^  Resolution:  1\.000 us' 'e.out ~ ^ +[0-9]*[05]?0\.000 - +[0-9]*[05]0\.000 : '
pair '-b and -o take 0.001 us' '0 0' "$K -H -o 50 -b 0.001" "$K -H -o 0.001 -b 0.001 --count 100" \
	'e.out ~ ^ +0\.001 - +\(overflow\) : +100 100\.0000%$'
pair '-L logs only what exceeds it' '0 0' "$K -l LOG -L 60000000 --count 100000" "$K -l LOG -L 0.001 --count 50" \
	'e.out ~ ^Log: 50 of 50 records$' 'r.out ~ ^Log: 0 of 51 records, 51 not above --log-threshold$' \
	'@log_agrees e T1_KERNEL T4_KERNEL'
pair '-G works or says that huge pages are few' '0 0' "$K -G" "$K -G -v --count 20" \
	'e.err ~ Histogram: .*huge pages|huge pages are free, normal ones are used' 'e:Recorded -eq 20'
pair '--port at both ends' '0 0' "$K --port 862" "$K --port 862 --count 20" 'e:Recorded -eq 20'
port=10862 pair '--port other than 862' '0 0' "$K --port 10862" "$K --port 10862 --count 20" 'e:Recorded -eq 20'
server=$ip_second pair 'the answer comes from the address that was asked' '0 0' "$K" "$K --count 20" \
	'e:Recorded -eq 20' 'e:Strays -eq 0'
emitter_side=r server=127.0.0.1 link=lo pair 'both ends on the loopback' '0 0' "$K" "$K --count 20" \
	'e:Recorded -eq 20' 'r:Sent -eq 21'

if inside e "$rant" -i "$link_e" -a "$ip_nobody" --stamp user -p 50 -d 0.01 2>&1 | grep -q 'refused by the kernel'; then
	skip 'busy polling' 'this kernel has none'
else
	pair 'busy polling' '0 0' "$K -p 50 -v" "$K -B 8 -P -v --count 20" 'e:Recorded -eq 20' \
		'e.err ~ ^Busy polling: 50 us \(set because' 'r.err ~ ^Busy polling: 50 us$'
fi

# ---- Threshold -------------------------------------------------------------------------------------------------------

pair 'a breach at the emitter' '0 2' "$K" "$K -t 0.001 -s -w 10" \
	'e.out ~ ^Round-trip latency \([0-9]+ ns\) exceeds threshold \(1 ns\)\.$' 'e.out ~ ^  Sequence number: 10$' \
	'e.out ~ ^  T1_KERNEL \(kernel tx\): [0-9]+\.[0-9]{9}$' 'e.out ~ ^  T4_KERNEL \(kernel rx\): [0-9]+\.[0-9]{9}$' \
	'e.out ~ ^  T1_SW \(app tx\): [0-9]+\.[0-9]{9}$' 'e.out ~ ^  T4_SW \(app rx\): [0-9]+\.[0-9]{9}$' \
	'e.out ~ ^Test is complete' 'e:Breaches -eq 1' 'e:Recorded -eq 1' 'e:Warm-up -eq 10'
ends=itself pair 'a breach at the reflector' '2 0' "$K -t 0.001 -s" "$K -d 0.5 --timeout 20" \
	'r.out ~ ^Response latency \([0-9]+ ns\) exceeds threshold \(1 ns\)\.$' 'r.out ~ ^  Sequence number: 0$' \
	'r.out ~ ^  T2_KERNEL \(kernel rx\): [0-9]+\.[0-9]{9}$' 'r.out ~ ^  T3_KERNEL \(kernel tx\): [0-9]+\.[0-9]{9}$' \
	'r.out ~ ^  T2_SW \(app rx\): [0-9]+\.[0-9]{9}$' 'r.out ~ ^  T3_SW \(app tx\): [0-9]+\.[0-9]{9}$' \
	'r:Breaches -eq 1'
pair '-C goes on after a breach' '0 0' "$K -t 0.001 -C" "$K -t 0.001 -C --count 30" \
	'e:Breaches -eq 30' 'e:Recorded -eq 30' 'r:Breaches -eq r:Recorded' 'e.out ~ ^Round-trip latency '
pair 'no breach below the threshold' '0 0' "$K -t 60000000" "$K -t 60000000 --count 30" \
	'e:Breaches -eq 0' 'r:Breaches -eq 0' 'e.out !~ exceeds' 'r.out !~ exceeds'
pair 'a breach with -q: only the status' '0 2' "$K" "$K -q -t 0.001" 'e.out empty'
pair 'a breach leaves a log' '0 2' "$K" "$K -t 0.001 -l LOG --count 1000" '@columns e SEQ T1_KERNEL T4_KERNEL RTT' \
	'e.out ~ ^Log: 1 of 1 records$'

# ---- Signals ---------------------------------------------------------------------------------------------------------

for signal in INT TERM HUP; do
	emitter_signal=$signal pair "SIG$signal ends the emitter with a full report" '0 0' "$K" "$K -H -l LOG --count 100000" \
		'e.out ~ ^Test is complete' 'e:Recorded -gt 0' 'e:Unfinished -le 1' '@log_agrees e T1_KERNEL T4_KERNEL'
done

# The reflector by each signal.
reflector_ends_by() {
	begin "SIG$1 ends the reflector with a full report" || return 0
	start_reflector r "$K -H -l LOG --count 100000"
	start_emitter e "$K --count 30"
	finish e
	send "$1" r
	finish r
	expect_status r 0
	for one in '@audit r' '@log_agrees r T2_KERNEL T3_KERNEL' 'r:Recorded -eq 31'; do
		check "$one"
	done
	verdict
}
reflector_ends_by INT
reflector_ends_by TERM


# A second signal while the run is stuck: the log goes into a pipe that is full and that nobody reads.
second_signal_ends() {
	begin 'a second signal ends a run that is stuck' || return 0
	mkfifo "$logs/pipe"
	exec 7<>"$logs/pipe"
	head -c 65536 /dev/zero >&7
	start_reflector r "$K"
	start_emitter e "$K --count 100000 -l $logs/pipe"
	wait_for_packets e e 20
	send INT e
	poll is_asleep e
	is_running e || complain 'the run was not stuck'
	send INT e
	finish e
	exec 7>&-
	send TERM r
	finish r
	expect_status e 130
	check 'e.out empty'
	[ -p "$logs/pipe" ] || complain 'the pipe was replaced'
	verdict
}

# Seen asleep five times in a row: a loop that measures is never so.
is_asleep() {
	local child state _

	child=$(pid_of "$1")
	for _ in 1 2 3 4 5; do
		[ -n "$child" ] || return 0
		state=$(sed -n 's/^State:[[:space:]]*//p' "/proc/$child/status" 2>/dev/null)
		[[ $state == S* ]] || return 1
		sleep 0.01
	done
}
second_signal_ends

# Two signals that arrive at once, so that the second comes before the run has ended.
two_signals_at_once() {
	begin 'two signals at once end the program, and leave no file' || return 0
	start_reflector r "$K"
	start_emitter e "$K --count 100000 -l LOG"
	wait_for_packets e e 20
	compgen -G "$logs/e.log.*" >/dev/null || complain 'no temporary file during the run: this test tests nothing'
	send STOP e
	send INT e
	send TERM e
	send CONT e
	finish e
	send TERM r
	finish r
	[ "${status[e]}" = 130 ] || [ "${status[e]}" = 143 ] || complain "status ${status[e]}, not 130 or 143"
	check 'e.out empty'
	[ -z "$(ls -A "$logs")" ] || complain "left behind: $(ls -A "$logs")"
	verdict
}
two_signals_at_once

# ---- Peers that are not there ----------------------------------------------------------------------------------------

# Both at once, since each takes more than 3 s.
nobody_answers() {
	begin 'nobody answers: told after 3 s, tried to the end, status 1' || return 0
	start_emitter e "$K -d 3.5"
	server=$ip_nobody start_emitter e2 "$K -d 3.5"
	poll told_silence e
	poll told_silence e2
	is_running e || complain 'it did not go on after the message'
	finish e e2
	for one in e e2; do
		expect_status $one 1
		audit $one
		check "$one:Recorded -eq 0"
		check "$one:Lost -ge 2"
		check "$one.err ~ never answered"
		check "$one.out ~ ^MIN: n/a \| MAX: n/a \| AVG: n/a \| Total Samples: 0\$"
		[ "$(grep -c 'after 3 s' "$work/$one.err")" -eq 1 ] || complain "$one does not tell it once"
	done
	check "e.err ~ ^rant: no answer from $ip_r port 862 after 3 s; the kernel refused [0-9]+ times: no reflector runs there"
	check "e2.err ~ ^rant: no answer from $ip_nobody port 862 after 3 s: no reflector running, .*firewall.*ARP.*still trying"
	check 'e:Refused -gt 0'
	check 'e2:Refused -eq 0'
	verdict
}

told_silence() {
	! is_running "$1" || grep -qs 'after 3 s' "$work/$1.err"
}
nobody_answers

reflector_comes_and_goes() {
	begin 'a reflector that starts late, is killed and starts again' || return 0
	start_emitter e "$K -w 5 --timeout 20 -l LOG --count 100000"
	wait_for_packets e e 3
	start_reflector r "$K"
	wait_for_packets r r 20
	send KILL r
	finish r
	expect_status r 137
	wait_for_packets e e $(($(sent_by e) - moved[e] + 5))
	start_reflector r "$K"
	wait_for_packets r r $(($(sent_by r) - moved[r] + 20))
	send TERM e
	finish e
	send TERM r
	finish r
	expect_status e 0
	for one in '@audit e' '@audit r' 'e:Lost -ge 5' 'e:Recorded -ge 20' 'e:Warm-up -eq 5' \
		'@log_agrees e T1_KERNEL T4_KERNEL'; do
		check "$one"
	done
	verdict
}
reflector_comes_and_goes

several_emitters() {
	begin 'several emitters at once' || return 0
	start_reflector r "$K"
	start_emitter e "$K --count 60 --timeout 5000"
	start_emitter e2 "$U --count 60 --timeout 5000"
	start_emitter e3 "$K -s --count 60 --timeout 5000"
	finish e e2 e3
	send TERM r
	finish r
	for one in e e2 e3; do
		expect_status $one 0
		audit $one
		check "$one:Recorded -eq 60"
		check "$one:Strays -eq 0"
	done
	for one in '@audit r' 'r:Sent -eq 183' 'r:Sessions -eq 3' 'r:Duplicate -eq 0' 'r:Reordered -eq 0'; do
		check "$one"
	done
	verdict
}
several_emitters

link_fails() {
	begin 'the link fails and comes back: the run goes on and counts' || return 0
	start_reflector r "$K"
	start_emitter e "$K --timeout 20"
	wait_for_packets e e 20
	ip -n "${ns[e]}" link set "$link_e" down
	poll is_refused
	ip -n "${ns[e]}" link set "$link_e" up
	know_neighbours
	wait_for_packets e e $(($(sent_by e) - moved[e] + 20))
	send TERM e
	finish e
	send TERM r
	finish r
	for one in '@expect_status e 0' '@expect_status r 0' '@audit e' '@audit r' 'e:Refused -ge 1' 'e:Recorded -ge 20'; do
		check "$one"
	done
	verdict
}

# No account can be read during a run: three times --timeout have passed without a packet.
is_refused() {
	local before

	before=$(sent_by e)
	sleep 0.1
	[ "$(sent_by e)" -eq "$before" ]
}
link_fails

# ---- What cannot run says why, and sends nothing ---------------------------------------------------------------------

E="-i $link_e -a $ip_r $K"
alone 'interface down' 1 e "-i $link_down -a $ip_r $K" '@silent' '@one_line e' 'e.out empty' \
	"e.err ~ interface '$link_down' is down: 'ip link set $link_down up'"
alone 'interface down, reflector' 1 e "-i $link_down $K" '@silent' '@one_line e' "e.err ~ is down"
alone 'interface unknown' 1 e "-i nosuch0 -a $ip_r $K" '@silent' '@one_line e' \
	"e.err ~ interface 'nosuch0' not found in this network namespace"
alone 'interface of the other namespace' 1 e "-i $link_r -a $ip_r $K" '@silent' '@one_line e' \
	"e.err ~ interface '$link_r' not found in this network namespace"
alone 'interface name of 16 characters' 1 e "-i abcdefghijklmnop -a $ip_r $K" '@silent' '@one_line e' \
	"e.err ~ --interface: 'abcdefghijklmnop' is too long.*15 characters"
alone 'interface name of 15 characters is only unknown' 1 e "-i abcdefghijklmno -a $ip_r $K" '@one_line e' \
	"e.err ~ interface 'abcdefghijklmno' not found"
alone 'interface without address, reflector' 1 e "-i $link_bare $K" '@silent' \
	"e.err ~ interface '$link_bare' has no IPv4 address: 'ip address add"
alone 'interface without carrier warns' 1 e "-i $link_bare $K" "e.err ~ warning: interface '$link_bare' has no carrier"
alone 'address reached through another interface' 1 e "-i $link_bare -a $ip_r $K" '@silent' \
	"e.err ~ address '$ip_r' is reached through interface '$link_e', not '$link_bare': use --interface $link_e"
alone 'own address' 1 e "-i $link_e -a $ip_e $K" '@silent' '@one_line e' \
	"e.err ~ address '$ip_e' is this host's own address"
alone 'address without a route' 1 e "-i $link_e -a 192.0.2.1 $K" '@silent' '@one_line e' \
	"e.err ~ 192\.0\.2\.1' (cannot be reached|.*no route)|no route to address '192\.0\.2\.1'"
alone 'multicast address' 1 e "-i $link_e -a 224.0.0.1 $K" '@silent' '@one_line e' 'e.err ~ is not a single host'
alone 'broadcast address' 1 e "-i $link_e -a $ip_broadcast $K" '@silent' '@one_line e' 'e.err ~ is not a single host'
alone 'IPv6 address' 1 e "-i $link_e -a fe80::1 $K" '@silent' '@one_line e' "e.err ~ --address: 'fe80::1' is an IPv6 address"
alone 'hardware stamps on veth' 1 e "-i $link_e -a $ip_r" '@silent' '@one_line e' 'e.out empty' \
	"e.err ~ interface '$link_e' \(driver 'veth'\) has no hardware clock.*--stamp kernel"
alone 'hardware stamps on veth, reflector' 1 r "-i $link_r --stamp hardware" '@silent' '@one_line r' \
	"r.err ~ interface '$link_r' \(driver 'veth'\) has no hardware clock.*--stamp kernel"

alone 'bad usage: no interface' 1 e "-a $ip_r" '@silent' '@one_line e' 'e.out empty' 'e.err ~ --interface is missing'
while IFS='|' read -r arguments pattern; do
	[ -n "$arguments" ] || continue
	alone "bad usage: $arguments" 1 e "-i $link_e -a $ip_r $arguments" \
		'@silent' '@one_line e' 'e.out empty' "e.err ~ $pattern"
done <<-'END'
	-d 5x|--duration: '5x' is not a number: give
	-d -1|--duration: '-1' is out of range: give
	-t 1e9999|--threshold: '1e9999' is not a number: give
	-b 0|--bucket-size: '0' is out of range: give 0\.001 to
	-o 1 -b 2|--overflow 1 with --bucket-size 2
	--port 65536|--port: '65536' is out of range: give 1 to 65535
	--stamp soft|--stamp: 'soft' is not a choice: give hardware, kernel or user
	-l|--log: FILE is missing
	-C|--continue without --threshold
	--nosuch|--nosuch: unknown option
	extra|extra
END
alone '--help' 0 e '--help' '@silent' 'e.err empty' 'e.out ~ ^usage: rant -i IFACE -a IP' 'e.out ~ --warmup PACKETS'
alone '--version' 0 e '--version' '@silent' 'e.err empty' 'e.out ~ ^rant [0-9]+\.[0-9]+'

# ---- The doctor ------------------------------------------------------------------------------------------------------

# Every line is a heading, a finding with its source, or the count, and the count is right.
findings() {
	local line

	while IFS= read -r line; do
		complain "$line"
	done < <(awk '
		/^(ok|note|warn|fail)  / {
			n[$1]++
			if ($0 !~ /^(ok  |note|warn|fail)  [A-Za-z_ ]+: .*\([^()]+\)/) print "no source: " $0
			if (length($0) > 260) print "too long: " $0
			next
		}
		/^(NIC|Clock|Interrupts|CPU|Memory|Tracing):$/ { headings++; next }
		/ ok, / { counted = $1 == n["ok"] + 0 && $3 == n["note"] + 0 && $5 == n["warn"] + 0 && $7 == n["fail"] + 0; next }
		length { print "not a finding: " $0 }
		END {
			if (headings != 6) print headings " headings"
			if (!counted) print "the count is wrong"
		}' "$work/$1.out")
}

DOCTOR=('@silent' 'e.err empty' '@findings e')
alone 'doctor: veth has no hardware clock' 1 e "--check -i $link_e" "${DOCTOR[@]}" \
	'e.out ~ ^fail  stamps: no hardware clock \(ethtool TSINFO\): --stamp hardware cannot work: rant --stamp kernel$' \
	"e.out ~ ^ok    driver: 'veth', no hardware stamps in use" 'e.out ~ ^ok    link: up, with a carrier' \
	'e.out ~ ^ok    speed: 10000 Mb/s, duplex full' 'e.out ~ ^note  NIC clock: the NIC has none' \
	'e.out ~ ^note  NIC interrupts: cannot tell' 'e.out ~ ^note  NUMA: cannot tell' 'e.out ~ ^ok    users: ' \
	'e.out ~ , 1 failure$'
alone 'doctor: veth with kernel stamps' 0 e "--check -i $link_e $K" "${DOCTOR[@]}" \
	'e.out ~ ^ok    stamps: ' 'e.out ~ ^ok    NIC clock: ' 'e.out ~ , 0 failures$' \
	'e.out ~ ^ok    busy polling: not asked for' 'e.out ~ ^(ok|note|warn) +largest gap: [0-9.]+ us .*measured now, by this process'
alone 'doctor: lo' 1 e '--check -i lo' "${DOCTOR[@]}" 'e.out ~ ^fail  stamps: no hardware clock' \
	'e.out ~ ^note  speed: cannot tell \(ETHTOOL_GLINKSETTINGS: Operation not supported\)$' \
	'e.out ~ ^note  rings: cannot tell \(ETHTOOL_GRINGPARAM: Operation not supported\)$' 'e.out ~ ^ok    link: '
alone 'doctor: lo with kernel stamps' 0 e "--check -i lo $K" "${DOCTOR[@]}" 'e.out ~ , 0 failures$'
alone 'doctor: interface down' 1 e "--check -i $link_down $K" "${DOCTOR[@]}" \
	"e.out ~ ^fail  link: down \(SIOCGIFFLAGS\): nothing can be sent: ip link set $link_down up$"
alone 'doctor: no carrier' 1 e "--check -i $link_bare $K" "${DOCTOR[@]}" 'e.out ~ ^fail  link: no carrier \(ETHTOOL_GLINK\)'
alone 'doctor: no such interface' 1 e "--check -i nosuch0" '@silent' '@one_line e' 'e.out empty'
alone 'doctor: -q leaves the exit status' 1 e "--check -q -i $link_e" '@silent' 'e.err empty' 'e.out empty'
# /sys shows the namespace of the machine, which has a loopback interface too, of the same index and address.
alone 'doctor: what only /sys of another namespace knows is not told' 0 e "--check -i lo $K -P" "${DOCTOR[@]}" \
	'e.out ~ ^(note|warn) +busy polling: (cannot tell about napi_defer_hard_irqs|the kernel cannot)'
as="chrt -f 5 taskset -c $first_cpu" alone 'doctor: its own CPU and priority' 0 e "--check -i $link_e $K" "${DOCTOR[@]}" \
	"e.out ~ ^ok    placement: only on CPU $first_cpu " 'e.out ~ ^ok    scheduling: SCHED_FIFO 5 ' \
	"e.out ~ largest gap: .*SCHED_FIFO 5 on CPU $first_cpu\\)"
as='setpriv --reuid=65534 --regid=65534 --clear-groups' alone 'doctor: for an ordinary user' 0 e "--check -i $link_e $K" \
	"${DOCTOR[@]}"

holds_latency() {
	find "/proc/$(pid_of "$1")/fd" -lname /dev/cpu_dma_latency 2>/dev/null | grep -q .
}

latency_held() {
	begin 'idle CPUs are kept awake during a run, unless told not to' || return 0
	start_reflector r "$K --no-cpu-dma-latency"
	start_emitter e "$K --count 100000000"
	wait_for_packets e e 20
	holds_latency e || complain '/dev/cpu_dma_latency is not open'
	[ "$(od -An -td4 /dev/cpu_dma_latency | tr -d ' ')" = 0 ] || complain 'the limit is not 0'
	! holds_latency r || complain '/dev/cpu_dma_latency is open in spite of --no-cpu-dma-latency'
	send TERM e
	finish e
	send TERM r
	finish r
	check '@expect_status e 0'
	check '@expect_status r 0'
	check 'e.err empty'
	verdict
}

# In a mount namespace of its own, which ends with it.
printf 'mount -t tmpfs none /dev && exec "$@"\n' >"$work/no-dev.sh"
if [ -e /dev/cpu_dma_latency ]; then
	latency_held
else
	skip 'idle CPUs are kept awake' 'there is no /dev/cpu_dma_latency'
fi
as="unshare -m sh $work/no-dev.sh" alone 'without /dev/cpu_dma_latency a run goes on, -v tells' 1 e \
	"-i $link_e -a $ip_nobody $U -d 0.1 -v" 'e.err ~ idle CPUs may sleep deeply .*No such file or directory: run as root$'
as="unshare -m sh $work/no-dev.sh" alone 'without /dev/cpu_dma_latency nothing is said without -v' 1 e \
	"-i $link_e -a $ip_nobody $U -d 0.1" 'e.err !~ idle CPUs'

port_taken() {
	begin 'port taken by another program: said, and the old log stays' || return 0
	echo old >"$logs/e.log"
	start_reflector r "$K"
	start e r "$rant" -i "$link_r" --stamp kernel -l "$logs/e.log" --count 10
	finish e
	send TERM r
	finish r
	for one in '@expect_status e 1' '@expect_status r 3' '@one_line e' 'e.out empty' \
		'e.err ~ port 862: taken by another program' '@silent'; do
		check "$one"
	done
	[ "$(cat "$logs/e.log")" = old ] || complain 'the old log is gone'
	verdict
}
port_taken

if command -v setpriv >/dev/null; then
	NOBODY='setpriv --reuid=65534 --regid=65534 --clear-groups'
	unlocked='NAME.err ~ memory is not locked .*ulimit -l'
	# AddressSanitizer makes mlockall() a success that does nothing.
	! grep -q __asan_init "$rant" || unlocked='@true'
	as=$NOBODY alone 'without root: port 862' 1 r "-i $link_r $K" '@silent' '@one_line r' \
		'r.err ~ port 862: ports below 1024 need root or CAP_NET_BIND_SERVICE: use sudo, or --port 1024'
	as="prlimit --memlock=65536:65536 $NOBODY" port=10862 pair 'without root: a pair on port 10862' '0 0' \
		"$K --port 10862 -l LOG --count 200" "$K --port 10862 --count 50 -l LOG" 'e:Recorded -eq 50' \
		"${unlocked/NAME/e}" "${unlocked/NAME/r}" '@logs_join'
	as=$NOBODY alone 'without root: a log where nobody may write' 1 e "$E -l $work/e.log" '@silent' '@one_line e' \
		"e.err ~ --log $work/e.log: cannot write there \(Permission denied\)"
else
	skip 'without root' 'setpriv is not installed'
fi

# ---- Files -----------------------------------------------------------------------------------------------------------

make_old_log() {
	echo old >"$logs/e.log"
	chmod 640 "$logs/e.log"
	exec 8<"$logs/e.log"
}

is_replaced() {
	[ "$(cat <&8)" = old ] || complain 'the old file was written over, not replaced'
	exec 8<&-
	[ "$(stat -c %a "$logs/e.log")" = 640 ] || complain 'the new log has another mode than the old one'
}

make_link() {
	echo old >"$logs/aim"
	ln -s aim "$logs/e.log"
}

make_nodes() {
	mknod "$logs/null" c 1 3
	mknod "$logs/full" c 1 7
}

still_node() {
	[ -c "$logs/$1" ] || complain "$1 is a device no more"
}

still_old() {
	[ "$(cat "$logs/$1")" = old ] || complain "$1 was changed"
}

prepare=make_old_log pair 'a log is replaced, not written over' '0 0' "$K" "$K --count 20 -l LOG" '@is_replaced' \
	'@columns e SEQ T1_KERNEL T4_KERNEL RTT'
alone 'log: a directory' 1 e "$E -l $logs" '@silent' '@one_line e' "e.err ~ --log $logs: is a directory"
prepare=make_link alone 'log: a symbolic link' 1 e "$E -l LOG" '@silent' '@one_line e' \
	"e.err ~ --log .*: is a symbolic link" '@still_old aim'
alone 'log: no such directory' 1 e "$E -l /nonexistent/log" '@silent' '@one_line e' \
	'e.err ~ --log /nonexistent/log: cannot write there \(No such file or directory\): choose another place'
# Own nodes: a rant that replaced /dev/null would harm the machine.
if make_nodes 2>/dev/null && true >"$logs/null"; then
	prepare=make_nodes pair 'log: a device stays one' '0 0' "$K" "$K --count 20 -l $logs/null" '@still_node null' \
		'e.err empty' 'e.out ~ ^Log: 20 of 20 records$'
	prepare=make_nodes pair 'log: a full device is an error after the report' '0 1' "$K" "$K --count 20 -l $logs/full" \
		'@still_node full' '@one_line e' "e.err ~ --log $logs/full: could not be written \(No space left on device\)" \
		'e:Recorded -eq 20'
else
	skip 'log: devices' 'no device nodes can be made here'
fi
emitter_stdout=/dev/full pair 'report: a full device is an error' '0 1' "$K" "$K --count 20 -l LOG" '@one_line e' \
	'e.err ~ the report could not be written to stdout: No space left on device' '@columns e SEQ T1_KERNEL T4_KERNEL RTT'

cat >"$work/into-nothing" <<-'END'
	#!/bin/bash
	"$@" | exec 0<&-
	exit "${PIPESTATUS[0]}"
END
cat >"$work/on-small-disk" <<-'END'
	#!/bin/bash
	# on-small-disk DIRECTORY COMMAND...: a disk of two pages, one of them taken by an older log.
	mount -t tmpfs -o size=8k none "$1" || exit 99
	echo old >"$1/log"
	"${@:2}"
	status=$?
	cp -r "$1" "$1.after"
	exit $status
END
chmod 755 "$work/into-nothing" "$work/on-small-disk"

broken_pipe() {
	begin 'report: a reader that went away costs neither log nor status' || return 0
	start_reflector r "$K"
	as=$work/into-nothing start_emitter e "$K -d 0.3 -l LOG"
	finish e
	send TERM r
	finish r
	for one in '@expect_status e 1' '@columns e SEQ T1_KERNEL T4_KERNEL RTT' '@one_line e' \
		'e.err ~ the report could not be written to stdout: Broken pipe'; do
		check "$one"
	done
	verdict
}
broken_pipe

full_disk() {
	local disk=$work/disk

	begin 'log: a full disk is an error after the report, and the old log stays' || return 0
	rm -rf "$disk" "$disk.after"
	mkdir "$disk"
	start_reflector r "$K"
	as="unshare -m $work/on-small-disk $disk" start_emitter e "$K --timeout 5000 --count 100 -l $disk/log"
	finish e
	send TERM r
	finish r
	for one in '@expect_status e 1' '@audit e' 'e:Recorded -eq 100' '@one_line e' \
		"e.err ~ --log $disk/log: could not be written \(No space left on device\): the log of this run is lost"; do
		check "$one"
	done
	[ "$(cat "$disk.after/log")" = old ] || complain 'the old log is gone'
	[ "$(ls -A "$disk.after")" = log ] || complain "left behind: $(ls -A "$disk.after")"
	verdict
}
if unshare -m true 2>/dev/null; then
	full_disk
else
	skip 'log: a full disk' 'no mount namespace can be made here'
fi

# ---- Bad emitters ----------------------------------------------------------------------------------------------------

bad_emitter good ''
bad_emitter empty '' 'r:Malformed -eq 200'
bad_emitter tiny '' 'r:Malformed -eq 200'
bad_emitter short '' 'r:Malformed -eq 0'
bad_emitter largest '--count 20' 'r:Unanswered -eq 0'
bad_emitter random '--count 400 --seed 7' 'r:Malformed -gt 0' 'r:Bad_TLVs -gt 0'
bad_emitter tlv '' 'r:Bad_TLVs -eq 200'
bad_emitter estimate '' 'r:Malformed -eq 200'
bad_emitter replies '' 'r:Foreign -eq 200'
bad_emitter mirror '' 'r:Foreign -eq 200'
target=$ip_broadcast bad_emitter broadcast "--barrier $ip_r" 'r:Foreign -eq 200'
bad_emitter duplicates '' 'r:Duplicate -eq 100'
bad_emitter reordered '' 'r:Reordered -eq 100'
bad_emitter replay '--count 180' 'r:Duplicate -eq 120'

# More sessions than the table holds: alone, so that the numbers are exact.
many_sessions() {
	begin "a reflector bears 2000 sessions: $1" || return 0
	start_reflector r "$K"
	start h e "$hostile" emit "$1" "$ip_r" --count 2000 --for 50
	finish h
	send TERM r
	finish r
	rows_are r h
	for one in '@expect_status h 0' '@expect_status r 0' '@audit r' 'r:Sent -eq 2001' 'r:Sessions -eq 2001' \
		'r:Evicted -eq 977'; do
		check "$one"
	done
	[ "$(told h exact)" -eq 2001 ] || complain "not every packet had an exact answer: $(cat "$work/h.out")"
	verdict
}
many_sessions ssids
many_sessions ports

# Datagrams of a namespace: delivered to a program, and dropped because its buffer was full.
udp_counts() {
	inside r awk '$1 == "Udp:" { if (!n) { for (i = 2; i <= NF; i++) at[$i] = i; n = 1 }
		else print $at["InDatagrams"], $at["RcvbufErrors"] }' /proc/net/snmp
}

flood() {
	local before after dropped_before dropped

	begin 'a reflector survives a flood of everything at full rate' || return 0
	read -r before dropped_before < <(udp_counts)
	start_reflector r "$K"
	start_emitter e "$K --timeout 20"
	start h e "$hostile" emit mixture "$ip_r" --rate max --count 0 --for 2
	finish h
	send TERM e
	finish e
	send TERM r
	finish r
	read -r after dropped < <(udp_counts)
	for one in '@expect_status h 0' '@expect_status r 0' '@audit e' '@audit r' 'r:Malformed -gt 0' 'r:Foreign -gt 0' \
		'r:Bad_TLVs -gt 0' 'r:Sessions -gt 1024' "r:Received -eq $((after - before))"; do
		check "$one"
	done
	[ "$(told h sent)" -gt 1000 ] || complain 'this was no flood'
	[ $((after - before + dropped - dropped_before)) -le $(($(told h sent) + $(row e Sent))) ] ||
		complain "more was received than sent: $((after - before)) and $((dropped - dropped_before)) dropped"
	verdict
}
flood

flooded_emitter() {
	begin 'an emitter survives a flood of garbage at full rate' || return 0
	start h r "$hostile" reflect garbage "$ip_r" --every 1 --count 50 --rate max --for 2
	poll has_port h 862
	start_emitter e "$K --timeout 20"
	finish h
	send TERM e
	finish e
	for one in '@expect_status h 0' '@expect_status e 0' '@audit e' 'e:Malformed -gt 100' 'e:Foreign -gt 100' \
		'e:Recorded -ge 1'; do
		check "$one"
	done
	verdict
}
flooded_emitter

# ---- Bad reflectors --------------------------------------------------------------------------------------------------

# Without the one more probe at the end: what a bad peer does is counted by the probe.
PATIENT='--plain --timeout 5000'
bad_reflector good '' 100 0 "$PATIENT" 'e:Recorded -eq 100'
bad_reflector drop '--every 10' 40 0 '--plain --timeout 100' 'e:Lost -ge 4'
bad_reflector twice '' 100 0 "$PATIENT" 'e:Duplicate -eq 99' 'e:Recorded -eq 100'
bad_reflector late '--every 10' 40 0 '--plain --timeout 100' 'e:Late -ge 4' 'e:Lost -ge 4'
bad_reflector swapped '--every 10' 40 0 '--plain --timeout 100' 'e:Late -ge 4' 'e:Reordered -ge 4'
bad_reflector future '' 100 0 "$PATIENT" 'e:Foreign -eq 100' 'e:Recorded -eq 100'
bad_reflector future '--instead' 5 1 '--timeout 100' 'e:Foreign -ge 4' 'e:Lost -eq 5' 'e.err ~ never answered'
bad_reflector ssid '' 100 0 "$PATIENT" 'e:Foreign -eq 100' 'e:Recorded -eq 100'
bad_reflector light '' 50 0 "$PATIENT" 'e:Recorded -eq 50'
bad_reflector t1 '' 100 0 "$PATIENT" 'e:Foreign -eq 100' 'e:Recorded -eq 100'
bad_reflector t1 '--instead' 5 1 '--timeout 100' 'e:Foreign -eq 5' 'e:Lost -eq 5'
bad_reflector short '' 100 0 "$PATIENT" 'e:Malformed -eq 100' 'e:Recorded -eq 100'
bad_reflector largest '' 20 0 "$PATIENT" 'e:Recorded -eq 20'
bad_reflector estimate '' 100 0 "$PATIENT" 'e:Malformed -eq 100' 'e:Recorded -eq 100'
bad_reflector elsewhere '' 600 0 "$PATIENT" 'e:Strays -eq 600' 'e:Recorded -eq 600'
bad_reflector elsewhere "--second $ip_second" 100 0 "$PATIENT" 'e:Strays -eq 100' 'e:Recorded -eq 100'
bad_reflector elsewhere '--instead' 5 1 '--timeout 50' 'e:Strays -eq 5' 'e:Received -eq 0'
bad_reflector garbage '--every 20' 50 0 "$PATIENT" 'e:Recorded -eq 50' 'e:Malformed -gt 0' 'e:Foreign -gt 0'
bad_reflector echo '' 50 0 "$PATIENT" 'e:Malformed -eq 50' 'e:Recorded -eq 50'

# ---- On a terminal ---------------------------------------------------------------------------------------------------

# on_terminal NAME SHELL_TEXT: what is drawn is in NAME.out; NAME.pid is written before the shell becomes the program.
on_terminal() {
	start "$1" e script -qec "stty cols 100; echo \$\$ >'$work/$1.pid'; exec $2" /dev/null
}

progress_is_drawn() {
	begin 'progress is drawn once a second on a terminal, and wiped' || return 0
	start_reflector r "$K"
	on_terminal t "$rant $E -d 2.3 >'$work/e.out'"
	finish t
	send TERM r
	finish r
	for one in '@expect_status t 0' '@audit e' 'e:Recorded -gt 0' \
		't.out ~ 1 s  [0-9]+ samples  [0-9]+/s  max [0-9]+\.[0-9]{3} us  lost [0-9]+' 't.out ~ 2 s  [0-9]+ samples'; do
		check "$one"
	done
	[ "$(tail -c 4 "$work/t.out" | od -An -tx1)" = ' 0d 1b 5b 4b' ] || complain 'the last thing drawn is not the wiping'
	verdict
}

progress_is_quiet() {
	begin 'no progress with -q on a terminal' || return 0
	start_reflector r "$K"
	on_terminal t "$rant $E -q -d 1.3"
	finish t
	send TERM r
	finish r
	for one in '@expect_status t 0' 't.out empty'; do
		check "$one"
	done
	verdict
}

bars_fit() {
	begin 'bars of the histogram fit the terminal' || return 0
	start_reflector r "$K"
	on_terminal t "$rant $E -H -o 20 -b 20 --count 50 2>/dev/null"
	finish t
	send TERM r
	finish r
	check '@expect_status t 0'
	check 't.out ~ %  #{20,}.?$'
	[ "$(tr -d '\r' <"$work/t.out" | awk '!/^(  Forward and backward are|Measurement:) / && length($0) > n { n = length($0) } END { print n }')" -le 100 ] ||
		complain 'a line is longer than the terminal is wide'
	verdict
}

# Of each thread: its policy and its CPUs. "FIFO 0".
threads_of() {
	local task

	for task in "/proc/$1/task"/*; do
		echo "$(chrt -p "${task##*/}" | sed -n 's/.*policy: SCHED_//p')" \
			"$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' "$task/status")"
	done 2>/dev/null
}

has_two_threads() {
	[ -s "$work/t.pid" ] && [ "$(threads_of "$(cat "$work/t.pid")" | wc -l)" -eq 2 ] || ! is_running t
}

threads_apart() { # policy of the measuring thread, words before rant
	local measuring housekeeping

	begin "the housekeeping thread keeps off the measuring CPU: $2" || return 0
	start_reflector r "$K"
	rm -f "$work/t.pid"
	on_terminal t "$2 $rant $E --count 100000000 >'$work/e.out'"
	poll has_two_threads
	{
		read -r measuring
		read -r housekeeping
	} < <(threads_of "$(cat "$work/t.pid")")
	kill -TERM "$(cat "$work/t.pid")" 2>/dev/null
	finish t
	send TERM r
	finish r
	check '@expect_status t 0'
	check '@audit e'
	[ "$measuring" = "$1 $first_cpu" ] || complain "measuring thread: '$measuring', not '$1 $first_cpu'"
	[[ ${housekeeping:-} =~ ^OTHER\ [0-9,-]+$ ]] || complain "housekeeping thread: '${housekeeping:-}'"
	case ,${housekeeping#OTHER }, in
	*,"$first_cpu",* | *,"$first_cpu"-*) complain "the housekeeping thread may run on CPU $first_cpu: $housekeeping" ;;
	esac
	verdict
}

if ! command -v script >/dev/null; then
	skip 'progress, bars and threads' "'script' is not installed"
else
	progress_is_drawn
	progress_is_quiet
	bars_fit
	if [ "$first_cpu" = "$last_cpu" ]; then
		skip 'the housekeeping thread' 'there is only one CPU'
	else
		threads_apart OTHER "taskset -c $first_cpu"
		threads_apart FIFO "chrt -f 1 taskset -c $first_cpu"
	fi
fi

# shellcheck source=tests/link/namespace_verdict.sh
. "$(dirname "$0")/namespace_verdict.sh"
# shellcheck source=tests/link/namespace_trace.sh
. "$(dirname "$0")/namespace_trace.sh"

# ---- After all of them -----------------------------------------------------------------------------------------------

if begin 'no setting of links or namespaces was changed'; then
	settings >"$work/settings.after"
	diff "$work/settings.before" "$work/settings.after" >"$work/diff.out" ||
		complain "changed: $(grep '^[<>]' "$work/diff.out")"
	verdict
fi
send TERM hold
finish hold
exit "$failed"
