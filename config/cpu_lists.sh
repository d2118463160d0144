# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Lists and masks of CPUs, as the kernel writes them.

declare -a cpus=()

# expand LIST: sets $cpus to the CPUs of a list such as "0-2,5".
expand() {
	local part from to

	cpus=()
	for part in ${1//,/ }; do
		from=${part%-*} to=${part#*-}
		for ((; from <= to; from++)); do
			cpus+=("$from")
		done
	done
}

# holds LIST CPU...: true if the list has any of these CPUs.
holds() {
	local cpu wanted=" ${*:2} "

	expand "$1"
	for cpu in "${cpus[@]}"; do
		[[ $wanted != *" $cpu "* ]] || return 0
	done
	return 1
}

# minus LIST CPU...: sets $value to the list without these CPUs, in the kernel's format.
minus() {
	local cpu wanted=" ${*:2} " from='' to=''

	expand "$1"
	value=
	for cpu in "${cpus[@]}" end; do
		[[ $wanted != *" $cpu "* ]] || continue
		if [ -n "$to" ] && [ "$cpu" = $((to + 1)) ]; then
			to=$cpu
			continue
		fi
		[ -z "$from" ] || value+=,$from
		[ "$from" = "$to" ] || value+=-$to
		from=$cpu to=$cpu
		[ "$cpu" != end ] || break
	done
	value=${value#,}
}

# mask MASK set|add|clear CPU...: sets $value to a mask of the same width, as "ffffffff,ffffffff", with only these CPUs
# (set), with these CPUs added (add) or removed (clear).
mask() {
	local what=$2 cpu index count word
	local -a words

	IFS=, read -r -a words <<<"$1"
	count=${#words[@]}
	[ "$what" != set ] || words=("${words[@]//[0-9a-f]/0}")
	for cpu in "${@:3}"; do
		index=$((count - 1 - cpu / 32))
		[ "$index" -ge 0 ] || continue
		word=$((16#${words[index]} & ~(1 << cpu % 32)))
		[ "$what" = clear ] || word=$((word | 1 << cpu % 32))
		printf -v "words[$index]" '%0*x' "${#words[index]}" "$word"
	done
	local IFS=,
	value=${words[*]}
}

rest=''

# Sets $rest to the CPUs that are left for all other tasks.
find_rest() {
	get "$sys/devices/system/cpu/online"
	minus "$value" "${option[cpu]}" "${option[irq-cpu]}"
	rest=$value
}
