#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Measures for five seconds with kernel timestamps on a veth pair between two network namespaces, and prints one screen: the commands,
# the answer, and the files.
#
#   demo.sh [RANT]    files are written to ${DEMO:-build/demo}
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
folder=${DEMO:-build/demo}
mkdir -p "$folder"

cleanup() {
	[ -z "$reflector" ] || kill "$reflector" 2>/dev/null || true
	[ -z "$reflector" ] || wait "$reflector" 2>/dev/null || true
	ip netns del "$near" 2>/dev/null || true
	ip netns del "$far" 2>/dev/null || true
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# Each program gets a CPU of its own if there are two.
mapfile -t cpus < <(taskset -cp $$ | sed 's/.*: //' | tr ',' '\n' |
	awk -F- '{ for (cpu = $1; cpu <= ($2 == "" ? $1 : $2); cpu++) print cpu }')
first=${cpus[0]} second=${cpus[1]:-${cpus[0]}}
[ "$first" != "$second" ] || echo "Only one CPU is allowed here: both ends share it, which increases the latencies."

ip netns add "$near"
ip netns add "$far"
ip link add veth0 netns "$near" type veth peer name veth1 netns "$far"
ip -n "$near" address add 10.77.0.1/24 dev veth0
ip -n "$far" address add 10.77.0.2/24 dev veth1
ip -n "$near" link set veth0 up
ip -n "$far" link set veth1 up

options=(--stamp kernel --sw-timestamps)
emit=(-i veth0 -a 10.77.0.2 "${options[@]}" --duration 5 --warmup 1000)
echo "host 1 \$ rant -i veth1 ${options[*]} --once"
nsenter --net="/var/run/netns/$far" taskset -c "$second" "$rant" -i veth1 --once --once-silence 2 --duration 20 \
	--log "$folder/response.txt" "${options[@]}" >"$folder/response.report" 2>"$folder/response.err" &
reflector=$!
# The reflector is ready when its port is open.
for _ in $(seq 100); do
	[ -z "$(nsenter --net="/var/run/netns/$far" ss -Hlun 'sport = 862')" ] || break
	kill -0 "$reflector" 2>/dev/null || break
	sleep 0.1
done
echo "host 2 \$ rant ${emit[*]}"
status=0
nsenter --net="/var/run/netns/$near" taskset -c "$first" "$rant" "${emit[@]}" --log "$folder/roundtrip.txt" \
	--json "$folder/run.json" --jsonl "$folder/run.jsonl" >"$folder/roundtrip.report" 2>"$folder/roundtrip.err" || status=$?
wait "$reflector" || true
reflector=
case $status in
0 | 3) ;; # 3: the run was disturbed, which the verdict says
*)
	cat "$folder"/*.err >&2
	exit "$status"
	;;
esac

echo
cat "$folder/roundtrip.report"
echo
echo "Reports : $folder/roundtrip.report, $folder/response.report"
echo "Logs    : $folder/roundtrip.txt, $folder/response.txt"
echo "JSON    : $folder/run.json, $folder/run.jsonl"
page=$folder/run.html
if "$(dirname "$0")/../plot/rant-plot" "$folder/run.jsonl" -o "$page" >/dev/null 2>"$folder/plot.err"; then
	echo "Page    : $page"
else
	echo "Page    : not drawn: $(tail -n 1 "$folder/plot.err")"
fi
