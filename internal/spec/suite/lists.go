package suite

import (
	"reflect"

	"mcptest/internal/base/source"
)

// Block names the list that holds the test.
type Block string

// Blocks of tests that call something. Those of tests without a call are named in
// lists only.
const (
	Tools     Block = "tools"
	Resources Block = "resources"
	Prompts   Block = "prompts"
	Protocol  Block = "protocol"
)

// Calls reports whether the tests of the list make calls.
func (b Block) Calls() bool { return b == Tools || b == Resources || b == Prompts || b == Protocol }

// lists are the lists of tests. The decoding, the schema and the reference of the
// tests without a call follow from their rows: the type of the entries, the title of
// their keys in the reference, and the rules among their keys as JSON Schema.
type lists struct {
	// Tests that call a tool.
	Tools list[toolsEntry] `yaml:"tools"`
	// Tests that read a resource.
	Resources list[resourcesEntry] `yaml:"resources"`
	// Tests that get a prompt.
	Prompts list[promptsEntry] `yaml:"prompts"`
	// Tests that send any request, or raw bytes.
	Protocol list[protocolEntry] `yaml:"protocol"`
	// Tests of what servers offer: lock files, token budgets, equal surfaces.
	Surface list[surfaceEntry] `yaml:"surface" title:"What a server offers" example:"[{server: api@*, lock: surface/, fail_on: breaking}]" rules:"anyOf: [{required: [lock]}, {required: [tokens]}, {required: [same_as]}], dependentSchemas: {fail_on: {required: [lock]}}"`
	// Tests of which clients and app directories accept the servers' tools.
	Check list[checkEntry] `yaml:"check" title:"What clients accept" example:"[{server: api@*, for: [claude, openai]}]"`
	// Tests that hold servers against the rules of the protocol.
	Probe list[probeEntry] `yaml:"probe" title:"The rules of the protocol" example:"[{server: api, only: [http, tools], fail_on: must}]"`
	// Tests of how often a judge agrees with the labels that people gave.
	Calibration list[calibrationEntry] `yaml:"calibration" title:"How often a judge agrees with people" example:"[{rubric: Names the day., model: judge, labels: labels.jsonl, agreement: 0.8}]"`
	// Raw HTTP requests to the addresses of servers.
	HTTP list[httpEntry] `yaml:"http" title:"Raw HTTP requests" example:"[{name: refuses a foreign origin, request: {headers: {Origin: \"https://evil.example\"}}, expect: [{target: http.status, matcher: {exact: 403}}]}]"`
	// Tests of how the programs of servers start and end.
	Start list[startEntry] `yaml:"start" title:"How a program starts and ends" example:"[{name: exits with its input, after: ready, stdin: close, expect: [{target: exit.code, matcher: {exact: 0}}]}]"`
	// Conversations of language models with the tools of servers.
	Agents list[agentsEntry] `yaml:"agents" title:"A conversation with a model" example:"[{name: finds the issue, prompt: Show me issue 42., script: [{call: {get_issue: {number: 42}}}], expect: [{target: calls, matcher: {trajectory: {in_order: [get_issue]}}}]}]"`
}

// list is a list of tests. They stay nodes until their placeholders are expanded;
// then each is decoded into an E.
type list[E any] []*source.Node

// EntryType returns the type whose fields are the keys of one test.
func (list[E]) EntryType() reflect.Type { return reflect.TypeFor[E]() }

// EntryTypes returns the types of the tests of all lists, by block.
func EntryTypes() map[Block]reflect.Type {
	out := map[Block]reflect.Type{}
	for _, f := range source.Fields(reflect.TypeFor[lists]()) {
		out[Block(f.Name)] = reflect.Zero(f.Type).Interface().(interface{ EntryType() reflect.Type }).EntryType()
	}
	return out
}

// kind is a kind of test without a call: the keys of one entry of its list.
type kind interface {
	// common returns the keys that it shares with other tests, with its name.
	common() Common
	// expectations returns what the test expects, as it would be written after expect:.
	expectations(n *source.Node, path string, d *source.Decoder) *source.Node
	// action returns what the test does in place of a call.
	action() Action
}

// Action is what a test without a call does on its server. Package run has an
// observer for each.
type Action interface {
	// Name is what reports show in place of a method.
	Name() string
	// Plan says what will be done, for a dry run.
	Plan() string
	// Connects reports whether it needs a session with the server.
	Connects() bool
	// Refuses says why it cannot be done on a server with a url, or with a command.
	Refuses(url bool) (why, hint string)
}
