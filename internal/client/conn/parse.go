package conn

import (
	"bytes"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
)

// shape is what a frame turned out to be.
type shape uint8

const (
	blank        shape = iota // white space, a byte order mark, NUL bytes
	noise                     // not a message, such as a log line
	incomplete                // the first line of a message that is written over several
	abandoned                 // the lines of a message that was never complete
	oversize                  // over the size limit: Raw is a part of it
	malformed                 // not valid JSON
	batch                     // an array of messages
	response                  // to a request of the client
	adopted                   // a response without an id, classified before, now for the only call
	echo                      // a request of the client that the server sent back
	request                   // of the server
	notification              // of the server
)

// incoming is a frame of the server, parsed and matched to its call.
type incoming struct {
	wire.Frame                  // Raw is the message, without what surrounds it in the line
	line       []byte           // as it was read; nil: a part of a batch, or several lines
	around     protocol.Cleaned // what surrounded the message in the line
	lines      int              // of the message, if it was written over several
	shape      shape
	part       bool  // of an array of messages
	syntax     error // of a malformed frame
	envelope   *protocol.Envelope
	parts      [][]byte // of a batch
	tooMany    bool     // more values than Limits.Values
	over       *wire.OversizeMessage

	call    *call  // gets the findings, and is in flight or not signaled yet; nil: the session gets them
	id      string // of the findings, as JSON text
	ends    bool   // call is in flight, and this is its response
	wrongID bool   // no call waits for a response with this id
	orphan  bool   // a response without an id (or with null) that no call waits for
	meant   int64  // the id of the client that the id stands for, or 0
	token   []byte // of a progress notification
	result  []byte // of a response
	failure []byte // the error of a response
}

// belongsTo makes the findings those of a call.
func (in *incoming) belongsTo(k *call) {
	in.call = k
	if k != nil {
		in.id = k.x.ID
	}
}

// parser reads frames and finds the calls that they belong to.
type parser struct {
	scan  *protocol.Scanner
	state *state
}

// parse reads a line or a body.
func (p *parser) parse(f wire.Frame) incoming {
	if len(f.Raw) > 0 && f.Raw[0] == '[' {
		return p.parseArray(f)
	}
	return p.parseObject(f)
}

// parseObject reads one message.
func (p *parser) parseObject(f wire.Frame) (in incoming) {
	in.Frame = f
	switch {
	case len(f.Raw) == 0:
		return in
	case f.Raw[0] != '{':
		in.shape = noise
		return in
	}
	if in.syntax = p.scan.Scan(f.Raw); in.syntax != nil {
		in.shape = incomplete
		if f.Unterminated || f.Whole || !opensMultiline(f.Raw) {
			p.matchMalformed(&in)
		}
		return in
	}
	p.state.silent = false
	e := &p.scan.Envelope
	in.envelope, in.tooMany = e, p.state.limits.TooManyValues(f.Raw)
	n, _ := protocol.OwnID(e.ID)
	own := p.state.calls.find(n)
	switch {
	case e.Has&^protocol.HasVersion == 0 || e.Has&(protocol.HasMethod|protocol.HasResult|protocol.HasError|protocol.HasID) == 0:
		in.shape = noise
	case e.Has&protocol.HasMethod == 0 || e.IsResponse() && own != nil:
		in.shape = response
		p.matchResponse(&in)
	case e.Has&protocol.HasID != 0:
		in.shape = request
		if own != nil && bytes.Equal(f.Raw, own.x.Request) {
			in.shape, in.ends = echo, true
			in.belongsTo(own)
		}
	default:
		in.shape = notification
		if protocol.TextOf(e.Method) == "notifications/progress" {
			in.token = protocol.MemberOf(e.Params, "progressToken")
			in.belongsTo(p.state.calls.withToken(in.token))
		}
	}
	return in
}

// matchMalformed matches a line that is not valid JSON. If it contains the id of a call in
// flight, it is the only response that call will get.
func (p *parser) matchMalformed(in *incoming) {
	in.shape = malformed
	k := p.guessCall(in.Raw, in.Raw)
	if k == nil && in.Whole {
		k = p.state.calls.callOf(in.Stream)
	}
	in.belongsTo(k)
	in.ends = k != nil && !in.Unterminated
}

