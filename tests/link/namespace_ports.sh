#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Source ports: a row for each, and the effect of separate paths.
# shellcheck source=tests/link/link.sh
. "$(dirname "$0")/link.sh"

# ports NAME: the rows of its table: port, samples, lost, there, back, median, 99th, max, and * for the worst.
ports() {
	awk '/^$/ { table = 0 } table && $1 ~ /^[0-9]+$/; /^Source ports / { table = 1 }' "$work/$1.out"
}

# table_agrees NAME PORTS: PORTS rows of different ports, whose sums equal the counters; and one is marked as the worst.
table_agrees() {
	local line

	while IFS= read -r line; do
		complain "$line"
	done < <(ports "$1" | awk -v n="$2" -v recorded="$(row "$1" Recorded)" -v lost="$(row "$1" Lost)" '
		{ seen[$1]++; samples += $2; all_lost += $3; worst += $9 == "*" }
		END {
			if (length(seen) != n || NR != n) print NR " rows of " length(seen) " ports"
			if (samples != recorded) print "samples: " samples + 0 ", recorded: " recorded
			if (all_lost != lost) print "lost by port: " all_lost + 0 ", lost: " lost
			if (worst != 1) print worst + 0 " rows are the worst"
		}')
}

# even NAME EACH: every port has EACH samples, or EACH + 1.
even() {
	[ "$(ports "$1" | awk '{ print $2 }' | sort -un | awk -v each="$2" '$1 < each || $1 > each + 1' | wc -l)" -eq 0 ] ||
		complain 'probes were not spread evenly'
}

# As the reflector saw them.
ports_seen() {
	awk 'FNR > 2 { wrong += n++ && $1 <= last; last = $1 } END { exit wrong > 0 || n == 0 }' "$logs/$1.log" || complain 'numbers are out of order'
}

for window in 1 64; do
	pair "ports: 64 of them, $window in flight" '0 0' "$K" "$K -l LOG --log-full --source-ports 64 --window $window --count 6400" \
		'e:Recorded -eq 6400' 'e:Lost -eq 0' 'e:Duplicate -eq 0' 'e:Foreign -eq 0' 'e:Unmatched -eq 0' 'e:Complete -eq 6400' 'e:Closing -eq 64' \
		'r:Sessions -eq 64' 'r:Reordered -eq 0' '@table_agrees e 64' '@even e 100' '@ports_seen e' \
		'e.out ~ ^Source ports \(us, of the network: RTT - response\):$' 'e.out ~ Strays +: +not counted with --source-ports'
	pair "ports: stamps of user space, $window in flight" '0 0' "$U" "$U --plain --source-ports 64 --window $window --count 6400" \
		'e:Recorded -eq 6400' 'e:Lost -eq 0' 'e:Closing -eq 0' '@table_agrees e 64' '@even e 100' 'e.out ~ ^Source ports \(us, of the round trip\):$'
done
pair 'ports: by the clock' '0 0' "$K" "$K --source-ports 16 --interval 1ms --count 800" 'e:Recorded -eq 800' '@table_agrees e 16' '@even e 50'
pair 'ports: a warm-up, and as many as there may be' '0 0' "$K" "$K --source-ports 256 --warmup 100 --count 2560" 'e:Recorded -eq 2560' 'e:Warm-up -eq 100' \
	'@table_agrees e 256'
pair 'ports: one probe of three is stamped' '0 0' "$K" "$K --source-ports 6 --window 32 --stamp-every 3 --count 3600" 'e:Recorded -eq 1200' 'e.out ~ ^  Not asked +: +2400 ' \
	'e:Unmatched -eq 0' '@table_agrees e 6' '@even e 200'
pair 'ports: a single port has no table' '0 0' "$K" "$K --source-ports 1 --count 100" 'e:Recorded -eq 100' 'e.out !~ Source.ports' 'e:Strays -eq 0'
emitter_signal=INT pair 'ports: a signal ends it' '0 0' "$K" "$K --source-ports 8 --window 100" 'e:Recorded -ge 1' '@table_agrees e 8'

nobody() {
	begin 'ports: no listener' || return 0
	start_emitter e "$K --source-ports 8 --count 40 --timeout 50"
	finish e
	for one in 'e:Recorded -eq 0' 'e:Lost -eq 40' '@audit e' '@table_agrees e 8'; do
		check "$one"
	done
	verdict
}
nobody

as='prlimit --nofile=60' alone 'ports: more ports than descriptors' 1 e "-i $link_e -a $ip_r $K --source-ports 64" '@silent' '@one_line e' 'e.out empty' \
	"e.err ~ Too many open files: see 'ulimit -n'"
few_ports() {
	inside e sh -c "echo $1 >/proc/sys/net/ipv4/ip_local_port_range"
}
few_ports '50000 50015'
alone 'ports: more ports than are free' 1 e "-i $link_e -a $ip_r $K --source-ports 64" '@silent' '@one_line e' 'e.out empty' \
	'e.err ~ no free source port on .*ip_local_port_range'
few_ports '32768 60999'

# ---- Two paths -------------------------------------------------------------------------------------------------------

# A router m with two links to a bridge of the reflector, selected by a hash of the ports.
two_paths() {
	local link

	ns[m]="rant-m-$$"
	ip netns add "${ns[m]}" &&
		inside m sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward; echo 1 >/proc/sys/net/ipv4/fib_multipath_hash_policy' &&
		ip link add name "re2$$" netns "${ns[e]}" type veth peer name mine netns "${ns[m]}" &&
		ip link add name "ra$$" netns "${ns[r]}" type veth peer name first netns "${ns[m]}" &&
		ip link add name "rb$$" netns "${ns[r]}" type veth peer name second netns "${ns[m]}" &&
		ip -n "${ns[r]}" link add name "br$$" type bridge &&
		ip -n "${ns[r]}" link set "ra$$" master "br$$" up && ip -n "${ns[r]}" link set "rb$$" master "br$$" up &&
		ip -n "${ns[r]}" link set "br$$" up && ip -n "${ns[e]}" link set "re2$$" up &&
		ip -n "${ns[e]}" address add 10.87.0.1/24 dev "re2$$" && ip -n "${ns[e]}" route add 10.88.0.0/16 via 10.87.0.2 &&
		ip -n "${ns[r]}" address add 10.88.1.2/24 dev "br$$" && ip -n "${ns[r]}" address add 10.88.2.2/24 dev "br$$" &&
		ip -n "${ns[r]}" address add 10.88.0.2/32 dev "br$$" && ip -n "${ns[r]}" route add 10.87.0.0/24 via 10.88.1.1 || return
	for link in mine first second; do
		ip -n "${ns[m]}" link set "$link" up || return
	done
	ip -n "${ns[m]}" address add 10.87.0.2/24 dev mine && ip -n "${ns[m]}" address add 10.88.1.1/24 dev first &&
		ip -n "${ns[m]}" address add 10.88.2.1/24 dev second &&
		ip -n "${ns[m]}" route add 10.88.0.2 nexthop via 10.88.1.2 dev first nexthop via 10.88.2.2 dev second
}

# both_paths NAME FIELD LIMIT: some ports have more there, and some have not.
both_paths() {
	ports "$1" | awk -v field="$2" -v limit="$3" '{ more += $field > limit; less += $field <= limit } END { exit !more || !less }' ||
		complain 'not some ports by each path'
}

# Nothing is sent faster than 200 kbit/s by the second path: a probe takes 5 ms and more.
slow_path() {
	local name='ports: those of a slow path show'

	inside m tc qdisc replace dev second root tbf rate 200kbit burst 200 mtu 200 latency 5s 2>/dev/null || {
		skip "$name" 'no tc, or no tbf in this kernel'
		return
	}
	link_there "$name" "$K --source-ports 256 --count 768 --timeout 5000" 'e:Recorded -eq 768' 'e:Lost -eq 0' '@both_paths e 6 3000'
	inside m tc qdisc del dev second root
}

# link_there NAME EMITTER_ARGUMENTS CHECK...: over the router; the time that is lost may be more than the rest.
link_there() {
	local emits=$2 one

	begin "$1" || return 0
	shift 2
	link=br$$ start_reflector r "$K"
	link=re2$$ server=10.88.0.2 start_emitter e "$emits"
	finish e
	send TERM r
	finish r
	for one in '@audit e' '@table_agrees e 256' 'e:Unmatched -eq 0' "$@"; do
		check "$one"
	done
	verdict
}

# marked NAME LOST: the worst port has LOST lost probes and no sample.
marked() {
	ports "$1" | awk -v lost="$2" '$9 == "*" && ($3 < lost || $2) { exit 1 }' || complain 'another is the worst'
}

if two_paths 2>"$work/two.err"; then
	link_there 'ports: two good paths' "$K --source-ports 256 --count 768 --timeout 5000" 'e:Recorded -eq 768' 'e:Lost -eq 0'
	slow_path
	# The second path ends at an unused address.
	ip -n "${ns[m]}" neigh replace 10.88.2.2 lladdr 02:00:00:00:00:99 nud permanent dev second
	link_there 'ports: those of a broken path show' "$K --source-ports 256 --window 32 --count 1280 --timeout 500" 'e:Lost -ge 5' 'e:Recorded -ge 5' \
		'@both_paths e 3 4' '@marked e 5' 'e.out ~ \* the worst: the largest share of its probes was lost'
else
	for name in 'two good paths' 'those of a slow path show' 'those of a broken path show'; do
		skip "ports: $name" "no router here: $(head -1 "$work/two.err")"
	done
fi
ip netns del "${ns[m]}" 2>/dev/null
unset 'ns[m]'
ip -n "${ns[r]}" link del "br$$" 2>/dev/null
