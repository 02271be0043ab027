package expect_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"mcptest/internal/assert/match"
)

func TestExec(t *testing.T) {
	type reply struct {
		out string
		err error
	}
	suite := tree(t, `
expect: [{target: "result.content[0].text", matcher: {exec: [./judge, -v]}, name: judged}]
derivedMetrics: [{name: m, value: {weighted_sum: [{ref: judged}]}}]
`)
	for _, c := range []struct {
		reply
		pass    bool
		score   float64
		message string
	}{
		{reply{out: `{"pass": true}`}, true, 1, ""},
		{reply{out: "{\"pass\": true, \"score\": 0.25, \"message\": \"meh\"}\n"}, true, 0.25, ""},
		{reply{out: `{"pass": false}`}, false, 0, "the program rejected the value"},
		{reply{out: `{"pass": false, "score": 0.75, "message": "too\n  long"}`}, false, 0.75, "text: too long"},
		{reply{out: `{"pass": true, "score": null, "message": null}`}, true, 1, ""},
		{reply{out: `{"pass": true, "score": 1.5}`}, false, 0, "expected a score from 0 to 1 from it, got 1.5"},
		{reply{out: `{"pass": true, "score": "1"}`}, false, 0, "expected a score from 0 to 1"},
		{reply{out: `{"pass": "yes"}`}, false, 0, `expected {"pass": true or false} from it`},
		{reply{out: `{"passed": true}`}, false, 0, `expected {"pass": true or false} from it`},
		{reply{out: `true`}, false, 0, `expected {"pass": true or false} from it, got true`},
		{reply{out: ``}, false, 0, "is not JSON: line 1, column 1"},
		{reply{out: `{"pass": true} {"pass": true}`}, false, 0, "is not JSON"},
		{reply{out: `{"pass": false, "pass": true}`}, false, 0, `could not judge: it wrote the key "pass" twice`},
		{reply{out: `{"pass": true, "x": {"a": 1, "a": 2}}`}, false, 0, `it wrote the key "x/a" twice`},
		{reply{err: errors.New("exit status 3:\nno such file")}, false, 0, "the program ./judge could not judge: exit status 3: no such file"},
		{reply{out: `{"pass": true}` + strings.Repeat(" ", 1<<20)}, false, 0, "it wrote more than 1 MiB"},
	} {
		var argv []string
		var in string
		var deadline time.Duration
		env := &match.Env{Exec: func(ctx context.Context, a []string, stdin []byte) ([]byte, error) {
			argv, in = a, string(stdin)
			at, _ := ctx.Deadline()
			deadline = time.Until(at)
			return []byte(c.out), c.err
		}}
		v := suite.Evaluate(t.Context(), textResult("a\"b"), env)
		wantMatch(t, v, c.pass, c.message)
		if v.Items[0].Score != c.score || v.Metrics[0].Value != c.score {
			t.Errorf("%v: score %v, metric %v", c.reply, v.Items[0].Score, v.Metrics[0].Value)
		}
		if !slices.Equal(argv, []string{"./judge", "-v"}) || in != `{"target":"result.content[0].text","value":"a\"b"}`+"\n" || deadline > 10*time.Second || deadline < 9*time.Second {
			t.Errorf("%q %s %s", argv, in, deadline)
		}
	}
	wantMatch(t, suite.Evaluate(t.Context(), textResult("x"), nil), false, "the program ./judge was not run: programs cannot be run here")
	ran := false
	env := &match.Env{Exec: func(context.Context, []string, []byte) ([]byte, error) { ran = true; return nil, nil }}
	if v := suite.Evaluate(t.Context(), result(t, `{"content": []}`), env); v.Pass || ran {
		t.Error("a program was run for a missing target")
	}
}

func TestExecTimeout(t *testing.T) {
	suite := tree(t, "expect: [{target: text, matcher: {exec: [x]}}]")
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	env := &match.Env{Exec: func(ctx context.Context, _ []string, _ []byte) ([]byte, error) {
		<-ctx.Done()
		return nil, errors.New("signal: killed")
	}}
	wantMatch(t, suite.Evaluate(ctx, textResult("x"), env), false, "no response within")
}
