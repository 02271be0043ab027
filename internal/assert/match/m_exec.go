package match

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"mcptest/internal/assert/shown"
	"mcptest/internal/assert/target"
	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/shellwords"
	"mcptest/internal/base/source"
)

var rowExec = Row{
	Name: "exec", Doc: `a program decides: it reads {"target", "value"} as JSON and writes {"pass", "score"?, "message"?}; at most 10 s and 1 MiB`,
	Example: `exec: [./check.sh, strict]`, Passes: `"good"`, Fails: `"bad"`,
	schema: `{"type":"array","minItems":1,"items":{"type":"string"}}`, compile: compileExec,
}

// Limits of a program of the exec matcher.
const (
	execTime   = 10 * time.Second
	execOutput = 1 << 20
)

func compileExec(c *Compiler, n *source.Node, path string) Matcher {
	if n.Origin == source.FromServer {
		c.Errorf(n, path, "", "the server under test must not choose the program that is run")
		return nil
	}
	if n.Kind == source.KindString {
		words := strings.Fields(display.Truncate(n.Text, shown.ShortKey))
		hint := "write it as a list: [" + strings.Join(words, ", ") + "]"
		c.Errorf(n, path, hint, "expected a program and its arguments as a list, got %s", shown.Node(n))
		return nil
	}
	items, ok := c.List(n, path, "words")
	if !ok {
		return nil
	}
	m := execMatcher{}
	for i, item := range items {
		word, ok := c.Text(item, source.PathIndex(path, i), "text")
		if ok && i == 0 && word == "" {
			c.Errorf(item, source.PathIndex(path, i), "", "the program's name is empty")
			return nil
		}
		if !ok {
			return nil
		}
		m.argv = append(m.argv, word)
	}
	if !safeWords(c, items, m.argv, path) {
		return nil
	}
	for i, word := range m.argv {
		file := word
		if !filepath.IsAbs(file) {
			file = filepath.Join(c.Dir, file)
		}
		info, err := os.Stat(file)
		if err == nil && info.Mode().IsRegular() || i == 0 && strings.ContainsRune(filepath.ToSlash(word), '/') {
			c.noteOpened(file)
		}
	}
	return m
}

// safeWords reports values that would be run as a program or as code.
func safeWords(c *Compiler, items []*source.Node, argv []string, path string) bool {
	const hint = `pass it as an argument: [sh, -c, 'test "$1" = x …', sh, "${…}"]`
	if at := shellwords.FindProgram(argv); items[at].Origin == source.FromServer {
		c.Errorf(items[at], source.PathIndex(path, at), "", "the server under test must not choose the program that is run")
		return false
	}
	i := shellwords.ScriptAt(argv)
	switch {
	case i < 0:
	case items[i].Origin == source.FromServer:
		c.Errorf(items[i], source.PathIndex(path, i), hint, "a value of the server under test would be run as part of the script")
		return false
	case items[i].Origin == source.Substituted:
		c.Mistakes.Add(source.Diagnostic{
			Pos: items[i].Pos, Path: source.PathIndex(path, i), Severity: source.Warning, Code: "script-value",
			Msg: "a value is inserted into a shell script as text", Hint: hint,
		})
	}
	return true
}

// execMatcher lets a program evaluate the value.
type execMatcher struct{ argv []string }

func (m execMatcher) Match(ctx context.Context, s target.Subject, env *Env) Outcome {
	name := display.Truncate(m.argv[0], shown.InLine)
	if env == nil || env.Exec == nil {
		return Outcome{Unfit: true, Msg: "the program " + name + " was not run: programs cannot be run here"}
	}
	in := jsonv.ObjectOf("target", s.Target, "value", s.Value).Append(nil)
	ctx, cancel := context.WithTimeout(ctx, execTime)
	defer cancel()
	out, err := env.Exec(ctx, m.argv, append(in, '\n'))
	o, problem := parseOutcome(out, err)
	if problem == "" {
		return o
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		problem = fmt.Sprintf("no response within %s", execTime)
	}
	why := "the program " + name + " could not judge: " + problem
	if env.Broken != nil {
		env.Broken(why)
	}
	return Outcome{Unfit: true, Msg: why}
}

// parseOutcome parses the output of a program; the text describes a mistake in it.
func parseOutcome(out []byte, err error) (Outcome, string) {
	switch {
	case err != nil:
		return Outcome{}, shown.Line(err.Error(), 2*shown.MaxLine)
	case len(out) > execOutput:
		return Outcome{}, "it wrote more than 1 MiB"
	}
	v, notes, err := jsonv.ParseWith(out, jsonv.Options{})
	if err != nil {
		return Outcome{}, "expected one JSON object from it, but what it wrote " + notJSON(out, err)
	}
	for _, n := range notes {
		if n.Kind == jsonv.DuplicateKey {
			return Outcome{}, "it wrote the key " + shown.Key(n.Pointer[1:]) + " twice"
		}
	}
	pass := v.Lookup("pass")
	if pass.Kind() != jsonv.KindBool {
		return Outcome{}, `expected {"pass": true or false} from it, got ` + shown.Value(v, shown.InLine)
	}
	o := Outcome{Pass: pass.Bool(), graded: true}
	if o.Pass {
		o.Score = 1
	}
	if score, ok := v.Get("score"); ok && score.Kind() != jsonv.KindNull {
		f := score.Float64()
		if score.Kind() != jsonv.KindNumber || !(f >= 0 && f <= 1) {
			return Outcome{}, "expected a score from 0 to 1 from it, got " + shown.Value(score, shown.ShortKey)
		}
		o.Score = f
	}
	if msg, ok := v.Get("message"); ok && msg.Kind() != jsonv.KindNull {
		text := shown.Value(msg, shown.MaxLine)
		if msg.Kind() == jsonv.KindString {
			text = shown.Line(msg.Text(), 2*shown.MaxLine)
		}
		if o.Pass {
			o.Notes = []string{text}
		} else {
			o.Msg = text
		}
	}
	if !o.Pass && o.Msg == "" {
		o.Msg = "the program rejected the value"
	}
	return o, ""
}
