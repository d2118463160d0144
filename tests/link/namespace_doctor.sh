#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# rant --check.
# shellcheck source=tests/link/link.sh
. "$(dirname "$0")/link.sh"
here=$(dirname "${BASH_SOURCE[0]}")

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
	"e.out ~ ^ok    driver: 'veth', no hardware timestamps in use" 'e.out ~ ^ok    link: up, with a carrier' \
	'e.out ~ ^ok    speed: 10000 Mb/s, duplex full' 'e.out ~ ^note  NIC clock: the NIC has no clock' \
	'e.out ~ ^note  NIC interrupts: unknown, ' 'e.out ~ ^note  NUMA: unknown, ' 'e.out ~ ^ok    users: ' \
	'e.out ~ , 1 failure$'
alone 'doctor: veth with kernel stamps' 0 e "--check -i $link_e $K" "${DOCTOR[@]}" \
	'e.out ~ ^ok    stamps: ' 'e.out ~ ^ok    NIC clock: ' 'e.out ~ , 0 failures$' \
	'e.out ~ ^ok    busy polling: not requested' 'e.out ~ ^(ok|note|warn) +largest gap: [0-9.]+ us .*measured now, by this process'
details=() # which --prove refuses
# What is proved where there are timestamps: tests/lab/test_prove.sh.
alone 'prove: veth has no hardware clock' 1 e "--prove -i $link_e -a $ip_r" '@silent' 'e.err empty' \
	"e.out ~ ^Timestamps of $link_e, reflector $ip_r$" "e.out ~ ^STAMP in UDP   no: interface '$link_e' .* has no hardware clock" \
	"e.out ~ ^ICMP echo      no: interface '$link_e' " "e.out ~ ^not known: interface '$link_e' .* has no hardware clock"
alone 'prove: without a reflector' 1 e "--prove -i $link_e" '@silent' 'e.err empty' \
	'e.out ~ ^STAMP in UDP   not tried: needs -a with an IP address$' "e.out ~ ^PTP in L2      no: interface '$link_e' " \
	'e.out ~ ^not known: a slope needs a reflector: give -a PEER$'
# valid_json DEFINITION CONDITION: $logs/doctor.json by the schema; DATA is its member of the same name.
valid_json() {
	[ -n "${has_jsonschema:-}" ] || return 0
	python3 - "$here/../../docs/rant.schema.json" "$logs/doctor.json" "$@" <<-'EOF' 2>"$work/valid" || complain "$1: $(tail -n 1 "$work/valid")"
		import json, sys
		import jsonschema
		schema, all_of_it = (json.load(open(path)) for path in sys.argv[1:3])
		jsonschema.validate(all_of_it, {**schema["definitions"][sys.argv[3]], "definitions": schema["definitions"]})
		DATA = all_of_it[sys.argv[3]]
		assert eval(f"({sys.argv[4]})"), DATA
	EOF
}
proof_agrees() {
	valid_json proof 'DATA["verdict"] == "not_known" and DATA["filters"] == [] and
		all("has no hardware clock" in packets["failure"] for packets in DATA["packets"][:2])'
}
alone 'prove: as JSON, without a table' 1 e "--prove -i $link_e -a $ip_r --quiet --json $logs/doctor.json" '@silent' 'e.out empty' \
	'e.err empty' '@proof_agrees'
alone 'prove: the JSON on stdout, the table on stderr' 1 e "--prove -i $link_e --json -" '@silent' 'e.out ~ "verdict": "not_known"' \
	'e.err ~ ^not known: a slope needs'
