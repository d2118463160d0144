# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154
#
# For tests on the simulated NIC, which source it: guest.sh, both devices in their namespaces, runs of both programs with
# --stamp hardware, and their comparison with the truth. Without the module's NIC they are skipped. Before, these are set:
#   family=NAME             what the names of all tests begin with
#   truth=PROGRAM           of this folder, that compares
#   emitter_options=(...)   of every emitter that start_pair starts
#   step_check=''           where the times of user space mean something; else --no-step-check
#   devices=3               sim2 is wanted too
#   is_ready=FUNCTION       of "r": it has opened all that it needs; else has_port
#   server=ADDRESS          of the reflector; else its IP address
#   on_old=REGEX            the cases that depend on the kernel, which the older one runs; else all
#
#   add_ipv6                address6[a] and address6[b] too
#   pair NAME "PARAMETERS" "R_ARGUMENTS" "E_ARGUMENTS" EXPECTATION...
#   ONLY=REGEX, SELF=1      see test_simnic.sh

if [ -z "${SIMNIC:-}" ]; then
	echo "ok - $family # SKIP the module of the simulated NIC was not built"
	exit 0
fi
# shellcheck source=tests/lab/guest.sh
. "$(dirname "${BASH_SOURCE[0]}")/guest.sh"

parameters=/sys/module/simnic/parameters
self=${SELF:-0}
step_check=${step_check---no-step-check}
declare -A told=()

# Each case once: those that are not slow are left to the quick tests, and most to the newest kernel.
wanted() {
	[[ $1 =~ ${ONLY:-.} ]] || return 1
	[ "$FLAVOUR" != old ] || [[ $1 =~ ${on_old:-.} ]] || return 1
	[ -z "${REST:-}" ] || [ -n "${SLOW:-}" ]
}

# Faults off, and all as after loading.
reset() {
	local pair

	for pair in port=862 authenticated=N epoch_ns=1600000000000000000 period_ns=100000 live=N before_ns=0 wire_ns=1000 wire_back_ns=-1 \
		response_ns=5000 after_ns=0 vary_stage=1 vary_steps=0 vary_ns=1 from=0 directions=3 alternate=N spike_every=0 \
		spike_ns=0 spike_stage=1 drop_every=0 drop_reply=0 dup_every=0 reorder_every=0 hold_ms=1000 tx_stamp_missing_every=0 \
		tx_stamp_late_every=0 late_us=0 tx_stamp_twice_every=0 tx_stamp_delay_us=0 rx_stamp_missing_every=0 \
		stamp_slots=0,0,0 filter_all=Y filter_dead=0,0,0 rx_only=N has_phc=Y phc_unreadable=N phc_offset_ns=0,0,0 drift_ppb=0,0,0 third_ns=0 step_at=-1 step_ns=0 step_where=0 step_times=1 \
		read_error_every=0 read_error=16 read_budget=0 \
		quantum=1 stale=0 stale_on=3 back_ns=0 constant=0 ns_per_kilo_octet=0 completion_per_kilo_octet=0; do
		echo "${pair#*=}" >"$parameters/${pair%%=*}"
	done
	told=()
}

