# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154
#
# The absent card and host, for programs that run config.sh on them: as files below $CONFIG_ROOT, and tools that
# know no others. $tree, $work, $sys, $proc and $nic are the caller's.
#
# Text in single quotes is for bash.
# shellcheck disable=SC2016

replace_tools() {
	local tool

	command -p mkdir "$work/bin"
	for tool in ip ethtool tc bridge nft nsenter chrt taskset setpci mkdir rmdir phc2sys phc_ctl; do
		ln -s "$tree/tests/unit/config/stub" "$work/bin/$tool"
	done
	PATH=$work/bin:$PATH
	export BASH_ENV=$tree/tests/unit/config/stub
}

# file PATH TEXT
file() {
	[ -d "${1%/*}" ] || command -p mkdir -p "${1%/*}"
	printf '%s\n' "$2" >"$1"
}

# task NUMBER NAME FLAGS CPUS POLICY PRIORITY
task() {
	local folder=$proc/$1

	file "$folder/task/$1/status" "Cpus_allowed_list:	$4"
	file "$folder/status" "Cpus_allowed_list:	$4"
	file "$folder/comm" "$2"
	file "$folder/stat" "$1 ($2) S 2 0 0 0 -1 $3 0 0 0 0 0 0 0 0 20 0 1 0 777 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 17 2 $6 $5"
}

make_nic() {
	local setting

	command -p mkdir -p "$nic/instance"
	for setting in 'driver=igb' 'bus=0000:03:00.0' 'namespace=' 'up=on' 'arp=on' 'multicast=on' 'qdisc=mq' \
		'channels max combined=4' 'channels combined=4' 'ring max rx=4096' 'ring max tx=256' 'ring rx=256' 'ring tx=128' \
		'coalesce adaptive-rx=on' 'coalesce rx-usecs=3' 'coalesce rx-frames=0' 'coalesce tx-usecs=n/a' \
		'pause autoneg=on' 'pause rx=on' 'pause tx=off' 'flag legacy-rx=on' 'flag something=on' \
		'offload rx-checksumming=on' 'offload tx-checksum-ipv4=off [fixed]' 'offload tx-checksum-ip-generic=on' \
		'offload tx-tcp-segmentation=on' 'offload generic-segmentation-offload=on' \
		'offload generic-receive-offload=on' 'offload large-receive-offload=off [fixed]' 'offload rx-vlan-offload=on' \
		'frequency=-12.500000' 'aspm-0000:03:00.0=0042' 'aspm-0000:00:02.0=0043' \
		'instance/buffer_size_kb=1410' 'instance/tracing_cpumask=ff' \
		'instance/trace_clock=[local] global mono_raw' 'instance/snapshot=# * Snapshot is freed *'; do
		file "$nic/${setting%%=*}" "${setting#*=}"
	done
	# All events but one.
	for setting in $(sed -n "/^readonly events='/,/'$/s|^\t||p" "$tree/config/trace.sh"); do
		[ "$setting" = sched/sched_switch ] || file "$nic/instance/events/$setting/enable" 0
	done
	echo 'inet 10.1.1.5/24 brd 10.1.1.255 scope global eth0\ valid_lft forever preferred_lft forever' >"$nic/addresses"
	echo '10.1.1.9 lladdr 02:00:00:00:00:09 PERMANENT' >"$nic/neighbours"
	echo '10.9.0.0/16 via 10.1.1.1' >"$nic/routes"
	: >"$nic/refuse"
	: >"$nic/pids"
}

# Interrupts 40 to 42 are the card's, 50 and 51 those of its other port.
make_interrupts() {
	local irq

	command -p mkdir -p "$sys/devices/pci0000:00/0000:00:02.0/0000:03:00.0" "$sys/bus/pci/devices" "$sys/bus/pci/drivers/igb"
	ln -s "$sys/devices/pci0000:00/0000:00:02.0/0000:03:00.0" "$sys/bus/pci/devices/"
	ln -s "$sys/bus/pci/devices/0000:03:00.0" "$sys/bus/pci/drivers/igb/"
	file "$sys/bus/pci/drivers/igb/0000:03:00.1/msi_irqs/50" msix
	file "$sys/bus/pci/drivers/igb/0000:03:00.1/msi_irqs/51" msix
	file "$sys/bus/pci/devices/0000:03:00.0/power/control" auto
	file "$sys/bus/pci/devices/0000:03:00.0/numa_node" 0
	for irq in 40 41 42; do
		file "$sys/bus/pci/devices/0000:03:00.0/msi_irqs/$irq" msix
	done
	for irq in 30 40 41 42; do
		file "$proc/irq/$irq/smp_affinity_list" 0-7
		file "$proc/irq/$irq/effective_affinity_list" 0
	done
	file "$proc/irq/31/smp_affinity_list" 4-5
	file "$proc/irq/32/smp_affinity_list" 3
	file "$proc/irq/33/effective_affinity_list" 2
	file "$proc/irq/50/smp_affinity_list" 6
	file "$proc/irq/51/smp_affinity_list" 7
	file "$proc/irq/default_smp_affinity" ff
}

make_host() {
	local cpu

	for cpu in 0 1 2 3 4 5 6 7; do
		command -p mkdir -p "$sys/devices/system/cpu/cpu$cpu/node0"
		file "$sys/devices/system/cpu/cpu$cpu/cpufreq/scaling_governor" powersave
		file "$sys/devices/system/cpu/cpu$cpu/cpuidle/state0/latency" 0
		file "$sys/devices/system/cpu/cpu$cpu/cpuidle/state1/latency" 133
		file "$sys/devices/system/cpu/cpu$cpu/cpuidle/state1/disable" 0
	done
	file "$sys/devices/system/cpu/online" 0-7
	file "$sys/devices/virtual/workqueue/cpumask" ff
	file "$sys/class/net/eth0/napi_defer_hard_irqs" 7
	file "$sys/class/net/eth0/gro_flush_timeout" 20000
	file "$sys/class/net/eth0/threaded" 1
	file "$sys/class/net/eth0/queues/rx-0/rps_cpus" 0f
	file "$proc/sys/net/ipv6/conf/eth0/disable_ipv6" 0
	file "$proc/sys/net/ipv4/conf/eth0/rp_filter" 2
	file "$proc/sys/kernel/random/boot_id" one
	file "$proc/uptime" '1000.00 1'
	file "$proc/meminfo" 'MemAvailable: 8000000 kB'
	command -p mkdir -p "$proc/self/ns" "$CONFIG_ROOT/run/netns" "$sys/kernel/tracing/instances"
	cp -r "$nic/instance/." "$sys/kernel/tracing/"
	ln -s 'net:[1]' "$proc/self/ns/net"
	task 1 init 0 0-7 0 0
	task 20 ksoftirqd/3 69238848 3 0 0
	task 140 irq/40-eth0-TxR 2129984 0-7 1 50
	task 133 irq/33-nvme0q2 2129984 2 1 50
	task 500 'evil) S ($x' 0 1-3 0 0
	task 501 pinned 0 2 0 0
}
