#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The cause of a breach by name, from the trace that --save-trace wrote.
# shellcheck source=tests/link/link.sh
. "$(dirname "$0")/link.sh"

instance=/sys/kernel/tracing/instances/rant
saved=$logs/saved
here=$(cd "$(dirname "$0")" && pwd)
own_trace

events='irq/irq_handler_entry irq/irq_handler_exit irq/softirq_entry irq/softirq_exit irq_vectors/local_timer_entry
	irq_vectors/local_timer_exit sched/sched_switch sched/sched_waking power/cpu_idle timer/timer_expire_entry
	timer/timer_expire_exit workqueue/workqueue_execute_start workqueue/workqueue_execute_end'

explain() { # ARGUMENTS: in explain.out, explain.err and status[explain]
	"$rant" --explain "$@" >"$work/explain.out" 2>"$work/explain.err"
	status[explain]=$?
}

make_instance() {
	local event

	mkdir "$instance"
	echo mono_raw >"$instance/trace_clock"
	echo 2048 >"$instance/buffer_size_kb"
	for event in $events; do
		echo 1 >"$instance/events/$event/enable" 2>/dev/null
	done
}

# explanation_agrees: the object of --explain --json is valid, and its parts sum to the stage.
explanation_agrees() {
	[ -n "${has_jsonschema:-}" ] || return 0
	python3 - "$here/../../docs/rant.schema.json" "$logs/why.json" "$last_cpu" <<-'EOF' || complain 'the explanation is not valid'
		import json, sys
		import jsonschema
		schema, data = (json.load(open(path)) for path in sys.argv[1:3])
		jsonschema.validate(data, {**schema["definitions"]["explanation"], "definitions": schema["definitions"]})
		why = data["why"]
		for name in ("value_ns", "typical_ns"):
		    assert why[name] is None or sum(part[name] for part in why["parts"]) == why[name], name
		assert (why["class"], why["name"], why["parts_named"]) == ("thread", "planted", 1), why
		unseen = why["unseen"]
		assert unseen["cpu"] == int(sys.argv[3]), unseen
		for name in ("smi_count", "steal_ms"):
		    assert (unseen[name] is None) == bool(unseen[name.split("_")[0] + "_not_known"]), unseen
		assert unseen["steal_ms"] is None or 0 < unseen["steal_within_ns"] < 3e9, unseen
		assert why["parts"][0]["excess_ns"] == why["excess_ns"] and why["share_percent"] >= 50, why
	EOF
}

# symbols_are_saved FOLDER: the functions in the text have addresses for the raw pages.
symbols_are_saved() {
	local name

	name=$(sed -n 's/.* function=\([a-z0-9_]*\) .*/\1/p' "$1/all.txt" | head -1)
	grep -q '^[0-9a-f]*[1-9a-f][0-9a-f]* [a-zA-Z] _text$' /proc/kallsyms || return 0 # hidden
	[ -z "$name" ] || grep -q "^[0-9a-f]*[1-9a-f][0-9a-f]* [a-zA-Z] $name\\b" "$1/raw/kallsyms" ||
		complain "raw/kallsyms does not have $name"
}

