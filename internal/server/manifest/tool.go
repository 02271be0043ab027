package manifest

import (
	"context"
	"errors"
	"strings"
	"time"

	"mcptest/internal/base/jsonschema"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
)

// Tool is one tool: its entry in the list and its response.
type Tool struct {
	Name     string
	Listed   jsonv.Value
	schema   *jsonschema.Schema // nil: arguments are not checked
	Task     *TaskSupport       // nil: the tool never responds with a task
	Response *Response

	Appears  *Moment // nil: it is there from the start
	Vanishes *Moment // nil: it stays
	Changes  *Moment // nil: it is always the same
	Changed  *Tool   // after Changes
}

// InSession returns the tool as listed in a session that supports tasks.
func (t *Tool) InSession() jsonv.Value {
	if t.Task == nil {
		return t.Listed
	}
	support := "optional"
	if t.Task.Required {
		support = "required"
	}
	return t.Listed.With("execution", jsonv.ObjectOf("taskSupport", support))
}

// toolKeys are the keys of a tool.
type toolKeys struct {
	// The tool's name.
	Name string `yaml:"name,required"`
	// Its name for people.
	Title *source.Node `yaml:"title"`
	// What it does.
	Description *source.Node `yaml:"description"`
	// JSON Schema of its arguments; any object when left out.
	InputSchema *source.Node `yaml:"input_schema"`
	// JSON Schema of its structuredContent.
	OutputSchema *source.Node `yaml:"output_schema"`
	// Hints such as readOnlyHint.
	Annotations *source.Node `yaml:"annotations"`
	// Icons.
	Icons *source.Node `yaml:"icons"`
	// The _meta of the listed tool.
	Meta *source.Node `yaml:"meta"`
	// false: arguments are not checked against the input schema.
	Validate *bool `yaml:"validate"`
	// Respond with a task: optional, required, or {support, ttl, poll}.
	Task *source.Node `yaml:"task" keys:"task"`
	// When it appears in the list: after the first call of another tool, or a time since the start; {after, announce: false} is not announced.
	Appears *source.Node `yaml:"appears" keys:"moment"`
	// When it vanishes from the list, in the same form.
	Vanishes *source.Node `yaml:"vanishes" keys:"moment"`
	// When it becomes another: {after, announce} and the keys that change, such as description and input_schema.
	Changes *source.Node `yaml:"changes" keys:"moment"`
	// What it returns.
	Response *source.Node `yaml:"response,required" keys:"response"`
}

// toolRoots are the roots that placeholders of a tool may refer to.
var toolRoots = []string{"args", "state", "ask", "calls", "client", "id", "params", "request"}

func decodeTool(n *source.Node, path string, d *source.Decoder) *Tool {
	n = spellInSnake(n, path, d)
	var k toolKeys
	d.Decode(n, path, &k)
	t := &Tool{Name: k.Name}
	schema := jsonv.ObjectOf("type", "object")
	if k.InputSchema != nil {
		schema = k.InputSchema.JSON()
		if k.Validate == nil || *k.Validate {
			t.schema = compileSchema(k.InputSchema, path+".input_schema", d)
		}
	}
	if k.OutputSchema != nil && (k.Validate == nil || *k.Validate) {
		compileSchema(k.OutputSchema, path+".output_schema", d)
	}
	t.Listed = jsonv.ObjectOf(
		"name", k.Name,
		"title", k.Title.JSON(),
		"description", k.Description.JSON(),
		"inputSchema", schema,
		"outputSchema", k.OutputSchema.JSON(),
		"annotations", k.Annotations.JSON(),
		"icons", k.Icons.JSON(),
		"_meta", k.Meta.JSON(),
	)
	t.Appears = compileOptional(k.Appears, path+".appears", func(n *source.Node, path string) *Moment { return compileMoment(n, path, d) })
	t.Vanishes = compileOptional(k.Vanishes, path+".vanishes", func(n *source.Node, path string) *Moment { return compileMoment(n, path, d) })
	if k.Changes != nil {
		t.Changed, t.Changes = compileChangedTool(n, spellInSnake(k.Changes, path+".changes", d), path+".changes", d)
	}
	if k.Task != nil {
		t.Task = decodeTask(k.Task, path+".task", d)
	}
	if k.Response != nil {
		c := compiler{d: d, roots: toolRoots, args: listDeclaredArgs(schema), tasks: k.Task != nil}
		t.Response = c.compileResponse(k.Response, path+".response", 0)
		if r := t.Response; r.messages != nil {
			d.Errorf(k.Response, path+".response", "messages is a prompt's result, a tool has content")
		}
	}
	return t
}

