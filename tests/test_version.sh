#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The version in one file, the commit of the source, and the archive of a release. After make.
set -uo pipefail

cd "$(dirname "$0")/.." || exit 1
family=version
# shellcheck source=tests/judge.sh
. tests/judge.sh
make -s rant || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# commit_of PROGRAM
commit_of() {
	"$1" --version | sed -n 's/^  Commit    :  //p'
}

# Prints the objects that make would compile.
compiled() {
	make -n "$@" rant | sed -n 's/.* -c \([^ ]*\.c\) .*/\1/p' | paste -sd' '
}

version=$(./rant --version | sed -n '1s/^rant //p')
judge 'it is the newest of CHANGELOG.md' "$(same "$version" "$(sed -n 's/^## \([0-9.]*\).*/\1/p' CHANGELOG.md | head -n 1)")"
judge 'another commit compiles one file' "$(same report/text/version.c "$(compiled COMMIT=0123456789ab)")"
judge 'the same commit compiles nothing' "$(same '' "$(compiled)")"

# ---- Of a git tree, and of the archive of a release ----------------------------------------------------------------------

# A small git tree with the files that make needs for the commit.
small_tree() {
	mkdir "$work/tree" && cp -r Makefile .version .gitattributes rant.h report "$work/tree" && cd "$work/tree" || return
	git init -q . && git add . &&
		git -c user.name=rant -c user.email=rant@localhost commit -qm 'first' || return
	commit=$(git rev-parse --short=12 HEAD)
}

# made_of FOLDER: prints the commit in the object.
made_of() {
	make -s -C "$1" build/report/text/version.o >"$work/make" 2>&1 || cat "$work/make"
	strings "$1/build/report/text/version.o" | grep -E '^([0-9a-f]{12}(-dirty)?|unknown)$'
}

archive() {
	local text

	judge 'the commit of a git tree' "$(same "$commit" "$(made_of .)")"
	text=$(make -s dist)
	judge 'make dist tells the commit' "$(same "build/rant-$version.tar.gz is commit $commit" "$text")"
	echo '/* */' >>report/text/version.h
	judge 'a file that was changed' "$(same "$commit-dirty" "$(made_of .)")"
	text=$(make -s dist)
	judge 'make dist tells what is not in it' \
		"$(same "build/rant-$version.tar.gz is commit $commit: what was changed since is not in it" "$text")"
	tar -xzf "build/rant-$version.tar.gz" # in this tree, whose commit is not that of the archive any more
	git add report/text/version.h && git -c user.name=rant -c user.email=rant@localhost commit -qm 'second'
	judge 'an archive in the tree of another: its own commit' "$(same "$commit" "$(made_of "rant-$version")")"
	cp "$OLDPWD/.version" "rant-$version/.version"
	judge 'neither a tree nor an archive' "$(same unknown "$(made_of "rant-$version")")"
}

if command -v git >/dev/null && (small_tree) >/dev/null 2>&1; then
	rm -rf "$work/tree"
	small_tree
	archive
	cd "$OLDPWD" || exit 1
else
	echo 'ok - version: of a git tree, and of an archive # SKIP there is no git'
fi

# ---- Of this tree --------------------------------------------------------------------------------------------------------

# Builds the archive of this tree without git.
whole() {
	git --git-dir=.git archive --prefix=whole/ HEAD | tar -x -C "$work" || return
	make -s -C "$work/whole" -j"$(nproc)" CFLAGS=-O0 >"$work/make" 2>&1 || { tail -n 3 "$work/make" && return; }
	same "$wanted" "$(commit_of "$work/whole/rant")"
}

if [ -e .git ] && wanted=$(git --git-dir=.git rev-parse --short=12 HEAD 2>/dev/null); then
	judge 'what git archive makes of this tree builds without git, and has its commit' "$(whole)"
else
	wanted=$(grep -oE '^[0-9a-f]{12}' .version || echo unknown)
	echo 'ok - version: what git archive makes of this tree # SKIP it is no tree of git'
fi
have=$(commit_of ./rant)
judge 'the program has the commit of this tree' "$(same "$wanted" "${have%-dirty}")"
