//go:build unix

package aql_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"mcptest/internal/aql"
	"mcptest/internal/aql/rule"
)

// cpuTime is the processor time of the whole process so far. Unlike the time
// on the clock it does not grow while others have the processor.
func cpuTime(t *testing.T) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Skip(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Error tests are judged in time that grows with their number, and looking
// for leaks in them costs little compared with reading them.
func TestManyErrorTests(t *testing.T) {
	t.Parallel()
	if raceEnabled {
		t.Skip("what is measured is not the detector")
	}
	cost := func(n int) (reading, judging time.Duration) {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,{"name":"e%d","must_mention":["bed_id"],"response":{"success":false,"error":{"code":"VALIDATION_MISSING_PARAM","message":"create_bed needs the parameter 'bed_id' in call %d."}}}`, i, i)
		}
		bundle := `{"error_tests":[` + b.String()[1:] + `]}`
		reading, judging = time.Hour, time.Hour
		for range 3 { // the least is the nearest to what it costs
			start := cpuTime(t)
			e, ds := read(bundle)
			if ds.HasErrors() {
				t.Fatal(ds)
			}
			middle := cpuTime(t)
			aql.Evaluate(e, aql.Options{Level: 2, Rules: rule.Strict})
			reading, judging = min(reading, middle-start), min(judging, cpuTime(t)-middle)
		}
		return reading, judging
	}
	reading, few := cost(20_000)
	_, many := cost(80_000)
	t.Logf("20,000: read in %s, judged in %s; 80,000: judged in %s", reading, few, many)
	if many > 10*few {
		t.Errorf("four times as many take %.1f times as long", float64(many)/float64(few))
	}
	if few > 12*reading {
		t.Errorf("they are judged in %s and read in %s", few, reading)
	}
}
