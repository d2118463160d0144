#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Echoes: both families by both kinds of socket, altered and foreign replies, ICMP errors on the path, and the advantage of kernel
# timestamps over ping.
# shellcheck source=tests/link/link.sh
. "$(dirname "$0")/link.sh"

echoes=('e:Recorded -eq 200' 'e:Lost -eq 0' 'e:Unstamped -eq 0' 'e:Foreign -eq 0' 'e:Malformed -eq 0' 'e:Duplicate -eq 0' 'e:Strays -eq 0'
	'e:Refused -eq 0' 'e.out ~ ^Echo \(ICMP\): the responder reports no times$' 'e.out ~ ^  Slow:    a reply may have waited in the responder: '
	'e.out !~ [Rr]eflector' 'e.out !~ Response|Network|Forward')

# allow_ping RANGE: the groups that may have ping sockets, in the emitter's namespace.
allow_ping() {
	inside e sh -c "echo '$1' >/proc/sys/net/ipv4/ping_group_range"
}

# set_there NAME VALUE: below /proc/sys/net of the other side.
set_there() {
	inside r sh -c "echo '$2' >/proc/sys/net/$1"
}

# echo_to ADDRESS NAME STATUS ARGUMENTS CHECK...
echo_to() {
	local server=$1 name=$2 want=$3 arguments=$4

	shift 4
	as="taskset -c $first_cpu ${as:-}" alone "$name" "$want" e "-i $link_e -a $server --transport icmp --timeout 5000 $arguments" "$@"
}

# No remote times, and the local times in order.
own_times() {
	awk '$1 ~ /^[0-9]+$/ { rows++; for (i = 2; i <= 5; i++) if ($i !~ /^[0-9]+\.[0-9]+$/) bad++ } END { exit rows != 200 || bad }' "$logs/e.log" ||
		complain 'a time is missing from the log'
}

nothing_is_told() {
	tr -d ' \n\t' <"$work/echo.json" >"$work/echo.flat"
	grep -qF "\"transport\":\"$1" "$work/echo.flat" || complain "--json does not have '$1'"
	grep -qF '"reflector_stamps":null' "$work/echo.flat" || complain '--json has remote timestamps'
	grep -qF '"interval_ns":1000000,' "$work/echo.flat" || complain '--json does not have the interval'
}

# ---- As other transports ----------------------------------------------------------------------------------------------

# by_socket KIND FAMILY ADDRESS OWN
by_socket() {
	local kind=$1 of=$2 to=$3 own=$4 name="icmp: $1 socket, $2" pace='--interval 1ms --count 200'

	echo_to "$to" "$name: kernel stamps, a log" 0 "$K -s -v -H -l LOG --json $work/echo.json $pace" "${echoes[@]}" '@own_times' \
		"@json_agrees e $work/echo.json" \
		"e.err ~ ^Emitting on $link_e \\(.*\\) by ICMP.* \\($kind socket\\)\$" "@nothing_is_told ICMP" \
		"e.out ~ ^Latency: RTT = T4_KERNEL - T1_KERNEL $KERNEL\$"
	echo_to "$to" "$name: stamps of user space" 0 "$U $pace -H --json $logs/e.json" "${echoes[@]}" '@json_agrees e'
	echo_to "$to" "$name: one at a time" 0 "$K --interval 1ms --window 1 --count 200" "${echoes[@]}"
	echo_to "$to" "$name: some stamps, size, class, TTL, priority, an address" 0 \
		"$K --interval 200us --stamp-every 4 --count 800 --size 1001 --dscp EF --ttl 64 --priority 3 --bind $own -H --json $logs/e.json" \
		"${echoes[@]}" '@json_agrees e' \
		'e:Not_asked -eq 600' 'e.out ~ To there *:  800800 octets in 800 packets' 'e.out ~ From there *:  800800 octets in 800 packets'
	echo_to "$to" "$name: a threshold ends it" 2 "$K --interval 1ms -t 0.001 -H --json $logs/e.json" 'e.out ~ [Bb]reach' '@json_agrees e'
	echo_to "$to" "$name: larger than the MTU" 1 "$K --size 1473" '@one_line e' 'e.err ~ at most 14[57]2 octets fit into the MTU of 1500'
	strange_answers "$kind" "$of" "$to"
}

