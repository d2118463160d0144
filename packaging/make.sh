#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# make.sh source|deb|rpm FOLDER: makes rant-VERSION and its .tar.gz, or with these also the packages, in FOLDER: make packages.
#
# What goes into them is what git has, as it stands in the tree, and without git all but what make has made.
set -euo pipefail

cd "$(dirname "$0")/.."
version=$(sed -n 's/^#define RANT_VERSION "\(.*\)".*/\1/p' rant.h)
name=rant-$version

die() {
	echo "make.sh: $*" >&2
	exit 1
}

# Not those that are deleted in the tree.
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
	# The commit for --version, as "git archive" writes it; that of a tree with changes is none.
	[ ! -e .git ] || [ -n "$(git status --porcelain 2>&1)" ] || git rev-parse HEAD >"$folder/$name/.version"
	tar -czf "$folder/$name.tar.gz" -C "$folder" --owner=0 --group=0 "$name"
}

# The .deb of this release and architecture, and what describes it and its source.
make_deb() {
	command -v dh >/dev/null || die "there is no debhelper: tests/packages.sh packages"
	(cd "$folder/$name" && dpkg-buildpackage -us -uc)
}

# rpm of Debian does not know by which packages its build needs are there, and keeps no list of packages.
make_rpm() {
	local -a foreign=()

	command -v rpmbuild >/dev/null || die "there is no rpmbuild: tests/packages.sh packages"
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
