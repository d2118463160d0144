# SPDX-License-Identifier: GPL-2.0-or-later
# From `config.sh --help` to the options of a manual page in mdoc(7): a tagged list of the options, and a list of the steps.

function end_list() {
	if (open)
		print ".El"
	open = 0
}

# Escapes for mdoc: backslashes, and dashes that are typed.
function text(s) {
	gsub(/\\/, "\\e", s)
	gsub(/-/, "\\-", s)
	return s ~ /^[.']/ ? "\\&" s : s
}

# Lines of at most 78 characters; each sentence begins on a line of its own.
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

# The head of an item for "-l, --log FILE".
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

# After a name that is too long for its column, the text follows after one blank.
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
