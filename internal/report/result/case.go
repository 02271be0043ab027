package result

import "iter"

// Case is the outcome of one test: one expanded entry of a suite.
type Case struct {
	Index  int    `json:"-"` // index in the plan, from 0
	Name   string `json:"name"`
	Status Status `json:"status"`
	// DurationMS is the duration of the calls, without hooks.
	DurationMS float64 `json:"duration_ms"`
	StartMS    float64 `json:"start_ms"` // since the start of the run
	File       string  `json:"file"`
	Line       int     `json:"line"`
	Column     int     `json:"column,omitempty"`
	// Source is the text of the suite's line Line, so that a stored record can show
	// it.
	Source string   `json:"source,omitempty"`
	Suite  string   `json:"suite,omitempty"`
	Block  string   `json:"block,omitempty"` // tools, resources, prompts, protocol
	Server string   `json:"server,omitempty"`
	Call   string   `json:"call,omitempty"` // the call: "tools/call echo"
	Tags   []string `json:"tags,omitempty"`
	// Row is the row of cases: that the case was made of, if it did not pass.
	Row *Row `json:"row,omitempty"`
	// Description is the author's description of the test.
	Description string `json:"description,omitempty"`

	// Message is the reason, in one line, why the case did not pass or was skipped.
	Message    string      `json:"message,omitempty"`
	Assertions []Assertion `json:"assertions"`
	// Implicit is set if there were no assertions: the call returned a response.
	Implicit       bool     `json:"implicit,omitempty"`
	Score          *float64 `json:"score,omitempty"`
	Threshold      *float64 `json:"threshold,omitempty"`
	DerivedMetrics []Metric `json:"derived_metrics,omitempty"`

	Flaky    bool      `json:"flaky,omitempty"`
	Attempts []Attempt `json:"attempts,omitempty"` // all tries, if there were several
	// Shown is the number, from 1, of the attempt that the case has the exchanges and the conversation of.
	Shown  int     `json:"shown,omitempty"`
	Repeat *Repeat `json:"repeat,omitempty"`
	// Conversation is that of the attempt that is shown; of a test of agents.
	Conversation *Conversation `json:"conversation,omitempty"`
	Trials       *Trials       `json:"trials,omitempty"`
	// KnownFailure is set if the case failed as a baseline expects; its status is
	// then Skip.
	KnownFailure *KnownFailure `json:"known_failure,omitempty"`
	AfterRestart bool          `json:"after_restart,omitempty"`
	Violations   []Violation   `json:"violations,omitempty"`
	Warnings     []string      `json:"warnings,omitempty"`
	// SideEvents are what else happened in the sessions of the case, until it was over. It
	// may be why the case failed; messages of such failures name it.
	SideEvents []SideEvent       `json:"side_events,omitempty"`
	Phases     []Phase           `json:"phases,omitempty"` // beforeEach, setup_per_test, afterEach
	Exchanges  []Exchange        `json:"exchanges,omitempty"`
	Upstream   []UpstreamRequest `json:"upstream,omitempty"` // the server's requests to upstreams
	Stderr     string            `json:"stderr,omitempty"`   // output of the server during the case, if it did not pass
	// Searched are the folders of PATH in which the server's program was not found.
	Searched []string `json:"searched,omitempty"`
	// StderrMS are the times of the lines of Stderr since the start of the run, if all
	// are known.
	StderrMS []float64 `json:"stderr_ms,omitempty"`
	Repro    string    `json:"repro,omitempty"`
	// Silent is set if the last call got no response, as the suite wants: it was cancelled, or sent
	// nothing that asks for one. Its duration is not that of a response.
	Silent bool `json:"-"`
	// Diagnosis says whether another test caused the failure. It changes no verdict.
	Diagnosis *Diagnosis `json:"diagnosis,omitempty"`
	// Probe are the verdicts of an entry of probe:.
	Probe *Probe `json:"probe,omitempty"`
}

// Diagnosis is what it says that a failed test did when it ran again alone on new
// processes.
type Diagnosis struct {
	Status  Status   `json:"status"` // of the test alone
	Message string   `json:"message"`
	After   []string `json:"after,omitempty"` // the tests that caused the failure, or may have
	// Reproduced is set if the test failed again after those.
	Reproduced bool    `json:"reproduced,omitempty"`
	DurationMS float64 `json:"duration_ms"`
}