planted_thread_is_named() {
	begin 'a real-time thread on the measuring CPU is named as the cause, with its time' || return 0
	mkdir "$saved"
	make_instance
	start_reflector r "$K -s -T -t 40000 --save-trace $saved -w 100"
	# The machine may be busy: no other task has the CPU for as long.
	start planted r python3 "$here/planted.py" "$last_cpu" 0.06 8
	start_emitter e "$K --interval 500 -d 10 --timeout 5000"
	finish r
	terminate e planted
	check '@expect_status r 2'
	# The report of the run ends with it.
	check 'r.out ~ ^  Cause: thread planted [(][0-9]+, real-time priority 50[)] on CPU '
	explain "$saved"/*
	check '@expect_status explain 0'
	[ "$(wc -l <"$work/explain.out")" -le 12 ] || complain 'more than 12 lines'
	check 'explain.out ~ ^Why [(]trace of CPU'
	check 'explain.out ~ ^  Cause: thread planted [(][0-9]+, real-time priority 50[)] on CPU [0-9]+, [0-9]+ % of the '
	check 'explain.out ~ ^  Cure : keep this thread off the CPU'
	check 'explain.out ~ all of (Kernel-to-app|App processing): nothing left over$' # the thread may come while the program answers
	# A line on stderr says that the times are those of the text.
	if grep -qF libtraceevent.so "$rant"; then
		[ ! -s "$work/explain.err" ] || complain "stderr of --explain: $(<"$work/explain.err")"
	else
		check 'explain.err ~ times [+]- 1 us: rant was built without libtraceevent'
	fi
	symbols_are_saved "$saved"/*
	explain "$saved"/* -q --json "$logs/why.json"
	check '@expect_status explain 0'
	check 'explain.out empty'
	explanation_agrees
	verdict
	rmdir "$instance" 2>/dev/null
}

# Breaches that others than the planted thread cause are possible on a busy machine.
planted_causes_are_counted() {
	begin 'with --trace-rearm the causes of a run are counted, in the text, in JSON and for Prometheus' || return 0
	mkdir "$saved.many"
	make_instance
	start_reflector r "$K -s -T -C -t 40000 --save-trace $saved.many --trace-rearm --trace-interval 0.1 -w 100 -v -H \
		--json $logs/r.json --prometheus $logs/r.prom"
	start planted r python3 "$here/planted.py" "$last_cpu" 0.06 4
	start_emitter e "$K --interval 500 -d 3 --timeout 5000"
	finish e
	terminate r planted
	check '@expect_status r 0'
	json_agrees r
	json_has r "any((c['class'], c['name']) == ('thread', 'planted') and c['count'] >= 2 for c in JSON['breach_causes'])"
	json_has r "sum(cause['count'] for cause in JSON['breach_causes']) == JSON['trace']['saves']"
	json_has r "any(w and w.get('name') == 'planted' for b in JSON['breaches']['last'] + [JSON['breaches']['first']] for w in [b['why']])"
	json_has r "'value_ns' in JSON['breaches']['first']['why']" # its trace is always saved
	json_has r "all(sum(p['value_ns'] for p in w['parts']) == w['value_ns'] for b in JSON['breaches']['last'] for w in [b['why']] if w and 'parts' in w)"
	check 'r.out ~ ^  Cause: .* [(]in [0-9]+ of [0-9]+ traced breaches of this run[)]$'
	check 'r.out ~ ^  Causes of [0-9]+ traced breaches of [0-9,]+: .*thread planted on CPU [0-9]+ [0-9]+'
	json_has r "'cause=\"thread\"} %d\n' % sum(c['count'] for c in JSON['breach_causes'] if c['class'] == 'thread') in open('$logs/r.prom').read()"
	"$rant" --report "$logs/r.json" -v --json "$logs/again.json" >"$work/again.out" 2>&1 || complain "--report fails: $(<"$work/again.out")"
	json_has again "all(JSON[name] == json.load(open('$logs/r.json'))[name] for name in ('breaches', 'breach_causes'))"
	check 'again.out ~ ^  Cause: [a-z]'
	check 'again.out ~ ^  Causes of [0-9]+ traced breaches of [0-9,]+: .*thread planted on CPU [0-9]+ [0-9]+'
	verdict
	rmdir "$instance" 2>/dev/null
}

refused_with_one_line() {
	begin 'a folder without a trace is refused with one line' || return 0
	mkdir "$saved.empty"
	explain "$saved.empty"
	check '@expect_status explain 1'
	check '@one_line explain'
	check 'explain.err ~ ^rant: --explain .*: all[.]txt: No such file or directory: give a folder '
	verdict
	rmdir "$saved.empty"
}

if ! grep -q '^[^ ]* /sys/kernel/tracing tracefs ' /proc/mounts; then
	skip 'the cause of a breach' 'there is no tracefs'
elif [ -e "$instance" ]; then
	skip 'the cause of a breach' 'another program uses the tracing instance rant'
elif ! chrt -f 50 true 2>/dev/null; then
	skip 'the cause of a breach' 'no real-time priority is permitted here'
else
	trace_instance=$instance
	planted_thread_is_named
	planted_causes_are_counted
	refused_with_one_line
fi
