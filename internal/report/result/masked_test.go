package result_test

import (
	"testing"

	"mcptest/internal/base/secret"
	"mcptest/internal/report/result"
)

// TestReproMatchesMaskedName checks the pattern of a command whose test has a secret in its
// name, in the quotes of each system.
func TestReproMatchesMaskedName(t *testing.T) {
	t.Parallel()
	for _, quote := range []string{`'`, `"`} {
		r := secret.NewRedactor()
		r.Add("swordfish-9")
		c := &result.Case{Repro: "mcptest run s.yml --filter " + quote + "re:^in swordfish-9 name$" + quote}
		cleaned(t, c, r)
		if want := "mcptest run s.yml --filter " + quote + "re:^in .* name$" + quote; c.Repro != want {
			t.Errorf("got %s, want %s", c.Repro, want)
		}
	}
}