# The text has a line for each.
check_agrees() {
	valid_json check "[sum(f['level'] == level for f in DATA['findings']) for level in ('ok', 'note', 'warn', 'fail')] ==
		[$(for level in ok note warn fail; do grep -cE "^$level +[^ ].*: " "$work/e.out"; done | paste -sd,)]"
	valid_json check "{(f['interface'], f['subject']) for f in DATA['findings']} >= {('$link_e', 'link'), (None, 'placement')}"
	valid_json check "[f for f in DATA['findings'] if f['level'] == 'fail'] == [dict(interface='$link_e', level='fail', subject='stamps',
		what='no hardware clock', where='ethtool TSINFO', why='--stamp hardware cannot work', cure='rant --stamp kernel')]"
}
alone 'doctor: as JSON beside the text' 1 e "--check -i $link_e --json $logs/doctor.json" "${DOCTOR[@]}" '@check_agrees'
alone 'doctor: the JSON on stdout, the text on stderr' 1 e "--check -i $link_e --json -" '@silent' 'e.out ~ "level":"fail"' 'e.err ~ , 1 failure$'
alone 'doctor: the JSON cannot be written' 1 e "--check -i $link_e --quiet --json /dev/full" '@silent' 'e.out empty' 'e.err ~ ^rant: --json /dev/full: could not be written'
details=(--details)
alone 'doctor: lo' 1 e '--check -i lo' "${DOCTOR[@]}" 'e.out ~ ^fail  stamps: no hardware clock' \
	'e.out ~ ^note  speed: unknown \(ETHTOOL_GLINKSETTINGS: Operation not supported\)$' \
	'e.out ~ ^note  rings: unknown \(ETHTOOL_GRINGPARAM: Operation not supported\)$' 'e.out ~ ^ok    link: '
alone 'doctor: lo with kernel stamps' 0 e "--check -i lo $K" "${DOCTOR[@]}" 'e.out ~ , 0 failures$'
alone 'doctor: interface down' 1 e "--check -i $link_down $K" "${DOCTOR[@]}" \
	"e.out ~ ^fail  link: down \(SIOCGIFFLAGS\): rant cannot send packets: ip link set $link_down up$"
alone 'doctor: no carrier' 1 e "--check -i $link_bare $K" "${DOCTOR[@]}" 'e.out ~ ^fail  link: no carrier \(ETHTOOL_GLINK\)'
# refused NAME ARGUMENTS REGEX: the doctor reports a failure, and a run with the same arguments does not start, with the same
# message.
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
	'e.out ~ ^ok    address: the reflector is reached' 'e.out ~ ^ok    socket: the kernel accepts all options'
# Each interface that is up has its findings, the host once.
of_all() {
	local name

	for name in "$link_e" "$link_bare"; do
		grep -q "^Interface $name: --stamp kernel: $name .driver 'veth'. has no hardware clock$" "$work/e.out" ||
			complain "no heading for $name"
	done
	grep -q "^Interface $link_down: down, not checked$" "$work/e.out" || complain "$link_down is not reported as down"
	[ "$(grep -c '^....  link: ' "$work/e.out")" -ge 2 ] || complain 'not a link for each interface'
	[ "$(grep -c '^....  capabilities: ' "$work/e.out")" -eq 1 ] || complain 'the host is not inspected once'
}
alone 'doctor: all interfaces without -i' 1 e '--check' '@silent' 'e.err empty' '@of_all' \
	'e.out ~ ^fail  link: no carrier' 'e.out ~ [0-9] failures?$' 'e.out !~ ^Interface lo'
alone 'doctor: HOST' 0 e "--check $ip_r" '@silent' "e.err ~ through $link_e, --stamp kernel" 'e.out ~ ^ok    address: '
alone 'doctor: no such interface' 1 e "--check -i nosuch0" '@silent' '@one_line e' 'e.out empty'
alone 'doctor: -q leaves the exit status' 1 e "--check -q -i $link_e" '@silent' 'e.err empty' 'e.out empty'
# /sys shows the namespace of the host, whose loopback interface has the same index and address.
alone 'doctor: /sys of another namespace is not used' 0 e "--check -i lo $K -P" "${DOCTOR[@]}" \
	'e.out ~ ^note  busy polling: napi_defer_hard_irqs unknown, '
as="chrt -f 5 taskset -c $first_cpu" alone 'doctor: its own CPU and priority' 0 e "--check -i $link_e $K" "${DOCTOR[@]}" \
	"e.out ~ ^ok    placement: only on CPU $first_cpu " 'e.out ~ ^ok    scheduling: SCHED_FIFO 5 ' \
	"e.out ~ largest gap: .*SCHED_FIFO 5 on CPU $first_cpu\\)"
as='setpriv --reuid=65534 --regid=65534 --clear-groups' alone 'doctor: for an ordinary user' 0 e "--check -i $link_e $K" \
	"${DOCTOR[@]}" 'e.out ~ ^note  capabilities: without cap_net_admin, .*cap_sys_nice, .*docs/privileges\.md$'
