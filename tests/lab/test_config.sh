#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# lab: rt slow
#
# config.sh on both ports of the emulated igb: applied, measured with, verified, broken by hand, taken back. What it may change is written
# down before and after. It is killed by tests/link/config_veth.sh and, at each point, by test_config_killed of make check-all.
set -uo pipefail
# shellcheck source=tests/lab/guest.sh
. "$TESTS/guest.sh"

config=$TESTS/../../config.sh
link=([ns_eth0]=eth0 [ns_eth1]=eth1)
declare -A device=([eth0]=$(readlink -f /sys/class/net/eth0/device) [eth1]=$(readlink -f /sys/class/net/eth1/device))
declare -A bar=([ns_eth0]=${device[eth0]}/resource0 [ns_eth1]=${device[eth1]}/resource0)
kept=$(mktemp -d /tmp/lab.XXXXXX) # begin() empties $work

# Unpacked for the lab, with a library that the guest does not know.
if ! setpci --version >/dev/null 2>&1; then
	mkdir "$kept/bin"
	libraries=$(find "$(dirname "$(command -v setpci)")/.." -name 'libpci.so*' -printf '%h\n' | head -1)
	printf '#!/bin/sh\nLD_LIBRARY_PATH=%s exec %s "$@"\n' "$libraries" "$(command -v setpci)" >"$kept/bin/setpci"
	chmod +x "$kept/bin/setpci"
	PATH=$kept/bin:$PATH
fi
# With four CPUs there are some left for everything else.
cpu=0 irq_cpu=1
[ "$(nproc)" -lt 4 ] || cpu=2 irq_cpu=3
options_eth0="--ip ${address[a]} --remote-ip ${address[b]} --remote-mac 52:54:00:00:00:02 --cpu $cpu --irq-cpu $irq_cpu --trace --cpu-power"
options_eth1="--ip ${address[b]} --remote-ip ${address[a]} --cpu $cpu --irq-cpu $irq_cpu --trace --ptp-sync-to ptp0"

# config STATUS NAME ARGUMENTS...: output in NAME.out and NAME.err.
config() {
	local expected=$1 name=$2 result=0

	shift 2
	bash "$config" "$@" >"$work/$name.out" 2>"$work/$name.err" </dev/null || result=$?
	[ "$result" -eq "$expected" ] || complain "$name: config.sh $*: status $result, not $expected"
}

# ---- What may change -------------------------------------------------------------------------------------------------

# A host that was set up by hand in places, so that defaults are not enough.
set_up_host() {
	local port

	echo 1 >/proc/sys/net/ipv4/conf/all/promote_secondaries
	for port in eth0 eth1; do
		ip link set dev "$port" up
		ip address add "10.79.${port#eth}.1/24" brd + dev "$port"
		ip address add "10.79.${port#eth}.2/24" dev "$port"
		ip -6 address add "fd00:${port#eth}::1/64" dev "$port" nodad
		echo 2 >"/proc/sys/net/ipv4/conf/$port/rp_filter"
		echo 0 >"/proc/sys/net/ipv6/conf/$port/accept_ra"
	done
	ethtool -C eth0 rx-usecs 20
	ip neigh add 10.79.0.9 lladdr 02:00:00:00:00:09 nud permanent dev eth0
	ip route add 10.80.0.0/16 via 10.79.0.9 dev eth0 metric 7
	chrt -f -p 48 "$(pgrep -o "^irq/$(vectors eth0 | tail -n 1)-")"
	echo 1 >"/proc/irq/$(vectors eth1 | head -n 1)/smp_affinity_list"
	poll is_settled
}

vectors() {
	find "${device[$1]}/msi_irqs/" -type f -printf '%f\n' | sort -n
}

# shellcheck disable=SC2317 # by poll
is_settled() {
	local text

	text=$(ip -o address show)
	[[ $(grep -c 'scope link' <<<"$text") -ge 2 && $text != *tentative* ]]
}

# shellcheck source=tests/link/dump_port.sh
. "$TESTS/../link/dump_port.sh"

# Threads of interrupts and ksoftirqd by scheduling, and all others by their CPUs; but not the kernel's workers, nor this test.
dump_tasks() {
	# shellcheck disable=SC2009 # their scheduling is wanted, too
	ps -eLo comm,cls,rtprio,ni | grep -E '^(irq/|ksoftirqd/)' | sed 's#^irq/[0-9]*-#irq/-#' | sort
	ps -eo pid,comm --ppid 2 -N | awk '{ print $2 }' | grep -vE '^(ps|awk|grep|sort|bash|sleep)$' | sort
	grep -H '^Cpus_allowed_list' /proc/[0-9]*/task/[0-9]*/status 2>/dev/null | while IFS=:/ read -r _ _ _ _ task _ _ list; do
		read -r name 2>/dev/null <"/proc/$task/comm" || continue
		case $name in kworker* | bash | grep | ps | awk | sleep | irq/*) ;; *) echo "$task $name $list" ;; esac
	done
}

# The number of a vector is the kernel's: it takes the lowest that is free when the card gets more of them. So by place.
dump_interrupts() {
	local folder irq place='' before=''

	while IFS=' ' read -r folder irq; do
		[ "$folder" = "$before" ] && place=$((place + 1)) || place=0
		before=$folder
		echo "$folder vector $place: $(<"/proc/irq/$irq/smp_affinity_list")"
	done < <(find -L /sys/bus/pci/devices/*/msi_irqs -maxdepth 1 -type f -printf '%h %f\n' | sort -k1,1 -k2,2n)
	grep -sH '' /proc/irq/{0..23}/smp_affinity_list
	grep -s '' /proc/irq/default_smp_affinity /sys/devices/virtual/workqueue/cpumask
}

