#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# bench/sweep.sh: the line of a rate from a report, the knee from such lines, and refused arguments; nothing is measured.
# Prints "ok - NAME", "not ok - NAME" and lines that begin with "# ". Exit status 1 when anything failed.
# Text in single quotes is for the inner shell.
# shellcheck disable=SC2016
set -uo pipefail
export LC_ALL=C

cd "$(dirname "$0")/.." || exit 1
family=sweep
# shellcheck source=tests/judge.sh
. tests/judge.sh
sweep=tests/bench/sweep.sh
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# One function of the script, with its standard input.
of_sweep() {
	bash -c '. "$1" && "${@:2}"' test "$sweep" "$@"
}

# ---- The knee ---------------------------------------------------------------------------------------------------------

# knee_is NAME WANT LINE...
knee_is() {
	is "$1" "$2" "$(printf '%s\n' "${@:3}" | of_sweep knee)"
}

low='1000 1000 3000 7.1 8.000 9.1 20.000 0.0000 0.0000'
good='5000 4950 14850 6.1 16.000 19.1 25.000 0.0000 1.0000'
header='rate/s reached/s samples 50th us 99th us 99.9th us maximum us lost % missed %'

knee_is 'a rate that was not reached ends it' 'Knee: 5000/s. At 10000/s 9899/s were reached, 99.0 %' \
	"$header" "$low" "$good" '10000 9899 1 6 8 9 20 0.0000 0.0000' '20000 9900 1 6 8 9 20 0.0000 50.0'
knee_is 'so does a loss' 'Knee: 5000/s. At 10000/s 0.0100 % were lost' "$low" "$good" '10000 10000 1 6 8 9 20 0.0100 0.0000'
knee_is 'that may be tiny' 'Knee: 5000/s. At 10000/s <0.0001 % were lost' "$low" "$good" '10000 10000 1 6 8 9 20 <0.0001 0.0000'
knee_is 'so does a 99th percentile' 'Knee: 5000/s. At 10000/s the 99th percentile is 16.001 us, 2.0 times that of the lowest rate' \
	"$low" "$good" '10000 10000 1 6 16.001 19 20 0.0000 0.0000'
knee_is 'all that failed is told' \
	'Knee: 1000/s. At 5000/s 4000/s were reached, 80.0 %; 2.0000 % were lost; the 99th percentile is 80 us, 10.0 times that of the lowest rate' \
	"$low" '5000 4000 1 6 80 90 95 2.0000 20.0000'
knee_is 'missed slots alone are no fault' 'Knee: none up to 5000/s: give higher RATES' "$low" "$good"
knee_is 'the lowest rate fails' 'Knee: below 1000/s, where 989/s were reached, 98.9 %' '1000 989 1 6 8 9 20 0.0000 1.1000'
knee_is 'a higher rate without a fault is told' \
	$'Knee: 1000/s. At 5000/s 1.0000 % were lost\nAbove it there is no fault at 10000 20000: was the machine disturbed?' \
	"$low" '5000 5000 1 6 8 9 20 1.0000 0.0000' '10000 10000 1 6 8 9 20 0.0000 0.0000' '20000 20000 1 6 8 9 20 0.0000 0.0000'
knee_is 'what is not known holds for nothing' \
	'Knee: 1000/s. At 5000/s no rate is known; the loss is not known; the 99th percentile is not known (-)' \
	"$low" '5000 - - - - - - - -'
knee_is 'nor does a bound' 'Knee: 1000/s. At 5000/s the 99th percentile is not known (>9.000)' "$low" '5000 5000 1 6 >9.000 >9 20 0.0000 0.0000'
knee_is 'nor is there a knee without a first percentile' 'Knee: below 1000/s, where the 99th percentile is not known (-)' \
	'1000 1000 1 6 - 9 20 0.0000 0.0000' "$good"
knee_is 'no line at all' 'Knee: not known: there is no line of a rate' "$header" '' '1000 is no line'

# ---- The line of a rate -------------------------------------------------------------------------------------------------

