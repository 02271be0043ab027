package conn

import (
	"fmt"
	"unicode/utf8"

	"mcptest/internal/jsonv"
	"mcptest/internal/mcp/protocol"
	"mcptest/internal/mcp/wire"
)

// findings are the violations of the frame that is being read.
type findings struct {
	stdio bool
	found []protocol.Violation
	log   *violationLog // takes those that belong to no call in flight
}

// flag notes a violation of the frame that is being read; settle files it.
func (n *findings) flag(kind, msg string, excerpt []byte, f wire.Frame) {
	n.found = append(n.found, protocol.Violation{
		Kind: kind, Msg: msg, Excerpt: protocol.Excerpt(excerpt), Offset: f.Offset, At: f.At,
		Tolerated: n.log.tolerated(kind),
	})
}

// framing notes what is wrong around a message.
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

// stray notes a line that is no JSON message.
func (n *findings) stray(raw []byte, f wire.Frame) {
	if f.Unterminated {
		return // said by framing
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

// maxDeepNotification is how large a message of the server's own is read whole
// to be checked.
const maxDeepNotification = 256 << 10

// deep notes what only shows below the top level of a notification or a
// request of the server.
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

// settle files the violations of a frame: with its call if that is in flight,
// else with the session.
func (n *findings) settle(id string, k *call) {
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
