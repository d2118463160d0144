# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# For the tests that run rant on a veth pair between two network namespaces, which source it. Root.
#
#   TEST.sh RANT HOSTILE [SPIKE]     SPIKE: the library made of lab/spike.c; without it no spikes and faults are made
#
#   ONLY=REGEX    only the tests whose name matches
#   QUICK=1       without slow tests, as in make check; REST=1: slow tests only, as in make check-all
#
# Prints "ok - NAME", "not ok - NAME" and lines that begin with "# ". Exit status 1 when anything failed.
#
# A test is a line: its name, the expected exit status, the arguments, and the conditions after it (see `check`).
# After every run of rant the sums of its counters are recomputed from its output (see `audit`), and no unfinished log may be
# there, unless `leaves=partial`. The machine may be busy:
# no time here is compared with anything but a generous range, and a limit is only a guard against a hang.
# Text in single quotes is for awk and sh; functions are called by the names that tests give to `check` and `poll`, and
# variables that are set here and not used are for the tests.
# shellcheck disable=SC2016,SC2317,SC2034

set -uo pipefail
export LC_ALL=C

if [ $# -lt 2 ] || [ $# -gt 3 ]; then
	echo "usage: ${0##*/} RANT HOSTILE [SPIKE]" >&2
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

[ -n "${WITH_TRACEFS:-}" ] || exec "$(dirname "${BASH_SOURCE[0]}")/../with_tracefs.sh" "$0" "$@"

GUARD_S=${GUARD_S:-60} # a program that runs longer hangs

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

	trap '' INT TERM HUP PIPE
	# Its guard, which hands the signal on: a program of a script that has nothing to do may not have begun yet. Until it is gone, for the
	# shell that is to become the guard takes the first for the script's own.
	while [ -n "${guard[hold]:-}" ] && kill -TERM "${guard[hold]}" 2>/dev/null; do
		sleep 0.02
	done
	for name in "${!guard[@]}"; do
		child=$(program_of "${guard[$name]}")
		[ -z "$child" ] || kill -KILL "$child" 2>/dev/null
		kill -KILL "${guard[$name]}" 2>/dev/null
	done
	wait
	[ -z "${trace_instance:-}" ] || rmdir "$trace_instance" 2>/dev/null
	[ -z "${quota_group:-}" ] || rmdir "$quota_group" 2>/dev/null
	ip netns del "${ns[e]}" 2>/dev/null
	ip netns del "${ns[r]}" 2>/dev/null
	[ -z "${ns[m]:-}" ] || ip netns del "${ns[m]}" 2>/dev/null
	rm -rf "$work"
}
# Exit status of the program: 1 until it is set up, and if a test failed.
failed=1
trap 'ended; exit "$failed"' EXIT
trap 'failed=130; exit' INT
trap 'failed=143; exit' TERM HUP

# Settings that each file of tests leaves as they were.
settings() {
	local side

	for side in e r; do
		ip -n "${ns[$side]}" -d link 2>/dev/null # the other end is in another namespace
		inside "$side" sh -c 'find /proc/sys/net -type f -readable ! -name flush -exec grep -H . {} + 2>/dev/null' |
			grep -Ev 'nf_conntrack_count|tcp_fastopen_key|rpc_|stable_secret'
	done
}

# A signal in here would end the program before anything is removed.
ended() {
	trap 'failed=143; remove_all; exit "$failed"' INT TERM HUP
	[ "$failed" -gt 1 ] || [ ! -e "$work/settings.before" ] || judge_settings
	remove_all
}

judge_settings() {
	SLOW=1 begin "${0##*/}: no setting of links or namespaces was changed" || return 0
	settings >"$work/settings.after"
	diff "$work/settings.before" "$work/settings.after" >"$work/diff.out" || complain "changed: $(grep '^[<>]' "$work/diff.out")"
	verdict
}

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
	failed=0
	exit
