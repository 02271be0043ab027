package draft

import (
	"slices"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lists"
)

// Suite is a suite to be written.
type Suite struct {
	Name   string
	From   string // the server's name and version, for the heading
	Schema string // the path to the JSON Schema of suites; "": the suite names none
	Server Server
	// Upstreams are the APIs that the server gets doubles for.
	Upstreams []*Upstream
	Tests     []*Test
	// Recorded is set when the answers and arguments come from a recording.
	Recorded bool
	// Omitted describes the features of the server that no test examines, a sentence
	// each.
	Omitted []string
	// Mask hides secrets in a text; nil: there are none.
	Mask func(string) string
	// Local are texts that identify this machine: its folders and its name.
	Local []string
}

// Server is the server entry of the suite. Command, URL and Cwd are written
// unchanged: ${NAME} in them is a placeholder.
type Server struct {
	Name    string
	Command []string // or URL, or Bundle
	Bundle  string   // a file, relative to the suite
	URL     string
	Cwd     string
	// Env are environment variables passed to the server. Headers maps HTTP headers
	// to the variables that hold their values.
	Env     []string
	Headers [][2]string
	// Plain are those of Env whose values are not secrets.
	Plain []string
	// Values are further variables of the server, with their texts, which may contain
	// placeholders.
	Values [][2]string
	// Bearer is the variable that holds a bearer token.
	Bearer    string
	Transport string
	Protocol  string
	Client    string // a known client; "": mcptest
	Mute      bool   // it does not respond to server/discover, so Protocol saves time
	CAFile    string
	Insecure  bool
	Tolerate  []string
	// Respond scripts the client's side; absent: no capability is declared.
	Respond jsonv.Value
	Copies  []Copy
}

// Copy is a further entry of the same server, which differs in the client's side.
type Copy struct {
	Name    string
	Respond jsonv.Value
}

// Upstream is an entry of `upstreams:`.
type Upstream struct {
	Name, StandsFor string
	Env             string // the variable that receives the address of the double
	Routes          []jsonv.Value
	// Allowed is set when the server sends requests on its own that no route answers.
	Allowed bool
}

// Requested is a request that the server sent to an upstream during a test.
type Requested struct{ Upstream, Method, Path string }

// Part is a part of a result that a person chose to be expected.
type Part struct {
	At   string `json:"at"`   // a JSON pointer (RFC 6901) into the result
	Text string `json:"text"` // a piece of the text there; "": the value
}

// Test is one request with the answers to it, one for each time it was made.
type Test struct {
	Block   string // tools, resources, prompts, protocol
	Subject string // the tool, URI, prompt or method
	Server  string // its entry, if there are several
	Args    jsonv.Value
	// List is the member of the result that is a list of named objects. Only their
	// names are expected.
	List    string
	Answers []Answer
	// Loose is set when the server refuses the request in varying ways, or sometimes:
	// nothing else is then expected.
	Loose bool
	// Requested are expected in this order; nil: nothing is expected. Unsteady is set
	// when they differ between runs.
	Requested []Requested
	Unsteady  bool
	// Skip is the reason why the test is not run; only of Without is then anything expected.
	Skip string
	// Defect is set if it is skipped because the server refuses what it lists.
	Defect bool
	// Without are required arguments that the request lacks, so that it must be refused.
	Without []string
	// InvalidArgs is set when the request is refused, and has a name or an argument that the
	// server does not list.
	InvalidArgs bool
	// Respond scripts the client's side for this test; absent: it was not asked.
	Respond jsonv.Value
	// Chosen are parts of the result that are expected as well.
	Chosen []Part
	// Among is set when the test is written in the block of tools, to run in its place.
	Among bool
}

// makeBlock returns the block that the test is written in, and its request: a test of tools
// can have any method.
func (t *Test) makeBlock() (block, subject string, args jsonv.Value) {
	switch {
	case !t.Among:
		return t.Block, t.Subject, t.Args
	case t.Block == "resources":
		return "tools", "resources/read", jsonv.ObjectOf("uri", t.Subject)
	case t.Block == "prompts":
		return "tools", "prompts/get", jsonv.ObjectOf("name", t.Subject, "arguments", t.Args)
	}
	return "tools", t.Subject, t.Args
}

// listBlocks returns the blocks in the order in which they are written: of a recording in the
// order of the first requests.
func (s *Suite) listBlocks() (out []string) {
	for _, t := range s.Tests {
		block, _, _ := t.makeBlock()
		if s.Recorded && !slices.Contains(out, block) {
			out = append(out, block)
		}
	}
	if !s.Recorded {
		out = []string{"protocol", "tools", "resources", "prompts"}
	}
	return out
}

// Answer is one response to a request.
type Answer struct {
	Result jsonv.Value // absent when there was none
	Code   jsonv.Value // of a JSON-RPC error
	Reason string      // the message of a refusal
}

// Refused reports whether the server did not fulfill the request.
func (a Answer) Refused() bool { return a.Result.IsAbsent() || a.Result.Lookup("isError").Bool() }

// Refused reports whether one of the answers was a refusal.
func (t *Test) Refused() bool { return slices.ContainsFunc(t.Answers, Answer.Refused) }

// Mixed reports whether only some of the answers were refusals.
func (t *Test) Mixed() bool { return t.Refused() && !t.holdsForAll(Answer.Refused) }

// listValues returns one part of every answer.
func (t *Test) listValues(of func(Answer) jsonv.Value) []jsonv.Value {
	return lists.Map(t.Answers, of)
}

// holdsForAll reports whether holds returns true for every answer.
func (t *Test) holdsForAll(holds func(Answer) bool) bool {
	return !slices.ContainsFunc(t.Answers, func(a Answer) bool { return !holds(a) })
}
