package match

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"mcptest/internal/assert/habit"
	"mcptest/internal/assert/schemas"
	"mcptest/internal/assert/shown"
	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
)

// Options are what matchers need of their suite. The zero value is ready to use.
type Options struct {
	// LoadSchema reads a JSON Schema that another one refers to. uri is absolute and has
	// no fragment: relative references are resolved against the file: URL of the suite
	// file or of the schema file that contains them. from is the position of the
	// matcher's schema. If LoadSchema is nil, every such reference is a mistake.
	LoadSchema func(from source.Pos, uri string) ([]byte, error)
	// Schemas caches compiled schemas; may be nil.
	Schemas *schemas.Cache
	// Dir is the folder of the suite, and Servers are the names of its servers.
	Dir     string
	Servers []string
	// Models are the names of the suite's models.
	Models []string
	// Opened is called with each file that a matcher depends on, which may be missing;
	// may be nil.
	Opened func(path string)
}

func (c *Compiler) noteOpened(path string) {
	if c.Opened != nil {
		c.Opened(path)
	}
}

// Compiler compiles matchers and reads the nodes around them; mistakes are added to d.
type Compiler struct {
	Options
	Mistakes *source.Decoder
	rows     []Row
}

// New returns the compiler of one compilation.
func New(o Options, d *source.Decoder) *Compiler {
	return &Compiler{Options: o, Mistakes: d, rows: table[:]}
}

// Errorf reports a mistake at a node.
func (c *Compiler) Errorf(n *source.Node, path, hint, format string, args ...any) {
	c.Mistakes.Errorf(n, path, format, args...).Hint = hint
}

// ErrorIn reports a mistake at a byte offset inside a scalar.
func (c *Compiler) ErrorIn(n *source.Node, offset int, path, hint, format string, args ...any) {
	diag := c.Mistakes.Errorf(n, path, format, args...)
	diag.Hint, diag.Pos = hint, n.In(offset)
}

// targetWords are the names that other tools have for the target of an assertion.
var targetWords = []string{"path", "jsonpath", "json_path", "property", "actual", "selector", "subject"}

// meansTarget reports whether a key stands for the target, which an assertion lacks.
func meansTarget(n *source.Node, key string) bool {
	return slices.Contains(targetWords, key) && n.Get("target") == nil && n.Get("matcher") != nil
}

// Keys checks a map's keys and calls use with the place of each known one. It reports
// whether the node is a map with all required keys, and use accepted all values; what
// describes the map in messages.
func (c *Compiler) Keys(
	n *source.Node, path, what string, known, required []string, use func(key, at string, k, v *source.Node) bool,
) bool {
	if n.Kind != source.KindMap {
		hint := ""
		if len(required) > 0 {
			hint = "write {" + strings.Join(required, ": …, ") + ": …}"
		}
		c.Errorf(n, path, hint, "expected %s, got %s", what, shown.Node(n))
		return false
	}
	valid := true
	var meant []string // known keys similar to unknown ones
	for _, f := range n.Fields {
		if slices.Contains(known, f.Key.Text) {
			valid = use(f.Key.Text, source.PathKey(path, f.Key.Text), f.Key, f.Value) && valid
			continue
		}
		if near, hint := source.GuessKey(f.Key, f.Value, known); near != "" {
			c.Errorf(f.Key, path, hint, "unknown key %s", shown.Key(f.Key.Text))
			meant = append(meant, near)
			continue
		}
		hint, nearest := "", source.FindNearest(f.Key.Text, known)
		if known[0] == "target" && meansTarget(n, f.Key.Text) {
			suggestion := source.Parenthesis(source.Suggest("target"))
			c.Errorf(f.Key, path, "", "unknown key %s%s", shown.Key(f.Key.Text), suggestion)
			meant = append(meant, "target")
			continue
		}
		if nearest == "" && (known[0] == "target" || known[0] == "assertions") && n.Get("matcher") == nil {
			if slices.Contains(meant, "matcher") {
				continue // the hint shows the whole entry
			}
			hint = habit.Entry(n, c.meant)
			meant = append(meant, "target", "matcher")
		}
		similar := source.Parenthesis(source.DidYouMean(f.Key.Text, known))
		c.Errorf(f.Key, path, hint, "unknown key %s%s", shown.Key(f.Key.Text), similar)
		meant = append(meant, nearest)
	}
	for _, key := range required {
		if n.Get(key) != nil {
			continue
		}
		valid = false
		if !slices.Contains(meant, key) { // a misspelled key was reported; don't report the missing one too
			c.Errorf(n, path, map[string]string{"target": "for example target: text, or target: result.content[0].text", "matcher": "for example matcher: {contains: …}"}[key], "missing key %s", shown.Quote(key))
		}
	}
	return valid
}

// Text returns a node's text, or reports a mistake.
func (c *Compiler) Text(n *source.Node, path, what string) (string, bool) {
	if text, ok := n.AsText(); ok {
		return text, true
	}
	hint := ""
	if n.IsScalar() && n.Text != "" {
		hint = "put it in quotes: " + shown.Key(n.Text)
	}
	c.Errorf(n, path, hint, "expected %s, got %s", what, shown.Node(n))
	return "", false
}

// List returns a node's items, or reports a mistake.
func (c *Compiler) List(n *source.Node, path, what string) ([]*source.Node, bool) {
	if n.Kind != source.KindList {
		c.Errorf(n, path, "write a list: ["+strings.Trim(n.Inline(), `"`)+"]", "expected a list of %s, got %s", what, shown.Node(n))
		return nil, false
	}
	if len(n.Items) == 0 {
		c.Errorf(n, path, "", "the list of %s is empty", what)
		return nil, false
	}
	return n.Items, true
}

// Number returns a node's number, which must be finite.
func (c *Compiler) Number(n *source.Node, path string) (float64, bool) {
	if _, ok := c.exactNumber(n, path); !ok {
		return 0, false
	}
	n = n.Typed()
	f, err := strconv.ParseFloat(n.Text, 64)
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		c.Errorf(n, path, "", "the number %s is out of range", display.Truncate(n.Text, shown.ShortKey))
		return 0, false
	}
	return f, true
}

// boolean returns a boolean.
func (c *Compiler) boolean(n *source.Node, path string) (value, ok bool) {
	n = n.Typed()
	if n.Kind != source.KindBool {
		c.Errorf(n, path, "", "expected true or false, got %s", shown.Node(n))
		return false, false
	}
	return n.Text == "true", true
}

// count returns a whole number between 0 and most.
func (c *Compiler) count(n *source.Node, path string, most int) (int, bool) {
	f, ok := c.Number(n, path)
	if !ok {
		return 0, false
	}
	if f != float64(int64(f)) || f < 0 || f > float64(most) {
		span := fmt.Sprintf("from 0 to %d", most)
		if most == maxLength {
			span = "of 0 or more"
		}
		c.Errorf(n, path, "", "expected a whole number %s, got %s", span, display.Truncate(n.Text, shown.ShortKey))
		return 0, false
	}
	return int(f), true
}

const maxLength = 1 << 40

// exactNumber returns a number of any size, as written.
func (c *Compiler) exactNumber(n *source.Node, path string) (jsonv.Value, bool) {
	n = n.Typed()
	if n.Kind != source.KindInt && n.Kind != source.KindFloat {
		c.Errorf(n, path, habit.Milliseconds(n.Text), "expected a number, got %s", shown.Node(n))
		return jsonv.Value{}, false
	}
	return n.JSON(), true
}
