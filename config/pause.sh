# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Step: no flow control, by which the other side could delay packets.

step pause 'flow control off'
shows['pause']=-a sets['pause']=-A

step_pause() {
	group pause || return 0
	want pause autoneg off
	want pause rx off
	want pause tx off
	fulfil pause
}
