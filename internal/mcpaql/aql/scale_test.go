package aql_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"mcptest/internal/base/testkit"
	"mcptest/internal/mcpaql/aql"
	"mcptest/internal/mcpaql/rule"
)

// Error tests are judged in time that grows with their number, and looking
// for leaks in them costs little compared with reading them.
func TestManyErrorTests(t *testing.T) {
	if !testkit.Bench() {
		t.Skip("only in make bench: it compares times")
	}
	cost := func(n int) (reading, judging time.Duration) {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,{"name":"e%d","must_mention":["bed_id"],"response":{"success":false,"error":{"code":"VALIDATION_MISSING_PARAM","message":"create_bed needs the parameter 'bed_id' in call %d."}}}`, i, i)
		}
		bundle := `{"error_tests":[` + b.String()[1:] + `]}`
		reading, judging = time.Hour, time.Hour
		for range 3 { // the least is the nearest to what it costs
			start := testkit.ReadCPUTime()
			e, ds := read(bundle)
			if ds.HasErrors() {
				t.Fatal(ds)
			}
			middle := testkit.ReadCPUTime()
			aql.Evaluate(e, aql.Options{Level: 2, Rules: rule.Strict})
			reading, judging = min(reading, middle-start), min(judging, testkit.ReadCPUTime()-middle)
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
