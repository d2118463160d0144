#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
#   shares.sh SCRIPT    runs it once for each CPU, with SHARE="N M", and prints all lines by the numbers that they begin with
#
# Exit status 1 when any of them failed.
set -uo pipefail

folder=$(mktemp -d) || exit 1
running=()
count=$(nproc)
trap 'rm -rf "$folder"' EXIT
trap 'kill "${running[@]}" 2>/dev/null; wait; exit 130' INT TERM HUP

for ((i = 0; i < count; i++)); do
	SHARE="$i $count" "$1" >"$folder/$i" &
	running+=($!)
done
failed=0
for i in "${running[@]}"; do
	wait "$i" || failed=1
done
sort -s -n -k 1,1 "$folder"/* | sed 's/^[0-9]* //'
exit "$failed"
