package suite

import (
	"cmp"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/secret"
	"mcptest/internal/base/source"
	"mcptest/internal/spec/suite/variants"
)

// Variant is one entry of `variants:` of a server: the differences from the server.
type Variant struct {
	Pos source.Pos

	// Arguments appended to those of the server, or to command if the variant has one.
	Args []string `yaml:"args" example:"[--read-only]"`
	// The program and its arguments, in place of the server's command or url.
	Command *source.Node `yaml:"command"`
	// Environment of the process, on top of the server's.
	Env source.Map[scalar] `yaml:"env"`
	// The address, in place of the server's url or command.
	URL string `yaml:"url" example:"http://127.0.0.1:8080/mcp" schema:"minLength: 1"`
	// Parameters of the address's query, on top of those in url.
	Query source.Map[scalar] `yaml:"query" example:"{readonly: true}"`
	// HTTP headers, on top of the server's.
	Headers source.Map[Header] `yaml:"headers"`
	// The protocol version to speak, in place of the server's.
	Protocol string `yaml:"protocol" enum:"auto|2024-11-05|2025-03-26|2025-06-18|2025-11-25|2026-07-28" example:"'2025-11-25'"`
	// The HTTP transport, in place of the server's.
	Transport string `yaml:"transport" enum:"auto|streamable-http|sse" example:"sse"`
	// What mcptest claims to be, in place of that of the server.
	Client *Client `yaml:"client" example:"{capabilities: {elicitation: {}}}"`
	// A YAML file of tools and descriptions, relative to the suite: what a model in a test of agents sees in place of the descriptions of the server.
	Describe string `yaml:"describe" example:"descriptions/short.yaml" schema:"minLength: 1"`
}

// AdviseKey returns a hint for keys of a server that all its variants share.
func (*Variant) AdviseKey(key string) string {
	if explainElsewhere(key, "server") == "" {
		return ""
	}
	return "it is the same for all variants: set it on the server"
}

// makeVariant merges a variant into its server: it appends lists, merges maps and
// replaces other values.
func (s *Server) makeVariant(e source.Entry[*Variant]) *Server {
	v, written := e.Value, s.node.Get("variants").Get(e.Key)
	out := *s
	out.Name = s.Name + "@" + e.Key
	out.Pos = e.Pos
	out.base = s
	out.Variants = source.Map[*Variant]{}
	moved := written.Get("command") != nil || written.Get("url") != nil
	out.Args = append(slices.Clip(s.Args), v.Args...)
	if moved {
		out.Command, out.URL, out.Args = v.Command, v.URL, v.Args
		out.Whole = written.Get("args") != nil
	}
	drop := []string{"variants"}
	if moved {
		drop = append(drop, "command", "url", "args")
	}
	for _, f := range source.Fields(reflect.TypeFor[Server]()) {
		// Keys of the server for the other kind of transport do not apply to the
		// variant.
		if only := f.Tag.Get("for"); only == "command" && out.Command == nil || only == "url" && out.URL == "" {
			drop = append(drop, f.Name)
			reflect.ValueOf(&out).Elem().FieldByName(f.GoName).SetZero()
		}
	}
	out.Env = overlay(out.Env, v.Env, func(name string) string { return name })
	out.Headers = overlay(out.Headers, v.Headers, http.CanonicalHeaderKey)
	if v.Protocol != "" {
		out.Protocol = v.Protocol
	}
	if v.Transport != "" {
		out.Transport = v.Transport
	}
	if v.Client != nil {
		out.Client = v.Client
	}
	if out.URL != "" {
		out.URL = addQuery(out.URL, v.Query)
	}
	out.Describe = written.Get("describe")
	out.node = &source.Node{Pos: written.Pos, Kind: source.KindMap}
	for _, f := range s.node.Fields {
		if written.Get(f.Key.Text) == nil && !slices.Contains(drop, f.Key.Text) {
			out.node.Fields = append(out.node.Fields, f)
		}
	}
	out.node.Fields = append(out.node.Fields, written.Fields...)
	return &out
}

// overlay returns the entries of base, with those of top replacing or following
// them. Names with the same key are equal.
func overlay[T any](base, top source.Map[T], key func(name string) string) source.Map[T] {
	replaced := func(e source.Entry[T]) bool {
		return slices.ContainsFunc(top.Entries, func(o source.Entry[T]) bool { return key(o.Key) == key(e.Key) })
	}
	return source.Map[T]{Entries: append(slices.DeleteFunc(slices.Clone(base.Entries), replaced), top.Entries...)}
}

// addQuery sets query parameters of an address. It returns an address that cannot
// be parsed unchanged; package plan reports it.
func addQuery(address string, query source.Map[scalar]) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || len(query.Entries) == 0 {
		return address
	}
	values := u.Query()
	for _, e := range query.Entries {
		values.Set(e.Key, string(e.Value))
	}
	u.RawQuery = values.Encode()
	return u.String()
}

// Path returns the path of a server in the suite.
func (s *Server) Path() string {
	if s.base != nil {
		return source.PathKey(s.base.Path()+".variants", strings.TrimPrefix(s.Name, s.base.Name+"@"))
	}
	return source.PathKey("servers", s.Name)
}

// MatchName reports whether name is equal to written or matches it as a pattern, in
// which "*" matches any text. A variant that stands for unknown ones has all their names.
func MatchName(written, name string) bool {
	if base, unknown := strings.CutSuffix(name, variants.Unknown); unknown && strings.HasPrefix(written, base) {
		return true
	}
	return secret.Glob(written, name)
}

// SuggestServer returns a hint for a name, or pattern, that matches no server.
func (s *Suite) SuggestServer(name string) string {
	var names, variants, patterns []string
	for _, sv := range s.Servers {
		names = append(names, sv.Name)
		if sv.base != nil {
			patterns = append(patterns, sv.base.Name+"@*")
		}
		if sv.base != nil && sv.base.Name == name {
			variants = append(variants, sv.Name)
		}
	}
	base, isPattern := strings.CutSuffix(name, "@*")
	switch {
	case len(names) == 0:
		return "declare it under servers:"
	case len(variants) > 0:
		return "it has only variants: " + display.List(variants, 12) + "; " + name + "@* selects all of them"
	case isPattern && slices.Contains(names, base):
		return base + " has no variants"
	}
	hint := source.DidYouMean(name, slices.Concat(names, patterns))
	if mixed := source.DescribeMixedLetters(name); mixed != "" && hint != "" {
		hint += " " + mixed
	}
	return cmp.Or(hint, "declared servers: "+display.List(names, 12))
}
