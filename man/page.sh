#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# page.sh PAGE.in PROGRAM: the manual page, with the options of "PROGRAM --help" in the place of @OPTIONS@.
set -euo pipefail

help=$("$2" --help)
options=$(awk -f "$(dirname -- "$0")/options.awk" <<<"$help")
[ -n "$options" ] || { echo "page.sh: '$2 --help' has no options" >&2 && exit 1; }
while IFS= read -r line; do
	if [ "$line" = @OPTIONS@ ]; then printf '%s\n' "$options"; else printf '%s\n' "$line"; fi
done <"$1"
