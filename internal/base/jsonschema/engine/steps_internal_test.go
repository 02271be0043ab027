package engine

import (
	"context"
	"strings"
	"testing"

	"mcptest/internal/base/jsonv"
)

// TestSteps: an evaluation ends after a number of steps, without a context that ends.
func TestSteps(t *testing.T) {
	t.Parallel()
	schema, err := Compile(jsonv.ObjectOf("items", jsonv.ObjectOf("type", "null")), Options{BaseURI: "http://example.com/a"})
	if err != nil {
		t.Fatal(err)
	}
	nulls := jsonv.Array(jsonv.Null(), jsonv.Null(), jsonv.Null())
	for before, want := range map[int]string{maxSteps - 4: "", maxSteps - 3: "took more than 20000000 steps"} {
		e := &evaluation{ctx: context.Background(), steps: before}
		ok := e.check(schema.root, nulls, nil)
		if ok != (want == "") || ok != (e.err == nil) || e.err != nil && !strings.Contains(e.err.Error(), want) || len(e.failures) > 0 {
			t.Errorf("after %d steps: %v %v %v", before, ok, e.err, e.failures)
		}
	}
}
