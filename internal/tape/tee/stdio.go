package tee

import (
	"cmp"
	"context"
	"io"
	"os"
	"time"

	"mcptest/internal/process/pipe"
	"mcptest/internal/process/proc"
	"mcptest/internal/tape/cassette"
)

// Stdio connects a client with the server that it starts.
type Stdio struct {
	Server   proc.Spec // program, folder, environment and registry
	In       io.Reader // from the client
	Out, Err io.Writer
	Signals  <-chan os.Signal // passed on to the server
	Tap      *Tap
	// Grace limits the end of a server that ignores the end of its input. Its first
	// time begins when all requests are answered, and again with each output.
	Grace proc.Grace
	// Patience limits the silence of a server whose input has ended and that has not
	// answered a request; 0: [DefaultPatience].
	Patience time.Duration
}

// DefaultPatience is the default of [Stdio.Patience].
const DefaultPatience = 5 * time.Minute

// clientPoll is the interval of checks whether a client that closed its output still
// reads.
const clientPoll = 250 * time.Millisecond

// bufferSize is the capacity of a pipe on Linux.
const bufferSize = 64 << 10

// Run forwards all data until the server exits. It stops a server whose client has
// disconnected, or that ignores the end of its input. It returns how the server ended;
// the error is the reason why it could not be started.
func (s Stdio) Run(ctx context.Context) (proc.Stopped, error) {
	spec := s.Server
	spec.PipeStdin, spec.PipeStdout, spec.CopyStderr = true, true, s.Err
	spec.OnStderr = func(line string) { s.Tap.Frame(cassette.Frame{Session: 1, Stderr: line + "\n"}) }
	parent := os.Getppid()
	p, err := proc.Start(ctx, spec)
	if err != nil {
		return proc.Stopped{}, err
	}
	rest := newPending()
	inputEnded, outputEnded := make(chan struct{}), make(chan error, 1)
	go func() {
		defer close(inputEnded)
		// Signals and output are still forwarded for a server that no longer reads.
		requests := s.Tap.Lines(cassette.Frame{Session: 1, Dir: cassette.ToServer})
		requests.seen, requests.ended = rest.count, rest.noteInputEnd
		_ = copyTo(p.Stdin(), s.In, requests)
		_ = p.Stdin().Close()
	}()
	go func() {
		responses := s.Tap.Lines(cassette.Frame{Session: 1, Dir: cassette.FromServer})
		responses.seen = rest.count
		outputEnded <- copyTo(noted{s.Out, rest}, p.Stdout(), responses)
	}()
	forced := s.attend(p, rest, inputEnded, outputEnded, parent)
	st := p.Stop(context.WithoutCancel(ctx), s.Grace)
	end := &cassette.End{Client: forced || st.How != proc.ByItself}
	if !end.Client || st.Exit.Signal != "" {
		end.Exit = &cassette.Exit{Code: st.Exit.Code, Signal: st.Exit.Signal}
	}
	s.Tap.Frame(cassette.Frame{Session: 1, End: end})
	return st, nil
}

// attend waits for the end of the server and of its output, or of the client, and
// forwards signals in the meantime. It reports whether the server got a signal.
func (s Stdio) attend(p *proc.Process, rest *pending, inputEnded <-chan struct{}, outputEnded <-chan error, parent int) (forced bool) {
	var poll <-chan time.Time
	exited, grace, patience := p.Exited(), cmp.Or(s.Grace.Stdin, proc.DefaultGrace), cmp.Or(s.Patience, DefaultPatience)
	for exited != nil || outputEnded != nil {
		select {
		case sig := <-s.Signals:
			if exited == nil {
				return forced // the client does not read the rest of the output
			}
			p.Signal(sig)
			forced = true
		case <-inputEnded:
			ticker := time.NewTicker(clientPoll)
			defer ticker.Stop()
			poll, inputEnded = ticker.C, nil
			rest.noteActivity()
		case <-poll:
			if s.isClientGone(parent) {
				return forced
			}
			if s.Tap.isIntact() && rest.isQuiet(grace) || rest.isSilent(patience) {
				st := p.Stop(context.Background(), proc.Grace{Stdin: -1, Term: s.Grace.Term}) // its last output is still forwarded
				forced = forced || st.How != proc.ByItself
			}
		case err := <-outputEnded:
			outputEnded = nil
			if err != nil {
				return forced // the client no longer reads
			}
			patience = grace // no response can follow
		case <-exited:
			exited = nil
		}
	}
	return forced
}

func (s Stdio) isClientGone(parent int) bool {
	if f, ok := s.Out.(*os.File); ok && pipe.ReaderGone(f) {
		return true
	}
	return os.Getppid() != parent
}

// copyTo forwards a stream piece by piece. The error is that of the writer.
func copyTo(to io.Writer, from io.Reader, line *Stream) error {
	defer line.End()
	buf := make([]byte, bufferSize)
	for {
		n, readErr := from.Read(buf)
		if n > 0 {
			// Queue the copy first: the answer must not precede it in the recording.
			line.Write(buf[:n])
			if _, err := to.Write(buf[:n]); err != nil {
				return err
			}
		}
		if readErr != nil {
			return nil
		}
	}
}
