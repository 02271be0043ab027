package pool

import (
	"context"
	"slices"
	"strconv"

	"mcptest/internal/jsonv"
	"mcptest/internal/mcp"
	"mcptest/internal/source"
)

// lister describes the list that contains the target of a method.
type lister struct{ capability, key, what string }

var listers = map[string]lister{
	"tools/call":     {"tools", "name", "tool"},
	"prompts/get":    {"prompts", "name", "prompt"},
	"resources/read": {"resources", "uri", "resource"},
}

// Unlisted returns the beginning of the message of a test that failed because the
// server lists no such name, or "". Prompts and resources are only listed after a
// failure, so that passing tests cause no extra requests.
func (s *Server) Unlisted(ctx context.Context, sess *mcp.Session, method, name string) string {
	l, ok := listers[method]
	if !ok {
		return ""
	}
	var known []string
	if method == "tools/call" {
		if has, sure := s.Tools().Has(ctx, name); has || !sure {
			return ""
		}
		known = sortedKeys(s.Tools().schemas)
	} else if known = s.names(ctx, sess, l); known == nil || slices.Contains(known, name) {
		return ""
	}
	msg := "the server lists no " + l.what + " " + strconv.Quote(name)
	near := source.Nearest(name, known)
	switch {
	case near != "":
		msg += source.Aside(source.Suggest(near))
	case l.what == "resource":
		return "" // it may match a template
	}
	return msg + ": "
}

// names lists the prompts or resources of a server; nil if that fails or the
// list has several pages.
func (s *Server) names(ctx context.Context, sess *mcp.Session, l lister) []string {
	if sess.ServerInfo().Lookup("capabilities", l.capability).IsAbsent() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	x := sess.Do(ctx, mcp.Call{Method: l.capability + "/list", Own: true})
	s.report(x.Violations)
	res, err := jsonv.Parse(x.Result)
	if err != nil || res.Lookup("nextCursor").Kind() == jsonv.KindString {
		return nil
	}
	names := []string{}
	for _, item := range res.Lookup(l.capability).Elems() {
		names = append(names, item.Lookup(l.key).Text())
	}
	return names
}
