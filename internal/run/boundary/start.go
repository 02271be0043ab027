package boundary

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"mcptest/internal/assert/target"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/protocol"
	"mcptest/internal/process/proc"
	"mcptest/internal/spec/plan"
	"mcptest/internal/spec/suite"
)

// Running says that a program had not ended by itself and was stopped.
type Running struct {
	Stopped   bool
	InputOpen bool // then, so that it may have waited for its end
}

// Start starts the program of a server and watches it until it ends, or until ctx does,
// which stops it.
func (e Env) Start(ctx context.Context, def *plan.Server, action suite.Start) (o target.Observation, end Running, err error) {
	dir := def.Dir
	if action.Cwd != "" {
		dir = action.Cwd
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(e.Dir, dir)
		}
	}
	began := time.Now()
	p, err := proc.Start(context.WithoutCancel(ctx), proc.Spec{
		Name: def.Name, Argv: slices.Concat(def.Argv, def.Added, action.Args), Dir: dir, Env: action.Environ(def.Env), Change: def.Change,
		Registry: e.Connect.Registry, PipeStdin: true,
	})
	if err != nil {
		return o, end, err
	}
	if action.OnReady {
		if err := e.handshake(ctx, p, def.Protocol); err != nil {
			p.Stop(context.WithoutCancel(ctx), proc.Grace{Stdin: -1})
			return o, end, err
		}
		began = time.Now()
	}
	closed := feed(p, action.Stdin)
	select {
	case <-p.Exited():
	case <-ctx.Done():
	}
	o.DurationMS = millis(time.Since(began))
	inputOpen := !isClosed(closed)
	stopped := p.Stop(context.WithoutCancel(ctx), proc.Grace{Stdin: -1})
	o.Stderr = p.Stderr().String()
	left := []jsonv.Value{}
	for _, l := range stopped.Leftovers {
		left = append(left, jsonv.String(l.Command))
	}
	o.Own = jsonv.ObjectOf("exit", exitValue(stopped), "stdout", p.Output().String(), "leftover", jsonv.Array(left...))
	return o, Running{Stopped: stopped.How != proc.ByItself, InputOpen: inputOpen}, nil
}

// feed writes the text of a test to the input of a program and closes it if the test
// says so. The channel is closed with the input.
func feed(p *proc.Process, input suite.Stdin) (closed chan struct{}) {
	closed = make(chan struct{})
	go func() {
		if input.Text != nil {
			io.WriteString(p.Stdin(), *input.Text) //nolint:errcheck // the program may end without reading it
		}
		if input.Close {
			p.Stdin().Close()
			close(closed)
		}
	}()
	return closed
}

// isClosed reports whether a channel is closed.
func isClosed(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// exitValue is the value of the target exit.
func exitValue(stopped proc.Stopped) jsonv.Value {
	switch e := stopped.Exit; {
	case stopped.How != proc.ByItself:
		return jsonv.Null()
	case e.Signal != "":
		return jsonv.Object(jsonv.Member{Key: "code", Value: jsonv.Null()}, jsonv.Member{Key: "signal", Value: jsonv.String(e.Signal)})
	default:
		return jsonv.Object(jsonv.Member{Key: "code", Value: jsonv.Int(int64(e.Code))}, jsonv.Member{Key: "signal", Value: jsonv.Null()})
	}
}

// handshake introduces mcptest to a program and waits for its answer, or for its end.
// Its output remains to be examined, so no session reads it.
func (e Env) handshake(ctx context.Context, p *proc.Process, version string) error {
	client := e.Client
	method, params := "initialize", map[string]any{
		"protocolVersion": version, "capabilities": map[string]any{}, "clientInfo": map[string]string{"name": client.Name, "version": client.Version},
	}
	switch {
	case version == "auto":
		params["protocolVersion"] = protocol.Newest(protocol.EraSession).Name
	case protocol.VersionOf(version).Era() == protocol.EraStateless:
		method, params = protocol.MethodDiscover, map[string]any{"_meta": map[string]any{
			"io.modelcontextprotocol/protocolVersion": version, "io.modelcontextprotocol/clientInfo": params["clientInfo"], "io.modelcontextprotocol/clientCapabilities": map[string]any{},
		}}
	}
	first, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		return err
	}
	for message := append(first, '\n'); ; {
		if _, err := p.Stdin().Write(message); err != nil {
			return nil // it ends, which is what the test examines
		}
		if bytes.Contains(message, []byte("notifications/")) {
			return nil
		}
		if answered, err := awaitAnswer(ctx, p); !answered || method != "initialize" {
			return err
		}
		message = []byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n")
	}
}

// awaitAnswer waits for the answer to the first request.
func awaitAnswer(ctx context.Context, p *proc.Process) (bool, error) {
	for {
		more := p.Output().Changed()
		for line := range bytes.Lines(p.Output().Bytes()) {
			if v, err := jsonv.Parse(line); err == nil && v.Lookup("method").IsAbsent() && v.Lookup("id").String() == "1" {
				return true, nil
			}
		}
		select {
		case <-more:
		case <-p.Exited():
			return false, nil
		case <-ctx.Done():
			return false, fmt.Errorf("after: ready: the program did not answer the handshake: %w", context.Cause(ctx))
		}
	}
}
