#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The log during a run: complete, and its remains after failures.
# build: plain: memory and rate are judged
# shellcheck source=tests/link/link.sh
. "$(dirname "$0")/link.sh"

# ---- Contents --------------------------------------------------------------------------------------------------------

has_written() { # FILE [OCTETS]: more than its header
	[ "$(stat -c %s "$1" 2>/dev/null || echo 0)" -gt "${2:-4096}" ]
}

unrecorded() { # NAME: answered, and not in the statistics
	local one sum=0

	for one in Warm-up Lost Unstamped Negative Stepped; do
		sum=$((sum + $(row "$1" "$one" || echo 0)))
	done
	echo "$sum"
}

log_line() { # NAME: its used, all, and the rest
	sed -n 's/^Log: //p' "$work/$1.out"
}

# log_is NAME RECORDS FILE...: the files in this order have RECORDS records, and their notes count the other recorded packets;
# the rest was not recorded, or $removed with the oldest files.
log_is() {
	local name=$1 records=$2 used

	# The header of the second file and the next is none of a record.
	awk 'NR == 1 { header = $0 } NR > 1 && $0 == header { skip = 2 } skip { skip--; next } { print }
		NR == 2 { rule = $0 }' "${@:3}" >"$work/log"
	whole_log "$work/log"
	read -r used _ <<<"$(log_line "$name")"
	[ "${log_has[0]}" = "$records" ] || complain "$name.log has ${log_has[0]} records, not $records"
	[ "$used" = "$records" ] || complain "the report of $name has $used records in the log, not $records"
	[ $((log_has[2] - ${removed:-0})) -le "$(unrecorded "$name")" ] ||
		complain "$name.log lacks ${log_has[2]} records, and $(unrecorded "$name") were not recorded"
}

