package load_test

import (
	"os"
	"testing"
	"testing/synctest"
	"time"

	"mcptest/internal/base/jsonschema"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/term"
	"mcptest/internal/client/mcp"
	"mcptest/internal/run/load"
)

// closed returns a schema that allows only the members that it describes.
func closed(v jsonv.Value) jsonv.Value {
	v = v.Map(func(k string, e jsonv.Value) (string, jsonv.Value) { return k, closed(e) })
	if v.Lookup("properties").Kind() == jsonv.KindObject && v.Lookup("type").Text() == "object" {
		v = v.With("additionalProperties", jsonv.Bool(false))
	}
	return v
}

// Reports follow the published schema, which describes all of their members.
func TestReportsFollowTheSchema(t *testing.T) {
	data, err := os.ReadFile("../../../schemas/load-v1.json")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonv.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	s, err := jsonschema.Compile(closed(doc), jsonschema.Options{})
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		dying := &fake{takes: fixed(time.Millisecond), fails: func(x *mcp.Exchange, n int64) {
			if n%3 == 0 {
				x.Result, x.Error = nil, []byte(`{"code":-32602,"message":"bad"}`)
			}
		}}
		time.AfterFunc(4*time.Second, func() { dying.dead.Store(true) })
		o := options(10, 5*time.Second, dying)
		o.Shard = load.Shard{Index: 1, Total: 1}
		full := load.Run(t.Context(), o)
		full.Judge(budgets(t, "p99=1s", "errors=1%"))
		full.Tools[0].Why, full.Interrupted = "x", true
		plain := load.Run(t.Context(), options(10, time.Second, &fake{takes: fixed(time.Millisecond)}))
		for _, r := range []*load.Report{full, plain} {
			data, err := r.Show("json", term.Palette{})
			if err != nil {
				t.Fatal(err)
			}
			v, err := jsonv.Parse(data)
			if err != nil {
				t.Fatal(err)
			}
			bad, err := s.Validate(t.Context(), v)
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range bad {
				t.Errorf("%s: %s\n%s", b.InstancePath, b.Msg, data)
			}
			if broken, err := s.Validate(t.Context(), v.Without("tools")); err != nil || len(broken) == 0 {
				t.Errorf("a damaged report is valid: %v", err)
			}
		}
	})
}
