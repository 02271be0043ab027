package mcpserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
)

// conn is the server's end of a connection.
type conn struct {
	ctx  context.Context
	h    Handler
	out  *wire.LineWriter
	scan *protocol.Scanner
	wg   sync.WaitGroup
	asks clientRequests
	free *stateless // serves requests without a session, nil when h supports no such revision

	running running
}

// running are the functions that cancel the requests of a connection, by id.
type running struct{ sync.Map }

// cancel ends the context of a request that the client cancelled.
func (r *running) cancel(params []byte) {
	if cancel, ok := r.Load(string(protocol.MemberOf(params, "requestId"))); ok {
		cancel.(context.CancelFunc)()
	}
}

// errHangUp ends Ask when the client has disconnected.
var errHangUp = errors.New("the client closed the connection")

// ServeStdio serves one client over r and w, newline-delimited, until r ends
// or ctx does. At the end of r requests that are being handled are finished and
// answered first. ctx does not interrupt a blocked read of r: close it for that.
// A message of a stateless revision is served as such when h is a [VersionedHandler] of
// one; everything else belongs to the session.
func ServeStdio(ctx context.Context, r io.Reader, w io.Writer, h Handler) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c := &conn{ctx: ctx, h: h, out: wire.NewLineWriter(w), scan: protocol.NewScanner()}
	if sp, ok := h.(VersionedHandler); ok {
		c.free = newStateless(ctx, func() Handler { return h }, sp.Versions())
	}
	announce(h, func(raw []byte) error { return c.send(ctx, raw) })
	lines := wire.NewLineReader(r, wire.Limits{}.FillDefaults().Message, 1<<40)
	var err error
	for err == nil && ctx.Err() == nil {
		err = lines.ReadLines(c)
	}
	c.asks.hangUp()
	if c.free != nil {
		c.free.hangUp()
	}
	c.wg.Wait()
	if c.free != nil {
		c.free.wg.Wait()
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe) {
		return nil
	}
	if err == nil {
		return ctx.Err()
	}
	return fmt.Errorf("read from the client: %w", err)
}

// OnFrame handles one line from the client.
func (c *conn) OnFrame(f wire.Frame) (kept bool) {
	raw := bytes.Clone(protocol.Clean(f.Raw).Raw)
	if len(raw) == 0 {
		return false
	}
	if raw[0] == '[' {
		c.batch(raw)
		return false
	}
	c.one(raw, c.reply)
	return false
}

// OnOversize refuses a message that is too long.
func (c *conn) OnOversize(l wire.OversizeMessage) {
	if l.Done {
		c.refuse(protocol.CodeInvalidRequest, "message over "+wire.FormatByteSize(int64(l.Limit)))
	}
}

func (c *conn) refuse(code int64, msg string) {
	raw, _ := protocol.AppendResponse(nil, []byte("null"), nil, &protocol.RPCError{Code: code, Message: msg})
	_ = c.send(c.ctx, raw)
}

// reply writes a reply frame, nil for none. Errors are ignored: a client that has
// disconnected needs no reply.
func (c *conn) reply(frame []byte) {
	if len(frame) > 0 {
		_ = c.write(c.ctx, frame)
	}
}

// one handles one message. For a request, respond receives the whole response
// with the line end, or nil when there is none.
func (c *conn) one(raw []byte, respond func([]byte)) {
	if err := c.scan.Scan(raw); err != nil {
		if jsonv.Valid(raw) == nil {
			c.refuse(protocol.CodeInvalidRequest, "Invalid Request")
		} else {
			c.refuse(protocol.CodeParse, "Parse error: "+protocol.SyntaxText(err))
		}
		return
	}
	e := c.scan.Envelope
	if e.Has&protocol.HasMethod == 0 {
		c.asks.passAnswer(&e)
		return
	}
	method := protocol.TextOf(e.Method)
	id := e.ID
	if protocol.KindOf(e.Method) != jsonv.KindString || hasInvalidID(e) {
		c.refuse(protocol.CodeInvalidRequest, "Invalid Request")
		return
	}
	req := &Request{Method: method, ID: id, Params: e.Params, Raw: raw, Notification: e.Has&protocol.HasID == 0, conn: c}
	if req.Notification {
		if method == "notifications/cancelled" {
			c.running.cancel(e.Params)
		}
		c.h.Handle(c.ctx, req)
		return
	}
	if !admits(c.h, req) {
		respond(nil)
		return
	}
	c.run(req, respond)
}

