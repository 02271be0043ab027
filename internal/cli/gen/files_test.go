package gen_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcptest/internal/cli/cmdutil"

	"github.com/google/go-cmp/cmp"

	"mcptest/internal/cli"
	"mcptest/internal/cli/gen"
	"mcptest/internal/mcpaql/aqlcli"
)

var update = flag.Bool("update", false, "write the generated files")

// programs are the command lines that the reference describes.
func programs() []cmdutil.Program { return []cmdutil.Program{cli.Program(), aqlcli.DescribeProgram()} }

// TestGeneratedFiles fails when a committed file is not what the code says;
// with -update it writes them.
func TestGeneratedFiles(t *testing.T) {
	mock, err := gen.MockSchema()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range gen.Files(schemaDoc(t), gen.Facts{Programs: programs(), Mock: mock}) {
		path := filepath.Join("..", "..", "..", filepath.FromSlash(f.Path))
		if *update {
			if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
				t.Fatal(err)
			}
			if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, f.Data) {
				continue
			}
			if err := os.WriteFile(path, f.Data, 0o666); err != nil {
				t.Fatal(err)
			}
			continue
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Errorf("%s is not there: make generate", f.Path)
			continue
		}
		if diff := cmp.Diff(strings.ReplaceAll(string(got), "\r\n", "\n"), string(f.Data)); diff != "" {
			t.Errorf("%s is out of date: make generate\n%s", f.Path, diff)
		}
	}
}
