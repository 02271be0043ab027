package draft

import (
	"slices"

	"mcptest/internal/jsonschema"
	"mcptest/internal/jsonv"
)

// Suite is what is going to be written.
type Suite struct {
	Name   string
	From   string // the server's name and version, for the heading
	Server Server
	// Upstreams are the APIs that the server gets doubles for.
	Upstreams []*Upstream
	Tests     []*Test
	// Recorded is set when the answers and arguments are those of a recording.
	Recorded bool
	// Omitted says what the server has and no test looks at, a sentence each.
	Omitted []string
	// Mask hides secrets in a text; nil: there are none.
	Mask func(string) string
	// Local are texts that mean this machine: its folders and its name.
	Local []string
}

// Server is the server entry of the suite. Command, URL and Cwd are written as
// they are: ${NAME} in them is a placeholder.
type Server struct {
	Name    string
	Command []string // or URL
	URL     string
	Cwd     string
	// Env are variables of the environment that the server gets, Headers the
	// HTTP headers whose value one holds, by header name.
	Env     []string
	Headers [][2]string
	// Plain are those of Env whose values are no secrets.
	Plain []string
	// Bearer is the variable that holds a bearer token.
	Bearer    string
	Transport string
	Protocol  string
	CAFile    string
	Insecure  bool
	Tolerate  []string
}

// Upstream is an entry of `upstreams:`.
type Upstream struct {
	Name, StandsFor string
	Env             string // the variable that gets the address of the double
	Routes          []jsonv.Value
	// Allowed is set when the server sends requests on its own that no route answers.
	Allowed bool
}

// Requested is a request that a test made the server send to an upstream.
type Requested struct{ Upstream, Method, Path string }

// Test is one request with what was answered to it, each time it was made.
type Test struct {
	Block   string // tools, resources, prompts, protocol
	Subject string // the tool, URI, prompt or method
	Args    jsonv.Value
	// List is the member of the result that is a list of named things, whose
	// names are expected, and nothing else of it.
	List    string
	Answers []Answer
	// Loose is set when the server refuses the request in one way or another,
	// or at times: nothing else is then expected.
	Loose bool
	// Requested are expected in this order, nil: nothing is expected. Unsteady
	// is set when they differ from one run to the next.
	Requested []Requested
	Unsteady  bool
	// Skip says why the test is not run; nothing is then expected.
	Skip string
}

// Answer is what came back once.
type Answer struct {
	Result jsonv.Value // absent when there was none
	Code   jsonv.Value // of a JSON-RPC error
	Reason string      // the message of a refusal
}

// refused reports whether the server did not do what it was asked.
func (a Answer) refused() bool { return a.Result.IsAbsent() || a.Result.Lookup("isError").Bool() }

// Refused reports whether one of the answers was a refusal.
func (t *Test) Refused() bool { return slices.ContainsFunc(t.Answers, Answer.refused) }

// values returns one part of every answer.
func (t *Test) values(of func(Answer) jsonv.Value) []jsonv.Value {
	out := make([]jsonv.Value, len(t.Answers))
	for i, a := range t.Answers {
		out[i] = of(a)
	}
	return out
}

// all reports whether something holds for every answer.
func (t *Test) all(holds func(Answer) bool) bool {
	return !slices.ContainsFunc(t.Answers, func(a Answer) bool { return !holds(a) })
}

// Arguments makes arguments that an input schema asks for; the server may still
// refuse them.
func Arguments(schema jsonv.Value) jsonv.Value {
	if v := jsonschema.Sample(schema); v.Kind() == jsonv.KindObject {
		return v
	}
	return jsonv.Object()
}