# ---- Invalid replies --------------------------------------------------------------------------------------------------

bad_one_is_ready() {
	! is_running h || grep -qs ready "$work/h.out"
}

done_by() {
	sed -n "s/.*\\b$1=\\([0-9]*\\).*/\\1/p" "$work/h.out"
}

# Each probe gets a single fault, so all losses and counts are known.
strange_answers() {
	local quiet second lost=0 one

	begin "icmp: $1 socket, $2: replies that are altered, duplicated or from another host" || return 0
	[ "$2" = IPv4 ] && quiet=ipv4/icmp_echo_ignore_all second=$ip_second || quiet=ipv6/icmp/echo_ignore_all second=$ip6_second
	set_there $quiet 1
	start h r python3 "$(dirname "$0")/hostile_echo.py" "$link_r" "$3" "$second"
	poll bad_one_is_ready
	start e e "$rant" "${details[@]}" -i "$link_e" -a "$3" --transport icmp --stamp kernel --interval 1ms --timeout 500 --count 320
	finish e
	terminate h
	set_there $quiet 0
	expect_status e 0
	audit e
	for one in altered other_id stranger short other_t1 other_code long; do
		lost=$((lost + $(done_by $one)))
	done
	[ "$lost" -eq 140 ] || complain "$lost were answered badly: $(cat "$work/h.out")"
	check "e:Lost -eq $lost"
	check 'e:Recorded -eq 180'
	check "e:Malformed -eq $(($(done_by altered) + $(done_by short) + $(done_by other_code) + $(done_by long)))"
	check "e:Foreign -eq $(done_by other_t1)"
	check "e:Duplicate -eq $(done_by again)"
	check "e:Strays -eq $(done_by stranger)"
	check 'e.out ~ Lost: +140 of 320: may be rate limiting, '
	verdict
}

# Replies to another ping on the same host are not taken.
emits() {
	! is_running "$1" || grep -qs '^Emitting' "$work/$1.err"
}

beside_others() {
	local one

	begin 'icmp: at the same time as other pings' || return 0
	for one in e e2 e3; do
		[ $one != e3 ] || allow_ping '0 2147483647'
		start $one e "$rant" "${details[@]}" -i "$link_e" -a "$ip_r" --transport icmp --stamp kernel -v --interval 1ms --timeout 5000 --count 600
		poll emits $one
	done
	finish e e2 e3
	allow_ping '1 0'
	check 'e2.err ~ raw socket'
	check 'e3.err ~ ping socket'
	for one in e e2 e3; do
		expect_status "$one" 0
		audit "$one"
		check "$one:Recorded -eq 600"
		check "$one:Foreign -eq 0"
		check "$one:Malformed -eq 0"
		check "$one:Strays -eq 0"
		check "$one:Unmatched -eq 0"
	done
	verdict
}

# ---- Loss and rate limiting -------------------------------------------------------------------------------------------

# The peer's kernel rate-limits its replies by a token bucket with net.ipv4.icmp_ratemask, bit 0.
rate_limit() {
	begin 'icmp: a host that limits its answers' || return 0
	set_there ipv4/icmp_ratemask 1
	set_there ipv4/icmp_ratelimit 100
	start e e "$rant" "${details[@]}" -i "$link_e" -a "$ip_r" --transport icmp --stamp kernel --timeout 200 --count 150 --json "$work/echo.json"
	finish e
	start read e "$rant" --details --report "$work/echo.json"
	finish read
	set_there ipv4/icmp_ratemask 6168
	set_there ipv4/icmp_ratelimit 1000
	expect_status e 0
	audit e
	check 'e:Lost -ge 90'
	check 'e:Recorded -ge 10'
	check 'e.out ~ ^Schedule: a probe every 10000.000 us; .*: --interval TIME changes it$'
	check 'e.out ~ ^  Lost: +[0-9]+ of 150: may be rate limiting, .* \(asked: [0-9]+\): compare with a longer --interval$'
	check 'read.out ~ ^  Lost: +[0-9]+ of 150: may be rate limiting, '
	verdict
}

