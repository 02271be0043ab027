package cli_test

import (
	"bytes"
	_ "embed"
	"os"
	"strings"
	"testing"

	"mcptest/internal/cli"
	"mcptest/internal/cli/cmdutil"
)

//go:embed testdata/wrong_suites.txt
var wrongSuites string

// Suites as people write them who come from promptfoo, Vitest, Jest, pytest, Playwright and the
// configuration of the Inspector: each gets a message with its line, and what to write. The
// message follows the suite after =>.
func TestWrongSuitesAreAnswered(t *testing.T) {
	t.Chdir(t.TempDir())
	all := strings.Split(strings.TrimSpace(wrongSuites), "\n---\n")
	const least = 75
	if len(all) < least {
		t.Fatalf("%d suites, at least %d are wanted", len(all), least)
	}
	for _, one := range all {
		text, want, _ := strings.Cut(one, "\n=> ")
		if err := os.WriteFile("suite.yaml", []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		var out, errs bytes.Buffer
		code := cli.Main([]string{"validate", "suite.yaml"}, cmdutil.Streams{In: strings.NewReader(""), Out: &out, Err: &errs, Env: os.Environ()})
		warned := strings.Contains(errs.String(), "warning:")
		if code == 0 && !warned || !strings.Contains(errs.String(), want) || !strings.Contains(errs.String(), "suite.yaml:") {
			t.Errorf("%s\nexit %d: %s\nwant: %s", text, code, errs.String(), want)
		}
	}
}
