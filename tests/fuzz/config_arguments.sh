#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# config.sh --dry-run with arguments that are made up, on the card that there is not, for a time:
#
#   config_arguments.sh SECONDS [SEED]
#
# It prints a plan, or refuses in one line, and it changes nothing. Ends at the first fault with the arguments and the
# SEED that makes them first. In a network namespace of its own, if ever something gets past the replaced tools.
#
# Text in single quotes is for sed, or for a shell that must not get it. Commas, backslashes are words.
# shellcheck disable=SC2016,SC2054,SC1003
set -uo pipefail
export LC_ALL=C

if [[ ! "$*" =~ ^[0-9]{1,6}(\ [0-9]{1,9})?$ ]]; then
	echo "usage: config_arguments.sh SECONDS [SEED]" >&2
	exit 1
fi
if [ "$(id -u)" -ne 0 ]; then
	echo "config_arguments: left out, since config.sh works for root only: sudo make fuzz"
	exit 0
fi
[ -n "${FUZZ_APART:-}" ] || FUZZ_APART=yes exec unshare -n "$0" "$@"

end=$((SECONDS + $1)) seed=${2:-$((EPOCHSECONDS % 1000000000))}
tree=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d /tmp/rant-fuzz.XXXXXX) || exit 1
export CONFIG_ROOT=$work/root
# shellcheck disable=SC2034 # for machine.sh
sys=$CONFIG_ROOT/sys proc=$CONFIG_ROOT/proc nic=$CONFIG_ROOT/nic
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# shellcheck source=tests/unit/config/machine.sh
. "$tree/tests/unit/config/machine.sh"

# ---- Random input ----------------------------------------------------------------------------------------------------

options=(--ip --remote-ip --remote-mac --cpu --irq-cpu --busy-poll --ptp-source --ptp-sync-to --irq-prio --ksoftirqd-prio
	--only --skip)
flags=(--no-namespace --no-ptp --demote-irqs --cpu-power --trace --dry-run --verify --undo)
steps=(namespace queues rings offloads coalescing pause flags napi network cpus irqs power pcie ptp trace)
values=(eth0 10.0.0.1 10.0.0.2 10.0.0.1/24 10.0.0.01/8 255.255.255.255 10.0.0.1/0 10.0.0.1/33 10.0.0.256 52:54:00:00:00:02
	52:54:0A:0b:00:08 ff:ff:ff:ff:ff:ff 0 1 2 3 7 8 02 08 09 99 100 65536 1000000 ptp0 /dev/ptp0 /dev/ptp1 ptp00000)