// run handles a request on its own goroutine.
func (c *conn) run(req *Request, respond func([]byte)) {
	ctx, cancel := context.WithCancel(c.ctx)
	id := string(req.ID)
	c.running.Store(id, cancel)
	forget := func() { c.running.Delete(id) }
	out := &lineOut{c: c, respond: respond, before: forget}
	sub := c.free.subscribes(ctx, out, req) // here, because a later message may cause a change
	c.wg.Go(func() {
		defer cancel()
		switch {
		case sub != nil:
			c.free.listen(ctx, sub)
			return
		case c.free.takes(req):
			c.free.serve(ctx, out, req)
			return
		}
		reply := c.h.Handle(ctx, req)
		forget()
		respond(reply.frame(req.ID))
	})
}

// lineOut receives the messages of one stateless request over stdio.
type lineOut struct {
	c       *conn
	respond func([]byte)
	before  func() // called before the response
}

func (o *lineOut) event(raw []byte) error { return o.c.send(o.c.ctx, raw) }

func (o *lineOut) raw(b []byte) error { return o.c.write(o.c.ctx, b) }

func (o *lineOut) last(frame []byte, _ int) {
	o.before()
	o.respond(frame)
}

func (o *lineOut) end() { o.last(nil, 0) }

func (o *lineOut) reset() { o.end() }

// batch handles an array of messages and responds with one (MCP 2025-03-26).
func (c *conn) batch(raw []byte) {
	parts, err := jsonv.Elements(raw)
	if err != nil {
		c.refuse(protocol.CodeParse, "Parse error: "+protocol.SyntaxText(err))
		return
	}
	if len(parts) == 0 {
		c.refuse(protocol.CodeInvalidRequest, "Invalid Request: empty batch")
		return
	}
	b := &batchReply{open: len(parts)}
	for _, part := range parts {
		if c.scan.Scan(part) != nil || c.scan.Has&protocol.HasID == 0 || c.scan.Has&protocol.HasMethod == 0 {
			b.open--
		}
	}
	b.flush = c.reply
	for _, part := range parts {
		c.one(part, b.add)
	}
}

// batchReply collects the responses of one batch.
type batchReply struct {
	mu    sync.Mutex
	open  int
	buf   []byte
	flush func([]byte)
}

func (b *batchReply) add(reply []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if reply = bytes.Trim(reply, " \t\r\n"); len(reply) > 0 {
		sep := byte(',')
		if b.buf == nil {
			sep = '['
		}
		b.buf = append(append(b.buf, sep), reply...)
	}
	b.open--
	if b.open == 0 && b.buf != nil {
		b.flush(append(b.buf, ']', '\n'))
	}
}

func (c *conn) askAll(ctx context.Context, qs []Question) ([]jsonv.Value, error) {
	return c.asks.askAll(ctx, qs, c.send)
}

func (c *conn) notify(raw []byte) error { return c.send(c.ctx, raw) }

func (c *conn) writeRaw(b []byte) error { return c.write(c.ctx, b) }

func (c *conn) send(ctx context.Context, raw []byte) error { return c.out.WriteLine(ctx, raw) }

// write puts bytes on the wire without adding anything.
func (c *conn) write(ctx context.Context, b []byte) error { return c.out.WriteBytes(ctx, b, false) }

// hasInvalidID reports whether a message has an id that is neither a text nor a number.
func hasInvalidID(e protocol.Envelope) bool {
	if e.Has&protocol.HasID == 0 {
		return false
	}
	kind := protocol.KindOf(e.ID)
	return kind != jsonv.KindString && kind != jsonv.KindNumber
}
