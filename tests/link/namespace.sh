#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The whole program on a veth pair between two network namespaces, with good peers and bad ones: all that the files
# namespace_*.sh beside this one test, each of which can be run alone too. Root.
#
#   namespace.sh RANT HOSTILE [SPIKE]
# shellcheck source=tests/link/link.sh
. "$(dirname "$0")/link.sh"

# What must be as before when all tests are done.
settings() {
	local side

	for side in e r; do
		ip -n "${ns[$side]}" -d link
		inside "$side" sh -c 'find /proc/sys/net -type f -readable ! -name flush -exec grep -H . {} + 2>/dev/null' |
			grep -Ev 'nf_conntrack_count|tcp_fastopen_key|rpc_|stable_secret'
	done
}
settings >"$work/settings.before"

# First of all, and it can fail only on a machine where nothing else asks for stamps: see hold_stamps.
pair 'kernel stamps are there from the first packet on' '0 0' "$U" "$K --count 20" \
	'e:Unstamped -eq 0' 'e:Recorded -eq 20'
hold_stamps

for part in "$(dirname "$0")"/namespace_*.sh; do
	# shellcheck source=/dev/null
	. "$part"
done

if begin 'no setting of links or namespaces was changed'; then
	settings >"$work/settings.after"
	diff "$work/settings.before" "$work/settings.after" >"$work/diff.out" ||
		complain "changed: $(grep '^[<>]' "$work/diff.out")"
	verdict
fi
