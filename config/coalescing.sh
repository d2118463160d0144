# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Step: an immediate interrupt for each packet.

step coalescing 'one interrupt for each packet: rx-usecs 0, rx-frames 1, adaptive off'
shows['coalesce']=-c sets['coalesce']=-C

step_coalescing() {
	local setting

	group coalesce || return 0
	for setting in adaptive-rx=off adaptive-tx=off cqe-mode-rx=off cqe-mode-tx=off rx-usecs=0 rx-frames=1 tx-usecs=0 \
		tx-frames=1 rx-usecs-irq=0 tx-usecs-irq=0; do
		[ "${nic["coalesce ${setting%=*}"]:-n/a}" = n/a ] || want coalesce "${setting%=*}" "${setting#*=}"
	done
	fulfil coalesce
}
