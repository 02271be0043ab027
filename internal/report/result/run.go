package result

import "time"

// Schema is the name of the JSON format of a Run.
const Schema = "mcptest.run/v1"

// Status is the status of a case or of a phase.
type Status string

// Statuses. Error means that there was no response (a server that could not be
// started, a timeout, a crash, a broken transport); Fail means that a response did
// not meet the expectations; Inconclusive means that what was observed decides nothing.
const (
	Pass         Status = "pass"
	Fail         Status = "fail"
	Error        Status = "error"
	Skip         Status = "skip"
	Inconclusive Status = "inconclusive"
)

// Failed reports whether a status is neither a pass nor a skip.
func (s Status) Failed() bool { return s == Fail || s == Error || s == Inconclusive }

// Run is the record of one run. Cases are stored separately because there may be
// many: see Spool.
type Run struct {
	Schema     string    `json:"schema"`
	Tool       Tool      `json:"tool"`
	Suites     []Suite   `json:"suites,omitempty"`
	Started    time.Time `json:"started"`
	DurationMS float64   `json:"duration_ms"`
	Times      *Times    `json:"times,omitempty"` // where that time went
	// ExitCode is the exit code of the program that made the record, except for
	// failures to write reports.
	ExitCode int `json:"exit_code"`
	// Interrupted is the name of the signal that ended the run ("SIGINT").
	Interrupted string `json:"interrupted,omitempty"`
	// Parallel is the number of calls in flight per server, or 1.
	Parallel int `json:"parallel,omitempty"`
	// Command is the command that repeats the run, quoted for a shell.
	Command string `json:"command,omitempty"`
	// Dir is the folder that paths are relative to, relative to the root of the
	// repository, with slashes; empty if it is the root or unknown.
	Dir string `json:"dir,omitempty"`
	// Origin is the commit that was tested, and where; nil if nothing is known.
	Origin *Origin `json:"origin,omitempty"`
	// Shard identifies the record as a part of a run; may be nil.
	Shard *Shard `json:"shard,omitempty"`

	Summary  Summary   `json:"summary"`
	Cases    *Spool    `json:"tests"`
	Phases   []Phase   `json:"phases,omitempty"`
	Rollups  []Rollup  `json:"metric_rollups,omitempty"`
	Findings []Finding `json:"findings,omitempty"`
	Servers  []Server  `json:"servers"`
	// Coverage is measured only on request.
	Coverage *Coverage `json:"coverage,omitempty"`
	// Notes contain information about the whole run ("an empty shard").
	Notes []string `json:"notes,omitempty"`

	fold fold // working state of Apply
}

// Tool is the program that made the record.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Origin says which commit was checked out in the working directory, and which job of a
// CI system ran.
type Origin struct {
	Commit string `json:"commit,omitempty"`
	Branch string `json:"branch,omitempty"`
	// URL is the page of the job.
	URL string `json:"url,omitempty"`
}

// Suite is one suite file of the run.
type Suite struct {
	Name string `json:"name"`
	File string `json:"file"`
}

// Shard is one of the parts that a run was split into.
type Shard struct {
	Index int `json:"index"` // from 1
	Total int `json:"total"`
	// Tests is the number of tests of all shards.
	Tests int `json:"tests"`
	// Digest is equal for shards of the same files and selection.
	Digest string `json:"digest"`
	// Places are the indexes of this shard's tests among those of all shards, from 0,
	// in ascending order.
	Places []int `json:"places"`
}

// Summary counts the cases of a run.
type Summary struct {
	Total   int `json:"total"`
	Passed  int `json:"passed"`
	Failed  int `json:"failed"`
	Errored int `json:"errored"`
	Skipped int `json:"skipped"`
	// Inconclusive counts the cases whose observations decided nothing.
	Inconclusive int `json:"inconclusive,omitempty"`
	Flaky        int `json:"flaky,omitempty"`
	// Warnings counts warnings of all cases, phases and findings.
	Warnings int `json:"warnings,omitempty"`
}

