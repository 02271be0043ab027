package lint

import (
	"slices"
	"strconv"
	"strings"

	"mcptest/internal/base/lazy"
	"mcptest/internal/base/source"
)

// unreplaced matches $NAME as shells replace it: a whole word of capital letters that
// does not continue another word.
var unreplaced = lazy.Regexp(`(?:^|[^\w$])\$([A-Z][A-Z0-9_]+)\b`)

// Unreplaced warns about $NAME in the keys of a server that contain values for the
// outside: it is sent as written. A command that is one text is examined where it is
// split, and words with a space or after -c may be scripts for a shell.
func Unreplaced(d *source.Decoder, server *source.Node, path string, variables []string) {
	value := func(d *source.Decoder, n *source.Node, path string) { value(d, n, path, variables) }
	for _, key := range []string{"command", "args", "url", "query", "headers", "env"} {
		switch n := server.Get(key); {
		case n == nil || key == "command" && n.IsScalar():
		case n.IsScalar():
			value(d, n, path+"."+key)
		default:
			for i, item := range n.Items {
				script := i > 0 && strings.HasPrefix(n.Items[i-1].Text, "-") && strings.HasSuffix(n.Items[i-1].Text, "c")
				if !script && !strings.ContainsAny(item.Text, " \n") {
					value(d, item, source.PathIndex(path+"."+key, i))
				}
			}
			for _, f := range n.Fields {
				value(d, f.Value, source.PathKey(path+"."+key, f.Key.Text))
			}
		}
	}
}

// binding matches $case.NAME and {{case.NAME}}, which suites write as ${case.NAME}; so
// for steps.
var binding = lazy.Regexp(`(?:^|[^\\$])((?:\$|\{\{ ?)((case|steps)\.\w[\w.]*)(?: ?\}\})?)`)

// braces matches {{NAME}}, as promptfoo, Postman and Bruno write a value.
var braces = lazy.Regexp(`\{\{ ?(?:\$|process\.env\.)?(\w+) ?\}\}`)

// hasColumn reports whether rows have a column; those of a file may have any.
func hasColumn(cases *source.Node, name string) bool {
	return cases != nil && (cases.IsScalar() || slices.ContainsFunc(cases.Items, func(row *source.Node) bool { return row.Get(name) != nil }))
}

// IsName reports whether a word can be the name of an argument or a variable.
func IsName(word string) bool { return name().MatchString(word) }

var name = lazy.Regexp(`^[A-Za-z_][A-Za-z0-9_.-]*$`)

// Test warns about values of a test that are sent as they are written, but hardly meant
// so: $case.NAME, $NAME of one of the variables, and typographic quotation marks in place of
// those of YAML.
func Test(d *source.Decoder, test *source.Node, path string, variables []string) {
	(&reader{d, test, variables}).written(test, path, false)
}

// reader reads what is written in a test.
type reader struct {
	d         *source.Decoder
	test      *source.Node
	variables []string
}

func (r *reader) written(n *source.Node, path string, args bool) {
	d, test := r.d, r.test
	for i, item := range n.Items {
		r.written(item, source.PathIndex(path, i), args)
	}
	for i, f := range n.Fields {
		if name, rest, ok := source.Unspaced(f.Key, f.Value); args && ok && IsName(name) {
			warn(d, f.Key, path, strconv.Quote(f.Key.Text)+" is one argument, without a value", source.SpacedHint(name, rest)+"; a name with a colon is written in quotes")
			continue
		}
		if args && i > 0 && f.Value.Kind == source.KindNull && f.Value.Text == "" && f.Key.Pos.Line == n.Fields[i-1].Key.Pos.Line && strings.ContainsAny(f.Key.Text, " )]\"'") {
			warn(d, f.Key, path, f.Key.Text+" is an argument of its own, without a value: a comma inside { } ends the text before it", "write the whole text in quotes")
		}
		if key := f.Key.Text; args {
			Letters(d, f.Key.Pos, source.PathKey(path, key), "the key", key)
		} else if key == "tool" || key == "prompt" {
			Letters(d, f.Value.Pos, source.PathKey(path, key), "the name of the "+key, f.Value.Text)
		}
		if key := f.Key.Text; n != test || key != "cases" && key != "name" && key != "description" {
			r.written(f.Value, source.PathKey(path, key), args || key == "args")
		}
	}
	r.dollar(n, path)
	if n.Kind != source.KindString || n.Origin != source.Written || !strings.ContainsAny(n.Text, "${“„‘”’") {
		return
	}
	if m := binding().FindStringSubmatchIndex(n.Text); m != nil && test.Get(map[string]string{"case": "cases", "steps": "steps"}[n.Text[m[6]:m[7]]]) != nil {
		name := n.Text[m[4]:m[5]]
		warn(d, n, path, n.Text[m[2]:m[3]]+" is not replaced: it is used as written", "write ${"+name+"}")
	}
	if m := braces().FindStringSubmatch(n.Text); m != nil {
		prefix := ""
		if hasColumn(test.Get("cases"), m[1]) {
			prefix = "case."
		}
		if prefix != "" && args || m[0] == n.Text || strings.HasSuffix(path, ".uri") { // a part of a text may be a template
			warn(d, n, path, m[0]+" is not replaced: it is used as written", "write ${"+prefix+m[1]+"}")
		}
	}
	if inside := strings.TrimRight(strings.TrimLeft(n.Text, "“„‘"), "”“’"); args && !n.Quoted && len(inside) <= len(n.Text)-2*len("“") {
		warn(d, n, path, "typographic quotation marks are part of the value", `YAML needs ": "`+inside+`"`)
	}
}

