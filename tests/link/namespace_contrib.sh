#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Files of contrib/ in the way other engines run them. Tests without a network: tests/test_contrib.sh.
# shellcheck source=tests/link/link.sh
. "$(dirname "$0")/link.sh"

contrib_tree=$(readlink -f "$(dirname "${BASH_SOURCE[0]}")/../..")

complaints_of() { # WHAT COMMAND...: each line that it prints is one
	local what=$1 line

	shift
	while read -r line; do
		complain "$what: $line"
	done < <("$@" 2>&1)
}

# ---- Crucible --------------------------------------------------------------------------------------------------------

# engine_prepare: a folder for the sample of each role, and the files of rickshaw.json instead of /usr/bin.
engine_prepare() {
	local bench=$contrib_tree/contrib/crucible role file

	mkdir -p "$work/bin"
	for role in client server; do
		mkdir -p "$logs/$role"/{msgs/{tx,rx},postprocess}
		while read -r file; do
			cp "${file/\%bench-dir%/$bench}" "$work/bin/"
		done < <(jq -r ".$role.\"files-from-controller\"[].src" "$bench/rickshaw.json")
	done
}

# engine NAME SIDE ROLE COMMAND: in the folder of its sample.
engine() {
	start "$1" "$2" env PATH="$work/bin:$work:$PATH" RS_CS_LABEL="$3-1" sh -c "cd $logs/$3 && $4"
	finish "$1"
}

# The engine hands the message of the server to the client.
engine_tell() {
	jq '."user-object"' "$logs/server/msgs/tx/svc" >"$logs/client/msgs/rx/server-start-end:1" || complain 'the server sent no message'
}

engine_post_process() { # ROLE
	start p e env TOOLBOX_HOME="$contrib_tree/tests/contrib/engine" PYTHONDONTWRITEBYTECODE=1 RS_CS_LABEL="$1-1" \
		sh -c "cd $logs/$1 && $contrib_tree/contrib/crucible/rant-post-process --duration=2"
	finish p
	expect_status p 0
}

crucible() {
	local client='--stamp=kernel --interval=2ms --warmup=10 --timeout=5000ms --sw-timestamps=on --duration=2 --void=keep'

	begin 'contrib: Crucible from the start of the server to the metrics' || return 0
	engine_prepare
	engine s r server "rant-server-start --ifname=$link_r --stamp=kernel --sw-timestamps=on --duration=2"
	expect_status s 0
	guard[engine]=$(cat "$logs/server/rant-server.pid")
	engine_tell
	engine t e client "rant-get-runtime $client"
	[ "$(cat "$work/t.out")" = 2 ] || complain "the run time is $(cat "$work/t.out")"
	engine c e client "rant-client $client"
	expect_status c 0
	engine s r server rant-server-stop
	expect_status s 0
	unset 'guard[engine]'
	[ -s "$logs/server/rant-server.json" ] || complain 'the reflector has left no results'
	engine_post_process client
	engine_post_process server
	complaints_of metrics python3 "$contrib_tree/tests/contrib/crucible.py" metrics "$logs/client/rant-client.json" "$logs/client/postprocess"
	[ "$(find "$logs" -name error | wc -l)" -eq 0 ] || complain "told the engine: $(cat "$logs"/*/msgs/tx/error)"
	verdict
}

engine_fails() { # NAME SIDE ROLE WORDS COMMAND
	rm -f "$logs/$3/msgs/tx/"*
	engine "$1" "$2" "$3" "$5"
	expect_status "$1" 1
	jq -e --arg words "$4" '."user-object".error | contains($words)' "$logs/$3/msgs/tx/error" >/dev/null ||
		complain "$5: the engine is told: $(cat "$logs/$3/msgs/tx/error")"
}

crucible_fails() {
	begin 'contrib: Crucible gets the error' || return 0
	engine_prepare
	engine_fails s r server 'no default route' 'rant-server-start --stamp=kernel'
	engine_fails s r server 'has no address' 'rant-server-start --ifname=nowhere0'
	engine_fails s r server 'the reflector ended' "rant-server-start --ifname=$link_r --stamp=kernel --cpu=4000"
	engine_fails s r server 'no rant-server.pid' 'rm -f rant-server.pid; rant-server-stop'
	engine_fails c e client 'no server has told' 'rant-client --stamp=kernel'
	engine_fails c e client 'on or off' 'rant-client --poisson=maybe'
	echo "{\"svc\":{\"ip\":\"$ip_r\",\"ports\":[5]}}" >"$logs/client/msgs/rx/server-start-end:1" # of another server
	engine_fails c e client 'status 1' "rant-client --stamp=kernel --duration=1 --interval=100ms --timeout=10ms --remotehost=$ip_nobody"
	[ "$(jq -c '[.run.server, .run.port]' "$logs/client/rant-client.json")" = "[\"$ip_nobody\",30001]" ] || complain 'it asked another server'
	engine_fails c e client 'RS_CS_LABEL' 'RS_CS_LABEL=client-x rant-client'
	verdict
}

