# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034,SC2154
#
# A veth pair between two namespaces, and an emitter and a reflector at its ends. For bench.sh and sweep.sh, which set `work`,
# a folder of their own, and trap EXIT by clean_up.

tag=$$ # of all names
ns_e=rant-bench-$tag-e ns_r=rant-bench-$tag-r
if_e=rbe$tag if_r=rbr$tag
ip_e=192.0.2.1 ip_r=192.0.2.2 # RFC 5737
port=862
work='' pid_e='' pid_first='' pid_r=''
slot=e        # of the files that have the emitter's output
repeatable='' # not empty: a failed run gives no figures and is not an error
undo=()

die() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

# Prints and runs each change to the machine.
change() {
	printf '+ %s\n' "$*" >&2
	"$@"
}

# Schedules a command for the end; the last scheduled command runs first.
defer() {
	undo=("${*@Q}" "${undo[@]}")
}

end_process() {
	[[ $1 ]] || return 0
	kill -TERM "$1" 2>/dev/null || true
	wait "$1" 2>/dev/null || true
}

clean_up() {
	local status=$? step

	trap '' INT TERM HUP
	set +e
	end_process "$pid_first"
	end_process "$pid_e"
	end_process "$pid_r"
	for step in "${undo[@]}"; do
		eval "$step"
	done
	exit "$status"
}

have() {
	command -v "$1" >/dev/null
}

# ---- Set-up -----------------------------------------------------------------------------------------------------------

# Takes the CPUs of CPUS, or the first two that this shell may use.
choose_cpus() {
	local allowed part cpu cpus=()

	if [[ ${CPUS:-} ]]; then
		read -r cpu_e cpu_r <<<"$CPUS"
		[[ $CPUS =~ ^[0-9]+\ [0-9]+$ && $cpu_e != "$cpu_r" ]] ||
			die "CPUS is two CPUs, of emitter and reflector, as '3 2', not '$CPUS'"
		return
	fi
	allowed=$(taskset -cp $$)
	IFS=, read -ra part <<<"${allowed##*: }"
	for cpu in "${part[@]}"; do
		mapfile -t -O ${#cpus[@]} cpus < <(seq "${cpu%-*}" "${cpu#*-}")
	done
	((${#cpus[@]} > 1)) || die "two loops that never sleep need two CPUs, and this shell may use only CPU ${cpus[0]}"
	cpu_e=${cpus[0]} cpu_r=${cpus[1]}
}

make_network() {
	local end ns interface address

	for end in "$ns_e" "$ns_r"; do
		change ip netns add "$end"
		defer change ip netns delete "$end"
		change ip -n "$end" link set lo up
	done
	# The pair goes with its namespaces.
	change ip link add "$if_e" netns "$ns_e" type veth peer name "$if_r" netns "$ns_r"
	for end in "$ns_e $if_e $ip_e" "$ns_r $if_r $ip_r"; do
		read -r ns interface address <<<"$end"
		change ip -n "$ns" link set "$interface" addrgenmode none up
		change ip -n "$ns" address add "$address/24" dev "$interface"
	done
	net_r=$(ip netns exec "$ns_r" readlink /proc/self/ns/net)
}

# ---- A run --------------------------------------------------------------------------------------------------------------

# By process id, so that only processes started here are ever ended. taskset and ip replace themselves by the command.
start_emitter() {
	ip netns exec "$ns_e" taskset -c "$cpu_e" "$@" >"$work/$slot.out" 2>"$work/$slot.err" &
	pid_e=$!
}

start_reflector() {
	local listening
	printf -v listening ':%04X ' "$port"

	ip netns exec "$ns_r" taskset -c "$cpu_r" "$@" >"$work/r.out" 2>"$work/r.err" &
	pid_r=$!
	for _ in {1..500}; do
		[[ -d /proc/$pid_r ]] || break
		if [[ $(readlink "/proc/$pid_r/ns/net") == "$net_r" ]] &&
			grep -q "$listening" "/proc/$pid_r/net/udp" 2>/dev/null; then
			return
		fi
		sleep 0.01
	done
	die "the reflector did not start: $* : $(tail -n 1 "$work/r.err")"
}

stop_reflector() {
	end_process "$pid_r"
	pid_r=''
}

# 3 is rant's own doubt in its numbers. Where a run may be repeated, a failed run has no rate.
wait_for_emitter() {
	local status=0

	wait "$pid_e" || status=$?
	pid_e=''
	((status == 0 || status == 3)) || [[ $repeatable ]] || die "the emitter failed ($status): $(tail -n 1 "$work/e.err")"
}