// compileSchema compiles a schema; it returns nil when the schema is invalid.
func compileSchema(n *source.Node, path string, d *source.Decoder) *jsonschema.Schema {
	s, err := jsonschema.Compile(n.JSON(), jsonschema.Options{})
	if err == nil {
		return s
	}
	at, msg := n, err.Error()
	if se, ok := errors.AsType[*jsonschema.Error](err); ok {
		msg = se.Msg
		tokens, perr := jsonv.ParsePointer(se.Pointer)
		for _, token := range tokens {
			if perr != nil {
				break
			}
			next := findBelow(at, token)
			if next == nil {
				break
			}
			if at.Kind == source.KindMap {
				path = source.PathKey(path, token)
			} else {
				path += "[" + token + "]"
			}
			at = next
		}
	}
	d.Errorf(at, path, "this is not a valid JSON Schema: %s", msg).Hint = "with validate: false on the tool, the schema is listed unchanged and arguments are not checked"
	return nil
}

func findBelow(n *source.Node, token string) *source.Node {
	if n.Kind == source.KindMap {
		return n.Get(token)
	}
	for i, item := range n.Items {
		if source.PathIndex("", i) == "["+token+"]" {
			return item
		}
	}
	return nil
}

// listDeclaredArgs returns the arguments that a schema declares, or nil when it declares
// none or explicitly allows others.
func listDeclaredArgs(schema jsonv.Value) []string {
	props, ok := schema.Get("properties")
	if !ok || props.Kind() != jsonv.KindObject {
		return nil
	}
	for _, key := range []string{"patternProperties", "allOf", "anyOf", "oneOf", "$ref", "$dynamicRef", "if"} {
		if _, ok := schema.Get(key); ok {
			return nil
		}
	}
	if more, ok := schema.Get("additionalProperties"); ok && (more.Kind() != jsonv.KindBool || more.Bool()) {
		return nil
	}
	if names := props.Keys(); names != nil {
		return names
	}
	return []string{}
}

// schemaTime limits the time for checking the arguments of one call.
const schemaTime = time.Second

// Check describes the first problem with the arguments; it returns "" if there is
// none.
func (t *Tool) Check(ctx context.Context, args jsonv.Value) string {
	if t.schema == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, schemaTime)
	defer cancel()
	found, err := t.schema.Validate(ctx, args)
	if err != nil {
		return err.Error()
	}
	var all []string
	for _, v := range found {
		if v.InstancePath != "" {
			all = append(all, v.InstancePath+": "+v.Msg)
		} else {
			all = append(all, v.Msg)
		}
	}
	return strings.Join(all, "; ")
}

// TaskSupport describes how a tool responds with a task: instead of a result it returns
// the id of a task, which the client polls until it is done.
type TaskSupport struct {
	Required  bool // the tool always responds with a task
	TTL, Poll time.Duration
}

const (
	taskTTL  = 5 * time.Minute
	taskPoll = 100 * time.Millisecond
)

// taskKeys are the keys of the long form of task.
type taskKeys struct {
	// optional: clients that know tasks get one, others wait; required: no one else is served.
	Support string `yaml:"support" enum:"optional|required"`
	// How long the task is kept.
	TTL time.Duration `yaml:"ttl" default:"5m"`
	// How often clients should ask for it.
	Poll time.Duration `yaml:"poll" default:"100ms"`
}

// decodeTask decodes `task: optional`, or a map with more settings.
func decodeTask(n *source.Node, path string, d *source.Decoder) *TaskSupport {
	var m taskKeys
	m.TTL, m.Poll = taskTTL, taskPoll
	switch {
	case n.Kind != source.KindString:
		d.Decode(n, path, &m)
	case n.Text != "optional" && n.Text != "required":
		d.Errorf(n, path, "expected optional, required or a map, got %q", n.Text)
	default:
		m.Support = n.Text
	}
	if m.TTL < time.Millisecond || m.Poll < time.Millisecond {
		d.Errorf(n, path, "ttl and poll are at least 1ms")
	}
	return &TaskSupport{Required: m.Support == "required", TTL: m.TTL, Poll: m.Poll}
}
