package timeline

import (
	"context"
	"math"
	"slices"
	"time"

	"mcptest/internal/base/secret"
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

// Violations returns the violations of the recorded server, as far as its recording can be
// replayed. version is that of this program, whose client reads the recording.
func Violations(ctx context.Context, c *cassette.Cassette, version string) []verify.Violation {
	player, err := cassette.NewPlayer(c, secret.NewRedactor())
	if err != nil {
		return nil
	}
	sv := plan.Server{
		Name: "recorded", Argv: []string{"recorded"}, Protocol: mcp.Auto, Timeout: replayTime,
		ConnectTimeout: replayTime,
	}
	if c.Transport != cassette.Stdio {
		sv.Argv, sv.URL, sv.Transport = nil, "http://127.0.0.1/mcp", c.Transport
	}
	replay := inspect.Options{Server: &sv, Client: mcp.Implementation{Name: "mcptest", Version: version}}
	limits := &replay.Connect.Limits // the recorder had none
	for _, n := range []*int{
		&limits.Message, &limits.Values, &limits.During, &limits.DuringCount, &limits.Items, &limits.Pages,
	} {
		*n = math.MaxInt32
	}
	connect := func(
		ctx context.Context, n int, recorded *cassette.RecordedClient, answer mcp.Answerer,
		violated func([]protocol.Violation),
	) (*inspect.Conn, error) {
		session := replay
		session.Capabilities, session.Answer, session.Violations = recorded.Capabilities, answer, violated
		session.Dial = transport.Dialer(player, n)
		return inspect.OpenWith(ctx, session, recorded.Protocol)
	}
	list, _ := verify.Violations(ctx, c, connect)
	return list
}

// FindKinds returns the kinds of the violations of the recorded server.
func FindKinds(ctx context.Context, c *cassette.Cassette, version string) (kinds []string) {
	for _, v := range Violations(ctx, c, version) {
		kinds = append(kinds, v.Kind)
	}
	calls, _ := c.Calls() // an error was reported when the suite was written
	for _, call := range calls {
		if len(findBadResult(c, call, c.Protocol)) > 0 {
			kinds = append(kinds, protocol.BadResult)
		}
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

// findBadResult returns what is wrong with the result of a call in a protocol version.
func findBadResult(c *cassette.Cassette, call *cassette.Call, version string) []protocol.Violation {
	_, response := c.Exchange(call)
	result, ok := response.Get("result")
	if !ok {
		return nil
	}
	request := check.Request{Version: version, Method: call.Method, AllowsTask: true}
	return check.Result(request, result).Violations
}
