package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonschema"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lazy"
	"mcptest/internal/base/lists"
	"mcptest/internal/client/check"
	"mcptest/internal/offer/compat"
	"mcptest/internal/run/inspect"
)

// The layer of tools' schemas: problems for a client, or for the model behind it.

// maxLint bounds the number of lines of the layer.
const maxLint = 30

// remark is one problem of a tool.
type remark struct {
	state State
	text  string
}

func (e *examination) checkSchemas(ctx context.Context) bool {
	if e.tools == nil {
		return true // without tools there are no schemas
	}
	begun := time.Now()
	l := Layer{Name: "schemas", State: OK, Message: display.Count(len(e.tools), "tool") + ", no problems"}
	bad, total := 0, 0
	rejected, err := e.findRejected(ctx)
	if err != nil {
		l.State = Warn
		l.Details = append(l.Details, "the rules about clients could not be applied: "+err.Error())
	}
	for _, t := range e.tools {
		remarks := lintTool(e.Conn.Session().Protocol(), t)
		if !slices.ContainsFunc(remarks, func(r remark) bool { return r.state == Fail }) {
			remarks = append(remarks, rejected[inspect.Name(t, "name")]...)
		}
		if len(remarks) > 0 {
			bad++
		}
		for _, r := range remarks {
			l.State = chooseWorse(l.State, r.state)
			total++
			if total <= maxLint {
				l.Details = append(l.Details, string(r.state)+": "+inspect.Name(t, "name")+": "+r.text)
			}
		}
	}
	l.Took = time.Since(begun)
	if bad > 0 {
		l.Message = fmt.Sprintf("%d of %s have problems", bad, display.Count(len(e.tools), "tool"))
	}
	if total > maxLint {
		l.Details = append(l.Details, fmt.Sprintf("and %d more", total-maxLint))
	}
	e.addLayer(l)
	return true
}

// findRejected returns, by tool, why clients built with the official SDKs reject the list
// or lose the tool.
func (e *examination) findRejected(ctx context.Context) (map[string][]remark, error) {
	rules, err := compat.Builtin()
	if err != nil {
		return nil, err
	}
	of := rules.Only([]string{"ts-sdk", "go-sdk"}, []string{compat.GroupClients})
	rep, err := compat.Check(ctx, []compat.List{{Tools: e.tools}}, of, time.Now())
	out := map[string][]remark{}
	for _, f := range rep.Findings {
		if f.Level == compat.LevelError {
			out[f.Tool] = append(out[f.Tool], remark{Fail, f.Profile + " (" + f.Rule + "): " + f.Message})
		}
	}
	return out, err
}

// goodName matches a recommended tool name (MCP 2025-11-25, tools, "Tool Names").
// Compiling it takes longer than most of the startup, so it is delayed until it is
// needed.
var goodName = lazy.Regexp(`^[A-Za-z0-9_.-]{1,128}$`)

// lintTool returns the errors (Fail) and the inadvisable parts (Warn) of a tool.
func lintTool(version string, t jsonv.Value) []remark {
	out := lists.Map(check.Entry(version, "tools/list", t), func(msg string) remark { return remark{Fail, msg} })
	if n := t.Lookup("name"); n.Kind() == jsonv.KindString && !goodName().MatchString(n.Text()) {
		out = append(out, remark{Warn, "the name should be 1 to 128 characters from A-Z a-z 0-9 _ - ."})
	}
	if t.Lookup("description").Text() == "" {
		out = append(out, remark{Warn, "no description: a model has to guess its purpose"})
	}
	for _, key := range []string{"inputSchema", "outputSchema"} {
		if s := t.Lookup(key); s.Kind() == jsonv.KindObject {
			out = append(out, lintSchema(key, s)...)
		}
	}
	return append(out, lintRequired(t.Lookup("inputSchema"))...)
}

// lintSchema compiles a schema like a client: no document outside it is loaded.
func lintSchema(key string, schema jsonv.Value) []remark {
	_, err := jsonschema.Compile(schema, jsonschema.Options{DefaultDraft: "2020-12"})
	var se *jsonschema.Error
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &se):
		return []remark{{Fail, key + ": " + err.Error()}}
	}
	return lists.Map(append([]*jsonschema.Error{se}, se.Rest...), func(e *jsonschema.Error) remark {
		return remark{Fail, key + e.Pointer + ": " + e.Msg}
	})
}

// lintRequired finds required properties that the schema does not describe.
func lintRequired(schema jsonv.Value) []remark {
	props := schema.Lookup("properties")
	if props.Kind() != jsonv.KindObject && !props.IsAbsent() {
		return nil // not a schema, which is reported elsewhere
	}
	var out []remark
	for _, r := range schema.Lookup("required").Elems() {
		if _, ok := props.Get(r.Text()); !ok && r.Kind() == jsonv.KindString {
			out = append(out, remark{Warn, fmt.Sprintf("inputSchema requires %q but does not define it", r.Text())})
		}
	}
	return out
}
