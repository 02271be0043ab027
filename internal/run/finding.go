package run

import (
	"fmt"
	"sync"

	"mcptest/internal/report/result"
)

// maxAlike limits the findings of one kind about one server. A server that writes a
// line of noise with each response would otherwise hide everything else.
const maxAlike = 20

// findings counts reported findings by kind.
type findings struct {
	mu    sync.Mutex
	count map[alike]int
	order []alike
}

// alike identifies findings that look the same to a reader.
type alike struct {
	server, file   string
	line           int
	kind, severity string
}

// admit counts a finding and reports whether it is listed.
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
	if f.Kind == "leftover-process" || f.Kind == result.OfResult {
		return true // each names a process, or a rule and a tool
	}
	fs.count[k]++
	return fs.count[k] <= maxAlike
}

// listRest returns one finding for each kind that was not listed completely.
func (fs *findings) listRest() []result.Finding {
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