# Each echo that a rule at the peer drops is lost, and no other except late replies on a busy machine.
exact_loss() {
	local dropped

	begin 'icmp: losses are exact' || return 0
	if ! ip netns exec "${ns[r]}" tc qdisc add dev "$link_r" root netem loss 10% 2>"$work/netem.err"; then
		skip "$test_name" "no netem on this kernel: $(head -1 "$work/netem.err")"
		return 0
	fi
	start e e "$rant" "${details[@]}" -i "$link_e" -a "$ip_r" --transport icmp --stamp kernel --interval 1ms --timeout 1000 --count 1000
	finish e
	dropped=$(ip netns exec "${ns[r]}" tc -s qdisc show dev "$link_r" | sed -n 's/.*(dropped \([0-9]*\),.*/\1/p' | head -1)
	ip netns exec "${ns[r]}" tc qdisc del dev "$link_r" root
	expect_status e 0
	audit e
	[ "${dropped:-0}" -gt 0 ] || complain 'nothing was dropped'
	[ $(($(row e Lost) - $(row e Late))) -eq "${dropped:-0}" ] || complain "$(row e Lost) lost, $(row e Late) late, $dropped dropped"
	verdict
}

# ---- ICMP errors on the path ------------------------------------------------------------------------------------------

# unreachable NAME ADDRESS ARGUMENTS
unreachable() {
	local -a words

	begin "$1" || return 0
	read -ra words <<<"$3"
	start e e "$rant" "${details[@]}" -i "$link_e" -a "$2" --transport icmp --stamp kernel --timeout 100 --count 3 "${words[@]}"
	finish e
	expect_status e 1
	audit e
	check 'e:Recorded -eq 0'
	[ $(($(row e Refused) + $(row e Other))) -ge 1 ] || complain 'the router error was not counted'
	check 'e.out ~ ^Measurement: void: '
	verdict
}

errors_on_the_way() {
	ip -n "${ns[e]}" route add 10.77.9.0/24 via "$ip_r"
	set_there "ipv4/conf/$link_r/forwarding" 1
	set_there ipv4/icmp_ratelimit 0
	ip -n "${ns[r]}" route add prohibit 10.77.9.1
	ip -n "${ns[r]}" route add unreachable 10.77.9.2
	ip -n "${ns[r]}" route add 10.77.9.3 dev "$link_r"
	unreachable 'icmp: prohibited by a router' 10.77.9.1 ''
	unreachable 'icmp: no way from a router on' 10.77.9.2 ''
	unreachable 'icmp: too few hops' 10.77.9.3 '--ttl 1'
	ip -n "${ns[r]}" route del prohibit 10.77.9.1
	ip -n "${ns[r]}" route del unreachable 10.77.9.2
	ip -n "${ns[r]}" route del 10.77.9.3 dev "$link_r"
	set_there "ipv4/conf/$link_r/forwarding" 0
	set_there ipv4/icmp_ratelimit 1000
	ip -n "${ns[e]}" route del 10.77.9.0/24 via "$ip_r"
}

# ICMP errors that do not end a connection reach a socket only on request.
errors6_on_the_way() { # KIND
	local was
	ip -n "${ns[e]}" route add 2001:db8:79::/64 via "$ip6_r"
	set_there ipv6/conf/all/forwarding 1
	was=$(inside r cat /proc/sys/net/ipv6/icmp/ratelimit) # kernels differ
	set_there ipv6/icmp/ratelimit 0
	ip -n "${ns[r]}" route add 2001:db8:79::3 dev "$link_r"
	unreachable "icmp: $1 socket, IPv6: too few hops" 2001:db8:79::3 '--ttl 1'
	ip -n "${ns[r]}" route del 2001:db8:79::3 dev "$link_r"
	set_there ipv6/icmp/ratelimit "$was"
	set_there ipv6/conf/all/forwarding 0
	ip -n "${ns[e]}" route del 2001:db8:79::/64 via "$ip6_r"
}

