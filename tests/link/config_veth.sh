#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# config.sh on a veth pair: supported settings are applied, verified, measured with and reverted; others are listed.
#
#   config_veth.sh RANT          HOST=1 in the environment: the CPUs and interrupts of this host too, for some seconds
#
#   QUICK=1, REST=1: see link.sh
#
# Prints "ok - NAME", "not ok - NAME" and lines that begin with "# ". Exit status 1 when anything failed.
# shellcheck disable=SC2317 # by trap
set -uo pipefail
export LC_ALL=C

rant=${1:?usage: config_veth.sh RANT}
config=$(cd "$(dirname "$0")/../.." && pwd)/config.sh
if [ "$(id -u)" -ne 0 ]; then
	echo "ok - config.sh on a veth link # SKIP it makes network namespaces, which needs root: sudo make check"
	exit 0
fi
if [ "$(nproc --all)" -lt 2 ]; then
	echo "ok - config.sh on a veth link # SKIP it needs two CPUs"
	exit 0
fi
# A network of its own, so that all of it can be compared, with the /sys that shows it; and tracefs.
if [ -z "${CONFIG_VETH:-}" ]; then
	CONFIG_VETH=yes exec unshare --mount --net "$0" "$@"
fi
mount -t sysfs none /sys
# Saved states and namespaces of a test that was killed end with its mounts.
mount -t tmpfs -o mode=755 none /run
[ -d /sys/kernel/tracing/instances ] || mount -t tracefs none /sys/kernel/tracing 2>/dev/null
# As own_trace in link.sh.
[ ! -d /sys/kernel/tracing/instances ] || { exec 8</sys/kernel/tracing/instances && flock 8; }
ip link set dev lo up

a=ca$$ b=cb$$
work=$(mktemp -d /tmp/rant-config.XXXXXX) || exit 1
failed=0
complaints=()

remove_all() {
	local port

	trap '' INT TERM HUP PIPE
	for port in "$a" "$b"; do
		"$config" "$port" --undo >/dev/null 2>&1
	done
	ip link del "$a" 2>/dev/null
	rm -rf "$work"
}
trap remove_all EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

complain() {
	complaints+=("$*")
}

