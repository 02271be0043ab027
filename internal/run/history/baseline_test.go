package history

import (
	"testing"

	"mcptest/internal/base/source"
	"mcptest/internal/client/protocol"
	"mcptest/internal/report/result"
)

// An entry excuses one status. A test that has its session to itself fails when
// the server crashes after the answer; no failed assertion excuses that.
func TestBaselineExcusesNoCrash(t *testing.T) {
	crash := []result.Violation{{Kind: protocol.ServerCrashed, Message: "signal: segmentation fault"}}
	tolerated := []result.Violation{{Kind: protocol.ServerCrashed, Tolerated: true}}
	for _, row := range []struct {
		what       string
		entry      result.Status
		c          result.Case
		want       result.Status
		wantWarned int
	}{
		{"a failed assertion", result.Fail, result.Case{Status: result.Fail}, result.Skip, 0},
		{"no answer", result.Fail, result.Case{Status: result.Error}, result.Error, 1},
		{"a crash after the answer", result.Fail, result.Case{Status: result.Fail, Violations: crash}, result.Fail, 1},
		{"a tolerated crash", result.Fail, result.Case{Status: result.Fail, Violations: tolerated}, result.Skip, 0},
		{"an expected crash", result.Error, result.Case{Status: result.Fail, Violations: crash}, result.Skip, 0},
		{"an expected crash that is a failed assertion", result.Error, result.Case{Status: result.Fail}, result.Fail, 1},
	} {
		b := &Baseline{
			entries: []knownFailure{{Pos: source.Pos{File: &source.File{}}, Name: "t", Status: row.entry}},
			files:   []string{""}, seen: []bool{false}, fixed: []bool{false},
		}
		row.c.Name = "t"
		b.apply(&row.c, "")
		if row.c.Status != row.want || len(row.c.Warnings) != row.wantWarned {
			t.Errorf("%s: %s with %d warnings, want %s with %d", row.what, row.c.Status, len(row.c.Warnings), row.want, row.wantWarned)
		}
	}
}
