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

// Large and deep bundles take time in proportion to their size, minified
// ones with a finding in every case too.
func TestLargeBundles(t *testing.T) {
	t.Parallel()
	repeat := func(n int, format string) string {
		parts := make([]string, n)
		for i := range parts {
			parts[i] = fmt.Sprintf(format, i)
		}
		return strings.Join(parts, ",")
	}
	n := testkit.Count(4_000, 10_000)
	if raceEnabled {
		n = 2_000 // what is looked for is a square, which the detector does not make
	}
	for name, bundle := range map[string]string{
		"findings": `{"error_tests":[` + repeat(n, `{"name":"e%d","response":{"success":false,"error":{"code":"nope"}}}`) + `]}`,
		"parameters": `{"introspection":{"operation_details":[{"name":"o","parameters":[` + repeat(n, `{"name":"p%d","required":true}`) +
			`]}]},"accepted_parameters":{"o":[` + repeat(n, `"q%d"`) + `]},"parameter_tests":{"missing_required":[` + repeat(n, `{"operation":"o","parameter":"p%d"}`) + `]}}`,
		"operations": `{"accepted_parameters":{` + repeat(n, `"o%d":["a"]`) + `}}`,
		"mistakes":   `{"error_tests":[` + repeat(n, `%d`) + `]}`,
		"deep":       `{"batch_example":` + strings.Repeat(`{"success":true,"results":[{"result":`, 2000) + `1` + strings.Repeat(`}]}`, 2000) + `}`,
		"deep value": `{"semantic_tests":[{"name":"n","response_text":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + `}]}`,
		"too deep":   strings.Repeat("[", 100_000),
	} {
		start := time.Now()
		e, ds := read(bundle)
		if !ds.HasErrors() {
			for _, set := range []rule.Set{rule.Reference, rule.Strict} {
				aql.Evaluate(e, aql.Options{Level: 2, Rules: set}).FormatJSON()
			}
		}
		if took := time.Since(start); took > 5*time.Minute && !raceEnabled {
			t.Errorf("%s: %s", name, took)
		} else {
			t.Logf("%s: %s", name, took.Round(time.Millisecond))
		}
	}
}
