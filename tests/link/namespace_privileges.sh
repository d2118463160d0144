#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Privileges during a measurement: capabilities, user, system call filter (seccomp).
# build: plain: a sanitizer needs system calls and files that the program gives up
# shellcheck source=tests/link/link.sh
. "$(dirname "$0")/link.sh"

NONE="0000000000000000" SOMEBODY="65534"

has_filter() {
	grep -q 'libseccomp[.]so' "$rant"
}

# PROGRAM FIELD VALUE [TASK]: of /proc/PID/status; all threads, or the measuring one.
status_is() {
	local pid file

	pid=$(pid_of "$1")
	for file in /proc/"$pid"/task/${4:-*}/status; do
		[ "$(awk -v f="$2:" '$1 == f { print $2 }' "$file" 2>/dev/null)" = "$3" ] ||
			complain "$1: $(grep "^$2:" "$file" 2>/dev/null) in $file, not $3"
	done
}

# Both run, and are looked at by `look NAME` in the middle.
while_running() { # LOOK REFLECTOR_ARGUMENTS EMITTER_ARGUMENTS
	local name

	as=${as_r:-} start_reflector r "$2"
	as=${as_e:-} start_emitter e "--timeout 5000 --count 1000000 $3"
	wait_for_packets e e 50
	for name in e r; do
		$1 "$name"
	done
	terminate e r
	check '@expect_status e 0'
	check '@expect_status r 0'
	check '@audit e'
	check '@audit r'
}

is_bare() {
	local field

	for field in CapEff CapPrm CapInh CapAmb CapBnd; do
		status_is "$1" $field "$NONE"
	done
	status_is "$1" NoNewPrivs 1
	[ -n "$(loop_of "$1")" ] || complain "$1: there is no thread of the name rant-loop"
	! has_filter || status_is "$1" Seccomp "${seccomp:-2}" "$(loop_of "$1")"
}

bare() { # NAME ARGUMENTS
	begin "$1" || return 0
	while_running is_bare "$2" "$2"
	check '@logs_join'
	check 'e.err !~ filter'
	verdict
}
bare 'privileges: root with kernel timestamps measures without capabilities, under seccomp' "$K -s -l LOG"
bare 'privileges: the same with user timestamps too' "$K -s -H -l LOG -t 60000000 -C"
seccomp=0 bare 'privileges: user timestamps only: no capabilities, and no seccomp, whose time would be in them' "$U -H -l LOG"

# Threads without capabilities share memory and sockets with the thread that has some.
is_closed() {
	local user looked

	for user in $SOMEBODY 65533; do
		looked=$(setpriv --reuid="$user" --regid="$user" --clear-groups "$work/look_into" "$(pid_of "$1")" 2>&1)
		[ "$looked" = 'attached=0 memory=0 descriptors=0' ] || complain "user $user looks into $1: $looked"
	done
}

not_looked_into() {
	begin "privileges: only root can read the memory of the process: $1" || return 0
	make -s -C "$(dirname "$0")/../.." build/look_into && install -m 755 "$(dirname "$0")/../../build/look_into" "$work/look_into"
	as_r=${as:-} as_e=${as:-} while_running is_closed "$2" "$3"
	verdict
}

# ---- Another user ----------------------------------------------------------------------------------------------------

is_somebody() {
	is_bare "$1"
	status_is "$1" Uid "$SOMEBODY"
	status_is "$1" Gid "$(id -g nobody)"
}

becomes_nobody() {
	begin 'privileges: --user: every thread is that user, and the log is theirs' || return 0
	while_running is_somebody "$K -l LOG --user nobody" "$K -p 50 -P -l LOG --user nobody"
	check '@logs_join'
	[ "$(stat -c %U "$logs"/?.log | sort -u)" = nobody ] || complain "the logs belong to: $(stat -c %U "$logs"/?.log)"
	verdict
}
if [ "$(id -u nobody 2>/dev/null)" = $SOMEBODY ]; then
	becomes_nobody
	alone 'privileges: --user: a log in a folder without write permission' 1 e "$E -l $work/e.log --user nobody" '@silent' '@one_line e' \
		"e.err ~ --log: user nobody may not write to $work: choose another place"
else
	skip 'privileges: --user' 'the user nobody does not exist'
fi
not_looked_into 'with --user' "$K -s --user nobody --priority 7" "$K -s --user nobody --priority 7"
alone 'privileges: --user: an unknown user' 1 e "$E --user rant-has-no-such-user" '@silent' '@one_line e' \
	'e.err ~ --user rant-has-no-such-user: there is no such user'

