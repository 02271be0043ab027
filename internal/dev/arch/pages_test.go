package arch_test

import (
	"fmt"
	"go/doc"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// packagesPage is generated from the doc.go of all packages.
const packagesPage = "docs/packages.md"

// TestPackagesPage: the page of the packages says what their doc.go say. With -update it is
// written anew.
func TestPackagesPage(t *testing.T) {
	t.Parallel()
	name := filepath.Join(repoRoot(t), packagesPage)
	want := packagesText(t)
	if *update {
		if err := os.WriteFile(name, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is not what the doc.go of the packages say: go test ./internal/dev/arch -update writes it", packagesPage)
	}
}

// packagesText builds the page: a table for each room.
func packagesText(t *testing.T) string {
	t.Helper()
	summaries := summariesOf(loadTree(t))
	var b strings.Builder
	b.WriteString("# Packages\n\nGenerated from the `doc.go` of the packages below `internal`. Their rooms are explained in\n")
	b.WriteString("[ARCHITECTURE](../ARCHITECTURE.md#rooms); `go doc ./internal/NAME` prints the whole text.\n")
	for _, name := range roomOrder() {
		fmt.Fprintf(&b, "\n## %s\n\n%s.\n\n| Package | Purpose |\n|---|---|\n", name, rooms[name].purpose)
		for _, p := range packages(loadTree(t)) {
			if roomOf(p) != name {
				continue
			}
			if summaries[p] == "" {
				t.Errorf("%s has no sentence on its purpose in doc.go", p)
			}
			fmt.Fprintf(&b, "| `%s` | %s |\n", strings.TrimPrefix(p, "internal/"), summaries[p])
		}
	}
	return b.String()
}

// summariesOf returns the first sentence of the doc.go of each package, without the words
// "Package name".
func summariesOf(files []goFile) map[string]string {
	out := map[string]string{}
	for _, f := range files {
		if f.syntax.Doc == nil || filepath.Base(f.rel) != "doc.go" {
			continue
		}
		text := strings.Join(strings.Fields(f.syntax.Doc.Text()), " ")
		sentence := new(doc.Package).Synopsis(text)
		sentence = strings.TrimPrefix(sentence, "Package "+f.syntax.Name.Name+" ")
		out[f.pkg] = strings.ReplaceAll(sentence, "|", `\|`)
	}
	return out
}

// roomOrder returns the rooms, each after those that it imports. TestRoomsHaveNoCycle makes
// sure that there is such an order.
func roomOrder() []string {
	var order []string
	for range rooms { // each round adds at least one
		for _, name := range sortedRooms() {
			if !slices.Contains(order, name) && importsOnly(rooms[name], order) {
				order = append(order, name)
			}
		}
	}
	return order
}

func sortedRooms() []string {
	names := make([]string, 0, len(rooms))
	for name := range rooms {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// importsOnly reports whether a room imports no room but those of a list.
func importsOnly(r room, allowed []string) bool {
	for _, other := range r.imports {
		top, _, _ := strings.Cut(other, "/")
		if _, isRoom := rooms[top]; isRoom && !slices.Contains(allowed, top) {
			return false
		}
	}
	return true
}

// changingPath matches the paths that docs/changing.md names.
var changingPath = regexp.MustCompile("`((?:[a-z_]+/)+[a-z_0-9.]*)`")

// TestChangingPageNamesFiles: the files and folders that docs/changing.md names exist.
func TestChangingPageNamesFiles(t *testing.T) {
	t.Parallel()
	root := repoRoot(t)
	page, err := os.ReadFile(filepath.Join(root, "docs/changing.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := changingPath.FindAllSubmatch(page, -1)
	if len(found) < 50 {
		t.Fatalf("only %d paths: is the expression right?", len(found))
	}
	for _, m := range found {
		path := string(m[1])
		_, inside := os.Stat(filepath.Join(root, "internal", path))
		_, outside := os.Stat(filepath.Join(root, path))
		if inside != nil && outside != nil {
			t.Errorf("docs/changing.md names %s, which is not there", path)
		}
	}
}
