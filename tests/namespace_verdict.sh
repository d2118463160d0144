# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154
#
# Part of namespace.sh: reasons of the verdict that can be provoked on a veth link, and what they make of the exit status.

# The machine may be busy, which is a true reason of its own: only what was provoked is looked for, and what must not be.

# reason NAME REGEX
reason() {
	check "$1.out ~ ^Measurement: (doubtful|void): (.*; )?$2"
	[ "$(tail -n 1 "$work/$1.out" | cut -d : -f 1)" = Measurement ] || complain "the last line of $1.out is no verdict"
}
