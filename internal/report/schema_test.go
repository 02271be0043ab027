package report_test

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"mcptest/internal/base/jsonschema"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/report/render"
	"mcptest/internal/report/result"
)

const schemaPath = "../../schemas/run-v1.json"

func readSchema(t *testing.T) jsonv.Value {
	t.Helper()
	data, err := os.ReadFile(schemaPath)
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonv.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestRecordsFollowTheSchema: every record is valid by the published schema,
// and damaged ones are not.
func TestRecordsFollowTheSchema(t *testing.T) {
	s, err := jsonschema.Compile(readSchema(t), jsonschema.Options{})
	if err != nil {
		t.Fatal(err)
	}
	check := func(v jsonv.Value) []jsonschema.Violation {
		out, err := s.Validate(context.Background(), v)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	for _, name := range names() {
		v, err := jsonv.Parse(rendered(t, "json", open(t, name), render.Options{}))
		if err != nil {
			t.Fatal(err)
		}
		for _, bad := range check(v) {
			t.Errorf("%s: %s: %s", name, bad.InstancePath, bad.Msg)
		}
		for _, broken := range []jsonv.Value{v.With("schema", jsonv.String("other")), v.Without("tests"), v.With("summary", jsonv.Null())} {
			if len(check(broken)) == 0 {
				t.Errorf("%s: a damaged record is valid", name)
			}
		}
	}
}

// TestSchemaNamesEveryField compares the schema with the structs: a field
// that is new in one of them has to be in the other.
func TestSchemaNamesEveryField(t *testing.T) {
	schema := readSchema(t)
	defs := schema.Lookup("$defs")
	compare := func(name string, of any, in jsonv.Value, also ...string) {
		want := also
		for i := range reflect.TypeOf(of).NumField() {
			tag, _, _ := strings.Cut(reflect.TypeOf(of).Field(i).Tag.Get("json"), ",")
			if tag != "" && tag != "-" {
				want = append(want, tag)
			}
		}
		got := in.Lookup("properties").Keys()
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(want, got) {
			t.Errorf("%s: the record has %v, the schema %v", name, want, got)
		}
	}
	compare("run", result.Run{}, schema)
	top := schema.Lookup("properties")
	compare("summary", result.Summary{}, top.Lookup("summary"))
	compare("tool", result.Tool{}, top.Lookup("tool"))
	compare("suite", result.Suite{}, top.Lookup("suites", "items"))
	compare("rollup", result.Rollup{}, top.Lookup("metric_rollups", "items"))
	compare("known_failure", result.KnownFailure{}, defs.Lookup("test", "properties", "known_failure"))
	compare("repeat", result.Repeat{}, defs.Lookup("test", "properties", "repeat"))
	compare("http", result.HTTPExchange{}, defs.Lookup("exchange", "properties", "http"))
	compare("server_info", result.Info{}, defs.Lookup("server", "properties", "server_info"))
	for name, of := range map[string]any{
		"test": result.Case{}, "assertion": result.Assertion{}, "metric": result.Metric{}, "attempt": result.Attempt{}, "violation": result.Violation{},
		"phase": result.Phase{}, "message": result.Message{}, "exchange": result.Exchange{}, "finding": result.Finding{}, "server": result.Server{},
		"coverage": result.Coverage{}, "server_coverage": result.ServerCoverage{}, "covered": result.Covered{}, "skeleton": result.Skeleton{},
	} {
		compare(name, of, defs.Lookup(name))
	}
}

// TestReadersNotice: the independent readers find fault with damaged reports.
func TestReadersNotice(t *testing.T) {
	dir := consumers(t)
	r := open(t, "failures")
	damage := map[string]func(string) string{
		"json":   func(s string) string { return strings.Replace(s, `"pass"`, `"maybe"`, 1) },
		"ndjson": func(s string) string { return s + "{\n" },
		"junit":  func(s string) string { return strings.Replace(s, "<testcase", "<nocase", 1) },
		"tap":    func(s string) string { return strings.Replace(s, "\nnot ok 2", "\nstray\nnot ok 2", 1) },
		"md":     func(s string) string { return s + "\n[link](https://example.com) <b>\n" },
		"sarif":  func(s string) string { return strings.Replace(s, `"level":"error"`, `"level":"fatal"`, 1) },
		"gitlab": func(s string) string { return strings.Replace(s, `"major"`, `"grave"`, 1) },
		"github": func(s string) string { return strings.Replace(s, ",line=", ",row=", 1) },
		"otlp":   func(s string) string { return strings.Replace(s, `"kind":1`, `"kindd":1`, 1) },
		"html":   func(s string) string { return strings.Replace(s, "</main>", "</man>", 1) },
	}
	var jobs []job
	tmp := t.TempDir()
	for format, spoil := range damage {
		file := filepath.Join(tmp, "damaged."+format)
		good := string(rendered(t, format, r, render.Options{}))
		bad := spoil(good)
		if bad == good {
			t.Fatalf("%s: nothing was damaged", format)
		}
		if err := os.WriteFile(file, []byte(bad), 0o666); err != nil {
			t.Fatal(err)
		}
		jobs = append(jobs, job{format, file, wanted(r, dir)})
	}
	for _, f := range readAll(t, dir, jobs) {
		if len(f.Problems) == 0 {
			t.Errorf("%s: the damage was not noticed", filepath.Base(f.File))
		}
	}
}
