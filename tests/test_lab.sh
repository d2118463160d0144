#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# lab/lab.sh with stand-ins for QEMU and all tools: on a machine that has all of these already, with a tool that fails, and ended by Ctrl-C
# at several moments. Prints "ok - NAME", "not ok - NAME" and lines that begin with "# ". Exit status 1 when anything failed.
# Text in single quotes is for the stand-ins.
# shellcheck disable=SC2016
set -uo pipefail
export LC_ALL=C

cd "$(dirname "$0")/.." || exit 1
family=lab
# shellcheck source=tests/judge.sh
. tests/judge.sh
# shellcheck source=/dev/null
if [ "$(. /etc/os-release && echo "$ID")" != debian ] || [ "$(dpkg --print-architecture)" != amd64 ]; then
	echo "ok - lab.sh # SKIP it needs Debian on amd64"
	exit 0
fi
work=$(mktemp -d) || exit 1
# A process in a process group of its own gets no signal that this script gets.
running=
trap '[ -z "$running" ] || kill -TERM -- "-$running"; rm -rf "$work"' EXIT
version=6.0-stand-in
mkdir "$work/bin"

# stand_in TOOL SCRIPT
stand_in() {
	printf '#!/bin/bash\n%s\n' "$2" >"$work/bin/$1"
	chmod 755 "$work/bin/$1"
}

# At each of these steps the lab may be stopped, or fail.
hangs='if [ "${HANGS:-}" = "${0##*/}" ]; then : >"$WORK/hangs"; sleep 1000; fi; [ "${FAILS:-}" != "${0##*/}" ] || exit 1'
for tool in gcc aarch64-linux-gnu-gcc modprobe apt-get busybox; do
	stand_in "$tool" "$hangs"
done
stand_in cpio "$hangs; cat >/dev/null"
stand_in dpkg-query 'echo installed'
stand_in make "$hangs"'; for word; do case $word in M=*) : >"${word#M=}/simnic.ko" ;; esac; done'
# All tests of the guest pass.
passes='[ "$1" != --version ] || { echo "QEMU stand-in"; exit; }
'"$hangs"'
echo "${0##*/} $*" >"$WORK/booted"
results=$(printf "%s\n" "$@" | sed -n "s/^local,path=\(.*\),mount_tag=results,.*/\1/p")
while read -r name; do
	: >"$results/$name.begun"
	echo "ok - of $name" >"$results/$name.out"
	echo 0 >"$results/$name.status"
done <"$results/tests"'
for tool in qemu-system-x86_64 qemu-system-aarch64; do
	stand_in $tool "$passes"
done

# A cache in which nothing had to be unpacked, because the machine has it; but for another architecture.
new_cache() {
	local folder flavour

	rm -rf "$work/cache"
	for folder in tools udev tools-arm64 root-arm64; do
		mkdir -p "$work/cache/$folder"
		: >"$work/cache/$folder/packages"
	done
	mkdir -p "$work/cache"/root-arm64/bin "$work/cache/rant-cross/arm64/root"
	cp "$work/bin/busybox" "$work/cache/root-arm64/bin/busybox"
	: >"$work/cache/rant-cross/arm64/root/complete"
	for flavour in amd64 rt old arm64; do
		mkdir -p "$work/cache/kernel-$flavour/lib/modules/$version"
		echo linux-image >"$work/cache/kernel-$flavour/packages"
	done
}

# lab WORD...: "VARIABLE=VALUE" first, then arguments of lab.sh. Its output is in $work/out.
# A suite that runs in the background may ignore signals, and bash cannot catch signals that were ignored when it began.
lab() {
	env --default-signal=INT,QUIT,HUP,TERM PATH="$work/bin:$PATH" WORK="$work" RANT=/bin/true \
		RANT_LAB_CACHE="$work/cache" XDG_CACHE_HOME="$work/cache" QUICK=1 ARCH= FLAVOUR= \
		"$@" >"$work/out" 2>&1
}

