package source

import (
	"bytes"

	yaml "go.yaml.in/yaml/v4"

	"mcptest/internal/base/source/syntax"
)

// tabLines finds tabs used as indentation that the YAML library accepts: a line that
// continues a plain scalar may begin with any white space, so that
//
//	a: x
//	  <tab>- y
//
// is read as the text "x - y". Lines inside quotes, blocks and flow collections (JSON
// indented with tabs) are valid.
type tabLines struct {
	suspects []int      // lines that begin with white space containing a tab
	prev     *yaml.Node // the last node that began before the current line
	prevFlow bool
}

func findTabLines(f *File) (t tabLines) {
	if bytes.IndexByte(f.Data, '\t') < 0 {
		return t
	}
	for n := 1; n <= f.Lines(); n++ {
		line := f.cutLine(n)
		content := bytes.TrimLeft(line, " \t")
		if len(content) > 0 && content[0] != '#' && bytes.IndexByte(line[:len(line)-len(content)], '\t') >= 0 {
			t.suspects = append(t.suspects, n)
		}
	}
	return t
}

// visit is called for every node in the order of the text.
func (t *tabLines) visit(c *converter, y *yaml.Node, inFlow bool) {
	for len(t.suspects) > 0 && t.suspects[0] <= y.Line {
		if t.suspects[0] < y.Line || !inFlow {
			t.judge(c)
		}
		t.suspects = t.suspects[1:]
	}
	t.prev, t.prevFlow = y, inFlow
}

func (t *tabLines) finish(c *converter) {
	for ; len(t.suspects) > 0; t.suspects = t.suspects[1:] {
		t.judge(c)
	}
}

func (t *tabLines) judge(c *converter) {
	const notPlain = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	if t.prev == nil || t.prevFlow || t.prev.Kind != yaml.ScalarNode || t.prev.Style&notPlain != 0 {
		return
	}
	line := t.suspects[0]
	col := bytes.IndexByte(c.f.cutLine(line), '\t') + 1
	c.found.add(c.f.newExplained(syntax.ExplainTab(syntax.Pos{Line: line, Col: col})))
}