# ---- pScheduler ------------------------------------------------------------------------------------------------------

pscheduler_test() { # NAME MORE: a whole test, with that in its specification
	local spec="{\"schema\":4,\"source\":\"$ip_e\",\"dest\":\"$ip_r\",\"packet-count\":100,\"packet-interval\":0.01,\"packet-timeout\":2,\"bucket-width\":0.00001$2}"
	local here="env PATH=$work:$PATH RANT_PSCHEDULER_CONF=$contrib_tree/tests/contrib/rant.conf"

	: >"$work/$1.out"
	python3 "$contrib_tree/tests/contrib/pscheduler.py" run "$contrib_tree/contrib/pscheduler" "$spec" \
		"nsenter --net=/var/run/netns/${ns[e]} $here" "nsenter --net=/var/run/netns/${ns[r]} $here" >"$work/$1.out" 2>&1
}

# Two tests at the same time; in the second the destination sends.
pscheduler() {
	local other name line

	begin 'contrib: pScheduler, one way and from the other end' || return 0
	pscheduler_test b ',"flip":true,"ctrl-port":8961,"packet-padding":168,"ip-tos":184' &
	other=$!
	pscheduler_test a ''
	wait "$other"
	for name in a b; do
		while read -r line; do
			complain "$name: $line"
		done <"$work/$name.out"
	done
	verdict
}

# ---- Grafana ---------------------------------------------------------------------------------------------------------

dashboard_asks() {
	complaints_of dashboard python3 "$contrib_tree/tests/contrib/dashboard.py" without rant_breach_causes_total \
		"$contrib_tree/contrib/grafana/rant.json" "$logs/e.prom" "$logs/r.prom"
}

# ---- Wireshark -------------------------------------------------------------------------------------------------------

is_capturing() {
	! is_running cap || { [ -s "$work/cap.pcap" ] && grep -qs '^Capturing on' "$work/cap.err"; }
}

# Four probes in flight, so that a reply has the transmit timestamps of several earlier replies.
dissector() {
	begin 'contrib: tshark with rant.lua shows the times that the log has' || return 0
	start cap r tshark -i "$link_r" -f 'udp port 862' -c 100 -w "$work/cap.pcap"
	poll is_capturing
	start_reflector r "$K -s"
	start_emitter e "--timeout 5000 $K -s --stages full --log-full --log-format csv -l LOG --count 60 --interval 2ms --window 4"
	finish e
	send TERM r
	finish r cap
	expect_status e 0
	complaints_of rant.lua env HOME="$work" python3 "$contrib_tree/tests/contrib/dissected.py" "$logs/e.log" "$work/cap.pcap" \
		"$contrib_tree/contrib/wireshark/rant.lua"
	verdict
}

cause() {
	begin 'contrib: tshark with rant.lua shows the cause TLV of the documentation' || return 0
	complaints_of rant.lua env HOME="$work" python3 "$contrib_tree/tests/contrib/cause.py" "$contrib_tree/docs/protocol.md" "$work/cause.pcap" \
		"$contrib_tree/contrib/wireshark/rant.lua"
	verdict
}

if ! command -v tshark >/dev/null; then
	skip 'contrib: tshark with rant.lua shows the times that the log has' "'tshark' is not installed"
else
	dissector
	cause
fi
if [ -z "$spike" ]; then
	skip 'contrib: as other engines run it' 'without spike.so, under sanitizers: scripts are no other there'
elif ! python3 -c 'import jsonschema' 2>/dev/null || ! command -v jq >/dev/null; then
	skip 'contrib: as other engines run it' 'python3-jsonschema or jq is not installed'
else
	crucible
	crucible_fails
	pscheduler
	pair 'contrib: the dashboard asks for what both ends write' '0 0' "$K --prometheus $logs/r.prom" \
		"$K --count 20 --prometheus $logs/e.prom" '@dashboard_asks'
fi