# ---- Privileges -------------------------------------------------------------------------------------------------------

rights() {
	local nobody='setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps -all --bounding-set -net_raw' as

	if ! command -v setpriv >/dev/null; then
		skip 'icmp without rights' "'setpriv' is not installed"
		return
	fi
	as=$nobody echo_to "$ip_r" 'icmp: neither kind of socket is allowed' 1 "$K" '@silent' '@one_line e' \
		'e.err ~ net.ipv4.ping_group_range, and a raw socket takes CAP_NET_RAW: .*sysctl.* setcap cap_net_raw'
	allow_ping '0 2147483647'
	as=$nobody echo_to "$ip_r" 'icmp: anybody may, where groups are allowed to' 0 "$K --interval 1ms --count 200" "${echoes[@]}"
	allow_ping '70000 70000'
	as=$nobody echo_to "$ip_r" 'icmp: another group is not' 1 "$K" '@silent' '@one_line e'
	allow_ping '1 0'
}

refusals() {
	local arguments pattern

	while IFS='|' read -r arguments pattern; do
		[ -n "$arguments" ] || continue
		alone "bad icmp: $arguments" 1 e "-i $link_e $K --transport icmp $arguments" '@silent' '@one_line e' 'e.out empty' "e.err ~ $pattern"
	done <<-END
		--quiet|--transport icmp without --address: any host answers an echo by itself
		-a $ip_broadcast|address '$ip_broadcast' is not a single host
		-a 224.0.0.1|address '224.0.0.1' is not a single host
		-a 02:00:00:00:00:01|a MAC address is for --transport l2
		-a $ip_r --source-ports 2|--source-ports 2 with --transport icmp: an echo has no port
		-a $ip_r --key /nowhere|an echo returns unchanged, which cannot prove a key
	END
	alone 'icmp: --check sends nothing, and finds the socket' 0 e "-i $link_e -a $ip_r $K --transport icmp --check" '@silent' \
		'e.out ~ ^ok +socket: the kernel accepts all options'
}

# As every address is given.
named() {
	local there

	echo_to localhost 'icmp: a name, by the loopback' 0 "-i lo -4 $K --interval 1ms --count 200" 'e:Recorded -eq 200' 'e:Strays -eq 0'
	$six || return 0
	there=$(ip -n "${ns[r]}" -6 -o address show dev "$link_r" scope link | sed 's/.*inet6 \([^/]*\).*/\1/')
	echo_to "$there%$link_e" 'icmp: a link-local address with its zone' 0 "$K --interval 1ms --count 200" "${echoes[@]}"
}

# ---- Decoding by tshark -----------------------------------------------------------------------------------------------

is_capturing_echoes() {
	! is_running cap || { [ -s "$work/cap.pcap" ] && grep -qs '^Capturing on' "$work/cap.err"; }
}

# decoded_echoes KIND LINK ADDRESS FAMILY HEADERS: types, a constant id, the numbers, lengths, correct checksums, the IP header, and
# for IPv6 a constant flow label in each direction.
decoded_echoes() {
	local p=icmp
	local -a ip=(-e ip.ttl -e ip.dsfield.dscp)

	[ "$4" = IPv4 ] || p=icmpv6 ip=(-e ipv6.hlim -e ipv6.tclass.dscp -e ipv6.flow)
	begin "icmp: tshark decodes $4 of a $1 socket" || return 0
	start cap r tshark -i "$2" -f 'icmp[0] == 8 or icmp[0] == 0 or icmp6[0] == 128 or icmp6[0] == 129' -c 40 -w "$work/cap.pcap"
	poll is_capturing_echoes
	start e e "$rant" "${details[@]}" -i "${2/#$link_r/$link_e}" -a "$3" --transport icmp --stamp kernel --timeout 5000 --interval 2ms --size 101 --dscp EF \
		--ttl 77 --count 20
	finish e cap
	expect_status e 0
	check 'e:Recorded -eq 20'
	tshark -r "$work/cap.pcap" -T fields -E separator=, -e $p.type -e $p.checksum.status -e frame.len -e _ws.malformed \
		-e $p."$([ $p = icmp ] && echo ident || echo echo.identifier)" -e $p."$([ $p = icmp ] && echo seq || echo echo.sequence_number)" \
		"${ip[@]}" >"$work/fields" 2>/dev/null
	awk -F, -v p=$p -v headers="$5" '
		$1 != (p == "icmp" ? (NR % 2 ? 8 : 0) : (NR % 2 ? 128 : 129)) || $2 != 1 || $3 != 101 + 8 + headers || $4 != "" { bad++ }
		NR == 1 { id = $5 }
		!((NR % 2, $9) in seen) { seen[NR % 2, $9]; labels[NR % 2]++ }
		p == "icmpv6" && $9 !~ /^0x/ { bad++ }
		$5 != id || $6 != int((NR - 1) / 2) || (NR % 2 && ($7 != 77 || $8 != 46)) { bad++ }
		END { exit NR != 40 || bad || labels[0] != 1 || labels[1] != 1 }' "$work/fields" || complain "frames: $(head -4 "$work/fields" | tr '\n' ' ')"
	verdict
}