// Probe summarizes what a probe of a server found.
type Probe struct {
	Server   string        `json:"server"` // name and version that it reports
	Summary  string        `json:"summary"`
	Families []ProbeFamily `json:"families"`
}

// ProbeFamily counts the rules of one family in one protocol version.
type ProbeFamily struct {
	Revision   string   `json:"revision"`
	Family     string   `json:"family"`
	Passed     int      `json:"passed"`
	Failed     int      `json:"failed"`
	Unverified int      `json:"not_verified"`
	Reasons    []string `json:"reasons,omitempty"` // why rules were not verified
}

// SideEvent is something that happened in a session apart from its calls: its stream, what
// the client sent by itself, what came too late.
type SideEvent struct {
	Server string  `json:"server"`
	Text   string  `json:"text"`
	Times  int     `json:"times"`
	AtMS   float64 `json:"at_ms"` // the last time, since the start of the run
}

// Row is one row of `cases:`.
type Row struct {
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	Values string `json:"values"` // as JSON
}

// Assertion is the outcome of one assertion or assert-set.
type Assertion struct {
	Name    string `json:"name,omitempty"`
	Set     bool   `json:"set,omitempty"`
	Target  string `json:"target,omitempty"`
	Matcher string `json:"matcher,omitempty"`
	Pass    bool   `json:"pass"`
	// Score and Weight are present only if they matter: in a test with a threshold or
	// a metric, and inside sets.
	Score     *float64 `json:"score,omitempty"`
	Weight    *float64 `json:"weight,omitempty"`
	Threshold *float64 `json:"threshold,omitempty"`
	Message   string   `json:"message,omitempty"`
	Expected  string   `json:"expected,omitempty"`
	Actual    string   `json:"actual,omitempty"`
	// Diff holds the lines of a comparison. Lines of a text diff start with ' ', '-'
	// (expected) or '+' (actual). Lines of a structural diff contain a path and a
	// description of the difference.
	Diff       []string    `json:"diff,omitempty"`
	Notes      []string    `json:"notes,omitempty"`
	File       string      `json:"file,omitempty"` // if it is not the case's file
	Line       int         `json:"line,omitempty"`
	Column     int         `json:"column,omitempty"`
	Source     string      `json:"source,omitempty"` // the suite's line, if the assertion failed
	Assertions []Assertion `json:"assertions,omitempty"`
}

// Metric is the value of one derived metric of a case.
type Metric struct {
	Name      string   `json:"name"`
	Value     float64  `json:"value"`
	Threshold *float64 `json:"threshold,omitempty"`
	Passed    *bool    `json:"passed,omitempty"`
	Notes     []string `json:"notes,omitempty"`
}

// Attempt is one try of a case with retries, or one run of a case with repeat.
type Attempt struct {
	Status     Status  `json:"status"`
	DurationMS float64 `json:"duration_ms"`
	Message    string  `json:"message,omitempty"`
	// Phases are its hooks and steps, Exchanges its requests. Those of the displayed
	// try are in the case itself.
	Phases       []Phase       `json:"phases,omitempty"`
	Exchanges    []Exchange    `json:"exchanges,omitempty"`    // of the first tries that did not pass
	Conversation *Conversation `json:"conversation,omitempty"` // like Exchanges
	// ModelName is the name of the model in its last answer.
	ModelName string `json:"model_name,omitempty"`
	Silent    bool   `json:"-"` // see Case
}

// walkTraffic returns an iterator over the exchanges of the case and of its attempts,
// each with the status of its owner.
func (c *Case) walkTraffic() iter.Seq2[*Exchange, Status] {
	return func(yield func(*Exchange, Status) bool) {
		for i := range c.Exchanges {
			if !yield(&c.Exchanges[i], c.Status) {
				return
			}
		}
		for i := range c.Attempts {
			a := &c.Attempts[i]
			for j := range a.Exchanges {
				if !yield(&a.Exchanges[j], a.Status) {
					return
				}
			}
		}
	}
}

