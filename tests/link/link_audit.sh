# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034,SC2154
#
# Part of link.sh: recomputes the sums of a report and of a log.

# The identities of struct account, of the histogram and of the log, from the text of a report.
audit() {
	local name=$1

	! grep -qs 'do not balance' "$work/$name.err" || complain "$name says that its accounts do not balance"
	! grep -qs $'\033' "$work/$name.err" || complain "$name drew progress although stderr is no terminal"
	grep -q '^Packets:' "$work/$name.out" || return 0
	while IFS= read -r line; do
		complain "$name: $line"
	done < <(awk '
		function same(what, a, b) { if (a != b) print what ": " a " is not " b }
		/^Packets:/ { table = 1 }
		/^(Directions|Reflector.s stamps)/ { table = 3 }
		/^Missing stamps:/ { table = 2 }
		/^(Response|Network) Histogram:/ { parts = 1 }
		/^  Buckets \(us\):/ { buckets = !parts; next }
		/^$/ { if (table == 2) table = 0; buckets = 0 }
		table == 1 && match($0, /^  [A-Z][A-Za-z -]*[a-zA-Z] *:  /) {
			key = substr($0, 3, RLENGTH - 5); sub(/ *:$/, "", key); sub(/ +$/, "", key)
			n[key] = substr($0, RLENGTH + 1) + 0
		}
		buckets && / \| / { sub(/.*\|/, ""); in_powers += $1; next } # parts of the overflow
		buckets { line = $0; sub(/.*\) :|.* - +[0-9.]+ :/, "", line); split(line, f, " "); in_buckets += f[1]; any = 1; if (/overflow/) above = f[1] }
		/^  all others 0$/ { folded = 1 }
		/^MIN: / { total = $0; sub(/.*Total Samples: /, "", total); total += 0 }
		/^  Samples   :/ && !parts { samples = $3; summary = 1 }
		/^Log: / { log_line = 1; used = $2; of = $4; line = $0; sub(/;.*/, "", line); rows = split(line, reason, ",")
			for (i = 2; i <= rows; i++) without += reason[i] }
		END {
			placed = n["Warm-up"] + n["Recorded"] + n["Unstamped"] + n["Negative"] + n["Stepped"]
			if ("Lost" in n) {
				same("Sent", n["Sent"], placed + n["Lost"] + n["Not asked"] + n["Unfinished"] + n["Closing"])
				if (!("Answered" in n) && !folded) print "there is no row Answered"
				same("Received", n["Received"], n["Answered"] + n["Late"] + n["Duplicate"] + n["Foreign"] + n["Malformed"] + n["Unverified"])
				rest = n["Answered"] - placed - n["Not asked"]
				if (rest < 0 || rest > n["Unfinished"] + n["Closing"]) print "Answered: " n["Answered"] ", of these " rest " nowhere"
			} else {
				same("Sent", n["Sent"], placed)
				refused = n["Disallowed"] + n["Too short"] + n["No session"] + n["Replayed"] + n["Over rate"]
				same("Received", n["Received"], n["Sent"] + n["Foreign"] + n["Malformed"] + n["Unverified"] + n["Unanswered"] + n["Truncated requests"] + refused)
				if (n["Evicted"] > 0) same("Sessions", n["Sessions"], n["Evicted"] + 1024)
			}
			same("Total Samples", total, n["Recorded"])
			if (summary) same("Samples", samples, total)
			if (any) same("sum of the buckets", in_buckets, total)
			if (any) same("sum of the powers of two", in_powers + 0, above + 0)
			if (log_line) { same("records of the log", used + without, of); same("Log of", of, total) }
		}' "$work/$name.out")
}

# ---- The log ---------------------------------------------------------------------------------------------------------

# awk would say nothing about a file that is not there.
has_log() {
	[ -s "$logs/$1.log" ] || { complain "there is no $1.log" && false; }
}

