# SPDX-License-Identifier: BSD-3-Clause
# Makes the manual of the API, section 3, from uncore.h:
#
#   awk -v out=FOLDER -v version=VERSION -f manual-api.awk uncore.h
#
# One page for each part of the header, that begins with a line of dashes and its title, and libuncore(3) for what stands before
# the first; a link for each function. A comment belongs to the declarations below it, up to a blank line or the next comment; one that
# is followed by a blank line stands for itself. Ends with 1 where a function has no comment.

function fail(text) { print FILENAME ":" FNR ": " text > "/dev/stderr"; failed = 1 }

# ---- words
# What means something to troff.
function plain(s) { gsub(/\\/, "\\e", s); return s }
function guarded(s) { return s ~ /^[.']/ ? "\\&" s : s }

# Code in a sentence in bold: `this`, calls, and names in capitals.
function words(s,    rest, done) {
	rest = plain(s)
	gsub(/ -/, " \\-", rest)
	sub(/^-/, "\\-", rest)
	done = ""
	while (match(rest, /`[^`]*`|unc_[a-z_*]+\(\)|UNC_[A-Z_*]+|UNCORE_[A-Z]+/)) {
		word = substr(rest, RSTART, RLENGTH)
		done = done substr(rest, 1, RSTART - 1)
		call = sub(/\(\)$/, "", word) ? "()" : ""
		gsub(/`/, "", word)
		done = done "\\fB" word "\\fR" call
		rest = substr(rest, RSTART + RLENGTH)
	}
	return done rest
}

# Tabs to the next column of eight, but a level of indentation is four.
function expanded(s,    i, c, made) {
	while (sub(/^\t/, "", s))
		made = made "    "
	for (i = 1; i <= length(s); i++) {
		c = substr(s, i, 1)
		if (c != "\t") {
			made = made c
			continue
		}
		do made = made " "; while (length(made) % 8)
	}
	return made
}

function code(s) {
	s = plain(expanded(s))
	gsub(/-/, "\\-", s)
	return guarded(s)
}

# ---- a comment as paragraphs: running text, lists ("- ..."), terms ("name  what"), and lines as they stand
function add(line) { body[page] = body[page] line "\n" }
function paragraph() { if (body[page] != "") add(".PP") }
function text(doc,    lines, n, i, s, indent, mode, wide) {
	n = split(doc, lines, "\n")
	mode = "new"
	for (i = 1; i <= n; i++) {
		s = lines[i]
		match(s, /^ */)
		indent = RLENGTH
		s = substr(s, indent + 1)
		if (s == "") {
			mode = "new"
			continue
		}
		if (mode ~ /item|term/ && indent > wide) {
			add(guarded(words(s)))
		} else if (s ~ /^- /) {
			add(".IP \\(bu 2\n" guarded(words(substr(s, 3))))
			mode = "item"
			wide = indent
		} else if (indent && match(s, /[^ ]  +[^ ]/)) {
			add(".TP\n\\fB" plain(substr(s, 1, RSTART)) "\\fR")
			s = substr(s, RSTART + 1)
			sub(/^ +/, "", s)
			add(guarded(words(s)))
			mode = "term"
			wide = indent
		} else if (indent && mode !~ /item|term/) {
			add(".RS 4\n.nf\n" code(s) "\n.fi\n.RE")
			mode = "code"
		} else {
			if (s ~ /^Errors: /) {
				sub(/^Errors: /, "", s)
				paragraph()
				add("\\fBErrors:\\fR")
			} else if (mode != "text") {
				paragraph()
			}
			add(guarded(words(s)))
			mode = "text"
		}
	}
}

# ---- the parts of the header
function open_page(title,    slug) {
	flush()
	slug = title
	sub(/ .*/, "", slug)
	page = title == "" ? "libuncore" : "uncore_" slug
	about[page] = title == "" ? "performance monitors of Intel sockets outside the cores" : "libuncore: " title
	pages[++n_pages] = page
}

function prototype(s) {
	sub(/^UNC_API /, "", s)
	gsub(/[ \t\n]+/, " ", s)
	return code(s)
}

function function_of(s) {
	match(s, /unc_[a-z_]+\(/)
	return substr(s, RSTART, RLENGTH - 1)
}

# What was read, a comment and the declarations below it, goes to the page.
function flush(    i, d) {
	if (doc == "" && !n_declared)
		return
	for (i = 1; i <= n_declared; i++) {
		d = declared[i]
		if (d ~ /^UNC_API /) {
			if (doc == "")
				fail(function_of(d) "() has no comment")
			names[page] = names[page] (names[page] == "" ? "" : ",\n") function_of(d)
			link[function_of(d)] = page
			synopsis[page] = synopsis[page] ".PP\n.B " prototype(d) "\n"
			add(".SS " function_of(d) "()\n.B " prototype(d))
		}
	}
	for (i = 1; i <= n_declared; i++)
		if (declared[i] !~ /^UNC_API /)
			block(declared[i])
	text(doc)
	doc = ""
	n_declared = 0
}

# A declaration of more than a function, as it stands.
function block(d,    lines, n, i, head) {
	head = d
	sub(/[ ]*\n.*/, "", head)
	sub(/ ?[{;].*/, "", head)
	sub(/^#define /, "", head)
	sub(/\(library\).*/, "()", head)
	sub(/ 0x.*/, "", head)
	if (d !~ /^enum \{|^typedef/)
		add(".SS " code(head))
	else
		paragraph()
	n = split(d, lines, "\n")
	add(".nf")
	for (i = 1; i <= n; i++) {
		sub(/[ \t]*\\$/, " \\", lines[i])
		add(code(lines[i]))
	}
	add(".fi")
}

function declare(line) { declared[++n_declared] = line }

BEGIN { open_page("") }

# A comment in the first column.
!inside && /^\/\* --+ .* \*\/$/ {
	sub(/^\/\* -+ /, "")
	sub(/ \*\/$/, "")
	open_page($0)
	next
}
!inside && /^\/\*/ {
	if (/SPDX-License-Identifier/)
		next
	flush()
	inside = "comment"
	sub(/^\/\* ?/, "")
}
inside == "comment" {
	last = sub(/ ?\*\/$/, "")
	sub(/^ \* ?/, "")
	if (!(doc == "" && $0 == ""))
		doc = doc (doc == "" ? "" : "\n") $0
	if (last)
		inside = ""
	next
}
# A declaration goes on until it is closed.
inside == "declaration" {
	declared[n_declared] = declared[n_declared] "\n" $0
	if (ending == "define" ? !/\\$/ : ending == "brace" ? /^}/ : /;/)
		inside = ""
	next
}
/^$/ { flush(); next }
/^#define UNC_API( |$)|^#(if|ifdef|ifndef|else|endif|include)|^#define UNCORE_H|^extern "C"|^}/ { flush(); next }
/^struct [a-z_]+;$/ { next }
/^(UNC_API|struct|enum|typedef|#define) / {
	declare($0)
	ending = /^#define/ ? "define" : /^(struct|enum)/ ? "brace" : "function"
	if (ending == "define" ? /\\$/ : ending == "brace" ? !/};/ : !/;/)
		inside = "declaration"
	next
}
{ fail("not understood: " $0) }

END {
	flush()
	for (i = 1; i <= n_pages; i++) {
		page = pages[i]
		file = out "/" page ".3"
		printf(".\\\" SPDX-License-Identifier: BSD-3-Clause\n.\\\" Made from uncore.h; do not edit.\n") > file
		printf(".TH %s 3 \"\" \"libuncore %s\" \"libuncore\"\n.nh\n.ad l\n", toupper(page), version) > file
		printf(".SH NAME\n%s%s \\- %s\n", page, names[page] == "" ? "" : ",\n" names[page], about[page]) > file
		printf(".SH SYNOPSIS\n.B #include <uncore.h>\n%s", synopsis[page]) > file
		printf(".SH DESCRIPTION\n%s.SH SEE ALSO\n.BR uncore (1)", body[page]) > file
		for (j = 1; j <= n_pages; j++)
			if (j != i)
				printf(",\n.BR %s (3)", pages[j]) > file
		print "" > file
		close(file)
	}
	for (name in link) {
		file = out "/" name ".3"
		printf(".so man3/%s.3\n", link[name]) > file
		close(file)
	}
	exit failed
}
