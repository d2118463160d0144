#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Data races: both roles under ThreadSanitizer, with all that other threads do during a run. Each report of ThreadSanitizer is a failure and is printed.
#
#   threads.sh build/rant-tsan HOSTILE
# shellcheck source=tests/link/link.sh
. "$(dirname "$0")/link.sh"

# Addresses where ThreadSanitizer wants them. What is known of system calls is no order between threads: only what C11 says is.
sanitized="setarch -R env TSAN_OPTIONS=exitcode=66:io_sync=0:history_size=5:log_path=$logs/race"
if ! $sanitized "$rant" --version >/dev/null 2>"$work/tsan.err"; then
	echo "ok - threads # SKIP ThreadSanitizer does not run here: $(head -1 "$work/tsan.err")"
	failed=0
	exit
fi
export as=$sanitized

# Each report, reduced to its summary.
no_races() {
	local file

	for file in "$logs"/race.*; do
		[ ! -e "$file" ] || complain "ThreadSanitizer: $(grep -c '^SUMMARY: ' "$file") reports: $(cut -c 1-160 "$file" | tr '\n' '~' | sed 's/~/\n#   /g')"
	done
}

# all NAME: what is written of a run while it goes on, and at its end.
all() {
	echo "--jsonl $logs/$1.jsonl --json $logs/$1.json --hlog $logs/$1.hlog --hgrm $logs/$1.hgrm --prometheus $logs/$1 --summary-every 1 -H"
}

# Both are asked for a report so far until the emitter ends by itself.
ask_often() {
	while is_running "$1"; do
		send USR1 "$1"
		send USR1 r
		sleep 0.1
	done
}

# run NAME REFLECTOR_ARGUMENTS EMITTER_ARGUMENTS...: an emitter for each.
run() {
	local name=$1 one
	local -a emitters=()

	begin "threads: $name" || return 0
	start_reflector r "$2"
	shift 2
	for one; do
		emitters+=("e${#emitters[@]}")
		start_emitter "${emitters[-1]}" "--timeout 5000 $one"
	done
	wait_for_packets e0 e 20
	ask_often e0
	finish "${emitters[@]}"
	terminate r
	for one in r "${emitters[@]}"; do
		expect_status "$one" "${want:-0}"
	done
	no_races
	verdict
}

breaches="-t 1 -C --on-breach exec:true"

# node_exporter's file is replaced after 10 s.
run 'all outputs, a breach each time' "$K -s $breaches -l LOG $(all r)" "$K -s $breaches -d 10.5 -l LOG --log-full $(all e0)"
run 'stamps of user space' "$U $breaches -l LOG --log-format npy --log-rotate 1M,3 $(all r)" \
	"$U $breaches -d 2 -l LOG --log-format npy --log-rotate 1M,3 $(all e0)"
run 'the last of a log, many in flight' "$K -s -t 500 -C -l LOG --log-last 0.2" \
	"$K -s -t 500 -C --window 64 -d 2 -l LOG --log-format csv --log-last 0.2 $(all e0)"
run 'many sessions, by the clock' "$K -s -l LOG --summary-every 1 --rate-limit 100000" \
	"$K -s --source-ports 64 --interval 500us -d 2 -l LOG $(all e0)" "$K --source-ports 16 -t 1 -C -d 2 -l LOG" "$U --window 8 -d 2"
run 'a reflector that sleeps' "$K -l LOG $(all r)" "$K --interval 1.3s --count 3 --synced 1000000 $(all e0)"

# Ends of a run: a breach, a signal, an interface that goes away.
want=2 run 'a breach ends it' "$K -t 0.001 --on-breach exec:true -l LOG $(all r)" "$K -t 0.001 --on-breach exec:true -l LOG $(all e0)"

ends_by() { # NAME COMMAND...
	begin "threads: $1 ends it" || return 0
	start_reflector r "$K -l LOG $(all r)"
	start_emitter e "$K --timeout 5000 -l LOG $(all e)"
	wait_for_packets e e 1000
	"${@:2}"
	finish e
	send TERM r
	finish r
	no_races
	verdict
}
ends_by 'a signal' send INT e

if add_vlan "$link_e.9" 9 2>"$work/vlan.err"; then
	ip -n "${ns[e]}" address add 10.79.0.1/24 dev "$link_e.9"
	ip -n "${ns[r]}" address add 10.79.0.2/24 dev "$link_e.9"
	ip -n "${ns[e]}" link set "$link_e.9" up
	ip -n "${ns[r]}" link set "$link_e.9" up
	server=10.79.0.2 link=$link_e.9 ends_by 'an interface that is gone' ip -n "${ns[e]}" link del "$link_e.9"
else
	skip 'threads: an interface that is gone ends it' "no VLAN here: $(head -1 "$work/vlan.err")"
fi
