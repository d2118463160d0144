# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# For the tests of config.sh, which source it: settings of a host on two ports, which are lost when a port leaves.

# hang_on_ports A B: both are up and have the network 10.98.77.0/24.
hang_on_ports() {
	local a=$1 b=$2 port n=0

	ip neigh add 10.98.77.9 lladdr 02:00:00:00:00:09 nud permanent dev "$a"
	ip route add 10.97.0.0/16 via 10.98.77.9 dev "$a" metric 7
	for port in "$a" "$b"; do
		n=$((n + 1))
		hang_on_port "$port" "$n"
	done
	# Over both.
	ip route add 10.20.0.0/16 nexthop via 10.61.0.2 dev "$a" weight 2 nexthop via 10.62.0.2 dev "$b"
	ip route add 10.20.1.0/24 mtu 1400 table 9 metric 3 nexthop via inet6 fe80::99 dev "$a" onlink nexthop via 10.62.0.3 dev "$b"
	ip -6 route add fd20::/32 nexthop via fd61::2 dev "$a" nexthop via fd62::2 dev "$b" weight 3
	ip route add 10.21.0.0/16 via 10.62.0.2 dev "$b" src 10.61.0.1
	ip route add 10.22.0.0/16 via 10.61.0.2 dev "$a" src 10.62.0.1
	ip -6 route add fd21::/32 via fd62::2 dev "$b" src fd61::1
	ip -6 route add fd22::/32 via fd61::2 dev "$a" src fd62::1
	ip nexthop add id 30 group 11/21,3 proto static
	ip route add 10.23.0.0/16 nhid 30
	# Over neither.
	ip route add blackhole 10.25.0.0/16
	ip route add unreachable default table 7
}

# hang_on_port PORT N
hang_on_port() {
	local port=$1 n=$2

	ip link set dev "$port" group "$((40 + n))" alias "port number $n" txqueuelen "$((500 + n))" mtu 1480
	ip link property add dev "$port" altname "another-name-of-$port"
	ip link set dev "$port" promisc on allmulticast on
	ip address add "10.6$n.0.1/24" dev "$port"
	ip -6 address add "fd6$n::1/64" dev "$port" nodad
	ip -6 address add "fe80::7$n/64" dev "$port" nodad
	ip -6 address add "fd7$n::1/64" dev "$port"
	ip route add "10.11$n.0.0/16" via "10.6$n.0.2" dev "$port" tos 0x10 metric 77 mtu lock 1400 advmss 1300 rto_min 5ms
	ip route add "10.12$n.0.0/16" via "10.99.0.$n" dev "$port" onlink realm 5 proto static
	ip route add "10.13$n.0.7" dev "$port" scope link
	ip route add "10.14$n.0.0/16" via "10.13$n.0.7"
	ip route add "10.15$n.0.0/16" via inet6 fe80::99 dev "$port" table 7
	ip route add local "10.16$n.0.0/16" dev "$port"
	ip route add prohibit "10.17$n.0.0/16"
	ip -6 route add "fd1$n::/32" via "fd6$n::2" dev "$port" metric 77 mtu lock 1400 hoplimit 9 advmss 1300
	ip -6 route add "fd2$n::/32" from "fd3$n::/48" via "fd6$n::2" dev "$port" pref high
	ip -6 route add "fd4$n::/32" dev "$port" table 8
	ip nexthop add id "${n}1" via "10.6$n.0.2" dev "$port"
	ip nexthop add id "${n}2" dev "$port" proto static
	ip -6 nexthop add id "${n}3" via "fd6$n::2" dev "$port"
	ip -6 nexthop add id "${n}4" dev "$port"
	ip nexthop add id "${n}5" via "10.13$n.0.7" dev "$port" onlink
	ip nexthop add id "${n}9" group "${n}1/${n}5"
	ip route add "10.18$n.0.0/16" nhid "${n}1"
	ip route add "10.19$n.0.0/16" nhid "${n}2" metric 4 scope link
	ip route add "10.20$n.0.0/16" nhid "${n}9"
	ip -6 route add "fd5$n::/32" nhid "${n}3"
	ip rule add iif "$port" table 7
	ip rule add oif "$port" table 7
	ip -6 rule add iif "$port" table 8
	ip neigh add proxy "10.6$n.0.50" dev "$port"
	ip -6 neigh add proxy "fd6$n::50" dev "$port"
	ip -6 neigh add "fd6$n::9" lladdr 02:00:00:00:00:09 dev "$port" nud permanent router proto static
	ip neigh add "10.6$n.0.10" lladdr 02:00:00:00:00:10 dev "$port" extern_learn
	bridge fdb add "02:00:00:00:00:6$n" dev "$port" self
	ip maddress add "01:00:5e:00:00:6$n" dev "$port"
	# Neither is a group but by its list, and the second is in both.
	ip maddress add "02:00:00:00:01:6$n" dev "$port"
	ip maddress add "02:00:00:00:00:6$n" dev "$port"
	ip token set "::5$n" dev "$port"
	ip addrlabel add prefix "fd3$n::/48" dev "$port" label "9$n"
	ip mptcp endpoint add "10.6$n.0.1" dev "$port" subflow 2>/dev/null
	echo 1 >"/proc/sys/net/ipv4/conf/$port/proxy_arp"
	attach_xdp "$port"
}

# attach_xdp PORT: a program that lets all pass, assembled for this machine and then said to be for BPF.
attach_xdp() {
	local object

	object=$(mktemp /tmp/rant-config.XXXXXX)
	as -o "$object" - <<-'END'
		.section xdp, "ax", %progbits
		.globl pass
		.type pass, %function
		pass: .quad 0x00000002000000b7, 0x95
		.size pass, . - pass
		.section license, "aw", %progbits
		.globl _license
		.type _license, %object
		_license: .asciz "GPL"
		.size _license, 4
	END
	printf '\xf7\0' | dd of="$object" bs=1 seek=18 conv=notrunc status=none
	ip link set dev "$1" xdpgeneric obj "$object" sec xdp || echo "# no XDP program on $1"
	rm -f "$object"
}
