#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# config.sh on a network card that there is not: its tools are replaced by tests/unit/config/stub, /proc and /sys by files.
# Prints "ok - NAME", "not ok - NAME" and lines that begin with "# ". Exit status 1 when anything failed. ONLY=REGEX chooses.
# The cases run side by side, a process for each CPU with a folder of its own, and are printed in their order.
#
# Text in single quotes is for sed and bash.
# shellcheck disable=SC2016,SC2317
set -uo pipefail
export LC_ALL=C

tree=$(cd "$(dirname "$0")/../.." && pwd)
if [ "$(id -u)" -ne 0 ]; then
	echo "ok - config.sh with replaced tools # SKIP it works for root only: sudo make check"
	exit 0
fi
if [ -z "${SHARE:-}" ]; then
	exec "$tree/tests/shares.sh" "$0"
fi
work=$(mktemp -d /tmp/rant-config.XXXXXX) || exit 1
export CONFIG_ROOT=$work/root
sys=$CONFIG_ROOT/sys proc=$CONFIG_ROOT/proc nic=$CONFIG_ROOT/nic
failed=0
complaints=()

remove_all() {
	trap '' INT TERM HUP PIPE
	"$tree/config.sh" eth0 --undo >/dev/null 2>&1
	rm -rf "$work"
}
trap remove_all EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# shellcheck source=tests/unit/config/machine.sh
. "$tree/tests/unit/config/machine.sh"
replace_tools

# The first is kept, and copied from then on.
make_root() {
	rm -rf "$CONFIG_ROOT"
	if [ ! -e "$work/first" ]; then
		command -p mkdir -p "$CONFIG_ROOT"
		make_nic
		make_interrupts
		make_host
		dump >"$work/first before"
		cp -a "$CONFIG_ROOT" "$work/first"
	else
		cp -a "$work/first" "$CONFIG_ROOT"
	fi
	cp "$work/first before" "$work/before"
}

# All changeable settings, without those that are refused.
dump() {
	(cd "$CONFIG_ROOT" && grep -ra '' nic proc sys && ls run/netns) | grep -av -e '^nic/refuse' -e 'proc/[0-9]*/cmdline' | sort
	[ ! -e "$CONFIG_ROOT/run/rant-config/eth0" ] || echo "state is left"
}

# ---- Verdicts --------------------------------------------------------------------------------------------------------

cases=0