# report LOST P99
report() {
	cat <<END
Test is complete. Duration: 1.00 s

--- Latency Statistics ---
MIN: 3905 ns | MAX: 12152675 ns | AVG: 17515 ns | Total Samples: 29264

Histogram Summary:
  Samples   :  29264
  Percentiles (us):
    50th    :  4.257 (Median)
    95th    :  4.987
    99th    :  $2
    99.9th  :  8049.192
    99.99th :  12070.643

Schedule: a probe every 10.000 us; pacing: hybrid
  Slots     :  100000
  Missed    :  70734  (70.734 %: the probe before was not over, or this thread had no CPU)

Packets:
  Sent      :  29267
  Recorded  :  29264
  Lost      :  $1
  Closing   :  1  (sent after the end, to hear when the last reply left)

Rate: 29250 round trips/s
END
}

# row_is NAME WANT <REPORT: the fields of the line.
row_is() {
	is "$1" "$2" "$(of_sweep row_of 100000 | tr -s ' ' | sed 's/^ //')"
}

row_is 'each figure has its place' '100000 29250 29264 4.257 6.230 8049.192 12152.675 0.0000 70.7340' < <(report 0 6.230)
row_is 'the closing probe cannot be lost' '100000 29250 29264 4.257 6.230 8049.192 12152.675 25.0000 70.7340' \
	< <(report 1 6.230 | sed 's/29267/5/')
row_is 'a loss is never printed as none' '100000 29250 29264 4.257 6.230 8049.192 12152.675 <0.0001 70.7340' \
	< <(report 1 6.230 | sed 's/29267/29267000/')
row_is 'a percentile that is a bound' '100000 29250 29264 4.257 >100.000 8049.192 12152.675 0.0000 70.7340' < <(report 0 '>= 100.000')
row_is 'what is not told is no number' '100000 - - - - - - - -' < <(echo '  Sent      :  0')
is 'no report at all' 'failed' "$(echo nothing | of_sweep row_of 1000 || echo failed)"

# ---- Input --------------------------------------------------------------------------------------------------------------

# refuses NAME MESSAGE ENVIRONMENT ARGUMENT...: one line and status 1, before anything is changed.
refuses() {
	local name=$1 want=$2 given=$3 got

	got=$(env ${given:+"$given"} "$sweep" "${@:4}" 2>&1)
	is "refused: $name" "1 sweep.sh: $want" "$? $got"
}

usage='usage: [HOST=ADDRESS] sweep.sh [RANT] [-i IFACE] [--stamp SOURCE] [-- OPTION...]'
refuses 'an option' "'--speed' is not known: $usage" '' ./rant --speed
refuses 'a second program' "'./rant' is not known: $usage" '' ./rant ./rant
refuses '-i without a value' "-i has no value: $usage" HOST=192.0.2.9 ./rant -i
refuses '--stamp before another option' "--stamp has no value: $usage" '' --stamp --
refuses 'a source' "--stamp is 'phy': give hardware, kernel or user" '' --stamp phy
refuses 'an interface without a host' '-i is for HOST=ADDRESS: without it there is a veth pair' '' -i lo
refuses 'a host without an interface' 'HOST needs -i IFACE' HOST=192.0.2.9 ./rant
for given in 0 01 1.5 3601 x -1 9999999999 ' '; do
	refuses "SECONDS_EACH=$given" "SECONDS_EACH is '$given': give a whole number from 1 to 3600" SECONDS_EACH="$given"
done
for given in 0 1000001 1k 010 9999999999 '1;2'; do
	refuses "RATES=$given" "RATES: '$given' is no whole number from 1 to 1000000" RATES="$given"
done
refuses 'no rates' 'RATES are 0: give 1 to 100' RATES=
refuses 'too many rates' 'RATES are 101: give 1 to 100' RATES="$(seq -s ' ' 101)"
refuses 'rates that fall' 'RATES: 10 comes after 20: give them growing' 'RATES=20 10'
refuses 'a rate twice' 'RATES: 20 comes after 20: give them growing' 'RATES=20 20'
refuses 'a program that there is not' "$work/rant: not there or not executable: run 'make' first, or give its path" \
	HOST=192.0.2.9 "$work/rant" -i lo
refuses 'a folder' "$work: not there or not executable: run 'make' first, or give its path" HOST=192.0.2.9 "$work" -i lo
REFLECTOR=--plain refuses 'options of a reflector elsewhere' \
	'REFLECTOR is for the reflector that is started here: give its options at 192.0.2.9' HOST=192.0.2.9 ./rant -i lo

exit "$failed"
