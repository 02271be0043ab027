package gen_test

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// TestLLMs: the one text for language models has the guide for coding agents and every
// page for users, each once, without the comments for tests.
func TestLLMs(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("it is made by a shell script")
	}
	root := filepath.Join("..", "..", "..")
	out, err := exec.Command(filepath.Join(root, "tools", "llms")).Output()
	if err != nil {
		t.Fatal(err)
	}
	text := string(out)
	pages := []string{filepath.Join(root, "internal", "cli", "skill", "SKILL.md")}
	for _, dir := range []string{"tutorial", "guides", "spec", "reference"} {
		found, err := filepath.Glob(filepath.Join(root, "docs", dir, "*.md"))
		if err != nil || len(found) == 0 {
			t.Fatalf("docs/%s: %v", dir, err)
		}
		pages = append(pages, found...)
	}
	for _, page := range pages {
		rel, _ := filepath.Rel(root, page)
		title := regexpTitle.FindString(string(read(t, page)))
		if n := strings.Count(text, "\n<!-- page "+filepath.ToSlash(rel)+" -->\n"); n != 1 || !strings.Contains(text, "\n"+title+"\n") {
			t.Errorf("%s is in it %d times: docs/README.md is the list of pages", rel, n)
		}
	}
	if n := strings.Count(text, "\n<!-- page "); n != len(pages) {
		t.Errorf("it has %d pages, and there are %d for users", n, len(pages))
	}
	if !strings.HasPrefix(text, "# mcptest\n\n> ") || strings.Contains(text, "<!-- test: ") {
		t.Error("it does not begin with its title and its purpose, or has comments for tests")
	}
}

var regexpTitle = regexp.MustCompile(`(?m)^# .*$`)
