package verify

import (
	"testing"

	"mcptest/internal/process/proc"
	"mcptest/internal/tape/cassette"
)

func TestEnded(t *testing.T) {
	zero := &cassette.Exit{}
	for name, row := range map[string]struct {
		was  *cassette.Exit
		now  proc.Stopped
		want string
	}{
		"the same":       {zero, proc.Stopped{Pid: 1, How: proc.ByEOF}, ""},
		"not recorded":   {nil, proc.Stopped{Pid: 1, Exit: proc.Exit{Code: 1}}, ""},
		"an address":     {zero, proc.Stopped{}, ""},
		"another status": {zero, proc.Stopped{Pid: 1, Exit: proc.Exit{Code: 9}}, "the server ends with exit status 9 (recorded: exit status 0)"},
		"a signal":       {zero, proc.Stopped{Pid: 1, How: proc.ByEOF, Exit: proc.Exit{Signal: "aborted"}}, "the server ends with signal: aborted (recorded: exit status 0)"},
		"no end": {
			&cassette.Exit{Code: 1},
			proc.Stopped{Pid: 1, How: proc.ByTerm, Exit: proc.Exit{Signal: "terminated"}},
			"the server no longer exits after the end of its input (recorded: exit status 1)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newReport()
			r.compareEnd(row.was, row.now)
			got := ""
			for _, change := range r.Changes {
				got += change.Message
			}
			if got != row.want {
				t.Errorf("got %q, expected %q", got, row.want)
			}
		})
	}
}
