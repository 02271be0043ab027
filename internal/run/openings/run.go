package openings

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"sync"

	"mcptest/internal/base/web"
	"mcptest/internal/offer/opening"
)

// Result is what was found out.
type Result struct {
	Verdicts []opening.Verdict
	Notes    []string
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
	r.sendControl(ctx, verdicts)
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
	what := "the server can't run twice at a time (the second process"
	if r.o.Server.URL != "" {
		what = "the server can't serve two sessions at a time (with two of them it"
	}
	return fmt.Sprintf("%s %s); the openings were replayed one after the other", what, v.What())
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

// sendControl opens a session as mcptest does if a client is lost. A server that accepts none
// any more is the reason of whatever happened since.
func (r *runner) sendControl(ctx context.Context, verdicts []opening.Verdict) {
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
	why := "the server accepts no further session, not even that of mcptest (" + cutFirstLine(err) + ")"
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

func cutFirstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
