# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Interrupt vectors of a card, and their CPU affinity.

of_host+=('irq *' 'vector *')

declare -a vectors=()

# find_vectors DEVICE: finds the interrupts of a folder of /sys/bus/*/devices, in the order of the card's vectors.
find_vectors() {
	local file
	local -a sorted=()

	for file in "$1"/msi_irqs/*; do
		[ ! -e "$file" ] || sorted[${file##*/}]=${file##*/}
	done
	vectors=("${sorted[@]}")
	if [ ${#vectors[@]} -eq 0 ] && get "$1/irq" && [ "$value" -gt 0 ]; then
		vectors=("$value")
	fi
}

declare -A owner=() # "DEVICE POSITION" of an interrupt

# Interrupt numbers change when the card gets more or fewer vectors; the index of a vector on the card does not change.
find_owners() {
	local folder i
	local -a mine=("${vectors[@]}")

	owner=()
	for folder in "$sys"/bus/*/devices/*/msi_irqs; do
		[ -d "$folder" ] || continue
		folder=${folder%/msi_irqs}
		find_vectors "$folder"
		for i in "${!vectors[@]}"; do
			owner[${vectors[i]}]="${folder#"$sys/bus/"} $i"
		done
	done
	vectors=("${mine[@]}")
}

declare -A protected=() # interrupts of this interface, and of others that were prepared

find_protected() {
	local folder irq
	local -a mine=("${vectors[@]}")

	protected=()
	for folder in "$states"/*/device; do
		! get "$folder" || { find_vectors "$sys/bus/$value" && mine+=("${vectors[@]}"); }
	done
	for irq in "${mine[@]}"; do
		protected[$irq]=1
	done
	[ -z "$device" ] || find_vectors "$device"
}

# settle_affinity IRQ CPUS
settle_affinity() {
	local path=$proc/irq/$1/smp_affinity_list key=''

	get "$path" || return 0
	change=(put "$path" "$2") back=(undo_put "$path" "$value")
	if [ -n "${owner[$1]:-}" ]; then
		# shellcheck disable=SC2206 # two words
		key="vector ${owner[$1]} affinity" back=(undo_affinity ${owner[$1]} "$value")
	fi
	settle "irq $1 affinity" "$value" "$2" get "$path"
}

# undo_affinity DEVICE POSITION CPUS
undo_affinity() {
	find_vectors "$sys/bus/$1"
	[ -z "${vectors[$2]:-}" ] || undo_put "$proc/irq/${vectors[$2]}/smp_affinity_list" "$3"
}