// Repeat summarizes the runs of a case with repeat.
type Repeat struct {
	Times  int     `json:"times"`
	Passed int     `json:"passed"`
	Rate   float64 `json:"rate"` // required share, 0 to 1
	// Low and High are the interval of the true share, with a confidence of 95 %; absent
	// in records of earlier versions.
	Low  float64 `json:"low,omitempty"`
	High float64 `json:"high,omitempty"`
	// Latency of the runs that got a response: p50, p95 and max.
	Latency []Quantile `json:"latency,omitempty"`
}

// Quantile is a quantile of durations, by nearest rank, with its interval.
type Quantile struct {
	Name   string  `json:"name"` // p50, p95 or max
	N      int     `json:"n"`    // how many durations
	MS     float64 `json:"ms"`
	LowMS  float64 `json:"low_ms,omitempty"`
	HighMS float64 `json:"high_ms,omitempty"` // left out if there are too few durations
	// BudgetMS is the most that it may be; 0: no budget.
	BudgetMS float64 `json:"budget_ms,omitempty"`
}

// Trials summarizes the sequential test of a case with trials. Attempts that were
// errors are no trials.
type Trials struct {
	Want       float64 `json:"want"`
	Floor      float64 `json:"floor"`
	Confidence float64 `json:"confidence"`
	Max        int     `json:"max"`
	Passed     int     `json:"passed"`
	Failed     int     `json:"failed"`
	Errors     int     `json:"errors,omitempty"`
	Low        float64 `json:"low"` // interval of the true share, with a confidence of 95 %
	High       float64 `json:"high"`
	CostUSD    float64 `json:"cost_usd,omitempty"` // of all trials with a model, if it has a price
}

// KnownFailure is the actual result of a case that a baseline expects to fail.
type KnownFailure struct {
	Status Status `json:"status"` // fail or error
	Reason string `json:"reason,omitempty"`
}

// Violation is a violation of the protocol during the case.
type Violation struct {
	Kind      string `json:"kind"` // a name of mcp.ViolationKinds
	Message   string `json:"message"`
	Excerpt   string `json:"excerpt,omitempty"` // the offending bytes, escaped, at most 200
	Offset    int64  `json:"offset,omitempty"`  // in the server's output stream
	Tolerated bool   `json:"tolerated,omitempty"`
}

// Exchange is one request of a case with the messages that belong to it.
type Exchange struct {
	Step       string        `json:"step,omitempty"` // name of the flow's step
	Method     string        `json:"method,omitempty"`
	Request    string        `json:"request"`            // the frame as sent, shortened on pass
	Response   string        `json:"response,omitempty"` // the frame as received, shortened on pass
	During     []Message     `json:"during,omitempty"`
	StartMS    float64       `json:"start_ms,omitempty"` // since the start of the run
	DurationMS float64       `json:"duration_ms"`
	HTTP       *HTTPExchange `json:"http,omitempty"`
	Error      string        `json:"error,omitempty"` // why there is no response
	Truncated  bool          `json:"truncated,omitempty"`
}

// Message is a notification, a request of the server, or the client's response to
// one.
type Message struct {
	Dir string  `json:"dir"` // "from-server" or "to-server"
	MS  float64 `json:"ms"`  // since the request was sent
	Raw string  `json:"raw"`
}

// UpstreamRequest is one request of a server to an upstream during a case.
type UpstreamRequest struct {
	Upstream string            `json:"upstream"`
	StartMS  float64           `json:"start_ms"` // since the start of the run
	Method   string            `json:"method"`
	URL      string            `json:"url"` // path and query
	Headers  map[string]string `json:"headers,omitempty"`
	Body     string            `json:"body,omitempty"`
	Status   int               `json:"status,omitempty"` // of the response; 0 if there was none
	Route    string            `json:"route,omitempty"`  // the route that answered it: its position in the suite, or fallback
	// Unmatched is set if nothing answered the request.
	Unmatched bool `json:"unmatched,omitempty"`
	// Late is set if it arrived after the server had responded.
	Late bool `json:"late,omitempty"`
}

// HTTPExchange is the HTTP data of an exchange.
type HTTPExchange struct {
	Status   int               `json:"status"`
	Headers  map[string]string `json:"headers,omitempty"`
	Attempts int               `json:"attempts,omitempty"`
}
