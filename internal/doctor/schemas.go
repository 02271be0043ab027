package doctor

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"sync"
	"time"

	"mcptest/internal/display"
	"mcptest/internal/inspect"
	"mcptest/internal/jsonschema"
	"mcptest/internal/jsonv"
)

// The layer of tools' schemas: problems for a client, or for the model behind it.

// maxLint bounds the number of lines of the layer.
const maxLint = 30

// remark is one problem of a tool.
type remark struct {
	state State
	text  string
}

func (e *examination) schemas(context.Context) bool {
	if e.tools == nil {
		return true // without tools there are no schemas
	}
	begun := time.Now()
	l := Layer{Name: "schemas", State: OK, Message: display.Count(len(e.tools), "tool") + ", no problems"}
	bad, total := 0, 0
	for _, t := range e.tools {
		remarks := lintTool(t, e.Conn.Session().ProtocolVersion().AnyStructured)
		if len(remarks) > 0 {
			bad++
		}
		for _, r := range remarks {
			l.State = worse(l.State, r.state)
			if total++; total <= maxLint {
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
	e.found(l)
	return true
}

// goodName matches a recommended tool name (MCP 2025-11-25, tools, "Tool Names").
// Compiling it takes longer than most of the startup, so it is delayed until it is
// needed.
var goodName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_.-]{1,128}$`) })

// lintTool returns the errors (Fail) and the inadvisable parts (Warn) of a tool. With
// anyOutput, the outputSchema may describe any value.
func lintTool(t jsonv.Value, anyOutput bool) []remark {
	var out []remark
	say := func(state State, format string, args ...any) {
		out = append(out, remark{state, fmt.Sprintf(format, args...)})
	}
	switch n := t.Lookup("name"); {
	case n.Kind() != jsonv.KindString:
		say(Fail, "the name is %s, expected a string", n.Kind())
	case !goodName().MatchString(n.Text()):
		say(Warn, "the name should be 1 to 128 characters from A-Z a-z 0-9 _ - .")
	}
	if d := t.Lookup("description"); d.Kind() != jsonv.KindString || d.Text() == "" {
		say(Warn, "no description: a model has to guess its purpose")
	}
	in := t.Lookup("inputSchema")
	if in.Kind() != jsonv.KindObject {
		say(Fail, "inputSchema is %s, expected an object", in.Kind())
	} else {
		out = append(out, lintSchema("inputSchema", in, true)...)
		out = append(out, lintRequired(in)...)
	}
	if o, ok := t.Get("outputSchema"); ok {
		if o.Kind() != jsonv.KindObject {
			say(Fail, "outputSchema is %s, expected an object", o.Kind())
		} else {
			out = append(out, lintSchema("outputSchema", o, !anyOutput)...)
		}
	}
	return out
}

// lintSchema compiles a schema like a client: no document outside it is loaded.
func lintSchema(key string, schema jsonv.Value, object bool) []remark {
	var out []remark
	if t := schema.Lookup("type"); object && t.Text() != "object" {
		out = append(out, remark{Fail, fmt.Sprintf("%s.type is %s, expected \"object\"", key, t.Short(40))})
	}
	if _, err := jsonschema.Compile(schema, jsonschema.Options{DefaultDraft: "2020-12"}); err != nil {
		var se *jsonschema.Error
		if !errors.As(err, &se) {
			return append(out, remark{Fail, key + ": " + err.Error()})
		}
		for _, e := range append([]*jsonschema.Error{se}, se.Rest...) {
			out = append(out, remark{Fail, key + e.Pointer + ": " + e.Msg})
		}
	}
	return out
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
