package run

import (
	"fmt"
	"sync"

	"mcptest/internal/result"
)

// maxAlike is how many findings of one kind about one server are reported one
// by one; a server that writes a line of noise with each answer would
// otherwise bury everything else.
const maxAlike = 20

// findings counts what was reported of each kind.
type findings struct {
	mu    sync.Mutex
	count map[alike]int
	order []alike
}

// alike is what makes findings look the same to a reader.
type alike struct {
	server, file   string
	line           int
	kind, severity string
}

// admit counts a finding and tells whether it is reported by itself.
func (fs *findings) admit(f result.Finding) bool {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if fs.count == nil {
		fs.count = map[alike]int{}
	}
	k := alike{server: f.Server, kind: f.Kind, severity: f.Severity}
	if f.Server != "" {
		k.file, k.line = f.File, f.Line
	}
	if _, ok := fs.count[k]; !ok {
		fs.count[k] = 0
		fs.order = append(fs.order, k)
	}
	if f.Kind == "leftover-process" {
		return true // each is somebody's, and has a name
	}
	fs.count[k]++
	return fs.count[k] <= maxAlike
}

// rest are the findings that stand for those that were not reported.
func (fs *findings) rest() []result.Finding {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	var out []result.Finding
	for _, k := range fs.order {
		if n := fs.count[k] - maxAlike; n > 0 {
			out = append(out, result.Finding{
				Kind: k.kind, Severity: k.severity, Server: k.server, File: k.file, Line: k.line,
				Message: fmt.Sprintf("%d more of this kind were not listed", n),
			})
		}
	}
	return out
}

// about adds the server and where the suite declares it.
func (e *entry) about(f result.Finding) result.Finding {
	f.Server, f.File, f.Line = e.def.Name, e.def.Pos.File.Name, e.def.Pos.Line
	return f
}

// finding reports something about the server that belongs to no case.
func (e *entry) finding(f result.Finding) { e.r.finding(e.about(f)) }

// finding reports something that belongs to no case.
func (r *runner) finding(f result.Finding) {
	if f.Severity == "error" {
		r.badFinding.Store(true)
	}
	if r.findings.admit(f) {
		r.w.Send(result.FindingSeen{Finding: f})
	}
}
