#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# lab: slow two
#
# Emitter and reflector each in a guest of its own, with igb at both ends of one wire: two kernels, two traces, two clocks of everything.
# Work of known kind takes the CPU of the reflector (simnic_plant.h); both hosts freeze their traces at the packet that the emitter had
# late, and the report of the emitter names the cause at the reflector: simnic_freeze.py.
#
#   SPIKES=N  runs of each kind, all kinds. Default: 2 of one kind
#   ONLY=REGEX  of the names
set -uo pipefail

if [ -z "${SIMNIC:-}" ]; then
	echo "ok - two guests # SKIP the module with the planter was not built"
	exit 0
fi
# shellcheck source=tests/lab/guest.sh
. "$TESTS/guest.sh"

spikes=${SPIKES:-2}
there=52:54:00:00:00:04 # see lab.sh
# What the emulated NIC stamps on receipt: see rxsatrh.c.
path=(--stamp hardware --transport l2 --ptp-type sync)
# stamping IFACE: words before rant.
stamping() {
	echo "taskset -c 0,1 env LD_PRELOAD=$HELPERS/rxsatrh RXSATRH_BAR=/sys/class/net/$1/device/resource0"
}
plant_ns=300000000 threshold_us=200000 # the guests are late by themselves now and then

# Reading all names of functions takes seconds in the guest, for each trace. Those that are needed are in the text.
join() {
	mount --bind /dev/null /proc/kallsyms
	ip link set eth2 up
	at_peer <<-END
		set -e
		mount --bind /dev/null /proc/kallsyms
		ip link set eth0 up
		insmod "$SIMNIC" plant_ns=$plant_ns
		# Its packets arrive at the CPU of the measuring thread.
		for irq in \$(awk -F: '/ eth0/ { print \$1 }' /proc/interrupts); do
			echo 2 >/proc/irq/\$irq/smp_affinity
		done
	END
}

start_reflector() {
	at_peer <<-END
		rm -rf /tmp/frozen && mkdir -p /tmp/frozen/r
		cat /proc/simnic_plants >"$RESULTS/plants.before"
		(
			$(stamping eth0) "$RANT" --details -i eth0 ${path[*]} --timeout 2000 --cpu 1 -s -T \\
				--trace-events packet --allow-freeze --trace-rearm --trace-interval 0.1 --save-trace /tmp/frozen/r \\
				>"$RESULTS/r.out" 2>"$RESULTS/r.err" </dev/null &
			pid=\$!
			echo \$pid >/tmp/r.pid
			wait \$pid
			echo \$? >/tmp/r.status
		) &
		until grep -q ' 88f7 ' /proc/net/packet || [ -e /tmp/r.status ]; do sleep 0.2; done
	END
}

stop_reflector() {
	at_peer <<-END
		kill -TERM \$(cat /tmp/r.pid)
		until [ -e /tmp/r.status ]; do sleep 0.2; done
		cat /proc/simnic_plants >"$RESULTS/plants"
		tar -C /tmp -cf "$RESULTS/r.tar" frozen
		exit \$(cat /tmp/r.status)
	END
}

# shellcheck disable=SC2317 # by poll
sends() {
	is_gone e || (($(</sys/class/net/eth2/statistics/tx_packets) > sent + 400))
}

# shellcheck disable=SC2317 # by poll
has_folder() {
	is_gone e || compgen -G "$work/frozen/e-$1/*-seq-*[0-9]" >/dev/null || ((SECONDS >= longest))
}

# The reflector has saved and explained its trace as well, and traces again.
# shellcheck disable=SC2016,SC2317 # of the other guest; by poll
has_rearmed() {
	at_peer <<<'[ "$(</sys/kernel/tracing/instances/rant/tracing_on)" = 1 ]'
}

# measure RUN KIND: one breach, its cause at the reflector in the results of the emitter. False: the guests were late before the plant.
measure() {
	local planted=true

	mkdir "$work/frozen/e-$1"
	sent=$(</sys/class/net/eth2/statistics/tx_packets) longest=$((SECONDS + 30))
	# shellcheck disable=SC2046 # words
	$(stamping eth2) "$RANT" --details -i eth2 -a "$there" "${path[@]}" --timeout 2000 --cpu 1 --interval 5ms --window 1 -w 150 -C \
		-t "$threshold_us" -T --freeze-peer --trace-rearm --trace-interval 1 --save-trace "$work/frozen/e-$1" --json "$work/frozen/e-$1.json" \
		>"$work/e.out" 2>"$work/e.err" </dev/null &
	pid[e]=$!
	poll sends
	! compgen -G "$work/frozen/e-$1/*" >/dev/null || planted=false
	at_peer <<<"echo $2 >/sys/module/simnic/parameters/plant_at_once" || complain 'nothing is planted'
	poll has_folder "$1"
	poll has_rearmed
	stop e
	expect_status e 0
	$planted
}

# frozen NAME NUMBER
frozen() {
	local run planted=0

	begin "two guests: both frozen: $1"
	mkdir "$work/frozen"
	start_reflector
	for ((run = 1; run <= 2 * spikes && planted < spikes; run++)); do
		! measure "$run" "$2" || planted=$((planted + 1))
	done
	stop_reflector || complain "the reflector ended with status $?"
	mv "$RESULTS"/{plants,plants.before,r.out,r.err} "$work"
	tar -C "$work" -xf "$RESULTS/r.tar" && rm "$RESULTS/r.tar"
	judge_tar frozen simnic_freeze.py "LEAST=$((spikes * 9 / 10))" "KIND=$1" TWO_CLOCKS=1
}

join
kinds=(irq timer tasklet work irqs_off preempt_off fifo)
[ -n "${SPIKES:-}" ] || kinds=([6]=fifo)
for i in "${!kinds[@]}"; do
	[[ "two guests: both frozen: ${kinds[i]}" =~ ${ONLY:-.} ]] && frozen "${kinds[i]}" $((i + 1))
done
umount /proc/kallsyms
exit "$failed"
