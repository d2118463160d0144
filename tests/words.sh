#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Fails on words that docs/glossary.md replaces, in prose of docs, comments and messages; counts patterns that are hard to follow.
#
#   words.sh [FOLDER]    FOLDER: the tree, this one unless given
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
exec python3 "$here/words.py" "${1:-$here/..}"
