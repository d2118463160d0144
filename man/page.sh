#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# page.sh PAGE.in SOURCE: the manual page with the options of SOURCE in the place of @OPTIONS@. SOURCE is a program with --help, or a page in
# Markdown that describes options.
set -euo pipefail

here=$(dirname -- "$0")
case $2 in
*.md) options=$(awk -f "$here/paragraphs.awk" "$2") ;;
*) options=$("$2" --help | awk -f "$here/options.awk") ;;
esac
[ -n "$options" ] || { echo "page.sh: '$2' has no options" >&2 && exit 1; }
while IFS= read -r line; do
	if [ "$line" = @OPTIONS@ ]; then printf '%s\n' "$options"; else printf '%s\n' "$line"; fi
done <"$1"
