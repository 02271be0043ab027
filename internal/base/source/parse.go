package source

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	yaml "go.yaml.in/yaml/v4"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source/spelling"
	"mcptest/internal/base/source/syntax"
)

// Limits of one document, far above the needs of handwritten suites.
const (
	MaxSize  = 10 << 20  // bytes of a file
	MaxDepth = 100       // lists and maps inside each other
	MaxNodes = 1_000_000 // values, keys, comments, anchors and tags; an upper bound is counted

	// Limits of values repeated by aliases, counted as if they were expanded: up to
	// maxAliasFree is always valid; above that, the limit is maxAliasRatio times the
	// written values, and at most maxAliasNodes.
	maxAliasFree  = 10_000
	maxAliasRatio = 100
	maxAliasNodes = 1_000_000
)

// Parse parses the YAML document of a file. The node is nil if the document cannot be
// parsed; it may be returned together with errors (such as duplicate keys), so that
// the caller can find more mistakes.
//
// Parse accepts UTF-8 with or without a byte order mark, and LF, CR LF or CR. It
// stops at the first syntax error; it finds all other mistakes in the same pass. A file
// that is JSON may have texts that YAML does not allow.
func Parse(f *File) (*Node, Diagnostics) {
	n, ds := parseYAML(f)
	if ds.HasErrors() {
		if root := parseJSON(f); root != nil {
			return root, nil
		}
	}
	return n, ds
}

func parseYAML(f *File) (*Node, Diagnostics) {
	if d, bad := checkBytes(f); bad {
		return nil, Diagnostics{d}
	}
	text := bytes.TrimPrefix(f.Data, utf8BOM)
	if d, bad := checkNodes(f, text); bad {
		return nil, Diagnostics{d}
	}
	loader, err := yaml.NewLoader(bytes.NewReader(text), yaml.WithPlugin(depthLimit{}))
	if err != nil {
		return nil, Diagnostics{newErrorAt(Pos{File: f}, "can't read YAML: %v", err)}
	}
	var doc yaml.Node
	if err := load(loader, &doc); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, Diagnostics{explainEmptyFile(f, text)}
		}
		return nil, Diagnostics{explainSyntaxError(f, err)}
	}
	if isEmptyDocument(&doc) {
		return nil, Diagnostics{explainEmptyFile(f, text)}
	}
	c := &converter{f: f, anchors: map[*yaml.Node]anchor{}, tabs: findTabLines(f)}
	root, _ := c.convertNode(doc.Content[0], 1, false)
	c.tabs.finish(c)
	c.reportSecondDocument(loader)
	ds := c.found.listAll()
	ds.Sort()
	return root, ds
}

// load reads the next document. A panic of the YAML library is converted to an error
// about the file, because a tool that reads other people's files must not crash.
func load(l *yaml.Loader, into *yaml.Node) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	return l.Load(into)
}

// explainSyntaxError explains an error of the YAML library.
func explainSyntaxError(f *File, err error) Diagnostic {
	var le *yaml.LoadError
	if !errors.As(err, &le) {
		d := newErrorAt(Pos{File: f}, "not valid YAML: %v", err)
		d.Code = "syntax"
		return d
	}
	e := syntax.Explain(syntax.Text{Line: f.cutLine, Lines: f.Lines()}, syntax.Problem{
		Msg: le.Message, Doing: le.ContextMsg,
		At:    syntax.Pos{Line: le.Mark.Line, Col: le.Mark.Column},
		Start: syntax.Pos{Line: le.ContextMark.Line, Col: le.ContextMark.Column},
	})
	if strings.Contains(le.Message, errTooDeep.Error()) {
		e = syntax.Explanation{Pos: e.Pos, Msg: errTooDeep.Error(), Code: "too-deep"}
	}
	return f.newExplained(e)
}

// newExplained converts an explanation to a diagnostic.
func (f *File) newExplained(e syntax.Explanation) Diagnostic {
	at := func(p syntax.Pos) Pos { return Pos{File: f, Line: p.Line, Col: p.Col} }
	d := Diagnostic{Pos: at(e.Pos), Msg: e.Msg, Hint: e.Hint, Code: cmp.Or(e.Code, "syntax")}
	if e.BeginMsg != "" {
		related := Related{Msg: e.BeginMsg}
		if e.Begin.Line > 0 {
			related.Pos = at(e.Begin)
		}
		d.Related = []Related{related}
	}
	return d
}

// depthLimit makes the YAML library stop at MaxDepth while scanning.
type depthLimit struct{}

var errTooDeep = fmt.Errorf("nested more than %d deep", MaxDepth)

func (depthLimit) CheckDepth(depth int, _ *yaml.DepthContext) error {
	if depth > MaxDepth {
		return errTooDeep
	}
	return nil
}

// CheckAlias is unused: it applies to values that the library builds.
func (depthLimit) CheckAlias(int, int) error { return nil }

