#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The standing reflector as its unit starts it: its command line, in its sandbox.
#
# systemd is not process 1 here, so that the sandbox is made of the unit's own lines by other means. Applied: CapabilityBoundingSet,
# NoNewPrivileges, SystemCallFilter and the other lines that are such filters (sandbox.c), ProtectSystem=strict with ReadWritePaths and
# LogsDirectory, ProtectHome, PrivateTmp,
# ProtectKernelTunables, ProtectControlGroups, the devices (no others are there), limits and UMask. Not applied, for they need systemd or
# take away what the capabilities do already: TasksMax, KeyringMode, RemoveIPC, ProtectHostname, ProtectKernelModules, ProtectKernelLogs,
# RestrictSUIDSGID.
# shellcheck source=tests/link/link.sh
. "$(dirname "$0")/link.sh"

standing_tree=$(readlink -f "$(dirname "${BASH_SOURCE[0]}")/../..")
unit=$standing_tree/systemd/rant-reflect@.service

# unit_words KEY: its values, of all lines.
unit_words() {
	sed -n "s/^$1=//p" "$unit" | xargs
}

# Where the limits may not be raised (CAP_SYS_RESOURCE), the capability to lock memory stands for the limit.
may_limit=
(ulimit -l unlimited) 2>/dev/null || may_limit=:

bounding_set() {
	echo "$(unit_words CapabilityBoundingSet)${may_limit:+ CAP_IPC_LOCK}"
}

# Names of system calls, of groups of them too.
calls_of() {
	local word

	for word in "$@"; do
		case $word in
		@*) # shellcheck disable=SC2046 # words
			calls_of $(systemd-analyze syscall-filter "$word" | sed -n '2,$ s/^ *\([@a-z0-9_-]*\).*/\1/p') ;;
		*) echo "$word" ;;
		esac
	done
}

