package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestGuidesFromPackages runs the lines of the guides about installing, CI and test
// runners with nothing but the packages, in empty folders. A line that the test does not
// know is an error, and so is one that the test knows and the guide no longer has.
func TestGuidesFromPackages(t *testing.T) {
	root := slowTest(t)
	out := t.TempDir()
	if err := run([]string{"-version", "0.0.0-dev", "-out", filepath.Join(out, "dist", "packages")}); err != nil {
		t.Fatal(err)
	}
	t.Run("README", func(t *testing.T) {
		g := openGuide(t, filepath.Join(root, "README.md"))
		dir := newFolder(t, out)
		g.sh(dir, 0, g.line("npm install dist/packages/*.tgz"))
		g.sh(dir, 0, "npx --no-install mcptest --version")
		g.sh(dir, 0, "python3 -m venv env && . env/bin/activate && "+g.line("pip install dist/packages/*.whl")+" --no-index && mcptest --version")
	})
	t.Run("first suite", func(t *testing.T) {
		g := openGuide(t, filepath.Join(root, "docs", "guides", "first-suite.md"))
		dir := newFolder(t, out)
		g.sh(dir, 0, local(g.line("npm install mcptest")))
		g.sh(dir, 0, g.line("npx mcptest init -- npx -y @modelcontextprotocol/server-everything"))
		text := g.sh(dir, 0, g.line("npx mcptest run"))
		counts := regexp.MustCompile(`The run passes: (\d+) tests, and (\d+) skipped`).FindStringSubmatch(g.text)
		if counts == nil || !strings.Contains(text, counts[1]+" passed, "+counts[2]+" skipped of") {
			t.Errorf("the guide says %v, and it is\n%s", counts, text)
		}
	})
	t.Run("Vitest", func(t *testing.T) {
		g := openGuide(t, filepath.Join(root, "docs", "guides", "test-runners.md"))
		dir := newFolder(t, out)
		put(t, filepath.Join(dir, "suite.yaml"), sums)
		put(t, filepath.Join(dir, "server.test.mjs"), g.block("js"))
		// Vitest 4 with its default version of vite needs a newer Node.js than CI has.
		install := g.line("npm install --save-dev CHECKOUT/dist/packages/*.tgz vitest")
		g.sh(dir, 0, strings.Replace(install, "CHECKOUT/", "", 1)+"@4 vite@7")
		shows(t, dir, 0, []string{"1 passed | 1 skipped (2)"}, "sh", "-ec", "NO_COLOR=1 npx --no-install "+g.line(`vitest run -t "adds numbers"`))
		g.none("js", "sh pytest tests/api.mcptest.yaml", "ini [pytest]")
	})
	t.Run("pytest", func(t *testing.T) {
		python := withPytest(t)
		g := openGuide(t, filepath.Join(root, "docs", "guides", "test-runners.md"))
		dir := newFolder(t, out)
		g.line("pip install CHECKOUT/dist/packages/*.whl pytest") // pytest is that of the system
		g.sh(dir, 0, "python3 -m pip install --quiet --no-index --disable-pip-version-check --target site dist/packages/*.whl")
		put(t, filepath.Join(dir, "tests", "api.mcptest.yaml"), sums)
		put(t, filepath.Join(dir, "pytest.ini"), g.block("ini"))
		command := strings.Replace(g.block("sh"), "pytest", python+" -m pytest", 1)
		shows(t, dir, 0, []string{"1 passed, 1 deselected"}, "sh", "-ec", "PYTHONPATH=$PWD/site "+command)
	})
	t.Run("CI", func(t *testing.T) { ciGuide(t, root, out) })
}

// sums has two tests, which need the variable that the guides of test runners set.
const sums = `
variables: {port: 1}
servers: {echo: {command: [mcptest, mock, --preset, echo]}}
tools:
  - {name: adds numbers, tool: add, args: {a: "${port}", b: 0}, expect: [{target: structured.sum, matcher: {exact: 8080}}]}
  - {name: echoes, tool: echo, args: {message: a}, expect: [{target: text, matcher: {exact: a}}]}
`