// isEmptyDocument reports whether nothing follows a document marker.
func isEmptyDocument(doc *yaml.Node) bool {
	if len(doc.Content) == 0 {
		return true
	}
	n := doc.Content[0]
	return n.Kind == yaml.ScalarNode && n.Value == "" && n.Anchor == "" &&
		n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle|yaml.TaggedStyle) == 0
}

func explainEmptyFile(f *File, text []byte) Diagnostic {
	what := "the file is empty"
	if trimmed := bytes.TrimSpace(text); len(trimmed) > 0 {
		what = "the file has no content, only comments"
		if bytes.Contains(text, []byte("---")) {
			what = "the document is empty"
		}
	}
	d := newErrorAt(Pos{File: f, Line: 1, Col: 1}, "%s", what)
	d.Code = "empty"
	return d
}

// checkBytes rejects data that is not UTF-8 text, with the position of the first
// invalid byte. It runs before all other checks.
func checkBytes(f *File) (Diagnostic, bool) {
	if len(f.Data) > MaxSize {
		return explainTooLarge(f, int64(len(f.Data))), true
	}
	if d, bad := CheckEncoding(f); bad {
		return d, true
	}
	data := f.Data
	for i := 0; i < len(data); {
		c := data[i]
		if c < utf8.RuneSelf {
			if c < ' ' && c != '\t' && c != '\n' && c != '\r' {
				return explainBadControl(f, i, rune(c)), true
			}
			i++
			continue
		}
		r, size := utf8.DecodeRune(data[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			d := newErrorAt(f.At(i), "not UTF-8: byte 0x%02X", c)
			d.Code, d.Hint = "encoding", "save the file as UTF-8"
			return d, true
		case r < 0xA0 || r == 0x2028 || r == 0x2029 || r == 0xFFFE || r == 0xFFFF:
			return explainBadControl(f, i, r), true
		case r == 0xFEFF && i > 0:
			d := newErrorAt(f.At(i), "a byte order mark inside the text")
			d.Code, d.Hint = "encoding", "delete it, or write \"\\uFEFF\" in double quotes if it is meant"
			return d, true
		}
		i += size
	}
	return Diagnostic{}, false
}

// explainBadControl reports a character that YAML forbids, or (U+0085, U+2028, U+2029) that
// is a line break in YAML 1.1 but not in YAML 1.2, so that its meaning would silently
// change.
func explainBadControl(f *File, offset int, r rune) Diagnostic {
	d := newErrorAt(f.At(offset), "a control character (U+%04X) in the text", r)
	d.Code = "encoding"
	switch {
	case r == 0:
		d.Msg = "a NUL byte: this is not a text file"
	case r > 0xFF:
		d.Msg = fmt.Sprintf("an invisible character (U+%04X) in the text", r)
		fallthrough
	case r == 0x85:
		d.Hint = fmt.Sprintf(`write "\u%04X" in double quotes if it is meant`, r)
	default:
		d.Hint = fmt.Sprintf(`write "\x%02X" in double quotes if it is meant`, r)
	}
	return d
}

// CheckEncoding reports encodings that editors produce by accident.
func CheckEncoding(f *File) (Diagnostic, bool) {
	name := jsonv.DetectEncoding(f.Data)
	if name == "" {
		return Diagnostic{}, false
	}
	d := newErrorAt(Pos{File: f, Line: 1, Col: 1}, "the file is encoded in %s, not UTF-8", name)
	d.Code, d.Hint = "encoding", jsonv.SaveAsUTF8
	return d, true
}

// checkNodes estimates an upper bound of the number of nodes by counting the
// characters that can begin one, so that a file of commas is rejected before it
// becomes a tree of a gigabyte.
func checkNodes(f *File, text []byte) (Diagnostic, bool) {
	count := 0
	for i, c := range text {
		switch c {
		case ',', '[', '{':
			count++
		case '-', '?', ':':
			if i+1 == len(text) || spelling.IsBlank(text[i+1]) || c == ':' && text[i-min(i, 1)] == '"' {
				count++
			}
		case '#', '!', '&', '*':
			if i == 0 || spelling.IsBlank(text[i-1]) {
				count++
			}
		}
	}
	if count <= MaxNodes {
		return Diagnostic{}, false
	}
	d := newErrorAt(Pos{File: f}, "the file has too many values: the limit is %d", MaxNodes)
	d.Code, d.Hint = "too-large", "split it, or move data into files that tests read"
	return d, true
}

func explainTooLarge(f *File, size int64) Diagnostic {
	d := newErrorAt(Pos{File: f}, "the file is too large: %d MiB, the limit is %d MiB", (size+1<<20-1)>>20, MaxSize>>20)
	d.Code, d.Hint = "too-large", "split it, or move data into files that tests read"
	return d
}
