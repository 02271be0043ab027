package expect

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"mcptest/internal/assert/match"
	"mcptest/internal/assert/shown"
	"mcptest/internal/assert/target"
	"mcptest/internal/base/display"
	"mcptest/internal/base/source"
)

// Compiler compiles expectations. The zero value is ready to use.
type Compiler struct {
	match.Options
	// Upstreams are the names of upstreams that targets can use.
	Upstreams []string
	// List is the list of the test: tools, http, ….
	List string
}

// compiler is the state of one compilation; mistakes are added to its d.
type compiler struct {
	*match.Compiler
	upstreams []string
	list      string
}

func newCompiler(o Compiler, d *source.Decoder) *compiler {
	return &compiler{match.New(o.Options, d), o.Upstreams, o.List}
}

// Target compiles a target. It returns nil after a mistake, which is added to d.
func (o Compiler) Target(n *source.Node, path string, d *source.Decoder) *target.Target {
	return newCompiler(o, d).target(n, path)
}

// Pattern compiles a regular expression with at most one group, for the part of a text
// that is captured. It returns nil for no node and after a mistake, which is added to d.
func (o Compiler) Pattern(n *source.Node, path string, d *source.Decoder) *regexp.Regexp {
	if n == nil {
		return nil
	}
	c := newCompiler(o, d)
	re := c.Regexp(n, path)
	if re != nil && re.NumSubexp() > 1 {
		c.Errorf(n, path, "write (?:…) for groups that are not captured", "the expression has %d groups, and one value is captured", re.NumSubexp())
		return nil
	}
	return re
}

func (c *compiler) target(n *source.Node, path string) *target.Target {
	if n.Kind != source.KindString {
		c.Errorf(n, path, "a target is a path, such as result.content[0].text", "expected a path, got %s", shown.Node(n))
		return nil
	}
	t, err := target.Parse(n.Text)
	if err == nil {
		err = t.CheckUpstream(c.upstreams)
	}
	if err == nil {
		err = t.CheckList(c.list)
	}
	if err != nil {
		c.ErrorIn(n, err.Offset, path, err.Hint, "%s", err.Msg)
		return nil
	}
	return t
}

// matcher compiles the matcher of a target; t is nil if the target has a mistake.
func (c *compiler) matcher(t *target.Target, n *source.Node, path string) *match.Named {
	if t != nil && t.IsText() {
		n = c.textual(t, n, path, source.Written)
	}
	return c.Matcher(n, path)
}

// textual returns the matcher of a target that is always a text. The number of a row
// is compared as it is written; one in the suite would equal no value. of is the origin
// of what n is in.
func (c *compiler) textual(t *target.Target, n *source.Node, path string, of source.Origin) *source.Node {
	out := *n
	of = max(of, n.Origin)
	out.Fields, out.Items = slices.Clone(n.Fields), slices.Clone(n.Items)
	for i, f := range n.Fields {
		at := source.PathKey(path, f.Key.Text)
		switch strings.ReplaceAll(f.Key.Text, "_", "-") {
		case "not", "all-of", "any-of", "none-of", "one-of":
			out.Fields[i].Value = c.textual(t, f.Value, at, of)
		case "exact":
			if f.Value.IsScalar() {
				out.Fields[i].Value = c.textual(t, f.Value, at, of)
			}
		}
	}
	for i, item := range n.Items {
		out.Items[i] = c.textual(t, item, source.PathIndex(path, i), of)
	}
	switch {
	case n.Kind != source.KindInt && n.Kind != source.KindFloat && n.Kind != source.KindBool:
	case of == source.Written:
		c.Errorf(n, path, "put it in quotes: "+strconv.Quote(n.Text), "%s is always a text: it never equals %s", t, shown.Node(n))
	default:
		out.Kind = source.KindString
		c.Mistakes.AddNew(source.Diagnostic{
			Pos: n.Pos, Path: path, Severity: source.Warning, Code: "number-as-text",
			Msg: fmt.Sprintf("%s is a text; %s is compared as it is written", t, shown.Node(n)), Hint: "put it in quotes where it is written, to say that it is a text",
		})
	}
	return &out
}

// weight returns a weight: a finite number of at least 0.
func (c *compiler) weight(n *source.Node, path string) (float64, bool) {
	w, ok := c.Number(n, path)
	if ok && w < 0 {
		c.Errorf(n, path, "a weight must be 0 or more", "negative weight %s", n.Text)
		return 0, false
	}
	return w, ok
}

// share returns a threshold between 0 and 1.
func (c *compiler) share(n *source.Node, path string) (float64, bool) {
	t, ok := c.Number(n, path)
	if ok && (t < 0 || t > 1) {
		c.Errorf(n, path, "", "the threshold %s is outside 0 to 1", display.Truncate(n.Text, shown.ShortKey))
		return 0, false
	}
	if ok {
		WarnThreshold(c.Mistakes, n, path, t, "set")
	}
	return t, ok
}

// WarnThreshold warns about a threshold that every score reaches. what has it: a test, a
// set or a metric.
func WarnThreshold(d *source.Decoder, n *source.Node, path string, threshold float64, what string) {
	if n == nil || threshold > 0 || threshold < 0 && what != "metric" { // which is a mistake
		return
	}
	if written, err := strconv.ParseFloat(n.Typed().Text, 64); err != nil || written != threshold {
		return // another mistake
	}
	d.AddNew(source.Diagnostic{
		Pos: n.Pos, Path: path, Severity: source.Warning, Code: "vacuous",
		Msg: "no score is below " + n.Text + ": this " + what + " can't fail", Hint: "write a threshold above 0, or leave it out",
	})
}

// name compiles a name for references of metrics.
func (c *compiler) name(n *source.Node, path string) (string, bool) {
	s, ok := c.Text(n, path, "a name")
	if ok && s == "" {
		c.Errorf(n, path, "", "the name is empty")
		return "", false
	}
	return s, ok
}
