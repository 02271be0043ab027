package expect

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"mcptest/internal/assert/habit"
	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
)

// Compiler compiles expectations. The zero value is ready to use.
type Compiler struct {
	// LoadSchema reads a JSON Schema that another one refers to. uri is absolute and has
	// no fragment: relative references are resolved against the file: URL of the suite
	// file or of the schema file that contains them. from is the position of the
	// matcher's schema. If LoadSchema is nil, every such reference is a mistake.
	LoadSchema func(from source.Pos, uri string) ([]byte, error)
	// Schemas caches compiled schemas; may be nil.
	Schemas *SchemaCache
	// Upstreams are the names of upstreams that targets can use.
	Upstreams []string
	// Dir is the folder of the suite, and Servers are the names of its servers.
	Dir     string
	Servers []string
	// Opened is called with each file that a matcher depends on, which may be missing;
	// may be nil.
	Opened func(path string)
}

func (c *Compiler) opened(path string) {
	if c.Opened != nil {
		c.Opened(path)
	}
}

// compiler is the state of one compilation; mistakes are added to d.
type compiler struct {
	Compiler
	d    *source.Decoder
	rows []Row
}

func newCompiler(o Compiler, d *source.Decoder) *compiler {
	return &compiler{Compiler: o, d: d, rows: table[:]}
}

// errorf reports a mistake at a node.
func (c *compiler) errorf(n *source.Node, path, hint, format string, args ...any) {
	c.d.Errorf(n, path, format, args...).Hint = hint
}

// errorIn reports a mistake at a byte offset inside a scalar.
func (c *compiler) errorIn(n *source.Node, offset int, path, hint, format string, args ...any) {
	diag := c.d.Errorf(n, path, format, args...)
	diag.Hint, diag.Pos = hint, n.In(offset)
}

// keys checks a map's keys and calls use for each known one. It reports whether the
// node is a map with all required keys; what describes the map in messages.
func (c *compiler) keys(n *source.Node, path, what string, known, required []string, use func(key string, k, v *source.Node)) bool {
	if n.Kind != source.KindMap {
		c.errorf(n, path, "", "expected %s, got %s", what, describe(n))
		return false
	}
	var meant []string // known keys similar to unknown ones
	for _, f := range n.Fields {
		if slices.Contains(known, f.Key.Text) {
			use(f.Key.Text, f.Key, f.Value)
			continue
		}
		hint, nearest := "", source.Nearest(f.Key.Text, known)
		if nearest == "" && (known[0] == "target" || known[0] == "assertions") && n.Get("matcher") == nil {
			hint = habit.Entry(n, f.Key.Text, c.meant)
			meant = append(meant, "target", "matcher")
		}
		c.errorf(f.Key, path, hint, "unknown key %s%s", quoteKey(f.Key.Text), source.Aside(source.DidYouMean(f.Key.Text, known)))
		meant = append(meant, nearest)
	}
	complete := true
	for _, key := range required {
		if n.Get(key) != nil {
			continue
		}
		complete = false
		if !slices.Contains(meant, key) { // a misspelled key was reported; don't report the missing one too
			c.errorf(n, path, "", "missing key %s", quote(key))
		}
	}
	return complete
}

// text returns a node's text, or reports a mistake.
func (c *compiler) text(n *source.Node, path, what string) (string, bool) {
	if text, ok := n.AsText(); ok {
		return text, true
	}
	hint := ""
	if n.IsScalar() && n.Text != "" {
		hint = "put it in quotes: " + quoteKey(n.Text)
	}
	c.errorf(n, path, hint, "expected %s, got %s", what, describe(n))
	return "", false
}

// list returns a node's items, or reports a mistake.
func (c *compiler) list(n *source.Node, path, what string) ([]*source.Node, bool) {
	if n.Kind != source.KindList {
		c.errorf(n, path, "", "expected a list of %s, got %s", what, describe(n))
		return nil, false
	}
	if len(n.Items) == 0 {
		c.errorf(n, path, "", "the list of %s is empty", what)
		return nil, false
	}
	return n.Items, true
}

// number returns a node's number, which must be finite.
func (c *compiler) number(n *source.Node, path string) (float64, bool) {
	n = n.Typed()
	if n.Kind != source.KindInt && n.Kind != source.KindFloat {
		c.errorf(n, path, habit.Milliseconds(n.Text), "expected a number, got %s", describe(n))
		return 0, false
	}
	f, err := strconv.ParseFloat(n.Text, 64)
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		c.errorf(n, path, "", "the number %s is out of range", display.Truncate(n.Text, shownKey))
		return 0, false
	}
	return f, true
}

// weight returns a weight: a finite number of at least 0.
func (c *compiler) weight(n *source.Node, path string) (float64, bool) {
	w, ok := c.number(n, path)
	if ok && w < 0 {
		c.errorf(n, path, "a weight must be 0 or more", "negative weight %s", n.Text)
		return 0, false
	}
	return w, ok
}

// share returns a threshold between 0 and 1.
func (c *compiler) share(n *source.Node, path string) (float64, bool) {
	t, ok := c.number(n, path)
	if ok && (t < 0 || t > 1) {
		c.errorf(n, path, "", "the threshold %s is outside 0 to 1", display.Truncate(n.Text, shownKey))
		return 0, false
	}
	return t, ok
}

// boolean returns a boolean.
func (c *compiler) boolean(n *source.Node, path string) (value, ok bool) {
	n = n.Typed()
	if n.Kind != source.KindBool {
		c.errorf(n, path, "", "expected true or false, got %s", describe(n))
		return false, false
	}
	return n.Text == "true", true
}

// index appends a list index to a path.
func index(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }

// join appends a key to a path.
func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// count returns a whole number between 0 and most.
func (c *compiler) count(n *source.Node, path string, most int) (int, bool) {
	f, ok := c.number(n, path)
	if !ok {
		return 0, false
	}
	if f != float64(int64(f)) || f < 0 || f > float64(most) {
		span := fmt.Sprintf("from 0 to %d", most)
		if most == maxLength {
			span = "of 0 or more"
		}
		c.errorf(n, path, "", "expected a whole number %s, got %s", span, display.Truncate(n.Text, shownKey))
		return 0, false
	}
	return int(f), true
}

const maxLength = 1 << 40

// exactNumber returns a number of any size, as written.
func (c *compiler) exactNumber(n *source.Node, path string) (jsonv.Value, bool) {
	n = n.Typed()
	if n.Kind != source.KindInt && n.Kind != source.KindFloat {
		c.errorf(n, path, habit.Milliseconds(n.Text), "expected a number, got %s", describe(n))
		return jsonv.Value{}, false
	}
	return n.JSON(), true
}
