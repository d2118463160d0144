#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A breach of one host freezes the traces of both. Each has an instance of its own, although they share a kernel.
# shellcheck source=tests/link/link.sh
. "$(dirname "$0")/link.sh"

traces=/sys/kernel/tracing/instances
instance=$traces/rant instance_e=$traces/rant-e-$$
key=$logs/key
own_trace

cat >"$work/own-instance" <<-END
	#!/bin/sh
	mount --bind $instance_e $instance && exec "\$@"
END
chmod 755 "$work/own-instance"
as_emitter="unshare -m $work/own-instance"

begin_freeze() {
	local one

	begin "$1" || return 1
	mkdir "$instance" "$instance_e"
	for one in "$instance" "$instance_e"; do
		echo mono_raw >"$one/trace_clock"
		echo 4096 >"$one/buffer_size_kb"
		echo 1 >"$one/events/sched/sched_switch/enable"
	done
}

end_freeze() {
	verdict
	rmdir "$instance_e" "$instance" 2>/dev/null
}

tracing_is() { # EMITTER REFLECTOR: 1 or 0
	[ "$(cat "$instance_e/tracing_on")$(cat "$instance/tracing_on")" = "$1$2" ] ||
		complain "tracing_on is $(cat "$instance_e/tracing_on") at the emitter and $(cat "$instance/tracing_on") at the reflector, not $1 and $2"
}

markers() { # INSTANCE ROLE: the numbers of its breaches
	grep -o "RANT_BREACH role=$2 seq=[0-9]*" "$1/trace" | sed 's/.*=//'
}

# Both have the marker of that breach, and nothing after it.
both_frozen_at() { # NUMBER
	tracing_is 0 0
	[ "$(markers "$instance_e" emit)" = "$1" ] || complain "the markers of the emitter are #$(markers "$instance_e" emit), not #$1"
	[ "$(markers "$instance" reflect)" = "$1" ] || complain "the markers of the reflector are #$(markers "$instance" reflect), not #$1"
}

of_the_emitter() { # NAME ARGUMENTS STATUS
	begin_freeze "$1" || return 0
	as=$(with_spikes app 500 600000) start_reflector r "$K -s -T --allow-freeze -w 100 -H --json $logs/r.json"
	as=$as_emitter start_emitter e "$K -T -t 500000 -w 100 --freeze-peer --count 700 --timeout 5000 -H --json $logs/e.json $2"
	finish e
	terminate r
	check "@expect_status e $3"
	check '@expect_status r 0'
	both_frozen_at 499
	check 'e.out ~ ^Frozen: this host [0-9.]+ us and the peer at most [0-9.]+ us after breach #499 was seen; the buffer has the packet'
	check "r.out ~ ^Frozen: on request of $ip_e, breach #499, [0-9.]+ us after the request was read, which was sent [0-9.]+ us after the breach; the buffer has the packet"
	grep -q 'RANT_BREACH role=reflect seq=499 latency_ns=[0-9]* breach_of=emit T2_KERNEL=' "$instance/trace" ||
		complain 'the marker of the reflector lacks its times'
	json_agrees e
	json_agrees r
	json_has e "JSON['freeze']['first']['outcome'] == 'frozen' and JSON['freeze']['confirmed'] == 1 and JSON['freeze']['first']['peer_ns'] > 0"
	json_has r "JSON['freeze']['confirmed'] == 1 and JSON['freeze']['first']['emitter'] == '$ip_e'"
	end_freeze
}

