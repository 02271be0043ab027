package aqlcli

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mcptest/internal/base/source"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/mcpaql/live"
	"mcptest/internal/mcpaql/live/guard"
	"mcptest/internal/mcpaql/live/tape"
	"mcptest/internal/mcpaql/verdict"
	"mcptest/internal/tape/cassette"
)

// recordingName is the file name of a recording in a folder.
const recordingName = "live" + cassette.Suffix

// shapingFlags lists the options that decide what a run sends. A recording stores
// them, and they cannot be changed in a replay.
var shapingFlags = []string{
	"mode", "prefix", "tool", "allow-op", "deny-op", "append-only", "max-calls", "rate", "budget", "call-timeout", "confirm", "stress", "bundle-scope",
}

// reportFlags lists the options that decide how a run is judged. A recording stores
// them too, but a replay may change them.
var reportFlags = []string{"level", "normative", "fail-on"}

// replayFlags lists the options that have a meaning with --replay, in addition to
// shapingFlags and reportFlags.
var replayFlags = []string{"replay", "output", "format", "bundle"}

// recordOptions returns the options of a run in the format of its recording.
func (c *call) recordOptions() map[string][]string {
	out := map[string][]string{}
	for _, flag := range slices.Concat(shapingFlags, reportFlags) {
		if _, given := c.flags[flag]; given {
			out[flag] = c.getAll(flag)
		}
	}
	return out
}

// findRecording returns the file that --record or --replay names.
func findRecording(name string) string {
	info, err := os.Stat(name)
	if err == nil && info.IsDir() || strings.HasSuffix(name, "/") || strings.HasSuffix(name, string(os.PathSeparator)) {
		return filepath.Join(name, recordingName)
	}
	return name
}

// startRecording creates the cassette of --record. The writer is nil without the
// option; the result is false after a mistake.
func (c *call) startRecording(t *target, o guard.Options) (*cassette.Writer, bool) {
	name, given := c.flags["record"]
	if !given {
		return nil, true
	}
	file := findRecording(name)
	var err error
	if file != name {
		err = os.MkdirAll(filepath.Dir(file), 0o777)
	}
	if err == nil {
		err = checkParent(file)
	}
	h := cassette.Header{Program: o.Program, Transport: cassette.Stdio, Server: cassette.Server{Command: t.argv}}
	if t.url != "" {
		h.Transport, h.Server.URL = cassette.StreamableHTTP, t.describe()
	}
	var w *cassette.Writer
	if err == nil {
		w, err = tape.Create(file, h, tape.About{
			Target:  o.Target,
			Repeat:  o.Repeat,
			RunID:   o.RunID,
			Options: c.recordOptions(),
		}, o.Secrets)
	}
	var wrong *cassette.Error
	if errors.As(err, &wrong) {
		err = errors.New(wrong.Says)
	}
	if err != nil {
		return nil, c.refuse("--record: cannot write %s: %s", file, cmdutil.Reason(err))
	}
	return w, true
}

// recordFits reports whether --record is compatible with the other options.
func (c *call) recordFits() bool {
	name, given := c.flags["record"]
	if !given {
		return c.refuseFlags("--%s has an effect only with --record", "allow-update-in-ci")
	}
	_, model := c.flags["model"]
	switch {
	case name == "-":
		return c.refuse("--record: expected a file: the standard output is the report's")
	case model:
		return c.refuse("--record does not keep the answers of a model: remove --model, or use --bundle, which test judges again")
	case c.flags["mode"] == guard.ModePlan:
		return c.refuse("--record: --mode plan tests nothing that could be recorded")
	case c.flags["clean"] != "":
		return c.refuse("--record: --clean tests nothing that could be recorded")
	}
	return true
}

