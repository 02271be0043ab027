package mcp

import "slices"

// Dialect is one revision of the protocol as far as a session needs to know
// it. The table of dialects is the only place that knows revisions by name.
type Dialect struct {
	Revision    string
	Handshake   Handshake
	Batches     bool // a frame may be an array of messages
	Structured, // tools may answer with structuredContent
	Elicitation bool // the server may ask elicitation/create
	Cancel, // notifications/cancelled is how a call is given up on stdio
	VersionHeader, // each HTTP request has an MCP-Protocol-Version header
	Tasks, // a client may ask for a call as a task; later revisions have an extension for it
	Stateless bool // no session: each request says who asks, and for which revision
}

// Handshake is the way a session of a dialect begins.
type Handshake uint8

// Ways to begin.
const (
	Initialize Handshake = iota // initialize, then notifications/initialized
	Discover                    // server/discover, which may be left out
)

// dialects holds every revision this package speaks, newest first.
var dialects = []Dialect{
	{Revision: "2026-07-28", Handshake: Discover, Structured: true, Elicitation: true, Cancel: true, VersionHeader: true, Stateless: true},
	{Revision: "2025-11-25", Structured: true, Elicitation: true, Cancel: true, VersionHeader: true, Tasks: true},
	{Revision: "2025-06-18", Structured: true, Elicitation: true, Cancel: true, VersionHeader: true},
	{Revision: "2025-03-26", Batches: true, Cancel: true},
	{Revision: "2024-11-05", Cancel: true},
}

// Dialects returns the revisions this package speaks, newest first.
func Dialects() []Dialect { return slices.Clone(dialects) }

// Revisions returns the names of the revisions this package speaks, newest first.
func Revisions() []string {
	out := make([]string, len(dialects))
	for i, d := range dialects {
		out[i] = d.Revision
	}
	return out
}

// SessionRevisions returns the names of the revisions whose sessions begin with
// initialize, newest first.
func SessionRevisions() []string {
	var out []string
	for _, d := range dialects {
		if !d.Stateless {
			out = append(out, d.Revision)
		}
	}
	return out
}

func (d *Dialect) era() Era {
	if d.Stateless {
		return EraRequests
	}
	return EraSession
}

// newestOf returns the newest revision of an era.
func newestOf(e Era) *Dialect {
	for i := range dialects {
		if dialects[i].era() == e {
			return &dialects[i]
		}
	}
	return nil
}

func dialectOf(revision string) (*Dialect, bool) {
	for i := range dialects {
		if dialects[i].Revision == revision {
			return &dialects[i], true
		}
	}
	return nil, false
}