set_parameters() {
	local pair

	for pair in "$@"; do
		echo "${pair#*=}" >"$parameters/${pair%%=*}" || complain "cannot set $pair"
		told[${pair%%=*}]=${pair#*=}
	done
}

declare -A index=([a]=0 [b]=1 [c]=2)
as=() # words before the reflector's command

declare -A states=() probes=() # of the NICs, and how many probes had been sent, by the name of a moment

# Lines "DEVICE NAME: VALUE" of all, as ethtool has them too: see the test of that. No program is started: that takes 0.1 s beside two that spin.
take_counters() { # MOMENT
	read -rd '' "states[$1]" <"$parameters/state" || true
	[[ ${states[$1]} =~ (^|$'\n')0\ stamp_probes_sent:\ ([0-9]+) ]]
	probes[$1]=${BASH_REMATCH[2]}
	printf '%s\n' "${states[$1]}" >"$work/$1"
}

# shellcheck disable=SC2317 # by poll
has_sent() { # [N]: more than N probes
	take_counters now
	[ "${probes[now]}" -gt $((probes[before] + ${1:-0})) ]
}

setting_of() { # SIDE: "tx_type rx_filter"
	local state i=${index[$1]}

	read -rd '' state <"$parameters/state" || true
	[[ $state =~ (^|$'\n')$i\ tx_type:\ ([0-9]+)$'\n'$i\ rx_filter:\ ([0-9]+) ]]
	echo "${BASH_REMATCH[2]} ${BASH_REMATCH[3]}"
}

# In the wrong world of SELF=1 every setting is expected to be another one.
expect_setting() { # SIDE SETTING WHEN
	[ "$self" = 0 ] || set -- "$1" '9 9' "$3"
	expect "$(setting_of "$1")" = "$2" "setting of ${link[$1]} $3"
}

set_nic() { # SIDE "TX RX"
	[ "$(setting_of "$1")" = "$2" ] || at "$1" hwstamp_ctl -i "${link[$1]}" -t "${2% *}" -r "${2#* }" >/dev/null
}

# start_pair "R_ARGUMENTS" "E_ARGUMENTS"
start_pair() {
	local -a words

	take_counters before
	read -ra words <<<"$1"
	# The count is never reached, however fast the machine is: it makes the log small, which would fill a quarter of the memory.
	start r b "${as[@]}" taskset -c 1 "$RANT" --details -i sim1 --stamp hardware ${step_check:+"$step_check"} --log "$work/r.log" --count 1000000 "${words[@]}"
	poll "${is_ready:-has_port}" r
	read -ra words <<<"$2"
	start e a taskset -c 0 "$RANT" --details -i sim0 -a "${server:-${address[b]}}" --stamp hardware ${step_check:+"$step_check"} --log "$work/e.log" \
		"${emitter_options[@]}" "${words[@]}"
}

# The reflector has read what was delivered: with thousands in flight a slow guest has some of it in the socket when the emitter is gone.
# Not for long, for a test may keep it from reading.
wait_for_reflector() {
	local i

	# shellcheck disable=SC2016 # for awk
	for ((i = 0; i < 100; i++)); do
		at b awk 'FNR > 1 && $5 !~ /:00000000$/ { exit 1 }' /proc/net/udp /proc/net/udp6 && return
		pause 0.1
	done
}

# After the emitter.
finish_reflector() {
	wait_for_reflector
	stop r
	take_counters after
}

# compare EXPECTATION...: with the truth; this ends the test.
compare() {
	local name
	local -a words=("SELF=$self")

	for name in "${!told[@]}"; do
		words+=("$name=${told[$name]}")
	done
	judged_outside "$truth" "${words[@]}" -- "$@"
}

# pair NAME "PARAMETERS" "R_ARGUMENTS" "E_ARGUMENTS" EXPECTATION...: a run of both, and its whole comparison. STATUS_E and
# STATUS_R are the exit statuses that are expected.
pair() {
	local name=$1 arguments_r=$3 arguments_e=$4
	local -a words

	read -rd '' -a words <<<"$2"
	shift 4
	wanted "$name" || return 0
	begin "$family: $name"
	reset
	set_parameters "${words[@]}"
	set_nic a '0 0'
	set_nic b '0 0'
	start_pair "$arguments_r" "$arguments_e"
	finish e
	finish_reflector
	expect_status e "${STATUS_E:-0}"
	expect_status r "${STATUS_R:-0}"
	expect_setting a '0 0' after
	expect_setting b '0 0' after
	compare "$@"
}

# With both clocks at the time of day.
open_simnic() {
	insmod "$SIMNIC" ${devices:+devices="$devices"} || {
		echo "not ok - $family: the module loads"
		exit 1
	}
	apart sim0 sim1
}

declare -A address6=([a]=2001:db8:78::1 [b]=2001:db8:78::2)

# As their IPv4 addresses. The kernel still sends a few packets of its own, which are no STAMP packets.
add_ipv6() {
	local side other

	for side in a b; do
		[ "$side" = a ] && other=b || other=a
		at "$side" sh -c "echo 1 >/proc/sys/net/ipv6/conf/${link[$side]}/addr_gen_mode; echo 0 >/proc/sys/net/ipv6/conf/${link[$side]}/disable_ipv6"
		at "$side" ip address add "${address6[$side]}/64" dev "${link[$side]}" nodad
		at "$side" ip neigh replace "${address6[$other]}" lladdr "$(mac_of "$other")" nud permanent dev "${link[$side]}"
	done
}

close_simnic() {
	together
	rmmod simnic
}

open_simnic
