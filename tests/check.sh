#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Runs the tests with one line for each, then prints the counts. Builds the programs of the tests first.
#
#   check.sh            the quick tests: make check
#   check.sh --rest     all others: make check-all
#   check.sh --unit     unit tests alone, without root: make unit
#
#   TEST=NAME    only those with NAME in their name, which is that of their file, and all of each: make check TEST=NAME
#   LAB=0        without the virtual machines
#   JOBS=N       so many tests at the same time, as many as there are CPUs unless given; the lab runs alone, after all others
#
# A test in real time, in the lab, between namespaces, with threads or clocks of the kernel, runs a second time if it fails: see twice().
# Both outcomes are printed and counted. A skipped test passes only if tests/skips.txt has its name or its reason.
set -uo pipefail
shopt -s nullglob

cd "$(dirname "$0")/.." || exit 1
only=${TEST:-} lab=${LAB:-1} part=quick jobs=${JOBS:-$(nproc)}
case ${1:-} in
'') ;;
--rest) part=rest ;;
--unit) part=unit lab=0 ;;
*) echo "usage: check.sh [--rest | --unit]" >&2 && exit 1 ;;
esac
work=$(mktemp -d) || exit 1
results=$work/results
: >"$results"
declare -A running=() # process group of a job: its number
trap 'rm -rf "$work"' EXIT
trap 'interrupt 130' INT
trap 'interrupt 143' TERM HUP
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1} UBSAN_OPTIONS=print_stacktrace=1
TIMEFORMAT='%0R s; CPU time %0U s, and %0S s in the kernel'

# Each job is a process group of its own. SIGTERM goes to all of it: each test removes its files, and the job ends after its test.
interrupt() {
	local group

	trap '' INT TERM HUP
	echo "check: interrupted: ending ${#running[@]} running tests"
	for group in "${!running[@]}"; do
		kill -TERM -- "-$group" 2>/dev/null
	done
	wait
	exit "$1"
}

# ---- A test ----------------------------------------------------------------------------------------------------------

# A test that is one command. Its output is printed if it fails.
one() {
	local name=$1 output
	shift
	if output=$("$@" 2>&1); then
		echo "ok - $name"
	else
		echo "not ok - $name"
		printf '# %s\n' "${output//$'\n'/$'\n# '}"
	fi | tee -a "$results"
}

# once FILE NAME COMMAND...: runs a test program that prints lines of its own, and keeps them in FILE. One that dies without a failed line
# has failed. cmocka 1.1.5 prints "not ok N # SKIP" for a test that was skipped. The reader of its lines outlives a signal, or the test would
# be ended by its next line, perhaps the line about a process that it removes.
once() {
	local file=$1 name=$2 status

	shift 2
	"$@" 2>&1 | {
		trap '' INT TERM HUP
		sed -uE 's/^not (ok [0-9]+ # SKIP)/\1/' | tee "$file"
	}
	status=${PIPESTATUS[0]}
	[ "$status" -eq 0 ] || grep -q '^not ok ' "$file" || echo "not ok - $name ended with status $status" | tee -a "$file"
}

many() {
	once "$work/$BASHPID" "$@"
	cat "$work/$BASHPID" >>"$results"
}

# both_outcomes SECOND: results of the first run on standard input, with the outcome of the second run added to each test that failed.
# The end of a whole program has no name of its own in SECOND: it has passed where nothing failed.
both_outcomes() {
	awk '
		second && /^not ok / { failed[substr($0, 5)]; any = 1 }
		second && /^ok / { passed[$0] }
		second { next }
		/^not ok / {
			name = substr($0, 5)
			if (!(name in failed) && (name in passed || !any && name ~ /^ok - (test_[^ ]*: |.* ended with status )/))
				$0 = name " # SECOND RUN: failed, then passed"
			else
				$0 = $0 " # SECOND RUN: failed, then " (name in failed || any ? "failed" : "did not run")
		}
		{ print }
	' second=1 "$1" second=0 -
}

