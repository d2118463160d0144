# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034
#
# For the tests of the lab, which source it: verdicts, and two interfaces in namespaces a and b, where 10.78.0.1 and
# 10.78.0.2 reach each other without any packet but those of the tests.
#
#   begin NAME; complain TEXT; verdict      a test; what was complained about makes it "not ok"; or judged_outside at its end
#   poll COMMAND...                         until it succeeds, at most GUARD_S seconds

export GUARD_S=${GUARD_S:-400} # a program that takes longer hangs; beside 15 other programs some took 200 s
work=$(mktemp -d /tmp/lab.XXXXXX)
failed=0 judged=0 test_name=
declare -a complaints=()

begin() {
	test_name=$1
	complaints=()
	rm -rf "${work:?}"/*
}

complain() {
	complaints+=("$*")
}

# repeated COMMAND...: COUNT=N times within a test; prints how many of them had no complaint.
repeated() {
	local i before good=0 count=${COUNT:-1}

	for ((i = 1; i <= count; i++)); do
		before=${#complaints[@]}
		"$@"
		[ ${#complaints[@]} -gt "$before" ] || good=$((good + 1))
	done
	[ "$count" -eq 1 ] || echo "# $test_name: $good of $count runs as expected"
}

# judged_outside PROGRAM WORD...: instead of verdict(). PROGRAM FOLDER will find there: what is in $work, and the files judge.name,
# judge.complaints and judge.words.
judged_outside() {
	local program=$1 folder=$((++judged))

	shift
	echo "$test_name" >"$work/judge.name"
	printf '%s\n' "$@" >"$work/judge.words"
	printf '%s\n' "${complaints[@]}" >"$work/judge.complaints"
	cp -r "$work" "$RESULTS/$folder" || complain 'cannot copy the results'
	echo "judge $program $folder"
}

# judge_tar FOLDER PROGRAM WORD...: as judged_outside(), with saved.tar of this folder, which is written outside: 56 traces of each kind are
# more than half of the guest's memory, and their small files take 2 s each to copy.
judge_tar() {
	tar -C "$work" --remove-files -cf "$RESULTS/saved.tar" "$1" || complain 'cannot pack the traces'
	judged_outside "$2" "RANT=$RANT" "SELF=${SELF:-0}" "${@:3}"
	mv "$RESULTS/saved.tar" "$RESULTS/$judged/saved.tar"
}

# The end of a report has its verdict.
shorten() { # FILE
	if [ "$(wc -l <"$1")" -le 36 ]; then cat "$1"; else head -30 "$1" && echo ... && tail -5 "$1"; fi
}

verdict() {
	local file

	if [ ${#complaints[@]} -eq 0 ]; then
		echo "ok - $test_name"
		return
	fi
	failed=1
	echo "not ok - $test_name"
	printf '# %s\n' "${complaints[@]}"
	for file in "$work"/*.err "$work"/*.out; do
		[ ! -s "$file" ] || { echo "# ${file##*/}:" && shorten "$file" | cut -c 1-300 | cat -v | sed 's/^/#   /'; }
	done
}

# Nobody writes here: reading it with a limit is a sleep without a program to start, which takes long in the guest.
mkfifo "$work.never"
exec {never}<>"$work.never"

pause() { # SECONDS
	read -r -t "$1" -u "$never" _ || true
}

# at_peer <SCRIPT: in the second guest, in bash, with the same $RESULTS; prints its output, and has its status. What it leaves in the
# background goes on.
asked=0
at_peer() {
	local file=$RESULTS/peer.$((++asked))

	cat >"$file.part"
	mv "$file.part" "$file.asked"
	poll test -e "$file.status" || return 1
	cat "$file.out"
	return "$(<"$file.status")"
}

# slow COMMAND...: not where only the quick tests are wanted.
slow() {
	[ -n "${QUICK:-}" ] || SLOW=1 "$@"
}

# quick COMMAND...: only in the quick tests.
quick() {
	[ -n "${REST:-}" ] || "$@"
}

# In steps of a tenth of a second: to look takes some 15 ms of a CPU here, which the programs that it waits for want, too.
poll() {
	local until=$((SECONDS + GUARD_S))

	until "$@"; do
		[ "$SECONDS" -lt "$until" ] || { complain "waited $GUARD_S s in vain for: $*" && return 1; }
		pause 0.1
	done
}

# ---- Namespaces ------------------------------------------------------------------------------------------------------

declare -A link=() address=([a]=10.78.0.1 [b]=10.78.0.2 [c]=10.78.0.3)

# By nsenter and not by ip netns exec, which hides tracefs.
at() {
	local side=$1

	shift
	nsenter --net="/var/run/netns/$side" "$@"
}

has_carrier() {
	at "$1" ip -o link show dev "${link[$1]}" | grep -q LOWER_UP
}

mac_of() {
	at "$1" ip -o link show dev "${link[$1]}" | sed 's/.*link.ether \([^ ]*\).*/\1/'
}

# Its interface into its namespace, up, with an address.
settle() { # SIDE
	local side=$1

	ip netns add "$side"
	ip link set "${link[$side]}" netns "$side"
	# shellcheck disable=SC2016 # for the inner shell
	at "$side" sh -c 'for f in /proc/sys/net/ipv6/conf/*/disable_ipv6; do echo 1 >"$f"; done'
	at "$side" ip link set lo up
	at "$side" ip address add "${address[$side]}/24" dev "${link[$side]}"
	at "$side" ip link set "${link[$side]}" up
}

