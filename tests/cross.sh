#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Unit tests on another architecture: built by its cross compiler, run by qemu-user. No virtual machine, no sanitizers.
#
#   cross.sh ARCH...            arm64: the program and all unit tests but those of two tables; s390x (big endian): those of what is sent or
#                               written, and of the histogram
#   cross.sh --build ARCH...    builds the program, these tests and what else the lab runs, and runs nothing
#
# ONLY=REGEX chooses tests. Libraries of the architecture are unpacked into a folder of the cache; dpkg's state stays as it is.
# Prints "ok - NAME" and "not ok - NAME" for each test program. Exit status 1 when anything failed.
set -uo pipefail

cd "$(dirname "$0")/.." || exit 1
cache=${XDG_CACHE_HOME:-$HOME/.cache}/rant-cross
limit_s=300 failed=0

# Debian's name, GNU's name, QEMU's name, tests: a pattern.
architectures='
arm64 aarch64-linux-gnu aarch64 *
s390x s390x-linux-gnu s390x test_@(packet|encapsulation|tlv*|sequence|pmc|log|report_log_@(text|npy|mend)|results_log_read|hgrm|hlog|json_numbers|histogram)
'

# Tests that fail under qemu-user, and the reason that the failure suggests. On the kernel of arm64 they pass: tests/lab/test_units.sh.
exceptions='
test_seccomp qemu has no seccomp
test_kernel_call qemu answers a recvmsg without buffers itself, with 0 and not EAGAIN
test_peer_socket qemu does not pass the control messages of timestamps and socket options on
test_peer_socket_run qemu does not pass the control messages of timestamps and socket options on
test_loop page faults of qemu itself are counted
test_memory qemu answers mincore by itself, and does not pass setrlimit on for the stack
test_nic_abilities qemu does not pass these ioctls on
test_nic_provider qemu has no sockets of generic netlink
test_nic_stamp qemu does not pass these ioctls on
test_socket qemu does not pass the control messages of timestamps and socket options on
test_transport qemu does not pass all socket options on
'

# Programs that take 15 to 58 s of CPU time under qemu-user and show nothing of an architecture: statistics count how often an interval holds,
# or a mode, a period or a change is found where there is none, in samples that the test draws; without sanitizers nothing sees what random
# input overwrites. They run with sanitizers in make unit, and on the kernel of arm64: ARCH=arm64 tests/lab/lab.sh units.
statistics='drawn samples: their statistics depend on no architecture'
declare -A slow_here=([test_confidence]=$statistics [test_modes]=$statistics [test_results_bootstrap]=$statistics
	[test_results_outcomes]=$statistics [test_rhythm]=$statistics [test_steadiness]=$statistics
	[test_fuzz_results]='random input shows nothing without sanitizers'
	[test_fuzz_trace]='random input shows nothing without sanitizers')

packages=(libnl-3-dev libnl-3-200 libnl-genl-3-dev libnl-genl-3-200 libcmocka-dev libcmocka0 libseccomp-dev libseccomp2 libjansson-dev
	libjansson4 nettle-dev libnettle8 libtraceevent-dev libtraceevent1)

# With lists and sources of its own, for ARCH alone.
apt_own() {
	local command=$1

	"$command" -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$cache/$arch/apt/sources" \
		-o Dir::State::Lists="$cache/$arch/apt/lists" -o Dir::State::Status=/dev/null -o Dir::Cache="$cache/$arch/apt/cache" \
		-o Debug::NoLocking=1 -o APT::Sandbox::User= -o APT::Update::Post-Invoke-Success= \
		-o APT::Architecture="$arch" -o APT::Architectures::="$arch" "${@:2}"
}

# Fetched files stay until they are deleted, or until other packages are needed.
fetch() {
	local suite mirror
	local options=

	[ "$(cat "$root/complete" 2>/dev/null)" != "${packages[*]}" ] || return 0
	rm -rf "$root"
	mkdir -p "$cache/$arch"/apt/{sources,lists/partial,cache/archives/partial} "$root/debs"
	[ ! -e "$keyring" ] || options=" signed-by=$keyring"
	apt-get indextargets --format "\$(RELEASE) \$(REPO_URI)" 'Created-By: Packages' | sort -u | while read -r suite mirror; do
		[[ $suite == *-backports* ]] || echo "deb [arch=$arch$options] $mirror $suite main"
	done >"$cache/$arch/apt/sources/own.list"
	apt_own apt-get update -qq && (cd "$root/debs" && apt_own apt-get -qq download "${packages[@]}") || return 1
	find "$root/debs" -name '*.deb' -exec dpkg -x {} "$root" \;
	rm -r "$root/debs"
	echo "${packages[*]}" >"$root/complete"
}