verdict() {
	if [ ${#complaints[@]} -eq 0 ]; then
		echo "ok - config.sh on veth: $1"
	else
		failed=1
		echo "not ok - config.sh on veth: $1"
		printf '%s\n' "${complaints[@]}" | head -40 | sed 's/^/# /'
	fi
	complaints=()
}

# config STATUS ARGUMENTS...
config() {
	local expected=$1 status=0

	shift
	timeout 60 "$config" "$@" >"$work/out" 2>"$work/err" </dev/null || status=$?
	[ "$status" -eq "$expected" ] || complain "config.sh $*: status $status: $(tail -n 3 "$work/err")"
}

expect_line() {
	grep -Eq -- "$1" "$work/out" || complain "no line matches: $1"
}

# shellcheck source=tests/link/dump_port.sh
. "$(dirname "$0")/dump_port.sh"

dump_link() {
	dump_port "$1"
	grep -rs '' "/proc/sys/net/ipv4/conf/$1" "/proc/sys/net/ipv4/neigh/$1" "/proc/sys/net/ipv6/conf/$1" "/proc/sys/net/ipv6/neigh/$1"
	[ ! -e "/run/rant-config/$1" ] || echo "state is left"
}

dump() {
	dump_link "$a"
	dump_link "$b"
	# Of addresses that both ports have the order is the kernel's.
	ip -4 -o route show table all | grep -v 'table local'
	ip -4 -o route show table local | sort
	ip -6 -o route show table all | sort
	for object in nexthop '-4 rule' '-6 rule' 'mptcp endpoint' addrlabel token; do
		# shellcheck disable=SC2086 # words
		ip $object show
	done
	{ ip -4 neigh show proxy; ip -6 neigh show proxy; ip neigh show nud permanent; bridge fdb show; ip -o maddr show; } | sort
	ip netns list 2>/dev/null | grep -F "$$"
	# Without those of a unit test that runs beside this.
	find /sys/kernel/tracing/instances -mindepth 1 -maxdepth 1 ! -name 'rant_test_*' | sort
	# shellcheck disable=SC2009 # their scheduling is wanted, too
	ps -eLo comm,cls,rtprio,ni | grep -E '^(irq/|ksoftirqd/)' | sort
	grep -s '' /proc/irq/*/smp_affinity_list /proc/irq/default_smp_affinity
} >"$1" 2>&1

is_settled() {
	local text

	text=$(ip -o address show dev "$a"; ip -o address show dev "$b")
	[[ $(grep -c 'scope link' <<<"$text") -ge 2 && $text != *tentative* ]]
}

# Duplicate address detection takes its time.
settle() {
	local until=$((SECONDS + 20))

	until [ ! -e /proc/sys/net/ipv6 ] || is_settled || [ "$SECONDS" -ge "$until" ]; do
		sleep 0.1
	done
}

expect_as_before() {
	settle
	dump "$work/after"
	cmp -s "$work/before" "$work/after" || complain "$1: $(diff "$work/before" "$work/after" | head -20)"
}

if ! ip link add name "$a" type veth peer name "$b" 2>"$work/err"; then
	echo "ok - config.sh on a veth link # SKIP no veth here: $(head -1 "$work/err")"
	exit 0
fi
for port in "$a" "$b"; do
	ip address add 10.98.77.1/24 brd + dev "$port"
	ip address add 10.98.77.5/24 dev "$port"
	ip link set dev "$port" up
	echo 2 >"/proc/sys/net/ipv4/conf/$port/rp_filter"
done
# shellcheck source=tests/link/hang_on_ports.sh
. "$(dirname "$0")/hang_on_ports.sh"
hang_on_ports "$a" "$b"
settle
dump "$work/before"
mac_a=$(<"/sys/class/net/$a/address") mac_b=$(<"/sys/class/net/$b/address")
skip=(--skip 'cpus,irqs')
[ -z "${HOST:-}" ] || skip=()
options_a=(--ip 10.98.76.1 --remote-ip 10.98.76.2 --remote-mac "$mac_b" --cpu 0 --irq-cpu 1 --trace "${skip[@]}")
options_b=(--ip 10.98.76.2 --remote-ip 10.98.76.1 --cpu 1 --irq-cpu 0 --trace --busy-poll 50 "${skip[@]}")

# Each rant reads all instances at its start, and the kernel does not remove an instance that is open.
read_for_a_second() {
	local file=/sys/kernel/tracing/instances/rant/tracing_on

	[ ! -e "$file" ] || sleep 1 7<"$file" 8<&- &
}

in_order() {
	config 0 "$a" "${options_a[@]}" --dry-run
	expect_line "^ip netns add ns_$a  # "
	expect_as_before '--dry-run'
	verdict '--dry-run changes nothing'

	config 0 "$a" "${options_a[@]}"
	for name in ring coalesce pause 'PCI Express' 'synchronisation of its clock'; do
		expect_line "^$a: not supported: $name"
	done
	config 0 "$b" "${options_b[@]}"
	config 0 "$a" --verify
	config 0 "$b" --verify
	verdict 'what applies is set, the rest is listed as not supported'

	nsenter --net="/run/netns/ns_$b" timeout 60 "$rant" -i "$b" --stamp kernel --once --once-silence 1 >"$work/r.out" 2>"$work/r.err" &
	reflector=$!
	until="$((SECONDS + 20))"
	until grep -qi ':035E ' "/proc/$(pgrep -P "$reflector" -x rant)/net/udp" 2>/dev/null || [ "$SECONDS" -ge "$until" ]; do
		sleep 0.05
	done
	nsenter --net="/run/netns/ns_$a" timeout 60 "$rant" -i "$a" -a 10.98.76.2 --stamp kernel --count 1000 >"$work/out" 2>"$work/err" ||
		complain "rant: status $?: $(<"$work/err")"
	wait "$reflector" || complain "the reflector: status $?: $(<"$work/r.err")"
	expect_line 'Total Samples: 1000$'
	verdict 'rant measures on what was prepared, without ARP'

	ip -n "ns_$a" link set dev "$a" multicast on
	nsenter --net="/run/netns/ns_$a" ethtool -K "$a" rx on
	config 1 "$a" --verify
	[ "$(grep -c 'not in force' "$work/out")" -eq 2 ] || complain "$(grep 'not in force' "$work/out")"
	expect_line "not in force: offload rx-checksumming is on, wanted off"
	expect_line "not in force: link multicast is on, wanted off"
	verdict '--verify names what was changed since'

	config 0 "$a" --undo
	read_for_a_second
	config 0 "$b" --undo
	expect_as_before 'after --undo'
	verdict 'both ports taken back, the first one first: all is as before'
}

# A port that was prepared and is gone, first in the order of names.
leave_behind() {
	mkdir -p /run/rant-config/a-gone
	printf 'link was\x1f1\x1fundo_link\x1fup\x1f.\n' >/run/rant-config/a-gone/undo
}

in_other_orders() {
	leave_behind
	config 0 "$a" "${options_a[@]}"
	config 0 "$b" "${options_b[@]}" --remote-mac "$mac_a"
	config 0 "$a" --undo
	config 0 "$a" "${options_a[@]}"
	config 0 "$b" --undo
	config 0 "$a" --undo
	expect_as_before 'after --undo, apply, --undo, --undo'
	config 0 "$b" "${options_b[@]}" --remote-mac "$mac_a" --no-namespace
	config 0 "$a" "${options_a[@]}"
	config 0 "$a" --undo
	config 0 "$b" --undo
	expect_as_before 'with one of them in no namespace'
	[ "$(wc -l </run/rant-config/a-gone/undo)" -eq 1 ] || complain "passed on to a port that is gone: $(cat -v /run/rant-config/a-gone/undo)"
	rm -r /run/rant-config/a-gone
	verdict 'both ports taken back in other orders: all is as before'
}

# A setting that another program changes is reported by each call until it is corrected.
changed_between() {
	config 0 "$a" --only namespace --cpu 0 --irq-cpu 1
	ip -n "ns_$a" link set dev "$a" txqueuelen 7
	ip route del blackhole 10.25.0.0/16
	ip rule add pref 32000 iif "$a" table 7
	config 0 "$a" --only namespace --cpu 0 --irq-cpu 1 # does not write down anew what was before
	for _ in once again; do
		config 1 "$a" --undo
		sed "s/$a/A/g" "$work/err" >"$work/told"
		cmp -s - "$work/told" <<-END || complain "told: $(<"$work/told")"
			config.sh: A: differs from before: link: was 'qlen 501', is 'qlen 7'
			config.sh: A: differs from before: route 4 10.25.0.0/16: was 'blackhole 10.25.0.0/16 scope global', is 'not there'
			config.sh: A: differs from before: rule 4 32000: from all iif A lookup 7: was 'not there', is 'there'
			config.sh: A: all settings are restored, but differ from before: correct these, then run --undo again
		END
	done
	ip link set dev "$a" txqueuelen 501
	ip route add blackhole 10.25.0.0/16
	config 0 "$a" --only namespace --cpu 0 --irq-cpu 1 # writes it down anew, after all was taken back
	ip rule del pref 32000
	config 1 "$a" --undo
	config 0 "$a" --only namespace --cpu 0 --irq-cpu 1
	config 0 "$a" --undo
	expect_as_before 'after --undo'
	verdict 'what is not as before is told in a line each, with status 1'
}

# refused REGEX: one line on stderr, and no setting changes.
refused() {
	dump "$work/refused"
	config 1 "$a" "${options_a[@]}"
	grep -Eq -- "$1" "$work/err" || complain "no line matches $1: $(<"$work/err")"
	[ "$(wc -l <"$work/err")" -eq 1 ] || complain "not one line: $(<"$work/err")"
	dump "$work/after"
	cmp -s "$work/refused" "$work/after" || complain "$1: $(diff "$work/refused" "$work/after" | head -20)"
}

two_routes() {
	ip route add 10.26.0.0/16 via 10.62.0.2 dev "$b"
	ip route append 10.26.0.0/16 via 10.61.0.2 dev "$a"
}

# with REGEX REMOVE -- COMMAND...: refused while that is there; skipped where the kernel has no such thing.
with() {
	if "${@:4}" 2>"$work/err"; then
		refused "$1"
		# shellcheck disable=SC2086 # words
		$2
	else
		echo "# no such thing here: ${*:4}: $(head -1 "$work/err")"
	fi
}

refusals() {
	with "'vx$$' uses '$a'" "ip link del vx$$" -- ip link add "vx$$" type vxlan id 5 dev "$a" dstport 4789
	with "'mv$$' uses '$a'" "ip link del mv$$" -- ip link add link "$a" name "mv$$" type macvlan
	with "discipline of its own, clsact" "tc qdisc del dev $a clsact" -- tc qdisc add dev "$a" clsact
	with "'nexthop 77' uses '$a', and its 'type'" 'ip nexthop del id 77' -- ip nexthop add id 77 group 11/21 type resilient buckets 32
	with "'route 4 10.26.0.0/16' uses '$a' and exists 2 times" 'ip route flush 10.26.0.0/16' -- two_routes
	with "'$a' carries the default route" 'ip route del default' -- \
		ip route add default nexthop via 10.61.0.2 dev "$a" nexthop via 10.62.0.2 dev "$b"
	with "'$a' carries the default route" 'ip -6 route del default' -- ip -6 route add default via fd61::2 dev "$a"
	config 1 "another-name-of-$a" "${options_a[@]}"
	expect_as_before 'after what was refused'
	verdict 'what could not be put back is refused before anything is changed'
}

killed() {
	for step in namespace offloads napi network trace; do
		CONFIG_KILL_AFTER=$step config 137 "$a" "${options_a[@]}" 2>/dev/null
		config 0 "$a" --undo
		expect_as_before "killed after $step"
	done
	verdict 'killed in between and taken back: all is as before'
}

without_namespace() {
	config 0 "$a" "${options_a[@]}" --no-namespace
	config 0 "$a" --verify
	config 0 "$a" --undo
	expect_as_before 'after --undo'
	verdict 'without a namespace, and taken back'
}

[ -n "${REST:-}" ] || { in_order && refusals && without_namespace; }
[ -n "${QUICK:-}" ] || { in_other_orders && changed_between && killed; }
exit "$failed"
