#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The guides cover their subjects: each step of config.sh, each setting of it, each page in docs/index.md.
set -uo pipefail

cd "$(dirname "$0")/.." || exit 1
family=guides
# shellcheck source=tests/judge.sh
. tests/judge.sh

steps() {
	./config.sh --help | awk '/^Steps:/ { on = 1; next } on { print $1 }'
}

# Settings of the steps by name: flags of the driver, and parameters of ethtool -C and -K.
settings() {
	sed -n "/^readonly driver_flags='/,/'\$/p" config/flags.sh | tr -d "'" | awk 'NF == 3 { print $2 " " $3 }'
	grep -oE '\b(adaptive|cqe|rx|tx)-[a-z-]+=[a-z0-9]+' config/coalescing.sh | tr '=' ' '
	sed -n "s/^[^#]*for pattern in//; /'large-receive/,/do\$/p" config/offloads.sh | grep -oE "'[^']+'" | tr -d "'"
}

# Each in `, alone or with its value.
missing() {
	local setting

	while read -r setting; do
		grep -qF "\`$setting\`" docs/tuning.md || echo "docs/tuning.md has no \`$setting\`"
	done
}

judge 'each step of config.sh has a chapter of tuning.md, in this order' \
	"$(diff <(steps) <(sed -n 's/^## \([a-z]*\)$/\1/p' docs/tuning.md) | sed -n 's/^< /no chapter: /p; s/^> /no step: /p')"
judge 'the settings are found' "$([ "$(settings | wc -l)" -ge 25 ] || settings)"
judge 'each setting of flags, coalescing and offloads is in tuning.md' "$(settings | sort -u | missing)"
judge 'each chapter of a step says where that is from' "$(awk '
	function end() { if (name != "" && !from) print name }
	/^## / { end(); name = $0 ~ /^## [a-z]+$/ ? $2 : ""; from = 0 }
	/^From: / { from = 1 }
	END { end() }' docs/tuning.md)"
judge 'the index names every page' "$(for page in docs/*.md docs/tasks/*.md; do
	[ "$page" = docs/index.md ] || grep -qF "(${page#docs/})" docs/index.md || echo "$page"
done)"
judge 'no link of a page leads nowhere' "$(for page in *.md docs/*.md docs/tasks/*.md; do
	grep -oE '\]\([^)#:]+[)#]' "$page" | tr -d '])(#' | while read -r file; do
		[ -e "$(dirname "$page")/$file" ] || echo "$page: $file"
	done
done)"
