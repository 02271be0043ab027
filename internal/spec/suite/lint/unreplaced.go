package lint

import (
	"slices"
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
func Unreplaced(d *source.Decoder, server *source.Node, path string) {
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

// Test warns about values of a test that are sent as they are written, but hardly meant
// so: $case.NAME, and typographic quotation marks in place of those of YAML.
func Test(d *source.Decoder, test *source.Node, path string) { written(d, test, path, test, false) }

func written(d *source.Decoder, n *source.Node, path string, test *source.Node, args bool) {
	for i, item := range n.Items {
		written(d, item, source.PathIndex(path, i), test, args)
	}
	for i, f := range n.Fields {
		if args && i > 0 && f.Value.Kind == source.KindNull && f.Value.Text == "" && f.Key.Pos.Line == n.Fields[i-1].Key.Pos.Line && strings.ContainsAny(f.Key.Text, " )]\"'") {
			warn(d, f.Key, path, f.Key.Text+" is an argument of its own, without a value: a comma inside { } ends the text before it", "write the whole text in quotes")
		}
		if key := f.Key.Text; n != test || key != "cases" && key != "name" && key != "description" {
			written(d, f.Value, source.PathKey(path, key), test, args || key == "args")
		}
	}
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

func value(d *source.Decoder, n *source.Node, path string) {
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
