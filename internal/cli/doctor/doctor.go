package doctor

import (
	"context"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/process/tail"
	"mcptest/internal/run/connect"
	"mcptest/internal/run/inspect"
	"mcptest/internal/spec/plan"
)

// State is the state of a layer.
type State string

// The states, from good to bad.
const (
	OK   State = "ok"
	Warn State = "warn"
	Fail State = "fail"
)

// chooseWorse returns the worse of two states.
func chooseWorse(a, b State) State {
	if a == Fail || b == Fail {
		return Fail
	}
	if a == Warn || b == Warn {
		return Warn
	}
	return OK
}

// Layer is the result of examining one layer.
type Layer struct {
	Name    string
	State   State
	Took    time.Duration
	Message string
	Details []string // one line each
	Hint    string
}

// Diagnosis is the result for a server.
type Diagnosis struct {
	Layers  []Layer
	Stopped string // the layer after which no more were examined; "" if all were
}

// Count returns the number of layers in a state.
func (d Diagnosis) Count(s State) int {
	n := 0
	for _, l := range d.Layers {
		if l.State == s {
			n++
		}
	}
	return n
}

// Options describe the server to examine.
type Options struct {
	Conn    *inspect.Conn   // not open yet; it collects violations
	Connect connect.Options // of Conn
	Found   func(Layer)     // receives each layer as it is found
	// Waiting is called if the server is silent for a while during the handshake,
	// with the end of its stderr if it is a process.
	Waiting func(after time.Duration, process bool, stderr []string)
}

// examination is the state of one call of Examine.
type examination struct {
	Options
	server *plan.Server
	result Diagnosis
	stderr *tail.Tail    // of a process
	tools  []jsonv.Value // of tools/list; nil: none
}

// step examines one layer, or several that can only be observed together. It reports
// whether the layers after them can be examined.
type step func(context.Context) bool

// Examine examines the layers of a server in order.
func Examine(ctx context.Context, o Options) Diagnosis {
	e := &examination{Options: o, server: o.Conn.Server()}
	steps := []step{e.start, e.checkHandshake}
	if e.server.URL != "" {
		steps = e.listAddressSteps()
	}
	for _, step := range append(steps, e.checkProtocol, e.lists, e.checkSchemas, e.checkSecond, e.checkMessages,
		e.end) {
		if !step(ctx) {
			e.result.Stopped = e.result.Layers[len(e.result.Layers)-1].Name
			break
		}
	}
	return e.result
}

// addLayer adds a layer, and reports whether the next one can be examined.
func (e *examination) addLayer(l Layer) bool {
	e.result.Layers = append(e.result.Layers, l)
	if e.Found != nil {
		e.Found(l)
	}
	return l.State != Fail
}

// addFailure adds a layer that failed for a reason without an explanation.
func (e *examination) addFailure(name string, err error) bool {
	return e.addLayer(Layer{Name: name, State: Fail, Message: err.Error()})
}

// hasAuthorization reports whether a header with credentials is sent.
func (e *examination) hasAuthorization() bool {
	return e.server.HasAuthorization()
}
