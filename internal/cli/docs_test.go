package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var yamlBlock = regexp.MustCompile("(?s)```yaml\n(.*?)```")

// Every suite in the pages about hooks and fixtures loads without a mistake,
// and every script they point at exists and is run.
func TestSuitesInDocs(t *testing.T) {
	docs := filepath.Join("..", "..", "docs")
	for _, page := range []string{
		"spec/hooks.md", "spec/fixtures.md", "spec/order.md",
		"guides/fixtures.md", "guides/test-isolation.md", "guides/containers.md", "guides/mock.md",
	} {
		t.Run(page, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(docs, page))
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			for i, m := range yamlBlock.FindAllStringSubmatch(string(text), -1) {
				if !strings.Contains("\n"+m[1], "\nservers:") {
					continue
				}
				name := "block" + strconv.Itoa(i) + ".yml"
				if err := os.WriteFile(filepath.Join(dir, name), []byte(m[1]), 0o600); err != nil {
					t.Fatal(err)
				}
				cmd := exec.Command("mcptest", "validate", name)
				cmd.Dir = dir
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("%v\n%s", err, out)
				}
			}
			for _, link := range regexp.MustCompile(`\]\(([^)#]+)`).FindAllStringSubmatch(string(text), -1) {
				if _, err := os.Stat(filepath.Join(docs, filepath.Dir(page), link[1])); err != nil {
					t.Errorf("a link leads nowhere: %v", err)
				}
			}
		})
	}
}
