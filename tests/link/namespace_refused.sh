#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A run that cannot start prints the reason and sends nothing; usage and help.
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
	-d 5x|--duration: '5x' has an unknown unit: give
	-d -1|--duration: '-1' is out of range: give
	-t 1e9999|--threshold: '1e9999' has an exponent, which is not supported: give
	-b 0|--bucket-size: '0' is out of range: give 0\.001 to
	-o 1 -b 2|--overflow 1 with --bucket-size 2
	-o 10000000 -b 0.001|--bucket-size 0\.001 us: with --overflow 10000000 us the finest bucket is 10 us: give a multiple of that
	--port 65536|--port: '65536' is out of range: give 1 to 65535
	--stamp soft|--stamp: 'soft' is not a choice: give hardware, kernel, user, receive, receive-any or best
	-l|--log: FILE is missing
	--on-breach stop|--on-breach stop without --threshold
	--nosuch|--nosuch: unknown option
	extra|'extra' with --address .*: both name the reflector
	-d 1 ms|--duration: '1 ms' has a blank before its unit: write --duration 1ms
	--count 1e6|--count: '1e6' has an exponent.*write 1000000
	--dscp FOO|--dscp: 'FOO' is not a code point
	-n 5|-n: unknown option: did you mean -c, --count[?]
	--bind 10.77.0.99|--bind 10\.77\.0\.99: not an address of interface .*such as 10\.77\.0\.1,
	--timout 5|--timout: unknown option: did you mean --timeout[?]
END
alone 'HOST with a port' 1 e "$ip_r:862" '@silent' '@one_line e' "e.err ~ --address: '$ip_r:862' has a port in it .write $ip_r --port 862"
alone 'HOST without a route' 1 e '192.0.2.1' '@silent' '@one_line e' 'e.err ~ no route to 192.0.2.1: .*give the interface with -i'
alone 'HOST that answers nothing needs no interface' 1 e "$ip_r -c 1 -d 0.2" \
	"e.err ~ $ip_r port 862 through $link_e, --stamp kernel: $link_e .driver 'veth'. has no hardware clock"
alone 'HOST: an explicit source never falls back' 1 e "$ip_r --stamp hardware" '@silent' 'e.out empty' \
	"e.err ~ $ip_r port 862 through $link_e, --stamp hardware: as given" \
	"e.err ~ interface '$link_e' .driver 'veth'. has no hardware clock.*--stamp kernel"

ten_lines() {
	if [ "$(wc -l <"$work/e.$1")" -ne 10 ] || [ "$(grep -c '^  rant ' "$work/e.$1")" -ne 3 ]; then
		complain 'not ten lines with three examples'
	fi
}
details=() # no option but those given
alone 'rant alone prints the usage' 1 e '' '@silent' 'e.out empty' '@ten_lines err'
alone 'rant help' 0 e 'help' '@silent' 'e.err empty' '@ten_lines out'
alone '--help' 0 e '--help' '@silent' 'e.err empty' 'e.out ~ ^usage: rant HOST' 'e.out ~ --warmup PACKETS' 'e.out !~ --ptp-domain'
alone '--help all' 0 e '--help all' '@silent' 'e.err empty' 'e.out ~ --ptp-domain N'
alone '--version' 0 e '--version' '@silent' 'e.err empty' 'e.out ~ ^rant [0-9]+\.[0-9]+'
details=(--details)
