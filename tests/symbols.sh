#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The rule of the hot path: between send and receive nothing is called that could allocate, lock, print or sleep, but
# for this list and the symbols of the hot path itself. symbols.sh, after make
set -euo pipefail
shopt -s nullglob

# Functions that wait at most for a given time (ppoll), or not at all.
allowed='
sendmsg recvmsg send recv ppoll epoll_pwait connect getsockopt setsockopt clock_gettime clock_nanosleep read __errno_location
memcpy memset memcmp
hmac_sign hmac_verify socket_want_kernel_times socket_want_detail socket_want_tos
clock_to_phc clock_set_seen
histogram_add histogram_bucket
'
# These set up before the loop, or copy results after it; of the first two the functions in the list are all that the hot path calls.
cold=' wire/hmac.c wire/socket.c wire/ports.c wire/listen.c wire/kernel_stamps.c wire/transport.c wire/ethernet.c wire/icmp.c wire/kernel_call.c wire/plan.c measure/run_buffers.c measure/housekeeping.c result/causes.c result/ipdv.c result/source_port.c result/take.c result/take_clocks.c result/take_nic.c '

cd "$(dirname "$0")/.."
hot=()
for source in wire/*.c result/*.c measure/*.c host/counters/pmc.c host/clock/clock_p{eer,ackets}.c; do
	[[ $cold == *" $source "* ]] || hot+=("build/${source%.c}.o")
done
defined=$(nm --defined-only --extern-only "${hot[@]}" | awk 'NF == 3 { print $3 }')
status=0
for object in "${hot[@]}"; do
	undefined=$(nm -u "$object") || exit 1
	while read -r _ symbol; do
		grep -qw -- "$symbol" <<<"$allowed$defined" || {
			echo "$object calls $symbol, which is not in the list of what hot rooms may call"
			status=1
		}
	done <<<"$undefined"
done
# A function of the program would take the place of one of a library that has its name.
while read -r _ _ symbol; do
	echo "rant has $symbol, which a library has too: hide it, as in report/export/json.h"
	status=1
done < <(nm -D --defined-only rant | grep ' T ')
exit $status