dump() {
	poll is_settled
	dump_port eth0
	dump_port eth1
	cat /sys/class/net/eth[01]/device/power/control
	ip -4 route show table all | sort
	ip -6 route show table all | sort
	ip netns list
	ls /sys/kernel/tracing/instances
	od -An -v -tx1 /sys/bus/pci/devices/*/config
	dump_tasks
	dump_interrupts
	grep -rs '' /proc/sys/net /proc/sys/vm /proc/sys/kernel | grep -vE '/random/|ns_last_pid|/rand|/netfilter/nf_conntrack_count|pty/nr'
	ls -A /run/rant-config 2>/dev/null
} 2>&1

expect_as_before() {
	dump | grep -vE 'valid_lft|/neigh/default/gc_' >"$kept/after"
	cmp -s "$kept/before" "$kept/after" || complain "$1: $(diff "$kept/before" "$kept/after" | head -12)"
}

begin 'config.sh: preparation of the test'
set_up_host
dump | grep -vE 'valid_lft|/neigh/default/gc_' >"$kept/before"
expect "$(wc -l <"$kept/before")" -ge 500 'lines of what is before'
expect_as_before 'nothing was done'
verdict

# ---- Both ports ------------------------------------------------------------------------------------------------------

# shellcheck disable=SC2086 # words
{
	begin 'config.sh: --dry-run changes nothing'
	config 0 dry eth0 $options_eth0 --dry-run
	expect "$(grep -c '^[a-z].*  # .*: now ' "$work/dry.out")" -ge 20 'commands'
	expect_as_before '--dry-run'
	verdict

	begin 'config.sh: both ports are prepared, with the real driver'
	config 0 eth0 eth0 $options_eth0
	config 0 eth1 eth1 $options_eth1
	for port in eth0 eth1; do
		expect_line "$port.out" '^eth[01]: [0-9]* settings in force, '
		grep -E 'refused|not supported|note' "$work/$port.out" | sed 's/^/# /'
		poll has_carrier "ns_$port"
	done
	verdict
}
[ "$failed" -eq 0 ] || exit 1
echo "# $SECONDS s"

begin 'config.sh: rant measures with hardware stamps on what was prepared'
for name in r:ns_eth1 e:ns_eth0; do
	side=${name#*:} name=${name%:*}
	declare -a role=()
	[ "$name" = r ] || role=(-a "${address[b]}" --timeout 2000 --duration 3)
	start "$name" "$side" env LD_PRELOAD="$HELPERS/rxsatrh" RXSATRH_BAR="${bar[$side]}" \
		taskset -c "$cpu" "$RANT" --details -i "${link[$side]}" --stamp hardware "${role[@]}"
	[ "$name" = e ] || poll has_port r
done
finish e
stop r
# The clock of the emulated NIC jumps by 2^41 ns now and then, and what config.sh has synchronise it may then change its frequency setting by 90 %,
# which this driver allows: every latency is off by that, and rant says so.
for name in e r; do
	if [ "${status[$name]}" = 3 ]; then
		expect_line "$name.out" "^Measurement: void: .*the NIC's clock runs at a wrong rate"
	else
		expect_status "$name" 0
	fi
done
expect "$(row e Recorded)" -ge 30 'recorded by the emitter'
echo "# $(grep '^MIN' "$work/e.out"); $(head -n 1 "$work/e.out"); reflector: $(head -n 1 "$work/r.out")"
verdict

begin 'config.sh: --verify finds all in force, then exactly the five that were broken by hand'
config 0 verify0 eth0 --verify
config 0 verify1 eth1 --verify
irq=$(vectors eth0 | head -n 1)
thread=$(pgrep -o "^irq/$irq-")
at ns_eth0 ethtool -G eth0 rx 256
at ns_eth0 ethtool -C eth0 rx-usecs 3
at ns_eth0 ip link set dev eth0 multicast on
echo "$cpu" >"/proc/irq/$irq/smp_affinity_list"
chrt -f -p 50 "$thread"
config 1 broken eth0 --verify
sed -n 's/.*not in force: \(.*\) is .*, wanted .*/\1/p' "$work/broken.out" | sort >"$work/names"
printf '%s\n' 'coalesce rx-usecs' 'link multicast' 'ring rx' "irq $irq affinity" "thread $(<"/proc/$thread/comm")" | sort >"$work/expected"
cmp -s "$work/expected" "$work/names" || complain "$(diff "$work/expected" "$work/names")"
config 0 verify2 eth1 --verify
verdict

echo "# $SECONDS s"
begin 'config.sh: both ports taken back, the first one first: all is as before'
config 0 undo0 eth0 --undo
config 0 undo1 eth1 --undo
expect_as_before 'after --undo'
verdict

exit "$failed"
