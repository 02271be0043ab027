package aqlcli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/mcpaql/aql"
	"mcptest/internal/mcpaql/aqlcli"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/fixtures"
	"mcptest/internal/mcpaql/rule"
)

// aqlRun is one run of the command line.
type aqlRun struct {
	code     int
	out, err string
}

func runAQL(t *testing.T, stdin string, args ...string) aqlRun {
	t.Helper()
	var out, err bytes.Buffer
	code := aqlcli.Main(args, cmdutil.Streams{In: strings.NewReader(stdin), Out: &out, Err: &err})
	return aqlRun{code, out.String(), err.String()}
}

// wants checks an exit code and that a line of the error output holds each
// of the parts.
func (r aqlRun) wants(t *testing.T, code int, parts ...string) {
	t.Helper()
	if r.code != code {
		t.Errorf("exit code %d, want %d; stderr:\n%s", r.code, code, r.err)
	}
	for _, p := range parts {
		if !strings.Contains(r.err, p) {
			t.Errorf("stderr has no %q:\n%s", p, r.err)
		}
	}
	if strings.Contains(r.err, "goroutine ") {
		t.Errorf("a stack trace:\n%s", r.err)
	}
}

// aqlFixture writes the program's own fixture of a name to a file.
func aqlFixture(t *testing.T, name string) string {
	t.Helper()
	for _, f := range fixtures.LoadAll() {
		if f.Name == name {
			return aqlFile(t, name, string(f.Data))
		}
	}
	t.Fatalf("no fixture is called %s", name)
	return ""
}

func aqlFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// deviations are the lines of the guide's table of differences from the
// prototype, each with what shows it.
var deviations = map[string]func(*testing.T){
	"V1": func(t *testing.T) {
		for _, text := range []string{"", "{", "{} {}", "[]", "42", `"bundle"`, "null", `{"version": NaN}`} {
			runAQL(t, text, "test", "-").wants(t, 3, "(standard input):1:")
		}
		runAQL(t, "", "test", filepath.Join(t.TempDir(), "nowhere.json")).wants(t, 3, "nowhere.json")
		runAQL(t, "", "test", t.TempDir()).wants(t, 3, "folder")
	},
	"V2": func(t *testing.T) {
		runAQL(t, `{"capabilities": true, "error_tests": [{"name": 1, "must_mention": "x"}]}`, "test", "-").
			wants(t, 3, "1:18: error: /capabilities", "/error_tests/0/name", "/error_tests/0/must_mention")
	},
	"V3": func(t *testing.T) {
		runAQL(t, `{"parameter_tests": {"missing_required": [{}, null], "optional_defaults": [{"operation": "o", "parameter": "p"}]}, "semantic_tests": [{}]}`, "test", "-").
			wants(t, 3, `missing key "operation"`, `missing key "parameter"`, "/parameter_tests/missing_required/1", `missing key "expected_value_path"`, `/semantic_tests/0: missing key "name"`)
	},
	"V4": func(t *testing.T) {
		for _, level := range []string{"0", "3", "two", "-1", "1.5", ""} {
			runAQL(t, "{}", "test", "-", "--level", level).wants(t, 3, "--level")
		}
	},
	"V5": func(t *testing.T) {
		runAQL(t, "{}", "test", "-", "--format", "xml", "--tier", "3", "--category", "nope", "--rules", "loose").
			wants(t, 3, "--format: expected one of json, text, markdown", "--tier: expected one of 1, 2, both", "--category: expected one of Introspection Fidelity", "--rules: expected one of reference, strict")
		runAQL(t, "{}", "test", "-", "--format", "JSON", "--tier", "Both", "--category", "error quality", "--rules", "Reference").wants(t, 0)
	},
	"V6": func(t *testing.T) {
		runAQL(t, "", "tset", "b.json").wants(t, 3, `"tset" for "mcpaql-conformance" (did you mean "test"?)`)
		runAQL(t, "").wants(t, 3, "no command")
		for _, c := range []struct{ args, want string }{
			{"second.json", `unexpected argument "second.json"`},
			{"--bogus", "unknown flag: --bogus"},
			{"--levle=2", `did you mean "--level"?`},
			{"--level", "--level needs a value"},
			{"--level --tier 1", "--level needs a value"},
			{"--output -f json", "--output needs a value"},
			{"--tier nope --level", "--tier: expected one of 1, 2, both"}, // what came before, too
			{"--normative=maybe", "--normative: expected true or false"},
		} {
			r := runAQL(t, "{}", append([]string{"test", "-"}, strings.Fields(c.args)...)...)
			r.wants(t, 3, "mcpaql-conformance: ", c.want, "Run 'mcpaql-conformance test --help'")
			if r.out != "" {
				t.Errorf("%s prints %q", c.args, r.out)
			}
		}
		runAQL(t, "", "test").wants(t, 3, "bundle")
	},
	"V7": func(t *testing.T) {
		runAQL(t, "{}", "test", "-", "--output", filepath.Join(t.TempDir(), "no_such_folder", "out.json")).wants(t, 3, "--output", "no_such_folder")
		runAQL(t, "{}", "test", "-", "-o", t.TempDir()).wants(t, 3, "--output")
	},
	"V8": func(t *testing.T) {
		runAQL(t, `{}`, "report", "-").wants(t, 3, `missing key "summary"`, `missing key "categories"`)
		runAQL(t, `{"summary":{"total":0,"passed":0,"warned":0,"failed":0,"skipped":0},"categories":[{"name":"c","result":"PASS"}]}`, "report", "-").
			wants(t, 3, `/categories/0: missing key "tests"`)
	},
	"V9": func(t *testing.T) {
		r := runAQL(t, "\ufeff{}", "test", "-", "--level=2", "--format=json", "-c=Error Quality")
		r.wants(t, 0)
		if !strings.Contains(r.out, `"requestedLevel": 2`) {
			t.Error(r.out)
		}
		if r = runAQL(t, "{}", "test", "-l2", "-fjson", "-"); !strings.Contains(r.out, `"requestedLevel": 2`) {
			t.Error(r.out)
		}
	},
	"V10": func(t *testing.T) {
		dir := t.TempDir()
		for name, text := range map[string]string{"a.json": `{"expected_exit_code": 1}`, "b.json": `{}`, "c.txt": "x"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		r := runAQL(t, "", "verify-fixtures", dir)
		r.wants(t, 1)
		if want := "PASS a.json -> expected 1, got 1\nFAIL b.json -> expected 0, got 1\n"; r.out != want {
			t.Errorf("got %q", r.out)
		}
		runAQL(t, "", "verify-fixtures", t.TempDir()).wants(t, 3, "no *.json bundle")
		if r = runAQL(t, "", "verify-fixtures"); r.code != 0 || strings.Count(r.out, "PASS ") < 180 {
			t.Errorf("exit %d:\n%s", r.code, r.out)
		}
		written := filepath.Join(t.TempDir(), "own")
		runAQL(t, "", "verify-fixtures", "--write", written).wants(t, 0)
		runAQL(t, "", "verify-fixtures", filepath.Join(written, "reference")).wants(t, 0)
		runAQL(t, "", "verify-fixtures", filepath.Join(written, "strict"), "--rules", "strict").wants(t, 0)
	},
	"V11": func(t *testing.T) {
		r := runAQL(t, `{"introspection": {"operation_details": [null]}, "parameter_tests": {"unknown_parameter": [
			{"operation": "o", "parameter": "p", "response": {"success": false, "error": {"message": true}}},
			{"operation": "o", "parameter": "p", "response": {"success": true, "warnings": false}}]}}`, "test", "-")
		r.wants(t, 1)
		if strings.Count(r.out, "  - ") != 13 || !strings.Contains(r.out, "FAIL: Unknown parameters") || !strings.Contains(r.out, "FAIL: Operation detail") {
			t.Error(r.out)
		}
	},
	"V12": func(t *testing.T) {
		r := runAQL(t, `{"round_trip_tests": [
			{"name": "inherited", "expected_fields": {"data.__proto__": {}}, "read_response": {"data": {}}},
			{"name": "own", "expected_fields": {"data.__proto__": {}}, "read_response": {"data": {"__proto__": {}}}}]}`, "test", "-")
		if !strings.Contains(r.out, "inherited") || strings.Contains(r.out, "own: at") {
			t.Error(r.out)
		}
	},
	"V13": func(t *testing.T) {
		v, err := jsonv.Parse([]byte(runAQL(t, "{}", "test", "-", "-f", "json").out))
		if err != nil {
			t.Fatal(err)
		}
		if keys := strings.Join(v.Keys(), " "); !strings.HasSuffix(keys, "exitCode rules achievedLevel complete coverage bundle") {
			t.Error(keys)
		}
	},
	"V14": func(t *testing.T) {
		bundle := `{"semantic_tests": [{"name": "\u001b[2J<b>"}]}`
		if out := runAQL(t, bundle, "test", "-", "-l", "2").out; strings.Contains(out, "\u001b") || !strings.Contains(out, "[2J<b>") {
			t.Errorf("%q", out)
		}
		if out := runAQL(t, bundle, "test", "-", "-l", "2", "-f", "markdown").out; strings.Contains(out, "<b>") || strings.Contains(out, "\u001b") {
			t.Errorf("%q", out)
		}
		if out := runAQL(t, bundle, "test", "-", "-l", "2", "-f", "json").out; !strings.Contains(out, `\u001b[2J<b>`) {
			t.Errorf("%q", out)
		}
	},
	"V15": func(t *testing.T) {
		usage := runAQL(t, "", "help", "test").out
		for _, format := range regexp.MustCompile(`one of (json, text, [^\n]*)`).FindStringSubmatch(usage)[1:] {
			for _, f := range strings.Split(format, ", ") {
				r := runAQL(t, "{}", "test", "-", "-f", f)
				r.wants(t, 1)
				if r.out == "" {
					t.Errorf("%s prints nothing", f)
				}
			}
		}
	},
	"V16": func(t *testing.T) {
		live := `{"x_live": {}}`
		if out := runAQL(t, live, "test", "-", "-f", "json").out; !strings.Contains(out, `"rules": "strict"`) {
			t.Error(out)
		}
		if out := runAQL(t, live, "test", "-", "-f", "json", "--rules", "reference").out; !strings.Contains(out, `"rules": "reference"`) {
			t.Error(out)
		}
	},
}

// Every line of the guide's table has a test, and every test a line.
func TestDeviationsFromThePrototype(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../../../docs/guides/mcpaql.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^\| (V\d+) \|`).FindAllSubmatch(guide, -1) {
		listed[string(m[1])] = true
		if deviations[string(m[1])] == nil {
			t.Errorf("%s has no test", m[1])
		}
	}
	for id, test := range deviations {
		if !listed[id] {
			t.Errorf("%s is not in the guide", id)
		}
		t.Run(id, test)
	}
}

func TestAQLExitCodesAndOutput(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "results.json")
	for name, want := range map[string]int{"level1.json": 0, "level2.json": 0, "semantic-warn.json": 2, "result-error-code.json": 1} {
		r := runAQL(t, "", "test", aqlFixture(t, name), "-l", "2", "-f", "json", "-o", out)
		// The fixture of level 1 has nothing of level 2.
		if name == "level1.json" {
			want = 2
		}
		r.wants(t, want)
		if r.out != "" {
			t.Errorf("%s: prints %q in addition to the file", name, r.out)
		}
		for _, args := range [][]string{{"report", out}, {"report", out, "-f", "markdown"}, {"report", out, "-f", "json"}, {"badge", out}} {
			if r := runAQL(t, "", args...); r.code != 0 || r.out == "" {
				t.Errorf("%v: exit %d, %q", args, r.code, r.err)
			}
		}
	}
	if runtimeMode(t, out)&0o044 == 0 {
		t.Error("a report is not readable for others")
	}
}

func runtimeMode(t *testing.T, name string) os.FileMode {
	t.Helper()
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

func TestAQLFailOnWarn(t *testing.T) {
	t.Parallel()
	b := aqlFixture(t, "completeness-unaccepted.json")
	runAQL(t, "", "test", b).wants(t, 0)
	runAQL(t, "", "test", b, "--fail-on", "warn").wants(t, 2)
	runAQL(t, "", "test", aqlFixture(t, "level1.json"), "--fail-on", "warn").wants(t, 0)
}

func TestAQLBadgeAndDiff(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	good, bad, svg := filepath.Join(dir, "good.json"), filepath.Join(dir, "bad.json"), filepath.Join(dir, "b.svg")
	runAQL(t, "", "test", aqlFixture(t, "level2.json"), "-l", "2", "-f", "json", "-o", good).wants(t, 0)
	runAQL(t, "", "test", aqlFixture(t, "batch-supported.json"), "-l", "2", "-f", "json", "-o", bad).wants(t, 2)
	r := runAQL(t, "", "badge", good, "--svg", svg)
	r.wants(t, 0)
	data, err := os.ReadFile(svg)
	if err != nil || !strings.Contains(string(data), "Level 2") || !strings.Contains(r.out, "MCP-AQL Level 2 Conformant (specification 1.0.0-draft)") {
		t.Errorf("%v\n%s\n%s", err, data, r.out)
	}
	if r := runAQL(t, "", "badge", bad, "--svg", "-"); !strings.HasPrefix(r.out, "<svg") || !strings.Contains(r.out, "Level 1") {
		t.Error(r.out)
	}
	if r := runAQL(t, "", "diff", good, bad); r.code != 1 || !strings.Contains(r.out, "worse") {
		t.Errorf("exit %d: %s", r.code, r.out)
	}
	if r := runAQL(t, "", "diff", bad, good); r.code != 0 || !strings.Contains(r.out, "better") {
		t.Errorf("exit %d: %s", r.code, r.out)
	}
	foreign := `{"summary":{"total":0,"passed":0,"warned":0,"failed":0,"skipped":0},"categories":[]}`
	runAQL(t, foreign, "badge", "-").wants(t, 3, "achievedLevel")
}

func TestAQLHelpAndExplain(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"help"},
		{"-h"},
		{"--help"},
		{"help", "test"},
		{"test", "-h"},
		{"test", "--help"},
		{"report", "--help"},
		{"version"},
		{"--version"},
		{"explain", "Required", "parameters", "are", "enforced"},
		{"explain", "leaks.stack"},
		{"rules"},
	} {
		if r := runAQL(t, "", args...); r.code != 0 || r.out == "" || r.err != "" {
			t.Errorf("%v: exit %d, %q", args, r.code, r.err)
		}
	}
	runAQL(t, "", "explain", "requird").wants(t, 3, `did you mean "required"?`)
	runAQL(t, "", "help", "tests").wants(t, 3, "tests")
	help := runAQL(t, "", "help").out
	for _, name := range []string{"test", "report", "verify-fixtures", "badge", "diff", "explain", "rules", "version", "help"} {
		if !strings.Contains(help, "  "+name+" ") {
			t.Errorf("help does not list %s", name)
		}
		guide, err := os.ReadFile("../../../docs/guides/mcpaql.md")
		if err != nil || !strings.Contains(string(guide), "`"+name) {
			t.Errorf("the guide does not have %s (%v)", name, err)
		}
	}
}

// The bundle printed in the guide is well-formed and passes.
func TestAQLGuideBundle(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../../../docs/guides/mcpaql.md")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile("(?s)<!-- bundle: small -->\n```json\n(.*?)```").FindSubmatch(guide)
	if m == nil {
		t.Fatal("the guide has no small bundle")
	}
	e, ds := evidence.Read(&source.File{Name: "small.json", Data: m[1]})
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	if r := aql.Evaluate(e, aql.Options{Rules: rule.Strict}); r.Summary.Failed > 0 || r.Summary.Warned > 0 {
		t.Errorf("%s", r.FormatText())
	}
}
