#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# lab: slow
#
# A NIC's clock that accepts 125 readings a second, as that of ENA does: three emitters on it, none of whose readings is refused, and
# the bounds that they print hold; the same without the limit of the driver, where readings are refused and counted.
#
#   ONLY=REGEX  only the tests whose name matches
set -uo pipefail

if [ -z "${SIMNIC:-}" ]; then
	echo "ok - read_budget # SKIP the module of the simulated NIC was not built"
	exit 0
fi
# shellcheck source=tests/lab/live.sh
. "$TESTS/live.sh"

emitters=(e f g)

# emitters_on_a_clock SECONDS
emitters_on_a_clock() {
	local name

	echo 0 >"$parameters/reads_refused"
	start r b taskset -c 1 "$RANT" --details -i sim1 --stamp hardware --timeout 2000
	poll has_port r
	for name in "${emitters[@]}"; do
		start "$name" a taskset -c 0 "$RANT" --details -s -i sim0 -a "${address[b]}" --stamp hardware --timeout 2000 \
			--interval 20000 --duration "$1" --log "$work/$name.log" --json "$work/$name.json"
	done
	for name in "${emitters[@]}"; do
		finish "$name"
	done
	stop r
	refused=$(<"$parameters/reads_refused")
}

# T1_SW <= T1_HW and T4_HW <= T4_SW by no more than the bound that is printed, in every line that has them.
expect_placed() { # NAME
	local bound

	bound=$(sed -n 's/^  Stages .* within +-\([0-9]*\) ns$/\1/p' "$work/$1.out")
	awk -v bound="${bound:-0}" '
		function ns(t, p) { split(t, p, "."); if (!base) base = p[1]; return (p[1] - base) * 1000000000 + p[2] }
		NR > 2 && $2 != "-" && $3 != "-" && ns($2) > ns($3) + bound { print "T1_SW > T1_HW: " $0 }
		NR > 2 && $4 != "-" && $5 != "-" && ns($4) > ns($5) + bound { print "T4_HW > T4_SW: " $0 }' "$work/$1.log" >"$work/wrong"
	expect "$(wc -l <"$work/wrong")" -eq 0 "$1: records further off than ${bound:-nothing} ns, the first $(head -n 1 "$work/wrong")"
	echo "# $1: stages within ${bound:-nothing} ns"
}

number() { # NAME MEMBER: of the NIC's clock
	grep -o "\"$2\": *[0-9]*" "$work/$1.json" | head -n 1 | grep -o '[0-9]*$'
}

if [[ 'read budget: three emitters on a clock of 125 readings a second' =~ ${ONLY:-.} ]]; then
	begin 'read budget: three emitters on a clock of 125 readings a second'
	set_parameters driver=ena read_budget=125
	emitters_on_a_clock 20
	expect "$refused" -eq 0 'readings that the clock refused'
	for name in "${emitters[@]}"; do
		grep -q '^  It is read at most 100 times a second by all rants together' "$work/$name.out" || complain "$name: no limit"
		expect "$(number "$name" refused_readings)" -eq 0 "$name: refused readings"
		expect "$(number "$name" failed_readings)" -eq 0 "$name: failed readings"
		expect "$(number "$name" readings)" -gt 40 "$name: readings in 20 s"
		echo "# $name: $(number "$name" readings) readings, $(number "$name" left_out) left out"
		expect_placed "$name"
	done
	expect "$(stat -c '%a %u' /run/rant)" = '700 0' 'mode and owner of /run/rant'
	expect "$(stat -c '%a %u' /run/rant/reads-ptp* | sort -u)" = '600 0' 'mode and owner of the files'
	verdict
fi

if [[ 'read budget: the same without a limit' =~ ${ONLY:-.} ]]; then
	begin 'read budget: the same without a limit'
	set_parameters driver=simnic read_budget=125
	emitters_on_a_clock 10
	expect "$refused" -gt 0 'readings that the clock refused'
	all=0
	for name in "${emitters[@]}"; do
		# A clock that refuses from the start has no relation.
		all=$((all + $(number "$name" refused_readings || echo 1)))
	done
	expect "$all" -gt 0 'refused readings that the emitters report'
	echo "# $refused refused reads, $all refused readings reported"
	verdict
fi

together
rmmod simnic
exit "$failed"
