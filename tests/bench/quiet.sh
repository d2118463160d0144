# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034,SC2154
#
# Was the machine quiet while bench.sh measured? Three things are looked at: the CPU time of other tasks and of the host of a virtual
# machine had of the two CPUs, how far a bare loop was from itself, and whether rant called a run void. For bench.sh alone.

most_for_others=2  # % of both CPUs
most_off_control=2 # %: difference from 1 of the median ratio of a loop to itself

control=bare-kernel-connected # the loop that is compared with itself
others_ns=0 watched_ns=0      # of the bare loops
voided=0                      # runs of rant
load_before=$(cut -d' ' -f1-3 /proc/loadavg)
busy='' busy_line=''

# One line for each process that is there: number, name, ticks of CPU time, with those of its children that have ended.
list_processes() {
	cat /proc/[0-9]*/stat 2>/dev/null | awk -v own=$$ '
		{ rest = name = $0; sub(/.*\) /, "", rest); sub(/^[0-9]+ \(/, "", name); sub(/\) [^)]*$/, "", name) }
		$1 != own && split(rest, f, " ") > 15 {
			gsub(/[^a-zA-Z0-9_.:\/-]/, "_", name)
			print $1, name, f[12] + f[13] + f[14] + f[15]
		}'
}

# before or after the runs: CPU time of the processes, and ticks of both CPUs: stolen by the host, and all.
look_at_machine() {
	list_processes >"$work/processes-$1" || true
	awk -v a="cpu$cpu_e" -v b="cpu$cpu_r" '$1 == a || $1 == b { for (i = 2; i <= 9; i++) all += $i; stolen += $9 }
		END { print stolen + 0, all + 0 }' /proc/stat >"$work/ticks-$1"
}

# The three names that had most, with seconds. For processes that began and ended in between, their parent is named.
busiest() {
	awk -v tick="$(getconf CLK_TCK)" 'NR == FNR { had[$1, $2] = $3; next }
		{ got[$2] += $3 - had[$1, $2] }
		END { for (name in got) if (got[name] >= tick / 10) printf "%.1f %s\n", got[name] / tick, name }' \
		"$work/processes-before" "$work/processes-after" | sort -gr | head -n 3 |
		awk '{ printf "%s%s %s s", (NR > 1 ? ", " : ""), $2, $1 }'
}

# Sets shares and, if they are too large, a reason.
judge_shares() {
	local before after names stolen others=0

	read -ra before <"$work/ticks-before"
	read -ra after <"$work/ticks-after"
	stolen=$(awk "BEGIN { n = ${after[1]} - ${before[1]}
		printf \"%.1f\", (n > 0 ? (${after[0]} - ${before[0]}) * 100 / n : 0) }")
	shares='what other tasks had is not known (/proc/self/schedstat)'
	if ((watched_ns)); then
		others=$(awk "BEGIN { printf \"%.1f\", $others_ns * 100 / $watched_ns }")
		shares="other tasks had $others % of the two CPUs"
	fi
	names=$(busiest)
	shares+=", the host took $stolen % (limit $most_for_others${names:+; most: $names})"
	if awk "BEGIN { exit !($others + $stolen > $most_for_others) }"; then
		reasons+=("$shares")
	fi
}

# Sets self and, if it is too far from 1, a reason: the part outside of the interval of its median is not chance. The width of that is
# in each row itself. Before the end of a first turn there is none.
judge_control() {
	self='no bare loop ran beside itself'
	[[ ${figures[rate/$control:control/control]:-} && ${figures[rate/$control:control/$control]:-} ]] || return 0
	compare rate "$control" control
	self=$(printf 'a bare loop beside itself made %.3f (%.3f to %.3f) in %d turns' "${ratio[@]}" ${#ratios[@]})
	self+=" (limits: 1 +- $most_off_control %, 1 in the interval)"
	if awk "BEGIN { off = ${ratio[0]} - 1
		exit !(off * off > ($most_off_control / 100) ^ 2 || ${ratio[1]} > 1 || ${ratio[2]} < 1) }"; then
		reasons+=("$self")
	fi
}

# Sets busy (empty: no) and busy_line, which names the reasons. The load average is of the minutes before, and only printed.
judge_machine() {
	local reasons=() shares self

	judge_shares
	judge_control
	((voided == 0)) || reasons+=("rant called $voided of its runs void")
	busy=''
	busy_line="Quiet enough to tell: $shares; $self"
	if ((${#reasons[@]})); then
		busy=yes
		busy_line="Too busy to tell: $(printf '%s; ' "${reasons[@]}")"
		busy_line=${busy_line%; }
	fi
	busy_line+="; load average at the start $load_before"
}