// Rollup is one derived metric over all cases with it.
type Rollup struct {
	Name  string  `json:"name"`
	Mean  float64 `json:"mean"`
	Count int     `json:"count"`
}

// Finding is a problem during the run that belongs to no single case: a protocol
// violation outside every call, a leftover process, a server that crashed between
// calls, a warning of the loader.
type Finding struct {
	// Kind is a violation kind of package mcp, or "leftover-process",
	// "server-restarted", "teardown", "load-warning", …
	Kind     string `json:"kind"`
	Severity string `json:"severity"` // "error" makes the run fail, "warning" and "info" do not
	Server   string `json:"server,omitempty"`
	Message  string `json:"message"`
	Excerpt  string `json:"excerpt,omitempty"`
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`

	// Of a finding of kind OfResult: what clients do with a result that a test saw.
	Rule  string `json:"rule,omitempty"`  // result-size, …
	Tool  string `json:"tool,omitempty"`  // whose result it is
	Test  string `json:"test,omitempty"`  // that called the tool
	Level string `json:"level,omitempty"` // warning or advice, as in mcptest check
}

// Kinds of findings about an incomplete record.
const (
	Incomplete = "incomplete-record" // the record itself is truncated
	Stopped    = "interrupted"       // a signal ended the run
)

// DescribeUnfinished returns why the record is not that of a complete run, or "".
func (r *Run) DescribeUnfinished() string {
	for _, f := range r.Findings {
		if f.Kind == Incomplete || f.Kind == Stopped {
			return f.Message
		}
	}
	if r.Interrupted != "" {
		return "the run was interrupted by " + r.Interrupted
	}
	return ""
}

// Server is one server that the run used.
type Server struct {
	Name       string `json:"name"`
	File       string `json:"file,omitempty"`
	Transport  string `json:"transport"` // "stdio", "streamable-http", "sse", "in-process"
	Target     string `json:"target"`    // command line or URL, redacted
	Protocol   string `json:"protocol,omitempty"`
	ServerInfo *Info  `json:"server_info,omitempty"`
	// Detection says what was done to detect the protocol version in addition to a
	// request over the first connection: a further connection, for instance.
	Detection string   `json:"detection,omitempty"`
	StartMS   float64  `json:"start_ms,omitempty"` // from the start of the process to the end of the handshake
	Starts    int      `json:"starts,omitempty"`
	Exit      string   `json:"exit,omitempty"`
	Stderr    string   `json:"stderr,omitempty"` // its last lines, after a problem
	Insecure  bool     `json:"insecure,omitempty"`
	Tolerated []string `json:"tolerated,omitempty"`
}

// Info is a server's name and version.
type Info struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
}

// Phase is a hook or a fixture step, inside or outside a case.
type Phase struct {
	// Phase is beforeAll, setup, beforeEach, setup_per_test, teardown_per_test,
	// afterEach, teardown or afterAll.
	Phase  string `json:"phase"`
	Name   string `json:"name"` // the step's name, or its command line
	Status Status `json:"status"`
	// Kind is command, context, call or background.
	Kind       string   `json:"kind,omitempty"`
	StartMS    float64  `json:"start_ms"` // since the run began
	DurationMS float64  `json:"duration_ms"`
	Message    string   `json:"message,omitempty"`
	Output     string   `json:"output,omitempty"` // end of the output, if it failed
	Warnings   []string `json:"warnings,omitempty"`
	File       string   `json:"file,omitempty"`
	Line       int      `json:"line,omitempty"`
	Source     string   `json:"source,omitempty"`
}

// Times says where the time of a run went. Of what goes on at once, the first counts.
type Times struct {
	CallsMS    float64 `json:"calls_ms"`
	StartingMS float64 `json:"starting_ms"` // servers
	HooksMS    float64 `json:"hooks_ms"`    // and fixture steps
	EndingMS   float64 `json:"ending_ms"`   // servers
	// DiagnosisMS is the time of failed tests that ran again.
	DiagnosisMS float64 `json:"diagnosis_ms,omitempty"`
}
