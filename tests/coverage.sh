#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Lines and branches of the product that the unit tests run, by folder; the lines themselves are in build/coverage/index.html. make coverage
#
# The tests are built in a copy of the tree, by the same rules, with --coverage in place of the sanitizers.
set -uo pipefail
export LC_ALL=C

cd "$(dirname "$0")/.." || exit 1
copy=build/coverage/tree

fail() {
	echo "coverage: $*" >&2
	exit 1
}

copy_tree() {
	mkdir -p "$copy"
	find . -mindepth 1 -maxdepth 1 ! -name build ! -name '.git*' -exec cp -a -t "$copy" {} + # -a: make compares the times
	find "$copy" -name '*.gcda' -delete
	# A process that leaves by _exit() writes its counts, too.
	cat >"$copy/counted.h" <<-'END'
		#define _GNU_SOURCE
		#include <unistd.h>
		void __gcov_dump(void);
		static inline _Noreturn void counted_exit(int status)
		{
			__gcov_dump();
			_exit(status);
		}
		#define _exit counted_exit
	END
}

# A test that fails counts with less than it ran: the line says which.
run_tests() {
	local test

	for test in "$@"; do
		(cd "$copy" && timeout -k 1 300 "$test" >/dev/null 2>&1) || echo "coverage: $test failed: less is counted" >&2
	done
}

# FOLDER, then lines and branches: those that ran, all, percent.
by_folder() {
	awk -F, '
		NR == 1 { next }
		{ folder = $1 ~ /\// ? $1 : "top"; sub(/\/.*/, "", folder) }
		{ lines[folder] += $2; ran[folder] += $3; branches[folder] += $5; taken[folder] += $6 }
		{ lines["all"] += $2; ran["all"] += $3; branches["all"] += $5; taken["all"] += $6 }
		function percent(part, whole) { return whole ? 100 * part / whole : 100 }
		END {
			printf "%-10s %20s %23s\n", "folder", "lines", "branches"
			n = split("host wire result measure report analyse doctor options top all", names, " ")
			for (i = 1; i <= n; i++) {
				f = names[i]
				printf "%-10s %6d of %5d %5.1f %% %6d of %6d %5.1f %%\n", f, ran[f], lines[f], percent(ran[f], lines[f]),
					taken[f], branches[f], percent(taken[f], branches[f])
			}
		}'
}

# Files in which fewer than 90 % of the lines ran.
few_lines() {
	awk -F, 'NR > 1 && $2 && $3 < 0.9 * $2 { printf "below 90 %% of lines: %s, %d of %d, %.1f %%\n", $1, $3, $2, 100 * $3 / $2 }' | sort
}

copy_tree
tests=()
for file in tests/unit/test_*.c; do
	tests+=("build/$(basename "$file" .c)")
done
make -s -C "$copy" -j"$(nproc)" SANITIZE='--coverage -O0 -include counted.h' WARNINGS=-w "${tests[@]}" || fail "the unit tests do not build with --coverage"
run_tests "${tests[@]}"
# gcovr 5.2 asserts that a function is at one line: analyse/tree.c, tested with libjansson and without, has each at two.
(cd "$copy" && PYTHONOPTIMIZE=1 gcovr -r . -e tests/ -e counted.h --csv ../files.csv --html-details ../index.html build/sanitized) || fail "gcovr failed"
by_folder <build/coverage/files.csv
few_lines <build/coverage/files.csv
echo "The page: build/coverage/index.html"