decoded_all() {
	if ! command -v tshark >/dev/null; then
		skip 'icmp: tshark decodes' 'tshark is not installed'
		return
	fi
	decoded_echoes raw "$link_r" "$ip_r" IPv4 34
	! $six || decoded_echoes raw "$link_r" "$ip6_r" IPv6 54
	allow_ping '0 2147483647'
	decoded_echoes ping "$link_r" "$ip_r" IPv4 34
	! $six || decoded_echoes ping "$link_r" "$ip6_r" IPv6 54
	allow_ping '1 0'
}

# Where the kernel has VLANs.
echoes_on_a_vlan() {
	local vlan=rvi$$ side

	if ! add_vlan "$vlan" 7 2>"$work/vlani.err"; then
		skip 'icmp on a VLAN' "$(head -1 "$work/vlani.err")"
		return
	fi
	ip -n "${ns[e]}" address add 10.77.7.1/24 dev "$vlan"
	ip -n "${ns[r]}" address add 10.77.7.2/24 dev "$vlan"
	for side in e r; do
		ip -n "${ns[$side]}" link set "$vlan" up
	done
	ip -n "${ns[e]}" link set "$vlan" type vlan egress 5:3
	alone 'icmp on a VLAN, with its priority' 0 e "-i $vlan -a 10.77.7.2 --transport icmp --timeout 5000 $K --vlan-priority 3 --interval 1ms --count 200" \
		"${echoes[@]}"
	if $six; then
		for side in e r; do
			inside "$side" sh -c "echo 0 >/proc/sys/net/ipv6/conf/$vlan/disable_ipv6"
		done
		ip -n "${ns[e]}" address add 2001:db8:77::1/64 dev "$vlan" nodad
		ip -n "${ns[r]}" address add 2001:db8:77::2/64 dev "$vlan" nodad
		alone 'icmpv6 on a VLAN, with its priority' 0 e \
			"-i $vlan -a 2001:db8:77::2 --transport icmp --timeout 5000 $K --vlan-priority 3 --interval 1ms --count 200" "${echoes[@]}"
	fi
	ip -n "${ns[e]}" link del "$vlan"
	ip -n "${ns[r]}" link del "$vlan"
}

# ---- Independence of local scheduling ---------------------------------------------------------------------------------

# Sets `quota_group`, a control group with 5 ms CPU time of each 50 ms, by the kernel's cgroup v2 or v1 interface; or fails. The files are only
# tested for existence: only a control group has them right after its creation.
make_quota() {
	local at

	while read -r at; do
		quota_group=$at/rant-icmp-$$
		mkdir "$quota_group" 2>/dev/null || continue
		if [ -e "$quota_group/cpu.max" ]; then
			echo '5000 50000' >"$quota_group/cpu.max" && return
		elif [ -e "$quota_group/cpu.cfs_quota_us" ]; then
			echo 50000 >"$quota_group/cpu.cfs_period_us" && echo 5000 >"$quota_group/cpu.cfs_quota_us" && return
		fi
		rmdir "$quota_group"
	done < <(awk '$3 == "cgroup2" || ($3 == "cgroup" && $4 ~ /(^|,)cpu(,|$)/) { print $2 }' /proc/mounts)
	quota_group=''
	return 1
}

