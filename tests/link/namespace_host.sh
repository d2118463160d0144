#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# "rant HOST": interface from the route, best timestamp source, which all outputs name; nothing of the host changes.
# shellcheck source=tests/link/link.sh
. "$(dirname "$0")/link.sh"

# The word "best" is a wish: outputs name the source that was used.
names_kernel() {
	grep -q '"stamp": *"kernel"' "$logs/host.json" || complain 'the JSON file does not name the kernel'
	if grep -q '"stamp": *"best"' "$logs/host.json" || grep -q best "$work/e.out"; then
		complain 'an output names "best"'
	fi
}

host() { # WORDS OF THE EMITTER
	begin "rant HOST: $*" || return 0
	start_reflector r "$K"
	start e e "$rant" --details "$@" --count 50 --timeout 5000 --json "$logs/host.json"
	finish e
	terminate r
	for one in '@expect_status e 0' '@audit e' 'e:Recorded -eq 50' '@names_kernel' \
		"e.err ~ ^rant: .* port 862 through $link_e, --stamp kernel: $link_e .driver 'veth'. has no hardware clock$"; do
		check "$one"
	done
	[ "$(sed -n '1s/.*through.*/first/p' "$work/e.err")" = first ] || complain 'it is not the first line'
	verdict
}
host "$ip_r"
host "$ip_r" -i "$link_e"
host -i "$link_e" -a "$ip_r" --stamp best

begin 'rant HOST: an explicit source is used as it is' || true
start_reflector r "$K"
start e e "$rant" --details "$ip_r" --stamp user --count 50 --timeout 5000
finish e
terminate r
for one in '@expect_status e 0' 'e.err ~ --stamp user: as given' 'e.out ~ T4_SW'; do
	check "$one"
done
verdict

# A name, whose address the first line names; a loopback address has a route through lo.
alone 'rant HOST: a name' 1 e 'localhost -4 -c 1 -d 0.2' \
	"e.err ~ ^rant: localhost .127\.0\.0\.1 port 862. through lo, --stamp kernel: lo " 'e.err !~ it is'
alone 'rant HOST: the loopback' 1 e '127.0.0.1 -c 1 -d 0.2' "e.err ~ 127\.0\.0\.1 port 862 through lo, --stamp kernel: lo .*"
