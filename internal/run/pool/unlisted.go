package pool

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/offer/surface"
	"mcptest/internal/spec/plan"
)

// lister describes the list that contains the target of a method.
type lister struct{ capability, key, what string }

var listers = map[string]lister{
	"tools/call":     {"tools", "name", "tool"},
	"prompts/get":    {"prompts", "name", "prompt"},
	"resources/read": {"resources", "uri", "resource"},
}

// formatUnlisted is the message about a name that the list does not contain.
func (l lister) formatUnlisted(name, near string) string {
	return "the server lists no " + l.what + " " + strconv.Quote(name) + source.Parenthesis(source.Suggest(near))
}

// list is one list of a server: the schemas of arguments, which are absent for
// resources, by name or URI, and the templates of resources.
type list struct {
	schemas   map[string]jsonv.Value
	templates []string
}

// has reports whether the list contains a name, or a template that may expand to a URI.
func (l *list) has(name string) bool {
	_, listed := l.schemas[name]
	return listed || slices.ContainsFunc(l.templates, func(t string) bool { return surface.TemplatePattern(t).MatchString(name) })
}

// ExplainMistaken returns what explains that a call was refused: the server lists no such name,
// or the arguments do not match the list. Prompts and resources are only listed after a
// failure or a refusal, so that passing tests cause no extra requests.
func (s *Server) ExplainMistaken(ctx context.Context, sess *mcp.Session, op *plan.Op) (unlisted, wrong string) {
	l, ok := listers[op.Method]
	if !ok {
		return "", ""
	}
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	known := s.getKnown(ctx, sess, l)
	m := known.findMistakes(op, l)
	wrong = l.formatWrong(op.Subject, m.arguments)
	if len(m.unknown) > 0 {
		if names := known.schemas[op.Subject].Lookup("properties").Keys(); 0 < len(names) && len(names) <= 12 {
			wrong += "; it takes " + strings.Join(names, ", ")
		}
	}
	return m.unlisted, wrong
}

// formatWrong is the message about arguments that do not match their schema, or "".
func (l lister) formatWrong(name string, problems []string) string {
	if len(problems) == 0 {
		return ""
	}
	text := "arguments of " + name + ": " + strings.Join(problems, "; ")
	if l.what == "prompt" {
		text = strings.ReplaceAll(text, "is not in the inputSchema", "is not declared")
	}
	return text
}

// getKnown returns the list as it was first read, or nil if it cannot be read.
func (s *Server) getKnown(ctx context.Context, sess *mcp.Session, l lister) *list {
	if l.what == "tool" {
		l := s.Tools().complete(ctx)
		if l.err != nil || l.schemas == nil {
			return nil
		}
		return &list{schemas: l.inputs}
	}
	known := s.getState().lists[l.capability]
	if known == nil {
		if known, _ = s.read(ctx, sess, l, nil); known != nil {
			s.update(func(st *state) { st.lists[l.capability] = known })
		}
	}
	return known
}

var (
	errUndeclared = errors.New("the server does not declare the list")
	errSilent     = errors.New("the list got no response before")
)

// read requests a list, and with the resources their templates.
func (s *Server) read(ctx context.Context, sess *mcp.Session, l lister, header http.Header) (*list, error) {
	if sess.ServerInfo().Lookup("capabilities", l.capability).IsAbsent() {
		return nil, errUndeclared
	}
	if slices.Contains(s.getState().silent, l.capability) {
		return nil, errSilent
	}
	limits, request := s.makeLimits(), readPages(sess, header, s.report)
	items, err := surface.Pages(ctx, l.capability+"/list", l.capability, limits, request)
	if err != nil {
		return nil, err
	}
	out := &list{schemas: map[string]jsonv.Value{}}
	for _, item := range items {
		out.schemas[item.Lookup(l.key).Text()] = l.findSchema(item)
	}
	if l.what != "resource" {
		return out, nil
	}
	templates, err := surface.Pages(ctx, "resources/templates/list", "resourceTemplates", limits, request)
	refused, ok := errors.AsType[*protocol.RPCError](err)
	if err != nil && (!ok || refused.Code != protocol.CodeMethodNotFound) {
		return nil, err
	}
	for _, t := range templates {
		out.templates = append(out.templates, t.Lookup("uriTemplate").Text())
	}
	return out, nil
}

// findSchema returns the schema of the arguments of a list's entry, if it declares them.
func (l lister) findSchema(item jsonv.Value) jsonv.Value {
	args := item.Lookup("arguments")
	if l.what != "prompt" || args.Kind() != jsonv.KindArray {
		return item.Lookup("inputSchema")
	}
	properties := jsonv.Object()
	for _, a := range args.Elems() {
		properties = properties.With(a.Lookup("name").Text(), jsonv.ObjectOf("type", "string"))
	}
	return jsonv.ObjectOf("properties", properties)
}
