package pool

import (
	"context"
	"strings"

	"mcptest/internal/jsonv"
	"mcptest/internal/mcp"
	"mcptest/internal/mcp/check"
	"mcptest/internal/plan"
)

// Mistakes are what the list of tools says against a tools/call.
type Mistakes struct {
	Tool      string   // the list does not contain the tool
	Arguments []string // they do not match the tool's inputSchema
	Unknown   []string // those of Arguments that the inputSchema does not declare
}

// Mistakes compares a tools/call with the list of tools, if it is known. A tool is only
// missed if the call is own, which means without headers (they may name another user with
// other tools), and if the server has not changed the list since.
func (s *Server) Mistakes(ctx context.Context, sess *mcp.Session, op *plan.Op, own bool) (m Mistakes) {
	if own && !sess.ListChanged(0) {
		m.Tool = strings.TrimSuffix(s.Unlisted(ctx, sess, "tools/call", op.Subject), ": ")
	}
	schema := s.Tools().input(ctx, op.Subject)
	if v, err := jsonv.Parse(op.Params); err == nil && schema.Kind() == jsonv.KindObject {
		m.Arguments, m.Unknown = check.Arguments(schema, v.Lookup("arguments"))
	}
	return m
}

// Judge returns why a test of a tool fails because of its own mistakes, and what it
// warns about. Only a test that passed otherwise fails, if strict. A negative test, which
// passes because the call was rejected, may omit arguments and use other types on
// purpose, but a misspelled name is rejected too.
func (m Mistakes) Judge(tool string, passed, rejected, strict bool) (failure string, warnings []string) {
	const intended = "; if this is intended, set invalid_args: true on the test"
	if passed && m.Tool != "" {
		warnings = append(warnings, m.Tool+intended)
	}
	wrong, advice := m.Arguments, ""
	if passed && rejected {
		wrong, advice = m.Unknown, intended
	}
	text := "arguments of " + tool + ": " + strings.Join(wrong, "; ")
	switch {
	case len(wrong) == 0:
		return "", warnings
	case passed && strict:
		return text + " (strict_args" + intended + ")", warnings
	}
	return "", append(warnings, text+advice)
}
