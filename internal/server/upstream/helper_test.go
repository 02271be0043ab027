package upstream_test

import (
	"strings"
	"testing"

	"mcptest/internal/base/source"
	"mcptest/internal/server/upstream"
)

// compile compiles the entry of one upstream called api.
func compile(t testing.TB, dir, text string) (*upstream.Upstream, source.Diagnostics) {
	t.Helper()
	n, diags := source.Parse(&source.File{Name: "suite.yaml", Data: []byte(text)})
	if n == nil || diags.HasErrors() {
		t.Fatal(diags)
	}
	var decl upstream.Declaration
	dec := new(source.Decoder)
	dec.Decode(n, "upstreams.api", &decl)
	u := upstream.Compile("api", &decl, upstream.Options{Dir: dir}, dec)
	return u, dec.Diagnostics()
}

// double starts a double for the routes of a list.
func double(t testing.TB, routes string, report func(upstream.Exchange)) *upstream.Double {
	t.Helper()
	u, diags := compile(t, t.TempDir(), "stands_for: https://api.example.com/v1\ninto: {env: API}\nroutes:\n"+indent(routes))
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	if report == nil {
		report = func(upstream.Exchange) {}
	}
	d := upstream.NewDouble(u, nil, report)
	if err := d.Listen(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return d
}

func indent(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n  ") + "\n"
}

// begin starts a test that waits for a response.
func begin(d *upstream.Double, routes []*upstream.Route, alone bool) *upstream.Watch {
	w := d.Begin("test", routes, alone, false)
	w.Answered(false)
	return w
}
