package suite

import (
	"reflect"

	"mcptest/internal/base/source"
)

// Each block has its own struct, because each has its own keys. The schema
// generator reads them too.
type (
	toolsEntry struct {
		Pos    source.Pos
		Common `yaml:",inline"`
		// The tool to call; a name with a slash that is no tool of the server is sent as a method.
		Tool string `yaml:"tool" example:"search" schema:"minLength: 1"`
		// The tool's arguments.
		Args *source.Node `yaml:"args"`
		// The name or the arguments are wrong on purpose: they are not compared with the lists of the server.
		InvalidArgs bool `yaml:"invalid_args" default:"false" example:"true"`
		// A flow: several invocations in order, instead of one call.
		Steps []*FlowStep `yaml:"steps"`
	}
	resourcesEntry struct {
		Pos    source.Pos
		Common `yaml:",inline"`
		// The resource to read.
		URI string `yaml:"uri" example:"file:///README.md" schema:"minLength: 1"`
		// The URI is wrong on purpose: it is not compared with the lists of the server.
		InvalidArgs bool `yaml:"invalid_args" default:"false" example:"true"`
		// A flow: several invocations in order, instead of one call.
		Steps []*FlowStep `yaml:"steps"`
	}
	promptsEntry struct {
		Pos    source.Pos
		Common `yaml:",inline"`
		// The prompt to get.
		Prompt string `yaml:"prompt" example:"greeting" schema:"minLength: 1"`
		// The prompt's arguments.
		Args *source.Node `yaml:"args"`
		// The name or the arguments are wrong on purpose: they are not compared with the lists of the server.
		InvalidArgs bool `yaml:"invalid_args" default:"false" example:"true"`
		// A flow: several invocations in order, instead of one call.
		Steps []*FlowStep `yaml:"steps"`
	}
	protocolEntry struct {
		Pos    source.Pos
		Common `yaml:",inline"`
		// The JSON-RPC method to send.
		Method string `yaml:"method" example:"tools/list" schema:"minLength: 1"`
		// Its params, sent unchanged.
		Params *source.Node `yaml:"params"`
		// Send a notification, without waiting for a response.
		Notification bool `yaml:"notification" default:"false" example:"true"`
		// Literal bytes to send instead of a request.
		Raw *source.Node `yaml:"raw"`
		// A flow: several invocations in order, instead of one call.
		Steps []*FlowStep `yaml:"steps"`
	}
)

// DecodeTest decodes one test whose placeholders have been expanded.
func DecodeTest(block Block, n *source.Node, path string, d *source.Decoder) *Test {
	t := &Test{Pos: n.Pos, Block: block, Path: path, Node: n}
	if n.Kind != source.KindMap {
		diag := d.ReportWrongType(n, path, "a test: a map of keys (name, expect, …)")
		if n.Kind == source.KindString && len(subject[block]) > 0 {
			examine := "target: text, matcher: {contains: …}"
			if block == Protocol {
				examine = "target: result, matcher: {exists: true}"
			}
			diag.Hint = "write - {name: " + n.Inline() + ", " + subject[block][0] + ": " + n.Inline() + ", expect: [{" + examine + "}]}"
		}
		return t
	}
	switch block {
	case Tools:
		var e toolsEntry
		d.Decode(n, path, &e)
		t.Common, t.Steps, t.InvalidArgs = e.Common, e.Steps, e.InvalidArgs
		t.Call = Invocation{Tool: e.Tool, Args: e.Args}
	case Resources:
		var e resourcesEntry
		d.Decode(n, path, &e)
		t.Common, t.Steps, t.InvalidArgs = e.Common, e.Steps, e.InvalidArgs
		t.Call = Invocation{URI: e.URI}
	case Prompts:
		var e promptsEntry
		d.Decode(n, path, &e)
		t.Common, t.Steps, t.InvalidArgs = e.Common, e.Steps, e.InvalidArgs
		t.Call = Invocation{Prompt: e.Prompt, Args: e.Args}
	case Protocol:
		var e protocolEntry
		d.Decode(n, path, &e)
		t.Common, t.Steps = e.Common, e.Steps
		t.Call = Invocation{Method: e.Method, Params: e.Params, Notification: e.Notification, Raw: e.Raw}
	default:
		t.setKind(d)
		return t
	}
	c := checker{d: d}
	c.test(t, n)
	if !t.Call.calls() && n.Get("steps") == nil {
		t.Action = Offer{}
	}
	return t
}

// setKind decodes a test without a call.
func (t *Test) setKind(d *source.Decoder) {
	k, before := reflect.New(EntryTypes()[t.Block]).Interface().(kind), d.Count()
	d.Decode(t.Node, t.Path, k)
	t.Common, t.Action = k.common(), k.action()
	checkReason(t.Node, t.Path, d)
	checkTags(t.Node, t.Path, t.Tags, d)
	if d.Count() == before { // otherwise its matchers would find the same mistakes
		t.Expect = k.expectations(t.Node, t.Path, d)
	}
	if then, ok := k.(stepLister); ok {
		t.Steps = then.listSteps()
	}
}

// stepLister is an entry that has steps behind what it does.
type stepLister interface{ listSteps() []*FlowStep }

// UsesDefaults reports whether defaultTest applies to the test.
func (t *Test) UsesDefaults() bool { return t.Defaults == nil || *t.Defaults }

// DecodeStep decodes one step of a flow whose placeholders have been expanded.
func DecodeStep(n *source.Node, path string, d *source.Decoder) *FlowStep {
	s := new(FlowStep)
	d.Decode(n, path, s)
	s.Path = path
	if n.Kind == source.KindMap {
		checker{d: d}.step(s, n, map[string]source.Pos{})
	}
	return s
}