# The lines in their order: the first says what is allowed, one with a ~ takes out of it. What systemd always allows is @default.
allowed_calls() {
	local line
	local -A allowed=()

	while read -r line; do
		while read -r call; do
			if [[ $line == ~* ]]; then unset "allowed[$call]"; else allowed[$call]=1; fi
		done < <(
			# shellcheck disable=SC2086 # words
			calls_of ${line#\~}
		)
	done < <(echo @default; sed -n 's/^SystemCallFilter=//p' "$unit")
	printf '%s\n' "${!allowed[@]}"
}

# What the program is started by: in a mount namespace of its own. Everything that is needed is copied to where it is seen.
write_jail() {
	local bin

	bin=$(dirname "$(unit_words ExecStart | cut -d' ' -f1)")
	allowed_calls >"$work/calls"
	cat >"$work/jail" <<-END
		set -e
		mount -t tmpfs none $bin
		cp $rant $work/sandbox $work/calls $bin
		mount -t tmpfs none /var/log && mkdir /var/log/rant && mount --bind /var/log/rant /var/log/rant
		mkdir -p $work/dev && mount -t tmpfs none $work/dev
		for node in null zero full random urandom $(sed -n 's|^DeviceAllow=/dev/\([^ ]*\).*|\1|p' "$unit") \$(cd /dev && echo ptp[0-9]*); do
			[ ! -c /dev/\$node ] || { touch $work/dev/\$node && mount --bind /dev/\$node $work/dev/\$node; }
		done
		mount --rbind $work/dev /dev
		for at in /proc/sys $(unit_words ReadWritePaths); do mount --bind \$at \$at; done
		mount -t tmpfs none /tmp && mount -t tmpfs none /var/tmp && mount -t tmpfs none /home && mount -t tmpfs none /root
		awk '{ print \$5 }' /proc/self/mountinfo | while read -r at; do
			case \$at in
			/proc | /dev | /dev/* | $(unit_words ReadWritePaths | sed 's#[^ ]*#& | &/*#g; s#\* /#* | /#g') | /tmp | /var/tmp | /var/log/rant) ;;
			*) mount -o remount,bind,ro "\$at" 2>/dev/null || true ;;
			esac
		done
		$may_limit ulimit -l unlimited
		$may_limit ulimit -r $(unit_words LimitRTPRIO)
		umask $(unit_words UMask) && cd /
		exec setpriv --bounding-set=-all$(bounding_set | sed 's/ *CAP_\([A-Z_]*\)/,+\L\1/g') --inh-caps=-all --no-new-privs \
			$bin/sandbox $bin/calls $(unit_words RestrictAddressFamilies | tr ' ' ,) "\$@"
	END
}

# start_standing OPTIONS: the command line of the unit, for the interface of the pair. A sanitizer looks for leaks by ptrace(2), which the
# sandbox forbids.
start_standing() {
	local -a words

	read -ra words < <(unit_words ExecStart | sed "s/%I/$link_r/; s|\$RANT_OPTIONS|--details $1|")
	start r r taskset -c "$last_cpu" env ASAN_OPTIONS=detect_leaks=0 unshare -m bash "$work/jail" "${words[@]}"
	poll has_port r 862
}

# The capabilities of the unit as /proc tells them.
bounding_mask() {
	local word mask=0
	local -A bit=([CAP_NET_BIND_SERVICE]=10 [CAP_NET_ADMIN]=12 [CAP_NET_RAW]=13 [CAP_IPC_LOCK]=14)

	for word in $(bounding_set); do
		mask=$((mask | 1 << ${bit[$word]:-63}))
	done
	printf '%016x\n' "$mask"
}

answers_in_its_sandbox() {
	local file

	begin 'standing: the reflector of the unit answers in its sandbox and reports its state' || return 0
	start_standing "--stamp kernel --summary-every 1 --log /var/log/rant/r.log --allow $ip_e/32 -H"
	start_emitter e "$K --timeout 5000 -d 2.3"
	wait_for_packets e e 20
	for file in /proc/"$(pid_of r)"/task/*/status; do
		grep -q "^CapBnd:.*$(bounding_mask)" "$file" || complain "not the capabilities of the unit: $(grep CapBnd "$file")"
		grep -q '^NoNewPrivs:.*1' "$file" || complain 'new privileges can be had'
		grep -q '^Seccomp:.*2' "$file" || complain 'there is no filter of system calls'
	done
	[ ! -e /dev/cpu_dma_latency ] || holds r /dev/cpu_dma_latency || complain '/dev/cpu_dma_latency is not open'
	send USR1 r
	finish e
	[ "$(sed -n '$=' "/proc/$(pid_of r)/root/var/log/rant/r.log.partial")" -gt 20 ] || complain 'no log is written'
	terminate r
	for one in '@expect_status r 0' '@expect_status e 0' '@audit e' 'r:Recorded -gt 20' 'r:Disallowed -eq 0' 'r.out ~ ^Report so far' \
		'r.out ~ ^So far: Response p50' 'r.out ~ ^Test is complete' 'r.err !~ not permitted|denied|forbidden|Read-only'; do
		check "$one"
	done
	verdict
}

# So that the test above tests something.
its_sandbox_holds() {
	local -a can=('touch /run/rant-test.$$ && rm /run/rant-test.$$' 'touch /var/log/rant/new' 'cat /dev/null'
		'python3 -c "import socket; socket.socket(socket.AF_INET)"')
	local -a cannot=('touch /usr/new' 'touch /etc/new' 'mknod /run/new c 1 5' 'unshare -n true' 'mount -t tmpfs none /mnt' 'chroot / true'
		'cat /dev/kmsg' 'echo 1 >/proc/sys/kernel/panic' 'setpriv --reuid 65534 true' 'setarch -R true'
		'mkdir /sys/kernel/tracing/instances/rant-test && rmdir /sys/kernel/tracing/instances/rant-test'
		'python3 -c "import socket; socket.socket(socket.AF_UNIX)"' 'python3 -c "import mmap; mmap.mmap(-1, 4096, prot=7)"')

	begin 'standing: the sandbox of the unit forbids what it should and nothing else' || return 0
	# shellcheck disable=SC2016 # it is for that shell
	start t r unshare -m bash "$work/jail" sh -c 'for what; do sh -c "$what" 2>/dev/null && echo "$what"; done' _ "${can[@]}" "${cannot[@]}"
	finish t
	[ "$(cat "$work/t.out")" = "$(printf '%s\n' "${can[@]}")" ] || complain 'it is another list that can be done'
	verdict
}

# ---- Month after month -------------------------------------------------------------------------------------------------

SOAK_S=${SOAK_S:-3} # make soak MINUTES=15: the same for longer
SOAK_ANSWERS=${SOAK_ANSWERS:-0} # make soak COUNT=N: over when so many were given, and a failure where they were not
LOOKS=$((SOAK_S < 180 ? 3 : SOAK_S / 60))
MEMORY_KB=512 # by which it may grow after the first look
SLOWEST=200   # between two looks it answers at least this part of what it did between the first two: others use this machine too

# "kB descriptors threads answers ms" of the reflector, answers by its own account and the clock at the line that tells them.
look_at_standing() {
	local pid

	pid=$(pid_of r)
	echo "$(sed -n 's/^VmRSS:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$pid/status")" "$(find "/proc/$pid/fd" -mindepth 1 | wc -l)" \
		"$(sed -n 's/^Threads:[^0-9]*//p' "/proc/$pid/status")" "$(sed -n 's/^So far: .*; Sent \([0-9]*\);.*/\1/p' "$work/r.out" | tail -1)" \
		"$(date +%s%3N)"
}

