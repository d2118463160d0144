#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# config.sh on a veth pair: what such a link has is set, verified, measured with and taken back; the rest is listed.
#
#   config_veth.sh RANT          HOST=1 in the environment: the CPUs and interrupts of this host too, for some seconds
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
# Mounts of its own: tracefs where there is none.
if [ -z "${CONFIG_VETH:-}" ]; then
	CONFIG_VETH=yes exec unshare --mount "$0" "$@"
fi
[ -d /sys/kernel/tracing/instances ] || mount -t tracefs none /sys/kernel/tracing 2>/dev/null

a=ca$$ b=cb$$
work=$(mktemp -d /tmp/rant-config.XXXXXX) || exit 1
failed=0
complaints=()

remove_all() {
	local port

	trap '' INT TERM
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
	ip -4 route show table all dev "$1"
	ip -6 route show table all dev "$1"
	[ ! -e "/run/rant-config/$1" ] || echo "state is left"
}

dump() {
	dump_link "$a"
	dump_link "$b"
	ip netns list 2>/dev/null | grep -F "$$"
	ls /sys/kernel/tracing/instances
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
ip neigh add 10.98.77.9 lladdr 02:00:00:00:00:09 nud permanent dev "$a"
ip route add 10.97.0.0/16 via 10.98.77.9 dev "$a" metric 7
settle
dump "$work/before"
mac_b=$(<"/sys/class/net/$b/address")
skip=(--skip 'cpus,irqs')
[ -z "${HOST:-}" ] || skip=()
options_a=(--ip 10.98.76.1 --remote-ip 10.98.76.2 --remote-mac "$mac_b" --cpu 0 --irq-cpu 1 --trace "${skip[@]}")
options_b=(--ip 10.98.76.2 --remote-ip 10.98.76.1 --cpu 1 --irq-cpu 0 --trace --busy-poll 50 "${skip[@]}")

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

nsenter --net="/run/netns/ns_$b" timeout 60 "$rant" -i "$b" --stamp kernel --once >"$work/r.out" 2>"$work/r.err" &
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
config 0 "$b" --undo
expect_as_before 'after --undo'
verdict 'both ports taken back, the first one first: all is as before'

for step in namespace offloads napi network trace; do
	CONFIG_KILL_AFTER=$step config 137 "$a" "${options_a[@]}" 2>/dev/null
	config 0 "$a" --undo
	expect_as_before "killed after $step"
done
verdict 'killed in between and taken back: all is as before'

config 0 "$a" "${options_a[@]}" --no-namespace
config 0 "$a" --verify
config 0 "$a" --undo
expect_as_before 'after --undo'
verdict 'without a namespace, and taken back'
exit "$failed"
