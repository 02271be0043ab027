package tape

import (
	"context"
	"math"
	"slices"
	"time"

	"mcptest/internal/cassette"
	"mcptest/internal/cassette/transport"
	"mcptest/internal/cassette/verify"
	"mcptest/internal/cmdutil"
	"mcptest/internal/inspect"
	"mcptest/internal/mcp"
	"mcptest/internal/mcp/protocol"
	"mcptest/internal/mcp/wire"
	"mcptest/internal/plan"
	"mcptest/internal/secret"
)

// replayTime limits a request to a cassette, which needs time only to read large messages.
const replayTime = time.Minute

// anySize replaces the limits for a server, because the recorder had none.
var anySize = wire.Limits{Message: math.MaxInt32, Values: math.MaxInt32, During: math.MaxInt32, DuringCount: math.MaxInt32, Items: math.MaxInt32, Pages: math.MaxInt32}

// recordedViolations returns the violations of the recorded server, as far as its recording
// can be replayed.
func recordedViolations(ctx context.Context, c *cassette.Cassette) []verify.Violation {
	player, err := cassette.NewPlayer(c, secret.NewRedactor())
	if err != nil {
		return nil
	}
	sv := plan.Server{Name: "recorded", Argv: []string{"recorded"}, Protocol: mcp.Auto, Timeout: replayTime, ConnectTimeout: replayTime}
	if c.Transport != cassette.Stdio {
		sv.Argv, sv.URL, sv.Transport = nil, "http://127.0.0.1/mcp", c.Transport
	}
	replay := inspect.Options{Server: &sv, Client: mcp.Implementation{Name: "mcptest", Version: cmdutil.Version()}}
	replay.Connect.Limits = anySize
	list, _ := verify.Violations(ctx, c, func(ctx context.Context, n int, recorded *cassette.RecordedClient, answer mcp.Answerer, violated func([]protocol.Violation)) (*inspect.Conn, error) {
		session := replay
		session.Capabilities, session.Answer, session.Violations = recorded.Capabilities, answer, violated
		session.Dial = transport.Dialer(player, n)
		return inspect.OpenWith(ctx, session, recorded.Protocol)
	})
	return list
}

// committed returns the kinds of the violations of the recorded server.
func committed(ctx context.Context, c *cassette.Cassette) (kinds []string) {
	for _, v := range recordedViolations(ctx, c) {
		kinds = append(kinds, v.Kind)
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}
