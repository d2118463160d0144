#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# make.sh source|deb|rpm FOLDER: makes rant-VERSION and its .tar.gz, and with deb or rpm also the packages, in FOLDER.
#
# The source is the files that git tracks or does not ignore, as they are in the tree; without git all files except products of make.
set -euo pipefail

cd "$(dirname "$0")/.."
version=$(sed -n 's/^#define RANT_VERSION "\(.*\)".*/\1/p' rant.h)
name=rant-$version

die() {
	echo "make.sh: $*" >&2
	exit 1
}

# Without files that were deleted from the tree.
files() {
	local file

	if [ -e .git ] && git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
		git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
			[ ! -e "$file" ] && [ ! -L "$file" ] || printf '%s\0' "$file"
		done
	else
		find . \( -path ./build -o -path ./.git -o -path ./rant -o -path "${folder/#$PWD/.}" \) -prune -o ! -type d -printf '%P\0'
	fi
}

make_source() {
	rm -rf "${folder:?}/$name"
	mkdir -p "$folder/$name"
	files | tar -c --null -T - | tar -xo -C "$folder/$name"
	# The commit for --version, as "git archive" writes it. A tree with changes has no commit.
	[ ! -e .git ] || [ -n "$(git status --porcelain 2>&1)" ] || git rev-parse HEAD >"$folder/$name/.version"
	tar -czf "$folder/$name.tar.gz" -C "$folder" --owner=0 --group=0 "$name"
}

# The .deb for this release and architecture, with its source and .changes.
make_deb() {
	command -v dh >/dev/null || die "debhelper is not installed: tests/packages.sh packages"
	(cd "$folder/$name" && dpkg-buildpackage -us -uc)
}

# rpm on Debian cannot see the packages that dpkg installed, and has no database.
make_rpm() {
	local -a foreign=()

	command -v rpmbuild >/dev/null || die "rpmbuild is not installed: tests/packages.sh packages"
	[ ! -e /etc/debian_version ] || foreign=(--nodeps --dbpath "$folder/rpm/db")
	rpmbuild -bb "${foreign[@]}" --define "_topdir $folder/rpm" --define "_sourcedir $folder" --define "_rpmdir $folder" \
		--define '_build_name_fmt %%{NAME}-%%{VERSION}-%%{RELEASE}.%%{ARCH}.rpm' packaging/rant.spec
	rm -rf "${folder:?}/rpm"
}

case ${1:-} in source | deb | rpm) [ $# -eq 2 ] ;; *) false ;; esac || die "usage: make.sh source|deb|rpm FOLDER"
[ -n "$version" ] || die "rant.h has no RANT_VERSION"
mkdir -p "$2"
folder=$(readlink -f "$2")
make_source
[ "$1" = source ] || "make_$1" >&2