fi
mkdir "$logs"
# Copies that nobody may run, wherever the tree is.
chmod 711 "$work"
chmod 1777 "$logs"
install -m 755 "$1" "$work/rant" || exit 1
install -m 755 "$2" "$work/hostile" || exit 1
rant=$work/rant hostile=$work/hostile spike=
if [ $# -eq 3 ]; then
	install -m 644 "$3" "$work/spike.so" || exit 1
	spike=$work/spike.so
fi
cat >"$work/on-disk" <<-'END'
	#!/bin/bash
	# on-disk SIZE DIRECTORY COMMAND...: a disk in memory, with an older log on it, which takes a page. It stays as DIRECTORY.after.
	mount -t tmpfs -o "size=$1" none "$2" || exit 99
	echo old >"$2/log"
	"${@:3}"
	status=$?
	cp -r "$2" "$2.after"
	exit $status
END
chmod 755 "$work/on-disk"
settings >"$work/settings.before"
failed=0

# ---- IPv6, of the tests that want it -----------------------------------------------------------------------------------

ip6_e=2001:db8:77::1 ip6_r=2001:db8:77::2 ip6_second=2001:db8:77::3 ip6_nobody=2001:db8:77::99

# 1: as everywhere else in these tests, without.
switch_ipv6_off() {
	local side link

	for side in e r; do
		for link in lo "$link_e" "$link_r"; do
			inside "$side" sh -c "[ ! -e /proc/sys/net/ipv6/conf/$link ] || echo $1 >/proc/sys/net/ipv6/conf/$link/disable_ipv6" || return 1
		done
	done
}

add_ipv6() {
	switch_ipv6_off 0 && ip -n "${ns[e]}" address add "$ip6_e/64" dev "$link_e" nodad &&
		ip -n "${ns[r]}" address add "$ip6_r/64" dev "$link_r" nodad && ip -n "${ns[r]}" address add "$ip6_second/64" dev "$link_r" nodad &&
		ip -n "${ns[e]}" neigh replace "$ip6_nobody" lladdr 02:00:00:00:00:99 nud permanent dev "$link_e"
}

remove_ipv6() {
	ip -n "${ns[e]}" neigh del "$ip6_nobody" dev "$link_e" 2>/dev/null
	switch_ipv6_off 1
}

# Nobody knows yet whether it is the only one of this address: no packet goes to it.
is_settled() {
	! ip -n "${ns[e]}" -6 -o address show tentative | grep -q . && ! ip -n "${ns[r]}" -6 -o address show tentative | grep -q .
}

# ---- Verdicts --------------------------------------------------------------------------------------------------------

test_name=""
declare -a complaints=()
declare -A status=() # of a program that ended
declare -A moved=()  # packets that a side had sent when the test began

complain() {
	complaints+=("$*")
}

# Packets, but for those that the kernel's IPv6 sends when it likes: solicitations, advertisements of neighbours, reports of groups.
sent_by() {
	local ipv6=/proc/net/snmp6

	[ -e $ipv6 ] || ipv6=
	inside "$1" awk -F '[: \t]+' 'FILENAME ~ /dev$/ && /:/ { sub(/^ +/, ""); sum += $11 }
		/^Icmp6OutType(133|135|136|143)[ \t]/ { sum -= $2 }
		END { print sum + 0 }' /proc/net/dev ${ipv6:+"$ipv6"}
}

wanted() { # NAME
	[[ $1 =~ ${ONLY:-} ]] && { [ -n "${SLOW:-}" ] || [ -z "${REST:-}" ]; }
}

# slow COMMAND...: that makes one or more tests, or begins one, that make check leaves to make check-all.
slow() {
	[ -z "${QUICK:-}" ] && SLOW=1 "$@"
}

# False: not asked for.
begin() {
	test_name=$1
	wanted "$1" || return 1
	complaints=() status=() moved=([e]=$(sent_by e) [r]=$(sent_by r))
	rm -rf "${work:?}"/*.out "$work"/*.err "$work"/*.tty "$work"/*.pcap "${logs:?}"/*
}

verdict() {
	local name file

	for file in "$logs"/*.partial*; do
		[ ! -e "$file" ] || [ "${leaves:-}" = partial ] || complain "an unfinished log was left behind: ${file##*/}"
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
	wanted "$1" && echo "ok - $1 # SKIP $2"
}

