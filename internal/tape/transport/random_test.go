package transport_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"mcptest/internal/base/secret"
	"mcptest/internal/client/wire"
	"mcptest/internal/process/proc"
	"mcptest/internal/process/tail"
	"mcptest/internal/report/result"
	"mcptest/internal/run"
	"mcptest/internal/run/connect"
	"mcptest/internal/server/manifest"
	"mcptest/internal/server/mock"
	"mcptest/internal/spec/plan"
	"mcptest/internal/spec/suite"
	"mcptest/internal/tape/cassette"
	"mcptest/internal/tape/transport"
)

// dialMock connects to the preset echo, which runs in this process.
func dialMock(wg *sync.WaitGroup) connect.Dialer {
	return func(context.Context, *plan.Server, connect.Options) (wire.Transport, error) {
		m, err := manifest.Preset("echo")
		if err != nil {
			return nil, err
		}
		client, end := wire.NewPipe()
		wg.Go(func() {
			defer end.Close()
			_, _ = mock.New(m, mock.Options{}).ServeStdio(context.Background(), end, end)
		})
		return client, nil
	}
}

// compile reads a suite.
func compile(t rapid.TB, dir, text string) *plan.Plan {
	path := filepath.Join(dir, "suite.yml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, diags := suite.Load(path, suite.Options{BaseDir: dir})
	if diags.HasErrors() {
		t.Fatalf("%v\n%s", diags, text)
	}
	p, diags := plan.Compile([]*suite.Suite{s}, plan.Settings{})
	if diags.HasErrors() {
		t.Fatalf("%v\n%s", diags, text)
	}
	return p
}

// steps writes a random list of fixture steps. Each run: step has a marker, each
// call: step a message.
func steps(t *rapid.T, b *strings.Builder, key string, calls *int) {
	n := rapid.IntRange(0, 3).Draw(t, key)
	if n == 0 {
		return
	}
	fmt.Fprintf(b, "%s:\n", key)
	for i := range n {
		if rapid.Bool().Draw(t, "call") {
			*calls++
			fmt.Fprintf(b, "  - call: {tool: echo, args: {message: \"%s %d\"}}\n", key, i)
		} else if key == "setup" && rapid.IntRange(0, 3).Draw(t, "background") == 0 {
			b.WriteString("  - {run: [/bin/sleep, \"60\"], background: true, env: {MARKER_NAME: marker-background}}\n")
		} else {
			fmt.Fprintf(b, "  - run: [marker-%s, \"marker %d\"]\n    env: {MARKER_NAME: marker-value}\n", key, i)
		}
	}
}

// Random suites: no run: step and no hook is in any cassette, every call: step is, and a
// replay has the same outcome without running any of them.
func TestProgramsAreNeverRecorded(t *testing.T) {
	base := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp(base, "run")
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		calls := 0
		b.WriteString("servers:\n  s: {command: [serverprogram]}\nenv: {SUITE_MARKER: marker-env}\n")
		b.WriteString("hooks:\n")
		for _, hook := range []string{"beforeAll", "afterAll", "beforeEach", "afterEach"} {
			fmt.Fprintf(&b, "  %s: [\"marker-%s\"]\n", hook, hook)
		}
		steps(t, &b, "setup", &calls)
		each := 0
		steps(t, &b, "setup_per_test", &each)
		steps(t, &b, "teardown", &calls)
		b.WriteString("tools:\n")
		tests := rapid.IntRange(1, 4).Draw(t, "tests")
		for i := range tests {
			fmt.Fprintf(&b, "  - {name: t%d, tool: count, expect: [{target: text, matcher: {contains: \"%d\"}}]}\n", i, rapid.IntRange(1, 4).Draw(t, "count"))
		}
		calls += tests * (each + 1)
		rec := filepath.Join(dir, "rec")
		o := transport.Options{Redact: secret.NewRedactor()}
		p := compile(t, dir, b.String())
		f, err := transport.Record(rec, p, o)
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		ran, first := outcome(p, f.Recorder(dialMock(&wg)))
		wg.Wait()
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		raw, err := os.ReadFile(filepath.Join(rec, "s"+cassette.Suffix))
		if err != nil {
			t.Fatal(err)
		}
		if ran == 0 || bytes.Contains(bytes.ToLower(raw), []byte("marker")) {
			t.Fatalf("%d programs; the cassette:\n%s\nthe suite:\n%s", ran, raw, b.String())
		}
		if n := bytes.Count(raw, []byte(`"method":"tools/call"`)); n != calls {
			t.Fatalf("%d calls are recorded, expected %d", n, calls)
		}
		p = compile(t, dir, b.String())
		if f, err = transport.Replay(rec, p, o); err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		transport.DropPrograms(p, false)
		ran, second := outcome(p, f.Dial)
		if ran != 0 || first != second {
			t.Fatalf("%d programs were run; recorded: %s; replayed: %s\n%s", ran, first, second, b.String())
		}
	})
}

// outcome runs a plan. It returns the number of programs that ran, and the statuses of the
// tests.
func outcome(p *plan.Plan, dial connect.Dialer) (programs int, statuses string) {
	var mu sync.Mutex
	byName := map[string]result.Status{}
	run.Run(context.Background(), p, run.Options{Tool: result.Tool{Name: "mcptest"}}, run.Deps{
		Send: func(e result.Event) {
			mu.Lock()
			defer mu.Unlock()
			if e, ok := e.(result.CaseFinished); ok {
				byName[e.Case.Name] = e.Case.Status
			}
		},
		Dial: dial,
		Exec: func(context.Context, proc.Spec) proc.Result {
			mu.Lock()
			defer mu.Unlock()
			programs++
			return proc.Result{Stdout: tail.New(0), Stderr: tail.New(0)}
		},
	})
	return programs, fmt.Sprint(byName)
}
