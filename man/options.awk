# SPDX-License-Identifier: GPL-2.0-or-later
# From `rant --help`, which is made of the table that parses, to the options of a manual page in mdoc(7): headings and a tagged list for each.
# With -v program=config.sh: of `config.sh --help`, whose options stand below its usage, and whose steps become a list too.

function end_list() {
	if (open)
		print ".El"
	open = 0
}

# No escape of mdoc, and each dash as it is to be typed.
function text(s) {
	gsub(/\\/, "\\e", s)
	gsub(/-/, "\\-", s)
	return s ~ /^[.']/ ? "\\&" s : s
}

# Lines of at most 78 characters, and a sentence begins in one of its own.
function fill(s, words, n, i, line) {
	n = split(s, words, / +/)
	for (i = 1; i <= n; i++) {
		if (line != "" && (length(line) + length(words[i]) > 77 || line ~ /[.?!]$/ && line !~ /e\.g\.$/)) {
			print line
			line = ""
		}
		line = (line == "" ? "" : line " ") (line == "" && words[i] ~ /^[.']/ ? "\\&" : "") words[i]
	}
	if (line != "")
		print line
}

# "-l, --log FILE" as the head of an item.
function item(names, words, n, i, line) {
	n = split(names, words, / +/)
	line = ".It"
	for (i = 1; i <= n; i++)
		if (words[i] ~ /^--/)
			line = line " Fl \\-" text(substr(words[i], 3))
		else if (words[i] ~ /^-/)
			line = line " Fl " substr(words[i], 2, 1) " ,"
		else
			line = line " Ar " text(words[i])
	print line
}

/^[A-Z][^:]*:$/ {
	end_list()
	print ".Ss " substr($0, 1, length($0) - 1)
	steps = /^Steps:/
	next
}

# A line whose name is too long for its column has its text behind one blank.
/^ +-/ || (steps && /^  [a-z]/) {
	if (!open) {
		print ".Bl -tag -width Ds"
		open = 1
	}
	line = $0
	sub(/^ +/, "", line)
	if (steps) {
		split(line, words, / /)
		print ".It Cm " words[1]
		sub(/^[a-z]+ +/, "", line)
	} else if (match(line, /^(-[^ ], )?--[^ ]+( [A-Z][^ ]*)?(  +|$)/) || match(line, /^(-[^ ], )?--[^ ]+( [A-Z][^ ]*)? /)) {
		names = substr(line, 1, RLENGTH)
		sub(/ +$/, "", names)
		item(names)
		line = substr(line, RLENGTH + 1)
	}
	fill(text(line))
}

END { end_list() }
