package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mcptest/internal/base/testkit"
)

// roughSuite has servers that never answer, and that write what is no message.
const roughSuite = `
default_server: c
servers:
  c: {command: [counting, log]}
  mute: {command: [counting, log, mute]}
  junk: {command: [sh, -c, "printf '\\000\\377\\376{{{garbage'; exit 5"]}
`

// TestUIInABrowser drives the page in a real Chromium by accessible names: connect, call,
// keep, answer by hand; violations, hostile servers, narrow screens, the keyboard, a flood.
// MCPTEST_SCREENSHOTS names a folder for screenshots, MCPTEST_FLOWS selects flows.
func TestUIInABrowser(t *testing.T) {
	if os.Getenv("MCPTEST_REQUIRE_BROWSER") == "" {
		t.Skip("starts a browser: make browser")
	}
	consumers, err := filepath.Abs("../../testdata/consumers")
	if err != nil {
		t.Fatal(err)
	}
	everything, err := filepath.Abs("../../testdata/servers/node_modules/@modelcontextprotocol/server-everything/dist/index.js")
	if err != nil {
		t.Fatal(err)
	}
	type flow struct {
		Name    string `json:"name"`
		Address string `json:"address"`
	}
	job := struct {
		Chromium string `json:"chromium"`
		Shots    string `json:"shots"`
		Flows    []flow `json:"flows"`
	}{Chromium: installedChromium(t), Shots: os.Getenv("MCPTEST_SCREENSHOTS")}
	var attacked []*explored
	var rough *explored
	for _, name := range []string{"tokenless", "sum", "counting", "narrow", "keyboard", "load", "attack", "rebinding", "rough", "cassette", "tests", "also", "clicked", "hostile", "login", "picture"} {
		if only := os.Getenv("MCPTEST_FLOWS"); only != "" && !strings.Contains(only, name) {
			continue
		}
		args := []string{"--", "node", everything, "stdio"}
		counted := name != "sum" && name != "keyboard" && name != "narrow" && name != "also"
		if counted {
			args = nil
		}
		if name == "cassette" {
			args = []string{"--cassette", faultyCassette(t)}
		}
		e := explore(t, args...)
		if name == "picture" || name == "clicked" {
			e = exploreFiles(t, picturedFiles(t))
		}
		if name == "hostile" {
			e = exploreFiles(t, map[string]string{"mcptest.yaml": "default_server: h\nservers: {h: {command: [counting, log, hostile]}, " +
				"o: {url: \"" + hostileProvider(t) + "/mcp\", auth: {oauth: {grant: authorization_code, headless: true}}}}\n"})
		}
		if name == "login" {
			srv := newOAuthServer().start()
			t.Cleanup(srv.Close)
			e = exploreFiles(t, map[string]string{"mcptest.yaml": loginSuite(srv.URL)})
		}
		if name == "tests" {
			e.write("mcptest.yaml", testedSuite)
		}
		if name == "rough" { // the page reads the suite again
			e.write("mcptest.yaml", roughSuite)
			rough = e
		}
		if name == "attack" || name == "rebinding" {
			attacked = append(attacked, e)
		}
		job.Flows = append(job.Flows, flow{name, "http://" + e.host + "/#token=" + e.token})
	}
	in, err := json.Marshal(job)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", "ui.mjs")
	cmd.Dir, cmd.Stdin = consumers, bytes.NewReader(in)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	var found []struct {
		Name     string          `json:"name"`
		Problems []string        `json:"problems"`
		Facts    json.RawMessage `json:"facts"`
	}
	if err := json.Unmarshal(out, &found); err != nil {
		t.Fatal(err)
	}
	if len(found) != len(job.Flows) {
		t.Fatalf("%d of %d flows were tried", len(found), len(job.Flows))
	}
	for _, e := range attacked {
		if e.read("log") != "" || e.read("mcptest.yaml") != countingSuite {
			t.Errorf("an attacker started, called or wrote something: %s", e.read("log"))
		}
	}
	if rough != nil && rough.count("call slow") != 1 {
		t.Errorf("a reload during a call: %s", rough.read("log"))
	}
	for _, f := range found {
		if f.Name == "picture" && len(f.Problems) == 0 {
			comparePicture(t, f.Facts, job.Shots)
		}
		t.Logf("%-10s %s", f.Name, f.Facts)
		for _, p := range f.Problems {
			t.Errorf("%s: %s", f.Name, p)
		}
	}
}

// picturedFiles are the suite of the pictures and its server.
func picturedFiles(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, name := range []string{"calendar-2.yaml", "mcptest.yaml"} {
		data, err := os.ReadFile(filepath.Join("../../docs/pictures", name))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(data)
	}
	return files
}

// comparePicture compares what the page shows with the picture of the guide; with
// MCPTEST_PICTURES it replaces the picture.
func comparePicture(t *testing.T, facts json.RawMessage, shots string) {
	t.Helper()
	var seen struct{ Text string }
	if err := json.Unmarshal(facts, &seen); err != nil {
		t.Fatal(err)
	}
	text := strings.TrimSpace(varying.ReplaceAllString(seen.Text, "~")) + "\n"
	const file = "../../docs/pictures/ui.txt"
	if os.Getenv("MCPTEST_PICTURES") != "" {
		shot, err := os.ReadFile(filepath.Join(shots, "ui.png"))
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(os.WriteFile("../../docs/pictures/ui.png", shot, 0o644), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	was, _ := os.ReadFile(file)
	testkit.Equal(t, "the text of docs/pictures/ui.png (make pictures)", text, string(was))
}

// TestPageTypesInABrowser checks the modules of the page with the TypeScript compiler.
func TestPageTypesInABrowser(t *testing.T) {
	if os.Getenv("MCPTEST_REQUIRE_BROWSER") == "" {
		t.Skip("needs npm packages: make browser")
	}
	cmd := exec.Command("node", "../../testdata/consumers/node_modules/typescript/bin/tsc", "-p", "../ui/page/jsconfig.json")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// installedChromium finds a browser.
func installedChromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{os.Getenv("CHROMIUM"), "chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); name != "" && err == nil {
			return path
		}
	}
	t.Fatal("no Chromium is installed, so the page was not opened in a browser (apt-get install chromium, or set CHROMIUM to one)")
	return ""
}
