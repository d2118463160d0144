# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Step: neither the card nor its PCI Express link saves power.

step pcie 'no link power saving (ASPM) between the card and its port, no runtime power management'
of_host+=('ASPM *' 'runtime *')

tools_pcie() {
	[ -z "$pci" ] || need setpci pciutils
}

# ASPM is turned off at the card before its port, and turned on in the other order, as PCI Express requires.
step_pcie() {
	local parent

	if [ -z "$pci" ]; then
		not_supported 'PCI Express'
		return 0
	fi
	settle_aspm "$pci"
	parent=$(readlink -f "$device") parent=${parent%/*} parent=${parent##*/}
	[[ ! $parent =~ ^[0-9a-f]{4,}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$ ]] || settle_aspm "$parent"
	settle_file "runtime power management of $pci" "$device/power/control" on
}

# settle_aspm ADDRESS: two bits of the Link Control register, which setpci finds by the capability.
settle_aspm() {
	if ! read_aspm "$1"; then
		not_supported "ASPM of $1 ($(setpci -s "$1" CAP_EXP+10.w 2>&1 | tail -n 1))"
		return 0
	fi
	change=(setpci -s "$1" CAP_EXP+10.w=0:3) back=(undo_aspm "$1" "$value")
	settle "ASPM of $1" "$value" 0 read_aspm "$1"
}

read_aspm() {
	local text

	text=$(setpci -s "$1" CAP_EXP+10.w 2>/dev/null) && [[ $text =~ ^[0-9a-f]{4}$ ]] && value=$((16#$text & 3))
}

undo_aspm() {
	! read_aspm "$1" || [ "$value" = "$2" ] || setpci -s "$1" "CAP_EXP+10.w=$2:3"
}
