#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The main job on a link that every machine has: two network namespaces, a veth pair, five seconds of kernel stamps.
set -euo pipefail

rant=${1:-./rant}
near=rant_near_$$ far=rant_far_$$
reflector=

[ "$(id -u)" -eq 0 ] || {
	echo "demo: network namespaces need root: sudo make demo" >&2
	exit 1
}
[ -x "$rant" ] || {
	echo "demo: there is no program '$rant': make rant" >&2
	exit 1
}
folder=$(mktemp -d)

cleanup() {
	[ -z "$reflector" ] || kill "$reflector" 2>/dev/null || true
	[ -z "$reflector" ] || wait "$reflector" 2>/dev/null || true
	ip netns del "$near" 2>/dev/null || true
	ip netns del "$far" 2>/dev/null || true
	rm -rf "$folder"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

run() {
	echo "+ $*"
	"$@"
}

# A CPU for each end, where there are two; else both share what there is.
mapfile -t cpus < <(taskset -cp $$ | sed 's/.*: //' | tr ',' '\n' |
	awk -F- '{ for (cpu = $1; cpu <= ($2 == "" ? $1 : $2); cpu++) print cpu }')
first=${cpus[0]} second=${cpus[1]:-${cpus[0]}}
[ "$first" != "$second" ] || echo "Only one CPU is allowed here: both ends share it, and the figures show that."

run ip netns add "$near"
run ip netns add "$far"
run ip link add veth0 netns "$near" type veth peer name veth1 netns "$far"
run ip -n "$near" address add 10.77.0.1/24 dev veth0
run ip -n "$far" address add 10.77.0.2/24 dev veth1
run ip -n "$near" link set veth0 up
run ip -n "$far" link set veth1 up

options=(--stamp kernel --histogram --sw-timestamps)
echo "+ reflector: rant -i veth1 --once --once-silence 2 --duration 20 --log response.txt ${options[*]}   (CPU $second)"
nsenter --net="/var/run/netns/$far" taskset -c "$second" "$rant" -i veth1 --once --once-silence 2 --duration 20 \
	--log "$folder/response.txt" "${options[@]}" >"$folder/response.report" &
reflector=$!
# It answers when its port is open.
for _ in $(seq 100); do
	[ -z "$(nsenter --net="/var/run/netns/$far" ss -Hlun 'sport = 862')" ] || break
	kill -0 "$reflector" 2>/dev/null || break
	sleep 0.1
done
echo "+ emitter:   rant -i veth0 -a 10.77.0.2 --duration 5 --warmup 1000 --log roundtrip.txt ${options[*]}   (CPU $first)"
nsenter --net="/var/run/netns/$near" taskset -c "$first" "$rant" -i veth0 -a 10.77.0.2 --duration 5 --warmup 1000 \
	--log "$folder/roundtrip.txt" "${options[@]}" >"$folder/roundtrip.report"
wait "$reflector"
reflector=

for side in roundtrip response; do
	printf '\n======== %s ========\n\n' "$side"
	cat "$folder/$side.report"
	printf '\n$ head -6 %s.txt\n' "$side"
	head -6 "$folder/$side.txt"
done