# twice AGAIN NAME COMMAND...: for tests in real time, which share the CPUs with everything else that runs on this machine. After a failure
# "AGAIN FILE COMMAND..." runs the failed tests a second time; FILE has the output of the first run.
twice() {
	local again=$1 name=$2 first=$work/first.$BASHPID second=$work/second.$BASHPID

	shift 2
	once "$first" "$name" "$@"
	if grep -q '^not ok ' "$first"; then
		echo "# $name, second run"
		once "$second" "$name" "$again" "$first" "$@"
		both_outcomes "$second" <"$first" >>"$results"
	else
		cat "$first" >>"$results"
	fi
}

# The failed tests, by name; all of the program if a name is not known.
again() {
	local names

	# shellcheck disable=SC2016 # a set of signs
	names=$(sed -n 's/^not ok - //p' "$1" | sed 's/[][\\.*^$(){}+?|]/\\&/g' | paste -sd'|')
	! grep -q '^not ok .* ended with status ' "$1" || names=
	ONLY=${names:+"^($names)\$"} "${@:2}"
}

# The files of the failed tests: a line "# test_NAME, SECONDS s" is before the lines of each. All of it where the lab itself failed.
again_in_lab() {
	local -a files

	mapfile -t files < <(awk '/^# test_/ { name = $2 } /^not ok - test_/ { name = $4 } /^not ok / { print name }' "$1" |
		sed 's/^test_//; s/[,:]$//' | sort -u)
	! grep -q '^not ok - lab: ' "$1" || files=("${@:3}")
	QUICK=$([ "$part" = rest ] || echo 1) "$2" "${files[@]}"
}

# ---- Without running it ----------------------------------------------------------------------------------------------

warnings=(-std=gnu11 -Wall -Wextra -Wshadow -Wformat=2 -Wmissing-prototypes -Werror -I. -I/usr/include/libnl3)

analyze() {
	local file status=0
	for file in *.c [!t]*/*.c [!t]*/*/*.c; do
		gcc "${warnings[@]}" -O2 -fanalyzer -c "$file" -o /dev/null || status=1
	done
	# Left out without libnettle, libseccomp, libjansson and libtraceevent.
	[ ! -e /usr/include/nettle/hmac.h ] ||
		gcc "${warnings[@]}" -DWITH_NETTLE -O2 -fanalyzer -c wire/hmac.c -o /dev/null || status=1
	[ ! -e /usr/include/seccomp.h ] ||
		gcc "${warnings[@]}" -DWITH_SECCOMP -O2 -fanalyzer -c host/process/seccomp.c -o /dev/null || status=1
	[ ! -e /usr/include/jansson.h ] ||
		gcc "${warnings[@]}" -DWITH_JANSSON -O2 -fanalyzer -c analyse/tree.c -o /dev/null || status=1
	[ ! -e /usr/include/traceevent/kbuffer.h ] ||
		for file in explain/trace_format.c explain/trace_pages.c; do
			gcc "${warnings[@]}" -DWITH_TRACEEVENT -O2 -fanalyzer -c "$file" -o /dev/null || status=1
		done
	return $status
}

clang_warns() {
	clang "${warnings[@]}" -fsyntax-only -DWITH_NETTLE -DWITH_SECCOMP -DWITH_JANSSON -DWITH_TRACEEVENT ./*.c ./[!t]*/*.c ./[!t]*/*/*.c
}

# The line that the README gives, with no word of the compiler about it.
compile() {
	local line output
	line=$(sed -n 's/^    \(gcc .* -o \)rant /\1\/dev\/null /p' README.md)
	[ "$(grep -c . <<<"$line")" -eq 1 ] || { echo "README.md has not one line '    gcc ... -o rant ...'" && return 1; }
	output=$(bash -c "$line" 2>&1) || output+=" failed"
	[ -z "$output" ] || { echo "$line: $output" && return 1; }
}

# As with other libraries than there are.
rebuilds() {
	local -a files=(host/process/seccomp wire/hmac analyse/tree explain/trace_format explain/trace_pages)
	local objects=("${files[@]/#/build/}")

	[ "$(make -n NETTLE=x SECCOMP=x JANSSON=x TRACEEVENT=x "${objects[@]/%/.o}" |
		grep -cE " -c ($(IFS='|' && echo "${files[*]}"))\.c ")" -eq ${#files[@]} ]
}

scripts() {
	shellcheck -x .ci/run config.sh config/*.sh debian/*.p[or]* packaging/*.sh tests/*.sh tests/*/*.sh tests/unit/config/stub \
		contrib/crucible/rant-{base,client,get-runtime,server-start,server-stop}
}

