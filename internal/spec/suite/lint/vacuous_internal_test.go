package lint

import "testing"

// A regular expression that matches the empty text at one end of every text examines nothing.
func TestMatchesAnyText(t *testing.T) {
	t.Parallel()
	for expr, want := range map[string]bool{
		"": true, "a*": true, ".*": true, "^.*": true, "(x)?$": true, "(a|b*)": true, "a{0,3}": true, "(?i)x*y?": true,
		"^x*$": false, "^.*$": false, "x+": false, `\b`: false, "a*b": false, "^$": false, "(": false,
	} {
		if got := matchesAnyText(expr); got != want {
			t.Errorf("%q: got %v, want %v", expr, got, want)
		}
	}
}
