#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Scripts that were written for the public tool: its letters, the lines that they look for, on stdout alone and with stderr mixed in, and
# a reflector that is started before its client.
# shellcheck source=tests/link/link.sh
. "$(dirname "$0")/link.sh"

READY_MS=2000 # after which such a script starts the client

printf '#!/bin/sh\nexec "$@" 2>&1\n' >"$work/mixed"
chmod 755 "$work/mixed"

# ---- The script --------------------------------------------------------------------------------------------------------

# found NAME REGEX: what the first bracket of the only line of NAME.out that matches has in it.
found() {
	local -a lines

	mapfile -t lines < <(sed -nE "s/.*$2.*/\\1/p" "$work/$1.out")
	[ ${#lines[@]} -eq 1 ] || complain "$1: ${#lines[@]} lines match $2"
	echo "${lines[0]:-}"
}

# As a script reads what NAME has printed, into a table: by search, wherever in the line it is. All of it must agree.
read_as_script() {
	local name=$1 seconds least most average total percentile before=0 value

	seconds=$(found "$name" 'Test is complete\. Duration: ([0-9]+\.?[0-9]*) s')
	least=$(found "$name" 'MIN: ([0-9]+) ns \| MAX: [0-9]+ ns \| AVG: [0-9]+ ns \| Total Samples: [0-9]+')
	most=$(found "$name" 'MIN: [0-9]+ ns \| MAX: ([0-9]+) ns')
	average=$(found "$name" 'MAX: [0-9]+ ns \| AVG: ([0-9]+) ns')
	total=$(found "$name" 'Total Samples: ([0-9]+)')
	[[ $seconds && ${total:-0} -gt 0 && $least -le $average && $average -le $most ]] ||
		complain "$name: $seconds s, $least, $average, $most ns of $total samples"
	[ "$(found "$name" '^ +Samples +: +([0-9]+)$')" = "$total" ] || complain "$name: the histogram has other samples"
	[ "$(found "$name" 'Minimum +: +([0-9.]+) us')" = "$(in_us "$least")" ] || complain "$name: another minimum"
	[ "$(found "$name" 'Maximum +: +([0-9.]+) us')" = "$(in_us "$most")" ] || complain "$name: another maximum"
	found "$name" 'Average +: +([0-9.]+) us' >/dev/null
	for percentile in 50 90 95 99 99.9 99.99; do
		value=$(found "$name" "^ +${percentile/./\\.}th +: +([0-9.]+)( \(Median\))?\$")
		awk -v a="$before" -v b="$value" 'BEGIN { exit !(b != "" && b >= a) }' || complain "$name: ${percentile}th is '$value'"
		before=$value
	done
}

in_us() {
	awk -v ns="${1:-0}" 'BEGIN { printf "%.2f\n", ns / 1000 }'
}

# ready NAME OPTIONS: starts a reflector, and complains if it was not ready in time. What it waited for a CPU, which others had, is not its.
ready() {
	local name=$1 began ms waited
	local -a prefix words

	shift
	read -ra prefix <<<"${as:-}"
	read -ra words <<<"${*//LOG/$logs/$name.log}"
	began=$(date +%s%N)
	start "$name" r taskset -c "$last_cpu" "${prefix[@]}" "$rant" -i "$link_r" "${words[@]}"
	poll has_port "$name" 862
	ms=$((($(date +%s%N) - began) / 1000000))
	waited=$(awk '{ sum += $2 } END { print int(sum / 1000000) }' "/proc/$(pid_of "$name")"/task/*/schedstat 2>/dev/null)
	is_running "$name" || complain "the reflector ended: $(head -1 "$work/$name.err" "$work/$name.out")"
	[ $((ms - ${waited:-0})) -le $READY_MS ] || complain "ready after $ms ms, of which it waited ${waited:-0} ms for a CPU, with: $*"
}

# as_script NAME OPTIONS: with the same letters at both ends, as such scripts have them.
as_script() {
	local how name

	for how in 'stdout alone' 'stderr mixed in'; do
		begin "scripts: $1, $how" || continue
		as=
		[ "$how" = 'stdout alone' ] || as=$work/mixed
		ready r "$2 -d 60"
		start_emitter e "$2 -d 1"
		finish e
		terminate r
		as=
		for name in e r; do
			expect_status $name 0
			read_as_script $name
		done
		verdict
	done
}

# ---- Its letters -------------------------------------------------------------------------------------------------------

as_script '-i -a -d -H -R' '-H -R'
as_script '-w -t -C -L -l -o -b -v -N' '-H -R -w 100 -t 100000 -C -L 1 -l LOG -o 100 -b 1 -v -N'
as_script '-p -B -P' '-H -R -p 50 -B 8 -P'
own_trace # to the end: config_veth cannot remove an instance that is open
as_script '-T -M -G' '-H -R -T -M -G'
# A kernel without snapshots refuses a snapshot that could be taken.
snapshot=
if [ -e /sys/kernel/tracing/snapshot ]; then
	snapshot=-S
	as_script '-t -C -S' '-H -R -t 100000 -C -S'
else
	as_script '-S without -t' '-H -R -S'
fi

# Each with the options that take longest to get ready.
ready_in_time() {
	local options

	begin 'scripts: the reflector is ready for its client, whatever the options, and SIGTERM ends it with its report' || return 0
	for options in '-R' '-R -H -o 1000000 -b 1' '-R -l LOG -d 36000' '-R -l LOG -L 5 -w 100000' '-R -t 100 -C -v' '-R -T -M' '-R -G -l LOG -d 600' \
		'-R -p 100 -B 64 -P -N' "-R $snapshot -t 100" '--stamp kernel' \
		"-R -H -o 1000000 -b 1 -l LOG -L 5 -w 100000 -t 100 -C -v $snapshot -T -M -G -p 100 -B 64 -P -N -s -d 36000"; do
		ready r "$options"
		terminate r
		expect_status r 0
		grep -q '^Test is complete\. Duration: [0-9.]* s$' "$work/r.out" || complain "no report with: $options"
		[ ${#complaints[@]} -eq 0 ] || break
		rm -f "$logs"/r.log*
	done
	verdict
}
ready_in_time
