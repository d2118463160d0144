#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What cannot run says why, and sends nothing.
# shellcheck source=tests/link/link.sh
. "$(dirname "$0")/link.sh"

alone 'interface down' 1 e "-i $link_down -a $ip_r $K" '@silent' '@one_line e' 'e.out empty' \
	"e.err ~ interface '$link_down' is down: 'ip link set $link_down up'"
alone 'interface down, reflector' 1 e "-i $link_down $K" '@silent' '@one_line e' "e.err ~ is down"
alone 'interface unknown' 1 e "-i nosuch0 -a $ip_r $K" '@silent' '@one_line e' \
	"e.err ~ interface 'nosuch0' not found in this network namespace"
alone 'interface of the other namespace' 1 e "-i $link_r -a $ip_r $K" '@silent' '@one_line e' \
	"e.err ~ interface '$link_r' not found in this network namespace"
alone 'interface name of 16 characters' 1 e "-i abcdefghijklmnop -a $ip_r $K" '@silent' '@one_line e' \
	"e.err ~ --interface: 'abcdefghijklmnop' is too long.*15 characters"
alone 'interface name of 15 characters is only unknown' 1 e "-i abcdefghijklmno -a $ip_r $K" '@one_line e' \
	"e.err ~ interface 'abcdefghijklmno' not found"
alone 'interface without address, reflector' 1 e "-i $link_bare $K" '@silent' \
	"e.err ~ interface '$link_bare' has no IP address: 'ip address add"
alone 'interface without carrier warns' 1 e "-i $link_bare $K" "e.err ~ warning: interface '$link_bare' has no carrier"
alone 'address reached through another interface' 1 e "-i $link_bare -a $ip_r $K" '@silent' \
	"e.err ~ address '$ip_r' is reached through interface '$link_e', not '$link_bare': use --interface $link_e"
alone 'own address' 1 e "-i $link_e -a $ip_e $K" '@silent' '@one_line e' \
	"e.err ~ address '$ip_e' is this host's own address"
alone 'address without a route' 1 e "-i $link_e -a 192.0.2.1 $K" '@silent' '@one_line e' \
	"e.err ~ 192\.0\.2\.1' (cannot be reached|.*no route)|no route to address '192\.0\.2\.1'"
alone 'multicast address' 1 e "-i $link_e -a 224.0.0.1 $K" '@silent' '@one_line e' 'e.err ~ is not a single host'
alone 'broadcast address' 1 e "-i $link_e -a $ip_broadcast $K" '@silent' '@one_line e' 'e.err ~ is not a single host'
alone 'IPv6 address where there is no IPv6' 1 e "-i $link_e -a 2001:db8::1 $K" '@silent' '@one_line e' "e.err ~ no route to address '2001:db8::1'"
alone 'hardware stamps on veth' 1 e "-i $link_e -a $ip_r" '@silent' '@one_line e' 'e.out empty' \
	"e.err ~ interface '$link_e' \(driver 'veth'\) has no hardware clock.*--stamp kernel"
alone 'hardware stamps on veth, reflector' 1 r "-i $link_r --stamp hardware" '@silent' '@one_line r' \
	"r.err ~ interface '$link_r' \(driver 'veth'\) has no hardware clock.*--stamp kernel"

alone 'bad usage: no interface' 1 e "-a $ip_r" '@silent' '@one_line e' 'e.out empty' 'e.err ~ --interface is missing'
while IFS='|' read -r arguments pattern; do
	[ -n "$arguments" ] || continue
	alone "bad usage: $arguments" 1 e "-i $link_e -a $ip_r $arguments" \
		'@silent' '@one_line e' 'e.out empty' "e.err ~ $pattern"
done <<-'END'
	-d 5x|--duration: '5x' is not a number: give
	-d -1|--duration: '-1' is out of range: give
	-t 1e9999|--threshold: '1e9999' is not a number: give
	-b 0|--bucket-size: '0' is out of range: give 0\.001 to
	-o 1 -b 2|--overflow 1 with --bucket-size 2
	-o 10000000 -b 0.001|--bucket-size 0\.001 us: with --overflow 10000000 us the finest bucket is 10 us: give a multiple of that
	--port 65536|--port: '65536' is out of range: give 1 to 65535
	--stamp soft|--stamp: 'soft' is not a choice: give hardware, kernel or user
	-l|--log: FILE is missing
	--on-breach stop|--on-breach stop without --threshold
	--nosuch|--nosuch: unknown option
	extra|extra
	--bind 10.77.0.99|--bind 10\.77\.0\.99: no address of interface .*such as 10\.77\.0\.1,
	--timout 5|--timout: unknown option: did you mean --timeout[?]
END
alone '--help' 0 e '--help' '@silent' 'e.err empty' 'e.out ~ ^usage: rant -i IFACE -a IP' 'e.out ~ --warmup PACKETS'
alone '--version' 0 e '--version' '@silent' 'e.err empty' 'e.out ~ ^rant [0-9]+\.[0-9]+'
