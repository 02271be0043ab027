package conn

import (
	"bytes"
	"fmt"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
)

// batch reads an array of messages.
func (r *receiver) batch(raw []byte, f wire.Frame) (id string, k *call) {
	parts, err := jsonv.Elements(raw)
	if err != nil {
		switch {
		case !f.Unterminated && r.multiline.opens(raw):
			r.multiline.add(raw, f.Offset, f.At)
		case f.Whole || mayBeBatch(raw):
			return r.invalidJSON(raw, f, err)
		default: // a log line such as "[info] listening"
			r.notes.stray(raw, f)
		}
		return "", nil
	}
	if !r.looksLikeBatch(parts) {
		r.notes.stray(raw, f)
		return "", nil
	}
	if !r.state.agreed().Batches {
		r.notes.flag(protocol.Batch, fmt.Sprintf("an array of %d messages", len(parts)), raw, f)
	} else if len(parts) == 0 {
		r.notes.flag(protocol.Batch, "an empty batch", raw, f)
	}
	if k := r.calls.rawWaiter(nil); k != nil && k.raw.batch {
		k.x.Response = raw
		r.calls.complete(k, f.At)
		return k.x.ID, k
	}
	r.notes.assign(r.answeredBy(parts))
	for _, part := range parts {
		f.Raw = part
		if len(part) == 0 || part[0] != '{' {
			r.notes.stray(part, f)
			r.notes.assign("", nil)
			continue
		}
		_ = r.scan.Scan(part) // valid, because the whole array is
		r.notes.assign(r.message(part, f))
	}
	return "", nil
}

// mayBeBatch reports whether a line may be an array of messages.
func mayBeBatch(raw []byte) bool {
	rest := bytes.TrimLeft(raw[1:], " \t")
	return len(rest) == 0 || rest[0] == '{' || rest[0] == '['
}

// answeredBy returns the call in flight that the first response of a batch belongs
// to.
func (r *receiver) answeredBy(parts [][]byte) (string, *call) {
	if len(r.notes.found) == 0 {
		return "", nil
	}
	for _, p := range parts {
		if len(p) == 0 || p[0] != '{' {
			continue
		}
		if id, k := r.guessCall(p, p); k != nil {
			return id, k
		}
	}
	return "", nil
}

// looksLikeBatch distinguishes an array of messages from a printed list.
func (r *receiver) looksLikeBatch(parts [][]byte) bool {
	for _, p := range parts {
		if len(p) > 0 && p[0] == '{' {
			return true
		}
	}
	return len(parts) == 0
}
