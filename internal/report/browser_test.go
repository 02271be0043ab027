package report_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mcptest/internal/report/render"
	"mcptest/internal/report/result"
)

// chromium finds a browser. Only `make browser` starts one, because it takes
// longer than all other tests of reports together.
func chromium(t *testing.T) string {
	t.Helper()
	if os.Getenv("MCPTEST_REQUIRE_BROWSER") == "" {
		t.Skip("starts a browser: make browser")
	}
	for _, name := range []string{os.Getenv("CHROMIUM"), "chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); name != "" && err == nil {
			return path
		}
	}
	t.Fatal("no Chromium is installed, so the HTML report was not opened in a browser (apt-get install chromium, or set CHROMIUM to one)")
	return ""
}

// TestHTMLInABrowser opens the page of every recorded run, and one of 5,000 tests, in
// Chromium: hostile text is inactive, nothing is requested, search, filters, links, copying
// and the keyboard work, the page is readable without JavaScript, and axe finds nothing in
// either theme. MCPTEST_SCREENSHOTS names a folder for screenshots.
func TestHTMLInABrowser(t *testing.T) {
	path, dir := chromium(t), consumers(t)
	type onePage struct {
		Name    string `json:"name"`
		File    string `json:"file"`
		Tests   int    `json:"tests"`
		Failed  int    `json:"failed"`
		Audit   bool   `json:"audit"`
		LimitMS int    `json:"limitMs,omitempty"`
		ClickMS int    `json:"clickMs,omitempty"`
	}
	job := struct {
		Chromium string    `json:"chromium"`
		Pages    []onePage `json:"pages"`
		Shots    string    `json:"shots,omitempty"`
	}{Chromium: path, Shots: os.Getenv("MCPTEST_SCREENSHOTS")}
	tmp := t.TempDir()
	add := func(name string, r *result.Run, limit int) {
		file := filepath.Join(tmp, name+".html")
		if err := os.WriteFile(file, rendered(t, "html", r, render.Options{}), 0o666); err != nil {
			t.Fatal(err)
		}
		job.Pages = append(job.Pages, onePage{name, file, r.Summary.Total, r.Summary.Failed, strings.Contains("failures parallel http setup charts agents", name), limit, limit * 3 / 10})
	}
	for _, name := range names() {
		add(name, open(t, name), 0)
	}
	add("charts", many(t, 40), 0)
	add("big", many(t, 5000), 1000)
	in, err := json.Marshal(job)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", "browser.mjs")
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(in)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	var found []struct {
		Name     string   `json:"name"`
		Problems []string `json:"problems"`
		MS       float64  `json:"ms"`
		Clicks   string   `json:"clicks"`
	}
	if err := json.Unmarshal(out, &found); err != nil {
		t.Fatal(err)
	}
	if len(found) != len(job.Pages) {
		t.Fatalf("%d of %d pages were opened", len(found), len(job.Pages))
	}
	for _, f := range found {
		t.Logf("%-12s opened in %.0f ms %s", f.Name, f.MS, f.Clicks)
		for _, p := range f.Problems {
			t.Errorf("%s: %s", f.Name, p)
		}
	}
}
