package api

// Tester runs tests of the suites of the command line.
type Tester interface {
	// Version changes when a file of the suites does.
	Version() string
	// Tests returns the tests of the suites in their order.
	Tests() (Tests, error)
	// Start runs tests. If they call tools that are not known to be read-only, it runs none
	// and returns what a person must confirm.
	Start(s Selection) (*Question, error)
	// Stop ends the run that is going on, as Ctrl-C does.
	Stop()
	// Run returns the latest run.
	Run() Run
	// Outcomes returns how tests of the latest run ended, after a number of them.
	Outcomes(run, after int) ([]Outcome, error)
	// Report returns what the run says about a test.
	Report(run, test int) (Report, error)
}

// Tests are the tests of all suites. A request names one by its number in List.
type Tests struct {
	Version string
	Files   []string
	List    []Test
	Omitted int // tests over the limit
	Problem string
}

// Test is a test before it runs.
type Test struct {
	Name, Server, Call string
	File               int // its number in Files
	Line               int
	Tags               []string
}

// Selection is what a person wants to run.
type Selection struct {
	Version  string `json:"version"` // of the list that Tests are numbers of
	All      bool   `json:"all"`
	Tests    []int  `json:"tests"`
	FailFast bool   `json:"failFast"`
	Confirm  string `json:"confirm"` // the token of the question about exactly this selection
}

// Question is what a person must confirm before tests run.
type Question struct {
	Token string
	Calls []string // tools that are not known to be read-only, and why
}

// Run is a run of tests.
type Run struct {
	ID                                            int // 0: there was none
	Going                                         bool
	Total                                         int
	Running                                       int // tests that have begun and not ended
	Passed, Failed, Errors, Inconclusive, Skipped int
	Seconds                                       float64
	Problem                                       string // why there are no or not all results
}

// Outcome is how a test ended.
type Outcome struct {
	Test   int
	Status string // of the record: pass, fail, error, inconclusive, skip
	MS     float64
}

// Report is what a run says about one test.
type Report struct {
	Text      string // as in the terminal
	Place     string // file:line
	Editor    string // an address that opens the place in an editor
	Exchanges []Exchanged
}

// Exchanged is a request of a test with its response, as bytes.
type Exchanged struct{ Request, Response string }
