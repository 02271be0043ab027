package match

import (
	"cmp"
	"slices"
	"strings"

	"mcptest/internal/assert/habit"
	"mcptest/internal/assert/shown"
	"mcptest/internal/assert/target"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
)

// row returns the table's row of a matcher, or nil.
func (c *Compiler) row(name string) *Row { return rowNamed(c.rows, name) }

func rowNamed(rows []Row, name string) *Row {
	for i := range rows {
		if rows[i].Name == name || slices.Contains(rows[i].Aliases, name) {
			return &rows[i]
		}
	}
	return nil
}

// Matcher compiles a map with one key, the matcher's name. It returns nil after a
// mistake.
func (c *Compiler) Matcher(n *source.Node, path string) *Named {
	const hint = `a matcher is a map with one key: {contains: "rust"}`
	if n.Kind != source.KindMap {
		if row := c.row(n.Text); row != nil && n.Kind == source.KindString {
			c.Errorf(n, path, "for example: {"+row.Example+"}", "the matcher %s needs an argument", row.Name)
			return nil
		}
		if n.IsScalar() && n.Text != "" {
			c.Errorf(n, path, "write {exact: "+n.Inline()+"}, or {contains: "+n.Inline()+"} for a part", "expected a matcher, got %s", shown.Node(n))
			return nil
		}
		c.Errorf(n, path, hint, "expected a matcher, got %s", shown.Node(n))
		return nil
	}
	if len(n.Fields) == 0 {
		c.Errorf(n, path, hint, "the matcher is missing")
		return nil
	}
	if len(n.Fields) > 1 {
		names := make([]string, 0, len(n.Fields))
		var all []string
		for _, f := range n.Fields[:min(len(n.Fields), shown.MaxKeys)] {
			names = append(names, shown.PlainKey(f.Key.Text))
			all = append(all, "{"+cmp.Or(c.meant(f.Key.Text), f.Key.Text)+": "+f.Value.Inline()+"}")
			if slices.Contains([]string{"name", "weight", "message"}, f.Key.Text) {
				c.Errorf(f.Key, path, "write {target: …, matcher: {…}, "+strings.Trim(all[len(all)-1], "{"), "%s belongs next to matcher, not in it", f.Key.Text)
				return nil
			}
		}
		c.Errorf(n.Fields[1].Key, path, "write all-of: ["+strings.Join(all, ", ")+"] for several matchers on one target, or write several assertions",
			"a matcher must have one key, this one has %d: %s", len(n.Fields), strings.Join(names, ", "))
	}
	var last *Named
	for _, f := range n.Fields {
		last = c.compileNamed(f.Key, f.Value, path)
	}
	if len(n.Fields) > 1 {
		return nil
	}
	return last
}

// compileNamed compiles one matcher by its name.
func (c *Compiler) compileNamed(key, arg *source.Node, path string) *Named {
	row := c.row(key.Text)
	if row == nil {
		c.unknownMatcher(key, path)
		return nil
	}
	m := row.compile(c, arg, source.PathKey(path, key.Text))
	if m == nil {
		return nil
	}
	value := arg.JSON()
	_, names := value.Get(target.KeyIsError)
	shown := row.Name + " " + shown.Value(value, shown.InLine)
	return &Named{row: row, m: m, shown: shown, NamesIsError: names, Execs: runsPrograms(m)}
}

func (c *Compiler) unknownMatcher(key *source.Node, path string) {
	name := key.Text
	names := make([]string, 0, len(c.rows)+len(c.rows)/4)
	for i := range c.rows {
		names = append(names, c.rows[i].Name)
	}
	near := cmp.Or(c.meant(name), source.FindNearest(strings.ReplaceAll(name, "_", "-"), names))
	msg, hint := "unknown matcher "+shown.Key(name), "the matchers are "+strings.Join(names, ", ")
	if word, value, ok := strings.Cut(name, ":"); ok && c.meant(word) != "" {
		hint = `a blank follows the ":": {` + c.meant(word) + ": " + value + "}"
	} else if near != "" {
		hint = source.DescribeMixedLetters(name)
		msg += source.Parenthesis(source.Suggest(near))
	}
	c.Errorf(key, path, cmp.Or(habit.Hint(name), hint), "%s", msg)
}

// meant returns the matcher with a name, or the one that other test tools call so, or "".
func (c *Compiler) meant(name string) string {
	if row := c.row(name); row != nil {
		return row.Name
	}
	return habit.Matcher(name)
}

// Matchers returns the table of matchers, sorted by name.
func Matchers() []Row {
	rows := slices.Clone(table[:])
	for i := range rows {
		// A test of the table parses the schemas; an invalid one would allow every
		// argument.
		rows[i].ArgSchema, _ = jsonv.Parse([]byte(rows[i].schema))
	}
	return rows
}