# left_over: files that a lab leaves behind, without fetched files.
left_over() {
	find "$work/cache" -mindepth 1 -maxdepth 1 \( -name 'run*' -o -name 'unpack*' \) -printf 'the folder %f is there\n'
	# The lock is open in every process of a lab.
	find /proc/[0-9]*/fd -lname "$work/cache/lock" 2>/dev/null | sed 's|/proc/\(.*\)/fd/.*|process \1 is there|' | sort -u
}

# ---- A machine that has all tools ---------------------------------------------------------------------------------------

lab=tests/lab/lab.sh
new_cache
lab "$lab" clock_room igb
is 'nothing had to be unpacked, and two kernels are booted' $'status 0\nok - of igb\nok - of clock_room\n# lab: 2 passed, 0 failed, 0 skipped' \
	"status $?"$'\n'"$(grep -v '^# Linux\|^# test_' "$work/out" | sed 's/, [0-9]* s$//' | sort -r)"
is 'and nothing is left' '' "$(left_over)"

# ---- Another architecture -----------------------------------------------------------------------------------------------

new_cache
lab ARCH=arm64 "$lab" units steps
is 'ARCH=arm64: one kernel is booted' $'status 0\nok - of units\nok - of steps\n# lab: 2 passed, 0 failed, 0 skipped' \
	"status $?"$'\n'"$(grep -v '^# Linux\|^# test_' "$work/out" | sed 's/, [0-9]* s$//' | sort -r)"
judge 'by the QEMU of that architecture' "$(grep -q '^qemu-system-aarch64 .* -machine virt .*/kernel-arm64/boot/' "$work/booted" ||
	cat "$work/booted")"
is 'and nothing of it is left' '' "$(left_over)"
judge 'a test for arm64 is not run on amd64' "$(lab "$lab" units && echo 'exit status 0'
	grep -q '^not ok - lab: test_units does not run on amd64' "$work/out" || cat "$work/out")"
judge 'an architecture that is not known' "$(lab ARCH=mips "$lab" igb && echo 'exit status 0'
	grep -q "^not ok - lab: ARCH is amd64 or arm64, not 'mips'" "$work/out" || cat "$work/out")"

# ---- Each end has a reason ----------------------------------------------------------------------------------------------

# fails NAME TOOL REGEX
fails() {
	local status=0

	new_cache
	lab FAILS="$2" "$lab" clock_room || status=$?
	judge "$1" "$([ $status -eq 1 ] || echo "status $status, not 1"
		[ "$(grep -Ec "^not ok - $3|^# lab: 0 passed, 1 failed, " "$work/out")" -eq 2 ] || cat "$work/out"
		left_over)"
}

fails 'a tool that fails without a word' cpio 'lab: line [0-9]+: .*cpio'
fails 'a helper that does not compile' gcc 'lab: .*\.c does not compile'
fails 'a guest that ends at once' qemu-system-x86_64 'test_clock_room: the guest ended'
judge 'a usage that is wrong' "$(lab "$lab" --what && echo 'exit status 0'
	grep -q '^not ok - lab: usage: lab.sh .*, not .--what' "$work/out" || cat "$work/out")"

# ---- Ctrl-C -------------------------------------------------------------------------------------------------------------

# interrupted TOOL TEST...: by Ctrl-C, a signal to the whole process group, while TOOL runs.
interrupted() {
	local tool=$1 pid status=0 i

	shift
	rm -f "$work/hangs"
	# Job control gives it a process group of its own.
	set -m
	lab HANGS="$tool" "$lab" "$@" &
	pid=$! running=$!
	set +m
	for ((i = 0; i < 600; i++)); do
		[ ! -e "$work/hangs" ] || break
		sleep 0.05
	done
	kill -INT -- "-$pid"
	wait "$pid" || status=$?
	running=
	judge "Ctrl-C while $tool runs" "$([ -e "$work/hangs" ] || echo "$tool never ran"
		[ $status -eq 130 ] || echo "status $status, not 130"
		grep -q '^not ok - lab: interrupted$' "$work/out" || cat "$work/out"
		left_over)"
}

for tool in modprobe cpio gcc make qemu-system-x86_64; do
	new_cache
	interrupted $tool clock_room igb
done
new_cache
rm "$work/cache/kernel-rt/packages"
interrupted apt-get igb

exit "$failed"
