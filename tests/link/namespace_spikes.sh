#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Spikes that lab/spike.c makes: breaches, attribution to a stage, hook commands.
# build: plain: the program detects libraries that are preloaded before libc
# shellcheck source=tests/link/link.sh
. "$(dirname "$0")/link.sh"

# All that was made late was a breach, and each was blamed on its stage: at the reflector, in kernel mode. A busy machine makes some more,
# in whatever stage they are.
blamed() { # STAGE, NAME in the report, end of the line of the blame
	local part breaches more least most have spike_ns

	begin "50 spikes made in stage '$1' are found and attributed to: $2" || return 0
	as=$(with_spikes "$1" 20 60000) start_reflector r "$K -s -t 50000 -C"
	start_emitter e "$K --count 1000 --timeout 5000"
	finish e
	terminate r
	check '@expect_status e 0'
	check '@expect_status r 0'
	check '@audit r'
	expect_line spikes.out '^50$'
	breaches=$(row r Breaches) more=$((breaches - 50))
	[ "$more" -ge 0 ] || complain "only $breaches breaches"
	check "r.out ~ ^Blamed for the last $breaches of $breaches breaches:"
	for part in Kernel-to-app App-to-kernel 'App processing'; do
		[ "$part" = "$2" ] && least=50 most=$breaches || least=0 most=$more
		have=$(sed -n "s/^  $part: //p" "$work/r.out")
		{ [ "$least" -le "${have:--1}" ] && [ "$have" -le "$most" ]; } || complain "$part: ${have:-no row}, not $least to $most of $breaches"
	done
	# The first and the worst breach are printed in full: at least 60 ms, plus the delay of the machine.
	if [ "$more" -eq 0 ]; then
		spike_ns=$(sed -n "s/^  $2 (.*): \([0-9]*\) ns <-- where the spike is$/\1/p" "$work/r.out" | head -1)
		[ "${spike_ns:-0}" -ge 60000000 ] || complain "$2: ${spike_ns:-no} ns where the spike is"
		check "r.out ~ ^  Blame: $2 ${spike_ns:0:-3}[.]${spike_ns: -3} us, typical [0-9.]+ us, (99|100|101) % of the excess$3$"
	fi
	check '@columns_in_order'
	check 'r.out ~ ^Activity of the machine until the first breach, as read after [0-9]+ packets:'
	[ "$(grep -c "^The worst of $breaches breaches:" "$work/r.out")" = "$(grep -c '^Activity .* before the worst to' "$work/r.out")" ] ||
		complain 'the worst breach, but not what the machine did until it, or the other way round'
	verdict
}

expect_line() { # FILE REGEX
	grep -Eq -- "$2" "$work/$1" || complain "no line of $1 matches: $2"
}

# The lines of a breach as they are documented.
columns_in_order() {
	grep -E '^  (T[23]_(KERNEL|SW) |Kernel-to-app \(|App-to-kernel|App processing \()' "$work/r.out" | head -7 |
		sed 's/:.*//' | tr '\n' ';' >"$work/order.out"
	expect_line order.out '^  T2_KERNEL \(kernel rx\);  T3_KERNEL \(kernel tx\);  T2_SW \(app rx\);  T3_SW \(app tx\);  Kernel-to-app \(T2_SW - T2_KERNEL\);  App-to-kernel \(T3_KERNEL - T3_SW\);  App processing \(T3_SW - T2_SW\);$'
}

emitter_blames_reflector() {
	begin "an emitter blames the reflector's stage for a reflector's spike" || return 0
	as=$(with_spikes app 500 600000) start_reflector r "$K -s -v"
	start_emitter e "$K -s -v -t 500000 --count 1000 --timeout 5000"
	finish e
	terminate r
	check 'r.err ~ ^Packets go through a preloaded library \(LD_PRELOAD\)$'
	check 'e.err !~ before libc'
	check '@expect_status e 2'
	check 'e.out ~ ^  Remote app processing \(T3_SW - T2_SW\): [6-9][0-9]{8} ns <-- where the spike is$'
	check 'e.out ~ ^  Network \(RTT - RESPONSE\): [0-9]+ ns$'
	check 'e.out ~ ^  App-to-kernel \(T1_KERNEL - T1_SW\): [0-9]+ ns$'
	check 'e.out ~ ^  Kernel-to-app \(T4_SW - T4_KERNEL\): [0-9]+ ns$'
	verdict
}

# The spikes are longer than any delay of a busy machine.
commands() {
	begin '--on-breach: commands get the breach and run while the measurement goes on' || return 0
	cat >"$work/command" <<-'END'
		#!/bin/sh
		env | grep '^RANT_' | sort >"$1.$RANT_NUMBER"
		exec >"$1.threads" && grep -E '^(SigBlk|SigIgn):' /proc/self/status
	END
	chmod 755 "$work/command"
	export RANT_SEQ=inherited
	as=$(with_spikes app 500 2000000) start_reflector r "$K -s -t 1000000 -C --on-breach exec:$work/command\${IFS}$logs/c --on-breach exec:false -H --json $logs/r.json"
	unset RANT_SEQ
	start_emitter e "$K --count 600 --timeout 5000"
	finish e
	# A command that still runs is not started again.
	poll test -s "$logs/c.threads"
	sleep 0.3
	start_emitter e "$K --count 500 --timeout 5000"
	finish e
	poll test -e "$logs/c.2"
	terminate r
	check '@expect_status r 0'
	check 'r:Breaches -eq 2'
	check "r.out ~ ^  $work/command.*: ran 2 times$"
	check 'r.out ~ ^  false: ran 2 times, 2 failed$'
	json_agrees r
	json_has r "[(c['ran'], c['failed']) for c in JSON['commands']] == [(2, 0), (2, 2)]"
	cat "$logs"/c.1 >"$work/c.out"
	check 'c.out ~ ^RANT_ROLE=reflect$'
	check "c.out ~ ^RANT_INTERFACE=$link_r$"
	check 'c.out ~ ^RANT_NUMBER=1$'
	check 'c.out ~ ^RANT_SEQ=499$'
	check 'c.out ~ ^RANT_LATENCY_NS=2[0-9]{9}$'
	check 'c.out ~ ^RANT_THRESHOLD_NS=1000000000$'
	for name in T2_KERNEL T2_SW T3_SW T3_KERNEL; do
		check "c.out ~ ^RANT_$name=[0-9]+[.][0-9]{9}$"
	done
	grep -q '^RANT_SEQ=398$' "$logs/c.2" || complain 'the second breach was not passed to the command'
	cat "$logs/c.threads" >"$work/c.out"
	check 'c.out ~ ^SigBlk:.0+$'
	verdict
}

if [ -z "$spike" ]; then
	skip 'spikes' 'no library to make them was given'
else
	blamed rx Kernel-to-app ': the thread was not polling'
	blamed tx App-to-kernel ''
	blamed app 'App processing' ''
	emitter_blames_reflector
	commands
fi