skip() {
	echo "ok - unit tests on $arch # SKIP $*"
	[ -z "$build" ] || failed=1
}

# A folder with the tree in it, in which make has its own build/.
link_tree() {
	local name

	mkdir -p "$tree"
	for name in *; do
		[ "$name" = build ] || [ "$name" = rant ] || ln -sfn "$PWD/$name" "$tree/$name"
	done
}

make_there() {
	make -s -k -j"$(nproc)" -C "$tree" SANITIZE=-Wno-format-truncation NETTLE=1 SECCOMP=1 JANSSON=1 TRACEEVENT=1 \
		CC="$gnu-gcc -isystem $root/usr/include -isystem $root/usr/include/$gnu -B$root/usr/lib/$gnu -L$root/usr/lib/$gnu \
			-L$root/lib/$gnu -Wl,-rpath-link,$root/usr/lib/$gnu:$root/lib/$gnu" "$@"
}

emulated() {
	(cd "$tree" && timeout -k 5 "$limit_s" "$emulator" -L "/usr/$gnu" -E "LD_LIBRARY_PATH=$root/usr/lib/$gnu:$root/lib/$gnu" "$@")
}

# report NAME STATUS: its output is on stdin.
report() {
	if [ "$2" -eq 0 ]; then
		echo "ok - $arch: $1"
	else
		failed=1
		echo "not ok - $arch: $1 (status $2)"
		grep -aE '^not ok|^#|rror|ault' "$output" | head -20 | sed 's/^/# /'
	fi
}

run_tests() {
	local name reason

	for name in "${tests[@]}"; do
		reason=${slow_here[$name]:-$(sed -n "s/^$name //p" <<<"$exceptions")}
		if [ -n "$reason" ]; then
			echo "ok - $arch: $name # SKIP $reason"
			continue
		fi
		CMOCKA_MESSAGE_OUTPUT=TAP emulated "build/$name" >"$output" 2>&1 </dev/null
		report "$name" $?
	done
}

# on ARCH GNU QEMU PATTERN
on() {
	local arch=$1 gnu=$2 pattern=$4 emulator name
	local root=$cache/$1/root tree=build/cross/$1
	local -a tests=() programs=()

	emulator=$(command -v "qemu-$3" || command -v "qemu-$3-static" || [ -n "$build" ]) || { skip "there is no qemu-$3" && return; }
	command -v "$gnu-gcc" >/dev/null || { skip "there is no $gnu-gcc" && return; }
	fetch >"$output" 2>&1 || { skip "its packages cannot be fetched: $(tail -n 1 "$output")" && return; }
	for name in tests/unit/test_*.c; do
		name=${name##*/} name=${name%.c}
		# shellcheck disable=SC2053 # a pattern
		[[ $name != $pattern || ! $name =~ ${ONLY:-} ]] || tests+=("$name")
	done
	link_tree
	# Of the objects of the tests, which are compiled anyway: here without sanitizers. The lab runs the program as it is installed.
	[ "$pattern" != '*' ] || programs=(build/rant-sanitized)
	[ -z "$build" ] || programs=(rant build/hostile)
	make_there "${programs[@]}" "${tests[@]/#/build/}" >"$output" 2>&1
	report "${programs[*]:+the program and }its tests are built" $?
	[ -z "$build" ] || return
	run_tests
	[ ${#programs[@]} -gt 0 ] || return
	emulated "${programs[0]}" --version >"$output" 2>&1
	report 'rant --version' $?
}

keyring=/usr/share/keyrings/debian-archive-keyring.gpg
output=$(mktemp) || exit 1
trap 'rm -f "$output"' EXIT
shopt -s extglob
build=
[ "${1:-}" != --build ] || { build=1 && shift; }
[ $# -gt 0 ] || { echo "usage: cross.sh [--build] ARCH..." >&2 && exit 1; }
for wanted in "$@"; do
	# shellcheck disable=SC2046 # words
	read -r arch gnu qemu pattern < <(grep "^$wanted " <<<"$architectures") || { echo "cross: there is no '$wanted'" >&2 && exit 1; }
	on "$arch" "$gnu" "$qemu" "$pattern"
done
exit "$failed"
