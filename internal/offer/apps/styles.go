package apps

import "strings"

// A styleReader reads a style sheet once.
type styleReader struct {
	css    string
	at     int
	rule   string // the name of the at-rule that was read last, until ; or {
	blocks []string
	found  func(use, string)
}

// maxBlocks bounds the nesting that is remembered.
const maxBlocks = 50

// scanStyles finds the URLs that a style sheet makes a browser load.
func scanStyles(css string, found func(use, string)) {
	r := &styleReader{css: css, found: found}
	for r.at < len(r.css) {
		r.step()
	}
}

// step reads one character or one thing that hides others.
func (r *styleReader) step() {
	c := r.css[r.at]
	switch {
	case strings.HasPrefix(r.css[r.at:], "/*"):
		r.skipComment()
	case c == '"' || c == '\'':
		text := r.readString()
		if r.rule == "import" {
			r.found(useStylesheet, text)
			r.rule = "imported"
		}
	case c == '@':
		r.at++
		r.rule = strings.ToLower(r.readName())
	case c == ';':
		r.at++
		r.rule = ""
	case c == '{':
		r.at++
		if len(r.blocks) < maxBlocks {
			r.blocks = append(r.blocks, r.rule)
		}
		r.rule = ""
	case c == '}':
		r.at++
		r.blocks = r.blocks[:max(0, len(r.blocks)-1)]
		r.rule = ""
	case isNameByte(c):
		if name := r.readName(); strings.EqualFold(name, "url") && r.at < len(r.css) && r.css[r.at] == '(' {
			r.readURL()
		}
	default:
		r.at++
	}
}

// readURL reads url(…), whose opening parenthesis comes next.
func (r *styleReader) readURL() {
	r.at++
	for r.at < len(r.css) && strings.IndexByte(" \t\r\n\f", r.css[r.at]) >= 0 {
		r.at++
	}
	address := ""
	if r.at < len(r.css) && (r.css[r.at] == '"' || r.css[r.at] == '\'') {
		address = r.readString()
	} else if end := strings.IndexByte(r.css[r.at:], ')'); end >= 0 {
		address = strings.TrimSpace(r.css[r.at : r.at+end])
		r.at += end
	} else {
		r.at = len(r.css)
	}
	switch {
	case r.rule == "import":
		r.found(useStylesheet, address)
		r.rule = "imported"
	case r.rule == "namespace" || r.rule == "imported":
	case r.isIn("font-face"):
		r.found(useFont, address)
	default:
		r.found(useImage, address)
	}
}

// isIn reports whether the innermost block is of an at-rule.
func (r *styleReader) isIn(rule string) bool {
	return len(r.blocks) > 0 && r.blocks[len(r.blocks)-1] == rule
}

// skipComment skips a comment, which may have no end.
func (r *styleReader) skipComment() {
	end := strings.Index(r.css[r.at+2:], "*/")
	if end < 0 {
		r.at = len(r.css)
		return
	}
	r.at += 2 + end + 2
}

// readString reads a text in quotes. A line break ends one that is not closed.
func (r *styleReader) readString() string {
	quote := r.css[r.at]
	r.at++
	start := r.at
	for r.at < len(r.css) {
		c := r.css[r.at]
		if c == quote || c == '\n' {
			text := r.css[start:r.at]
			r.at++
			return text
		}
		if c == '\\' {
			r.at++
		}
		r.at++
	}
	r.at = len(r.css)
	return r.css[start:]
}

// readName reads a name.
func (r *styleReader) readName() string {
	start := r.at
	for r.at < len(r.css) && isNameByte(r.css[r.at]) {
		r.at++
	}
	return r.css[start:r.at]
}

// isNameByte reports whether a byte is part of a name.
func isNameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c >= 0x80
}
