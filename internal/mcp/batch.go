package mcp

import (
	"bytes"
	"fmt"

	"mcptest/internal/jsonv"
	"mcptest/internal/mcp/protocol"
	"mcptest/internal/mcp/wire"
)

// batch reads an array of messages.
func (s *Session) batch(raw []byte, f wire.Frame) {
	parts, err := jsonv.Elements(raw)
	if err != nil {
		switch {
		case !f.Unterminated && s.in.multiline.opens(raw):
			s.in.multiline.add(raw, f.Offset, f.At)
		case f.Whole || mayBeBatch(raw):
			s.broken(raw, f, err)
		default: // a log line such as "[info] listening"
			s.stray(raw, f)
			s.settle("", nil)
		}
		return
	}
	if !s.looksLikeBatch(parts) {
		s.stray(raw, f)
		s.settle("", nil)
		return
	}
	if !s.agreed().Batches {
		s.flag(protocol.Batch, fmt.Sprintf("an array of %d messages", len(parts)), raw, f)
	} else if len(parts) == 0 {
		s.flag(protocol.Batch, "an empty batch", raw, f)
	}
	if k := s.calls.rawWaiter(nil); k != nil && k.raw.batch {
		s.settle(k.x.ID, k)
		k.x.Response = raw
		s.calls.complete(k, f.At)
		return
	}
	s.settle(s.answeredBy(parts))
	for _, part := range parts {
		f.Raw = part
		if len(part) == 0 || part[0] != '{' {
			s.stray(part, f)
			s.settle("", nil)
			continue
		}
		_ = s.in.scan.Scan(part) // valid, as the whole is
		s.message(part, f)
	}
}

// mayBeBatch reports whether a line could have been an array of messages.
func mayBeBatch(raw []byte) bool {
	rest := bytes.TrimLeft(raw[1:], " \t")
	return len(rest) == 0 || rest[0] == '{' || rest[0] == '['
}

// answeredBy finds the call in flight that the first answer of a batch is for.
func (s *Session) answeredBy(parts [][]byte) (string, *call) {
	if len(s.in.found) == 0 {
		return "", nil
	}
	for _, p := range parts {
		if len(p) == 0 || p[0] != '{' {
			continue
		}
		if id, k := s.meant(p, p); k != nil {
			return id, k
		}
	}
	return "", nil
}

// looksLikeBatch tells an array of messages from a list that was printed.
func (s *Session) looksLikeBatch(parts [][]byte) bool {
	for _, p := range parts {
		if len(p) > 0 && p[0] == '{' {
			return true
		}
	}
	return len(parts) == 0
}