// parseArray reads a batch, or a printed list.
func (p *parser) parseArray(f wire.Frame) (in incoming) {
	in.Frame, in.shape = f, noise
	if in.parts, in.syntax = jsonv.Elements(f.Raw); in.syntax != nil {
		switch {
		case !f.Unterminated && opensMultiline(f.Raw):
			in.shape = incomplete
		case f.Whole || mayBeBatch(f.Raw):
			p.matchMalformed(&in)
		} // otherwise a log line such as "[info] listening"
		return in
	}
	var first *call
	messages := 0
	for _, part := range in.parts {
		if len(part) > 0 && part[0] == '{' {
			messages++
			if first == nil {
				first = p.guessCall(part, part)
			}
		}
	}
	if messages == 0 && len(in.parts) > 0 {
		in.parts = nil
		return in
	}
	in.shape = batch
	if k := p.state.calls.rawWaiter(nil); k != nil && k.raw.batch {
		first, in.ends = k, true
	}
	in.belongsTo(first)
	return in
}

// mayBeBatch reports whether a line may be an array of messages.
func mayBeBatch(raw []byte) bool {
	rest := bytes.TrimLeft(raw[1:], " \t")
	return len(rest) == 0 || rest[0] == '{' || rest[0] == '['
}

// parseOversize matches a message over the size limit by the part of it that is known. It is
// settled unless the end of the message may tell more.
func (p *parser) parseOversize(l *wire.OversizeMessage) (in incoming, settled bool) {
	in = incoming{
		Frame: wire.Frame{Dir: wire.FromServer, At: l.At, Offset: l.Offset, Raw: l.Head},
		over:  l,
		shape: oversize,
	}
	var k *call
	if l.Done {
		in.Raw = l.Tail[max(0, len(l.Tail)-150):]
		k = p.guessCall(nil, l.Tail)
	} else {
		k = p.guessCall(l.Head, nil)
		settled = p.scan.Has&protocol.HasMethod != 0 // a notification or request, which no call waits for
		hasID := p.scan.Has&protocol.HasID != 0
		isObject := bytes.HasPrefix(protocol.TrimSpace(l.Head), []byte("{"))
		if k == nil && !settled && !hasID && isObject {
			k = p.state.calls.onlyCall()
		}
	}
	in.belongsTo(k)
	in.ends = k != nil
	return in, settled || in.ends || l.Done
}

// guessCall returns the call in flight that a damaged response belongs to: by the
// readable members of head, or by an id at the end of tail.
func (p *parser) guessCall(head, tail []byte) *call {
	_ = p.scan.Scan(head)
	e := p.scan.Envelope
	if e.Has&protocol.HasMethod != 0 {
		return nil
	}
	id := e.ID
	if e.Has&protocol.HasID == 0 {
		id = protocol.LastID(tail)
	}
	n, _ := protocol.OwnID(id)
	return p.state.calls.find(n)
}

// matchResponse finds the call of a response.
func (p *parser) matchResponse(in *incoming) {
	id := in.envelope.ID
	n, exact := protocol.OwnID(id)
	k := p.state.calls.rawWaiter(id)
	if k == nil {
		k = p.state.calls.find(n)
	}
	if k == nil && !p.state.calls.wasSent(n) {
		k = p.state.calls.rawWaiter(nil)
	}
	if k == nil {
		if !exact {
			n, _ = protocol.GuessID(id)
			k = p.state.calls.find(n)
		}
		// The response to a canceled call was sent before the server knew, which is valid.
		in.meant, in.wrongID = n, !p.state.calls.late.take(n) || !exact
	}
	in.ends = k != nil
	in.belongsTo(k)
	if k == nil && p.state.calls.wasSent(n) {
		in.id, in.call = idText(n), p.state.calls.findUnsignaled(n)
	}
	in.orphan = k == nil && (len(id) == 0 || protocol.KindOf(id) == jsonv.KindNull)
	in.readContents()
}

// readContents finds the result and the error of a response: a null next to the other is none.
func (in *incoming) readContents() {
	in.result, in.failure = in.envelope.Result, in.envelope.Err
	if protocol.KindOf(in.failure) == jsonv.KindNull {
		in.failure = nil
	} else if in.failure != nil && protocol.KindOf(in.result) == jsonv.KindNull {
		in.result = nil
	}
}

// adopt reads a response without an id as the one to a call.
func (p *parser) adopt(f wire.Frame, k *call) incoming {
	_ = p.scan.Scan(f.Raw) // valid, because it was before
	in := incoming{
		Frame:    f,
		shape:    adopted,
		envelope: &p.scan.Envelope,
		tooMany:  p.state.limits.TooManyValues(f.Raw),
		ends:     true,
	}
	in.belongsTo(k)
	in.readContents()
	return in
}