# Neighbours are static, for ARP would send packets.
acquaint() { # SIDE SIDE
	poll has_carrier "$1" && poll has_carrier "$2"
	at "$1" ip neigh replace "${address[$2]}" lladdr "$(mac_of "$2")" nud permanent dev "${link[$1]}"
	at "$2" ip neigh replace "${address[$1]}" lladdr "$(mac_of "$1")" nud permanent dev "${link[$2]}"
}

apart() { # IFACE IFACE
	link=([a]=$1 [b]=$2)
	settle a
	settle b
	acquaint a b
}

together() {
	ip netns del a
	ip netns del b
}

sent_by() {
	at "$1" cat "/proc/net/dev" | awk -v link="${link[$1]}:" '$1 == link { print $11 }'
}

# "tx_type rx_filter", by linuxptp and not by rant.
setting_of() {
	at "$1" hwstamp_ctl -i "${link[$1]}" | awk '$1 == "tx_type" { t = $2 } $1 == "rx_filter" { print t, $2 }'
}

# ---- Running rant ----------------------------------------------------------------------------------------------------

declare -A pid=() status=()

# start NAME SIDE COMMAND...: output in NAME.out and NAME.err. Process ids are of the program itself.
start() {
	local name=$1 side=$2

	shift 2
	nsenter --net="/var/run/netns/$side" "$@" \
		>"$work/$name.out" 2>"$work/$name.err" </dev/null &
	pid[$name]=$!
}

# Also when the shell has not noticed it yet, as happens when a program ends while poll pauses.
is_gone() {
	local stat

	! read -r stat 2>/dev/null <"/proc/${pid[$1]}/stat" || [[ ${stat##*) } == Z* ]]
}

finish() {
	local name

	for name in "$@"; do
		poll is_gone "$name" ||
			{ complain "$name: $(cut -d' ' -f3 "/proc/${pid[$name]}/stat")" && kill -KILL "${pid[$name]}"; }
		status[$name]=0
		wait "${pid[$name]}" 2>/dev/null || status[$name]=$?
	done
}

stop() {
	kill -TERM "${pid[$1]}" 2>/dev/null
	finish "$1"
}

has_port() {
	is_gone "$1" || [[ $(<"/proc/${pid[$1]}/net/udp") == *:035E\ * ]] # 862
}

# row NAME ROW: a count of its report; 0 where that folds counts of 0.
row() {
	awk -F ' *:  ' -v row="  $2" '$1 == row { print $2 + 0; found = 1; exit } /^  all others 0$/ { folded = 1 }
		END { if (!found && folded) print 0; exit !found && !folded }' "$work/$1.out" || echo -1
}

expect() { # LEFT OP RIGHT, of test(1), and its name
	test "$1" "$2" "$3" 2>/dev/null || complain "$4: $1 $2 $3 is not so"
}

# A measurement is void (3) where losses took more time than all the rest, which depends on the machine.
expect_status() {
	local have=${status[$1]}

	if [ "$2" = 0 ] && [ "$have" = 3 ] && grep -qs '^Measurement: void: the peer did not answer' "$work/$1.out"; then
		have=0
	fi
	[ "$have" = "$2" ] || complain "$1: exit status $have, not $2"
}

expect_line() { # FILE REGEX
	grep -Eq -- "$2" "$work/$1" || complain "no line of $1 matches: $2"
}

# The identities of the accounts that rant printed.
expect_balance() {
	local name=$1 placed received more

	placed=$(($(row "$name" Warm-up) + $(row "$name" Recorded) + $(row "$name" Unstamped) + $(row "$name" Negative) + $(row "$name" Stepped)))
	received=$(($(row "$name" Foreign) + $(row "$name" Malformed) + $(row "$name" Unverified)))
	if grep -q '^  Lost' "$work/$name.out"; then
		placed=$((placed + $(row "$name" Lost) + $(row "$name" Unfinished) + $(row "$name" Closing)))
		received=$((received + $(row "$name" Answered) + $(row "$name" Late) + $(row "$name" Duplicate)))
	else
		received=$((received + $(row "$name" Sent)))
		for more in Unanswered Disallowed 'Too short' 'No session' Replayed 'Over rate'; do
			received=$((received + $(row "$name" "$more")))
		done
		! grep -q '^  Truncated requests' "$work/$name.out" || received=$((received + $(row "$name" 'Truncated requests')))
	fi
	expect "$(row "$name" Sent)" -eq "$placed" "accounts of $name: sent"
	expect "$(row "$name" Received)" -eq "$received" "accounts of $name: received"
}

# known_by FILE: lines "SEQ T2 T3" of a log, of what has both stamps of the reflector.
known_by() {
	awk 'NR == 1 { for (i = 1; i <= NF; i++) if ($i ~ /^T[23]_(HW|KERNEL|LOCAL)$/) at[substr($i, 2, 1)] = i }
		NR > 2 && $at[2] != "-" && $at[3] != "-" { print $1, $at[2], $at[3] }' "$work/$1" | sort -u
}

# expect_known LEAST EMITTER_LOG... -- REFLECTOR_LOG...: what emitters know of the reflector (--log-full) it has written itself;
# each knows it of so many packets.
expect_known() {
	local least=$1 log own=$work/own

	shift
	while [ "${*: -1}" != -- ]; do
		known_by "${*: -1}" >>"$own"
		set -- "${@:1:$#-1}"
	done
	sort -uo "$own" "$own"
	# Wrong on purpose: see the tests that have it.
	[ "${SELF:-0}" = 0 ] || sed -i 's/$/0/' "$own"
	for log in "${@:1:$#-1}"; do
		known_by "$log" >"$work/known"
		expect "$(wc -l <"$work/known")" -ge "$least" "packets whose eight stamps $log has"
		expect "$(comm -23 "$work/known" "$own" | wc -l)" -eq 0 "stamps in $log that the reflector's own log has not"
	done
}
