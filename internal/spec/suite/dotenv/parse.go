package dotenv

import (
	"strings"

	"mcptest/internal/base/source"
)

// Var is one environment entry.
type Var struct {
	Name, Value string
	Pos         source.Pos
}

// Parse reads a file. isName decides which names are allowed.
func Parse(f *source.File, isName func(string) bool) ([]Var, source.Diagnostics) {
	// The file of the positions has no text, so that no message shows a line of it.
	p := parser{
		file: &source.File{Name: f.Name, Path: f.Path}, line: 1, isName: isName,
		text: strings.TrimPrefix(string(f.Data), "\ufeff"),
	}
	if d, bad := source.CheckEncoding(f); bad {
		d.Code, d.Pos.File = "env-file", p.file
		p.diags.Add(d)
		return nil, p.diags
	}
	return p.parseVars(), p.diags
}

type parser struct {
	file   *source.File
	text   string // the rest of the text
	line   int
	isName func(string) bool
	diags  source.Diagnostics
}

func (p *parser) fail(line int, format string, args ...any) {
	d := source.Errorf(source.Pos{File: p.file, Line: line, Col: 1}, "", format, args...)
	d.Code = "env-file"
	p.diags.Add(d)
}

func (p *parser) parseVars() []Var {
	var out []Var
	seen := map[string]source.Pos{}
	for p.text != "" {
		line := p.line
		v, ok := p.parseEntry()
		if !ok {
			continue
		}
		v.Pos = source.Pos{File: p.file, Line: line, Col: 1}
		if first, twice := seen[v.Name]; twice {
			p.diags.Add(source.Diagnostic{
				Pos: v.Pos, Severity: source.Warning, Code: "env-file", Msg: v.Name + " is set twice; the last value is used",
				Related: []source.Related{{Pos: first, Msg: "first set here"}},
			})
		}
		seen[v.Name] = v.Pos
		out = append(out, v)
	}
	return out
}

// parseEntry reads one line, or several if a quoted value contains line breaks.
func (p *parser) parseEntry() (Var, bool) {
	at := p.line
	line, _, _ := strings.Cut(p.text, "\n")
	if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
		p.cutLine()
		return Var{}, false
	}
	name, _, ok := strings.Cut(line, "=")
	name = strings.TrimSpace(name)
	if rest, is := strings.CutPrefix(name, "export"); is && rest != "" && (rest[0] == ' ' || rest[0] == '\t') {
		name = strings.TrimSpace(rest)
	}
	if !ok || !p.isName(name) {
		p.cutLine()
		p.fail(at, "expected NAME=value")
		return Var{}, false
	}
	p.text = strings.TrimLeft(p.text[strings.IndexByte(p.text, '=')+1:], " \t")
	if p.text != "" && (p.text[0] == '\'' || p.text[0] == '"') {
		value, ok := p.parseQuoted(p.text[0])
		if !ok {
			p.fail(at, "the quoted value of %s does not end", name)
			p.text = ""
			return Var{}, false
		}
		if rest := strings.TrimSpace(p.cutLine()); rest != "" && rest[0] != '#' {
			p.fail(at, "text after the quoted value of %s", name)
			return Var{}, false
		}
		return Var{Name: name, Value: value}, !p.hasNUL(at, name, value)
	}
	value := p.cutLine()
	for i := range len(value) {
		if value[i] == '#' && (i == 0 || value[i-1] == ' ' || value[i-1] == '\t') {
			value = value[:i]
			break
		}
	}
	value = strings.TrimSpace(value)
	return Var{Name: name, Value: value}, !p.hasNUL(at, name, value)
}

func (p *parser) hasNUL(line int, name, value string) bool {
	if strings.ContainsRune(value, 0) {
		p.fail(line, "the value of %s holds a NUL character", name)
		return true
	}
	return false
}

func (p *parser) cutLine() string {
	line, rest, _ := strings.Cut(p.text, "\n")
	p.text = rest
	p.line++
	return strings.TrimSuffix(line, "\r")
}

// escapes of a double-quoted value; a backslash before anything else stays.
var escapes = map[byte]string{'n': "\n", 'r': "\r", 't': "\t", '"': `"`, '\\': `\`, '$': "$", '`': "`"}

func (p *parser) parseQuoted(quote byte) (string, bool) {
	var b strings.Builder
	for i := 1; i < len(p.text); i++ {
		c := p.text[i]
		switch {
		case c == quote:
			p.text = p.text[i+1:]
			return b.String(), true
		case quote == '"' && c == '\\' && i+1 < len(p.text) && escapes[p.text[i+1]] != "":
			b.WriteString(escapes[p.text[i+1]])
			i++
		default:
			if c == '\n' {
				p.line++
			}
			b.WriteByte(c)
		}
	}
	return "", false
}