# columns NAME COLUMN...: the header, in order and in its widths (10, 30 each, 15), the rule, and every line in these
# widths, but for notes.
columns() {
	local name=$1 line

	has_log "$name" || return
	shift
	while IFS= read -r line; do
		complain "$name.log: $line"
	done < <(awk -v want="$*" '
		function field(i) {
			at = i == 1 ? 1 : 12 + (i - 2) * 31
			text = substr($0, at, i == 1 ? 10 : i == n ? 15 : 30)
			if (i > 1 && substr($0, at - 1, 1) != " ") print "line " NR ": no blank before column " i
			sub(/^ +/, "", text)
			return text
		}
		BEGIN { n = split(want, names, " ") }
		NR == 2 { if ($0 !~ /^-+$/ || length($0) != 150) print "line 2 is no rule of 150 dashes"; next }
		NR > 2 && /^# / { next }
		{
			if (length($0) != 10 + 31 * (n - 2) + 16) { print "line " NR " has " length($0) " characters"; exit }
			for (i = 1; i <= n; i++) {
				text = field(i)
				pattern = i == 1 || i == n ? "^[0-9]+$" : "^[0-9]+[.][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9]$"
				if (NR == 1 ? text != names[i] : text !~ pattern && text != "-") {
					print "line " NR ", column " i ": " text; exit
				}
			}
		}
		END { if (NR < 3) print "has no records" }' "$logs/$name.log")
}

# whole_log FILE: a log in text or csv, finished or not: begun by its header, of whole lines, and no sequence number twice
# or out of order. Sets `log_has` to its records, those that its notes say are left out, those that are missing before the
# last record and no note reports, and the number of the last record.
whole_log() {
	local line

	log_has=(0 0 0 0)
	[ -s "$1" ] || { complain "there is no ${1##*/}" && return; }
	[ -z "$(tail -c 1 "$1")" ] || complain "${1##*/} does not end with a newline"
	while IFS= read -r line; do
		case $line in
		has*) read -ra log_has <<<"${line#has }" ;;
		*) complain "${1##*/}: $line" ;;
		esac
	done < <(awk '
		NR == 1 {
			csv = /^SEQ,/
			if (csv) FS = ","
			n = csv ? split($0, names, ",") : NF
			if (!/^ *SEQ[ ,]/) { print "begins with " substr($0, 1, 40); exit }
			last = -1
			next
		}
		NR == 2 && !csv { if (!/^-+$/) print "line 2 is no rule of dashes"; next }
		/^# / { if (match($0, /^# [0-9]+ records left out from SEQ [0-9]+ on: /)) { split($0, word, " "); told += word[2] } next }
		NF != n { print "line " NR " has " NF " fields: " $0; exit }
		$1 + 0 <= last { print "line " NR " is of " $1 + 0 ", the one before of " last; exit }
		{ missing += $1 - last - 1; last = $1 + 0; records++ }
		END { if (n) print "has " records + 0, told + 0, missing - told, last }' "$1")
}

# log_agrees NAME FROM TO: the last column is the difference of two stamps; the file has as many records as the report
# says; and minimum, maximum, average and percentiles of the report are those of the records, when all are there.
log_agrees() {
	local line

	has_log "$1" || return
	while IFS= read -r line; do
		complain "$1.log: $line"
	done < <(awk 'NR > 2 && !/^# / { print $NF }' "$logs/$1.log" | sort -n | awk -v from="$2" -v to="$3" '
		function ns(later, earlier) {
			split(later, a, "."); split(earlier, b, ".")
			return (a[1] - b[1]) * 1000000000 + a[2] - b[2]
		}
		function rank(q, r) { r = int(q * n / 100); if (r < q * n / 100 - 1e-9) r++; return value[r < 1 ? 1 : r] }
		part == 0 { value[++n] = $1; sum += $1; next }
		part == 1 {
			if (FNR == 1) for (i = 1; i <= NF; i++) { if ($i == from) f = i; if ($i == to) t = i }
			if (FNR == 1 && (!f || !t)) { print "no column " from " or " to; exit }
			if (FNR > 2 && !/^# / && ns($t, $f) != $NF) { print "SEQ " $1 ": " to " - " from " is not " $NF; exit }
			next
		}
		/^Log: / && $2 != n { print "has " n " records, the report says " $2 }
		/^Log: / && $2 == $4 { complete = 1 }
		/^MIN: / { min = $2; max = $6; avg = $10 }
		/Percentiles/ { summary = 1 }
		/^(Response|Network) Histogram:/ { parts = 1 }
		/^    [0-9.]+th *:  / && !parts { q = $1 + 0; p = $0; sub(/.*:  /, "", p); percentile[q] = p + 0 }
		END {
			if (!complete || !n) exit
			if (min != value[1] || max != value[n]) print "MIN and MAX should be " value[1] " " value[n]
			if (avg - sum / n > 1 || sum / n - avg > 1) print "AVG should be " sum / n
			for (q in percentile) {
				count++
				if (sprintf("%.3f", rank(q) / 1000) != sprintf("%.3f", percentile[q]))
					print q "th percentile should be " rank(q) / 1000 ", not " percentile[q]
			}
			if (summary && count < 6) print "the report has only " count + 0 " percentiles"
		}' part=0 - part=1 "$logs/$1.log" part=2 "$work/$1.out")
}

# logs_join: the records of the emitter are those of the reflector, and the times of one exchange are in order: all are
# of one clock here.
logs_join() {
	local line

	{ has_log e && has_log r; } || return
	while IFS= read -r line; do
		complain "join: $line"
	done < <(awk -v unstamped="$(row r Unstamped)" '
		FNR == 1 { part++; for (i = 2; i < NF; i++) name[part, i] = $i; next }
		FNR == 2 || /^# / { next }
		part == 1 { for (i = 2; i < NF; i++) if (name[1, i] ~ /^T2/) { t2[$1] = "x" $i; break }
			for (; i < NF; i++) t3[$1] = "x" $i; next }
		{
			records++
			if (!($1 in t2)) { missing++; next }
			t4 = ""
			for (i = 2; i < NF; i++) {
				if (name[2, i] ~ /^T1/) t1 = "x" $i
				if (name[2, i] ~ /^T4/ && !t4) t4 = "x" $i
			}
			if (t1 > t2[$1] || t2[$1] > t3[$1] || t3[$1] > t4) { print "SEQ " $1 ": times out of order"; exit }
		}
		END {
			if (!records || missing + 0 > unstamped + 0)
				print missing + 0 " of " records + 0 " records have no other half"
		}' "$logs/r.log" "$logs/e.log")
}

first_record() {
	[ "$(awk 'NR == 3 { print $1 }' "$logs/$1.log")" = "$2" ] || complain "the first record of $1.log is not SEQ $2"
}
