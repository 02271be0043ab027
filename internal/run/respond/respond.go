package respond

import (
	"context"
	"strings"
	"sync"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/protocol"
	"mcptest/internal/spec/suite"
)

// Script answers the server's requests during one case. Ordered answers are used in
// order across all its calls.
type Script struct {
	mu       sync.Mutex
	sampling []suite.SamplingAnswer
	form     []suite.ElicitationAnswer
	url      []suite.ElicitationAnswer
	roots    []suite.Root
	hasRoots bool
	// A single answer is used for every request.
	sampleEach, formEach, urlEach bool
	asked                         map[string]bool // keys of respond that the server requested
	claims                        bool            // client: declares the capabilities
	mistakes                      []string        // of answers; see Mistakes
}

// New returns a script that uses, for each kind of answer, the first of scripts
// that has it. Answers to forms and to addresses are two kinds, each with its order.
// It returns nil if all scripts are nil.
func New(scripts ...*suite.Respond) (s *Script) {
	for _, r := range scripts {
		if r == nil {
			continue
		}
		if s == nil {
			s = &Script{asked: map[string]bool{}}
		}
		if s.sampling == nil && len(r.Sampling.List) > 0 {
			s.sampling, s.sampleEach = r.Sampling.List, !r.Sampling.Ordered
		}
		form, url := s.form == nil, s.url == nil
		for _, a := range r.Elicitation.List {
			switch {
			case a.URL && url:
				s.url, s.urlEach = append(s.url, a), !r.Elicitation.Ordered
			case !a.URL && form:
				s.form, s.formEach = append(s.form, a), !r.Elicitation.Ordered
			}
		}
		if !s.hasRoots && r.HasRoots {
			s.roots, s.hasRoots = r.Roots, true
		}
	}
	return s
}

// Answer implements mcp.Answerer.
func (s *Script) Answer(ctx context.Context, method string, params []byte) ([]byte, *protocol.RPCError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, _ := jsonv.Parse(params)
	kind := findKind(method, v)
	s.asked[kind] = true
	switch kind {
	case "sampling":
		if a, ok := takeAnswer(&s.sampling, s.sampleEach); ok {
			return a.JSON().Append(nil), nil
		}
	case "elicitation":
		if a, ok := takeAnswer(&s.form, s.formEach); ok {
			s.examine(ctx, a, v)
			return a.JSON(v).Append(nil), nil
		}
	case "elicitation with mode url":
		if a, ok := takeAnswer(&s.url, s.urlEach); ok {
			return a.JSON(v).Append(nil), nil
		}
	case "roots":
		if s.hasRoots {
			return formatRoots(s.roots).Append(nil), nil
		}
	}
	s.refuse(method)
	return nil, &protocol.RPCError{Code: protocol.CodeMethodNotFound, Message: "the suite has no (further) response to " + method + strings.TrimPrefix(kind, "elicitation")}
}

// findKind returns the key of respond that answers a request: elicitation in mode url is
// a kind of its own.
func findKind(method string, params jsonv.Value) string {
	kind := protocol.CapabilityOf(method)
	if kind == "elicitation" && params.Lookup("mode").Text() == "url" {
		kind += " with mode url"
	}
	return kind
}

func takeAnswer[T any](list *[]T, each bool) (T, bool) {
	var zero T
	if len(*list) == 0 {
		return zero, false
	}
	a := (*list)[0]
	if !each {
		*list = (*list)[1:]
	}
	return a, true
}

func formatRoots(roots []suite.Root) jsonv.Value {
	return jsonv.ObjectOf("roots", jsonv.List(roots, func(r suite.Root) jsonv.Value {
		root := jsonv.ObjectOf("uri", r.URI)
		if r.Name != "" {
			root = root.With("name", jsonv.String(r.Name))
		}
		return root
	}))
}
