# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# For the tests of config.sh, which source it: what can be set at a port, as text to be compared.
dump_port() { # IFACE
	local group

	for group in -c -g -k -a -l --show-priv-flags; do
		ethtool "$group" "$1"
	done
	ip -d address show dev "$1"
	ip neigh show dev "$1" nud permanent
	tc qdisc show dev "$1"
	grep -s '' "/sys/class/net/$1/napi_defer_hard_irqs" "/sys/class/net/$1/gro_flush_timeout" "/sys/class/net/$1/threaded" "/sys/class/net/$1"/queues/*/[rx]ps_*
}
