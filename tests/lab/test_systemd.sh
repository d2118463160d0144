#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# lab: slow
#
# The unit of a standing reflector under systemd itself, with udev, as process 1 of a process namespace: that it starts with its interface,
# answers, tells what it has measured, starts again, and goes with its interface; and that it does what docs/standing.md gives it lines for.
set -uo pipefail
# shellcheck source=tests/lab/guest.sh
. "$TESTS/guest.sh"

if [ ! -x /lib/systemd/systemd ]; then
	echo 'ok - systemd # SKIP it is not installed'
	exit 0
fi
tree=$TESTS/../..
unit=rant-reflect@v1.service
drop_ins=/run/systemd/system/$unit.d
near=v0 stamps=kernel # of the emitter
manager=

# ---- systemd -----------------------------------------------------------------------------------------------------------

# Of udev what tells systemd of devices: its other rules rename interfaces and load modules. Nothing of what else would be started.
furnish() {
	local file

	cp -r "$UDEV"/bin/. /bin/ 2>/dev/null
	cp -r "$UDEV"/lib/systemd/. /lib/systemd/ 2>/dev/null
	mkdir -p /etc/rant
	find /lib/udev/rules.d/ -type f ! -name 99-systemd.rules -delete
	rm -rf /etc/systemd/system/* /lib/systemd/system/*.wants
	cp "$RANT" /usr/local/bin/rant
	cp "$tree/systemd/rant-reflect@.service" /etc/systemd/system/
	for file in sysinit basic; do
		printf '[Unit]\nDescription=%s\n' "$file" >"/etc/systemd/system/$file.target"
	done
	cat >/etc/systemd/system/lab.target <<-END
		[Unit]
		Description=lab
		Requires=systemd-udevd.service systemd-journald.service
		After=systemd-udevd.service systemd-journald.service
	END
	: >/etc/machine-id
	mount -t cgroup2 none /sys/fs/cgroup
}

boot() {
	local -a command=(/lib/systemd/systemd --system --unit=lab.target --show-status=no)

	unshare --pid --fork --mount-proc --mount --propagation private --cgroup \
		env -i container=lab PATH="$PATH" "${command[@]}" >"$RESULTS/systemd.log" 2>&1 </dev/null &
	pid[systemd]=$!
	poll test -S /run/systemd/private
	manager=$(pgrep -P "${pid[systemd]}")
	poll is lab.target active
}

# Its tools talk to it from inside only.
of_systemd() {
	nsenter --target "$manager" --pid --mount --cgroup "$@"
}

# shellcheck disable=SC2317 # by poll
is() { # UNIT STATE
	[ "$(of_systemd systemctl is-active "$1" 2>/dev/null)" = "$2" ]
}

show() { # PROPERTY
	of_systemd systemctl show -P "$1" "$unit"
}

said() { # since the last call of forget()
	of_systemd journalctl --no-pager -o cat -u "$unit" --since "@$since"
}

forget() {
	since=$(date +%s)
}

# shellcheck disable=SC2317 # by poll
answers() {
	[[ $(<"/proc/$manager/net/udp") == *:035E\ * ]]
}

# shellcheck disable=SC2317 # by poll
has_said() {
	said | grep -Eq -- "$1"
}

# holds DEVICE: its program has it open.
holds() {
	local interface=${unit#*@}

	find "/proc/$(pgrep -f "^/usr/local/bin/rant -i ${interface%.service} ")/fd" -lname "$1" | grep -q . || complain "$1 is not open"
}

expect_said() { # REGEX
	poll has_said "$1" || said >"$work/journal.out"
}

# ---- Its interface -------------------------------------------------------------------------------------------------------

# v1 is where systemd is.
add_link() {
	ip link add v1 type veth peer name v0 netns a
	ip address add "${address[b]}/24" dev v1
	ip link set v1 up
	at a ip address add "${address[a]}/24" dev v0
	at a ip link set v0 up
}

# probe N WORD...
probe() {
	start e a "$RANT" --details -i "$near" --stamp "$stamps" --timeout 2000 --count "$1" "${@:2}"
	finish e
	expect_status e 0
	expect "$(row e Recorded)" -eq "$1" 'recorded'
}

furnish
ip netns add a
forget

begin 'systemd: enabled, it starts when its interface appears, and answers'
boot
echo 'RANT_OPTIONS="--stamp kernel"' >/etc/rant/reflect-v1.conf
of_systemd systemctl enable "$unit" >"$work/enable.out" 2>&1 || complain 'it cannot be enabled'
of_systemd systemctl daemon-reload
add_link
poll is "$unit" active
poll answers
probe 200 -a "${address[b]}"
[ ! -e /dev/cpu_dma_latency ] || holds /dev/cpu_dma_latency
expect "$(show NRestarts)" -le 1 'restarts: the interface may be down at first'
verdict

begin 'systemd: SIGUSR1 tells the report so far'
main=$(show MainPID)
forget
of_systemd systemctl kill -s USR1 "$unit"
expect_said '^  Recorded +: +20[01]$' # with the probe that tells of the last reply, or without
expect "$(show MainPID)" = "$main" 'it goes on'
verdict

# shellcheck disable=SC2317 # by poll
runs_anew() { # MAINPID
	local now

	now=$(show MainPID)
	[ "$now" != 0 ] && [ "$now" != "$1" ] && is "$unit" active && answers
}

begin 'systemd: what is killed starts again'
of_systemd systemctl kill -s KILL "$unit"
poll runs_anew "$main"
probe 20 -a "${address[b]}"
expect "$(show NRestarts)" -ge 1 'restarts'
verdict

begin 'systemd: a stop is a report, and no failure'
forget
of_systemd systemctl stop "$unit"
expect_said '^Test is complete'
expect_said '^Answered: (2[01]) of \1 requests'
expect "$(show ActiveState) $(show Result)" = 'inactive success' 'how it ended'
verdict

# shellcheck disable=SC2317 # by poll
has_restarted() {
	[ "$(show NRestarts)" -ge "$1" ]
}

# More often than systemd bears without being told, and quicker than the unit does it.
begin 'systemd: an interface that is down is waited for, however long it is'
mkdir -p "$drop_ins"
printf '[Service]\nRestartSec=100ms\n' >"$drop_ins/lab.conf"
of_systemd systemctl daemon-reload
ip link set v1 down
of_systemd systemctl restart "$unit"
poll has_restarted 12
ip link set v1 up
poll answers
probe 20 -a "${address[b]}"
of_systemd systemctl stop "$unit"
verdict

# ---- The lines of docs/standing.md ---------------------------------------------------------------------------------------

lines_for() { # OPTION
	# shellcheck disable=SC2016 # these are signs
	grep -F "| \`$1\`" "$tree/docs/standing.md" | sed 's/.* | \(.*\) |$/\1/' | grep -o '`[^`]*`' | tr -d '`'
}

# start_with ROW OPTIONS: with the lines of that row of the page.
start_with() {
	begin "systemd: $1"
	mkdir -p "$drop_ins"
	{ echo '[Service]' && lines_for "$1"; } >"$drop_ins/lab.conf"
	expect "$(wc -l <"$drop_ins/lab.conf")" -ge 2 'lines on the page'
	echo "RANT_OPTIONS=\"$2\"" >/etc/rant/reflect-v1.conf
	forget
	of_systemd systemctl daemon-reload
	of_systemd systemctl restart "$unit"
}

# It and its report, and what it says where that was not as it should be.
end() {
	of_systemd systemctl stop "$unit"
	expect_said '^Test is complete'
	[ ${#complaints[@]} -eq 0 ] || said >"$work/journal.out"
	verdict
}

# shellcheck disable=SC2317 # by poll
has_ethertype() {
	[[ $(<"/proc/$manager/net/packet") == *\ 88f7\ * ]]
}

start_with '--transport l2' '--stamp kernel --transport l2'
poll has_ethertype
probe 20 -a "$(cat /sys/class/net/v1/address)" --transport l2
end

instance=/sys/kernel/tracing/instances/rant
start_with -T '--stamp kernel -T -t 1 -C'
poll answers
probe 20 -a "${address[b]}"
expect "$(grep -c 'tracing_mark_write: ' $instance/trace)" -ge 1 'marks in the trace'
end
rmdir $instance

start_with '--user NAME' '--stamp kernel --user nobody'
poll answers
probe 20 -a "${address[b]}"
expect "$(stat -c %U "/proc/$(pgrep -f '^/usr/local/bin/rant -i v1')")" = nobody 'its user'
end

# Debian's kernel asks for CAP_SYS_ADMIN above that.
paranoid=$(</proc/sys/kernel/perf_event_paranoid)
echo 2 >/proc/sys/kernel/perf_event_paranoid
start_with --pmc '--stamp kernel --pmc'
poll answers
probe 20 -a "${address[b]}"
end
echo "$paranoid" >/proc/sys/kernel/perf_event_paranoid

# ---- The clock of a NIC --------------------------------------------------------------------------------------------------

far_setting() {
	hwstamp_ctl -i sim1 | awk '$1 == "tx_type" { t = $2 } $1 == "rx_filter" { print t, $2 }'
}

# sim1 is where systemd is.
with_clock() {
	local unit=rant-reflect@sim1.service near=sim0 stamps=hardware

	begin 'systemd: it has the clock of the NIC in its sandbox, and puts its setting back'
	insmod "$SIMNIC" period_ns=0 live=Y wire_ns=1000 wire_back_ns=1000 response_ns=0 || complain 'the module of the simulated NIC does not load'
	ip link set sim0 netns a
	at a ip address add 10.79.0.1/24 dev sim0
	at a ip link set sim0 up
	ip address add 10.79.0.2/24 dev sim1
	ip link set sim1 up
	hwstamp_ctl -i sim1 -t 0 -r 0 >/dev/null
	echo 'RANT_OPTIONS="--stamp hardware"' >/etc/rant/reflect-sim1.conf
	forget
	of_systemd systemctl start "$unit"
	poll answers
	probe 20 -a 10.79.0.2
	holds '/dev/ptp*'
	expect "$(far_setting)" = '1 1' 'setting of the NIC while it runs'
	of_systemd systemctl stop "$unit"
	expect "$(far_setting)" = '0 0' 'setting of the NIC after it'
	end
}

if [ -n "${SIMNIC:-}" ]; then
	with_clock
else
	echo 'ok - systemd: the clock of a NIC # SKIP the module of the simulated NIC was not built'
fi

# ---- Its interface goes ---------------------------------------------------------------------------------------------------

# The program sees it as soon as systemd: it is stopped before it has failed, or after.
# shellcheck disable=SC2317 # by poll
has_gone() {
	is "$unit" inactive || is "$unit" failed
}

begin 'systemd: it goes with its interface, and comes with it'
rm -rf "$drop_ins"
echo 'RANT_OPTIONS="--stamp kernel"' >/etc/rant/reflect-v1.conf
of_systemd systemctl daemon-reload
of_systemd systemctl restart "$unit"
poll answers
ip link del v1
poll has_gone
add_link
poll is "$unit" active
poll answers
probe 20 -a "${address[b]}"
verdict

kill -KILL "$manager"
ip netns del a
exit "$failed"
