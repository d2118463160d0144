#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Probes that are sent by the clock. How late they are on this machine decides nothing.
# shellcheck source=tests/link/link.sh
. "$(dirname "$0")/link.sh"

# on_schedule NAME: each slot has a probe that was sent, or is missed; those that were recorded have a delay.
on_schedule() {
	local name=$1 slots missed sent recorded late

	slots=$(row "$name" Slots) missed=$(row "$name" Missed)
	sent=$(($(row "$name" Sent) - $(row "$name" Closing)))
	recorded=$(row "$name" Recorded)
	[ "$slots" -eq $((sent + missed)) ] || complain "$slots slots, $missed missed and $sent probes"
	late=$(awk '/^  (Sent late|RTT from slot) / { sub(/.*(slot|late)  */, ""); print $1 + $2 }' "$work/$name.out" | sort -u)
	[ "$late" = "$recorded" ] || complain "of $recorded samples these are in the schedule: $late"
}

# not_before_slots NAME US: probe n after the first left at least n slots after it, minus the maximum delay of the first.
not_before_slots() {
	local late_us

	late_us=$(awk '/^Schedule \(us\):/ { from_end = $NF != "Maximum" } /^  Sent late / { print $(NF - from_end) + 0 }' "$work/$1.out")
	awk -v us="$2" -v late_us="${late_us:?no row Sent late}" 'FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
		FNR > 2 {
			split($at["T1_SW"], t, ".")
			now = t[1] % 100000 * 1e6 + t[2] / 1e3
			if (FNR == 3) { first = now; number = $1 }
			early += now - first < ($1 - number) * us - late_us - 1
		}
		END { exit early > 0 }' "$logs/$1.log" || complain 'probes left before their slots'
}

pair 'schedule: a probe each millisecond' '0 0' "$K" "$K -s -l LOG --interval 1ms --count 300" 'e:Recorded -eq 300' 'e:Slots -ge 300' \
	'@on_schedule e' '@not_before_slots e 1000' 'e.out ~ ^Schedule: a probe every 1000\.000 us; pacing: hybrid$' \
	'e.out ~ ^  RTT from slot +RTT \+ sent late +300 '
pair 'schedule: stamps of user space, sleeping' '0 0' "$U" "$U --interval 2ms --pacing sleep --count 100" 'e:Recorded -eq 100' \
	'@on_schedule e' 'e.out ~ ; pacing: sleep$'
pair 'schedule: spinning, by chance' '0 0' "$K" "$K --interval 500 --jitter 50 --seed 7 --pacing spin --count 300" 'e:Recorded -eq 300' \
	'@on_schedule e' 'e.out ~ ^Schedule: a probe every 500\.000 us, up to 50 % of that later \(--seed 7\); pacing: spin$'
pair 'schedule: Poisson' '0 0' "$K" "$K --interval 1ms --poisson --count 200 --plain" 'e:Recorded -eq 200' '@on_schedule e' \
	'e.out ~ ^Schedule: a probe every 1000\.000 us on average \(Poisson, --seed [0-9]+\); pacing: hybrid$'
pair 'schedule: one probe in flight' '0 0' "$K" "$K --interval 1ms --window 1 --count 100" 'e:Recorded -eq 100' '@on_schedule e' 'e.out !~ ^Window'
# The path takes longer than a slot.
pair 'schedule: slots that cannot be kept are missed and counted' '0 0' "$K" "$K --interval 1us --count 2000" 'e:Missed -ge 2000' '@on_schedule e' \
	'e.out ~ ^Measurement: doubtful: .*slots of --interval were missed \('
pair 'schedule: no schedule rows without --interval' '0 0' "$K" "$K --count 20" 'e.out !~ Schedule|Slots|RTT from slot'
emitter_signal=TERM pair 'schedule: a signal ends a long sleep' '0 0' "$K" "$K --interval 20ms" '@on_schedule e' \
	'e.out ~ ^Test is complete'

# No answers: each wait ends at the timeout, and covers slots.
lost() {
	begin 'schedule: slots that a lost probe covers are missed' || return 0
	start_emitter e "$K --timeout 20 --interval 1ms --window 1 --count 5"
	finish e
	for one in '@on_schedule e' 'e:Recorded -eq 0' 'e:Missed -ge 76'; do
		check "$one"
	done
	verdict
}
lost

held_up() {
	# Else each would cover 39 slots more; a busy machine misses some, too.
	begin 'schedule: a lost probe holds up no other' || return 0
	start_emitter e "$K --timeout 200 --interval 5ms --count 30"
	finish e
	for one in '@on_schedule e' 'e:Recorded -eq 0' 'e:Lost -eq 30' 'e:Missed -lt 500' \
		'e.out ~ ^Window: up to 41 probes in flight, ([2-9]|[1-9][0-9]+) at most were$'; do
		check "$one"
	done
	verdict
}
held_up
