package aqlcli

import (
	"bytes"
	"fmt"
	"testing"
	"time"
)

// Without a terminal a long run writes a line every ten seconds, and a short one none.
func TestProgressInALog(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	now := time.Unix(0, 0)
	lines := newSlowPrinter(&b, func() time.Time { return now })
	for i := range 25 {
		now = time.Unix(int64(i), 0)
		lines(fmt.Sprintf("%d calls", i))
	}
	if got, want := b.String(), "mcpaql-conformance: 10 calls\nmcpaql-conformance: 20 calls\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
