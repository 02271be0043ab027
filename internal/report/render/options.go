package render

import (
	"mcptest/internal/term"
)

// Options configure a report. The zero value suits a file.
type Options struct {
	Palette   term.Palette // colors of the stream; zero: none
	Width     int          // columns of the terminal; 0: not a terminal, nothing is cut to fit
	Verbose   bool         // show exchanges, assertions that passed, servers, whole texts
	Listed    bool         // the tests were listed already, by a Live, while the run went on
	Headlined bool         // the format writes the message of a failure itself
	Written   []Written    // reports that were written to files, which the pretty report names
}

// Written is a report that was written to a file.
type Written struct{ Format, Path string }