anothers_log() {
	begin "privileges: root's log in the folder of another" || return 0
	mkdir "$work/home" && chown $SOMEBODY "$work/home"
	local home_log=$work/home/e.log
	start_reflector r "$K"
	start_emitter e "$K --timeout 5000 --count 20 -l $home_log"
	finish e
	terminate r
	check '@expect_status e 0'
	[ "$(wc -l <"$home_log")" = 22 ] || complain 'the log has not 20 records'
	[ "$(ls "$work/home")" = e.log ] || complain "there is more than the log: $(ls "$work/home")"
	rm -r "${work:?}/home"
	verdict
}
anothers_log

# ---- File capabilities -----------------------------------------------------------------------------------------------

with_file_capabilities() { # CAPABILITIES
	install -m 755 "$rant" "$work/rant-capable"
	setcap "$1=ep" "$work/rant-capable" 2>"$work/setcap.err"
}

capable_pair() {
	local rant=$work/rant-capable

	begin "privileges: a user with file capabilities: $1" || return 0
	as_r=$NOBODY as_e=$NOBODY while_running is_bare "$2" "$3"
	check '@logs_join'
	check 'e.err !~ memory is not locked'
	verdict
}

# CAP_SETPCAP is for the bounding set, which is_bare looks at.
CAPABLE=cap_net_raw,cap_net_admin,cap_net_bind_service,cap_ipc_lock,cap_setpcap
NOBODY="setpriv --reuid=$SOMEBODY --regid=$SOMEBODY --clear-groups"
if grep -q __asan_init "$rant"; then
	skip 'rights: a user with file capabilities' 'AddressSanitizer does not run with capabilities of a file'
elif ! command -v setcap >/dev/null || ! command -v setpriv >/dev/null; then
	skip 'rights: a user with file capabilities' 'setcap or setpriv is not installed'
elif ! with_file_capabilities $CAPABLE; then
	skip 'rights: a user with file capabilities' "setcap: $(head -1 "$work/setcap.err")"
else
	capable_pair 'kernel stamps, port 862' "$K -s -l LOG" "$K -s -p 50 -B 64 -P --priority 7 -l LOG"
	as=$NOBODY rant=$work/rant-capable not_looked_into 'with capabilities of the file' "$K -s --priority 7" "$K -s --priority 7"
	seccomp=0 capable_pair 'times of user space, and a threshold' "$U -l LOG -t 60000000 -C" "$U -H -l LOG -t 60000000 -C"
fi

# ---- Hook command --------------------------------------------------------------------------------------------------

# The hook command ends before rant and runs at each breach; the housekeeping thread starts it first.
command_of() { # NAME ARGUMENTS
	begin "$1" || return 0
	printf '#!/bin/sh\nexec cat /proc/self/status >"%s/command.out"\n' "$logs" >"$work/command"
	chmod 755 "$work/command"
	start_reflector r "$K"
	start_emitter e "$K -t 0.001 --timeout 5000 --on-breach exec:$work/command $2"
	finish e
	terminate r
	cp "$logs/command.out" "$work/command.out" 2>/dev/null || complain 'the command did not run'
	for one in "CapPrm:\s+$NONE" "CapEff:\s+$NONE" "CapAmb:\s+$NONE" 'NoNewPrivs:\s+1' 'Seccomp:\s+0'; do
		check "command.out ~ ^$one\$"
	done
	verdict
}
command_of 'rights: a command at the breach that ends the run has no capability and no filter' ''
command_of 'rights: and one at a breach during the run' '-C --count 2000'

forbidden() {
	begin 'rights: a forbidden system call ends the program, and is said' || return 0
	start_reflector r "$K"
	as="env LD_PRELOAD=$spike FAULT=forbid,50" start_emitter e "$K --count 1000 -l LOG"
	finish e
	terminate r
	check '@expect_status e 159' # SIGSYS
	check '@expect_status r 0'
	check '@one_line e'
	check 'e.err ~ the measuring thread asked for a forbidden system call, number [0-9]{4}$'
	[ ! -e "$logs/e.log" ] || complain 'there is a log'
	verdict
}
if [ -z "$spike" ]; then
	skip 'rights: a forbidden system call' 'nothing is preloaded into a program with AddressSanitizer'
elif has_filter; then
	forbidden
else
	skip 'rights: a forbidden system call' 'built without libseccomp'
fi
