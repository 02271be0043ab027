package readme

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"mcptest/internal/base/lazy"
	"mcptest/internal/base/lists"
	"mcptest/internal/base/source"
)

// Block is the place of a table in a document: the bytes between the marker lines.
type Block struct {
	file       *source.File
	server     string // "" for any
	line       int    // of the opening marker
	start, end int
	newline    string // the line end of the opening marker
}

var (
	marker = lazy.Regexp(`^[ \t]*<!--\s*(/?)mcptest:tools\b(.*?)-->[ \t]*$`)
	// A server's name is quoted if it contains blanks.
	attribute = lazy.Regexp(`^\s*(?:server=(?:"([^"]+)"|([^\s"]+)))?\s*$`)
	fence     = lazy.Regexp("^ {0,3}(`{3,}|~{3,})")
)

const markers = "<!-- mcptest:tools --> and <!-- /mcptest:tools -->"

// Find returns the place of the table of a server: between the markers with
// server=NAME, or else between those without a name.
func Find(f *source.File, server string) (Block, source.Diagnostics) {
	blocks, diags := scan(f)
	if diags.HasErrors() {
		return Block{}, diags
	}
	for _, name := range []string{server, ""} {
		if i := slices.IndexFunc(blocks, func(b Block) bool { return b.server == name }); i >= 0 {
			return blocks[i], nil
		}
	}
	d := source.Errorf(source.Pos{File: f}, "", "no markers for the table of tools")
	d.Hint = "write the lines " + markers + " where the table belongs"
	names := lists.Map(blocks, func(b Block) string { return b.server })
	if len(names) > 0 {
		d = source.Errorf(source.Pos{File: f, Line: blocks[0].line, Col: 1}, "", "no markers for the table of the server %q", server)
		d.Hint = cmp.Or(source.DidYouMean(server, names), "the file has markers for "+strings.Join(names, ", "))
	}
	return Block{}, source.Diagnostics{d}
}

// scan finds all places. Markers in fenced code are examples.
func scan(f *source.File) (out []Block, diags source.Diagnostics) {
	var open *Block
	code := ""
	report := func(line int, format string, args ...any) {
		diags = append(diags, source.Errorf(source.Pos{File: f, Line: line, Col: 1}, "", format, args...))
	}
	offset, line := 0, 0
	for raw := range bytes.Lines(f.Data) {
		start := offset
		offset += len(raw)
		line++
		text := strings.TrimRight(string(raw), "\r\n")
		m := marker().FindStringSubmatch(strings.TrimPrefix(text, "\ufeff"))
		if f := fence().FindStringSubmatch(text); f != nil {
			switch {
			case code == "":
				code = f[1]
			case strings.HasPrefix(f[1], code) && strings.Trim(text, " \t"+code[:1]) == "":
				code = ""
			}
			continue
		}
		if m == nil || code != "" {
			continue
		}
		attr := attribute().FindStringSubmatch(m[2])
		switch {
		case attr == nil || m[1] != "" && strings.TrimSpace(m[2]) != "":
			report(line, "this marker can't be read: expected %s, or <!-- mcptest:tools server=NAME -->", markers)
		case m[1] == "" && open != nil:
			report(line, "this table begins inside the one of line %d: <!-- /mcptest:tools --> is missing before it", open.line)
			open = nil
		case m[1] == "":
			open = &Block{
				file:    f,
				server:  cmp.Or(attr[1], attr[2]),
				line:    line,
				start:   offset,
				newline: string(raw[len(text):]),
			}
			if i := slices.IndexFunc(out, func(b Block) bool { return b.server == open.server }); i >= 0 {
				report(line, "these are the second markers for the table: the first ones begin in line %d", out[i].line)
			}
		case open == nil:
			report(line, "this marker ends a table that has no beginning: <!-- mcptest:tools --> is missing before it")
		default:
			open.end = start
			out, open = append(out, *open), nil
		}
	}
	if open != nil {
		report(open.line, "this table has no end: <!-- /mcptest:tools --> is missing after it")
	}
	return out, diags
}

// With returns the document with the table in its place, with the line ends
// of the document.
func (b Block) With(table string) []byte {
	text := strings.ReplaceAll("\n"+table+"\n", "\n", b.newline)
	return slices.Concat(b.file.Data[:b.start], []byte(text), b.file.Data[b.end:])
}

// Diff lists the lines that another table removes (-) and adds (+).
func (b Block) Diff(table string) string {
	had := strings.Split(strings.ReplaceAll(string(b.file.Data[b.start:b.end]), "\r", ""), "\n")
	has := strings.Split(table, "\n")
	var out strings.Builder
	list := func(sign string, lines, other []string) {
		for _, l := range lines {
			if l != "" && !slices.Contains(other, l) {
				out.WriteString(sign + l + "\n")
			}
		}
	}
	list("-", had, has)
	list("+", has, had)
	return cmp.Or(out.String(), "the order of the lines, or blank lines, differ\n")
}
