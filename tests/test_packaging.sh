#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Descriptions in the packages against the source, without making them: tests/packaging does that.
set -uo pipefail

cd "$(dirname "$0")/.." || exit 1
family=packaging
# shellcheck source=tests/judge.sh
. tests/judge.sh

version=$(sed -n 's/^#define RANT_VERSION "\(.*\)".*/\1/p' rant.h)
judge 'the newest of debian/changelog is the version' "$(same "$(sed -n '1s/^rant (\(.*\)) .*/\1/p' debian/changelog)" "$version")"
judge 'rant.spec has the version' "$(same "$(sed -n 's/^Version: *//p' packaging/rant.spec)" "$version")"

sources=$(sed -n '/^build:/ { s/^build: *//; s/ *|.*//; p }' tests/packages.sh | tr ' ' '\n' | grep -v '^gcc$\|^libc6-dev$' | sort)
judge 'debian/control needs what tests/packages.sh installs for a build' \
	"$(diff <(sed -n '/^Build-Depends:/,/^[A-Z].*:/p' debian/control | grep -oE '(lib|nettle)[^ ,]*' | sort) <(echo "$sources"))"
sources=$(sed -n '/^build:/ { s/.*| *//; p }' tests/packages.sh | tr ' ' '\n' | grep -v '^glibc-devel$' | sort)
judge 'rant.spec needs what tests/packages.sh installs for a build' \
	"$(diff <(sed -n 's/^BuildRequires: *//p' packaging/rant.spec | grep -v '^make$\|^systemd-rpm-macros$' | sort) <(echo "$sources"))"