# The folders of one breach have the same run and number, also of two emitters at one reflector, one after the other.
folders() {
	local one run

	begin_freeze 'freeze: both hosts save a folder with the id of the run and the number' || return 0
	mkdir "$work/spikes-e" "$work/spikes-r"
	as=$(with_spikes app 500 600000) start_reflector r "$K -s -T -C --allow-freeze -w 0 --trace-rearm --trace-interval 0.1 --save-trace $work/spikes-r"
	for one in e1 e2; do
		as=$as_emitter start_emitter $one "$K -s -T -t 500000 -w 0 --freeze-peer --count 1200 --timeout 5000 --save-trace $work/spikes-e"
		finish $one
		check "@expect_status $one 2"
		poll grep -q 1 "$instance/tracing_on" # switched on again after the save
	done
	terminate r
	check '@expect_status r 0'
	ls "$work/spikes-e" >"$work/names-e"
	ls "$work/spikes-r" >"$work/names-r"
	[ "$(grep -cE '^rant-emit-run-[0-9a-f]{4}-seq-[0-9]+$' "$work/names-e")" = 2 ] || complain "the emitters left $(cat "$work/names-e")"
	[ "$(sed 's/emit/reflect/' "$work/names-e")" = "$(cat "$work/names-r")" ] ||
		complain "these are not pairs: $(cat "$work/names-e" "$work/names-r")"
	for one in "$work"/spikes-[er]/rant-*; do
		run=${one##*-run-}
		grep -q "^	\"run\": \"${run%%-*}\",$" "$one/breach.json" || complain "breach.json of $one has another run"
	done
	rm -r "$work/spikes-e" "$work/spikes-r"
	end_freeze
}

# By -S, where the kernel has snapshots.
timeline() {
	local trace=-S

	[ -e /sys/kernel/tracing/snapshot ] || trace=-T
	begin_freeze "freeze: rant-plot --timeline draws what both hosts saved, with $trace" || return 0
	mkdir "$work/spikes-e" "$work/spikes-r"
	as=$(with_spikes app 500 1500000) start_reflector r "$K -s $trace --allow-freeze -w 100 --save-trace $work/spikes-r"
	as=$as_emitter start_emitter e "$K -s $trace -t 1200000 -w 100 --freeze-peer --count 700 --timeout 5000 --save-trace $work/spikes-e"
	finish e
	terminate r
	check '@expect_status e 2'
	check '@expect_status r 0'
	python3 "$(dirname "$0")/../../plot/rant-plot" --timeline "$work"/spikes-[er]/*-seq-499 -o "$work/spike.svg" 2>"$work/plot.err" ||
		complain "rant-plot: $(head -3 "$work/plot.err")"
	grep -qE 'App processing took [1-9][.][0-9]* s' "$work/spike.svg" || complain "the picture has: $(grep -o '>Packet [^<]*' "$work/spike.svg" | head -1)"
	rm -r "$work/spikes-e" "$work/spikes-r"
	end_freeze
}

# The reflector has saved and explained its first trace: it has switched tracing on again.
is_explained() {
	[ -n "$(ls "$work/spikes-r")" ] && grep -q 1 "$instance/tracing_on"
}

# A real-time thread has the CPU of the reflector for longer than any other task. The emitter ends when the cause is there.
cause_of_the_peer() { # NAME ARGUMENTS KEY
	begin_freeze "$1" || return 0
	[ -z "$3" ] || (umask 077 && echo 00112233445566778899aabbccddeeff >"$key")
	mkdir "$work/spikes-r"
	start_reflector r "$K -s -T -C --allow-freeze -w 100 --trace-rearm --trace-interval 0.5 --save-trace $work/spikes-r $3"
	as=$as_emitter start_emitter e "$K -s -T -C -t 400000 -w 100 -d 60 --freeze-peer --timeout 5000 -H --json $logs/e.json $2 $3"
	start planted r python3 "$(dirname "$0")/planted.py" "$last_cpu" 0.6 20
	poll is_explained
	terminate planted e r
	check '@expect_status e 0'
	check '@expect_status r 0'
	check 'e.out ~ ^Frozen: this host [0-9.]+ us and the peer at most [0-9.]+ us after breach'
	check "e.out ~ ^Remote (Kernel-to-app|App processing|App-to-kernel) [0-9]+[.][0-9] us: thread planted on its CPU $last_cpu, [0-9]+[.][0-9] us, [0-9]+ % of the excess"
	json_agrees e
	json_has e "has(JSON['freeze']['first']['cause'], {'state': 'known', 'class': 'thread', 'name': 'planted', 'cpu': $last_cpu})"
	json_has e "400000000 < JSON['freeze']['first']['cause']['value_ns'] <= JSON['freeze']['first']['cause']['stage_ns']"
	json_has e "JSON['accounts']['packets']['closing'] <= 31"
	check 'r.err !~ is of another packet'
	rm -r "$work/spikes-r"
	end_freeze
}

# The breach ends the run: the cause may come too late. The seconds have the closing probes in any case.
cause_after_the_run() { # NAME ARGUMENTS
	begin_freeze "$1" || return 0
	mkdir "$work/spikes-r"
	as=$(with_spikes app 500 600000) start_reflector r "$K -s -T --allow-freeze -w 100 --save-trace $work/spikes-r"
	as=$as_emitter start_emitter e "$K -T -t 500000 -w 100 --freeze-peer --count 700 --timeout 5000 -H --json $logs/e.json --jsonl $logs/e.jsonl $2"
	finish e
	terminate r
	check '@expect_status e 2'
	check '@expect_status r 0'
	check 'e.out ~ ^Remote ([a-zA-Z -]+ [0-9.]+ us: .+|cause: not known: the peer had not explained)'
	json_agrees e
	json_has e "JSON['freeze']['first']['cause']['state'] in ('known', 'pending')"
	rm -r "$work/spikes-r"
	end_freeze
}

# Peers whose answers are not valid, or that know no causes. The run counts all of its probes.
cause_of_a_hostile_peer() { # MODE TEXT
	begin "freeze: a cause from a hostile peer: $1" || return 0
	start h r python3 "$(dirname "$0")/answer_cause.py" "$ip_r" "$1"
	poll has_port h 862
	start_emitter e "$K -C -t 0.001 -w 0 --freeze-peer --count 100 --size 300 -H --json $logs/e.json"
	finish e
	terminate h
	check '@expect_status e 0'
	check 'e:Recorded -eq 100'
	check "e.out ~ ^Remote $2"
	! LC_ALL=C grep -q '[^[:print:][:space:]]' "$work/e.out" "$logs/e.json" || complain 'octets that cannot be printed'
	json_agrees e
	verdict
}

of_the_reflector() {
	begin_freeze 'freeze: a breach of the reflector freezes the emitter' || return 0
	as=$(with_spikes app 500 600000) start_reflector r "$K -s -T -C -t 500000 -w 100"
	as=$as_emitter start_emitter e "$K -T -C -t 50000000 -w 100 --freeze-peer --count 600 --timeout 5000"
	finish e
	terminate r
	check '@expect_status e 0'
	both_frozen_at 499
	check "e.out ~ ^Frozen: this host [0-9.]+ us after the reflector's breach #499 was reported, [0-9.]+ us after it was seen there"
	check 'r.out ~ ^Frozen: not on request of an emitter; own breaches reported 1$'
	end_freeze
}

not_allowed() {
	begin_freeze 'freeze: not allowed: refused, counted, and the trace goes on' || return 0
	as=$(with_spikes app 500 600000) start_reflector r "$K -s -T"
	as=$as_emitter start_emitter e "$K -T -C -t 500000 -w 100 --freeze-peer --count 700 --timeout 5000"
	finish e
	terminate r
	check '@expect_status e 0'
	check 'e:Recorded -eq 700'
	tracing_is 0 1
	[ -z "$(markers "$instance" reflect)" ] || complain 'the reflector has a marker'
	check 'e.out ~ ^Frozen: this host [0-9.]+ us after breach #499 was seen; .*the peer refused: see its --allow-freeze'
	check 'r.out ~ ^Frozen: not on request of an emitter; refused 1: --allow-freeze allows it$'
	end_freeze
}

# Without a trace, or the right to have one, both know the number.
without_trace() {
	begin 'freeze: without a trace both hosts mark the number' || return 0
	as=$(with_spikes app 500 600000) start_reflector r "$K -s --allow-freeze"
	as='setpriv --reuid 65534 --clear-groups' start_emitter e "$K -C -t 500000 -w 100 --freeze-peer --count 700 --timeout 5000"
	finish e
	terminate r
	check '@expect_status e 0'
	check 'e:Recorded -eq 700'
	check 'e.out ~ ^Frozen: breach #499 was seen; this host froze no trace; the peer marked it, but froze no trace: start it with -T'
	check "r.out ~ ^Frozen: on request of $ip_e, breach #499, marked without a trace, "
	verdict
}

unknown_to_the_peer() {
	begin 'freeze: a peer that does not know the request is unharmed, and so is the run' || return 0
	start h r "$hostile" reflect good "$ip_r"
	poll has_port h 862
	start_emitter e "$K -C -t 0.001 -w 0 --freeze-peer --count 100"
	finish e
	terminate h
	check '@expect_status e 0'
	check 'e:Recorded -eq 100'
	check 'e.out ~ ^Frozen: breach #0 was seen; this host froze no trace; the peer does not know the request \([0-9]+ probes asked\)'
	verdict
}

two_emitters() {
	begin_freeze 'freeze: of two emitters the second is refused' || return 0
	start_reflector r "$K -T --allow-freeze"
	start_emitter e1 "$K -t 0.001 -w 0 --freeze-peer --count 100"
	finish e1
	start_emitter e2 "$K -t 0.001 -w 0 --freeze-peer --count 100"
	finish e2
	terminate r
	check '@expect_status e1 2'
	check '@expect_status e2 2'
	[ "$(markers "$instance" reflect)" = 0 ] || complain 'not one marker, of #0'
	check 'e1.out ~ ^Frozen: the peer at most [0-9.]+ us after breach #0 was seen; this host froze no trace$'
	check "e2.out ~ ; the peer's trace was frozen at another breach: see its --trace-rearm$"
	check 'r.out ~ ^Frozen: on request of .*; refused while frozen at another breach 1$'
	check 'e1.out ~ ^Remote cause: not known: the peer saved no trace: start it with --save-trace$'
	end_freeze
}

# forged NAME "MODE KEY" KEY-OF-THE-REFLECTOR REPLIES TRACE CONDITION: packets that are not of a rant
forged() {
	local -a mode

	read -ra mode <<<"$2"
	begin_freeze "freeze: $1" || return 0
	(umask 077 && echo 00112233445566778899aabbccddeeff >"$key" && echo ffeeddccbbaa99887766554433221100 >"$key.wrong")
	start_reflector r "$K -T --allow-freeze ${3:+--key $key}"
	inside e timeout 20 python3 "$(dirname "$0")/ask_freeze.py" "$ip_r" "${mode[@]}" >"$work/ask.out" 2>&1
	terminate r
	[ "$(paste -sd, "$work/ask.out")" = "$4" ] || complain "the replies are $(paste -sd, "$work/ask.out"), not $4"
	tracing_is 1 "$5"
	check "$6"
	end_freeze
}

all_of_them() {
	local mode

	of_the_emitter 'freeze: a breach freezes both hosts, with one probe in flight' -C 0
	of_the_emitter 'freeze: a breach freezes both hosts, with 16 in flight' '-C --window 16' 0
	of_the_emitter 'freeze: the breach that ends the run freezes both hosts' '' 2
	of_the_emitter 'freeze: the breach that ends the run freezes both hosts, with 16 in flight' '--window 16' 2
	folders
	timeline
	cause_of_the_peer 'freeze: the peer explains its trace, with one probe in flight' '' ''
	cause_of_the_peer 'freeze: the peer explains its trace, with 16 in flight' '--window 16' ''
	cause_after_the_run 'freeze: a cause after the run is awaited, with one probe in flight' ''
	cause_after_the_run 'freeze: a cause after the run is awaited, with 16 in flight' '--window 16'
	cause_of_a_hostile_peer valid 'NIC-to-kernel 512.0 us: softirq TIMER on its CPU 1, 498.2 us, 97 % of the excess'
	cause_of_a_hostile_peer escape 'NIC-to-kernel 512.0 us: softirq [?]\[31mTIMER[?][?] on its CPU 1, '
	for mode in class stage share negative longer; do
		cause_of_a_hostile_peer $mode 'cause: not known: the answer of the peer is not valid$'
	done
	cause_of_a_hostile_peer other 'cause: not known: the peer had not explained its trace within 1 s'
	for mode in truncated unasked old; do
		cause_of_a_hostile_peer $mode 'cause: not known: the peer reports no causes$'
	done
	of_the_reflector
	not_allowed
	without_trace
	unknown_to_the_peer
	two_emitters
	forged 'a flag without a key is honoured where none is set' plain '' '00 01 0,00 01 7,00 41 7' 0 'r.out ~ breach #7'
	forged 'the cause is reported to that run only, also after a TLV that is not valid' cause '' '00 01 0,00 01 7,00 41 7,00 03 7,00 05 8,00 05 7,40 80 0,00 03 7' 0 \
		'r.out ~ breach #7'
	if "$rant" --version | grep -q -- '--key .*not built in'; then
		skip 'freeze: flags with a key' 'rant was built without libnettle'
		return
	fi
	forged 'a flag that is signed is honoured once, also when it is repeated' "replayed $key" key '00 01 0,00 01 7,00 41 7,none,none' 0 'r:Replayed -eq 2'
	forged 'a flag with a wrong key is not honoured' "signed $key.wrong" key 'none,none,none' 1 'r:Unverified -eq 3'
	forged 'a flag without the key is not honoured' plain key 'none,none,none' 1 'r:Unverified -eq 3'
	forged 'the cause is reported to signed requests, once' "cause $key" key \
		'00 01 0,00 01 7,00 41 7,00 03 7,00 05 8,00 05 7,40 80 0,00 03 7,a0 80 7,none' 0 'r:Replayed -eq 1'
	cause_of_the_peer 'freeze: the peer explains its trace to an emitter with the key' '' "--key $key"
	forged 'a flag that was added to a signed packet is not honoured' "forged $key" key '00 01 0,a0 80 0,a0 80 0' 1 'r.out !~ ^Frozen:'
}

if [ -z "$spike" ]; then
	: # namespace_spikes.sh says so
elif ! grep -q '^[^ ]* /sys/kernel/tracing tracefs ' /proc/mounts; then
	skip 'freezing both hosts' 'there is no tracefs'
elif [ -e "$instance" ]; then
	skip 'freezing both hosts' 'another program uses the tracing instance rant'
else
	# Nothing is left behind, wherever a test ends.
	trace_instance=$instance
	all_of_them
fi