is_alone_in_group() {
	rmdir "$quota_group" 2>/dev/null
}

# The same samples by both timestamp sources.
both_stamps() {
	awk '$1 ~ /^[0-9]+$/ {
			split($2, a, "."); split($3, b, "."); split($4, c, "."); split($5, d, ".")
			printf "%.3f %.3f\n", ((d[1] - a[1]) * 1e9 + d[2] - a[2]) / 1000, ((c[1] - b[1]) * 1e9 + c[2] - b[2]) / 1000
		}' "$logs/e.log" >"$work/both"
	for column in 1 2; do
		sort -n -k $column,$column "$work/both" | awk -v c=$column '{ v[NR] = $c }
			END { if (!NR) exit 1; r = int(NR * 0.999 + 0.999); printf "%s %s %s %d\n", v[int((NR + 1) / 2)], v[r], v[NR], NR }'
	done >"$work/figures"
}

scheduled() {
	local how=() what u50 u999 umax k50 k999 kmax count

	begin 'icmp: scheduling delay of this host is in user timestamps and not in kernel timestamps' || return 0
	if make_quota; then
		what='a quota of 5 ms in 50 ms'
		# shellcheck disable=SC2016 # expanded by the inner shell
		how=(bash -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$quota_group")
	else
		what='no quota, for no control group of the CPU can be made here'
	fi
	start load e taskset -c "$first_cpu" "${how[@]}" bash -c 'while :; do :; done'
	start e e taskset -c "$first_cpu" "${how[@]}" "$rant" "${details[@]}" -i "$link_e" -a "$ip_r" --transport icmp --stamp kernel -s -l "$logs/e.log" \
		--interval 10us --pacing spin --window 1 --timeout 5000 -d 3 # nearly all the time a probe is on its way
	finish e
	send KILL load
	finish load
	[ -z "$quota_group" ] || poll is_alone_in_group
	[ "${status[e]}" = 0 ] || [ "${status[e]}" = 3 ] || complain "ended with status ${status[e]}"
	both_stamps
	{ read -r u50 u999 umax count && read -r k50 k999 kmax _; } <"$work/figures"
	echo "# one CPU with a busy loop, $what, ${count:-0} samples in us: by user space p50 ${u50:-} p99.9 ${u999:-} max ${umax:-};" \
		"by the kernel p50 ${k50:-} p99.9 ${k999:-} max ${kmax:-}"
	awk -v u="${umax:-0}" -v k="${kmax:-0}" -v a="${u999:-0}" -v b="${k999:-0}" 'BEGIN { exit !(u > 1000 && u > 10 * k && a > b) }' ||
		complain 'the kernel timestamps are not better'
	verdict
}

# ---- All of it --------------------------------------------------------------------------------------------------------

rights # first, since IPv6 sends packets by itself, which tests of silence would see
refusals
exact_loss # before IPv6, whose own packets would be dropped, too
six=false
! add_ipv6 2>"$work/ipv6.err" || six=true
! $six || poll is_settled
by_socket raw IPv4 "$ip_r" "$ip_e"
! $six || by_socket raw IPv6 "$ip6_r" "$ip6_e"
allow_ping '0 2147483647'
by_socket ping IPv4 "$ip_r" "$ip_e"
! $six || by_socket ping IPv6 "$ip6_r" "$ip6_e"
allow_ping '1 0'
$six || skip 'icmp: IPv6' "not on this host: $(head -1 "$work/ipv6.err")"
beside_others
errors_on_the_way # before: both share a rate limit for this peer (inet_peer)
if $six; then
	errors6_on_the_way raw
	allow_ping '0 2147483647'
	errors6_on_the_way ping
	allow_ping '1 0'
fi
rate_limit
named
decoded_all
echoes_on_a_vlan
scheduled
! $six || remove_ipv6
