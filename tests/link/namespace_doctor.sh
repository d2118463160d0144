#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The doctor, rant --check.
# shellcheck source=tests/link/link.sh
. "$(dirname "$0")/link.sh"

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
		/^(NIC|Clock|Interrupts|CPU|Memory|Tracing|Rights):$/ { headings++; next }
		/ ok, / { counted = $1 == n["ok"] + 0 && $3 == n["note"] + 0 && $5 == n["warn"] + 0 && $7 == n["fail"] + 0; next }
		length { print "not a finding: " $0 }
		END {
			if (headings != 7) print headings " headings"
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
# refused NAME ARGUMENTS WHAT: the doctor calls it a failure, and a run with the same arguments ends before it began, with
# the same words.
refused() {
	alone "doctor: $1" 1 e "--check $2" '@silent' 'e.err empty' '@findings e' "e.out ~ ^fail  $3.*: rant will not start: " '@note_words'
	alone "doctor: $1: nor does a run start" 1 e "$2" '@silent' 'e.out empty' '@same_words'
}

note_words() {
	refusal=$(sed -n 's/.*: rant will not start: //p' "$work/e.out")
}

same_words() {
	[ -n "$refusal" ] || complain "there are no words to compare"
	tail -1 "$work/e.err" | grep -qF -- ": $refusal" || complain "not the doctor's words: $refusal"
}

refused 'no address' "-i $link_bare $K" "address: interface '$link_bare' has no IP address \\(RTM_GETADDR\\)"
refused 'no route' "-i $link_e -a 192.0.2.1 $K" "address: no route to address '192.0.2.1' through interface '$link_e' \\(RTM_GETROUTE\\)"
refused 'its own address' "-i $link_e -a $ip_e $K" "address: address '$ip_e' is this host's own address"
as='setpriv --reuid=65534 --regid=65534 --clear-groups' refused 'no privilege' "-i $link_e --priority 7 $K" \
	'socket: --priority 7 \(setsockopt\)'
alone 'doctor: a server that is reached' 0 e "--check -i $link_e -a $ip_r $K" "${DOCTOR[@]}" \
	'e.out ~ ^ok    address: the server is reached' 'e.out ~ ^ok    socket: the kernel takes all options'
alone 'doctor: no such interface' 1 e "--check -i nosuch0" '@silent' '@one_line e' 'e.out empty'
alone 'doctor: -q leaves the exit status' 1 e "--check -q -i $link_e" '@silent' 'e.err empty' 'e.out empty'
# /sys shows the namespace of the machine, which has a loopback interface too, of the same index and address.
alone 'doctor: what only /sys of another namespace knows is not told' 0 e "--check -i lo $K -P" "${DOCTOR[@]}" \
	'e.out ~ ^note  busy polling: cannot tell about napi_defer_hard_irqs'
as="chrt -f 5 taskset -c $first_cpu" alone 'doctor: its own CPU and priority' 0 e "--check -i $link_e $K" "${DOCTOR[@]}" \
	"e.out ~ ^ok    placement: only on CPU $first_cpu " 'e.out ~ ^ok    scheduling: SCHED_FIFO 5 ' \
	"e.out ~ largest gap: .*SCHED_FIFO 5 on CPU $first_cpu\\)"
as='setpriv --reuid=65534 --regid=65534 --clear-groups' alone 'doctor: for an ordinary user' 0 e "--check -i $link_e $K" \
	"${DOCTOR[@]}" 'e.out ~ ^note  capabilities: without cap_net_admin, .*cap_sys_nice, .*docs/privileges\.md$'