# As on a machine where all other CPUs are set aside: `as` is then words before a program, as="$one_cpu" start_emitter ... False: it cannot
# be had, and the test of this name is skipped.
one_cpu="unshare -m sh $work/one_cpu.sh"
have_one_cpu() { # NAME
	printf 'mount --bind %s /sys/devices/system/cpu/isolated && exec "$@"\n' "$work/isolated" >"$work/one_cpu.sh"
	echo 0-1023 >"$work/isolated"
	$one_cpu true 2>/dev/null && return
	skip "$1" 'no mount namespace can be made here, or the kernel does not list isolated CPUs'
	return 1
}

# The same VLAN at both ends of the link.
add_vlan() { # INTERFACE ID
	ip -n "${ns[e]}" link add link "$link_e" name "$1" type vlan id "$2" && ip -n "${ns[r]}" link add link "$link_r" name "$1" type vlan id "$2"
}

# off: checksums are the kernel's, for who captures them; on: as everywhere else in these tests, the link's.
leave_checksums() {
	inside e ethtool -K "$link_e" tx "$1" >/dev/null 2>&1
	inside r ethtool -K "$link_r" tx "$1" >/dev/null 2>&1
}

# The kernel has one ftrace instance "rant", and config.sh makes it, too: who waits here has it alone, until leave_trace or the end.
own_trace() {
	[ ! -d /sys/kernel/tracing/instances ] || { exec {trace_lock}</sys/kernel/tracing/instances && flock "$trace_lock"; }
}

leave_trace() {
	[ -z "${trace_lock:-}" ] || flock -u "$trace_lock"
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
	timeout --foreground -k 5 "$GUARD_S" env --default-signal=INT,QUIT,HUP,TERM,XFSZ \
		nsenter --net="/var/run/netns/${ns[$side]}" "$@" \
		>"${stdout:-$work/$name.out}" 2>"${stderr:-$work/$name.err}" </dev/null &
	guard[$name]=$!
}

# Checks the guard: just after the start it is the only process.
is_running() {
	kill -0 "${guard[$1]}" 2>/dev/null
}

# The program that `start` started, as against its guard.
pid_of() {
	program_of "${guard[$1]}"
}

# The measuring thread of the program, while it is there.
loop_of() {
	local task name

	for task in "/proc/$(pid_of "$1")/task"/*; do
		read -r name 2>/dev/null <"$task/comm" && [ "$name" = rant-loop ] && echo "${task##*/}" && return
	done
}

# holds NAME FILE: it has it open.
holds() {
	find "/proc/$(pid_of "$1")/fd" -lname "$2" 2>/dev/null | grep -q .
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

# Ends programs by a signal, as a user does, one after the other.
terminate() {
	local name

	for name in "$@"; do
		send TERM "$name"
		finish "$name"
	done
}

# Bound to the port (l2: to the ethertype of PTP), or gone.
has_port() {
	local child

	is_running "$1" || return 0
	child=$(pid_of "$1")
	[ -n "$child" ] || return 1
	case $2 in
	l2) grep -q ' 88f7 ' "/proc/$child/net/packet" 2>/dev/null ;;
	*) grep -qi ":$(printf '%04x' "$2") " "/proc/$child/net/udp" "/proc/$child/net/udp6" 2>/dev/null ;;
	esac
}

has_sent() {
	! is_running "$1" || [ "$(sent_by "$2")" -ge "$3" ]
}

# Tests read the complete report; tests of the brief report set this to ().
details=(--details)

