#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# One long run at full rate with everything on, between two network namespaces; not in make check. Root.
#
#   soak.sh HOURS [RANT]      HOURS may be a fraction, as 0.05
#
# The emitter runs all the time with times of user space, histogram, full log in files that are rotated, threshold,
# commands at a breach, trace, snapshot and a key; netem loses, doubles and reorders its packets where the kernel has it.
# The reflector, with the same, is killed or ended by turns and started again. Every minute a line shows memory,
# descriptors and threads of both, and the rate; and the accounts of another, short emitter are added up, as are those
# of each reflector that ended and, in the end, those of the long emitter. The last line is the result, and the exit
# status 1 if it is bad.
#
# Every other short emitter sees its clock set again and again (spike.c): namespaces share CLOCK_REALTIME with the
# machine, and in a time namespace it cannot be set. The lab sets real clocks (lab/test_kernel_stamps.sh).
# Text in single quotes is for awk; what link.sh sets is set before it is used.
# shellcheck disable=SC2015,SC2016,SC2154
set -uo pipefail
export LC_ALL=C

usage() {
	echo "usage: sudo tests/soak.sh HOURS [RANT]" >&2
	exit 1
}

[[ $# -ge 1 && $# -le 2 && $1 =~ ^[0-9]+([.][0-9]+)?$ ]] || usage
total_s=$(awk -v h="$1" 'BEGIN { print int(h * 3600) }')
[ "$total_s" -ge 60 ] || { echo "soak.sh: give at least a minute: 0.017" >&2 && exit 1; }
tree=$(cd "$(dirname "$0")/.." && pwd)
program=$(realpath -- "${2:-$tree/rant}")
[ "$(id -u)" -eq 0 ] || { echo "soak.sh: it makes network namespaces, which needs root: sudo tests/soak.sh HOURS" >&2 && exit 1; }
[ -n "${WITH_TRACEFS:-}" ] || exec "$tree/tests/with_tracefs.sh" "$0" "$@"
make -s -C "$tree" rant build/hostile build/spike.so || exit 1

# shellcheck source=tests/link/link.sh
. "$tree/tests/link/link.sh" "$program" "$tree/build/hostile" "$tree/build/spike.so"
# Writing at full rate would wear out a disk.
mount -t tmpfs -o size=1g none "$logs" && trap 'umount -l "$logs"; remove_all; exit "$failed"' EXIT
chmod 1777 "$logs"

GUARD_S=600 # the machine may have other work, and this gives way to it: nice tests/soak.sh
MEMORY_KB=2048 # by which a process may grow after its first look: the stack of a thread, buffers of libc
# Looks, and how many of them between two restarts.
interval_s=$((total_s / 6)) every=2
[ "$interval_s" -lt 60 ] || interval_s=60
[ "$total_s" -lt 1500 ] || every=5

# ---- Options -----------------------------------------------------------------------------------------------------------

also='' emitters='' missing='' key='' K='' short=''

choose() {
	if [ -e /usr/include/nettle/hmac.h ]; then
		(umask 077 && od -An -tx1 -N32 /dev/urandom >"$work/key")
		key="--key $work/key"
	else
		missing+=' key,'
	fi
	K="--stamp kernel $key"
	also="$K -s -H -t 2000 -C --on-breach exec:true -l LOG --log-rotate 64M,3" short="-s --count 500 --timeout 200 -l LOG --log-full"
	emitters='--timeout 100 --log-full'
	if grep -q '^[^ ]* /sys/kernel/tracing tracefs ' /proc/mounts && [ ! -e /sys/kernel/tracing/instances/rant ]; then
		trace_instance=/sys/kernel/tracing/instances/rant
		mkdir "$trace_instance" "$logs/saved"
		echo mono_raw >"$trace_instance/trace_clock"
		echo 4096 >"$trace_instance/buffer_size_kb"
		echo 1 >"$trace_instance/events/sched/sched_switch/enable"
		also+=' -T' emitters+=" --trace-rearm --save-trace $logs/saved --trace-interval 60"
	else
		missing+=' trace,'
	fi
	if [ -e "${trace_instance:-/nonexistent}/snapshot" ]; then
		also+=' -S'
	else
		missing+=' snapshot,'
	fi
	inside e tc qdisc replace dev "$link_e" root netem loss 0.01% duplicate 0.01% 2>"$work/tc.err" &&
		inside r tc qdisc replace dev "$link_r" root netem loss 0.01% delay 0 reorder 0.01% 2>"$work/tc.err" ||
		missing+=' netem,'
}

# ---- Looks -------------------------------------------------------------------------------------------------------------

declare -A first=() last=()
looks=0 balances=0 restarts=0 told=0

# of PROCESS: "kB descriptors threads". A command at a breach has a thread, and descriptors, for a moment, and a trace that
# is saved has some: the least of some looks.
look_at() {
	local pid=$1 _

	for _ in 1 2 3 4 5; do
		echo "$(find "/proc/$pid/fd" -mindepth 1 2>/dev/null | wc -l) $(sed -n 's/^Threads:\t//p' "/proc/$pid/status" 2>/dev/null)"
		sleep 0.1
	done | awk -v kb="$(sed -n 's/^VmRSS:\t *\([0-9]*\) kB/\1/p' "/proc/$pid/status" 2>/dev/null)" '
		NR == 1 || $1 < descriptors { descriptors = $1 } NR == 1 || $2 < threads { threads = $2 }
		END { print kb + 0, descriptors + 0, threads + 0 }'
}

# grows NAME: complains if the program has more than when it was looked at first.
grows() {
	local name=$1 now was

	read -ra now < <(look_at "$(pid_of "$name")")
	[ "${now[0]:-0}" -gt 0 ] || { complain "$name is gone after $((SECONDS - began)) s" && return; }
	last[$name]=${now[*]} first[$name]=${first[$name]:-${now[*]}}
	read -ra was <<<"${first[$name]}"
	[ "${now[0]}" -le $((was[0] + MEMORY_KB)) ] || complain "$name has ${now[0]} kB, and had ${was[0]}"
	[ "${now[1]}" -le "${was[1]}" ] || complain "$name has ${now[1]} descriptors, and had ${was[1]}"
	[ "${now[2]}" -le "${was[2]}" ] || complain "$name has ${now[2]} threads, and had ${was[2]}"
}

balance() {
	audit "$1"
	grep -q '^Packets:' "$work/$1.out" || complain "$1 has no accounts"
	balances=$((balances + 1))
}

begin_reflector() {
	GUARD_S=$guard_s start_reflector r "$also"
	unset 'first[r]'
}

# By turns as a crash and as a user ends it.
restart_reflector() {
	local signal=TERM

	[ $((restarts % 2)) -eq 0 ] || signal=KILL
	send "$signal" r
	finish r
	[ "$signal" = KILL ] || balance r
	rm -f "$logs"/r.log*
	restarts=$((restarts + 1))
	begin_reflector
}

# By turns with stamps of the kernel, and with a clock that is set at every 100th packet.
short_run() {
	if [ $((looks % 2)) -eq 0 ]; then
		as="env LD_PRELOAD=$spike FAULT=set,100" start_emitter p "$short $key --stamp user"
		finish p
		[ "$(row p Stepped)" -ge 1 ] || complain 'a clock that was set was not seen'
		awk -F '[: |]+' '/^MIN: / { exit $5 + 0 > 100000000000 }' "$work/p.out" || complain 'a clock that was set is in the latency'
	else
		start_emitter p "$short $K"
		finish p
		expect_status p 0
	fi
	balance p
}

minute() {
	local sent

	sent=$(sent_by e)
	sleep "$interval_s"
	looks=$((looks + 1))
	sent=$((($(sent_by e) - sent) / interval_s))
	[ "$sent" -gt 0 ] || complain "nothing was sent in $interval_s s"
	grows e
	grows r
	short_run
	[ $((looks % every)) -ne 0 ] || restart_reflector
	rm -rf "$logs"/saved/*
	[ "$told" -eq ${#complaints[@]} ] || printf '# %s\n' "${complaints[@]:told}"
	told=${#complaints[@]}
	echo "$((SECONDS - began)) s: $sent packets/s; kB, descriptors, threads: e ${last[e]:-gone}, r ${last[r]:-gone};" \
		"$balances balances, $restarts restarts, ${#complaints[@]} complaints"
}

# ---- All of it ---------------------------------------------------------------------------------------------------------

complaints=() status=() moved=([e]=0 [r]=0) began=$SECONDS guard_s=$((2 * total_s + 600))
choose
begin_reflector
GUARD_S=$guard_s start_emitter e "$also $emitters"
wait_for_packets e e 20
is_running e && is_running r || { cat "$work"/[er].err >&2 && exit 1; }
while [ $((SECONDS - began)) -lt "$total_s" ]; do
	minute
done
terminate e r
expect_status e 0
balance e
balance r
[ ${#complaints[@]} -eq 0 ] || printf '# %s\n' "${complaints[@]}" "$(head -n 5 "$work"/[epr].err)"
failed=$((${#complaints[@]} > 0))
printf 'soak: %s: %d s, %s packets recorded, %s lost, %d restarts, %d balances; emitter: kB, descriptors, threads %s -> %s; %s%s\n' \
	"$([ "$failed" -eq 0 ] && echo ok || echo "FAILED, ${#complaints[@]} complaints")" "$((SECONDS - began))" "$(row e Recorded)" \
	"$(row e Lost)" "$restarts" "$balances" "${first[e]:-gone}" "${last[e]:-gone}" \
	"$(sed -n 2p "$work/e.out" | cut -c 1-200)" "${missing:+; without${missing%,}}"
exit "$failed"
