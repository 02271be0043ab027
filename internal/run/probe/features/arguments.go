package features

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lazy"
	"mcptest/internal/base/syserr"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
	"mcptest/internal/run/allow"
	"mcptest/internal/run/probe/argument"
	"mcptest/internal/run/probe/exam"
	"mcptest/internal/run/probe/verdict"
	"mcptest/internal/spec/suite"
)

// callable is how many tools the families arguments, isolation and fuzz call.
const callable = 12

// Arguments calls tools with arguments that a model gets wrong, and with hostile ones.
func Arguments(ctx context.Context, v *exam.Visit) {
	const crash, trace, textual = "argument-crash", "argument-trace", "argument-text-json"
	eachCallable(ctx, v, []string{crash, trace, textual}, func(tool jsonv.Value) {
		a := newAttacker(ctx, v, tool)
		for _, u := range argument.Hostile(argument.Complete(tool), v.Local) {
			var x *mcp.Exchange // of both rules
			if v.Local {
				v.Check(ctx, crash, exam.Subject(tool), func(ctx context.Context) (o exam.Outcome) {
					x, o = a.attack(ctx, u)
					return o
				})
			} else {
				v.Enter(remote(), crash)
			}
			v.Check(ctx, trace, exam.Subject(tool), func(ctx context.Context) (o exam.Outcome) {
				answered := x
				x = nil
				if answered == nil {
					answered, o = a.attack(ctx, u)
				}
				if answered == nil {
					return o
				}
				return judgeRefusal(answered, a.control, u)
			})
		}
		var accepts, refuses []string
		for _, u := range argument.Textual(tool) {
			v.Check(ctx, textual, exam.Subject(tool), func(ctx context.Context) exam.Outcome {
				x, o := a.attack(ctx, u)
				switch {
				case x == nil:
				case exam.Refused(x) || exam.Result(x).Lookup("isError").Bool():
					refuses = append(refuses, u.What)
				case x.Result != nil:
					accepts = append(accepts, u.What)
				}
				return o
			})
		}
		if len(accepts)+len(refuses) > 0 {
			accepted := cmp.Or(strings.Join(accepts, ", "), "nothing")
			refused := cmp.Or(strings.Join(refuses, ", "), "nothing")
			note := fmt.Sprintf("%s accepts: %s; refuses: %s", exam.Subject(tool), accepted, refused)
			v.Add(textual, "", exam.Outcome{Note: note})
		}
	})
}

// eachCallable visits the tools that may be called; without any the rules are not
// verified.
func eachCallable(ctx context.Context, v *exam.Visit, rules []string, visit func(tool jsonv.Value)) {
	if len(v.Tools) == 0 {
		v.Enter(exam.Inapplicable("the server offers no tools"), rules...)
	}
	var called []jsonv.Value
	for _, tool := range v.Tools {
		refusal := v.Policy.Allows(tool)
		switch {
		case refusal != "":
			v.EnterAbout(exam.Subject(tool), exam.Unverified("%s", refusal), rules...)
		case v.Slow(tool):
			v.EnterAbout(exam.Subject(tool), exam.Unverified("%s is too slow for further calls", exam.Subject(tool)), rules...)
		default:
			called = append(called, tool)
		}
	}
	for i, tool := range called {
		if exam.IsChosen(i, len(called), callable) {
			visit(tool)
		} else {
			v.EnterAbout(exam.Subject(tool), exam.Unverified("only %d tools are called", callable), rules...)
		}
	}
}

// attacker calls a tool with unusual arguments, and knows its response to valid ones.
type attacker struct {
	*exam.Visit
	tool    jsonv.Value
	control *mcp.Exchange
}

func newAttacker(ctx context.Context, v *exam.Visit, tool jsonv.Value) attacker {
	x, why := v.Call(ctx, tool, argument.Valid(tool))
	if why != "" {
		return attacker{v, tool, &mcp.Exchange{Cause: errors.New(why)}}
	}
	v.Revive(ctx)
	return attacker{v, tool, x}
}

