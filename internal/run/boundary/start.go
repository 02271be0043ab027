package boundary

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"mcptest/internal/assert/target"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/secret"
	"mcptest/internal/client/protocol"
	"mcptest/internal/process/proc"
	"mcptest/internal/spec/plan"
	"mcptest/internal/spec/suite"
)

// outputLimit is how much is kept of each output; less than a regular expression searches.
const outputLimit = 512 << 10

// Ending says how a program ended, if it did not exit.
type Ending struct {
	Stopped   bool   // at the end of the time, because it still ran
	InputOpen bool   // then, so that it may have waited for its end
	Signal    string // that ended it before
	Unrun     *Unrun // if it exited and never ran
}

// Start starts the program of a server and watches it until it ends, or until ctx does,
// which stops it.
func (e Env) Start(ctx context.Context, def *plan.Server, action suite.Start) (o target.Observation, end Ending, err error) {
	given := secret.NewProgram()
	given.AddWords(action.Args)
	for _, v := range action.Set {
		given.AddVariable(v.Key, string(v.Value.Value))
	}
	e.Secret(given.Secrets()...)
	began := time.Now()
	p, err := proc.Start(context.WithoutCancel(ctx), proc.Spec{
		Name:        def.Name,
		Argv:        slices.Concat(def.Argv, def.Added, action.Args),
		Dir:         e.findDir(def, action),
		Env:         action.Environ(def.Env),
		Change:      def.Change,
		Prepare:     def.Prepare(),
		Registry:    e.Connect.Registry,
		PipeStdin:   true,
		Strays:      true,
		OutputLimit: outputLimit,
	})
	if err != nil {
		return o, end, err
	}
	if action.OnReady {
		err := e.shakeHands(ctx, p, def.Protocol)
		if err == nil {
			err = writeEarly(p, action.Stdin)
		}
		if err != nil {
			p.Stop(context.WithoutCancel(ctx), proc.Grace{Stdin: -1})
			o.Stderr = p.Stderr().String()
			return o, end, fmt.Errorf("after: ready: %w", err)
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
	o.Cut = map[string]string{
		"stdout": Cut(p.Output().Dropped()),
		"stderr": Cut(p.Stderr().Dropped()),
	}
	left := []jsonv.Value{}
	for _, l := range stopped.Leftovers {
		left = append(left, jsonv.String(l.Command))
	}
	o.Own = jsonv.ObjectOf("exit", exitValue(stopped), "stdout", p.Output().String(), "leftover", jsonv.Array(left...))
	end = Ending{Stopped: stopped.How != proc.ByItself, InputOpen: inputOpen}
	if !end.Stopped {
		end.Signal = stopped.Exit.Signal
		end.Unrun = findUnrun(stopped, o.Stderr)
	}
	return o, end, nil
}

// findDir returns the working directory of the program.
func (e Env) findDir(def *plan.Server, action suite.Start) string {
	switch {
	case action.Cwd == "":
		return def.Dir
	case filepath.IsAbs(action.Cwd):
		return action.Cwd
	}
	return filepath.Join(e.Dir, action.Cwd)
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

// writeEarly says that a program ended before what the test does to its input.
func writeEarly(p *proc.Process, input suite.Stdin) error {
	if !input.Close && input.Text == nil {
		return nil // its end is what the test waits for
	}
	select {
	case <-p.Exited():
		return fmt.Errorf("the program ended by itself (%s) right after the handshake, before its input was used", p.Exit())
	default:
		return nil
	}
}

// Cut says that only the ends of an output are known; "" if all of it is.
func Cut(dropped int64) string {
	if dropped == 0 {
		return ""
	}
	return fmt.Sprintf("%d bytes in the middle of the output were not kept", dropped)
}

// exitValue is the value of the target exit.
func exitValue(stopped proc.Stopped) jsonv.Value {
	e := stopped.Exit
	switch {
	case stopped.How != proc.ByItself:
		return jsonv.Null()
	case e.Signal != "":
		return jsonv.Object(jsonv.Member{
			Key:   "code",
			Value: jsonv.Null(),
		}, jsonv.Member{
			Key:   "signal",
			Value: jsonv.String(e.Signal),
		})
	default:
		return jsonv.Object(jsonv.Member{
			Key:   "code",
			Value: jsonv.Int(int64(e.Code)),
		}, jsonv.Member{
			Key:   "signal",
			Value: jsonv.Null(),
		})
	}
}

// shakeHands introduces mcptest to a program and waits for its answer, or for its end.
// Its output remains to be examined, so no session reads it.
func (e Env) shakeHands(ctx context.Context, p *proc.Process, version string) error {
	client := e.Client.JSON()
	declared := e.Declares
	if declared.IsAbsent() {
		declared = jsonv.Object()
	}
	method := "initialize"
	params := jsonv.ObjectOf("protocolVersion", version, "capabilities", declared, "clientInfo", client)
	switch {
	case version == "auto":
		params = params.With("protocolVersion", jsonv.String(protocol.Newest(protocol.EraSession).Name))
	case protocol.VersionOf(version).Era() == protocol.EraStateless:
		method = protocol.MethodDiscover
		params = jsonv.ObjectOf("_meta", jsonv.ObjectOf(
			protocol.MetaVersion, version,
			protocol.MetaClient, client,
			protocol.MetaCapabilities, declared,
		))
	}
	first := jsonv.ObjectOf("jsonrpc", "2.0", "id", 1, "method", method, "params", params)
	if err := say(p, first.Append(nil)); err != nil {
		return err
	}
	if err := awaitAnswer(ctx, p); err != nil || method != "initialize" {
		return err
	}
	return say(p, []byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`))
}

// say writes a message to a program.
func say(p *proc.Process, message []byte) error {
	if _, err := p.Stdin().Write(append(message, '\n')); err != nil {
		return explainEndedUnready(p)
	}
	return nil
}

// explainEndedUnready is the error of a handshake whose program has ended, or closed its input.
func explainEndedUnready(p *proc.Process) error {
	select {
	case <-p.Exited():
		return fmt.Errorf("the program ended before the handshake was over (%s)", p.Exit())
	case <-time.After(time.Second):
		return errors.New("the program closed its input before the handshake was over")
	}
}

// awaitAnswer waits for the answer to the first request.
func awaitAnswer(ctx context.Context, p *proc.Process) error {
	for complete := false; ; {
		more := p.Output().Changed()
		for line := range bytes.Lines(p.Output().Bytes()) {
			v, err := jsonv.Parse(line)
			if err == nil && v.Lookup("method").IsAbsent() && v.Lookup("id").String() == "1" {
				return newRefusalError(v)
			}
		}
		if complete {
			return explainEndedUnready(p)
		}
		select {
		case <-more:
		case <-p.Done():
			complete = true
		case <-ctx.Done():
			return fmt.Errorf("the program did not answer the handshake: %w", context.Cause(ctx))
		}
	}
}

// newRefusalError returns the error of an answer to the handshake that makes no session.
func newRefusalError(answer jsonv.Value) error {
	if e := answer.Lookup("error"); !e.IsAbsent() {
		return fmt.Errorf("the program refused the handshake: %s", e.Short(200))
	}
	if answer.Lookup("result").Kind() != jsonv.KindObject {
		return fmt.Errorf("the program answered the handshake with no result: %s", answer.Short(200))
	}
	return nil
}
