package suite

import (
	"time"

	"mcptest/internal/base/source"
	"mcptest/internal/spec/suite/interpolate"
)

// Server is one entry of `servers:`: exactly one of Command and URL. The tag "for"
// marks the keys that only servers with a command, or only servers with a URL, can
// have.
type Server struct {
	Pos   source.Pos   // position of its key
	Name  string       // its key
	File  *source.File // the file that declares it; relative paths start there
	Scope *interpolate.Scope
	// Whole is set if Command is one program, even as text: the same entry has args:.
	Whole bool
	// node is the server as written, for the positions of keys.
	node *source.Node
	base *Server // the server that this is a variant of
	// Describe is that of a variant; it may be nil.
	Describe *source.Node

	// The program and its arguments: a list, or a string split by POSIX rules. Started directly, never by a shell. Or a bundle: {bundle: FILE}.
	Command *source.Node `yaml:"command"`
	// Arguments appended to the command, which as text is then one program, not split.
	Args []string `yaml:"args" example:"[-y, '@acme/mcp-server']" for:"command"`
	// The address of a server that speaks HTTP.
	URL string `yaml:"url" example:"http://127.0.0.1:8080/mcp" schema:"minLength: 1"`
	// Environment of the process, on top of the suite's.
	Env source.Map[scalar] `yaml:"env" for:"command" example:"{MODE: test}"`
	// Working directory. Default: the folder of the file that contains this key; of a bundle, an empty folder.
	Cwd string `yaml:"cwd" example:"server" for:"command"`
	// HTTP headers: a value, or {env: NAME}, which is secret.
	Headers source.Map[Header] `yaml:"headers" for:"url" example:"{X-Tenant: acme}"`
	// How to authenticate over HTTP.
	Auth *Auth `yaml:"auth" example:"{bearer_token_env: API_TOKEN}" for:"url"`
	// Wait until the server answers: a duration, or a URL to probe. The address of a server is ready with any status below 500, every other with 200 to 399.
	WaitForReady string `yaml:"wait_for_ready"`
	// Limit for a call on this server.
	Timeout *time.Duration `yaml:"timeout" example:"10s" range:">0"`
	// Limit for the silence of a call on this server: it begins anew with each progress notification.
	IdleTimeout *time.Duration `yaml:"idle_timeout" example:"5s" range:">0"`
	// Limit for start and handshake; 60s when left out.
	ConnectTimeout *time.Duration `yaml:"connect_timeout" default:"60s" example:"20s" range:">0"`
	// The protocol version to speak, or auto.
	Protocol string `yaml:"protocol" enum:"auto|2024-11-05|2025-03-26|2025-06-18|2025-11-25|2026-07-28" default:"auto" example:"'2025-11-25'"`
	// The HTTP transport.
	Transport string `yaml:"transport" enum:"auto|streamable-http|sse" default:"auto" example:"streamable-http" for:"url"`
	// TLS settings.
	TLS *TLS `yaml:"tls" example:"{ca_file: ca.pem}" for:"url"`
	// Concurrent sessions; 1 when left out.
	Sessions *int `yaml:"sessions" default:"1" example:"4" range:"1-256"`
	// Kinds of protocol violations that are warnings on this server.
	Tolerate []Text `yaml:"tolerate"`
	// What the process inherits of mcptest's environment: minimal, all, or a list of names.
	InheritEnv *InheritEnv `yaml:"inherit_env" default:"minimal" example:"[AWS_PROFILE]" for:"command"`
	// Responses to requests from the server, for every test on it.
	Respond *Respond `yaml:"respond"`
	// What mcptest claims to be on this server: the capabilities of the client.
	Client *Client `yaml:"client" example:"{capabilities: {sampling: {tools: {}}}}"`
	// Check structuredContent against the tool's outputSchema; true when left out.
	ValidateOutput *bool `yaml:"validate_output" default:"true" example:"false"`
	ServerKeys     `yaml:",inline"`
	// Other configurations of the server, by name. Tests name them NAME@VARIANT; NAME@* selects all of them. In from: the program, and its arguments, that prints them.
	Variants source.Map[*Variant] `yaml:"variants"`
}

// ServerKeys holds the keys of a server that a run uses as written: package plan
// copies them together.
type ServerKeys struct {
	// How often a call is retried after HTTP 429 or 503.
	RetryHTTP *int `yaml:"retry_http" default:"0" example:"2" range:"0-100" for:"url"`
	// Fail the run if the process does not exit when its input is closed, exits with an error, or leaves processes behind. Otherwise a note says so.
	StrictExit bool `yaml:"strict_exit" default:"false" example:"true" for:"command"`
}

// KeyPos returns the position of one of the server's keys, or the server's own.
func (s *Server) KeyPos(key string) source.Pos {
	if v := s.node.Get(key); v != nil {
		return v.Pos
	}
	return s.Pos
}

// Has reports whether the server has a key.
func (s *Server) Has(key string) bool { return s.node.Get(key) != nil }

// Header is a header value, or the name of an environment variable that contains
// it.
type Header struct {
	Pos   source.Pos
	Value string
	Env   string
}

// headerEnv is a header written as a map.
type headerEnv struct {
	// The environment variable that holds the value, which no output shows.
	Env string `yaml:"env,required" example:"API_TOKEN"`
}

