# SPDX-License-Identifier: GPL-2.0-or-later
# From docs/options.md to the options of a manual page in mdoc(7): each section that describes options, with its paragraphs and a tagged list.

function end_list() {
	if (in_list)
		print ".El"
	in_list = 0
}

# Inline Markdown: `code` becomes bold, *emphasis* italic, a link its text.
function inline(s, out, code, slant, link, c, i) {
	while (match(s, /\[[^]]*\]\([^)]*\)/)) {
		link = substr(s, RSTART + 1, RLENGTH - 1)
		sub(/\]\(.*$/, "", link)
		s = substr(s, 1, RSTART - 1) link substr(s, RSTART + RLENGTH)
	}
	gsub(/\\/, "\\e", s)
	for (i = 1; i <= length(s); i++) {
		c = substr(s, i, 1)
		if (c == "`") {
			code = !code
			c = code ? "\\fB" : "\\fR"
		} else if (c == "*" && !code) {
			slant = !slant
			c = slant ? "\\fI" : "\\fR"
		} else if (c == "-" && code) {
			c = "\\-"
		}
		out = out c
	}
	return out
}

# Lines of at most 78 characters; each sentence begins on a line of its own.
function fill(s, words, n, i, line) {
	n = split(s, words, / +/)
	for (i = 1; i <= n; i++) {
		if (line != "" && (length(line) + length(words[i]) > 77 || line ~ /[.?!]\)?$/ && line !~ /(e\.g|11\.1\.1)\.$/)) {
			print line
			line = ""
		}
		line = (line == "" ? "" : line " ") (line == "" && words[i] ~ /^[.']/ ? "\\&" : "") words[i]
	}
	if (line != "")
		print line
}

# "`-l`, `--log FILE`" as the head of an item.
function item(names, words, n, i, line) {
	gsub(/[`,]/, "", names)
	n = split(names, words, / +/)
	line = ".It"
	for (i = 1; i <= n; i++) {
		if (words[i] ~ /^--/) {
			gsub(/-/, "\\-", words[i])
			line = line " Fl " substr(words[i], 3)
		} else if (words[i] ~ /^-/)
			line = line " Fl " substr(words[i], 2, 1) " ,"
		else
			line = line " Ar " words[i]
	}
	print line
}

# A paragraph is complete: printed, or kept until its section is known to describe options.
function flush(names, i) {
	if (paragraph == "")
		return
	if (paragraph ~ /^- \*\*`-/) {
		if (!has_options) {
			print ".Ss " section
			has_options = 1
			for (i = 1; i <= intros; i++) {
				if (i > 1)
					print ".Pp"
				fill(inline(intro[i]))
			}
		}
		if (!in_list)
			print ".Bl -tag -width Ds"
		in_list = 1
		names = substr(paragraph, 5, index(paragraph, "**: ") - 5)
		item(names)
		fill(inline(substr(paragraph, index(paragraph, "**: ") + 4)))
	} else if (has_options) {
		end_list()
		print ".Pp"
		fill(inline(paragraph))
	} else if (section != "") {
		intro[++intros] = paragraph
	}
	paragraph = ""
}

/^#/ {
	flush()
	end_list()
	section = /^## / ? substr($0, 4) : ""
	has_options = intros = 0
	next
}

/^```/ { fenced = !fenced }

/^$/ || /^\|/ || /^    / || /^```/ || fenced {
	flush()
	next
}

/^- / { flush() }

{
	sub(/^  +/, "")
	paragraph = paragraph (paragraph == "" ? "" : " ") $0
}

END {
	flush()
	end_list()
}
