package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"mcptest/internal/display"
	"mcptest/internal/draft"
	"mcptest/internal/inspect"
	"mcptest/internal/jsonv"
	"mcptest/internal/mcp"
)

// notReadOnly is why most skipped tests are skipped.
const notReadOnly = "the tool is not annotated read-only, so it was not called"

// maxTried is how many resources and prompts become tests.
const maxTried = 5

// observe makes every request of the suite, in a session of its own. The first
// time it finds out which requests there are, and makes them twice: what counts
// calls counts from the beginning in each session.
func (i *initializer) observe(ctx context.Context) error {
	if err := i.conn.Open(ctx); err != nil {
		return i.failed(ctx, "", err)
	}
	defer i.conn.Close()
	if i.suite.From == "" {
		if err := i.discover(ctx); err != nil {
			return err
		}
		if err := i.tryAll(ctx); err != nil {
			return err
		}
	}
	return i.tryAll(ctx)
}

// tryAll makes every request once.
func (i *initializer) tryAll(ctx context.Context) error {
	for _, t := range i.suite.Tests {
		if t.Skip != "" {
			continue
		}
		a, why := i.try(ctx, t)
		if err := ctx.Err(); err != nil {
			return i.failed(ctx, "", err)
		}
		if why == "" {
			t.Answers = append(t.Answers, a)
			continue
		}
		t.Skip = why
		// The server may still be busy with that request, or gone.
		i.conn.Close()
		if err := i.conn.Open(ctx); err != nil {
			return i.failed(ctx, "", err)
		}
	}
	return nil
}

// discover lists what the server has.
func (i *initializer) discover(ctx context.Context) error {
	i.suite.From = display.OneLine(i.redactor.String(i.conn.ServerName()))
	i.suite.Mask = i.redactor.String
	called := i.conn.Implementation().Lookup("name").Text()
	if i.f.name == "server" && called != "" {
		called = shortName(i.redactor.String(called))
		i.suite.Name, i.suite.Server.Name = called, called
	}
	if i.conn.Offers("tools") {
		tools, err := i.list(ctx, "tools/list", "tools")
		if err != nil {
			return err
		}
		i.suite.Tests = append(i.suite.Tests, &draft.Test{Block: "protocol", Subject: "tools/list", List: "tools"})
		if err := i.tools(tools); err != nil {
			return err
		}
	}
	i.others(ctx)
	return nil
}

func (i *initializer) tools(tools []jsonv.Value) error {
	all := slices.Contains(i.f.call, "*")
	unknown := slices.DeleteFunc(slices.Clone(i.f.call), func(name string) bool { return name == "*" })
	for _, tool := range tools {
		n := tool.Lookup("name").Text()
		if n == "" {
			continue
		}
		t := &draft.Test{Block: "tools", Subject: n, Args: draft.Arguments(tool.Lookup("inputSchema"))}
		asked := all || slices.Contains(i.f.call, n)
		unknown = slices.DeleteFunc(unknown, func(u string) bool { return u == n })
		if !asked && !tool.Lookup("annotations", "readOnlyHint").Bool() {
			t.Skip = notReadOnly
		}
		i.suite.Tests = append(i.suite.Tests, t)
	}
	if len(unknown) > 0 {
		return fail(exitInvalid, "--call: %s", inspect.NoSuch("tool", unknown[0], inspect.Names(tools, "name")))
	}
	return nil
}

// others finds resources, and prompts that need no arguments: reading them
// changes nothing. A list that is refused is taken for an empty one: a server
// that has none may say so in this way.
func (i *initializer) others(ctx context.Context) {
	if i.conn.Offers("resources") {
		resources, _ := i.conn.List(ctx, "resources/list", "resources")
		i.resources(resources)
	}
	if i.conn.Offers("prompts") {
		prompts, _ := i.conn.List(ctx, "prompts/list", "prompts")
		i.prompts(prompts)
	}
	if i.conn.Offers("resources") {
		templates, _ := i.conn.List(ctx, "resources/templates/list", "resourceTemplates")
		i.omit("resource templates, which need values of your choice", inspect.Names(templates, "uriTemplate"))
	}
}

func (i *initializer) resources(list []jsonv.Value) {
	some := min(len(list), maxTried)
	for _, r := range list[:some] {
		if uri := r.Lookup("uri").Text(); uri != "" {
			i.suite.Tests = append(i.suite.Tests, &draft.Test{Block: "resources", Subject: uri})
		}
	}
	i.omit("resources after the fifth", inspect.Names(list[some:], "uri"))
}

func (i *initializer) prompts(list []jsonv.Value) {
	n := 0
	var wanting, more []string
	for _, p := range list {
		needs := false
		for _, a := range p.Lookup("arguments").Elems() {
			needs = needs || a.Lookup("required").Bool()
		}
		switch called := p.Lookup("name").Text(); {
		case called == "":
		case needs:
			wanting = append(wanting, called)
		case n == maxTried:
			more = append(more, called)
		default:
			n++
			i.suite.Tests = append(i.suite.Tests, &draft.Test{Block: "prompts", Subject: called})
		}
	}
	i.omit("prompts that require arguments", wanting)
	i.omit("prompts after the fifth", more)
}

// maxNamed is how many of the things that no test looks at are named.
const maxNamed = 10

// omit notes what no test looks at.
func (i *initializer) omit(what string, names []string) {
	if len(names) == 0 {
		return
	}
	text := what + ": " + strings.Join(names[:min(len(names), maxNamed)], ", ")
	if more := len(names) - maxNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	i.suite.Omitted = append(i.suite.Omitted, i.redactor.String(text))
}

// try makes the request of a test. Why is not empty when there was no answer
// that a test could be made of.
func (i *initializer) try(ctx context.Context, t *draft.Test) (a draft.Answer, why string) {
	method, params := t.Subject, jsonv.Value{}
	named := func(key string) jsonv.Value {
		return jsonv.Object(jsonv.Member{Key: key, Value: jsonv.String(t.Subject)})
	}
	switch t.Block {
	case "tools":
		method, params = "tools/call", named("name").With("arguments", t.Args)
	case "resources":
		method, params = "resources/read", named("uri")
	case "prompts":
		method, params = "prompts/get", named("name")
	}
	x := i.conn.Do(ctx, method, params)
	var late *mcp.TimeoutError
	switch {
	case errors.As(x.Cause, &late):
		return a, fmt.Sprintf("it did not respond within %s when it was tried (increase --timeout)", i.f.timeout)
	case x.Cause != nil:
		return a, "it did not respond when it was tried: " + x.Cause.Error()
	}
	if e := x.RPCError(); e != nil {
		return draft.Answer{Code: jsonv.Int(int64(e.Code)), Reason: e.Message}, ""
	}
	v, err := jsonv.Parse(x.Result)
	if err != nil {
		return a, fmt.Sprintf("the response can't be read: %v", err)
	}
	for _, block := range v.Lookup("content").Elems() {
		if a.Reason == "" {
			a.Reason = block.Lookup("text").Text()
		}
	}
	a.Result = v
	return a, ""
}

// shortName makes a name for the suite and the server out of what the server
// calls itself: the last part, in letters that need no quotes.
func shortName(called string) string {
	called = called[strings.LastIndexByte(called, '/')+1:]
	out := strings.Map(func(r rune) rune {
		if r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_') {
			return r
		}
		return -1
	}, called)
	if out = strings.Trim(out, "-_"); out == "" {
		return "server"
	}
	return out
}
