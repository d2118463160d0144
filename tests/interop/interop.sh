#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# rant with programs that are not rant, on a veth pair between two network namespaces. Root.
#
#   interop.sh RANT          with tshark, scapy and our own peers
#   interop.sh RANT suite    with stamp-suite, which cargo builds first
#
#   ONLY=REGEX    only the tests whose name matches
#
# Independent programs: tshark decodes both directions (interop/test_decoder.py); scapy sends (interop/test_sender.py);
# stamp-suite, if cargo can install it (interop/test_suite.py). interop/reflectors.py simulates other kinds of reflectors,
# written from the RFCs alone. Prints lines like the link tests. Exit status 1 if a test failed.
set -uo pipefail
export LC_ALL=C TZ=UTC PYTHONDONTWRITEBYTECODE=1

if [ $# -lt 1 ] || [ $# -gt 2 ] || [ "${2:-suite}" != suite ]; then
	echo "usage: interop.sh RANT [suite]" >&2
	exit 1
fi

skip_all() {
	echo "ok - interop tests # SKIP $*"
	exit 0
}

[ "$(id -u)" -eq 0 ] || skip_all "they make network namespaces, which needs root: sudo make check"
for tool in ip nsenter taskset python3; do
	command -v "$tool" >/dev/null || skip_all "'$tool' is not installed"
done

# Find the Python that has scapy: python3 may differ from the distribution's.
python=python3
for one in python3 /usr/bin/python3; do
	if "$one" -c 'import scapy.contrib.stamp' 2>/dev/null; then
		python=$one
		break
	fi
done

# An independent STAMP program, which no distribution packages: built by cargo, once in a tree, in half a minute on two CPUs. The test
# that needs it prints the reason if it is missing.
suite_version=1.0.0 suite=$(readlink -f "$(dirname "$0")/../..")/build/stamp-suite-$suite_version
SUITE_WHY=
find_suite() {
	local said

	PATH=$suite/bin:$PATH
	! command -v stamp-suite >/dev/null || return 0
	if ! command -v cargo >/dev/null; then
		SUITE_WHY='cargo is not installed'
	elif ! said=$(timeout 300 cargo install --quiet --locked --debug --version "=$suite_version" --root "$suite" stamp-suite 2>&1); then
		SUITE_WHY="cargo install: $(tail -n 1 <<<"$said" | cut -c 1-200)"
	fi
}
[ $# -eq 1 ] || find_suite
export PATH SUITE_WHY

side_e=rant-interop-e-$$ side_r=rant-interop-r-$$
work=$(mktemp -d /tmp/rant-interop.XXXXXX) || exit 1
main=

# All processes in our namespaces are ours.
end_all() {
	local pids

	pids=$(ip netns pids "$side_e" 2>/dev/null; ip netns pids "$side_r" 2>/dev/null)
	# shellcheck disable=SC2086 # words
	[ -z "$pids" ] || kill -KILL $pids 2>/dev/null
}

remove_all() {
	trap '' INT TERM HUP PIPE
	end_all
	wait
	ip netns del "$side_e" 2>/dev/null
	ip netns del "$side_r" 2>/dev/null
	rm -rf "$work"
}
trap remove_all EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

build() {
	local side

	for side in "$side_e" "$side_r"; do
		ip netns add "$side" && ip -n "$side" link set lo up || return 1
		# IPv6 sends on its own when a link comes up.
		# shellcheck disable=SC2016 # expanded by the inner shell
		nsenter --net="/var/run/netns/$side" sh -c 'for f in /proc/sys/net/ipv6/conf/*/disable_ipv6; do
			[ ! -e "$f" ] || echo 1 >"$f"; done'
	done
	ip link add name wire0 netns "$side_e" type veth peer name wire0 netns "$side_r" &&
		ip -n "$side_e" address add 10.78.0.1/24 dev wire0 && ip -n "$side_r" address add 10.78.0.2/24 dev wire0 &&
		ip -n "$side_e" link set wire0 up && ip -n "$side_r" link set wire0 up
}

build 2>"$work/build.err" || skip_all "no network namespaces or no veth here: $(head -1 "$work/build.err")"
rm -f "$work/build.err"
nsenter --net="/var/run/netns/$side_e" "$python" "$(dirname "$0")/main.py" "$1" "$work" "$side_r" "${@:2}" &
main=$!
wait "$main"
