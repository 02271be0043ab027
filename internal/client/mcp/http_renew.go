package mcp

import (
	"context"
	"errors"
	"fmt"

	"mcptest/internal/client/conn"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
)

// renew opens a new session after the server has lost the one of a call (MCP
// 2025-11-25 transports, session management). It does not repeat the call. If a
// server loses two sessions without a response in between, there is no third one.
func (s *Session) renew(ctx context.Context, lost *wire.SessionLostError) {
	s.renewing.Lock()
	defer s.renewing.Unlock()
	switch {
	case s.http.Replaced(lost):
		lost.Renewed = true // another call has renewed it
		return
	case s.renewals > 0 && s.good.Load() == s.renewedAt:
		lost.Err = errors.New("the previous one was also lost immediately")
		return
	}
	ctx, cancel := WithLimit(context.WithoutCancel(ctx), "connect_timeout", s.o.ConnectTimeout)
	defer cancel()
	x := s.send.sendOnce(ctx, Call{
		Method: "initialize",
		Params: s.send.who.initializeParams(s.Protocol()),
	}, conn.Delivery{})
	switch {
	case x.Cause != nil:
		lost.Err = x.Cause
		return
	case x.Error != nil:
		lost.Err = x.RPCError()
		return
	}
	if got := protocol.TextOf(protocol.MemberOf(x.Result, "protocolVersion")); got != s.Protocol() {
		lost.Err = fmt.Errorf("the server now responds with protocol version %q", got)
		return
	}
	if err := s.Notify(ctx, "notifications/initialized", nil); err != nil {
		lost.Err = err
		return
	}
	s.renewals++
	s.renewedAt = s.good.Load()
	lost.Renewed = true
}