# Starts a reflector or an emitter and waits until it is ready; LOG in the arguments becomes a path.
start_reflector() {
	local name=$1
	local -a words prefix

	shift
	read -ra prefix <<<"${as:-}"
	read -ra words <<<"${*//LOG/$logs/$name.log}"
	start "$name" r taskset -c "$last_cpu" "${prefix[@]}" "$rant" "${details[@]}" -i "${link:-$link_r}" "${words[@]}"
	poll has_port "$name" "${port:-862}"
}

start_emitter() {
	local name=$1
	local -a words prefix

	shift
	read -ra prefix <<<"${as:-}"
	read -ra words <<<"${*//LOG/$logs/$name.log}"
	stdout=${emitter_stdout:-} start "$name" "${emitter_side:-e}" taskset -c "$first_cpu" "${prefix[@]}" \
		"$rant" "${details[@]}" -i "${link:-$link_e}" -a "${server:-$ip_r}" "${words[@]}"
}

# Until it has sent so many more packets than when the test began.
wait_for_packets() {
	poll has_sent "$1" "$2" $((moved[$2] + $3))
}

# ---- Checks ----------------------------------------------------------------------------------------------------------

# Rows that a report omits if they are 0, and then prints "all others 0".
FOLDED='Warm-up|Not asked|Unstamped|Negative|Stepped|Unfinished|Closing|Answered|Late|Duplicate|Reordered|Foreign|Malformed|Unverified'
FOLDED+='|Disallowed|Too short|No session|Stateless|Stalled for|Replayed|Over rate|Bad TLVs|Bad HMACs|Unanswered|Refused|Dropped by this host|Strays|Evicted'
FOLDED+='|Reply lost|Unknown|Not reported|Mixed|At the end|Remote step|Transmit|Receive|Late stamps|Duplicated stamps|Unmatched|Truncated|Other'

# row NAME ROW: a count of its report; blanks in a row's name are written as _.
row() {
	awk -F ' *:  ' -v row="  ${2//_/ }" -v folds="^  ($FOLDED)\$" '
		$1 == row { print $2 + 0; found = 1; exit }
		/^  all others 0$/ { folded = row ~ folds }
		END { if (!found && folded) print 0; exit !found && !folded }' "$work/$1.out"
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
		empty)
			[[ $what == *.err && -z $(said "${what%.err}") ]] || [ ! -s "$work/$what" ] || complain "$what is not empty"
			;;
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

# A measurement is void (3) where more time went into what was lost than into all the rest, which depends on the machine.
expect_status() {
	local have=${status[$1]}

	if [ "$2" = 0 ] && [ "$have" = 3 ] && grep -qs '^Measurement: void: the peer did not answer' "$work/$1.out"; then
		have=0
	fi
	[ "$have" = "$2" ] || complain "$1: exit status $have, not $2"
}

# Nothing left through any interface.
silent() {
	local side

	for side in e r; do
		[ "$(sent_by "$side")" -eq "${moved[$side]}" ] || complain "packets were sent on side $side"
	done
}

# Prints the stderr of a program without the warnings about a slow start-up.
said() { # NAME
	grep -v '^rant: still .* s now; nothing has been sent$' "$work/$1.err"
}

# One line on stderr, from rant.
one_line() {
	[ "$(said "$1" | wc -l)" -eq 1 ] || complain "$1.err has not one line"
	said "$1" | grep -q '^rant: ' || complain "$1.err is not from rant"
}

# refused_in_a_line WORDS ERR TEXT FOLDER BEFORE: the file ERR is one line with this text, and the folder has the files that it had
# BEFORE. WORDS: the command.
refused_in_a_line() {
	[ "$(wc -l <"$2")" -eq 1 ] || complain "$1: not one line: $(cat "$2")"
	grep -qF -- "$3" "$2" || complain "$1: no '$3' in: $(cat "$2")"
	[ "$(ls -A "$4")" = "$5" ] || complain "$1: it left or took a file: $(ls -A "$4")"
}

! python3 -c 'import jsonschema' 2>/dev/null || has_jsonschema=yes

