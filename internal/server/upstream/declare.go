package upstream

import (
	"time"

	"mcptest/internal/base/source"
)

// Declaration is one entry of `upstreams:`.
type Declaration struct {
	Pos source.Pos
	// The address of the API that the double replaces. Its path is part of the address that the server gets.
	StandsFor string `yaml:"stands_for,required" example:"https://api.example.com" schema:"minLength: 1"`
	// How the server gets the address of the double.
	Into *Into `yaml:"into" example:"{env: API_URL}"`
	// The responses to requests. The first route that matches is used.
	Routes []*RouteDecl `yaml:"routes" example:"[{match: {method: GET, path: '/users/{id}'}, reply: {json: {id: '{{path.id}}'}}}]"`
	// The recording that is used for requests without a route, relative to this file.
	Recording string `yaml:"recording" example:"upstream/api.yaml"`
	// What happens to other requests: fail responds with 501 and fails the test, 404 only responds.
	Unmatched Unmatched `yaml:"unmatched" default:"fail" example:"404"`
	// How requests reach the double: address (see into), or proxy, for servers whose address of the API can't be changed.
	Via string `yaml:"via" enum:"address|proxy" default:"address" example:"proxy"`
	// How long a test that examines the upstream waits for requests that come after its response.
	Settle *time.Duration `yaml:"settle" default:"100ms" example:"2s"`
	// Set to network to cut the server off from every other network (Linux).
	Isolate string `yaml:"isolate" enum:"network" example:"network"`
}

// Into says how a server gets the address of a double.
type Into struct {
	Pos source.Pos
	// An environment variable of the server, and of setup and hooks.
	Env string `yaml:"env" example:"API_URL"`
	// A command-line flag, which is added to the server's arguments with the value after it.
	Arg string `yaml:"arg" example:"--api-url"`
	// An HTTP header of the requests to a server with url:.
	Header string `yaml:"header" example:"X-Api-Url"`
	// A file in which {url}, {host} and {port} are replaced; the path of the copy is the value.
	File string `yaml:"file" example:"kubeconfig.yaml"`
	// The value; {url} when left out. {host} is the address and port, {port} the port.
	Value string `yaml:"value" default:"'{url}'" example:"'{host}'"`
}

// RouteDecl is one route.
type RouteDecl struct {
	Pos source.Pos
	// The requests that the route is for.
	Match *MatchDecl `yaml:"match,required" example:"{method: GET, path: '/users/{id}'}"`
	// The response, or a list: one for each request in turn, of which the last repeats.
	Reply Replies `yaml:"reply" example:"{status: 429, headers: {retry-after: 1}}"`
	// The maximum number of requests to which the route responds; unlimited when left out.
	Times *int `yaml:"times" example:"1" schema:"minimum: 1"`
}

// MatchDecl says which requests a route is for.
type MatchDecl struct {
	Pos source.Pos
	// The HTTP method; any when left out.
	Method string `yaml:"method" example:"GET" schema:"pattern: '^[A-Za-z-]*$'"`
	// The path; {name} is any one segment, and * at the end is any rest.
	Path string `yaml:"path,required" example:"/users/{id}" schema:"minLength: 1"`
	// Parameters that the query must have, in any order; others are ignored. In a value * is any text, a list means a repeated parameter, and null one that is absent.
	Query source.Map[*source.Node] `yaml:"query"`
	// Headers that the request must have; * is any text.
	Headers source.Map[Scalar] `yaml:"headers" example:"{authorization: 'Bearer *'}"`
	// The body: JSON, compared as a value; fields of a form as an object; or text.
	Body *source.Node `yaml:"body"`
}

// ReplyDecl is one response. {{path.name}}, {{query.name}}, {{header.name}},
// {{body.name}} and {{method}} in texts are taken from the request.
type ReplyDecl struct {
	Pos source.Pos
	// The status; 200 when left out.
	Status *int `yaml:"status" default:"200" example:"404" schema:"minimum: 200, maximum: 599"`
	// The headers.
	Headers source.Map[Scalar] `yaml:"headers" example:"{retry-after: 1}"`
	// The body as JSON.
	JSON *source.Node `yaml:"json"`
	// The body as text.
	Text *Scalar `yaml:"text" example:"hello"`
	// The body as a file, relative to the suite.
	File string `yaml:"file" example:"issues.json"`
	// The body as bytes in base64.
	Base64 string `yaml:"base64" example:"iVBORw0KGgo="`
	// The body as texts that are sent one by one.
	Chunks []Scalar `yaml:"chunks" example:"[one, two]"`
	// The body as server-sent events.
	SSE []*EventDecl `yaml:"sse" example:"[{data: {done: true}}]"`
	// The pause between two chunks or events.
	Interval *time.Duration `yaml:"interval" example:"10ms"`
	// The pause before the response.
	Delay *time.Duration `yaml:"delay" example:"2s"`
	// Close the connection instead of responding.
	Drop bool `yaml:"drop" default:"false" example:"true"`
	// Reset the connection instead of responding.
	Reset bool `yaml:"reset" default:"false" example:"true"`
	// Close the connection after this many bytes of the body.
	Truncate *int `yaml:"truncate" example:"100" schema:"minimum: 0"`
}

// EventDecl is one server-sent event.
type EventDecl struct {
	Pos source.Pos
	// The type of the event.
	Event string `yaml:"event" example:"message"`
	// The id of the event.
	ID Scalar `yaml:"id" example:"7"`
	// The data: text, or any value as JSON.
	Data *source.Node `yaml:"data,required"`
}

// Replies is one response or a list of them.
type Replies []*ReplyDecl

// DecodeNode reads a response or a list of responses.
func (r *Replies) DecodeNode(n *source.Node, path string, d *source.Decoder) {
	one := new(ReplyDecl)
	if !d.DecodeOneOrMany(n, path, (*[]*ReplyDecl)(r), one, "expected a response or a list of responses, got an empty list") {
		*r = Replies{one}
	}
}

// Scalar is a text, number or boolean as it was written.
type Scalar string

// DecodeNode takes any scalar but null.
func (s *Scalar) DecodeNode(n *source.Node, path string, d *source.Decoder) {
	if n.Kind == source.KindNull || !n.IsScalar() {
		d.ReportWrongType(n, path, "text, a number or a boolean")
		return
	}
	*s = Scalar(n.Spelling())
}

// Unmatched configures the handling of requests that no route or recording matches.
type Unmatched struct{ Allowed bool }

// DecodeNode reads fail or 404.
func (u *Unmatched) DecodeNode(n *source.Node, path string, d *source.Decoder) {
	switch text, _ := n.AsText(); text {
	case "fail":
	case "404":
		u.Allowed = true
	default:
		d.Errorf(n, path, "expected fail or 404, got %s", n.Spelling())
	}
}
