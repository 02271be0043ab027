package conn

import (
	"fmt"
	"unicode/utf8"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
)

// findings collects the violations of the frame that is being read.
type findings struct {
	stdio bool
	found []protocol.Violation
	log   *violationLog // for violations that belong to no call in flight
}

// flag adds a violation of the frame that is being read; assign assigns it to a call.
func (n *findings) flag(kind, msg string, excerpt []byte, f wire.Frame) {
	n.found = append(n.found, protocol.Violation{
		Kind: kind, Msg: msg, Excerpt: protocol.Excerpt(excerpt), Offset: f.Offset, At: f.At,
		Tolerated: n.log.tolerated(kind),
	})
}

// framing adds violations around a message.
func (n *findings) framing(c protocol.Cleaned, f wire.Frame) {
	if c.BOM {
		n.flag(protocol.BOM, "a byte order mark before the message", f.Raw, f)
	}
	if c.NUL {
		n.flag(protocol.NULByte, "NUL bytes around the message", f.Raw, f)
	}
	if !c.UTF8 {
		at, bad := badUTF8(c.Raw)
		n.flag(protocol.InvalidUTF8, fmt.Sprintf("byte %d of the line is not UTF-8", at), bad, f)
	}
	if f.Unterminated {
		n.flag(protocol.PartialLine, "the output ended without a newline", f.Raw, f)
	}
}

// stray adds a violation for a line that is not a JSON message.
func (n *findings) stray(raw []byte, f wire.Frame) {
	if f.Unterminated {
		return // reported by framing
	}
	what := "a line"
	if f.Whole {
		what = "a body"
	}
	msg := what + " that is not JSON"
	if !f.Whole && n.stdio {
		msg = "the server wrote a log line to stdout; stdout is reserved for JSON-RPC, write logs to stderr"
	}
	if jsonv.Valid(raw) == nil {
		msg = what + " that is " + protocol.KindOf(raw).WithArticle() + ", not a message"
	}
	n.flag(protocol.StrayOutput, msg, raw, f)
}

// maxDeepNotification is the size up to which a notification or request of the server
// is checked below its top level.
const maxDeepNotification = 256 << 10

// deep adds the violations below the top level of a notification or a request of the
// server.
func (n *findings) deep(limits *wire.Limits, raw []byte, f wire.Frame) {
	if len(raw) > maxDeepNotification || limits.TooManyValues(raw) {
		return
	}
	_, found, _ := parseDeep(raw, jsonv.Options{})
	for _, d := range found[:min(len(found), maxCallViolations)] {
		d.Offset, d.At, d.Tolerated = f.Offset, f.At, n.log.tolerated(d.Kind)
		n.found = append(n.found, d)
	}
}

// assign assigns the violations of a frame to its call if that is in flight,
// otherwise to the session.
func (n *findings) assign(id string, k *call) {
	for i := range n.found {
		n.found[i].ID = id
		if k != nil {
			k.x.violate(n.found[i])
		} else {
			n.log.add(n.found[i])
		}
		n.found[i] = protocol.Violation{}
	}
	n.found = n.found[:0]
}

func badUTF8(raw []byte) (int, []byte) {
	for i := 0; i < len(raw); {
		r, n := utf8.DecodeRune(raw[i:])
		if r == utf8.RuneError && n == 1 {
			return i, raw[max(0, i-20):]
		}
		i += n
	}
	return 0, raw
}
