package arch_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// maxFile is the maximum size of a committed file: fixtures are small or generated.
const maxFile = 1 << 20

// committed lists the files of the tree as slash paths: those that git tracks, or, in
// an unpacked archive, all files that a build does not create.
func committed(t *testing.T, root string) []string {
	t.Helper()
	// A CI machine often runs as another user than the owner of the clone.
	cmd := exec.Command("git", "-c", "safe.directory=*", "ls-files", "-z")
	cmd.Dir = root
	if out, err := cmd.Output(); err == nil {
		return strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 })
	}
	var names []string
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			switch d.Name() {
			case ".git", "node_modules", "bin", "dist":
				return filepath.SkipDir
			}
			return nil
		}
		rel, err := filepath.Rel(root, p)
		names = append(names, filepath.ToSlash(rel))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

var (
	downloadAddress = regexp.MustCompile(`://`)
	conflictMarker  = regexp.MustCompile(`(?m)^(<{7}|>{7}) `)
)

func TestCommittedText(t *testing.T) {
	t.Parallel()
	root := repoRoot(t)
	places := machinePaths(root)
	for _, name := range committed(t, root) {
		data, err := os.ReadFile(filepath.Join(root, name))
		if os.IsNotExist(err) {
			continue // removed, and not yet committed
		}
		if err != nil {
			t.Errorf("read %s: %v", name, err)
			continue
		}
		if len(data) > maxFile {
			t.Errorf("%s has %d bytes, the limit is %d: make it when it is needed", name, len(data), maxFile)
		}
		for _, p := range places {
			if bytes.Contains(data, []byte(p)) {
				t.Errorf("%s mentions %q, a path of this machine", name, p)
			}
		}
		if strings.HasSuffix(name, "package-lock.json") && downloadAddress.Match(data) {
			t.Errorf("%s holds an address: a lock file pins versions and hashes, and says nothing of where they come from", name)
		}
		if conflictMarker.Match(data) {
			t.Errorf("%s holds a merge conflict", name)
		}
	}
}

// machinePaths are paths of this machine that no file may contain: the checkout, its
// parent folder and the home folder, if they are long enough not to be ordinary text.
func machinePaths(root string) []string {
	out := []string{root + string(filepath.Separator)}
	if up := filepath.Dir(root); len(up) > 1 && up != os.TempDir() {
		out = append(out, up+string(filepath.Separator))
	}
	if home, err := os.UserHomeDir(); err == nil && len(home) > 1 {
		out = append(out, home+string(filepath.Separator))
	}
	return out
}

var (
	mdLink   = regexp.MustCompile(`\]\(([^)#\s]+)(?:#[^)]*)?\)`)
	testLink = regexp.MustCompile(`\[(Test\w+)\]\(([^)\s]+_test\.go)\)`)
)

// TestLinksLeadSomewhere checks the relative links of every committed page.
func TestLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	root := repoRoot(t)
	for _, name := range committed(t, root) {
		if !strings.HasSuffix(name, ".md") || strings.Contains(name, "testdata/") {
			continue
		}
		data, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			continue // removed, and not yet committed
		}
		for _, m := range mdLink.FindAllSubmatch(data, -1) {
			to := string(m[1])
			if strings.Contains(to, ":") {
				continue // another site
			}
			if _, err := os.Stat(filepath.Join(root, filepath.Dir(name), to)); err != nil {
				t.Errorf("%s links to %s, which is not there", name, to)
			}
		}
	}
}

// TestNamedTestsExist checks the pages that link to tests: the linked file must
// declare the named function.
func TestNamedTestsExist(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(repoRoot(t), "docs", "spec")
	page, err := os.ReadFile(filepath.Join(dir, "requirements.md"))
	if err != nil {
		t.Fatal(err)
	}
	links := testLink.FindAllStringSubmatch(string(page), -1)
	if len(links) < 30 {
		t.Fatalf("requirements.md names only %d Go tests", len(links))
	}
	for _, link := range links {
		code, err := os.ReadFile(filepath.Join(dir, link[2]))
		if err != nil {
			t.Error(err)
			continue
		}
		if !strings.Contains(string(code), "func "+link[1]+"(") {
			t.Errorf("requirements.md names %s, which %s does not declare", link[1], link[2])
		}
	}
	for test, table := range map[string]string{"TestDefectsFlipTheirRows": "docs/reference/mcpaql-defects.md", "TestFixtureFlipsExactlyItsRow": "internal/mcpaql/fixtures/changes.json"} {
		data, err := os.ReadFile(filepath.Join(repoRoot(t), table))
		if err != nil {
			t.Fatal(err)
		}
		named := regexp.MustCompile(`\[`+test+`\]\([^)]+\): ([^;|]+)`).FindAllStringSubmatch(string(page), -1)
		if len(named) < 10 {
			t.Errorf("requirements.md names cases of %s only %d times", test, len(named))
		}
		for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(fmt.Sprint(named), -1) {
			if !bytes.Contains(data, []byte("| `"+name[1]+"` |")) && !bytes.Contains(data, []byte(`"rule": "`+name[1]+`"`)) {
				t.Errorf("%s has no case %s, which requirements.md names", test, name[1])
			}
		}
	}
}

// TestIndexListsEveryPage: docs/README.md links every page, and the index of
// decision records every record.
func TestIndexListsEveryPage(t *testing.T) {
	t.Parallel()
	root := repoRoot(t)
	for _, index := range []string{"docs/README.md", "docs/adr/README.md"} {
		data, err := os.ReadFile(filepath.Join(root, index))
		if err != nil {
			t.Fatal(err)
		}
		listed := map[string]bool{index: true}
		for _, m := range mdLink.FindAllSubmatch(data, -1) {
			listed[path.Join(path.Dir(index), string(m[1]))] = true
		}
		for _, name := range committed(t, root) {
			record := strings.HasPrefix(name, "docs/adr/0")
			if strings.HasPrefix(name, path.Dir(index)+"/") && strings.HasSuffix(name, ".md") && !listed[name] && record == (index == "docs/adr/README.md") {
				t.Errorf("%s does not link %s", index, name)
			}
		}
	}
}
