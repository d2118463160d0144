#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# lab: slow amd64 old
#
# What the kernel has a part in of tests/link/namespace_ipv6.sh, on these kernels, which have VLANs: all but names and bad addresses.
set -uo pipefail

modprobe -a 8021q veth || {
	echo 'not ok - ipv6: the modules load'
	exit 1
}
GUARD_S=200 WITH_TRACEFS=1 ONLY='^IPv6|both families' "$TESTS/../link/namespace_ipv6.sh" "$RANT" "$TESTS/../../build/hostile" 2>&1
