package render

import (
	"mcptest/internal/term"
)

// Options configure a report. The zero value is for a file.
type Options struct {
	Palette   term.Palette // colors of the stream; zero: none
	Width     int          // columns of the terminal; 0: not a terminal, lines are not shortened
	Verbose   bool         // show exchanges, passed assertions, servers, whole texts
	Listed    bool         // a Live has listed the tests during the run
	Headlined bool         // the format itself writes the message of a failure
	Written   []Written    // files of other reports, which the pretty report lists
}

// Written is a report that was written to a file.
type Written struct{ Format, Path string }
