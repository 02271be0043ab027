package expect

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"mcptest/internal/jsonv"
	"mcptest/internal/source"
)

var rowExec = Row{
	Name: "exec", Doc: `a program judges: it reads {"target", "value"} as JSON and writes {"pass", "score"?, "message"?}; at most 10 s and 1 MiB`,
	Example: `exec: [./check.sh, strict]`, Passes: `"good"`, Fails: `"bad"`,
	schema: `{"type":"array","minItems":1,"items":{"type":"string"}}`, compile: compileExec,
}

// Limits of a judging program.
const (
	execTime   = 10 * time.Second
	execOutput = 1 << 20
)

func compileExec(c *compiler, n *source.Node, path string) Matcher {
	if n.Kind == source.KindString {
		c.errorf(n, path, "write it as a list: ["+strings.Join(strings.Fields(cutText(n.Text, shownKey)), ", ")+"]", "want a program and its arguments as a list, got %s", describe(n))
		return nil
	}
	items, ok := c.list(n, path, "words")
	if !ok {
		return nil
	}
	m := execMatcher{}
	for i, item := range items {
		word, ok := c.text(item, index(path, i), "text")
		if ok && i == 0 && word == "" {
			c.errorf(item, index(path, i), "", "the program's name is empty")
			return nil
		}
		if !ok {
			return nil
		}
		m.argv = append(m.argv, word)
	}
	return m
}

// execMatcher lets a program judge.
type execMatcher struct{ argv []string }

func (m execMatcher) Match(ctx context.Context, s Subject, env *Env) Outcome {
	name := cutText(m.argv[0], shownInLine)
	if env == nil || env.Exec == nil {
		return Outcome{Unfit: true, Msg: "the program " + name + " was not run: no programs are run here"}
	}
	in := jsonv.Object(
		jsonv.Member{Key: "target", Value: jsonv.String(s.Target)},
		jsonv.Member{Key: "value", Value: s.Value},
	).Append(nil)
	ctx, cancel := context.WithTimeout(ctx, execTime)
	defer cancel()
	out, err := env.Exec(ctx, m.argv, append(in, '\n'))
	o, problem := execAnswer(out, err)
	if problem == "" {
		return o
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		problem = fmt.Sprintf("no answer within %s", execTime)
	}
	return Outcome{Unfit: true, Msg: "the program " + name + " could not judge: " + problem}
}

// execAnswer reads what a program answered; the text says what is wrong with
// it.
func execAnswer(out []byte, err error) (Outcome, string) {
	switch {
	case err != nil:
		return Outcome{}, oneLine(err.Error(), 2*maxLine)
	case len(out) > execOutput:
		return Outcome{}, "it wrote more than 1 MiB"
	}
	v, err := jsonv.Parse(out)
	if err != nil {
		return Outcome{}, "want one JSON object from it, but what it wrote " + notJSON(out, err)
	}
	pass := v.Lookup("pass")
	if pass.Kind() != jsonv.KindBool {
		return Outcome{}, `want {"pass": true or false} from it, got ` + show(v, shownInLine)
	}
	o := Outcome{Pass: pass.Bool(), Score: unit(pass.Bool()), graded: true}
	if score, ok := v.Get("score"); ok && score.Kind() != jsonv.KindNull {
		f := score.Float64()
		if score.Kind() != jsonv.KindNumber || !(f >= 0 && f <= 1) {
			return Outcome{}, "want a score from 0 to 1 from it, got " + show(score, shownKey)
		}
		o.Score = f
	}
	if msg, ok := v.Get("message"); ok && msg.Kind() != jsonv.KindNull {
		text := show(msg, maxLine)
		if msg.Kind() == jsonv.KindString {
			text = oneLine(msg.Text(), 2*maxLine)
		}
		if o.Pass {
			o.Notes = []string{text}
		} else {
			o.Msg = text
		}
	}
	if !o.Pass && o.Msg == "" {
		o.Msg = "the program says no"
	}
	return o, ""
}
