#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# mutate.py in a small tree: which mutants there are, which of them tests notice, and that the tree stays as it was.
# Prints "ok - NAME", "not ok - NAME" and lines that begin with "# ". Exit status 1 when anything failed.
set -uo pipefail
export LC_ALL=C

cd "$(dirname "$0")/.." || exit 1
family=mutate
# shellcheck source=tests/judge.sh
. tests/judge.sh
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# A product of one file, a test that includes it, and a Makefile with rules as in the true one.
small_tree() {
	mkdir -p "$work"/tree/wire "$work"/tree/tests/unit
	cp tests/mutate.py "$work/tree/tests"
	cat >"$work/tree/Makefile" <<-'END'
		.RECIPEPREFIX = >
		build/%.o: %.c
		> @mkdir -p $(@D)
		> $(CC) -g -O1 $(SANITIZE) -Wall -Wextra -Werror -I. -MMD -MP -c $< -o $@
		.PRECIOUS: build/%.o
		build/test_%: build/tests/unit/test_%.o
		> $(CC) $(SANITIZE) $^ -o $@
	END
	cat >"$work/tree/wire/sum.c" <<-'END'
		#include <assert.h>
		#define TWO (1 + 1) /* a directive, and 1 + 1 in a comment */
		static_assert(1 + 1 == TWO, "1 + 1");
		static const int weight[2] = { 3, 5 };

		static int clamp(int a, int b)
		{
			if (a > b)
				return b; // a > b
			return a;
		}

		int sum(const int *value, int n)
		{
			int total = 0;

			while (n-- > 0)
				total += clamp(value[n], 10 /* in 2 lines */ +
					1) * weight[n];
			return total;
		}

		const char *name(void)
		{
			return "1 + 1 > 2 && '\"'";
		}
	END
}

small_test() {
	cat >"$work/tree/tests/unit/test_sum.c" <<-'END'
		#include "wire/sum.c"

		int main(void)
		{
			const int value[2] = { 1, 200 };

			return !(sum(value, 2) == 58 && clamp(11, 10) == 10 && clamp(2, 10) == 2 && *name() == '1');
		}
	END
}

# mutate SEED OPTION...: where a test hangs after 2 s, and not 10.
mutate() {
	python3 -Bc "import sys; sys.path.insert(0, '$work/tree/tests'); import mutate; mutate.SLOW = 2; mutate.main()" --seed "$@" 2>&1
}

# The choices of all seeds together: each change of each statement.
listed() {
	python3 -Bc "
import pathlib, sys
sys.path.insert(0, '$work/tree/tests')
import mutate
text = pathlib.Path('$work/tree/wire/sum.c').read_text()
print('\n'.join(sorted({f'{m.line}: {m.before} -> {m.after}' for seed in range(60) for m in mutate.mutants_of('wire/sum.c', text, seed)})))"
}

state() {
	(cd "$work/tree" && find . -type f -exec sha256sum {} + | sort)
}

# of WORD FILE: the mutants with this result.
of() {
	awk -F'\t' -v word="$1" '$1 == word { print $3 }' "$2"
}

small_tree
small_test
before=$(state)

# ---- Which mutants there are -------------------------------------------------------------------------------------------

judge 'each change of a statement can be chosen, and nothing else' "$(same "$(sort <<'END'
4: 3, 5 -> 2, 5
4: 3, 5 -> 3, 4
4: 3, 5 -> 3, 6
4: 3, 5 -> 4, 5
8: if (a > b) -> if (!(a > b))
8: if (a > b) -> if ((a > b) && 0)
8: if (a > b) -> if ((a > b) || 1)
8: if (a > b) -> if (a <= b)
8: if (a > b) -> if (a >= b)
15: int total = 0; -> int total = 1;
17: while (n-- > 0) -> while (!(n-- > 0))
17: while (n-- > 0) -> while (n++ > 0)
17: while (n-- > 0) -> while (n-- <= 0)
17: while (n-- > 0) -> while (n-- > 1)
17: while (n-- > 0) -> while (n-- >= 0)
18: total += clamp(value[n], 10 + 1) * weight[n]; -> ;
18: total += clamp(value[n], 10 + 1) * weight[n]; -> total += clamp(10 + 1, value[n]) * weight[n];
18: total += clamp(value[n], 10 + 1) * weight[n]; -> total += clamp(value[n], 10 + 0) * weight[n];
18: total += clamp(value[n], 10 + 1) * weight[n]; -> total += clamp(value[n], 10 + 1) / weight[n];
18: total += clamp(value[n], 10 + 1) * weight[n]; -> total += clamp(value[n], 10 + 2) * weight[n];
18: total += clamp(value[n], 10 + 1) * weight[n]; -> total += clamp(value[n], 10 - 1) * weight[n];
18: total += clamp(value[n], 10 + 1) * weight[n]; -> total += clamp(value[n], 11 + 1) * weight[n];
18: total += clamp(value[n], 10 + 1) * weight[n]; -> total += clamp(value[n], 9 + 1) * weight[n];
18: total += clamp(value[n], 10 + 1) * weight[n]; -> total -= clamp(value[n], 10 + 1) * weight[n];
END
)" "$(listed | sort)")"
first=$(mutate 1 --list)
judge 'the same seed, the same mutants' "$(same "$first" "$(mutate 1 --list)")"
judge 'another seed, others' "$([ "$first" != "$(mutate 2 --list)" ] || echo "seed 2 has those of seed 1")"
cp "$work/tree/wire/sum.c" "$work/sum.c"
sed -i 's/total = 0/total = 7/' "$work/tree/wire/sum.c"
judge 'a change of one statement leaves the mutants of the others' \
	"$(same "$(grep -v 'int total' <<<"$first" | sort)" "$(mutate 1 --list | grep -v 'int total' | sort)")"
cp "$work/sum.c" "$work/tree/wire/sum.c"

# ---- Detection by tests ------------------------------------------------------------------------------------------------

judge 'a test that holds all of it notices each' "$(
	mutate 1 --count 5 --out "$work/strong" >"$work/log"
	same 'all: 4 of 4 mutants noticed, 100.0 %' "$(tail -n 1 "$work/log")")"
judge 'what is in the file is not run again' "$(
	mutate 1 --count 5 --out "$work/strong" | grep '^noticed: ')"
sed -i 's/sum(value, 2) == 58/sum(value, 2) != -1/' "$work/tree/tests/unit/test_sum.c"
judge 'results of another tree are not mixed with these' "$(
	same "mutate: $work/strong has results of another tree: move it, or choose another file" "$(mutate 1 --out "$work/strong")")"
judge 'what a weaker test does not notice is in the list' "$(
	mutate 1 --count 5 --out "$work/weak" >"$work/log"
	same "$(grep -v ':8:' <<<"$first" | sort)" "$(of survived "$work/weak" | sort)")"
sed -i 's/return/for (volatile int i = 0; sum(value, 2) != 58; i = i)\n;\n&/' "$work/tree/tests/unit/test_sum.c"
judge 'a test that hangs notices it' "$(
	mutate 1 --count 1 --out "$work/hangs" >"$work/log"
	grep -q '^noticed.*hangs$' "$work/hangs" || cat "$work/log")"
judge 'the tree stays as it was' "$(same "$(grep -v test_sum <<<"$before")" "$(state | grep -v test_sum)")"

exit "$failed"
