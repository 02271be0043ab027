package run

import (
	"context"
	"log/slog"

	"mcptest/internal/assert/snapshot"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/secret"
	"mcptest/internal/client/wire"
	"mcptest/internal/process/proc"
	"mcptest/internal/report/result"
	"mcptest/internal/run/agent"
	"mcptest/internal/run/connect"
	"mcptest/internal/run/doubles"
	"mcptest/internal/run/pool"
)

// Options are the data of a run.
type Options struct {
	Tool result.Tool
	// Command is the command that repeats the run, for reports.
	Command string
	// RerunFlags are the flags that a command for one test needs in addition to the
	// test's name.
	RerunFlags []string
	// Shard identifies the plan as a part of a larger run; may be nil.
	Shard *result.Shard
	Dir   string // Run.Dir of the record
	// Damaged is set if the responses are replayed with other contents: they say nothing
	// about the server.
	Damaged bool
	// Origin is that of the record; may be nil.
	Origin *result.Origin
	Notes  []string // written to the record first
	// Coverage enables measuring coverage, which a suite can demand too.
	// CoveragePartial is the reason why the plan does not contain all tests, so that
	// minimums are not checked.
	Coverage        bool
	CoveragePartial string
	// Live requests CaseStarted events.
	Live bool

	// Grace is the time that a server or background step has to exit; zero fields:
	// proc's defaults.
	Grace proc.Grace
	// Limits of the wire; zero fields: the defaults.
	Limits wire.Limits
	// Tokens is the file with stored user logins.
	Tokens string

	// Snapshots defines what happens to values without a stored snapshot.
	Snapshots snapshot.Mode

	// Phase is the part of the plan to run; the zero value runs everything.
	Phase Phase
	// LogDir is the folder for the output of background steps. SetupOnly needs it:
	// pipes would end with the runner.
	LogDir string
	// LeftUp is set if an earlier run left its processes running in the current
	// folder.
	LeftUp bool
	// NoDiagnosis leaves out running failed tests again alone to name a test that caused
	// the failure.
	NoDiagnosis bool
	// Saved is the data that the earlier run passed to Detach, for TeardownOnly.
	Saved []SavedState
}

// Deps are the dependencies of a run. Fields without a default must be set.
type Deps struct {
	// Send sends the events; it must be safe for concurrent use.
	Send func(result.Event)
	// Secret declares values that must not appear in any output; may be nil.
	Secret func(values ...string)
	// Redactor masks secrets in snapshots; may be nil.
	Redactor *secret.Redactor
	// Log receives details that reports omit, such as the output of hooks and
	// steps; nil discards them. It must redact secrets.
	Log *slog.Logger
	// OnCaseDone, if not nil, is called with every case before it is counted and
	// may change its status, as a baseline of known failures does. It must be safe
	// for concurrent use.
	OnCaseDone func(c *result.Case)
	// FinalFindings, if not nil, is called once after the last case, before the
	// exit code is determined. It returns findings about the whole run.
	FinalFindings func() []result.Finding
	// LastFindings, if not nil, is called after all other findings were sent, unless
	// the run was interrupted. passed says that none of them makes the run fail.
	LastFindings func(passed bool) []result.Finding
	// Upstreams are the dependencies of test doubles; Report is replaced by that of
	// the run.
	Upstreams doubles.Deps
	// Models are those of conversations and judges; nil: there is only script.
	Models *agent.Models
	// Dial opens the transport of a server; nil: connect.Dial.
	Dial connect.Dialer
	// Replayed says that Dial replays recordings, so no program may be started for a test
	// and no request sent past Dial.
	Replayed bool
	// Exec runs a hook or a step in the foreground; nil: proc.Run.
	Exec func(ctx context.Context, s proc.Spec) proc.Result
	// Registry tracks every process group. If it is nil, the run creates one
	// without a watchdog and a subreaper.
	Registry *proc.Registry
	// KillOrphans ends the remaining processes at the end of the run and returns
	// them; may be nil.
	KillOrphans func(ctx context.Context) []proc.Leftover
	// Eras provides hints on the eras of servers and stores those for the next run;
	// may be nil.
	Eras *connect.Eras
	// Warm, if not nil, keeps sessions for the next run. KillOrphans must not end
	// their processes.
	Warm *Warm
	// Detach is called instead of KillOrphans if Phase is SetupOnly and the setup of
	// every file succeeded. It takes over the process groups that Registry tracks. If
	// it fails, the run ends them.
	Detach func(files []SavedState) error
}

// Phase is the part of a plan that is run.
type Phase uint8

// The phases of a run.
const (
	All          Phase = iota
	SetupOnly          // beforeAll and setup, whose processes are left running
	TeardownOnly       // teardown and runAfterAll of an earlier SetupOnly
)

// Warm keeps sessions between runs.
type Warm = pool.Warm

// NewWarm returns a Warm without sessions.
func NewWarm() *Warm { return pool.NewWarm() }

// SavedState is the data of a file that a later TeardownOnly run needs: its path
// and the environment patch of its hooks.
type SavedState struct {
	File string      `json:"file"` // absolute path
	Env  jsonv.Value `json:"env"`  // an object, or null
	Vars jsonv.Value `json:"vars"`
}
