#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# lab: slow amd64 old
#
# All that tests/link/namespace_ipv6.sh does, on these kernels, which have VLANs.
set -uo pipefail

modprobe -a 8021q veth || {
	echo 'not ok - ipv6: the modules load'
	exit 1
}
WITH_TRACEFS=1 "$TESTS/../link/namespace_ipv6.sh" "$RANT" "$TESTS/../../build/hostile" 2>&1