// ciGuide runs the commands of the guide about CI with the program of the npm package.
func ciGuide(t *testing.T, root, out string) {
	g := openGuide(t, filepath.Join(root, "docs", "guides", "ci.md"))
	dir := newFolder(t, out)
	g.sh(dir, 0, local("npm install mcptest"))
	put(t, filepath.Join(dir, "mcptest.yaml"), sums)
	t.Setenv("PATH", filepath.Join(dir, "node_modules", ".bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("CI", "true")
	g.sh(dir, 1, "mcptest run")
	put(t, filepath.Join(dir, "mcptest.yaml"), strings.ReplaceAll(sums, "exact: 8080", "exact: 1"))

	summary := filepath.Join(dir, "summary.md")
	t.Setenv("GITHUB_STEP_SUMMARY", summary)
	g.sh(dir, 0, g.line("mcptest run --reporter github"))
	if text, err := os.ReadFile(summary); err != nil || !strings.Contains(string(text), "adds numbers") {
		t.Errorf("the summary: %v\n%s", err, text)
	}
	gitlab := g.line("mcptest run --reporter junit=junit.xml --reporter gitlab=quality.json --reporter html=report.html")
	g.sh(dir, 0, gitlab)
	for _, name := range []string{"junit.xml", "quality.json", "report.html"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 || !strings.Contains(g.text, ": "+name) && !strings.Contains(g.text, "["+name+"]") {
			t.Errorf("%s: %v", name, err)
		}
	}

	var traces string
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		traces = r.URL.Path + " " + r.Header.Get("Content-Type") + " " + string(body)
	}))
	defer collector.Close()
	g.sh(dir, 0, "mcptest run -q --reporter json=run.json --reporter json=main.json")
	g.sh(dir, 0, strings.Replace(g.line("mcptest report run.json --format otlp | curl"), "http://localhost:4318", collector.URL, 1))
	if !strings.HasPrefix(traces, "/v1/traces application/json {") || !strings.Contains(traces, "adds numbers") {
		t.Errorf("the collector got %.300s", traces)
	}

	compare := g.line("mcptest run --reporter json=branch.json || true") + "\n" + g.line("mcptest compare main.json branch.json")
	g.sh(dir, 0, compare)
	put(t, filepath.Join(dir, "mcptest.yaml"), sums)
	g.sh(dir, 1, compare)
	// action_test.go and component_test.go run the steps of these two.
	g.none("yaml permissions:", "yaml include:", "yaml mcptest:", "sh mcptest report", "sh mcptest run --reporter json=branch.json")
}

// guide is a page whose lines are run.
type guide struct {
	t    *testing.T
	text string
}

func openGuide(t *testing.T, path string) *guide {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return &guide{t, string(text)}
}

// line returns the command of the page that begins like this: a line of a block, or code
// in a text.
func (g *guide) line(start string) string {
	g.t.Helper()
	m := regexp.MustCompile("(?m)(?:^|`|^ *- )(" + regexp.QuoteMeta(start) + "[^`\n]*)").FindStringSubmatch(g.text)
	if m == nil {
		g.t.Fatalf("the guide has no line %s", start)
	}
	return m[1]
}

// blocks returns all blocks of the page: the language, a space and the text.
func (g *guide) blocks() (all []string) {
	for _, m := range regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```$").FindAllStringSubmatch(g.text, -1) {
		all = append(all, m[1]+" "+m[2])
	}
	return all
}

// block returns the first block in a language.
func (g *guide) block(lang string) string {
	g.t.Helper()
	for _, b := range g.blocks() {
		if text, ok := strings.CutPrefix(b, lang+" "); ok {
			return text
		}
	}
	g.t.Fatalf("the guide has no block in %s", lang)
	return ""
}

// none fails if the page has other blocks than those that begin like one of these.
func (g *guide) none(but ...string) {
	g.t.Helper()
	for _, b := range g.blocks() {
		if !slices.ContainsFunc(but, func(start string) bool { return strings.HasPrefix(b, start) }) {
			g.t.Errorf("no test runs this block of the guide:\n%s", b)
		}
	}
}

func (g *guide) sh(dir string, want int, script string) string {
	g.t.Helper()
	return command(g.t, dir, want, "sh", "-ec", script)
}

// newFolder is empty, but for the packages and npm's settings.
func newFolder(t *testing.T, packages string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "dist"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(packages, "dist", "packages"), filepath.Join(dir, "dist", "packages")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// local installs mcptest from its files in place of the registry.
func local(line string) string {
	p, err := platformOf(runtime.GOOS, runtime.GOARCH)
	if err != nil {
		return err.Error()
	}
	at := "./dist/packages/mcptest-"
	return strings.Replace(line, " mcptest", " --no-audit --no-fund --loglevel=error "+at+"0.0.0-dev.tgz "+at+p.os+"-"+p.cpu+"-0.0.0-dev.tgz", 1)
}
