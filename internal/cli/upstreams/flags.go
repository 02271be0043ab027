package upstreams

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"mcptest/internal/base/source"
	"mcptest/internal/cli/option"
)

// Flags are the upstream flags of a run.
type Flags struct {
	Record []string // names of upstreams
	mode   string

	Models    []string // only tests with these
	modelMode string   // "": recordings where there are some, otherwise the endpoints
	maxCost   float64  // in USD; 0: no limit
}

// Modes: what responds to a request that no route matches.
const (
	modeLive   = "live"   // the real API
	modeRecord = "record" // the real API, and its responses are stored
	modeReplay = "replay" // the recording
	modeOff    = "off"    // nothing
)

var modes = []string{modeLive, modeRecord, modeReplay, modeOff}

// Add adds the flags to a command.
func (f *Flags) Add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringSliceVar(&f.Record, "record-upstream", nil, "pass requests without a route on to the real API of the upstream `NAME`, and store its responses without secrets; refused in CI (exit 5)")
	fl.StringVar(&f.mode, "upstream-mode", modeReplay, "`mode` of requests without a route: live (send them to the real API), record (also store its responses), replay (respond from the recording) or off (report them as unmatched)")
	fl.StringSliceVar(&f.Models, "model", nil, "run only conversations with the model `NAME`")
	fl.StringVar(&f.modelMode, "model-mode", "", "`mode` of models: live (ask the endpoint), record (also store its answers; refused in CI), replay (answer from the recording) or off (skip the tests); without it recordings answer where they are declared")
	fl.Func("max-cost", "ask no model once the run has cost so many `USD` (exit 5)", func(s string) (err error) {
		if f.maxCost, err = strconv.ParseFloat(s, 64); err != nil || !(f.maxCost > 0) {
			return errors.New("expected a number greater than zero")
		}
		return nil
	})
}

// Check rejects unknown modes, and recording in CI.
func (f *Flags) Check(env []string, allowInCI bool) error {
	if !slices.Contains(modes, f.mode) {
		return option.Invalid("--upstream-mode must be %s, %s, %s or %s, not %q", modeLive, modeRecord, modeReplay, modeOff, f.mode)
	}
	if err := f.checkModels(env, allowInCI); err != nil || !f.Recording() {
		return err
	}
	command := "mcptest run --upstream-mode record"
	if len(f.Record) > 0 {
		command = "mcptest run --record-upstream " + strings.Join(f.Record, ",")
	}
	return option.AllowUpdate(env, allowInCI, "upstreams are not recorded", command)
}

// Recording reports whether something is recorded.
func (f *Flags) Recording() bool { return len(f.Record) > 0 || f.mode == modeRecord }

// Records reports whether an upstream is recorded.
func (f *Flags) Records(name string) bool { return f.find(name) == modeRecord }

// find returns the mode of an upstream.
func (f *Flags) find(name string) string {
	if slices.Contains(f.Record, name) {
		return modeRecord
	}
	if f.mode == "" {
		return modeReplay
	}
	return f.mode
}

// checkUnknown returns an error if a name of --record-upstream is not an upstream.
func (f *Flags) checkUnknown(names []string) error {
	for _, name := range f.Record {
		if !slices.Contains(names, name) {
			hint := cmp.Or(source.Known(name, names), "the suites have no upstreams")
			return option.Invalid("--record-upstream: no upstream is called %q%s", name, source.Parenthesis(hint))
		}
	}
	return nil
}