declare -A title=(
	[compile]='the sources compile without the Makefile'
	[analyze]='gcc -fanalyzer finds nothing'
	[clang]='clang compiles the sources without a warning'
	[rebuilds]='a change of NETTLE, SECCOMP, JANSSON or TRACEEVENT rebuilds all files that depend on it'
	[shellcheck]='shellcheck finds nothing'
	[symbols]='the hot path calls allowed functions only'
	[structure_dependencies]='modules depend on lower layers only, and each file has a layer'
	[structure_headers]='each source has a header, and each header compiles alone'
	[words]='prose has none of the words that the glossary replaces'
)

# ---- List of the tests -----------------------------------------------------------------------------------------------

tests=() names=()

# offer KIND FILE PROGRAMS COMMAND...: a test, which has the name of its file. PROGRAMS (A,B or none) are built first.
offer() {
	local name=${2##*/}

	name=${name%.*}
	names+=("$name")
	[[ $name != *"$only"* ]] || tests+=("$1 $name ${*:3}")
}

offer_units() {
	local file

	for file in tests/unit/test_*.c; do
		file=build/$(basename "$file" .c)
		offer unit "$file" "$file" tests/with_tracefs.sh "$file"
	done
}

# offer_links [WORD...]: before the command. Executable files in tests/link are tests. The program under test has sanitizers unless a line
# "# build: plain" in the file says that it judges rates, times, memory or preloaded libraries. Few files contain slow tests.
offer_links() {
	local file program

	# The longest files first, as they take longest.
	for file in $(wc -c tests/link/namespace_*.sh | sort -rn | awk '$2 != "total" { print $2 }'); do
		[[ -x $file ]] || continue
		[[ $* != *REST* ]] || grep -qE '^[[:space:]]*(\w+=\S+ )*slow ' "$file" || continue
		program=build/rant-sanitized
		! grep -q '^# build: plain' "$file" || program=rant
		offer link "$file" "$program,build/hostile,build/spike.so" "$@" "$file" "./$program" build/hostile build/spike.so
	done
	offer link tests/link/config_veth.sh rant "$@" tests/link/config_veth.sh ./rant
}

# A line "# build: PROGRAM" in the file names the program that it needs.
offer_scripts() {
	local file program

	for file in tests/test_*.sh tests/unit/test_*.sh; do
		program=$(sed -n 's/^# build: //p' "$file")
		[[ ! -x $file ]] || offer script "$file" "${program:-none}" "$file"
	done
}

offer_quick() {
	local file

	if [ -n "$only" ]; then offer_links; else offer_links env QUICK=1; fi
	offer interop interop build/rant-sanitized tests/interop/interop.sh build/rant-sanitized
	offer_scripts
	offer_units
	offer static rebuilds rant rebuilds
	offer static symbols rant tests/symbols.sh
	for file in dependencies headers; do
		offer static structure_$file none tests/structure.sh $file
	done
	offer static words none tests/words.sh
}

offer_rest() {
	offer_links env REST=1
	offer link tests/link/threads.sh build/rant-tsan,build/hostile tests/link/threads.sh build/rant-tsan build/hostile
	offer interop interop_suite build/rant-sanitized tests/interop/interop.sh build/rant-sanitized suite
	offer script tests/packaging/packages.sh none tests/packaging/packages.sh
	offer script tests/cross.sh none tests/cross.sh arm64 s390x
	offer static analyze none analyze
	offer static shellcheck none scripts
	offer static compile none compile
	offer script test_config_killed none env ONLY=killed EVERY=1 tests/unit/test_config.sh
	offer static clang none clang_warns
}

case $part in
unit) offer_units ;;
quick) offer_quick ;;
rest) offer_rest ;;
esac
if [ "$lab" != 0 ]; then
	for file in tests/lab/test_*.sh; do
		! grep -qx '# lab: arm64' "$file" || continue # by make lab ARCH=arm64
		offer lab "$file" lab-programs
	done
