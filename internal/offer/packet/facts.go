package packet

import (
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/offer/apps"
	"mcptest/internal/offer/compat"
)

// Facts are what is known about a server and its tests.
type Facts struct {
	Program string    // that made the packet, with its version
	Day     time.Time // on which it was made
	Target  string    // the command, the address or the file

	Info        jsonv.Value // what the server says of itself; absent: unknown
	URL         string      // "" for a command or a file
	Public      bool        // the address is HTTPS, and not of this machine
	Transport   string      // "" for a file
	Credentials string      // that were sent, in words; "" for none
	Stored      bool        // the lists are those of a file

	Tools     []jsonv.Value
	Prompts   []string
	Resources []string
	Views     []apps.Shown
	Notes     []string // what could not be found out

	Challenge Challenge
	Suite     string // "" without one
	Cases     []Case

	Report compat.Report
	Rules  compat.Rules // that were applied

	Mask func(string) string // hides secrets; nil: there are none
}

// A Case is a test of the suite as a case of a form.
type Case struct {
	Name     string // of the test
	Prompt   string // "" for a test without a model
	Negative bool   // it expects a refusal, or that no tool is called
	Tools    []string
	Call     string   // what is called, in words; "" if nothing is
	Expected []string // assertions in words
}

// A Challenge is the answer to the request for the challenge.
type Challenge struct {
	URL         string // "" if it was not requested
	Status      int    // 0: no answer
	Location    string // of a redirect
	ContentType string
	Body        string // its beginning
	Long        bool   // the body has more
	Err         string
}
