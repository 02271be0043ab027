package conn

import (
	"bytes"
	"fmt"

	"mcptest/internal/jsonv"
	"mcptest/internal/mcp/protocol"
	"mcptest/internal/mcp/wire"
)

// batch reads an array of messages.
func (r *receiver) batch(raw []byte, f wire.Frame) {
	parts, err := jsonv.Elements(raw)
	if err != nil {
		switch {
		case !f.Unterminated && r.multiline.opens(raw):
			r.multiline.add(raw, f.Offset, f.At)
		case f.Whole || mayBeBatch(raw):
			r.broken(raw, f, err)
		default: // a log line such as "[info] listening"
			r.notes.stray(raw, f)
			r.notes.settle("", nil)
		}
		return
	}
	if !r.looksLikeBatch(parts) {
		r.notes.stray(raw, f)
		r.notes.settle("", nil)
		return
	}
	if !r.state.agreed().Batches {
		r.notes.flag(protocol.Batch, fmt.Sprintf("an array of %d messages", len(parts)), raw, f)
	} else if len(parts) == 0 {
		r.notes.flag(protocol.Batch, "an empty batch", raw, f)
	}
	if k := r.calls.rawWaiter(nil); k != nil && k.raw.batch {
		r.notes.settle(k.x.ID, k)
		k.x.Response = raw
		r.calls.complete(k, f.At)
		return
	}
	r.notes.settle(r.answeredBy(parts))
	for _, part := range parts {
		f.Raw = part
		if len(part) == 0 || part[0] != '{' {
			r.notes.stray(part, f)
			r.notes.settle("", nil)
			continue
		}
		_ = r.scan.Scan(part) // valid, as the whole is
		r.message(part, f)
	}
}

// mayBeBatch reports whether a line could have been an array of messages.
func mayBeBatch(raw []byte) bool {
	rest := bytes.TrimLeft(raw[1:], " \t")
	return len(rest) == 0 || rest[0] == '{' || rest[0] == '['
}

// answeredBy finds the call in flight that the first answer of a batch is for.
func (r *receiver) answeredBy(parts [][]byte) (string, *call) {
	if len(r.notes.found) == 0 {
		return "", nil
	}
	for _, p := range parts {
		if len(p) == 0 || p[0] != '{' {
			continue
		}
		if id, k := r.meant(p, p); k != nil {
			return id, k
		}
	}
	return "", nil
}

// looksLikeBatch tells an array of messages from a list that was printed.
func (r *receiver) looksLikeBatch(parts [][]byte) bool {
	for _, p := range parts {
		if len(p) > 0 && p[0] == '{' {
			return true
		}
	}
	return len(parts) == 0
}