complete() { # NAME
	log_is "$1" "$(row "$1" Recorded)" "$logs/$1.log"
	[[ "$(log_line "$1")" == "$(row "$1" Recorded) of $(row "$1" Recorded) records; "* ]] || complain "$1: Log: $(log_line "$1")"
	[ ${#complaints[@]} -gt 0 ] || [ $((log_has[0] + log_has[2])) -eq $((log_has[3] + 1)) ] ||
		complain "$1.log ends with #${log_has[3]}"
}

only() { # FILE...: these are there, in the order of their names
	[ "$(ls -A "$logs")" = "$(printf '%s\n' "$@")" ] || complain "there is: $(ls -C "$logs")"
}

both_end() { # STATUS_E
	finish e
	terminate r
	check "@expect_status e $1"
	check '@expect_status r 0'
	check '@audit e'
	check '@audit r'
}

# ---- Complete --------------------------------------------------------------------------------------------------------

MOST_KB=32768
little_memory() { # NAME
	local peak

	peak=$(awk '/^VmHWM:/ { print $2 }' "/proc/$(pid_of "$1")/status" 2>/dev/null)
	[ "${peak:-0}" -gt 0 ] || complain "$1 is not running"
	grep -q __asan_init "$rant" || [ "${peak:-0}" -le $MOST_KB ] || complain "$1 has $peak kB in memory, more than $MOST_KB"
}

full_rate() {
	begin 'log: at full rate each record is there once and in order, in little memory' || return 0
	start_reflector r "$K -s -H -l LOG"
	start_emitter e "$K -s -l LOG --log-full --timeout 5000 --count 100000000"
	for name in e r; do
		poll has_written "$logs/$name.log.partial"
		[ ! -e "$logs/$name.log" ] || complain "there is a $name.log during the run"
	done
	sleep 3
	little_memory e
	little_memory r
	send INT e
	both_end 0
	for name in e r; do
		check "@complete $name"
	done
	check '@logs_join'
	check 'e.out !~ ^Measurement: .*the log is incomplete'
	verdict
}
full_rate

# The text logs with the same options, whose columns the other formats share.
names_e='SEQ T1_SW T1_KERNEL T4_KERNEL T4_SW RTT T2_KERNEL T2_SW T3_SW T3_KERNEL RESPONSE NETWORK POLL_GAP REMOTE_POLL_GAP FLAGS'
names_r='SEQ T2_KERNEL T2_SW T3_SW T3_KERNEL RESPONSE'

in_forms() { # EMITTER'S REFLECTOR'S
	begin "log: the emitter's as $1 and the reflector's as $2 have the same data" || return 0
	start_reflector r "$K -s -l LOG --log-format $2"
	start_emitter e "$K -s --log-full -l LOG --log-format $1 --timeout 5000 --count 2000"
	both_end 0
	for one in "e.out ~ ^Log: $(row e Recorded) of $(row e Recorded) records; $1, $(stat -c %s "$logs/e.log") octets$" \
		"r.out ~ ^Log: $(row r Recorded) of $(row r Recorded) records; $2, $(stat -c %s "$logs/r.log") octets$"; do
		check "$one"
	done
	while IFS= read -r line; do
		complain "$line"
	done < <(python3 "$(dirname "${BASH_SOURCE[0]}")/read_log.py" "$logs/e.log" "$logs/r.log" "$names_e" "$names_r" 2>&1)
	verdict
}
if command -v python3 >/dev/null; then
	in_forms text csv
	in_forms text npy
	in_forms csv text
	in_forms npy text
else
	skip 'log: its forms' "'python3' is not installed"
fi

# The kernel's transmit times: each between the program's time and the timestamp, at both hosts; as text, since the numbers have more
# digits than a double. Columns: T1_SW 2, T1_KERNEL 3, T3_SW 9, T3_KERNEL 10, T1_SCHED 15, T3_SCHED 16.
transmit_times() { # DETAIL EVERY
	begin "log: the transmit times of the kernels, --stages $1" || return 0
	start_reflector r "$K"
	start_emitter e "$K -s --stages $1 --log-full -l LOG --log-format csv --timeout 5000 --count 2000"
	both_end 0
	[ "$(head -n 1 "$logs/e.log")" = "$(tr ' ' , <<<"${names_e/ FLAGS/ T1_SCHED T3_SCHED FLAGS}")" ] || complain 'e.log: other columns'
	while IFS= read -r line; do
		complain "$line"
	done < <(awk -F, -v every="$2" '!/^#/ && NR > 1 {
			wanted += $1 % every == 0
			here += $15 != ""; there += $16 != ""
			wrong += ($15 != "" && ($1 % every || $2 "" > $15 "" || $15 "" > $3 ""))
			wrong += ($16 != "" && ($1 % every || $9 "" > $16 "" || $16 "" > $10 ""))
		}
		END {
			if (here != wanted) print here " of " wanted " packets have T1_SCHED"
			# Not the reply to the first request, which asks for them, nor the last.
			if (there > wanted || there < wanted - 3) print there " of " wanted " packets have T3_SCHED"
			if (wrong) print wrong " times are out of order, or were not asked for"
		}' "$logs/e.log")
	verdict
}
transmit_times full 1
transmit_times full/8 8

to_stdout() { # FILE
	begin "log: -l $1 is stdout, and the report goes to stderr" || return 0
	start_reflector r "$K"
	start_emitter e "$K --timeout 5000 --count 200 -l $1"
	finish e
	terminate r
	mv "$work/e.out" "$logs/e.log"
	mv "$work/e.err" "$work/e.out"
	for one in '@expect_status e 0' '@audit e' 'e.out ~ ^Test is complete' 'e:Recorded -eq 200' '@complete e' \
		'@columns e SEQ T1_KERNEL T4_KERNEL RTT' '@log_agrees e T1_KERNEL T4_KERNEL'; do
		check "$one"
	done
	verdict
}
to_stdout -
to_stdout /dev/stdout

# Its file descriptor is then not reused by a socket, into which the log would be written.
printf '#!/bin/sh\nexec "$@" >&-\n' >"$work/without-stdout"
chmod 755 "$work/without-stdout"
closed_stdout() {
	begin 'log: with stdout closed, -l - fails in one line, and the report is there' || return 0
	start_reflector r "$K"
	as=$work/without-stdout start_emitter e "$K --timeout 5000 --count 50 -l -"
	finish e
	terminate r
	sed -n '/^Test is complete/,$p' "$work/e.err" >"$work/e.out"
	for one in '@expect_status e 1' '@audit e' 'e:Recorded -eq 50' 'e.out ~ ^Log: 0 of 50 records, 50 could not be written;' \
		'e.err ~ ^rant: --log -: could not be written \(Bad file descriptor\): the rest of the log is left out: choose another place$'; do
		check "$one"
	done
	verdict
}
closed_stdout

written_at_the_end() {
	have_one_cpu 'log: without a second CPU' || return
	begin 'log: without a second CPU it is written at the end, and the report says so' || return 0
	start_reflector r "$K"
	as="$one_cpu" start_emitter e "$K -s --timeout 5000 --count 100000000 -d 10 -l LOG"
	wait_for_packets e e 100
	sleep 0.5
	[ -e "$logs/e.log.partial" ] || complain 'there is no e.log.partial during the run'
	[ ! -s "$logs/e.log.partial" ] || complain 'e.log.partial is written during the run'
	send TERM e
	both_end 0
	for one in 'e.out ~ ^Log: .* octets; written at the end, because only the measuring CPU may be used$' 'e.err empty' \
		"@log_is e $(row e Recorded) $logs/e.log"; do
		check "$one"
	done
	verdict
}
written_at_the_end

# ---- Selection -------------------------------------------------------------------------------------------------------

# Kept records, by the user-space receive time (T4_SW): all of 0.5 s before each breach and before the end, and of half of that after a
# breach. The last record left out was complete before the next send (T1_SW). test_report_log_last shows, in simulated time, that no
# more records are kept, except by a delayed thread.
near_breaches() { # FILE
	awk -v last=0.5 -v slack=0.1 '
		function time(text, t) { split(text, t, "."); return t[1] % 100000 + t[2] / 1e9 }
		function apart(a, b) { return at[a] > at[b] ? at[a] - at[b] : at[b] - at[a] }
		NR < 3 { next }
		/^# / {
			if (!/: they are not within --log-last of a breach$/) print "note: " $0
			if (n) { to[blocks] = n; from[++blocks] = n + 1 } else { from[blocks = 1] = 1; cut = 1 }
			next
		}
		{
			if (!blocks) from[blocks = 1] = 1
			at[++n] = time($5); sent[n] = time($2); seq[n] = $1; of[n] = blocks
			if ($6 > 200000000) late[++breaches] = n
		}
		END {
			if (blocks < 2 && !cut) print "nothing was left out"
			to[blocks] = n
			for (j = 1; j <= breaches; j++) {
				i = late[j]; b = of[i]
				if ((b > 1 || cut) && at[i] - sent[from[b]] < last - slack)
					print "#" seq[i] ": only " at[i] - sent[from[b]] " s before"
				if (b < blocks && apart(to[b], i) < last / 2) print "#" seq[i] ": only " apart(to[b], i) " s after"
			}
			if (from[blocks] > n) print "nothing from before the end"
			if (at[n] - sent[from[blocks]] < last - slack) print "only " at[n] - sent[from[blocks]] " s before the end"
			print "breaches " breaches + 0
		}' "$1"
}

# The breach's command still runs at the end: rant waits for it, and that time does not count for the log.
last_seconds() {
	local line not_kept

	begin 'log: --log-last keeps the records near a breach and near the end, and reports the number of others' || return 0
	printf '#!/bin/sh\nexec sleep 4\n' >"$work/command"
	chmod 755 "$work/command"
	start_reflector r "$K"
	start_emitter e "$K --timeout 5000 -s -t 200000 -C --on-breach exec:$work/command --log-last 0.5 -l LOG --count 100000000"
	wait_for_packets e e 20
	sleep 1.8
	send STOP r
	sleep 0.4
	send CONT r
	sleep 2.5
	send INT e
	both_end 0
	not_kept=$(log_line e | sed -n 's/.*, \([0-9]*\) not within --log-last.*/\1/p')
	log_is e $(($(row e Recorded) - not_kept)) "$logs/e.log"
	[ "${log_has[1]}" = "$not_kept" ] || complain "the notes count ${log_has[1]} records, the report $not_kept"
	while IFS= read -r line; do
		[ "$line" = "breaches $(row e Breaches)" ] || complain "$line, the report has $(row e Breaches)"
	done < <(near_breaches "$logs/e.log")
	check 'e:Breaches -ge 1'
	check 'e.out !~ ^Measurement: .*the log is incomplete'
	verdict
}
last_seconds

# The three files of an ended run, the last with number N: of the rotation's size, and each begins with the header.
three_files() { # N
	local n used removed

	[ "$(ls "$logs")" = "$(printf 'e.log.%s\n' $(($1 - 2)) $(($1 - 1)) "$1" | sort)" ] ||
		complain "there is: $(ls -C "$logs")"
	for n in $(($1 - 2)) $(($1 - 1)) "$1"; do
		[ "$(stat -c %s "$logs/e.log.$n")" -le 262144 ] || complain "e.log.$n has more than 256 k"
		[ "$n" = "$1" ] || [ "$(stat -c %s "$logs/e.log.$n")" -gt 260000 ] || complain "e.log.$n is short"
		[[ "$(head -n 1 "$logs/e.log.$n")" == *' SEQ '*' RTT' ]] || complain "e.log.$n does not begin with the header"
	done
	removed=$(log_line e | sed -n 's/.*, \([0-9]*\) removed with the oldest files.*/\1/p')
	used=$(($(row e Recorded) - removed))
	log_is e "$used" "$logs/e.log."{$(($1 - 2)),$(($1 - 1)),"$1"}
	[ "$(awk 'NR == 3 { print $1 }' "$logs/e.log.$(($1 - 2))")" -ge "$removed" ] || complain "more than $removed are not there"
	check "e.out ~ ^Log: .* octets, the last in file $1$"
}

rotated() {
	begin 'log: --log-rotate keeps three files, and overwrites none of an earlier run' || return 0
	start_reflector r "$K"
	start_emitter e "$K --timeout 5000 --count 15000 -l LOG --log-rotate 256k,3"
	finish e
	check '@expect_status e 0'
	check '@audit e'
	three_files 6
	mkdir "$work/earlier"
	mv "$logs"/e.log.* "$work/earlier"
	cp "$work/earlier"/* "$logs"
	start_emitter e "$K --timeout 5000 --count 15000 -l LOG --log-rotate 256k,3"
	both_end 0
	for file in "$work/earlier"/*; do
		cmp "$file" "$logs/${file##*/}" || complain "${file##*/} of the earlier run was changed"
		rm -f "$logs/${file##*/}"
	done
	three_files 12
	verdict
	rm -r "$work/earlier"
}
rotated

# ---- Failures --------------------------------------------------------------------------------------------------------

# Every request answered until this time before has its record.
complete_up_to() { # PARTIAL KILLED-AT SECONDS
	awk -v at="$2" -v before="$3" '
		function seconds(text, t) { split(text, t, "."); return t[1] % 100000 + t[2] / 1e9 }
		BEGIN { until = seconds(at) - before }
		FNR < 3 || /^# / { next }
		NR == FNR { has[$1] = 1; next }
		seconds($3) < until { wanted++; if (!($1 in has)) missing++ }
		END { exit !(wanted > 0 && missing + 0 == 0) }' "$1" "$logs/r.log"
}

# is_left N: only the last line may be truncated, without an end of line; the rest is whole. Sets cut[N] to its octets, and creates
# killed.N without it.
is_left() {
	local left=$logs/e.log.partial

	cut[$1]=0
	[ "$(tail -c 1 "$left" | tr -d '\n' | wc -c)" -eq 0 ] || cut[$1]=$(tail -n 1 "$left" | wc -c)
	head -c "-${cut[$1]}" "$left" >"$work/killed.$1"
	whole_log "$work/killed.$1"
}

killed() {
	local n at sharp=0
	local -a cut=()

	begin 'log: SIGKILL leaves the records until 0.2 s before, and the next run renames that log' || return 0
	for n in 1 2 3; do
		start_reflector r "$K -l LOG"
		start_emitter e "$K --timeout 5000 -l LOG"
		wait_for_packets e e 20
		sleep "0.$((RANDOM % 6 + 4))$((RANDOM % 10))"
		at=$(date +%s.%N)
		send KILL e
		finish e
		terminate r
		moved[e]=$(sent_by e)
		# As a signal within a write(2) does it now and then.
		[ "$n" != 2 ] || truncate -s -5 "$logs/e.log.partial"
		is_left "$n"
		[ "${log_has[2]}" -le "$(unrecorded r)" ] || complain "${log_has[2]} records are missing in between"
		! complete_up_to "$work/killed.$n" "$at" 0.2 || sharp=$((sharp + 1))
		[ "${log_has[0]}" -gt 0 ] || complain 'it has no record'
		[ "$n" = 1 ] || is_moved_aside $((n - 1))
	done
	# Each time, but that a busy machine lets the thread that writes wait.
	[ "$sharp" -gt 0 ] || complain 'never was it complete up to 0.2 s before'
	start_reflector r "$K"
	start_emitter e "$K --timeout 5000 --count 20 -l LOG"
	both_end 0
	is_moved_aside 3
	check '@complete e'
	check '@only e.log e.log.partial.1 e.log.partial.2 e.log.partial.3 r.log'
	leaves=partial verdict
	rm -f "$work"/killed.*
}

is_moved_aside() { # N
	local mended=''

	[ "${cut[$1]}" -eq 0 ] || mended=": ${cut[$1]} octets after its last whole line were removed"
	check '@one_line e'
	check "e.err ~ --log $logs/e.log: an earlier run did not end and has left $logs/e.log.partial, which is now $logs/e.log.partial.$1$mended$"
	cmp "$work/killed.$1" "$logs/e.log.partial.$1" || complain "e.log.partial.$1 is not the remainder in whole lines"
}
killed

two_at_once() {
	begin 'log: a second rant with the same log is refused, and the first goes on' || return 0
	start_reflector r "$K"
	start_emitter e "$K --timeout 5000 -l LOG --count 100000000"
	poll has_written "$logs/e.log.partial"
	start second e "$rant" -i "$link_e" -a "$ip_r" --stamp kernel --count 10 -l "$logs/e.log"
	finish second
	for one in '@expect_status second 1' '@one_line second' 'second.out empty' \
		"second.err ~ --log $logs/e.log: another rant is writing $logs/e.log.partial: choose another place$"; do
		check "$one"
	done
	send INT e
	both_end 0
	check '@complete e'
	check 'e.err empty'
	verdict
}
two_at_once

full_in_mid_run() {
	local disk=$work/disk unwritten

	begin 'log: a full disk is reported at once, the run goes on, and the written records stay' || return 0
	rm -rf "$disk" "$disk.after"
	mkdir "$disk"
	start_reflector r "$K"
	as="unshare -m $work/on-disk 1m $disk" start_emitter e "$K --timeout 5000 --count 100000000 -l $disk/log"
	poll test -s "$work/e.err"
	wait_for_packets e e $(($(sent_by e) - moved[e] + 1000))
	is_running e || complain 'the run was over'
	kill -INT "$(pgrep -P "$(pid_of e)")"
	both_end 1
	unwritten=$(log_line e | sed -n 's/.*, \([0-9]*\) could not be written.*/\1/p')
	for one in '@one_line e' "e.err ~ --log $disk/log: could not be written \\(No space left on device\\): the rest of the log is left out, and the written part stays as $disk/log.partial: free space or choose another place$" \
		"e.out ~ ^Measurement: .*the log is incomplete \\($unwritten records left out\\)" \
		"@log_is e $(($(row e Recorded) - unwritten)) $disk.after/log.partial"; do
		check "$one"
	done
	[ "${log_has[0]}" -gt 1000 ] || complain "only ${log_has[0]} records were written"
	[ "$(cat "$disk.after/log")" = old ] || complain 'the old log is gone'
	[ "$(ls -A "$disk.after")" = $'log\nlog.partial' ] || complain "there is: $(ls -C "$disk.after")"
	verdict
}
if unshare -m true 2>/dev/null; then
	full_in_mid_run
else
	skip 'log: a disk that fills up' 'no mount namespace can be made here'
fi

# A shell that has the pipe open lets rant open it; the reader sleeps until it may go on.
RING_RECORDS=190650
slow_reader() {
	local left_out

	slow begin 'log: with a reader that sleeps records are left out, and counted in the log, the report and the verdict' || return 0
	mkfifo "$logs/pipe"
	exec 7<>"$logs/pipe"
	stdout=$logs/e.log start reader e sh -c "exec <'$logs/pipe'; until [ -e '$logs/go' ]; do sleep 0.05; done; exec cat" 7<&-
	start_reflector r "$K" 7<&-
	start_emitter e "$K --timeout 5000 -s --log-full -l $logs/pipe" 7<&-
	wait_for_packets e e $((RING_RECORDS + 20000))
	exec 7<&-
	touch "$logs/go"
	poll has_written "$logs/e.log" 2000000
	wait_for_packets e e $(($(sent_by e) - moved[e] + 20000))
	send INT e
	both_end 0
	finish reader
	left_out=$(log_line e | sed -n 's/.*, \([0-9]*\) left out because the ring was full.*/\1/p')
	log_is e $(($(row e Recorded) - left_out)) "$logs/e.log"
	[ "${log_has[1]}" = "$left_out" ] || complain "the notes count ${log_has[1]} records, the report $left_out"
	grep -Eq '^# [0-9]+ records left out from SEQ [0-9]+ on: the ring was full$' "$logs/e.log" || complain 'no note has the reason'
	[ "$(awk '/^# / { told = 1 } told && /^ / { print "yes"; exit }' "$logs/e.log")" = yes ] || complain 'no record comes after the note'
	check "e.out ~ ^Measurement: .*the log is incomplete \\($left_out records left out\\)"
	verdict
}
# Packets for several seconds on a busy machine.
GUARD_S=240 slow_reader

reader_gone() {
	begin 'log: a reader that goes away is said, and the run goes on' || return 0
	mkfifo "$logs/pipe"
	exec 7<>"$logs/pipe"
	start reader e head -c 20000 "$logs/pipe" 7<&-
	start_reflector r "$K" 7<&-
	start_emitter e "$K --timeout 5000 -l $logs/pipe" 7<&-
	wait_for_packets e e 20
	exec 7<&-
	poll test -s "$work/e.err"
	wait_for_packets e e $(($(sent_by e) - moved[e] + 1000))
	is_running e || complain 'the run was over'
	send INT e
	both_end 1
	finish reader
	for one in '@one_line e' "e.err ~ --log $logs/pipe: its reader has gone away: the rest of the log is left out$" \
		'e.out ~ ^Log: .*, [0-9]+ could not be written; text, ' 'e.out ~ ^Measurement: .*the log is incomplete'; do
		check "$one"
	done
	[ -p "$logs/pipe" ] || complain 'the pipe was replaced'
	verdict
}
reader_gone

# ---- Refusals --------------------------------------------------------------------------------------------------------

# refused NAME ARGUMENTS MESSAGE [FILE...]: one line, and no file is created besides FILE.
refused() {
	alone "log: refused: $1" 1 e "$E -d 0.1 $2" '@silent' '@one_line e' 'e.out empty' "e.err ~ $3" "@only ${*:4}"
}

make_pipe() {
	mkfifo "$logs/pipe"
	exec 7<>"$logs/pipe"
}

refused 'a folder that is not there' "-l $logs/none/log" "--log $logs/none/log: cannot write there \\(No such file or directory\\)"
make_folder() { mkdir "$logs/e.log.partial"; }
prepare=make_folder leaves=partial refused 'a folder where the unfinished log would be' '-l LOG' \
	"--log $logs/e.log: cannot write there \\(File exists\\)" e.log.partial
make_links() { ln -s aim "$logs/e.log"; }
prepare=make_links refused 'a symbolic link' '-l LOG' '--log .*/e.log: is a symbolic link: give the path of a file' e.log
refused 'a form that there is not' '-l LOG --log-format xml' "--log-format: 'xml' is not a choice: give text, npy or csv"
for given in 255k,3 262143,3 0,3 256k,0 256k,10001 99999999999G,3; do
	refused "--log-rotate $given" "-l LOG --log-rotate $given" "--log-rotate: '$given' is out of range: give .* e\\.g\\. 100M,10$"
done
for given in 256k '256k,' 256k,3,4 256k,3x 256K,3 256kk,3 1.5M,3; do
	refused "--log-rotate $given" "-l LOG --log-rotate $given" "--log-rotate: '$given' is not a size and a number of files: give "
done
refused '--log-rotate ,3' '-l LOG --log-rotate ,3' "--log-rotate: ',3' has no size: give "
for given in '--log-format csv' '--log-last 1' '--log-rotate 1M,3' --log-full; do
	refused "$given without a log" "$given" "${given} without --log: give --log FILE$"
done
refused 'npy to stdout' '-l - --log-format npy' '--log-format npy: --log - is not a regular file, .*: give the path of one, or --log-format csv$'
refused 'rotation of stdout' '-l - --log-rotate 1M,3' '--log-rotate: --log - is not a regular file: give the path of a file, or leave --log-rotate out$'
prepare=make_pipe refused 'npy to a pipe' "-l $logs/pipe --log-format npy" "--log-format npy: --log $logs/pipe is not a regular file, " pipe
prepare=make_pipe refused 'rotation of a pipe' "-l $logs/pipe --log-rotate 1M,3" "--log-rotate: --log $logs/pipe is not a regular file: " pipe
exec 7<&-
make_bare_pipe() { mkfifo "$logs/pipe"; }
prepare=make_bare_pipe refused 'a pipe that nobody reads' "-l $logs/pipe" "--log $logs/pipe: cannot write there \\(No such device or address\\)" pipe

if command -v setpriv >/dev/null; then
	as='setpriv --reuid=65534 --regid=65534 --clear-groups'
	as=$as refused 'a folder where one may not write' "-l $work/e.log" "--log $work/e.log: cannot write there \\(Permission denied\\)"
	make_anothers() { echo old >"$logs/e.log"; }
	as=$as prepare=make_anothers refused "another's log" '-l LOG' '--log .*/e.log: cannot write there \(Permission denied\)' e.log
	make_anothers_partial() { echo old >"$logs/e.log.partial"; }
	as=$as prepare=make_anothers_partial leaves=partial refused "another's unfinished log" '-l LOG' \
		'--log .*/e.log: cannot write there \(Operation not permitted\)' e.log.partial
	unset as
else
	skip 'log: refused: without root' 'setpriv is not installed'
fi
