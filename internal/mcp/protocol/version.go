package protocol

import "mcptest/internal/jsonv"

// Version is one revision of the protocol. The table of versions is the only
// place that knows revisions by name.
type Version struct {
	Name string

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

// versions holds every revision this package speaks, newest first.
var versions = []Version{
	{Name: "2026-07-28", VersionHeader: true, Stateless: true, PartMeta: true, AnyStructured: true, CacheHints: true},
	{Name: "2025-11-25", VersionHeader: true, Tasks: true, PartMeta: true},
	{Name: "2025-06-18", VersionHeader: true, PartMeta: true},
	{Name: "2025-03-26", Batches: true},
	{Name: "2024-11-05"},
}

// VersionOf returns the row of a revision, a zero row for one that this package
// does not speak.
func VersionOf(revision string) Version {
	if d, ok := FindVersion(revision); ok {
		return *d
	}
	return Version{}
}

// Versions returns the names of the revisions this package speaks, newest first.
func Versions() []string {
	out := make([]string, len(versions))
	for i, d := range versions {
		out[i] = d.Name
	}
	return out
}

// SessionVersions returns the names of the revisions whose sessions begin with
// initialize, newest first.
func SessionVersions() []string {
	var out []string
	for _, d := range versions {
		if !d.Stateless {
			out = append(out, d.Name)
		}
	}
	return out
}

func (d *Version) era() Era {
	if d.Stateless {
		return EraStateless
	}
	return EraSession
}

// Newest returns the newest revision of an era.
func Newest(e Era) *Version {
	for i := range versions {
		if versions[i].era() == e {
			return &versions[i]
		}
	}
	return nil
}

func FindVersion(revision string) (*Version, bool) {
	for i := range versions {
		if versions[i].Name == revision {
			return &versions[i], true
		}
	}
	return nil, false
}

// Era is one of the two ways in which servers work.
type Era uint8

// Eras.
const (
	EraUnknown   Era = iota
	EraSession       // a session that begins with initialize (up to 2025-11-25)
	EraStateless     // no session, each request stands for itself (from 2026-07-28)
)

// String returns "unknown", "session" or "requests".
func (e Era) String() string { return [...]string{"unknown", "session", "requests"}[e] }

// NewestCommon finds the newest revision of an era in a list.
func NewestCommon(list jsonv.Value, era Era) *Version {
	for i := range versions {
		if versions[i].era() != era {
			continue
		}
		for _, e := range list.Elems() {
			if e.Text() == versions[i].Name {
				return &versions[i]
			}
		}
	}
	return nil
}