# json_agrees NAME [JSON [REPORT]]: valid by the schema, and as the report of this program, which is one with --histogram, has it.
# namespace_json prints a skip if no validator is installed.
json_agrees() {
	local line here

	[ -n "${has_jsonschema:-}" ] || return 0
	here=$(dirname "${BASH_SOURCE[0]}")
	while read -r line; do
		complain "$1.json: $line"
	done < <(python3 "$here/read_json.py" "$here/../../docs/rant.schema.json" "${2:-$logs/$1.json}" "${3:-$work/$1.out}" 2>&1)
}

json_has() { # NAME PYTHON: true of JSON, the object; has(a, b): a has all members of b, at each depth
	[ -n "${has_jsonschema:-}" ] || return 0
	python3 -c '
import json, os, sys

def has(a, b):
    if isinstance(b, dict):
        return all(name in a and has(a[name], value) for name, value in b.items())
    return len(a) == len(b) and all(map(has, a, b)) if isinstance(b, list) else a == b

JSON = json.load(open(sys.argv[1]))
sys.exit(not eval(sys.argv[2]))' "$logs/$1.json" "${*:2}" ||
		complain "$1.json: not so: ${*:2}"
}

hdr_jar=/usr/share/java/hdrhistogram.jar
[ -e "$hdr_jar" ] && command -v java >/dev/null || hdr_jar=

# As it stands there, and as HdrHistogram's own reader has it.
hlog_agrees() { # NAME
	local line here
	local -a read_by_its_own=()

	here=$(dirname "${BASH_SOURCE[0]}")
	if [ -n "$hdr_jar" ]; then
		java -cp "$hdr_jar" org.HdrHistogram.HistogramLogProcessor -csv -outputValueUnitRatio 1 -i "$logs/$1.hlog" \
			-o "$work/$1.intervals" >"$work/$1.java" 2>&1 || complain "$1.hlog: its own reader: $(head -n 3 "$work/$1.java")"
		read_by_its_own=("$work/$1.intervals")
	fi
	while read -r line; do
		complain "$1.hlog: $line"
	done < <(python3 "$here/read_hlog.py" "$logs/$1.json" "$logs/$1.hlog" "${read_by_its_own[@]}" 2>&1)
}

# shellcheck source=tests/link/link_audit.sh
. "$(dirname "${BASH_SOURCE[0]}")/link_audit.sh"

# ---- Tests -----------------------------------------------------------------------------------------------------------

# pair NAME 'STATUS_R STATUS_E' REFLECTOR_ARGUMENTS EMITTER_ARGUMENTS CHECK...
# The reflector is ended by SIGTERM when the emitter is done, unless `ends=itself`. With `emitter_signal` the emitter
# gets that signal when it has sent some packets.
pair() {
	local name=$1 want_r want_e one

	begin "$name" || return 0
	read -r want_r want_e <<<"$2"
	${prepare:-true}
	start_reflector r "$3"
	# On a busy machine a process may not run for longer than the usual timeout; tests of losses set their own timeout.
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
	start "$side" "$side" "${prefix[@]}" "$rant" "${details[@]}" "${words[@]}"
	finish "$side"
	expect_status "$side" "$want"
	shift 4
	for one in "@audit $side" "$@"; do
		check "$one"
	done
	verdict
}

with_spikes() { # STAGE EVERY US: words before rant
	echo "env LD_PRELOAD=$spike SPIKE=$1,$2,$3 SPIKE_COUNT=$work/spikes.out"
}

K='--stamp kernel' U='--stamp user' E="-i $link_e -a $ip_r --stamp kernel"
KERNEL='\(CLOCK_REALTIME, read by the kernel\)' USER='\(CLOCK_REALTIME, read by the program\)'

# The kernel begins to stamp what it receives only some time after the first socket of the machine has asked for it
# (net_enable_timestamp() leaves it to a worker). This one asks for as long as the tests take.
hold_stamps() {
	GUARD_S=600 start hold e "$hostile" hold stamps "$ip_e" --for 600
}
[ "${0##*/}" = namespace_pair.sh ] || hold_stamps # that socket begins with a test of the first packet
