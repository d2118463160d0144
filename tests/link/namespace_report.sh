#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The report, line by line.
# shellcheck source=tests/link/link.sh
. "$(dirname "$0")/link.sh"

count_line() { # name, meaning, which a count of 0 need not have
	printf '^  %-10s:  (0|[0-9]+%s)$\n' "$1" "${2:+  \\($2\\)}"
}

# There only when it is not 0.
folded_line() {
	printf '* ^  %-10s:  [1-9][0-9]*%s$\n' "$1" "${2:+  \\($2\\)}"
}

# The rows about the reflector in an emitter's report with -H.
parts_template() {
	local number='[0-9]+' us='[0-9]+\.[0-9]{3}' name percentiles

	# Of 100 samples ten are above the 90th; where some are negative fewer are.
	percentiles=" +$us +$us\\*?( +$us\\*){4}( +$us){2}"
	for name in Response Network; do
		cat <<-END
			^$
			^$name Histogram \(us\):$
			^  $number samples from $us \(#$number\) to $us \(#$number\)$
			^  average $us, standard deviation $us$
			^  50th $us, 90th $us, 95th $us, 99th $us, 99\.9th $us, 99\.99th $us$
			^    fewer than ten samples are above: 95th, 99th, 99\.9th, 99\.99th$
			* ^  [ 0-9]{8}\.[0-9]{3} - [ 0-9]{8}\.[0-9]{3} : [ 0-9]{12} [ 0-9]{3}\.[0-9]{4}%$
			^  [ 0-9]{8}\.[0-9]{3} -   \(overflow\) : [ 0-9]{12} [ 0-9]{3}\.[0-9]{4}%$
			* ^  [ 0-9]{8}\.[0-9]{3} - [ 0-9]{8}\.[0-9]{3} \| [ 0-9]{12} [ 0-9]{3}\.[0-9]{4}%$
		END
	done
	cat <<-END
		^$
		^Stages \(us\): +Samples +Negative +50th +90th +95th +99th +99\.9th +99\.99th +Maximum +Average$
		^  Round trip +T4_KERNEL - T1_KERNEL( +$number){2}$percentiles$
		^  Response +T3_KERNEL - T2_KERNEL( +$number){2}$percentiles$
		^  Network +RTT - RESPONSE( +$number){2}$percentiles$
		^  Poll gap +longest of an exchange( +$number){2}$percentiles$
		^  Forward +\+-$us us( +$number){2}$percentiles$
		* ^  Forward, variation +above its minimum( +$number){2}$percentiles$
		^  Backward +\+-$us us( +$number){2}$percentiles$
		* ^  Backward, variation +above its minimum( +$number){2}$percentiles$
		^  Forward and backward are within \+-$number ns \(at the end \+-$number\): the clocks were compared by the exchanges themselves$
		* ^  The negative values are within that: .*$
		^  \* fewer than ten samples are above it$
		^  95 % intervals of the (round trip|response) \(us\), if samples are independent of each other:$
		* ^    ([0-9.]+th [0-9.]+ (to [0-9.]+|or more)(, |,$|$))+
		* ^  Between exchanges: [0-9]+ poll gaps? of 10 us or more, the longest $us us, $us s after the start$
	END
}

directions_template() {
	echo '^$'
	echo '^Directions:$'
	count_line 'Lost forward' '.*'
	count_line 'Lost backward' '.*'
	echo '^$'
	echo "^Reflector's stamps, by its kernel \(T3_KERNEL comes with the next reply\):\$"
	count_line Complete
	folded_line 'Reply lost' '.*'
	folded_line Unknown '.*'
	folded_line Not reported '.*'
	folded_line Mixed '.*'
	folded_line 'At the end' '.*'
	folded_line 'Remote step' '.*'
	echo '^  all others 0$'
}

# The tables of an emitter's report have rows that a reflector's has not, and the other way round.
packets_template() { # e or r
	echo '^Packets:$'
	count_line Sent
	count_line Received
	folded_line Warm-up 'answered, left out of the statistics'
	count_line Recorded
	[ "$1" = r ] || count_line Lost 'no reply within --timeout'
	folded_line Unstamped 'answered, but a stamp is missing: not recorded'
	folded_line Negative 'the clock went back: not recorded'
	folded_line Stepped 'a clock was set in between: not recorded'
	if [ "$1" = e ]; then
		folded_line Unfinished interrupted
		folded_line Closing 'sent after the end, to hear when the last reply left'
		folded_line Answered 'by replies in time'
		folded_line Late 'replies to probes that were given up'
		folded_line Duplicate 'replies that came again'
	else
		folded_line Duplicate 'requests that came again, answered'
	fi
	folded_line Reordered 'received after a later packet'
	if [ "$1" = e ]; then
		folded_line Foreign 'not an answer to a probe of this run'
		folded_line Malformed
		folded_line Unverified 'the HMAC is wrong or missing: not used'
		folded_line 'Bad TLVs' 'of replies: malformed, or marked so'
		folded_line 'Bad HMACs' 'of replies: .*'
	else
		folded_line Foreign "not answered: .*"
		folded_line Malformed
		folded_line Unverified 'the HMAC is wrong or missing: not used'
		folded_line Disallowed 'not answered: .*'
		folded_line 'Too short' 'not answered: .*'
		folded_line 'No session' 'not answered: .*'
		folded_line Replayed 'not answered: .*'
		folded_line 'Over rate' 'not answered: .*'
		folded_line 'Bad TLVs' 'answered, marked as malformed'
		folded_line Unanswered 'the kernel did not take the reply'
	fi
	folded_line Refused 'by the kernel: sends, and errors it reported'
	[ "$1" = r ] || echo '* ^  Outages   :  [0-9]+\.[0-9]{3} s(  \([0-9.]+ % of the run, .* after the start\))?$'
	echo '* ^  Stalled for:  [0-9]+\.[0-9]{3} s  \([0-9.]+ % of the run, .* after the start\)$'
	folded_line 'Dropped by this host' 'our socket had no room, or the checksum was wrong'
	if [ "$1" = e ]; then
		folded_line Strays 'to our port from others than the server, dropped'
	else
		count_line Sessions
		folded_line Evicted 'idle sessions removed for newer sessions'
	fi
	echo '^  all others 0$'
}

# The delay rows of an emitter, after the stages.
delays_template() {
	local row

	echo '^$'
	echo '^Delays \(us\): +Samples +Min +Mean +Median +99th +Max +Stddev$'
	for row in RTT 'Send delay' 'Receive delay' Response Network 'RTT IPDV' 'Send IPDV' 'Receive IPDV' 'Response IPDV' 'Network IPDV'; do
		echo "^  $row +[0-9]+( +[0-9]+\\.[0-9]{3}){4}\\*( +[0-9]+\\.[0-9]{3}){2}\$"
	done
	cat <<-END
		^  \* fewer than ten samples are above it$
		^  Median and 99th of delays are lower edges of at most 0\.010 us$
		* ^  Not in (Send|Receive) delay: [0-9]+ that are negative$
		^  IPDV: between the delays of consecutive probes \(RFC 3393\); median and 99th within 1\.6 %$
		* ^  In no IPDV but that of RTT: .*$
	END
}

traffic_template() {
	local name

	echo '^$'
	echo '^Traffic \(UDP payload, after the warm-up\):$'
	for name in 'To there ' 'From there'; do
		echo "^  $name ?:  [0-9]+ octets in [0-9]+ packets, [0-9]+\\.[0-9] packets/s, [0-9]+ bit/s\$"
	done
	echo '^  Of all probes:  [0-9.]+ % lost( \((>= )?[0-9.]+ % forward, (>= )?[0-9.]+ % backward\))?, [0-9.]+ % late, [0-9.]+ % duplicated$'
}

missing_template() {
	echo '^Missing stamps:( none)?$'
	folded_line Transmit
	folded_line Receive
	folded_line 'Late stamps' 'transmit timestamps after --timeout'
	folded_line 'Duplicated stamps' 'transmit timestamps reported again'
	folded_line Unmatched 'transmit stamps of no packet in flight'
	folded_line Truncated 'control messages'
	folded_line Other 'entries of the error queue, not our stamps'
	echo '* ^  all others 0$'
}

# The line on top, which is quoted.
top_template() { # e or r
	local quoted='[0-9]+\.[0-9]{1,2} us'
	local figures="p50 $quoted, p99\\.9 $quoted, max $quoted \\(#[0-9]+\\) of"

	if [ "$1" = e ]; then
		echo "^RTT $figures 100 samples \\(too few for p99\\.9\\) in [0-9.]+ s, 0 lost: (trusted|doubtful)\$"
	else
		echo "^Response $figures 101 samples \\(too few for p99\\.9\\) in [0-9.]+ s: (trusted|doubtful)\$"
	fi
}

# A reflector's table of stages, without -s.
response_template() {
	local number='[0-9]+' us='[0-9]+\.[0-9]{3}'

	cat <<-END
		^$
		^Stages \(us\): +Samples +Negative +50th +90th +95th +99th +99\.9th +99\.99th +Maximum$
		^  Response +T3_KERNEL - T2_KERNEL( +$number){2}( +$us){2}( +$us\*){4} +$us$
		^  Poll gap        longest of an exchange( +$number){2}( +$us){2}( +$us\*){4} +$us$
		^  \* fewer than ten samples are above it$
		^  95 % intervals of the (round trip|response) \(us\), if samples are independent of each other:$
		* ^    ([0-9.]+th [0-9.]+ (to [0-9.]+|or more)(, |,$|$))+
		* ^  Between exchanges: [0-9]+ poll gaps? of 10 us or more, the longest $us us, $us s after the start$
		^$
		^Delays \(us\): +Samples +Min +Mean +Median +99th +Max +Stddev$
		^  Response +$number( +$us){4}\*( +$us){2}$
		^  Response IPDV +$number( +$us){4}\*( +$us){2}$
		^  \* fewer than ten samples are above it$
		^  IPDV: between the delays of consecutive probes of one session \(RFC 3393\); median and 99th within 1\.6 %$
	END
}

place_template() {
	echo '^$'
	echo '^Measuring thread: CPU [0-9]+, SCHED_OTHER$'
}

# The lines of a report with -H, in order. "* REGEX": any number of such lines.
report_template() {
	local role=$1 latency=$2 number='[0-9]+' p

	top_template "$role"
	cat <<-END
		^Measurement: (trusted|doubtful: .*)$
		* ^Note: tracing is on \(.*\): it changes the measured latencies$
		^$
		^Test is complete\. Duration: [0-9]+\.[0-9]{2} s$
		^$
		^--- Latency Statistics ---$
		^MIN: $number ns \| MAX: $number ns \| AVG: $number ns \| Total Samples: $number$
		^$
		^Histogram Summary:$
		^  Samples   :  $number$
		^  Minimum   :  $number\.[0-9]{2} us \(#$number\)$
		^  Maximum   :  $number\.[0-9]{2} us \(#$number\)$
		^  Average   :  $number\.[0-9]{2} us$
		^  Percentiles \(us\):$
		^    50th    :  $number\.[0-9]{3} \(Median\)$
	END
	for p in '90th   ' '95th   ' '99th   ' '99\.9th ' '99\.99th'; do
		echo "^    $p ?:  $number\\.[0-9]{3}\$"
	done
	cat <<-END
		^    fewer than ten samples are above: 95th, 99th, 99\.9th, 99\.99th$
		^  Std dev   :  $number\.[0-9]{3} us$
		^  Buckets \(us\):$
		* ^  [ 0-9]{8}\.[0-9]{3} - [ 0-9]{8}\.[0-9]{3} : [ 0-9]{12} [ 0-9]{3}\.[0-9]{4}%$
		^  [ 0-9]{8}\.[0-9]{3} -   \(overflow\) : [ 0-9]{12} [ 0-9]{3}\.[0-9]{4}%$
		* ^  [ 0-9]{8}\.[0-9]{3} - [ 0-9]{8}\.[0-9]{3} \| [ 0-9]{12} [ 0-9]{3}\.[0-9]{4}%$
	END
	if [ "$role" = e ]; then
		parts_template
		delays_template
	else
		response_template
	fi
	cat <<-END
		^$
		^Latency: $latency$
		^$
	END
	packets_template "$role"
	[ "$role" = r ] || directions_template
	echo '^$'
	missing_template
	echo '^$'
	echo "^Rate: [0-9]+ $([ "$role" = e ] && echo 'round trips' || echo responses)/s( \\([0-9]+ while answered\\))?\$"
	[ "$role" = r ] || traffic_template
}

report_is() { # name, words of the latency line
	local name=$1 line i=0
	local -a template

	shift
	mapfile -t template < <(report_template "$name" "$*" && place_template)
	while IFS= read -r line; do
		# Past the lines of which there may be none or no more.
		while [[ ${template[i]:-} == '* '* ]] && ! [[ $line =~ ${template[i]#'* '} ]]; do
			i=$((i + 1))
		done
		[[ ${template[i]:-} == '* '* ]] && continue
		if [ "$i" -ge ${#template[@]} ] || ! [[ $line =~ ${template[i]} ]]; then
			complain "report of $name: '$line' is not ${template[i]:-the end}"
			return
		fi
		i=$((i + 1))
	done <"$work/$name.out"
	[ "$i" -eq ${#template[@]} ] || complain "report of $name ends before ${template[i]}"
}

pair 'each line of the report' '0 0' "$K -H" "$K -H --count 100" \
	"@report_is e RTT = T4_KERNEL - T1_KERNEL $KERNEL" "@report_is r RESPONSE = T3_KERNEL - T2_KERNEL $KERNEL"
pair 'without -H there is no histogram' '0 0' "$K" "$K --count 20" 'e.out !~ Histogram|Percentiles|Buckets' \
	'r.out !~ Histogram|Percentiles|Buckets' 'e.out ~ ^  Round trip +T4' 'r.out ~ ^  Response +T3' 'e.out ~ ^MIN: [0-9]+ ns \| MAX: ' 'r.out ~ ^MIN: [0-9]+ ns \| MAX: '