fi
if [ ${#tests[@]} -eq 0 ]; then
	echo "check: no test has '$only' in its name. There are:" >&2
	printf '%s\n' "${names[@]}" | sort -u | paste -sd' ' | fold -sw 100 >&2
	exit 1
fi

# ---- Running them ----------------------------------------------------------------------------------------------------

# run "KIND NAME PROGRAMS COMMAND..."
run() {
	local kind name command

	read -r kind name _ command <<<"$1"
	# shellcheck disable=SC2086 # words
	case $kind in
	static) one "${title[$name]}" $command ;;
	unit) CMOCKA_MESSAGE_OUTPUT=TAP twice again "$name" $command ;;
	script) many "$name" $command ;;
	link | interop) twice again "$name" $command ;;
	esac
}

# Waits until a job has ended, and prints its output.
collect() {
	local ended

	wait -n -p ended "${!running[@]}"
	[ -n "${ended:-}" ] || return
	cat "$work/job.${running[$ended]}"
	unset "running[$ended]"
}

# All but those in the lab, as many at the same time as there are CPUs. The first in the list take longest.
run_beside() {
	local i kind name began_us

	set -m
	for i in "${!tests[@]}"; do
		read -r kind name _ <<<"${tests[i]}"
		[ "$kind" != lab ] || continue
		[ ${#running[@]} -lt "$jobs" ] || collect
		{
			set +m # one process group for all that the job starts
			trap 'exit 143' TERM
			began_us=${EPOCHREALTIME/[.,]/}
			echo "# $name"
			run "${tests[i]}"
			printf '%s %d\n' "$kind $name" $((${EPOCHREALTIME/[.,]/} - began_us)) >>"$work/times"
		} >"$work/job.$i" 2>&1 </dev/null &
		running[$!]=$i
	done
	while [ ${#running[@]} -gt 0 ]; do
		collect
	done
	set +m
}

# Installs all missing packages in one call.
run_lab() {
	local -a asked=()

	[[ "${tests[*]}" == *lab-programs* ]] || return 0
	if [ -n "$only" ]; then
		mapfile -t asked < <(printf '%s\n' "${tests[@]}" | sed -n 's/^lab test_\([^ ]*\) .*/\1/p')
	elif [ "$part" = rest ]; then
		asked=(--rest)
	fi
	set -m
	{ set +m && trap 'exit 143' TERM && RANT=./rant twice again_in_lab "in virtual machines" tests/lab/lab.sh "${asked[@]}"; } </dev/null &
	running[$!]=lab
	wait -n "${!running[@]}"
	running=()
	set +m
}

# Seconds of each kind of test and of the slowest tests. Kinds overlap in time.
print_times() {
	sort -k3,3nr "$work/times" 2>/dev/null | awk '
		{ sum[$1] += $3 / 1e6; count[$1]++; if (NR <= 10) slow = slow sprintf("%s %s %.0f s", NR == 1 ? "" : ",", $2, $3 / 1e6) }
		END { for (kind in sum) printf "# %s: %d programs, %.0f s\n", kind, count[kind], sum[kind]; if (NR) print "# slowest:" slow }'
}

# Prints the missing requirements of tests between network namespaces, and their remedy.
lacking() {
	if ! [ -w /proc/sys/net/core/rmem_max ]; then
		echo '/proc/sys is read-only, as in many containers: mount it writable, or run this outside'
	elif ! ip netns add "rant-check-$$" 2>"$work/lacking"; then
		echo "no network namespaces: $(head -n 1 "$work/lacking")"
	else
		ip netns del "rant-check-$$"
		ip link add "rc$$" type veth peer name "rd$$" 2>"$work/lacking" && ip link del "rc$$" ||
			echo "no veth links: $(head -n 1 "$work/lacking")"
	fi
}

# One line and one skip instead of a strange reason from each test.
leave_out_network() {
	local reason test
	local -a left=()

	printf '%s\n' "${tests[@]}" | grep -qE '^(link|interop) ' || return 0
	reason=$(lacking)
	[ -n "$reason" ] || return 0
	echo "ok - tests between network namespaces # SKIP $reason" | tee -a "$results"
	for test in "${tests[@]}"; do
		[[ $test == link\ * || $test == interop\ * ]] || left+=("$test")
	done
	tests=("${left[@]}")
}

# ---- All of it -------------------------------------------------------------------------------------------------------

if [ "$(id -u)" -ne 0 ] && printf '%s\n' "${tests[@]}" | grep -qE '^(link|interop) '; then
	echo "check: these tests make network namespaces, which needs root: sudo make check. Without root: make unit" >&2
	exit 1
fi
leave_out_network
mapfile -t programs < <(printf '%s\n' "${tests[@]}" | awk '$3 != "none" { gsub(",", "\n", $3); print $3 }' | sort -u)
if [ ${#programs[@]} -gt 0 ]; then
	{ time make -s -j"$(nproc)" "${programs[@]}"; } 2>"$work/build"
	status=$?
	head -n -1 "$work/build"
	echo "# build: $(tail -n 1 "$work/build")"
	if [ $status -ne 0 ]; then
		echo "check: it does not build"
		echo "0 passed, 1 failed, 0 skipped"
		exit 1
	fi
fi
began_s=$SECONDS
run_beside
echo "# all but the lab: $((SECONDS - began_s)) s, $jobs at the same time"
began_s=$SECONDS
run_lab
[[ "${tests[*]}" != *lab-programs* ]] || echo "# lab: $((SECONDS - began_s)) s"
print_times

# The skipped tests that tests/skips.txt does not allow. Without root many unit tests are skipped: use make unit there.
not_allowed() {
	[ "$part" != unit ] || [ "$(id -u)" -eq 0 ] || return 0
	grep -Ei "$skip" "$results" | grep -vEf <(sed '/^#/d; /^$/d' tests/skips.txt)
}

skip='^ok .*# skip'
skipped=$(grep -Eci "$skip" "$results")
passed=$(grep -Eiv "$skip" "$results" | grep -Ec '^ok ')
failed=$(grep -Ec '^not ok ' "$results")
second=$(grep -c ' # SECOND RUN: ' "$results")
refused=$(not_allowed)
echo
grep -Ei "$skip" "$results"
grep ' # SECOND RUN: .*passed$' "$results"
# Failed tests with the first lines of their diagnostics: a CI log may keep only the end of the output.
awk '/^not ok / { print; left = 15; next } /^#/ && left-- > 0 { print substr($0, 1, 300); next } { left = 0 }' "$results"
[ -z "$refused" ] || printf 'Not allowed to be skipped by tests/skips.txt:\n%s\n' "$refused"
case $part,$only in
quick,) echo "Left out: make check-all has the slow tests of the lab, packages, races, stamp-suite, other architectures, clang, shellcheck and gcc -fanalyzer" ;;
rest,) echo "Left out: the quick tests: make check" ;;
unit,) echo "Left out: all tests that need another program, and without root those above: sudo make check" ;;
*) echo "Left out: all tests without '$only' in their name" ;;
esac
echo "# $SECONDS s in all"
echo "$passed passed, $failed failed, $skipped skipped"
echo "$second needed a second run"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ] && [ -z "$refused" ]
