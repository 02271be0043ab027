package cli

import (
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/aql"
	"mcptest/internal/source"
)

// aqlCommand is one command of mcpaql-conformance.
type aqlCommand struct {
	name    string
	args    []string // names of the positional arguments; "[x]" may be left out, "x…" may repeat
	summary string
	about   string
	flags   []aqlFlag
	run     func(*aqlCall) int
}

// aqlFlag is one option.
type aqlFlag struct {
	long, short string
	value       string // what the value is, for help
	summary     string
	// check returns the value as it is used, or what is wrong with it; nil
	// for an option that takes none.
	check func(string) (string, error)
	many  bool // may be given several times
}

// many makes an option one that may be given several times.
func many(f aqlFlag) aqlFlag {
	f.many = true
	return f
}

// all returns the values of an option that may be given several times.
func (c *aqlCall) all(long string) []string {
	if v, ok := c.flags[long]; ok {
		return strings.Split(v, "\x00")
	}
	return nil
}

// oneOf accepts one of some words in any case.
func oneOf(words ...string) func(string) (string, error) {
	return func(s string) (string, error) {
		for _, w := range words {
			if strings.EqualFold(w, s) {
				return w, nil
			}
		}
		hint := ""
		if near := source.Nearest(s, words); near != "" {
			hint = fmt.Sprintf(" (did you mean %q?)", near)
		}
		return "", fmt.Errorf("want one of %s; got %q%s", strings.Join(words, ", "), s, hint)
	}
}

func anyValue(s string) (string, error) {
	if s == "" {
		return "", fmt.Errorf("needs a value")
	}
	return s, nil
}

func categoryNames() (names []string) {
	for _, c := range aql.Categories() {
		names = append(names, c.Name)
	}
	return names
}

// parse reads the arguments of a command. Every mistake is noted, so that
// one call tells all of them.
func (c *aqlCall) parse(cmd aqlCommand, args []string) {
	c.flags = map[string]string{}
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--":
			c.args = append(c.args, args[i+1:]...)
			i = len(args)
		case a == "-h" || a == "--help":
			c.help = true
		case len(a) > 1 && a[0] == '-':
			i += c.flag(cmd, a, args[i+1:])
		default:
			c.args = append(c.args, a)
		}
	}
	c.positional(cmd)
}

// flag reads one option and returns how many of the following arguments it
// used.
func (c *aqlCall) flag(cmd aqlCommand, a string, rest []string) int {
	name, value, given := strings.Cut(a, "=")
	if len(a) > 2 && a[1] != '-' && !given { // -l2
		name, value, given = a[:2], a[2:], true
	}
	i := slices.IndexFunc(cmd.flags, func(f aqlFlag) bool {
		return name == "--"+f.long || f.short != "" && name == "-"+f.short
	})
	used := 0
	if i < 0 {
		hint := ""
		var names []string
		for _, f := range cmd.flags {
			names = append(names, "--"+f.long)
		}
		if near := source.Nearest(name, names); near != "" {
			hint = fmt.Sprintf(" (did you mean %s?)", near)
		}
		c.problem("unknown option %s for %s%s", strings.SplitN(a, "=", 2)[0], cmd.name, hint)
		return 0
	}
	f := cmd.flags[i]
	if f.check == nil {
		if given {
			c.problem("--%s takes no value", f.long)
		}
		c.flags[f.long] = "yes"
		return 0
	}
	if !given {
		if len(rest) == 0 || isOption(cmd, rest[0]) {
			c.problem("--%s needs a value: %s", f.long, f.value)
			return 0
		}
		value, used = rest[0], 1
	}
	v, err := f.check(value)
	if err != nil {
		c.problem("--%s: %s", f.long, err)
		return used
	}
	if before, ok := c.flags[f.long]; ok && f.many {
		v = before + "\x00" + v
	}
	c.flags[f.long] = v
	return used
}

// isOption says that an argument is an option and not the value of the one
// before it.
func isOption(cmd aqlCommand, a string) bool {
	if strings.HasPrefix(a, "--") || a == "-h" {
		return true
	}
	name, _, _ := strings.Cut(a, "=")
	return slices.ContainsFunc(cmd.flags, func(f aqlFlag) bool { return f.short != "" && name == "-"+f.short })
}

// positional checks the number of the other arguments.
func (c *aqlCall) positional(cmd aqlCommand) {
	if c.help {
		return
	}
	most := len(cmd.args)
	for i, a := range cmd.args {
		if strings.HasSuffix(a, "…") {
			most = len(c.args)
		}
		if i >= len(c.args) && !strings.HasPrefix(a, "[") {
			c.problem("%s needs a %s: %s %s", cmd.name, strings.TrimSuffix(a, "…"), aqlName, cmd.synopsis())
		}
	}
	for _, a := range c.args[min(most, len(c.args)):] {
		c.problem("unexpected argument %q: %s %s", a, aqlName, cmd.synopsis())
	}
}

func (cmd aqlCommand) synopsis() string {
	parts := []string{cmd.name}
	for _, a := range cmd.args {
		if !strings.HasPrefix(a, "[") {
			a = "<" + a + ">"
		}
		parts = append(parts, a)
	}
	if len(cmd.flags) > 0 {
		parts = append(parts, "[options]")
	}
	return strings.Join(parts, " ")
}

func (cmd aqlCommand) usage() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Usage: %s %s\n\n%s\n", aqlName, cmd.synopsis(), cmd.about)
	if len(cmd.flags) > 0 {
		b.WriteString("\nOptions:\n")
	}
	for _, f := range cmd.flags {
		name := "    --" + f.long
		if f.short != "" {
			name = "-" + f.short + ", --" + f.long
		}
		if f.check != nil {
			name += " " + strings.ToUpper(f.long[:1])
		}
		fmt.Fprintf(&b, "  %-22s %s\n", name, f.summary)
		if f.value != "" {
			fmt.Fprintf(&b, "  %-22s %s\n", "", f.value)
		}
	}
	return b.String()
}
