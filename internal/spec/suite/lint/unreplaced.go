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
	value := func(d *source.Decoder, n *source.Node, path string) { checkValue(d, n, path, variables) }
	for _, key := range []string{"command", "args", "url", "query", "headers", "env"} {
		n := server.Get(key)
		switch {
		case n == nil || key == "command" && n.IsScalar():
		case n.IsScalar():
			value(d, n, path+"."+key)
		default:
			for i, item := range n.Items {
				isScript := false // what follows -c, -lc and the like
				if i > 0 {
					before := n.Items[i-1].Text
					isScript = strings.HasPrefix(before, "-") && strings.HasSuffix(before, "c")
				}
				if !isScript && !strings.ContainsAny(item.Text, " \n") {
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
	if cases == nil || cases.IsScalar() {
		return cases != nil
	}
	return slices.ContainsFunc(cases.Items, func(row *source.Node) bool { return row.Get(name) != nil })
}

// IsName reports whether a word can be the name of an argument or a variable.
func IsName(word string) bool { return name().MatchString(word) }

var name = lazy.Regexp(`^[A-Za-z_][A-Za-z0-9_.-]*$`)

// Test warns about values of a test that are sent as they are written, but hardly meant
// so: $case.NAME, $NAME of one of the variables, and typographic quotation marks in place of
// those of YAML.
func Test(d *source.Decoder, test *source.Node, path string, variables []string) {
	(&reader{d, test, variables}).checkWritten(test, path, false)
}

// reader reads what is written in a test.
type reader struct {
	d         *source.Decoder
	test      *source.Node
	variables []string
}

// checkWritten warns about a value and all that it contains; args says that it is an argument.
func (r *reader) checkWritten(n *source.Node, path string, args bool) {
	for i, item := range n.Items {
		r.checkWritten(item, source.PathIndex(path, i), args)
	}
	r.readFields(n, path, args)
	r.checkDollar(n, path)
	if n.Kind != source.KindString || n.Origin != source.Written || !strings.ContainsAny(n.Text, "${“„‘”’") {
		return
	}
	r.warnBinding(n, path)
	r.warnBraces(n, path, args)
	if args {
		r.warnQuotes(n, path)
	}
}

func (r *reader) readFields(n *source.Node, path string, args bool) {
	for i, f := range n.Fields {
		key := f.Key.Text
		at := source.PathKey(path, key)
		switch {
		case args && r.warnUnspaced(f, path):
			continue
		case args:
			r.warnComma(n, i, path)
			Letters(r.d, f.Key.Pos, at, "the key", key)
		case key == "tool" || key == "prompt":
			Letters(r.d, f.Value.Pos, at, "the name of the "+key, f.Value.Text)
		}
		describes := key == "cases" || key == "name" || key == "description"
		if n != r.test || !describes {
			r.checkWritten(f.Value, at, args || key == "args")
		}
	}
}

// warnUnspaced warns about an argument like {city:Berlin}, and reports whether it is one.
func (r *reader) warnUnspaced(f source.Field, path string) bool {
	name, rest, ok := source.SplitUnspaced(f.Key, f.Value)
	if !ok || !IsName(name) {
		return false
	}
	hint := source.SpacedHint(name, rest) + "; a name with a colon is written in quotes"
	warn(r.d, f.Key, path, strconv.Quote(f.Key.Text)+" is one argument, without a value", hint)
	return true
}

// warnComma warns about an argument that is the rest of a text with a comma.
func (r *reader) warnComma(n *source.Node, i int, path string) {
	f := n.Fields[i]
	if i == 0 || f.Value.Kind != source.KindNull || f.Value.Text != "" {
		return
	}
	if f.Key.Pos.Line != n.Fields[i-1].Key.Pos.Line || !strings.ContainsAny(f.Key.Text, " )]\"'") {
		return
	}
	msg := f.Key.Text + " is an argument of its own, without a value: a comma inside { } ends the text before it"
	warn(r.d, f.Key, path, msg, "write the whole text in quotes")
}

// warnBinding warns about $case.NAME and the like, if the test has cases.
func (r *reader) warnBinding(n *source.Node, path string) {
	m := binding().FindStringSubmatchIndex(n.Text)
	if m == nil {
		return
	}
	whole := n.Text[m[2]:m[3]]
	name := n.Text[m[4]:m[5]]
	kind := n.Text[m[6]:m[7]]
	block := ""
	switch kind {
	case "case":
		block = "cases"
	case "steps":
		block = "steps"
	}
	if r.test.Get(block) != nil {
		warn(r.d, n, path, whole+" is not replaced: it is used as written", "write ${"+name+"}")
	}
}

// warnBraces warns about {{NAME}}; as a part of a text it may be meant for a template.
func (r *reader) warnBraces(n *source.Node, path string, args bool) {
	m := braces().FindStringSubmatch(n.Text)
	if m == nil {
		return
	}
	prefix := ""
	if hasColumn(r.test.Get("cases"), m[1]) {
		prefix = "case."
	}
	if prefix != "" && args || m[0] == n.Text || strings.HasSuffix(path, ".uri") {
		warn(r.d, n, path, m[0]+" is not replaced: it is used as written", "write ${"+prefix+m[1]+"}")
	}
}

// warnQuotes warns about typographic quotation marks around a value.
func (r *reader) warnQuotes(n *source.Node, path string) {
	inside := strings.TrimRight(strings.TrimLeft(n.Text, "“„‘"), "”“’")
	if !n.Quoted && len(inside) <= len(n.Text)-2*len("“") {
		warn(r.d, n, path, "typographic quotation marks are part of the value", `YAML needs ": "`+inside+`"`)
	}
}

// Letters warns about a name that mixes the letters of two alphabets which look alike.
func Letters(d *source.Decoder, pos source.Pos, path, what, name string) {
	if mixed := source.DescribeMixedLetters(name); mixed != "" {
		d.AddNew(source.Diagnostic{
			Pos: pos, Path: path, Severity: source.Warning, Code: "letters",
			Msg:  what + " " + strconv.Quote(name) + " mixes alphabets: " + mixed,
			Hint: "in Latin letters: " + source.Latin(name),
		})
	}
}

// dollar matches $NAME.
var dollar = lazy.Regexp(`(?:^|[^\w$\\])\$([A-Za-z_]\w*)\b`)

// checkDollar warns about the $NAME of a variable or of a column; in a regular expression a $
// matches the end.
func (r *reader) checkDollar(n *source.Node, path string) {
	if n.Kind != source.KindString || n.Origin != source.Written || strings.HasSuffix(path, ".regex") {
		return
	}
	if !strings.Contains(n.Text, "$") {
		return
	}
	m := dollar().FindStringSubmatch(n.Text)
	switch {
	case m == nil || m[1] == "case" || m[1] == "steps":
	case slices.Contains(r.variables, m[1]):
		warn(r.d, n, path, "$"+m[1]+" is not replaced: it is used as written", "write ${"+m[1]+"}")
	case r.isInColumn(m[1]):
		warn(r.d, n, path, "$"+m[1]+" is not replaced: it is used as written", "write ${case."+m[1]+"}")
	}
}

// isInColumn reports whether the cases of the test have a column of that name.
func (r *reader) isInColumn(name string) bool {
	cases := r.test.Get("cases")
	return cases != nil && !cases.IsScalar() && hasColumn(cases, name)
}

func checkValue(d *source.Decoder, n *source.Node, path string, variables []string) {
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
	m := dollar().FindStringSubmatch(n.Text)
	if m != nil && slices.Contains(variables, m[1]) && !unreplaced().MatchString(n.Text) {
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
