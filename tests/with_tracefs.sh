#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# with_tracefs.sh COMMAND...: where tracefs is not mounted it is, for this command alone; if that cannot be, without it.
export WITH_TRACEFS=1
if [ -d /sys/kernel/tracing ] && ! grep -q ' /sys/kernel/tracing tracefs ' /proc/mounts &&
	unshare --mount mount -t tracefs none /sys/kernel/tracing 2>/dev/null; then
	# shellcheck disable=SC2016 # expanded by the inner shell
	exec unshare --mount sh -c 'mount -t tracefs none /sys/kernel/tracing && exec "$0" "$@"' "$@"
fi
exec "$@"
