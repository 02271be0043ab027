package mcp

// Dialect is one revision of the protocol. The table of dialects is the only
// place that knows revisions by name.
type Dialect struct {
	Revision string

	// What a session needs to know.
	Batches, // a frame may be an array of messages
	VersionHeader, // each HTTP request has an MCP-Protocol-Version header
	Tasks, // a client may ask for a call as a task; later revisions have an extension for it
	Stateless bool // no session: each request says who asks, and for which revision

	// What package check requires of a response.
	PartMeta, // parts of a result have a _meta, and annotations a lastModified
	AnyStructured, // structuredContent may be any value, not only an object
	CacheHints bool // lists and resources say how long they may be kept
}

// dialects holds every revision this package speaks, newest first.
var dialects = []Dialect{
	{Revision: "2026-07-28", VersionHeader: true, Stateless: true, PartMeta: true, AnyStructured: true, CacheHints: true},
	{Revision: "2025-11-25", VersionHeader: true, Tasks: true, PartMeta: true},
	{Revision: "2025-06-18", VersionHeader: true, PartMeta: true},
	{Revision: "2025-03-26", Batches: true},
	{Revision: "2024-11-05"},
}

// DialectOf returns the row of a revision, a zero row for one that this package
// does not speak.
func DialectOf(revision string) Dialect {
	if d, ok := dialectOf(revision); ok {
		return *d
	}
	return Dialect{}
}

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
