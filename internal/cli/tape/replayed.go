package tape

import (
	"context"
	"math"
	"slices"
	"time"

	"mcptest/internal/base/secret"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/client/check"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/run/inspect"
	"mcptest/internal/spec/plan"
	"mcptest/internal/tape/cassette"
	"mcptest/internal/tape/transport"
	"mcptest/internal/tape/verify"
)

// replayTime limits a request to a cassette, which needs time only to read large messages.
const replayTime = time.Minute

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
	limits := &replay.Connect.Limits // the recorder had none
	for _, n := range []*int{&limits.Message, &limits.Values, &limits.During, &limits.DuringCount, &limits.Items, &limits.Pages} {
		*n = math.MaxInt32
	}
	list, _ := verify.Violations(ctx, c, func(ctx context.Context, n int, recorded *cassette.RecordedClient, answer mcp.Answerer, violated func([]protocol.Violation)) (*inspect.Conn, error) {
		session := replay
		session.Capabilities, session.Answer, session.Violations = recorded.Capabilities, answer, violated
		session.Dial = transport.Dialer(player, n)
		return inspect.OpenWith(ctx, session, recorded.Protocol)
	})
	return list
}

// recordedKinds returns the kinds of the violations of the recorded server.
func recordedKinds(ctx context.Context, c *cassette.Cassette) (kinds []string) {
	for _, v := range recordedViolations(ctx, c) {
		kinds = append(kinds, v.Kind)
	}
	calls, _ := c.Calls() // an error was reported when the suite was written
	for _, call := range calls {
		_, response := c.Exchange(call)
		if res, ok := response.Get("result"); ok && len(check.Result(c.Protocol, call.Method, res, true).Violations) > 0 {
			kinds = append(kinds, protocol.BadResult)
		}
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}
