package expect

import (
	"regexp"

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
}

// compiler is the state of one compilation; mistakes are added to its d.
type compiler struct {
	*match.Compiler
	upstreams []string
}

func newCompiler(o Compiler, d *source.Decoder) *compiler {
	return &compiler{match.New(o.Options, d), o.Upstreams}
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
	if err != nil {
		c.ErrorIn(n, err.Offset, path, err.Hint, "%s", err.Msg)
		return nil
	}
	return t
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
	return t, ok
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
