package suite

import (
	"slices"
	"strings"

	"mcptest/internal/base/source"
)

// startEntry is one entry of `start`: how the program of a server starts and ends.
type startEntry struct {
	Pos          source.Pos
	boundaryKeys `yaml:",inline"`
	// Environment on top of the server's; null removes a variable, also an inherited one.
	Env source.Map[change[scalar]] `yaml:"env" example:"{API_TOKEN: null}"`
	// Arguments after those of the server's command.
	Args []string `yaml:"args" example:"[--read-only]"`
	// Working directory, relative to the folder of the suite; the server's when left out.
	Cwd string `yaml:"cwd" example:"empty"`
	// What happens to the program's input: open, close, or {text} written to it, then: close to close it afterwards.
	Stdin Stdin `yaml:"stdin" default:"open" example:"close"`
	// When stdin happens: at the start of the program, or after the handshake.
	After string `yaml:"after" enum:"start|ready" default:"start" example:"ready"`
}

// Stdin is what happens to the input of a program.
type Stdin struct {
	Close bool // after the text, if there is one
	Text  *string
}

// DecodeNode reads open, close or {text: …, then: …}.
func (s *Stdin) DecodeNode(n *source.Node, path string, d *source.Decoder) {
	if n.Kind == source.KindMap {
		var m struct {
			Text string `yaml:"text,required"`
			Then string `yaml:"then" enum:"open|close" default:"open"`
		}
		d.Decode(n, path, &m)
		s.Text, s.Close = &m.Text, m.Then == "close"
		return
	}
	s.Close = n.Text == "close"
	if n.Kind != source.KindString || !s.Close && n.Text != "open" {
		d.ReportWrongType(n, path, "open, close or {text: …, then: close}")
	}
}

// Start is the action of a test that starts a server's program and watches it end.
type Start struct {
	Set     []source.Entry[change[scalar]] // environment
	Args    []string
	Cwd     string
	Stdin   Stdin
	OnReady bool // after the handshake
}

// Environ returns an environment with the changes of the test.
func (a Start) Environ(env []string) []string {
	out := slices.Clone(env)
	for _, e := range a.Set {
		out = slices.DeleteFunc(out, func(kv string) bool { return strings.HasPrefix(kv, e.Key+"=") })
		if !e.Value.Removed {
			out = append(out, e.Key+"="+string(e.Value.Value))
		}
	}
	return out
}

// Name says what is done.
func (Start) Name() string { return "start" }

// Plan says that the program is started.
func (Start) Plan() string { return "start the server's program and wait for its end" }

// Connects is false: the program is started for the test.
func (Start) Connects() bool { return false }

// Refuses says why a server with an address cannot be started.
func (Start) Refuses(url bool) (why, hint string) {
	if url {
		return "start: requires a server with command:", "requests to an address are tests under http:"
	}
	return "", ""
}

func (e *startEntry) action() Action {
	return Start{Set: e.Env.Entries, Args: e.Args, Cwd: e.Cwd, Stdin: e.Stdin, OnReady: e.After == "ready"}
}
