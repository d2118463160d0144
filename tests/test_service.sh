#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The unit of the standing reflector, as it is installed: findings of systemd. After make. Prints "ok - NAME" and "not ok - NAME".
set -uo pipefail

cd "$(dirname "$0")/.." || exit 1
family=service
# shellcheck source=tests/judge.sh
. tests/judge.sh
if ! command -v systemd-analyze >/dev/null; then
	echo "ok - service # SKIP 'systemd-analyze' is not installed"
	exit 0
fi
make -s rant || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

make -s install DESTDIR="$work/root" PREFIX=/opt/of/rant >"$work/make" 2>&1
installed=$work/root/opt/of/rant/lib/systemd/system/rant-reflect@.service
judge 'the program that was installed is started' "$(grep -qx 'ExecStart=/opt/of/rant/bin/rant -i %I .*' "$installed" || cat "$installed" "$work/make")"
judge 'it tells every hour, whatever its options' "$(grep -q '^ExecStart=.* --summary-every 1h .RANT_OPTIONS$' "$installed" || cat "$installed")"

# An instance, whose program is there. Findings about other units of this machine do not count.
sed "s|^ExecStart=/opt|ExecStart=$work/root/opt|" "$installed" >"$work/rant-reflect@eth0.service"
judge 'systemd-analyze verify finds nothing' "$(systemd-analyze verify --man=no --recursive-errors=no "$work/rant-reflect@eth0.service" 2>&1 |
	grep 'rant-reflect'; [ "${PIPESTATUS[0]}" -eq 0 ] || echo 'its exit status is not 0')"
said=$(systemd-analyze security --offline=true --threshold=30 "$installed" 2>&1) && said=
judge 'systemd-analyze security: exposure at most 3.0' "$said"
install -D -t "$work/enabled/usr/lib/systemd/system" "$installed"
said=$(systemctl --root="$work/enabled" enable rant-reflect@eth1 2>&1)
judge 'enabled, it is started when its interface appears' \
	"$([ -L "$work/enabled/etc/systemd/system/sys-subsystem-net-devices-eth1.device.wants/rant-reflect@eth1.service" ] || echo "$said")"
make -s uninstall DESTDIR="$work/root" PREFIX=/opt/of/rant >"$work/make" 2>&1
judge 'make uninstall removes it' "$([ ! -e "$installed" ] || echo "$installed is there")"
exit "$failed"