// attack calls the tool with arguments that must not end the server. The exchange is nil if
// the tool was not called.
func (a attacker) attack(ctx context.Context, u argument.Unusual) (*mcp.Exchange, exam.Outcome) {
	x, why := a.Call(ctx, a.tool, u.Args)
	if why != "" {
		return nil, exam.Unverified("%s", why)
	}
	if exam.Silent(x) && errors.Is(x.Cause, context.DeadlineExceeded) && ctx.Err() == nil {
		// Whether the tool still answers what it answered before: the examiner judges it.
		_, _ = a.Call(ctx, a.tool, argument.Valid(a.tool))
	}
	o := a.judgeSurvival(ctx, x, u)
	if o.Verdict == verdict.Fail {
		a.Revive(ctx)
	}
	o.Once = o.Once || allow.Destructive(a.tool)
	return x, o
}

// judgeSurvival judges whether a server responded to unusual arguments. A limit of mcptest, a
// session that could not be opened and a tool that is slow anyway fail no rule.
func (a attacker) judgeSurvival(ctx context.Context, x *mcp.Exchange, u argument.Unusual) exam.Outcome {
	closed, ended := errors.AsType[*wire.ClosedError](x.Cause)
	switch {
	case !exam.Silent(x):
		return exam.Held()
	case len(x.Request) == 0 || ended && closed.Ours:
		return exam.Unverified("there was %s", exam.Answer(x))
	case exam.Silent(a.control):
		return exam.Unverified("valid arguments got %s", exam.Answer(a.control))
	case ended && a.Stdio():
		return exam.Broken(x, "%s ended the server: %s", u.What, x.Cause)
	case errors.Is(x.Cause, io.EOF),
		errors.Is(x.Cause, io.ErrUnexpectedEOF),
		syserr.Is(x.Cause, syscall.ECONNRESET):
		o := exam.Broken(x, "%s got no response: %s", u.What, x.Cause)
		again := a.Post(ctx, suite.Request{Body: []byte("{}")}, nil)
		o.Once = syserr.Is(again.Cause, syscall.ECONNREFUSED) // the server is gone, and was there before
		return o
	}
	return exam.Unverified("there was %s", exam.Answer(x))
}

func remote() exam.Outcome {
	return exam.Unverified("the server is not on this machine: nothing is sent that could end it")
}

// frames are lines of stack traces: JavaScript, Python, Go, Java, .NET, Rust.
var frames = lazy.Regexp(`(?m)\bat .*[/\\][^\s()]+\.[cm]?[jt]sx?:\d+:\d+|Traceback \(most recent call last\)|File "[^"\n]+", line \d+|goroutine \d+ \[|\bat [\w.$<>]+\(\w+\.(?:java|kt):\d+\)|\bat .+ in \S+\.cs:line \d+|panicked at \S+\.rs:\d+`)

// judgeRefusal judges the refusal of unusual arguments.
func judgeRefusal(x, control *mcp.Exchange, u argument.Unusual) exam.Outcome {
	if exam.Silent(x) {
		return exam.Unverified("there was %s", exam.Answer(x))
	}
	text := string(x.Response)
	if x.Response == nil {
		text = string(x.HTTP.Body)
	}
	text = strings.NewReplacer(`\n`, "\n", `\"`, `"`, `\\`, `\`).Replace(text)
	switch {
	case !exam.Refused(x) && !exam.Result(x).Lookup("isError").Bool():
	case frames().MatchString(text):
		return exam.Broken(x, "%s got a stack trace: %s", u.What, strings.TrimSpace(frames().FindString(text)))
	case exam.GotCode(x, protocol.CodeInternal) && !exam.GotCode(control, protocol.CodeInternal) && u.Args.Kind() == jsonv.KindObject:
		return exam.Broken(x, "%s got %s, an internal error, not one that says what is wrong", u.What, exam.Answer(x))
	}
	return exam.Held()
}
