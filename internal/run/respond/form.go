package respond

import (
	"context"
	"slices"
	"strings"

	"mcptest/internal/base/jsonschema"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lists"
	"mcptest/internal/spec/suite"
)

// examine compares what an answer fills into a form with the schema of the form. An
// answer that a form cannot have is a mistake of the suite, which is noted once. The
// caller holds the lock.
func (s *Script) examine(ctx context.Context, a suite.ElicitationAnswer, request jsonv.Value) {
	form := request.Lookup("requestedSchema")
	if a.Action != "accept" || form.Kind() != jsonv.KindObject {
		return
	}
	schema, err := jsonschema.Compile(form, jsonschema.Options{DefaultDraft: "2020-12"})
	if err != nil {
		return // a mistake of the server
	}
	content := a.JSON(request).Lookup("content")
	if content.IsAbsent() {
		content = jsonv.Object()
	}
	wrong, err := schema.Validate(ctx, content)
	if err != nil || len(wrong) == 0 {
		return
	}
	faults := lists.Map(wrong[:min(len(wrong), maxFaults)], func(v jsonschema.Violation) string {
		return strings.TrimPrefix(v.InstancePath+": "+v.Msg, ": ")
	})
	note := "respond.elicitation: the answer does not fit the form that the server shows: " + strings.Join(faults, "; ")
	if !slices.Contains(s.mistakes, note) {
		s.mistakes = append(s.mistakes, note)
	}
}

// maxFaults limits the faults of an answer that are named.
const maxFaults = 3

// Empty returns a script without answers, of a client that declares what it cannot do.
func Empty() *Script { return &Script{asked: map[string]bool{}, claims: true} }

// refuse notes a request that the client declares to answer, and the suite does not. The
// caller holds the lock.
func (s *Script) refuse(method string) {
	note := "the server requested " + method + ", which client: declares and the suite has no (further) answer to: it was refused with -32601"
	if s.claims && !slices.Contains(s.mistakes, note) {
		s.mistakes = append(s.mistakes, note)
	}
}

// Claims notes that the suite declares the capabilities of the client itself.
func (s *Script) Claims() { s.claims = true }

// Mistakes are answers of the suite that do not fit what the server requested, or are
// missing.
func (s *Script) Mistakes() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.mistakes)
}
