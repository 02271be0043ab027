package openings

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/web"
	"mcptest/internal/client/handshake"
	"mcptest/internal/offer/opening"
	"mcptest/internal/run/connect"
	"mcptest/internal/spec/plan"
)

// maxStep limits each step of a script, whatever the limit of the user.
const maxStep = 30 * time.Second

// muteLimit limits each step with a server that has answered nobody.
const muteLimit = 5 * time.Second

// Options are a server and the scripts to replay with it.
type Options struct {
	Server  *plan.Server
	Connect connect.Options
	Scripts []opening.Script // those of the server's transport are replayed
	// Startup is how long the server took to start and to answer, 0 if unknown.
	Startup time.Duration
	// Control opens a session of mcptest's own and ends it; nil if that failed before.
	Control func(ctx context.Context) error
	Refuses func(reader handshake.Reader, page jsonv.Value) string
	// Progress is called before each script with what is done; may be nil.
	Progress func(done, all int, client string)
}

// Result is what was found out.
type Result struct {
	Verdicts []opening.Verdict
	Notes    []string
}

// runner replays the scripts of one server.
type runner struct {
	o      Options
	serial bool
	mute   bool // not even mcptest got in, and nothing came for the first frame of a script
	notes  []string
	done   int
	all    int

	mu         sync.Mutex
	ignoresEOF bool // a process did not end when its input was closed
}

// Run replays the scripts.
func Run(ctx context.Context, o Options) Result {
	transport := opening.Stdio
	if o.Server.URL != "" {
		transport = opening.HTTP
	}
	var scripts []opening.Script
	for _, s := range o.Scripts {
		if s.Transport == transport {
			scripts = append(scripts, s)
		}
	}
	r := &runner{o: o, all: len(scripts), serial: isLocal(o.Server.URL)}
	verdicts := make([]opening.Verdict, len(scripts))
	for i := 0; i < len(scripts) && ctx.Err() == nil; {
		n := 1
		if !r.serial && (o.Control != nil || r.mute) {
			n = min(2, len(scripts)-i)
		}
		copy(verdicts[i:], r.group(ctx, scripts[i:i+n]))
		i += n
	}
	if ctx.Err() != nil {
		return Result{}
	}
	r.control(ctx, verdicts)
	opening.Conclude(verdicts)
	return Result{Verdicts: verdicts, Notes: r.notes}
}

// isLocal reports whether an address is on this machine: its sessions are opened one after
// the other, which takes little time there and shows at which one a server dies.
func isLocal(address string) bool {
	u, err := url.Parse(address)
	return err == nil && address != "" && web.IsLoopback(u.Hostname())
}

// group plays scripts at the same time. Those that fail are repeated alone.
func (r *runner) group(ctx context.Context, scripts []opening.Script) []opening.Verdict {
	verdicts := make([]opening.Verdict, len(scripts))
	var playing sync.WaitGroup
	for i := range scripts {
		r.report(scripts[i])
		playing.Go(func() { verdicts[i] = r.play(ctx, scripts[i]) })
	}
	playing.Wait()
	r.done += len(scripts)
	if len(scripts) == 1 || r.mute {
		r.mute = r.mute || r.o.Control == nil && isMute(verdicts[0])
		return verdicts
	}
	for i, v := range verdicts {
		if v.Connected || v.Unjudged != "" || ctx.Err() != nil {
			continue
		}
		alone := r.play(ctx, scripts[i])
		if alone.Connected && !r.serial {
			r.serial = true
			r.notes = append(r.notes, r.cannotRunTwice(v))
		}
		if !v.Died || alone.Connected || alone.Died {
			verdicts[i] = alone
		}
	}
	return verdicts
}

// isMute reports whether the first frame of a script was not answered.
func isMute(v opening.Verdict) bool {
	if v.Connected || v.Reason != opening.NoAnswer {
		return false
	}
	s := v.Script
	return s.Probe != nil && s.Probe.Method == v.Method || len(s.Legacy) > 0 && s.Legacy[0].Method == v.Method
}

// cannotRunTwice is the note about a server that failed because another session was open.
func (r *runner) cannotRunTwice(v opening.Verdict) string {
	if r.o.Server.URL != "" {
		return fmt.Sprintf("the server can't serve two sessions at a time (with two of them it %s at %s); the openings were replayed one after the other", v.Says, v.Method)
	}
	return fmt.Sprintf("the server can't run twice at a time (the second process %s at %s); the openings were replayed one after the other", v.Says, v.Method)
}

func (r *runner) report(s opening.Script) {
	if r.o.Progress != nil {
		r.o.Progress(r.done, r.all, s.Title)
	}
}

// play plays one script on a line of its own.
func (r *runner) play(ctx context.Context, s opening.Script) opening.Verdict {
	var line interface {
		opening.Line
		close()
	}
	var err error
	if r.o.Server.URL != "" {
		line, err = newPosts(ctx, r, &s)
	} else {
		line, err = newProcess(ctx, r, &s)
	}
	if err != nil {
		return opening.Verdict{Script: s, Unjudged: "the server could not be started: " + err.Error()}
	}
	defer line.close()
	return s.Play(ctx, line, opening.Options{Refuses: r.o.Refuses, Credentials: r.o.Server.SendsCredentials()})
}

// control opens a session as mcptest does if a client is lost. A server that accepts none
// any more is the reason of whatever happened since.
func (r *runner) control(ctx context.Context, verdicts []opening.Verdict) {
	lost, died := []int{}, []string{}
	for i, v := range verdicts {
		if v.Connected || v.Unjudged != "" {
			continue
		}
		lost = append(lost, i)
		if v.Died && r.o.Server.URL != "" {
			died = append(died, v.Script.Title)
		}
	}
	if len(lost) == 0 || r.o.Control == nil {
		return
	}
	err := r.o.Control(ctx)
	if err == nil {
		return
	}
	why := "the server accepts no further session, not even that of mcptest (" + firstLine(err) + ")"
	if len(died) > 0 {
		why = "the server no longer answers after the opening of " + died[0]
	}
	for _, i := range lost {
		if len(died) > 0 && verdicts[i].Script.Title == died[0] && verdicts[i].Died {
			continue
		}
		verdicts[i] = opening.Verdict{Script: verdicts[i].Script, Unjudged: why}
	}
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// limit is how long a frame may wait. The first one also waits for the process to start.
func (r *runner) limit(f opening.Frame, first bool) time.Duration {
	limit := f.Limit
	if limit == 0 {
		limit = min(r.o.Server.Timeout, maxStep)
	}
	if limit <= 0 {
		limit = maxStep
	}
	if r.mute {
		return min(limit, muteLimit)
	}
	if first && r.o.Server.URL == "" {
		limit += r.startup()
	}
	return limit
}

// startup is how long a process may take to start.
func (r *runner) startup() time.Duration {
	most := r.o.Server.ConnectTimeout
	if most <= 0 {
		most = plan.DefaultConnectTimeout
	}
	if r.o.Startup > 0 {
		return min(most, 2*r.o.Startup+time.Second)
	}
	return min(most, maxStep)
}
