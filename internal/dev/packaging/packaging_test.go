package main

import (
	"archive/zip"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPythonVersion(t *testing.T) {
	for semver, want := range map[string]string{
		"1.2.3":                "1.2.3",
		"1.2.3-rc.4":           "1.2.3rc4",
		"1.2.3-alpha1":         "1.2.3a1",
		"1.2.3-beta.2":         "1.2.3b2",
		"0.0.1-dev":            "0.0.1.dev0",
		"0.0.1-SNAPSHOT-4f2c6": "0.0.1.dev0",
	} {
		if got := pythonVersion(semver); got != want {
			t.Errorf("%s: got %s, want %s", semver, got, want)
		}
	}
}

// fakeDist is a folder as goreleaser leaves it, with a text as each program.
func fakeDist(t *testing.T) string {
	t.Helper()
	dist := filepath.Join(t.TempDir(), "dist")
	var artifacts []map[string]any
	var sums strings.Builder
	for _, p := range platforms {
		for _, id := range []string{"mcptest", "mcpaql-conformance"} {
			path := filepath.Join(id+"_"+p.goos+"_"+p.goarch, p.program())
			put(t, filepath.Join(dist, path), id+" for "+p.goos+"/"+p.goarch)
			artifacts = append(artifacts, map[string]any{
				"path": filepath.Join("dist", path), "goos": p.goos, "goarch": p.goarch, "type": "Binary", "extra": map[string]any{"ID": id},
			})
		}
		sums.WriteString(p.goos + "-" + p.goarch + "  mcptest_1.2.3_" + p.goos + "_" + p.goarch + ".tar.gz\n")
	}
	text, err := json.Marshal(artifacts)
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dist, "artifacts.json"), string(text))
	put(t, filepath.Join(dist, "metadata.json"), `{"version": "1.2.3"}`)
	put(t, filepath.Join(dist, "checksums.txt"), sums.String())
	return dist
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestPackagesOfARelease(t *testing.T) {
	t.Chdir("../../..")
	dist := fakeDist(t)
	first, second := t.TempDir(), t.TempDir()
	old := filepath.Join(second, "mcptest-linux-x64-0.0.0-dev.tgz")
	put(t, old, "of an earlier build")
	for _, out := range []string{first, second} {
		if err := run([]string{"-dist", dist, "-out", out, "-release-url", "https://host.test/v1.2.3"}); err != nil {
			t.Fatal(err)
		}
	}
	sums, err := os.ReadFile(filepath.Join(first, "checksums.txt"))
	if err != nil {
		t.Fatal(err)
	}
	// Seven npm packages, six wheels and the formula.
	if n := strings.Count(string(sums), "\n"); n != 14 {
		t.Errorf("%d packages:\n%s", n, sums)
	}
	again, err := os.ReadFile(filepath.Join(second, "checksums.txt"))
	if err != nil || string(again) != string(sums) {
		t.Errorf("the same programs gave other packages: %v\n%s\n%s", err, sums, again)
	}

	if _, err := os.Stat(old); !os.IsNotExist(err) {
		t.Errorf("the package of an earlier build is still there: %v", err)
	}

	wheel, err := zip.OpenReader(filepath.Join(first, "mcptest-1.2.3-py3-none-win_arm64.whl"))
	if err != nil {
		t.Fatal(err)
	}
	defer wheel.Close()
	program, err := fs.ReadFile(wheel, "mcptest-1.2.3.data/scripts/mcptest.exe")
	if err != nil || string(program) != "mcptest for windows/arm64" {
		t.Errorf("the program in the wheel: %v %s", err, program)
	}

	ruby, err := os.ReadFile(filepath.Join(first, "mcptest.rb"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"https://host.test/v1.2.3/mcptest_1.2.3_darwin_arm64.tar.gz\"\n      sha256 \"darwin-arm64\"",
		"https://host.test/v1.2.3/mcptest_1.2.3_linux_amd64.tar.gz\"\n      sha256 \"linux-amd64\"",
	} {
		if !strings.Contains(string(ruby), want) {
			t.Errorf("the formula lacks %s:\n%s", want, ruby)
		}
	}
}

func TestIncompleteReleaseIsRefused(t *testing.T) {
	t.Chdir("../../..")
	dist := fakeDist(t)
	put(t, filepath.Join(dist, "artifacts.json"), "[]")
	if err := run([]string{"-dist", dist, "-out", t.TempDir()}); err == nil || !strings.Contains(err.Error(), "0 platforms, expected 6") {
		t.Errorf("without programs: %v", err)
	}
}

func TestSBOMNamesEveryModule(t *testing.T) {
	out := filepath.Join(t.TempDir(), "sbom.json")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := run([]string{"-sbom", self, "-out", out}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Components []component
		Metadata   struct{ Component component }
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Components) == 0 || !strings.HasPrefix(doc.Components[0].PURL, "pkg:golang/stdlib@1.") {
		t.Errorf("the standard library is missing: %s", text)
	}
	if h := doc.Metadata.Component.Hashes; len(h) != 1 || len(h[0].Content) != 64 {
		t.Errorf("hashes of the program: %v", h)
	}
}
