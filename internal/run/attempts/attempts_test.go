package attempts

import (
	"slices"
	"testing"

	"mcptest/internal/report/result"
)

// A warning of every attempt is shown unchanged, one of some attempts with their numbers.
func TestWarningsOfAttempts(t *testing.T) {
	all := List{Word: "run"}
	for i := range 6 {
		c := &result.Case{Status: result.Pass, Warnings: []string{"each", "each"}}
		if i != 2 {
			c.Warnings = append(c.Warnings, "most")
		}
		if i == 3 {
			c.Warnings = append(c.Warnings, "once")
		}
		if i == 5 {
			c.Status, c.Message = result.Skip, "no creds"
		}
		all.Add(c)
	}
	out := &result.Case{Warnings: []string{"replaced"}}
	all.Apply(out, 1)
	want := []string{"each", "run 1, 2, 4 and 2 more: most", "run 4: once", "run 6: skipped: no creds"}
	if !slices.Equal(out.Warnings, want) || len(out.Attempts) != 6 {
		t.Errorf("%q", out.Warnings)
	}
}

// The exchanges of the first five attempts that did not pass are kept; the case has those
// of the attempt that is shown.
func TestExchangesOfAttempts(t *testing.T) {
	all := List{Word: "attempt"}
	for i := range 9 {
		c := &result.Case{Status: result.Fail, Exchanges: []result.Exchange{{Request: "{}"}}}
		if i == 1 {
			c.Status = result.Pass
		}
		all.Add(c)
	}
	out := &result.Case{}
	all.Apply(out, 3)
	var with []int
	for i, a := range out.Attempts {
		if len(a.Exchanges) > 0 {
			with = append(with, i)
		}
	}
	if want := []int{0, 2, 4, 5}; !slices.Equal(with, want) {
		t.Errorf("attempts %v have exchanges, want %v", with, want)
	}
}
