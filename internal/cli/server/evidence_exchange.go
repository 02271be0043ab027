package server

import (
	"errors"
	"path/filepath"

	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/cli/option"
	"mcptest/internal/run/probe/verdict"
	"mcptest/internal/tape/cassette"
)

// writeExchange writes the shortest exchange that shows what the conclusion says.
func (f *evidenceFlags) writeExchange(l *option.Viewer, e *evidence) error {
	header := cassette.Header{Program: "mcptest " + cmdutil.Version(), Transport: cassette.Stdio}
	if l.Server.URL != "" {
		header.Transport = cassette.StreamableHTTP
	}
	frames := e.listFrames()
	if frames != nil {
		header = e.recorded.cassette.Header
		header.Masks = nil
	} else {
		frames = e.findShortest()
	}
	if frames == nil {
		return nil
	}
	w, err := cassette.Create(filepath.Join(f.output, "exchange"+cassette.Suffix), header, l.Redactor)
	if err != nil {
		return err
	}
	for _, frame := range frames {
		if err := w.Write(frame); err != nil {
			return errors.Join(err, w.Close())
		}
	}
	return w.Close()
}

// listFrames returns the frames of the recording from the beginning of a session to the first
// clause that is broken in it.
func (e *evidence) listFrames() (frames []cassette.Frame) {
	if e.recorded == nil {
		return nil
	}
	last := e.recorded.findFirstBreach()
	c := e.recorded.cassette
	session := 0
	for i := range c.Frames {
		if c.Frames[i].Line == last {
			session = c.Frames[i].Session
		}
	}
	for i := range c.Frames {
		f := c.Frames[i]
		if f.Session == session && f.Line <= last {
			f.Data = c.Data(&f)
			frames = append(frames, f)
		}
	}
	return frames
}

// findFirstBreach returns the first line of the recording that breaks a clause, 0 if none does.
func (r *recording) findFirstBreach() int {
	first := 0
	for _, b := range r.client {
		if first == 0 || b.Line < first {
			first = b.Line
		}
	}
	for _, b := range r.server {
		hasLine := b.line > 0
		if hasLine && (first == 0 || b.line < first) {
			first = b.line
		}
	}
	return first
}

// findShortest returns the shortest exchange with which a rule failed.
func (e *evidence) findShortest() []cassette.Frame {
	var best *verdict.Evidence
	for _, x := range e.listFailedMusts() {
		for _, failure := range x.Failures {
			for i := range failure.Evidence {
				at := &failure.Evidence[i]
				if best == nil || measureExchange(at) < measureExchange(best) {
					best = at
				}
			}
		}
	}
	if best == nil {
		return nil
	}
	return []cassette.Frame{
		{Session: 1, At: 1, Dir: cassette.ToServer, Data: []byte(best.Sent)},
		{Session: 1, At: 2, Dir: cassette.FromServer, Data: []byte(best.Received)},
	}
}

// measureExchange returns the number of bytes of both messages.
func measureExchange(x *verdict.Evidence) int { return len(x.Sent) + len(x.Received) }
