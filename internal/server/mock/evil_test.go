package mock_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/testkit"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
	"mcptest/internal/server/manifest"
	"mcptest/internal/server/mock"
)

// open opens a session with a manifest in this process.
func open(t *testing.T, m *manifest.Manifest) (*mcp.Session, *mock.Server) {
	t.Helper()
	client, end := wire.NewPipe()
	server := mock.New(m, mock.Options{})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = server.ServeStdio(ctx, end, end)
		end.Close()
	}()
	s, err := mcp.Open(ctx, client, mcp.Options{ConnectTimeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Close(ctx)
		cancel()
		<-done
	})
	return s, server
}

// For every kind of violation, the evil preset has a tool of that name that causes
// it, and the session reports it.
func TestHostileAdaptersAreDetected(t *testing.T) {
	t.Parallel()
	m := preset(t, "evil")
	// A tool cannot cause it: it happens before the first call.
	exempt := []string{protocol.EarlyResponse}
	// Ended by the process, so the pipe breaks.
	dying := []string{protocol.PartialLine}
	for _, kind := range protocol.ViolationKinds {
		if slices.Contains(exempt, kind.Name) || !slices.Contains(wireKinds, kind.Name) {
			continue
		}
		t.Run(kind.Name, func(t *testing.T) {
			t.Parallel()
			s, server := open(t, m)
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			x := s.Do(ctx, mcp.Call{Method: "tools/call", Params: []byte(`{"name":"` + kind.Name + `"}`)})
			var timeout *mcp.TimeoutError
			if errors.As(x.Cause, &timeout) && kind.Name != protocol.Oversize {
				t.Fatalf("no response: %v", x.Cause)
			}
			if slices.Contains(dying, kind.Name) {
				<-server.Exited()
			}
			var seen []string
			if x.Answered() {
				_, inside, _ := x.Parse(jsonv.Options{})
				x.Violations = append(x.Violations, inside...)
			}
			if !testkit.Poll(30*time.Second, func() bool {
				for _, v := range append(x.Violations, s.TakeViolations()...) {
					seen = append(seen, v.Kind)
				}
				x.Violations = nil
				return slices.Contains(seen, kind.Name)
			}) {
				t.Errorf("the session reports %q, want %s", seen, kind.Name)
			}
		})
	}
}

// wireKinds are the kinds that a session detects on a stream of lines; others require
// the runner (output-schema) or another transport.
var wireKinds = []string{
	protocol.StrayOutput, protocol.BadJSON, protocol.PrettyJSON, protocol.PartialLine, protocol.Oversize, protocol.InvalidUTF8, protocol.LoneSurrogate, protocol.BOM,
	protocol.NULByte, protocol.DuplicateKey, protocol.Batch, protocol.BadJSONRPC, protocol.BadMessage, protocol.Echo, protocol.UnknownID, protocol.DuplicateID,
	protocol.IDType, protocol.MissingID, protocol.NullID, protocol.ResultAndError, protocol.NoResult, protocol.BadError, protocol.BadResult, protocol.ResultType,
	protocol.ProgressToken, protocol.Flood,
}

// A correct server causes no violation.
func TestGoodPresetsHaveNoViolations(t *testing.T) {
	t.Parallel()
	for name, tools := range map[string][]string{
		"echo":       {`{"name":"count"}`, `{"name":"refuse"}`, `{"name":"nope"}`, `{"name":"structured","arguments":{}}`},
		"everything": {`{"name":"test_log_levels"}`, `{"name":"test_list_changed"}`, `{"name":"test_multiple_content_types"}`, `{"name":"test_sampling","arguments":{"prompt":"x"}}`},
		"evil":       {`{"name":"good"}`},
	} {
		s, _ := open(t, preset(t, name))
		for _, params := range tools {
			x := s.Do(context.Background(), mcp.Call{Method: "tools/call", Params: []byte(params), ProgressToken: true})
			if x.Cause != nil || len(x.Violations) > 0 {
				t.Errorf("%s %s: %v %v", name, params, x.Cause, x.Violations)
			}
		}
		if v := s.TakeViolations(); len(v) > 0 {
			t.Errorf("%s: %v", name, v)
		}
	}
}
