package protocol

import "mcptest/internal/base/jsonv"

// Version is one protocol version. The table of versions is the only place that names
// versions; other code uses the properties of a version.
type Version struct {
	Name string // such as "2025-11-25"; empty for a version that is not in the table

	// Properties for sessions.
	Batches, // a frame may be an array of messages
	VersionHeader, // each HTTP request has an MCP-Protocol-Version header
	Tasks, // a client may request a call as a task; later versions have an extension for it
	Negotiated, // a server must not send requests that need what the client does not declare
	SamplingTools, // a server may offer tools to the model of a client that declares it
	Stateless bool // no session: each request names its client and version

	Old bool // clients may drop support for it

	// Properties for package check.
	ToolHints, // a tool has annotations; a resource has a size
	PartMeta, // parts of a result have a _meta and a title, annotations a lastModified; a tool has an outputSchema
	Icons, // tools, prompts and resources have icons
	AnyStructured, // structuredContent may be any value, not only an object; of a schema, only the type of inputSchema is defined
	CacheHints bool // lists and resources contain cache hints
}

// versions holds every supported version, newest first.
var versions = []Version{
	{
		Name:          "2026-07-28",
		VersionHeader: true,
		Negotiated:    true,
		SamplingTools: true,
		Stateless:     true,
		ToolHints:     true,
		PartMeta:      true,
		Icons:         true,
		AnyStructured: true,
		CacheHints:    true,
	},
	{Name: "2025-11-25", VersionHeader: true, Negotiated: true, SamplingTools: true, Tasks: true, ToolHints: true, PartMeta: true, Icons: true},
	{Name: "2025-06-18", VersionHeader: true, Negotiated: true, ToolHints: true, PartMeta: true},
	{Name: "2025-03-26", Batches: true, ToolHints: true, Old: true},
	{Name: "2024-11-05", Old: true},
}

// VersionOf returns the row of a version, or a zero row if it is not supported.
func VersionOf(name string) Version {
	for _, v := range versions {
		if v.Name == name {
			return v
		}
	}
	return Version{}
}

// Known reports whether v is a row of the table.
func (v Version) Known() bool { return v.Name != "" }

// Era returns the era of the version.
func (v Version) Era() Era {
	switch {
	case !v.Known():
		return EraUnknown
	case v.Stateless:
		return EraStateless
	}
	return EraSession
}

// Versions returns the names of the supported versions, newest first.
func Versions() []string { return append(listNames(EraStateless), listNames(EraSession)...) }

// SessionVersions returns the names of the versions whose sessions begin with
// initialize, newest first.
func SessionVersions() []string { return listNames(EraSession) }

func listNames(e Era) (out []string) {
	for _, v := range versions {
		if v.Era() == e {
			out = append(out, v.Name)
		}
	}
	return out
}

// Newest returns the newest version of an era.
func Newest(e Era) Version { return VersionOf(listNames(e)[0]) }

// NewestCommon returns the newest version of an era that is in a list, or a zero row.
func NewestCommon(list jsonv.Value, e Era) Version {
	for _, name := range listNames(e) {
		for _, v := range list.Elems() {
			if v.Text() == name {
				return VersionOf(name)
			}
		}
	}
	return Version{}
}

// Era is one of the two generations of the protocol: with sessions, or with
// independent requests.
type Era uint8

// Eras.
const (
	EraUnknown   Era = iota
	EraSession       // a session that begins with initialize (up to 2025-11-25)
	EraStateless     // no session, each request is independent (from 2026-07-28)
)

// String returns "unknown", "session" or "requests".
func (e Era) String() string { return [...]string{"unknown", "session", "requests"}[e] }