# chosen NAME: by ONLY, and in this process: SHARE is "N M", for the cases N, N + M and so on.
chosen() {
	[[ $1 =~ ${ONLY:-} ]] || return 1
	cases=$((cases + 1))
	[ $((cases % ${SHARE#* })) -eq "${SHARE% *}" ]
}

begin() {
	name=$1 complaints=()
	make_root
}

complain() {
	complaints+=("$*")
}

verdict() {
	if [ ${#complaints[@]} -eq 0 ]; then
		echo "$cases ok - config.sh: $name"
		return
	fi
	failed=1
	echo "$cases not ok - config.sh: $name"
	printf '%s\n' "${complaints[@]}" | head -40 | sed "s/^/$cases # /"
}

all=(eth0 --ip 10.0.0.1 --remote-ip 10.0.0.2 --remote-mac 52:54:00:00:00:02 --cpu 2 --irq-cpu 3 --cpu-power --trace --demote-irqs)

script=("$tree/config.sh") # as it is called
changes=65                 # that config.sh makes with them

# config STATUS ARGUMENTS...: output in $work/out and err.
config() {
	local expected=$1 status=0

	shift
	: >"$CONFIG_ROOT/calls"
	timeout -s KILL 60 "${script[@]}" "$@" >"$work/out" 2>"$work/err" </dev/null 9>&- || status=$?
	[ "$status" -eq "$expected" ] || complain "config.sh $*: status $status, not $expected: $(tail -n 3 "$work/err")"
}

is() { # FILE TEXT
	local text

	text=$(cat "$1" 2>&1)
	[ "$text" = "$2" ] || complain "${1#"$CONFIG_ROOT/"} is '$text', not '$2'"
}

expect_line() { # FILE REGEX
	grep -Eq -- "$2" "$work/$1" || complain "no line of $1 matches: $2"
}

expect_no_line() {
	! grep -Eq -- "$2" "$work/$1" || complain "a line of $1 matches: $2"
}

# expect_plan WHICH: the output is that of a dry run with all steps.
expect_plan() {
	sed "s#$CONFIG_ROOT##g; s/^eth0: note.*//; /^$/d" "$work/out" >"$work/plan"
	diff "$tree/tests/unit/config/dry-run.txt" "$work/plan" >"$work/difference" || complain "$1: $(cat "$work/difference")"
}

expect_as_before() {
	dump >"$work/after"
	cmp -s "$work/before" "$work/after" || complain "$1: $(diff "$work/before" "$work/after" | head -20)"
}

# copy FOLDER: config.sh and its parts, readable for all.
copy() {
	rm -rf "$1"
	command -p mkdir -p "$1"
	cp -r "$tree/config.sh" "$tree/config" "$1"
	chmod -R a+rX "$1"
}

# poison FOLDER: a config/ in it that must not be used. Its parts leave $work/poisoned.
poison() {
	local file

	rm -f "$work/poisoned"
	for file in "$tree"/config/*.sh; do
		file "$1/config/${file##*/}" "echo \"\${BASH_SOURCE[0]}\" >>'$work/poisoned'"
	done
}

expect_no_poison() {
	[ ! -e "$work/poisoned" ] || complain "parts were loaded from elsewhere: $(sort -u "$work/poisoned" | head -3)"
}

# ---- Bad input: one line, exit status 1, nothing changed -------------------------------------------------------------

# bad NAME REGEX ARGUMENTS...
bad() {
	local message=$2

	chosen "bad input: $1" || return 0
	begin "bad input: $1"
	config 1 "${@:3}"
	expect_line err "^config.sh: .*$message"
	[ "$(wc -l <"$work/err")" -eq 1 ] || complain "$(wc -l <"$work/err") lines on stderr"
	expect_as_before 'changed'
	verdict
}

enough=(--ip 10.0.0.1 --remote-ip 10.0.0.2 --cpu 2 --irq-cpu 3)
{
	bad 'unknown interface' "no interface 'eth7'" eth7 "${enough[@]}"
	bad 'a name that is a path' "'../x' is not the name" ../x "${enough[@]}"
	bad 'no CPU' 'cpu is missing' eth0 --ip 10.0.0.1 --remote-ip 10.0.0.2
	bad 'a CPU that there is not' 'there is no CPU 9' eth0 "${enough[@]}" --cpu 9
	bad 'a CPU that is no number' "'2x' is not a number" eth0 "${enough[@]}" --cpu 2x
	bad 'a CPU that is no number, for a step that needs none' "'2x' is not a number" eth0 --only rings --irq-cpu 2x
	bad 'one CPU for both' 'are both 2' eth0 "${enough[@]}" --irq-cpu 2
	bad 'one CPU for both, written in two ways' 'are both 2' eth0 "${enough[@]}" --irq-cpu 02
	bad 'no address' 'ip is missing' eth0 --cpu 2 --irq-cpu 3
	bad 'an address with a number too large' "'10.0.0.256' is not" eth0 "${enough[@]}" --ip 10.0.0.256
	bad 'an address with a length too large' "'10.0.0.1/33' is not" eth0 "${enough[@]}" --ip 10.0.0.1/33
	bad 'a remote address with a length' "'10.0.0.2/24' is not" eth0 "${enough[@]}" --remote-ip 10.0.0.2/24
	bad 'the same address for both' 'address of this host' eth0 "${enough[@]}" --remote-ip 10.0.0.1
	bad 'a malformed MAC' "'52:54:00:00:00' is not a MAC" eth0 "${enough[@]}" --remote-mac 52:54:00:00:00
	bad 'the MAC of a group' 'not a unicast MAC' eth0 "${enough[@]}" --remote-mac 01:00:5e:00:00:01
	bad 'a priority of 100' "'100' is not a number from 1 to 99" eth0 "${enough[@]}" --irq-prio 100
	bad 'an unknown step' "no step 'rest'" eth0 "${enough[@]}" --only rest
	bad 'a pattern for a step' "no step '\.\*'" eth0 "${enough[@]}" --only '.*'
	bad 'a pattern for a step to leave out' "no step 'p\[t\]p'" eth0 "${enough[@]}" --skip 'p[t]p'
	bad 'a pattern of files for a step' "no step '\*'" eth0 "${enough[@]}" --skip '*'
	bad 'a blank between steps' "no step 'rings pause'" eth0 "${enough[@]}" --only 'rings pause'
	bad 'a line for each step' "no step [$]'queues.nrings'" eth0 "${enough[@]}" --only $'queues\nrings'
	bad 'a line break in a value' "'2[?]x' is not a number" eth0 "${enough[@]}" --cpu $'2\nx'
	bad 'what a terminal would obey' "unknown option '-[?]\[2J[?]'" eth0 "${enough[@]}" $'-\e[2J\x7f'
	bad 'a value with the word --help in it' "'x --help y' is not an IPv4" eth0 "${enough[@]}" --ip 'x --help y'
	bad 'no step to take' '--only: a step is missing' eth0 "${enough[@]}" --only ''
	bad 'no step to leave out' '--skip: a step is missing' eth0 "${enough[@]}" --skip ''
	bad 'a comma for a step' '--only: a step is missing' eth0 "${enough[@]}" --only ,
	bad 'a comma too many' '--skip: a step is missing' eth0 "${enough[@]}" --skip rings,
	bad 'an unknown option' "unknown option '--cpus'" eth0 "${enough[@]}" --cpus 1
	bad 'an option without its value' '--ip needs a value' eth0 --ip
	bad 'two modes' 'exclude each other' eth0 --undo --verify
	bad 'two interfaces' 'are two interfaces: give one' eth0 eth1 "${enough[@]}"
	bad 'a clock that is a path' "'/tmp/x' is not a PTP clock" eth0 "${enough[@]}" --ptp-source /tmp/x
}

if chosen 'offline'; then
	begin 'bad input: a CPU that is offline'
	file "$sys/devices/system/cpu/cpu2/online" 0
	dump >"$work/before"
	config 1 eth0 "${enough[@]}"
	expect_line err 'CPU 2 is offline'
	expect_as_before changed
	verdict
fi

if chosen 'default route'; then
	begin 'an interface with the default route is not touched'
	echo 'default via 10.1.1.1' >>"$nic/routes"
	dump >"$work/before"
	config 1 eth0 "${enough[@]}"
	expect_line err 'carries the default route'
	expect_as_before changed
	verdict
fi

# refused NAME REGEX CALL TEXT: if that call answers so, nothing is changed, and nothing is left.
refused() {
	chosen "refused: $1" || return 0
	begin "refused, because it could not be put back: $1"
	printf '%b\n' "$4" >"$nic/answer to $3"
	dump >"$work/before"
	config 1 eth0 "${enough[@]}"
	expect_line err "^config.sh: .*$2.*(remove it first|a different metric)"
	[ "$(wc -l <"$work/err")" -eq 1 ] || complain "$(wc -l <"$work/err") lines on stderr"
	expect_as_before changed
	[ ! -e "$CONFIG_ROOT/run/rant-config" ] || complain 'a folder is left'
	verdict
}

eth0_line='2: eth0: <UP> mtu 1500'
{
	refused 'an encapsulating route' "route 4 10.7.0.0/16 metric 5' uses 'eth0', and its 'encap'" 'ip -4 -o route show table all' \
		'10.7.0.0/16  encap mpls  100 via 10.1.1.1 dev eth0 metric 5 '
	refused 'a route for a time' "'expires'" 'ip -6 -o route show table all' 'fd01::/32 via fd00::1 dev eth0 metric 1024 expires 90sec pref medium'
	refused 'one of two routes alike' "exists 2 times" 'ip -4 -o route show table all' \
		'10.7.0.0/16 via 10.1.1.1 dev eth0 metric 5 \n10.7.0.0/16 via 10.1.2.1 dev eth1 metric 5 '
	refused 'an encapsulating nexthop object' "nexthop 9' uses 'eth0', and its 'encap'" 'ip -4 nexthop show' \
		'id 9 encap mpls  100 via 10.1.1.1 dev eth0 scope link '
	refused 'a tunnel' "'vx0' uses 'eth0'" 'ip -d -o link show' \
		"$eth0_line\n3: vx0: <UP> mtu 1450\\\\    vxlan id 5 dev eth0 srcport 0 0 dstport 4789"
	refused 'a VLAN' "'eth0.5' uses 'eth0'" 'ip -d -o link show' "$eth0_line\n3: eth0.5@eth0: <UP> mtu 1500\\\\    vlan protocol 802.1Q id 5"
	refused 'clsact' 'discipline of its own, clsact ffff:' 'tc qdisc show dev eth0' 'qdisc mq 0: root \nqdisc clsact ffff: parent ffff:fff1 '
	refused 'where a filter sends' 'where a filter of another' 'tc actions list action mirred' \
		'total acts 1\n\taction order 0: mirred (Egress Redirect to device eth0) stolen'
	refused 'MPLS' 'MPLS route' 'ip -f mpls route show' '100 via inet 10.1.1.1 dev eth0 '
	refused 'IPsec' 'IPsec state' 'ip xfrm state show' 'src 10.1.1.5 dst 10.1.1.1\n\tcrypto offload parameters: dev eth0 dir out'
	refused 'nftables' 'nftables' 'nft list ruleset' 'table netdev t {\n\ttype filter hook ingress devices = { "eth1", "eth0" } priority 0;'
}

if chosen 'refused: others'; then
	begin 'what hangs on another interface is no reason to refuse'
	file "$nic/answer to ip xfrm state show" 'crypto offload parameters: dev eth01 dir out'
	file "$nic/answer to nft list ruleset" 'type filter hook ingress device "eth01" priority 0;'
	file "$nic/answer to ip -d -o link show" '3: vx0: <UP> mtu 1450\    vxlan id 5 dev eth01 srcport 0 0 dstport 4789'
	file "$nic/answer to ip nexthop show" 'id 9 group 4/5 type resilient buckets 32 '
	file "$proc/net/ip_mr_vif" ' 0 eth01 0 0 0 0 00000 0000 0000'
	config 0 eth0 "${enough[@]}" --only namespace,network --remote-mac 52:54:00:00:00:02
	config 0 eth0 --undo
	verdict
	begin 'refused: an interface of a multicast router'
	file "$proc/net/ip_mr_vif" ' 0 eth0 0 0 0 0 00000 0000 0000'
	config 1 eth0 "${enough[@]}"
	expect_line err "'eth0' belongs to a multicast router"
	verdict
fi

if chosen 'not root'; then
	begin 'not root: one line'
	chmod 711 "$work"
	status=0
	copy "$work/readable"
	# The stand-ins are of no use to somebody who may not read this tree, as one in a folder of root alone.
	BASH_ENV='' setpriv --reuid 65534 --clear-groups "$work/readable/config.sh" eth0 --undo >"$work/out" 2>"$work/err" || status=$?
	[ "$status" -eq 1 ] || complain "status $status"
	is "$work/err" 'config.sh: only root can do this: sudo config.sh ...'
	verdict
fi

for pair in ethtool:ethtool setpci:pciutils phc2sys:linuxptp chrt:util-linux; do
	chosen "missing ${pair%:*}" || continue
	begin "a missing ${pair%:*} is named with its package"
	rm -rf "$work/path"
	command -p mkdir "$work/path"
	for tool in bash sh cat cp mv rm sed grep sort tail readlink flock sleep chmod setsid id timeout; do
		ln -s "$(command -v "$tool")" "$work/path/$tool"
	done
	cp -P "$work/bin/"* "$work/path/"
	rm "$work/path/${pair%:*}"
	BASH_ENV='' PATH=$work/path config 1 eth0 "${enough[@]}"
	expect_line err "'${pair%:*}' is missing: install the package ${pair#*:}$"
	expect_as_before changed
	verdict
done

# ---- Actions ---------------------------------------------------------------------------------------------------------

if chosen 'help'; then
	begin '--help lists all steps, one line each'
	config 0 --help
	for step in namespace queues rings offloads coalescing pause flags napi network cpus irqs power pcie ptp trace; do
		[ "$(grep -c "^  $step  *[a-z0-9]" "$work/out")" -eq 1 ] || complain "$step"
	done
	verdict
fi

if chosen 'dry-run'; then
	begin '--dry-run prints each command with the value it replaces, and changes nothing'
	config 0 "${all[@]}" --dry-run
	expect_plan '--dry-run'
	[ -z "${UPDATE:-}" ] || cp "$work/plan" "$tree/tests/unit/config/dry-run.txt"
	expect_as_before changed
	verdict
fi

# Conditions after all of it.
expect_prepared() {
	local setting

	for setting in namespace=ns_eth0 'channels combined=1' 'ring rx=512' 'ring tx=256' 'coalesce adaptive-rx=off' \
		'coalesce rx-usecs=0' 'coalesce rx-frames=1' 'pause autoneg=off' 'pause rx=off' 'flag legacy-rx=off' 'flag something=on' \
		'offload tx-checksum-ip-generic=off' 'offload rx-checksumming=off' 'offload generic-receive-offload=off' \
		'offload rx-vlan-offload=on' up=on arp=off multicast=off qdisc=noqueue aspm-0000:03:00.0=0040 aspm-0000:00:02.0=0040 \
		'neighbours=10.0.0.2 lladdr 52:54:00:00:00:02 PERMANENT' \
		'addresses=inet 10.0.0.1/24 brd 10.0.0.255 scope global eth0'; do
		is "$nic/${setting%%=*}" "${setting#*=}"
	done
	for setting in irq/40=3 irq/42=3 irq/30=0-1,4-7 irq/31=4-5 irq/32=0-1,4-7 irq/50=6 irq/51=7; do
		is "$proc/${setting%=*}/smp_affinity_list" "${setting#*=}"
	done
	is "$proc/irq/default_smp_affinity" f3
	is "$proc/500/status" 'Cpus_allowed_list:	1'
	is "$proc/501/status" 'Cpus_allowed_list:	2'
	for setting in 140=55\ 1 20=11\ 1 133=0\ 0; do
		[[ $(<"$proc/${setting%=*}/stat") == *" ${setting#*=}" ]] || complain "task $setting: $(<"$proc/${setting%=*}/stat")"
	done
	is "$sys/class/net/eth0/napi_defer_hard_irqs" 0
	is "$sys/class/net/eth0/threaded" 0
	is "$proc/sys/net/ipv6/conf/eth0/disable_ipv6" 1
	is "$sys/devices/system/cpu/cpu2/cpufreq/scaling_governor" performance
	is "$sys/devices/system/cpu/cpu3/cpuidle/state1/disable" 1
	is "$sys/devices/system/cpu/cpu4/cpuidle/state1/disable" 0
	is "$sys/bus/pci/devices/0000:03:00.0/power/control" on
	is "$sys/kernel/tracing/instances/rant/tracing_cpumask" 0c
	is "$sys/kernel/tracing/instances/rant/buffer_size_kb" 16384
	is "$sys/kernel/tracing/instances/rant/trace_clock" mono_raw
	is "$sys/kernel/tracing/instances/rant/events/irq/irq_handler_exit/enable" 1
}

if chosen 'all steps'; then
	begin 'all steps, twice the same as once, verified, and taken back'
	config 0 "${all[@]}"
	expect_prepared
	expect_line out 'pinned. is pinned|task 501 \(pinned\) is pinned to CPUs 2'
	dump >"$work/once"
	cp -r "$CONFIG_ROOT/run/rant-config/eth0/undo" "$work/undo"
	config 0 "${all[@]}"
	expect_no_line out '^eth0: set '
	dump | cmp -s - "$work/once" || complain "twice: $(dump | diff "$work/once" - | head)"
	cmp -s "$CONFIG_ROOT/run/rant-config/eth0/undo" "$work/undo" || complain 'what is saved was changed by the second run'
	config 0 eth0 --verify
	expect_no_line out 'not in force'
	config 0 eth0 --undo
	expect_as_before 'after --undo'
	config 0 eth0 --undo
	expect_line out 'nothing to restore'
	verdict
fi

if chosen 'five'; then
	begin '--verify names exactly the five settings that were broken'
	config 0 "${all[@]}"
	echo 4 >"$nic/channels combined"
	echo on >"$nic/arp"
	echo 0-7 >"$proc/irq/41/smp_affinity_list"
	echo powersave >"$sys/devices/system/cpu/cpu3/cpufreq/scaling_governor"
	echo 0041 >"$nic/aspm-0000:03:00.0"
	config 1 eth0 --verify
	sed -n 's/.*not in force: //p' "$work/out" >"$work/broken"
	is "$work/broken" "channels combined is 4, wanted 1
link arp is on, wanted off
irq 41 affinity is 0-7, wanted 3
governor of CPU 3 is powersave, wanted performance
ASPM of 0000:03:00.0 is 1, wanted 0"
	config 0 eth0 --undo
	verdict
fi

if chosen 'refus'; then
	begin 'what the driver refuses is a note, and no reason for --verify to fail'
	printf 'coalesce rx-frames\nring rx\n' >"$nic/refuse"
	config 0 "${all[@]}"
	expect_line out '^eth0: refused: coalesce rx-frames is 0, wanted 1: netlink error: Operation not supported$'
	expect_line out '^eth0: refused: ring rx is 256, wanted 512: '
	config 0 eth0 --verify
	expect_line out '^eth0: refused: coalesce rx-frames is 0, wanted 1: was refused when it was set'
	: >"$nic/refuse"
	config 0 "${all[@]}"
	is "$nic/coalesce rx-frames" 1
	echo 0 >"$nic/coalesce rx-frames"
	config 1 eth0 --verify
	config 0 eth0 --undo
	expect_as_before 'after --undo'
	verdict
fi

if chosen 'required'; then
	begin 'a required setting that fails stops, and everything is taken back'
	echo "address 10.0.0.1/24" >"$nic/refuse"
	config 1 "${all[@]}"
	expect_line err 'eth0: address: wanted 10.0.0.1/24, is none: .*all settings are restored'
	expect_as_before 'after it'
	verdict
fi

if chosen 'busy-poll'; then
	begin '--busy-poll sets the pair that masks interrupts'
	config 0 "${all[@]}" --busy-poll 500 --only napi
	is "$sys/class/net/eth0/napi_defer_hard_irqs" 2
	is "$sys/class/net/eth0/gro_flush_timeout" 1000000
	config 0 eth0 --undo
	expect_as_before 'after --undo'
	verdict
fi

# No file shows the values of the NAPIs.
if chosen 'deferral'; then
	begin 'the values of the NAPIs are overwritten where the file has the wanted one; by --verify and --dry-run nothing is written'
	file "$sys/class/net/eth0/napi_defer_hard_irqs" 0
	file "$sys/class/net/eth0/gro_flush_timeout" 0
	for argument in --dry-run '' --verify; do
		touch -d @1000 "$sys/class/net/eth0/napi_defer_hard_irqs" "$sys/class/net/eth0/gro_flush_timeout"
		config 0 "${all[@]}" --only napi ${argument:+"$argument"}
		for setting in napi_defer_hard_irqs gro_flush_timeout; do
			written=yes
			[ "$(stat -c %Y "$sys/class/net/eth0/$setting")" -ne 1000 ] || written=no
			[ "$written" = "$([ -n "$argument" ] && echo no || echo yes)" ] || complain "$setting, '$argument': written: $written"
		done
	done
	verdict
fi

if chosen 'mlx5'; then
	begin 'mlx5: flags that the driver lists, with a note on what tx_port_ts means'
	echo mlx5_core >"$nic/driver"
	for flag in rx_cqe_moder rx_striding_rq tx_port_ts; do
		echo on >"$nic/flag $flag"
	done
	dump >"$work/before"
	config 0 eth0 --only flags
	for flag in rx_cqe_moder rx_striding_rq tx_port_ts; do
		is "$nic/flag $flag" off
	done
	expect_line out 'note: tx_port_ts is off: '
	expect_no_line root/calls 'tx_cqe_moder'
	config 0 eth0 --undo
	expect_as_before 'after --undo'
	verdict
fi

if chosen 'only and'; then
	begin '--only and --skip choose steps; --no-namespace leaves the interface where it is'
	config 0 eth0 "${enough[@]}" --only rings,pause --skip pause
	is "$nic/ring rx" 512
	is "$nic/pause rx" on
	is "$nic/namespace" ''
	config 0 eth0 --undo
	config 0 "${all[@]}" --no-namespace --no-ptp
	is "$nic/namespace" ''
	is "$nic/up" on
	is "$nic/arp" off
	expect_no_line root/calls '^phc2sys'
	config 0 eth0 --undo
	expect_as_before 'after --undo'
	verdict
fi

if chosen 'already'; then
	begin 'an interface that already sits in its namespace stays there'
	: >"$CONFIG_ROOT/run/netns/ns_eth0"
	echo ns_eth0 >"$nic/namespace"
	dump >"$work/before"
	config 0 "${all[@]}"
	[[ $(<"$nic/addresses") == *10.1.1.5/24*10.0.0.1/24* ]] || complain "addresses: $(<"$nic/addresses")"
	config 0 eth0 --undo
	is "$nic/namespace" ns_eth0
	expect_as_before 'after --undo'
	verdict
fi

if chosen 'phc2sys'; then
	begin 'a phc2sys that runs already is left alone'
	task 900 phc2sys 0 0-1 0 0
	printf 'phc2sys\0-a\0-r\0' >"$proc/900/cmdline"
	config 0 "${all[@]}"
	expect_line out 'note: phc2sys \(process 900\) runs already'
	expect_no_line root/calls '^phc2sys'
	config 0 eth0 --undo
	verdict
	begin 'phc2sys keeps this clock only, and ends with --undo'
	config 0 "${all[@]}" --ptp-sync-to ptp5
	expect_line root/calls '^phc2sys -s /dev/ptp5 -c /dev/ptp0 -O 0$'
	pid=$(<"$CONFIG_ROOT/run/rant-config/eth0/phc2sys")
	kill -0 "$pid" || complain 'it does not run'
	config 0 eth0 --undo
	for _ in {1..100}; do
		kill -0 "$pid" 2>/dev/null || break
		sleep 0.05
	done
	! kill -0 "$pid" 2>/dev/null || complain 'it still runs'
	is "$nic/frequency" -12.500000
	verdict
fi

for tuna in works fails; do
	chosen "tuna that $tuna" || continue
	begin "tuna that $tuna"
	ln -s "$tree/tests/unit/config/stub" "$work/bin/tuna"
	[ "$tuna" = works ] || : >"$nic/tuna-fails"
	config 0 "${all[@]}"
	expect_line root/calls '^tuna isolate --cpus=2,3'
	is "$proc/irq/30/smp_affinity_list" 0-1,4-7
	is "$proc/irq/40/smp_affinity_list" 3
	is "$proc/500/status" 'Cpus_allowed_list:	1'
	rm "$work/bin/tuna"
	config 0 eth0 --undo
	is "$proc/irq/30/smp_affinity_list" 0-7
	is "$proc/irq/40/smp_affinity_list" 0-7
	is "$proc/500/status" 'Cpus_allowed_list:	1-3'
	verdict
done

if chosen 'heir'; then
	begin 'what began meanwhile gets its CPUs back, what was there before keeps its own'
	task 502 chosen 0 0-1,4-7 0 0
	config 0 "${all[@]}"
	task 600 heir 0 0-1,4-7 0 0
	sed -i 's/ 777 / 777777 /' "$proc/600/stat"
	config 0 eth0 --undo
	is "$proc/600/status" 'Cpus_allowed_list:	0-7'
	is "$proc/502/status" 'Cpus_allowed_list:	0-1,4-7'
	verdict
fi

# ---- Saved values ----------------------------------------------------------------------------------------------------

state=$CONFIG_ROOT/run/rant-config/eth0
s=$'\x1f'

if chosen 'two ports'; then
	begin 'two ports: the first value of what both changed comes back with the last of them'
	config 0 "${all[@]}"
	command -p mkdir -p "$CONFIG_ROOT/run/rant-config/eth1"
	printf '%s\n' "irq 30 affinity${s}9999999999999999${s}undo_put${s}$proc/irq/30/smp_affinity_list${s}0-1,4-7${s}." >"$CONFIG_ROOT/run/rant-config/eth1/undo"
	echo 0,5 >"$proc/irq/30/smp_affinity_list"
	config 0 eth0 --undo
	is "$proc/irq/30/smp_affinity_list" 0,5
	grep -q "irq 30 affinity${s}[0-9]*${s}undo_put${s}$proc/irq/30/smp_affinity_list${s}0-7${s}.$" "$CONFIG_ROOT/run/rant-config/eth1/undo" ||
		complain "not handed over: $(cat -v "$CONFIG_ROOT/run/rant-config/eth1/undo")"
	verdict
fi

if chosen 'boot'; then
	begin 'after a boot there is nothing to restore'
	config 0 "${all[@]}" --no-ptp
	dump | grep -v '^state is left' >"$work/before"
	echo two >"$proc/sys/kernel/random/boot_id"
	sed -i 's/boot_id:one/boot_id:two/' "$work/before"
	config 0 eth0 --undo
	expect_line out 'rebooted since'
	expect_as_before 'after --undo'
	verdict
fi

if chosen 'cut off'; then
	begin 'a line that was cut off is left out, and not appended to'
	config 0 "${all[@]}" --only rings
	printf 'ring rx%s99999' "$s" >>"$state/undo"
	config 0 eth0 --only pause
	config 0 eth0 --undo
	expect_as_before 'after --undo'
	verdict
fi

if chosen 'foreign'; then
	begin 'only its own commands are run from what is saved'
	config 0 eth0 --only rings
	printf '%s\n' "x${s}1${s}touch${s}$work/touched${s}." >>"$state/undo"
	config 1 eth0 --undo
	[ ! -e "$work/touched" ] || complain 'it was run'
	is "$nic/ring rx" 256
	verdict
	begin 'a line that it has not saved is told, and nothing is done'
	config 0 eth0 --only rings
	cp "$nic/ring rx" "$work/ring"
	printf '%s\n' 'garbage' >>"$state/undo"
	for arguments in --undo '--only pause'; do
		# shellcheck disable=SC2086 # words
		config 1 eth0 $arguments
		expect_line err "^config.sh: eth0: line [0-9]+ of .*/eth0/undo is not a line that config.sh has saved, so nothing is done: "
		is "$nic/ring rx" "$(cat "$work/ring")"
	done
	verdict
	begin 'a lock that is a symbolic link is not used'
	echo kept >"$work/aim"
	ln -s "$work/aim" "$CONFIG_ROOT/run/rant-config.lock"
	config 1 eth0 --only rings
	expect_line err 'rant-config.lock is a symbolic link: remove it$'
	is "$work/aim" kept
	verdict
	begin "a state folder of somebody else's is not used"
	command -p mkdir -p "$state"
	chown 65534 "$state"
	config 1 eth0 --undo
	expect_line err "is not a folder of root"
	config 1 eth0 --only rings
	is "$nic/ring rx" 256
	verdict
fi

if chosen 'earlier version'; then
	begin '--undo takes back what an earlier version saved'
	config 0 "${all[@]}"
	# Lines of this version that the older version did not know stay.
	sed "s#ROOT#$CONFIG_ROOT#g; s/|/$s/g" "$tree/tests/unit/config/saved.txt" >"$work/saved"
	awk -F "$s" 'NR == FNR { earlier[$1]; print; next } !($1 in earlier)' "$work/saved" "$state/undo" >"$work/undo"
	cp "$work/undo" "$state/undo"
	config 0 eth0 --undo
	is "$work/err" ''
	expect_as_before 'after --undo'
	verdict
fi

# ---- Where its parts come from ---------------------------------------------------------------------------------------

# planned FOLDER COMMAND...: called so in that folder, it prints its plan.
planned() {
	cd "$1" || exit 1
	script=("${@:2}")
	config 0 "${all[@]}" --dry-run
	expect_plan "${*:2} in $1"
	script=("$tree/config.sh")
	cd "$tree" || exit 1
}

if chosen 'called by a path'; then
	begin 'called by a path: full or relative, with spaces, with CDPATH set'
	copy "$work/a folder"
	poison "$work/other/a folder"
	export CDPATH=$work/other:$work
	planned / "$work/a folder/config.sh"
	planned "$work" "a folder/config.sh"
	planned "$work" bash "a folder/config.sh"
	planned "$work/a folder" ./config.sh
	planned "$work/a folder" bash config.sh
	planned "$work/a folder/config" ../config.sh
	unset CDPATH
	expect_no_poison
	verdict
fi

if chosen 'called by a link'; then
	begin 'called by a link: full or relative, to a link, or found in PATH'
	copy "$work/a folder"
	rm -rf "$work/links"
	poison "$work/links"
	poison "$work/links/more"
	ln -s '../a folder/config.sh' "$work/links/prepare"
	ln -s ../prepare "$work/links/more/config.sh"
	ln -s "$work/links" "$work/links/round"
	planned / "$work/links/prepare"
	planned "$work/links" ./prepare
	planned "$work" links/more/config.sh
	planned / "$work/links/round/more/config.sh"
	PATH=$work/links/more:$PATH planned / config.sh
	PATH=$work/links/more:$PATH planned / bash config.sh
	expect_no_poison
	verdict
fi

if chosen 'nowhere else'; then
	begin 'parts come from nowhere else: not from the current directory, nor from where the environment says'
	poison "$work/other"
	planned "$work/other" "$tree/config.sh"
	for variable in "self=$work/other/config.sh" "parts=$work/other/config" "PWD=$work/other" "OLDPWD=$work/other"; do
		planned / env "$variable" "$tree/config.sh"
	done
	cd "$work/other" || exit 1
	: >bash
	for variable in x=y "BASH_SOURCE=$work/other/config.sh"; do
		status=0
		env "$variable" bash -s -- eth0 --undo <"$tree/config.sh" >"$work/out" 2>"$work/err" || status=$?
		[ "$status" -eq 1 ] || complain "read from a pipe with $variable: status $status"
		expect_line err '^config.sh: (its folder config/ is found only when it is run as a file: give its path|BASH_SOURCE is set)'
		[ "$(wc -l <"$work/err")" -eq 1 ] || complain "read from a pipe with $variable: $(cat "$work/err")"
		is "$work/out" ''
	done
	script=(env "BASH_SOURCE=$work/other/config.sh" "$tree/config.sh")
	config 1 "${all[@]}" --dry-run
	is "$work/err" 'config.sh: BASH_SOURCE is set in the environment: unset it'
	script=("$tree/config.sh")
	cd "$tree" || exit 1
	expect_no_poison
	verdict
fi

if chosen 'missing part'; then
	begin 'a missing part is one line that says what to do, in every mode'
	copy "$work/a folder"
	script=("$work/a folder/config.sh")
	for file in "$work/a folder/config/"*.sh; do
		mv "$file" "$work/part"
		for arguments in --help 'eth0 --undo' 'eth0 --verify' 'eth0 --only rings'; do
			# shellcheck disable=SC2086 # words
			config 1 $arguments
			is "$work/err" "config.sh: $file cannot be read: copy the folder config/ with config.sh, or use make install"
			is "$work/out" ''
		done
		mv "$work/part" "$file"
	done
	expect_as_before changed
	script=("$tree/config.sh")
	verdict
fi

# install_by_make TARGET: from a copy of the tree, in which rant is built already.
install_by_make() {
	PATH=${PATH#"$work/bin:"} env -u MAKEFLAGS -u MAKELEVEL make -s -C "$work/source" -o rant -o build/man/rant.1 -o build/man/rant-config.8 "$1" \
		DESTDIR="$work/installed" PREFIX=/usr >"$work/out" 2>&1 || complain "make $1: status $?: $(cat "$work/out")"
}

if chosen 'installed'; then
	begin 'installed by make, it works; uninstalled, nothing is left of it'
	copy "$work/source"
	cp -r "$tree/Makefile" "$tree/plot" "$tree/python" "$tree/completion" "$tree/systemd" "$work/source"
	mkdir -p "$work/source/build/man" "$work/source/man"
	cp "$tree/man/rant-plot.1" "$work/source/man"
	touch "$work/source/"{rant,build/man/rant.1,build/man/rant-config.8}
	install_by_make install
	(cd "$work/source" && find rant config.sh config/*.sh plot/* python/rant_results/*.py -type f | sed 's#^python/#plot/#' | sort) >"$work/before_install"
	(cd "$work/installed" && find ./usr/bin ./usr/share/rant -type f) | sed -E 's#^./usr/(bin|share/rant)/##' | sort >"$work/after_install"
	cmp -s "$work/before_install" "$work/after_install" || complain "$(diff "$work/before_install" "$work/after_install")"
	planned / "$work/installed/usr/share/rant/config.sh"
	ln -s ../share/rant/config.sh "$work/installed/usr/bin/config.sh"
	planned / "$work/installed/usr/bin/config.sh"
	file "$work/installed/usr/share/rant/config/mine.sh" mine
	install_by_make uninstall
	(cd "$work/installed" && find . ! -type d | sort) >"$work/left"
	is "$work/left" $'./usr/bin/config.sh\n./usr/share/rant/config/mine.sh'
	rm "$work/installed/usr/share/rant/config/mine.sh"
	install_by_make uninstall
	[ ! -e "$work/installed/usr/share/rant" ] || complain "$(find "$work/installed/usr/share/rant") is left"
	verdict
fi

if chosen 'unforeseen'; then
	begin 'an unforeseen failure names its line and file, and everything is taken back'
	copy "$work/a folder"
	sed -i '/^step_rings() {/a false' "$work/a folder/config/rings.sh"
	script=("$work/a folder/config.sh")
	config 1 "${all[@]}"
	expect_line err "^config.sh: eth0: line [0-9]+ of rings.sh: 'false' failed: all settings are restored$"
	expect_as_before 'after it'
	script=("$tree/config.sh")
	verdict
fi

# ---- Killed at any point ---------------------------------------------------------------------------------------------

# killed STATUS POINT NAME
killed() {
	chosen "killed $3" || return 0
	begin "killed $3 and taken back, all is as before"
	CONFIG_KILL_AFTER=$2 config "$1" "${all[@]}" 2>/dev/null # where bash reports it
	config 0 eth0 --undo
	expect_as_before "killed at $2"
	verdict
}

# Each point, in make check-all; every fifth change until then.
if [ "${EVERY:-5}" = 1 ]; then
	for step in namespace queues rings offloads coalescing pause flags napi network cpus irqs power pcie ptp trace; do
		killed 137 "$step" "after step $step"
	done
fi
for ((change = 1; change <= changes; change += ${EVERY:-5})); do
	killed 137 "$change" "between saving and making change $change"
done
killed 0 $((changes + 1)) "never, where there is no change $((changes + 1))"

exit "$failed"
