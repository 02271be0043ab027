package probe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"mcptest/internal/base/jsonschema"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
	"mcptest/internal/run/allow"
	"mcptest/internal/run/probe/argument"
	"mcptest/internal/run/probe/verdict"
	"mcptest/internal/spec/suite"
)

// callable is how many tools the families arguments, isolation and fuzz call.
const callable = 12

// argumentRules examines the rules of the family arguments.
type argumentRules struct{ *visit }

// arguments calls tools with arguments that a model gets wrong, and with hostile ones.
func (v argumentRules) arguments(ctx context.Context) {
	const crash, trace, text = "argument-crash", "argument-trace", "argument-text-json"
	v.eachCallable(ctx, []string{crash, trace, text}, func(tool jsonv.Value, subject string) {
		schema := tool.Lookup("inputSchema")
		valid := jsonschema.Arguments(schema)
		control := v.control(ctx, tool, valid)
		for _, u := range argument.Hostile(jsonschema.Arguments(argument.Complete(schema)), v.local) {
			var x *mcp.Exchange // of both rules
			if v.local {
				v.check(ctx, crash, subject, func(ctx context.Context) (o outcome) {
					x, o = v.attack(ctx, tool, control, u)
					return o
				})
			} else {
				v.enter(crash, remote())
			}
			v.check(ctx, trace, subject, func(ctx context.Context) outcome {
				answered := x
				if x = nil; answered == nil {
					var o outcome
					if answered, o = v.attack(ctx, tool, control, u); answered == nil {
						return o
					}
				}
				return traced(answered, control, u)
			})
		}
		var accepts, refuses []string
		for _, u := range argument.Textual(schema, valid) {
			v.check(ctx, text, subject, func(ctx context.Context) outcome {
				x, o := v.attack(ctx, tool, control, u)
				switch {
				case x == nil:
				case refused(x) || result(x).Lookup("isError").Bool():
					refuses = append(refuses, u.What)
				case x.Result != nil:
					accepts = append(accepts, u.What)
				}
				return o
			})
		}
		if len(accepts)+len(refuses) > 0 {
			v.add(text, "", outcome{note: fmt.Sprintf("%s accepts: %s; refuses: %s", subject, cmp.Or(strings.Join(accepts, ", "), "nothing"), cmp.Or(strings.Join(refuses, ", "), "nothing"))})
		}
	})
}

// eachCallable visits the tools that may be called; without any the rules are not
// verified.
func (v *visit) eachCallable(ctx context.Context, rules []string, visit func(tool jsonv.Value, subject string)) {
	why, n := "the server offers no tools", 0
	for _, tool := range v.tools {
		if refusal := v.policy.Allows(tool); refusal != "" {
			why = refusal
			continue
		}
		if slices.Contains(v.tooSlow, tool.Lookup("name").Text()) {
			why = subject(tool) + " is too slow for further calls"
			continue
		}
		if n++; n > callable || ctx.Err() != nil {
			continue
		}
		visit(tool, subject(tool))
	}
	for _, rule := range rules {
		switch {
		case !v.applies(rule):
		case len(v.tools) == 0:
			v.add(rule, "", inapplicable("%s", why))
		case n == 0:
			v.add(rule, "", unverified("%s", why))
		case n > callable:
			v.add(rule, "", outcome{note: fmt.Sprintf("%d of %d tools were called", callable, n)})
		}
	}
}

// control calls a tool with valid arguments.
func (v *visit) control(ctx context.Context, tool, args jsonv.Value) *mcp.Exchange {
	x, why := v.call(ctx, tool, args)
	if why != "" {
		return &mcp.Exchange{Cause: errors.New(why)}
	}
	v.revive(ctx)
	return x
}

// attack calls a tool with arguments that must not end the server. The exchange is nil if
// the tool was not called.
func (v *visit) attack(ctx context.Context, tool jsonv.Value, control *mcp.Exchange, u argument.Unusual) (*mcp.Exchange, outcome) {
	x, why := v.call(ctx, tool, u.Args)
	if why != "" {
		return nil, unverified("%s", why)
	}
	o := v.survived(ctx, x, control, u)
	if o.verdict == verdict.Fail {
		v.revive(ctx)
	}
	o.once = o.once || allow.Destructive(tool)
	return x, o
}

// survived judges whether a server responded to unusual arguments. A limit of mcptest, a
// session that could not be opened and a tool that is slow anyway fail no rule.
func (v *visit) survived(ctx context.Context, x, control *mcp.Exchange, u argument.Unusual) outcome {
	closed, ended := errors.AsType[*wire.ClosedError](x.Cause)
	switch {
	case x.Response != nil || status(x) > 0:
		return held()
	case len(x.Request) == 0 || ended && closed.Ours:
		return unverified("there was %s", answer(x))
	case control.Response == nil && status(control) == 0:
		return unverified("valid arguments got %s", answer(control))
	case ended && v.stdio():
		return broken(shown(x), "%s ended the server: %s", u.What, x.Cause)
	case errors.Is(x.Cause, context.DeadlineExceeded) && ctx.Err() == nil && control.Elapsed < 2*time.Second:
		return broken(shown(x), "%s got no response in %s", u.What, v.Reply)
	case errors.Is(x.Cause, io.EOF) || errors.Is(x.Cause, io.ErrUnexpectedEOF) || errors.Is(x.Cause, syscall.ECONNRESET):
		o := broken(shown(x), "%s got no response: %s", u.What, x.Cause)
		again := v.post(ctx, suite.Request{Body: []byte("{}")}, nil)
		o.once = errors.Is(again.Cause, syscall.ECONNREFUSED) // the server is gone, and was there before
		return o
	}
	return unverified("there was %s", answer(x))
}

func remote() outcome {
	return unverified("the server is not on this machine: nothing is sent that could end it")
}

// frames are lines of stack traces: JavaScript, Python, Go, Java, .NET, Rust.
var frames = regexp.MustCompile(`(?m)\bat .*[/\\][^\s()]+\.[cm]?[jt]sx?:\d+:\d+|Traceback \(most recent call last\)|File "[^"\n]+", line \d+|goroutine \d+ \[|\bat [\w.$<>]+\(\w+\.(?:java|kt):\d+\)|\bat .+ in \S+\.cs:line \d+|panicked at \S+\.rs:\d+`)

// traced judges the refusal of unusual arguments.
func traced(x, control *mcp.Exchange, u argument.Unusual) outcome {
	if x.Response == nil && status(x) == 0 {
		return unverified("there was %s", answer(x))
	}
	text := string(x.Response)
	if x.Response == nil {
		text = string(x.HTTP.Body)
	}
	text = strings.NewReplacer(`\n`, "\n", `\"`, `"`, `\\`, `\`).Replace(text)
	got, ok := code(x)
	was, _ := code(control)
	switch {
	case !refused(x) && !result(x).Lookup("isError").Bool():
	case frames.MatchString(text):
		return broken(shown(x), "%s got a stack trace: %s", u.What, strings.TrimSpace(frames.FindString(text)))
	case ok && got == protocol.CodeInternal && was != got && u.Args.Kind() == jsonv.KindObject:
		return broken(shown(x), "%s got %s, an internal error, not one that says what is wrong", u.What, answer(x))
	}
	return held()
}