odd=('' ' ' - -- --- -x --= --ip= --no --no- --dry-run=1 --help -h ' --help ' '-*' '*' '?' '[a-z]*' '~' . .. / ../../etc/passwd
	'$(touch x)' '-$(touch x)' '`touch x`' '--`touch x`' '; touch x' '| touch x' '&& touch x' "'; touch x; '" '>x' '<(touch x)'
	'$x' '${x:=y}' '$((x=1))' 'x[$(touch x)]' '1+x[$(touch x)]' '2;' '!' '(' ')' '{a,b}' "'" '"' '\' '\x' $'\n' $'a\nb' $'eth0\n'
	$'2\n' $'\t' $'\r' $'\e[2J' $'\x1f' $'\x7f' $'\xff\xfe' $'\xc3\xbc' $'\xe2\x80\xae' %s %n%n %1000000d -1 +2 ' 2' '2 ' 1e5 0x10
	1.5 nan 2#1 2147483648 99999999999999999999 1,2 '#' '#x' eth0:1 eth7 lo 'eth0 eth1' all @ % '=')
beginnings=(- -- --ip= "${values[@]}" "${options[@]}")

# Each leaves a word in $word.
octets() {
	local i text=''

	for ((i = RANDOM % 40; i >= 0; i--)); do
		printf -v word '\\x%02x' $((RANDOM % 255 + 1))
		text+=$word
	done
	printf -v word '%b' "$text"
}

long_word() {
	local sizes=(16 300 5000 100000) of=(x 0 , 'rings,' '../' '$x' $'\n' '*')

	printf -v word '%*s' "${sizes[RANDOM % 4]}" ''
	word=${word// /${of[RANDOM % ${#of[@]}]}}
	word=${word:0:120000} # the kernel takes no more in one argument
}

step_list() {
	local i list=''

	for ((i = RANDOM % 4; i >= 0; i--)); do
		list+=${list:+,}${steps[RANDOM % ${#steps[@]}]}
	done
	word=$list
	((RANDOM % 8)) || word+=,
}

any_word() {
	case $((RANDOM % 16)) in
	[0-4]) word=${odd[RANDOM % ${#odd[@]}]} ;;
	[5-7]) word=${values[RANDOM % ${#values[@]}]} ;;
	8) word=${flags[RANDOM % ${#flags[@]}]} ;;
	9 | 10) word=${options[RANDOM % ${#options[@]}]} ;;
	11 | 12) step_list ;;
	13) octets ;;
	14) long_word ;;
	15)
		any_word
		word=${beginnings[RANDOM % ${#beginnings[@]}]}${word:0:50000}
		;;
	esac
}

# A value that the option may take.
value_for() {
	case $1 in
	--only | --skip) step_list ;;
	--remote-mac) word=52:54:00:00:00:0$((RANDOM % 10)) ;;
	--ptp*) word=/dev/ptp$((RANDOM % 3)) ;;
	--cpu) word=$((RANDOM % 4)) ;;
	--irq-cpu) word=$((4 + RANDOM % 4)) ;;
	*ip) word=10.0.0.$((RANDOM % 300)) ;;
	*) word=$((RANDOM % 120)) ;;
	esac
}

# Leaves a list in $arguments: random words, or a valid list with changes. --dry-run comes first, where it is
# the value of no option.
make_arguments() {
	local i at

	arguments=(eth0 --ip 10.0.0.1 --remote-ip 10.0.0.2 --remote-mac 52:54:00:00:00:02 --cpu 2 --irq-cpu 3)
	((RANDOM % 4)) || arguments=()
	for ((i = RANDOM % 4; i > 0; i--)); do
		word=${options[RANDOM % ${#options[@]}]}
		arguments+=("$word")
		if ((RANDOM % 4)); then value_for "$word"; else any_word; fi
		arguments+=("$word")
	done
	for ((i = RANDOM % 8 - 4; i > 0; i--)); do
		any_word
		at=$((RANDOM % (${#arguments[@]} + 1)))
		arguments=("${arguments[@]:0:at}" "$word" "${arguments[@]:at + RANDOM % 3}")
	done
	arguments=(--dry-run "${arguments[@]}")
}

# ---- Conditions ------------------------------------------------------------------------------------------------------

make_root() {
	command -p mkdir -p "$CONFIG_ROOT" "$work/here"
	make_nic
	make_interrupts
	make_host
	replace_tools
	: >"$CONFIG_ROOT/calls"
}

# All that could be changed, with the times of changes. The tools write down how they are called.
look() {
	find "$work" ! -path "$CONFIG_ROOT/calls" ! -path "$work/out" ! -path "$work/err" -mindepth 1 -printf '%P %s %C@\n'
}

wrong() {
	echo "not ok - config.sh: $*"
	printf '# config_arguments.sh 1 %s: config.sh%s\n' "$seed" "$(printf ' %q' "${arguments[@]}" | head -c 600)"
	echo "# status $status; stderr:"
	head -c 600 "$work/err" | sed -n 'l'
	exit 1
}

asks_for_help() {
	local argument

	for argument in "${arguments[@]}"; do
		[[ $argument != --help && $argument != -h ]] || { echo yes && return; }
	done
	echo no
}

# Its output has no control characters but the ends of its lines.
check_text() {
	local text lines

	IFS= read -r -d '' text <"$work/out"
	[[ ${text//$'\n'/} != *[[:cntrl:]]* ]] || wrong 'control characters on stdout'
	IFS= read -r -d '' text <"$work/err"
	lines=${text//[!$'\n']/}
	if [ "$status" -eq 0 ]; then
		[ -z "$text" ] || wrong 'a plan, and something on stderr'
	else
		[[ ${#lines} -eq 1 && $text == 'config.sh: '*$'\n' ]] || wrong 'not refused in one line that begins with its name'
		[[ ${text%$'\n'} != *[[:cntrl:]]* ]] || wrong 'control characters on stderr'
	fi
	[[ ! $text =~ line\ [0-9]+(:|\ of\ ) ]] || wrong 'a command of it failed'
}

# Runs it once, and counts it.
try() {
	: >"$CONFIG_ROOT/calls"
	status=0 help=no
	(cd "$work/here" && exec timeout -s KILL 60 "$tree/config.sh" "${arguments[@]}") \
		>"$work/out" 2>"$work/err" </dev/null || status=$?
	[ "$(look)" = "$before" ] || wrong "it changed something: $(look | diff <(echo "$before") - | grep '^[<>]' | head -5)"
	case $status in
	0) grep -q '^  --help ' "$work/out" && helped=$((helped + 1)) && help=yes || planned=$((planned + 1)) ;;
	1) refused=$((refused + 1)) ;;
	*) wrong "status $status" ;;
	esac
	[ "$help" = "$(asks_for_help)" ] || wrong 'the help, which nobody asked for, or not'
	check_text
}

planned=0 refused=0 helped=0
make_root
before=$(look)
for ((first = seed; SECONDS < end; seed++)); do
	RANDOM=$seed
	make_arguments
	try
done
echo "ok - config.sh: $((seed - first)) lists of arguments from seed $first on: $planned plans, $helped times the help," \
	"$refused refused"
