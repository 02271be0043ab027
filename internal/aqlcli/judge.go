package aqlcli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"mcptest/internal/aql"
	"mcptest/internal/aql/evidence"
	"mcptest/internal/aql/rule"
	"mcptest/internal/aql/semantic"
	"mcptest/internal/aql/verdict"
	"mcptest/internal/cmdutil"
	"mcptest/internal/jsonv"
	"mcptest/internal/judge"
	"mcptest/internal/osfile"
	"mcptest/internal/proc"
	"mcptest/internal/run"
	"mcptest/internal/source"
	"mcptest/internal/term"
)

// judgeProgram returns a function that runs a judge program. The program gets the
// whole environment, because it belongs to the user and may use a model itself.
func (c *call) judgeProgram(registry *proc.Registry) func(ctx context.Context, argv []string, stdin []byte) ([]byte, error) {
	return func(ctx context.Context, argv []string, stdin []byte) ([]byte, error) {
		r := proc.Run(ctx, proc.Spec{Argv: argv, Env: c.Env, Stdin: bytes.NewReader(stdin), OutputLimit: 4 << 20, Registry: registry})
		if err := r.Err(); err != nil {
			if tail := strings.Join(r.Stderr.Lines(3), "; "); tail != "" {
				return nil, fmt.Errorf("%w: %s", err, tail)
			}
			return nil, err
		}
		return r.Stdout.Bytes(), nil
	}
}

// judgeBundle has the answers of a bundle judged before it is evaluated, according to
// the options of test. A result other than 0 is the exit code to end with.
func (c *call) judgeBundle(f *source.File, e *evidence.Evidence, o aql.Options) int {
	who, given := c.flags["judge"]
	if !given {
		for _, flag := range append(judgeOptions()[1:], judgeBundleOption()) {
			if _, set := c.flags[flag.long]; set && flag.long != "require-judge" {
				c.problem("--%s needs --judge", flag.long)
				return verdict.ExitConfig
			}
		}
		return 0
	}
	switch {
	case o.Rules != rule.Strict:
		c.problem("--judge belongs to the strict rules: add --rules strict")
	case o.Level != 2:
		c.problem("--judge: level 1 has no semantic rows: add --level 2")
	case o.Tier == aql.Tier1:
		c.problem("--judge: --tier 1 leaves the semantic tests out")
	case who == judgePhrases:
		if !c.judgeFits(who) {
			return verdict.ExitConfig
		}
		for i := range e.Semantics {
			e.Semantics[i].Judge, e.Semantics[i].Unjudged = nil, ""
		}
		return c.writeJudged(f, e)
	default:
		return c.askJudge(f, e)
	}
	return verdict.ExitConfig
}

// judgeBundleOption returns the option that names the file for the verdicts.
func judgeBundleOption() option {
	return option{long: "bundle", value: "file", doc: "with --judge: write the bundle with its verdicts, to be used again"}
}

// askJudge asks the judge, and stops the processes that it started.
func (c *call) askJudge(f *source.File, e *evidence.Evidence) int {
	w := cmdutil.NewWorld(c.Streams, slog.New(slog.DiscardHandler))
	ctx, stop := cmdutil.WatchSignals(context.Background(), c.Err, w.Kill)
	defer stop()
	defer w.Sweep(context.Background())
	dir, err := stateDir()
	if err != nil {
		dir = "" // then nothing is stored next to the bundle
	}
	var a semantic.Asking
	var keys []string
	if !c.judging(&a, judge.Options{}, dir, w.Registry, &keys) {
		return verdict.ExitConfig
	}
	status := term.NewStatus(c.Err, c.Env)
	a.Progress = func(name string) { status.Set("asking the judge: " + name) }
	semantic.JudgeAnswers(ctx, e, a)
	status.Clear()
	var sig *run.Interrupted
	if errors.As(context.Cause(ctx), &sig) {
		return sig.Code
	}
	return c.writeJudged(f, e)
}

// writeJudged writes the bundle with its verdicts to the file of --bundle.
func (c *call) writeJudged(f *source.File, e *evidence.Evidence) int {
	name, given := c.flags["bundle"]
	if !given {
		return 0
	}
	if !c.oneStdout() {
		return verdict.ExitConfig
	}
	bundle, err := jsonv.Parse(f.Data)
	if err == nil {
		bundle, err = semantic.WithVerdicts(bundle, e)
	}
	if err != nil {
		c.problem("--bundle: %s", err)
		return verdict.ExitConfig
	}
	return c.emitTo("bundle", name, append(bundle.Indent("", "  "), '\n'))
}

// judged returns the exit code of --require-judge.
func (c *call) judged(e *evidence.Evidence) int {
	if c.flags["require-judge"] == "" {
		return 0
	}
	n, why := 0, ""
	for _, s := range e.Semantics {
		if s.Unjudged != "" {
			n, why = n+1, s.Unjudged
		}
	}
	for _, u := range e.Live.Lookup("unasked").Elems() {
		n, why = n+1, u.Lookup("reason").Text()
	}
	if n == 0 {
		return 0
	}
	c.problem("--require-judge: %d of the semantic rows were not decided: %s", n, why)
	return verdict.ExitConfig
}

// verdictCache is a folder with one file per verdict. A verdict that cannot be read
// or written is judged again.
type verdictCache string

func (d verdictCache) file(key string) string { return filepath.Join(string(d), key+".json") }

// Get reads a verdict.
func (d verdictCache) Get(key string) (judge.Verdict, bool) {
	var v judge.Verdict
	data, err := os.ReadFile(d.file(key))
	return v, err == nil && json.Unmarshal(data, &v) == nil && v.Valid()
}

// Put writes a verdict.
func (d verdictCache) Put(key string, v judge.Verdict) {
	data, err := json.Marshal(v)
	if err == nil && os.MkdirAll(string(d), 0o700) == nil {
		_ = osfile.Replace(d.file(key), data, 0o644)
	}
}