// Letters warns about a name that mixes the letters of two alphabets which look alike.
func Letters(d *source.Decoder, pos source.Pos, path, what, name string) {
	if mixed := source.MixedLetters(name); mixed != "" {
		d.AddNew(source.Diagnostic{
			Pos: pos, Path: path, Severity: source.Warning, Code: "letters",
			Msg: what + " " + strconv.Quote(name) + " mixes alphabets: " + mixed, Hint: "in Latin letters: " + source.Latin(name),
		})
	}
}

// dollar matches $NAME.
var dollar = lazy.Regexp(`(?:^|[^\w$\\])\$([A-Za-z_]\w*)\b`)

// dollar warns about the $NAME of a variable or of a column; in a regular expression a $
// matches the end.
func (r *reader) dollar(n *source.Node, path string) {
	if n.Kind != source.KindString || n.Origin != source.Written || !strings.Contains(n.Text, "$") || strings.HasSuffix(path, ".regex") {
		return
	}
	m := dollar().FindStringSubmatch(n.Text)
	switch {
	case m == nil || m[1] == "case" || m[1] == "steps":
	case slices.Contains(r.variables, m[1]):
		warn(r.d, n, path, "$"+m[1]+" is not replaced: it is used as written", "write ${"+m[1]+"}")
	case r.test.Get("cases") != nil && !r.test.Get("cases").IsScalar() && hasColumn(r.test.Get("cases"), m[1]):
		warn(r.d, n, path, "$"+m[1]+" is not replaced: it is used as written", "write ${case."+m[1]+"}")
	}
}

func value(d *source.Decoder, n *source.Node, path string, variables []string) {
	if n.Kind != source.KindString || n.Origin != source.Written || !strings.ContainsAny(n.Text, "${~") {
		return
	}
	if at := unreplaced().FindStringSubmatchIndex(n.Text); at != nil {
		name := n.Text[at[2]:at[3]]
		d.AddNew(source.Diagnostic{
			Pos: n.In(at[2] - 1), Path: path, Severity: source.Warning, Code: "not-replaced",
			Msg: "$" + name + " is not replaced: it is passed on as written", Hint: "write ${" + name + "}",
		})
	}
	if m := dollar().FindStringSubmatch(n.Text); m != nil && slices.Contains(variables, m[1]) && !unreplaced().MatchString(n.Text) {
		warn(d, n, path, "$"+m[1]+" is not replaced: it is passed on as written", "write ${"+m[1]+"}")
	}
	if strings.HasPrefix(n.Text, "~/") {
		warn(d, n, path, "~ is not replaced: it is passed on as written", "write ${HOME}"+n.Text[1:])
	}
	if m := braces().FindStringSubmatch(n.Text); m != nil {
		warn(d, n, path, m[0]+" is not replaced: it is passed on as written", "write ${"+m[1]+"}")
	}
}

// escaped matches what is most likely part of a Windows path.
var escaped = lazy.Regexp(`\\[A-Za-z0-9._-]`)

// Backslash warns about a command in one text whose words have lost a backslash.
func Backslash(d *source.Decoder, n *source.Node, path string, words []string) {
	lost := escaped().FindString(n.Text)
	if lost == "" || slices.ContainsFunc(words, func(word string) bool { return strings.Contains(word, lost) }) {
		return
	}
	warn(d, n, path, lost+" is read as "+lost[1:]+": in a command that is one text, a backslash is an escape",
		"write a list: ['"+strings.Join(strings.Fields(n.Text), "', '")+"']")
}