has_lines() {
	! is_running r || [ "$(grep -c '^So far: ' "$work/r.out")" -ge "$1" ]
}

# New sessions beside the one that never ends, until the time is over: as many as source ports each time. Then a look. An emitter takes half a
# second, so that of the 1,024 places that a reflector has about 600 are of senders not silent for 10 s yet: none is refused.
sessions_come_and_go() {
	local until=$((SECONDS + $1)) lines

	while [ "$SECONDS" -lt "$until" ]; do
		start_emitter p "$K --timeout 1000 --source-ports 32 --count 1280 --interval 200us -q"
		finish p
		[ "${status[p]}" -eq 0 ] || [ "${status[p]}" -eq 3 ] || complain "an emitter that came and went: status ${status[p]}"
	done
	lines=$(grep -c '^So far: ' "$work/r.out")
	poll has_lines $((lines + 1))
}

# is_flat LOOK, after the look before.
is_flat() {
	local -a now
	local rate

	read -ra now <<<"$*"
	rate=$(((now[3] - before[3]) * 1000 / (now[4] - before[4])))
	first_rate=${first_rate:-$rate}
	echo "# standing: ${now[0]} kB, ${now[1]} descriptors, ${now[2]} threads, ${now[3]} answers, $rate/s"
	[ "${now[0]}" -le $((first_look[0] + MEMORY_KB)) ] || complain "it has ${now[0]} kB, and had ${first_look[0]}"
	[ "${now[1]}" -le "${first_look[1]}" ] || complain "it has ${now[1]} descriptors, and had ${first_look[1]}"
	[ "${now[2]}" -le "${first_look[2]}" ] || complain "it has ${now[2]} threads, and had ${first_look[2]}"
	if [ "$rate" -le 0 ] || [ $((rate * SLOWEST)) -lt "$first_rate" ]; then complain "it answers $rate/s, and at first $first_rate/s"; fi
	before=("${now[@]}")
}

stays_as_it_is() {
	local GUARD_S=$((2 * SOAK_S + 60)) i first_rate=
	local -a first_look before

	begin 'standing: sessions come and go at full rate, and memory, descriptors, threads and rate of the reflector stay as they are' || return 0
	start_reflector r "$K -H --summary-every 1 --allow 10.77.0.0/24 --rate-limit 1000000"
	start_emitter e "$K --timeout 5000 --window 16 --stamp-every 64 -d $((2 * SOAK_S + 30)) --count 4000000000"
	wait_for_packets e e 1000
	sessions_come_and_go 1
	read -ra first_look < <(look_at_standing)
	before=("${first_look[@]}")
	for ((i = 0; i < LOOKS; i++)); do
		sessions_come_and_go $((SOAK_S / LOOKS))
		is_flat "$(look_at_standing)"
		[ "$SOAK_ANSWERS" -eq 0 ] || [ "${before[3]}" -lt "$SOAK_ANSWERS" ] || break
	done
	echo "# standing: ${before[3]} answers in all, $(((before[4] - first_look[4]) / 1000)) s after the first look"
	[ "${before[3]}" -ge "$SOAK_ANSWERS" ] || complain "${before[3]} answers are not the $SOAK_ANSWERS that were asked for"
	is_running e || complain 'the emitter is gone'
	terminate e r
	sed -i '/^So far: /d' "$work/r.out"
	for one in '@expect_status r 0' '@audit e' '@audit r' 'r:Sessions -gt 64' 'r:Disallowed -eq 0'; do
		check "$one"
	done
	verdict
}

stays_as_it_is
if ! command -v systemd-analyze >/dev/null; then
	skip 'standing: the sandbox of the unit' "'systemd-analyze' is not installed"
elif [ ! -e /usr/include/seccomp.h ]; then
	skip 'standing: the sandbox of the unit' 'the header of libseccomp is not installed'
elif ! unshare -m true 2>/dev/null; then
	skip 'standing: the sandbox of the unit' 'no mount namespace can be made here'
else
	make -s -C "$standing_tree" build/sandbox && install -m 755 "$standing_tree/build/sandbox" "$work/sandbox"
	write_jail
	answers_in_its_sandbox
	its_sandbox_holds
fi
