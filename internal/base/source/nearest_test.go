package source_test

import (
	"strings"
	"testing"
	"time"

	"mcptest/internal/base/source"
)

func TestNearest(t *testing.T) {
	keys := []string{"timeout", "transport", "name", "tool", "args", "url", "connect_timeout", "beforeAll", "ça"}
	tests := map[string]string{
		"timout": "timeout", "tiemout": "timeout", "timeoutt": "timeout", "TIMEOUT": "timeout", "Timout": "timeout",
		"nmae": "name", "nam": "name", "names": "name", "tools": "tool", "arg": "args", "URL": "url", "uri": "url",
		"connect-timeout": "connect_timeout", "connectTimeout": "connect_timeout", "beforeall": "beforeAll", "before_all": "beforeAll",
		"ca": "ça", "x": "", "": "", "zzz": "", "command": "", "timeout_for_everything": "", "to": "",
	}
	for word, want := range tests {
		if got := source.FindNearest(word, keys); got != want {
			t.Errorf("%s: got %q, want %q", word, got, want)
		}
	}
	if got := source.FindNearest("ab", []string{"ad", "ac"}); got != "ad" {
		t.Errorf("of equals the first wins, got %q", got)
	}
}

func TestNearestIsBounded(t *testing.T) {
	start := time.Now()
	long := strings.Repeat("x", 1<<20)
	source.FindNearest(long, []string{long + "y", "a"})
	source.FindNearest("abcdefgh", []string{long})
	if took := time.Since(start); took > time.Minute {
		t.Errorf("took %v", took)
	}
}