// replay replays a recording and makes its report.
func (c *call) replay() int {
	if !c.replayFits() || !c.checkFiles() {
		return verdict.ExitConfig
	}
	file := findRecording(c.flags["replay"])
	rec, err := tape.Open(file)
	var wrong *cassette.Error
	switch {
	case errors.As(err, &wrong):
		return c.addProblem("--replay: %s", err)
	case err != nil:
		return c.addProblem("cannot read %s: %s", file, cmdutil.Reason(err))
	}
	defer rec.Close()
	if !c.takeOptions(rec) {
		return verdict.ExitConfig
	}
	o, ok := c.readLiveOptions(&target{})
	if !ok {
		return verdict.ExitConfig
	}
	o.Dial = nil
	o.Replay = rec
	o.RunID = rec.RunID
	o.Target = rec.Target
	o.Repeat = rec.Repeat
	o.Values = rec.Values
	e, err := live.Collect(context.Background(), o)
	if errors.As(err, &wrong) {
		return c.addProblem("--replay: %s", wrong)
	}
	return c.reportLive(o, e, err, nil)
}

// replayFits reports whether the options given with --replay apply to it.
func (c *call) replayFits() bool {
	ok := true
	allowed := slices.Concat(replayFlags, shapingFlags, reportFlags)
	for _, flag := range slices.Sorted(maps.Keys(c.flags)) {
		switch {
		case slices.Contains(allowed, flag):
		case flag == "values":
			ok = c.refuse("--values: the recording has its own")
		case flag == "stdio" || flag == "url":
			ok = c.refuse("--replay replaces the adapter: remove --%s", flag)
		default:
			ok = c.refuse("--%s has no effect with --replay", flag)
		}
	}
	return ok
}

// takeOptions sets the options that a recording was made with. A given option that
// differs is a mistake if it shapes requests.
func (c *call) takeOptions(rec *tape.Recording) bool {
	ok := true
	for _, flag := range slices.Concat(shapingFlags, reportFlags) {
		var had []string
		var err error
		for _, v := range rec.Options[flag] {
			if v, err = checkOption(flag, v); err != nil {
				return c.refuse("--replay: %s:1: the option %s cannot be used: %s", rec.File, flag, err)
			}
			had = append(had, v)
		}
		before, recorded := strings.Join(had, "\x00"), len(had) > 0
		_, given := c.flags[flag]
		switch {
		case given && slices.Contains(reportFlags, flag):
		case given && !recorded && c.flags[flag] == shapingDefaults[flag]:
		case given && (!recorded || c.flags[flag] != before):
			with := "its default"
			if recorded {
				with = "--" + flag + " " + showOption(before)
			}
			ok = c.refuse("--%s %s: the recording was made with %s; remove the option, or record the run again", flag, showOption(c.flags[flag]), with)
		case recorded:
			c.flags[flag] = before
		}
	}
	return ok
}

// shapingDefaults holds the values of options that are not given.
var shapingDefaults = map[string]string{"mode": guard.ModeSafe, "bundle-scope": "all", "max-calls": "2000", "budget": "10m", "call-timeout": "30s"}

// checkOption checks a value from a file against its option.
func checkOption(name, value string) (string, error) {
	options := newLiveOptions()
	i := slices.IndexFunc(options, func(o option) bool { return o.long == name })
	switch {
	case i < 0:
		return "", errors.New("no such option")
	case options[i].value == "":
		return "yes", nil
	default:
		return options[i].checkValue(value)
	}
}

func showOption(v string) string { return strings.ReplaceAll(v, "\x00", " ") }

// wasRecorded ends a recording and reports an error of writing it; it returns the
// exit code.
func (c *call) wasRecorded(w *cassette.Writer) int {
	if w == nil {
		return 0
	}
	if err := w.Close(); err != nil {
		return c.addProblem("--record: cannot write %s: %s", findRecording(c.flags["record"]), cmdutil.Reason(err))
	}
	if why := w.ExplainUnsaved(); why != "" {
		c.addProblem("--record: %s", why)
	}
	return 0
}

// openValues reads the file of --values; it returns false after a mistake.
func (c *call) openValues(o *guard.Options) bool {
	name, given := c.flags["values"]
	if !given {
		return true
	}
	f := c.read(name)
	if f == nil {
		return false
	}
	v, f, ds := live.ReadValues(f)
	if ds.HasErrors() {
		c.printExplained(ds)
		return false
	}
	o.Values, o.ValuesFile = v, f
	return true
}

// printExplained prints diagnostics with their source lines.
func (c *call) printExplained(ds source.Diagnostics) {
	if err := ds.Print(c.Err, source.Style{}); err != nil {
		c.addProblem("cannot write to the standard error: %s", cmdutil.Reason(err))
	}
}
