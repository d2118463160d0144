# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034,SC2154
#
# What a script test_*.sh prints, which sets `family` and sources it: "ok - FAMILY: NAME", or "not ok - FAMILY: NAME" and lines that begin with
# "# ", and then `failed` is 1.

failed=0

# judge NAME [COMPLAINT]
judge() {
	if [ -z "${2:-}" ]; then
		echo "ok - $family: $1"
	else
		failed=1
		echo "not ok - $family: $1"
		printf '# %s\n' "${2//$'\n'/$'\n# '}"
	fi
}

# same WANTED HAVE: a complaint, or nothing.
same() {
	[ "$1" = "$2" ] || printf "not '%s'\nbut '%s'\n" "$1" "$2"
}

# is NAME WANTED HAVE
is() {
	judge "$1" "$(same "$2" "$3")"
}