// DecodeNode reads text or {env: NAME}.
func (h *Header) DecodeNode(n *source.Node, path string, d *source.Decoder) {
	h.Pos = n.Pos
	if n.Kind != source.KindMap {
		var s scalar
		d.Decode(n, path, &s)
		h.Value = string(s)
		return
	}
	var m headerEnv
	d.Decode(n, path, &m)
	h.Env = m.Env
}

// Auth defines how to authenticate.
type Auth struct {
	Pos source.Pos `json:"-"`
	// The environment variable that holds a bearer token.
	BearerTokenEnv string `yaml:"bearer_token_env" example:"API_TOKEN"`
	// OAuth settings.
	OAuth *OAuth `yaml:"oauth"`
}

// OAuth holds the settings of one grant.
type OAuth struct {
	Pos source.Pos `json:"-"`
	// client_credentials, authorization_code or device_code.
	Grant string `yaml:"grant,required" enum:"client_credentials|authorization_code|device_code" example:"client_credentials"`
	// The client's identifier.
	ClientID string `yaml:"client_id" example:"ci"`
	// The environment variable that holds the client's secret.
	ClientSecretEnv string `yaml:"client_secret_env" example:"CLIENT_SECRET"`
	// The token endpoint, to which the secret is sent; never taken from the server under test.
	TokenEndpoint string `yaml:"token_endpoint" example:"https://id.example.com/token"`
	// The authorization server.
	Issuer string `yaml:"issuer" example:"https://id.example.com"`
	// URL of a client ID metadata document.
	ClientMetadataURL string `yaml:"client_metadata_url" example:"https://app.example.com/client.json"`
	// Scopes to request.
	Scope string `yaml:"scope" example:"read write"`
	// Loopback port of the redirect.
	RedirectPort *int `yaml:"redirect_port" example:"8765" range:"1-65535"`
	// Follow the redirects without a browser, for test servers.
	Headless bool `yaml:"headless" default:"false" example:"true"`
}

// TLS holds a server's TLS settings.
type TLS struct {
	Pos source.Pos `json:"-"`
	// A PEM file with certificate authorities to trust.
	CAFile string `yaml:"ca_file" example:"ca.pem"`
	// Don't verify the certificate; shown in every report.
	Insecure bool `yaml:"insecure" default:"false" example:"true"`
}

// InheritEnv selects the environment variables that a server inherits.
type InheritEnv struct {
	Pos   source.Pos
	All   bool
	Names []string // in addition to the minimal set
}

// DecodeNode reads minimal, all or a list of names.
func (e *InheritEnv) DecodeNode(n *source.Node, path string, d *source.Decoder) {
	e.Pos = n.Pos
	switch {
	case n.Kind == source.KindList:
		d.Decode(n, path, &e.Names)
	case n.Kind == source.KindString && n.Text == "all":
		e.All = true
	case n.Kind == source.KindString && n.Text == "minimal":
	default:
		d.ReportWrongType(n, path, "minimal, all or a list of names")
	}
}

// Respond scripts the client's side of a session.
type Respond struct {
	Pos source.Pos
	// Answers to sampling/createMessage: one, or a list used in order.
	Sampling Answers[SamplingAnswer] `yaml:"sampling" example:"{text: Paris}"`
	// Answers to elicitation/create: one, or a list used in order.
	Elicitation Answers[ElicitationAnswer] `yaml:"elicitation" example:"{action: accept, content: defaults}"`
	// The roots of roots/list.
	Roots []Root `yaml:"roots" example:"[{uri: file:///srv/project, name: project}]"`
	// HasRoots distinguishes an empty list from a missing one.
	HasRoots bool
}

// respondKeys has the tags of Respond; decoding also records whether roots was
// present.
type respondKeys struct {
	Pos         source.Pos
	Sampling    Answers[SamplingAnswer]    `yaml:"sampling"`
	Elicitation Answers[ElicitationAnswer] `yaml:"elicitation"`
	Roots       []Root                     `yaml:"roots"`
}

// DecodeNode reads the three keys.
func (r *Respond) DecodeNode(n *source.Node, path string, d *source.Decoder) {
	var k respondKeys
	d.Decode(n, path, &k)
	*r = Respond{Pos: k.Pos, Sampling: k.Sampling, Elicitation: k.Elicitation, Roots: k.Roots}
	r.HasRoots = n.Kind == source.KindMap && n.Get("roots") != nil
	if n.Kind == source.KindMap && len(n.Fields) == 0 {
		d.Errorf(n, path, "is empty: expected sampling:, elicitation: or roots:")
	}
}

// Answers is one answer to every request, or a list used in order.
type Answers[T any] struct {
	Pos     source.Pos
	List    []T
	Ordered bool // written as a list: each is used once
}

// DecodeNode reads one answer or a list of them.
func (a *Answers[T]) DecodeNode(n *source.Node, path string, d *source.Decoder) {
	a.Pos = n.Pos
	var one T
	if a.Ordered = d.DecodeOneOrMany(n, path, &a.List, &one, "the list of answers is empty"); !a.Ordered {
		a.List = []T{one}
	}
}

// Root is one root of roots/list.
type Root struct {
	// A file: URI.
	URI string `yaml:"uri,required" example:"file:///srv/project"`
	// A human-readable name.
	Name string `yaml:"name" example:"project"`
}
