package aqlcli

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/secret"
	"mcptest/internal/base/shellwords"
	"mcptest/internal/base/source"
	"mcptest/internal/base/term"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/mcpaql/aql"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/live/guard"
	"mcptest/internal/mcpaql/rule"
	"mcptest/internal/mcpaql/semantic"
	"mcptest/internal/mcpaql/verdict"
	"mcptest/internal/model"
	"mcptest/internal/process/proc"
)

// localModels is the usual address of a model on this machine.
const localModels = "http://localhost:11434/v1"

// The kinds of judges that --judge accepts.
const (
	judgePhrases = "phrases"
	judgeModel   = "model"
	judgeExec    = "exec:"
)

// newModelOptions returns the options of the model that a live run asks.
func newModelOptions() []option {
	return append([]option{
		{long: "model", value: "name", doc: "test at level 2 whether this model understands the adapter; without it the semantic rows are SKIP"},
		{long: "model-url", value: "url", doc: "the model's endpoint (default " + localModels + ", or Anthropic's with --model-api anthropic)", check: parseModelAddress},
		{long: "model-api", value: "api", doc: "the wire form, openai for every compatible endpoint, or anthropic (default openai)", check: newChoiceCheck(model.OpenAI, model.Anthropic)},
		{long: "model-key-env", value: "name", doc: "send the value of this variable as the key"},
	}, judgeOptions()...)
}

// judgeOptions returns the options of the judge, which test has too.
func judgeOptions() []option {
	return []option{
		{
			long: "judge", value: "judge", check: judgeKind,
			doc: "who judges the answers: phrases (the phrase rules), model, or exec:COMMAND, a program that reads and writes JSON" +
				" (default phrases; test: the verdicts in the bundle)",
		},
		{long: "judge-model", value: "name", doc: "the model that judges (live: default that of --model)"},
		{long: "judge-url", value: "url", doc: "the judge's endpoint (default as for --model)", check: parseModelAddress},
		{long: "judge-api", value: "api", doc: "its wire form, openai or anthropic (default as for --model)", check: newChoiceCheck(model.OpenAI, model.Anthropic)},
		{
			long: "judge-key-env", value: "name",
			doc: "send it the value of this variable as the key (default that of --model-key-env, unless --judge-url or --judge-api is given)",
		},
		{long: "judge-votes", value: "number", doc: "how often the judge is asked, up to 9; the majority decides (default 1)", check: newNumberCheck(9)},
		{long: "rejudge", doc: "ask the judge about what it has judged before, too"},
		{long: "require-judge", doc: "exit with 3 when a question was not asked or an answer not judged"},
		{long: "max-model-calls", value: "number", doc: "maximum number of requests to each model (default 200)", check: newNumberCheck(100_000)},
		{long: "max-tokens", value: "number", doc: "maximum number of tokens per model, as the endpoint counts them (default 200000)", check: newNumberCheck(100_000_000)},
	}
}

func parseModelAddress(s string) (string, error) { return s, model.CheckURL(s) }

// judgeKind accepts phrases, model and exec:COMMAND.
func judgeKind(s string) (string, error) {
	if line, program := strings.CutPrefix(s, judgeExec); program {
		words, err := shellwords.Split(line)
		if err == nil && len(words) == 0 {
			_, err = acceptAny("")
		}
		return s, err
	}
	return newChoiceCheck(judgePhrases, judgeModel, judgeExec+"COMMAND")(s)
}

// readAsking reads the options of a live run; it returns false after a mistake.
func (c *call) readAsking(cacheDir string, registry *proc.Registry) (a semantic.Asking, keys []string, ok bool) {
	name, given := c.flags["model"]
	if !given {
		for _, f := range newModelOptions()[1:] {
			if _, set := c.flags[f.long]; set {
				return a, nil, c.refuse("--%s needs --model", f.long)
			}
		}
		return a, nil, true
	}
	_, kept := c.flags["bundle"]
	if !kept && c.flags["level"] != "2" && c.flags["clean"] == "" && c.flags["mode"] != guard.ModePlan {
		return a, nil, c.refuse("--model: level 1 has no semantic rows: add --level 2, or --bundle to keep the answers")
	}
	o, ok := c.readEndpoint("model", model.Options{})
	if !ok {
		return a, nil, false
	}
	o.Model = name
	a.Model = model.New(o)
	if c.flags["judge"] == "" {
		c.flags["judge"] = judgePhrases
	}
	ok = c.readJudging(&a, o, cacheDir, registry, &keys)
	return a, append(keys, o.Key), ok
}

// readEndpoint reads the address of a model from the options --PREFIX-url and so on; o
// holds the options of another model as defaults.
func (c *call) readEndpoint(prefix string, o model.Options) (model.Options, bool) {
	address, hasAddress := c.flags[prefix+"-url"]
	api, hasAPI := c.flags[prefix+"-api"]
	if hasAddress || hasAPI {
		o.Key = "" // the key must not go to another server
	}
	if hasAPI && api != o.API {
		o.API, o.URL = api, ""
	}
	o.URL = cmp.Or(address, o.URL)
	if o.URL == "" {
		o.URL = guessAddress(o.API)
	}
	if name, given := c.flags[prefix+"-key-env"]; given {
		if o.Key = strings.TrimSpace(cmdutil.LookupEnv(c.Env, name)); o.Key == "" {
			return o, c.refuse("--%s-key-env: the variable %s is not set", prefix, name)
		}
	}
	o.MaxCalls, _ = strconv.Atoi(c.flags["max-model-calls"])
	o.MaxTokens, _ = strconv.Atoi(c.flags["max-tokens"])
	return o, true
}

// guessAddress returns where the models of an API usually are.
func guessAddress(api string) string {
	if api == model.Anthropic {
		return "https://api.anthropic.com"
	}
	return localModels
}

// readJudging reads the options of the judge; it returns false after a mistake. o
// describes the model that was asked, if there is one.
func (c *call) readJudging(
	a *semantic.Asking, o model.Options, cacheDir string, registry *proc.Registry, keys *[]string,
) bool {
	who := c.flags["judge"]
	if !c.judgeFits(who) {
		return false
	}
	a.Votes, _ = strconv.Atoi(c.flags["judge-votes"])
	a.Again = c.flags["rejudge"] != ""
	if cacheDir != "" {
		a.Cache = verdictCache(filepath.Join(cacheDir, "verdicts"))
	}
	line, program := strings.CutPrefix(who, judgeExec)
	switch {
	case program:
		argv, _ := shellwords.Argv(line) // judgeKind has checked it
		a.Judge = &model.Program{
			Argv:  argv,
			Shown: secret.NewRedactor().String(shellwords.QuoteAllForShell(argv)),
			Run:   c.judgeProgram(registry),
		}
	case who == judgeModel:
		o, ok := c.readEndpoint("judge", o)
		if name, given := c.flags["judge-model"]; given {
			o.Model = name
		}
		if ok && o.Model == "" {
			ok = c.refuse("--judge model needs --judge-model")
		}
		if !ok {
			return false
		}
		a.Judge = model.New(o)
		*keys = append(*keys, o.Key)
	}
	return true
}

// judgeFits reports whether the options given with --judge apply to it.
func (c *call) judgeFits(who string) bool {
	ok := true
	if who != judgeModel {
		ok = c.refuseFlags("--%s needs --judge model", "judge-model", "judge-url", "judge-api", "judge-key-env")
	}
	if who != judgePhrases && who != "" {
		return ok
	}
	if !c.refuseFlags("--%s needs --judge model or --judge exec:COMMAND", "judge-votes", "rejudge") {
		ok = false
	}
	return ok
}

// judgeProgram returns a function that runs a judge program. The program gets the
// whole environment, because it belongs to the user and may use a model itself.
func (c *call) judgeProgram(
	registry *proc.Registry,
) func(ctx context.Context, argv []string, stdin []byte) ([]byte, error) {
	return func(ctx context.Context, argv []string, stdin []byte) ([]byte, error) {
		r := proc.Run(ctx, proc.Spec{
			Argv:        argv,
			Env:         c.Env,
			Stdin:       bytes.NewReader(stdin),
			OutputLimit: 4 << 20,
			Registry:    registry,
		})
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
		for _, flag := range append(judgeOptions()[1:], judgeBundleOption) {
			if _, set := c.flags[flag.long]; set && flag.long != "require-judge" {
				return c.addProblem("--%s needs --judge", flag.long)
			}
		}
		return 0
	}
	switch {
	case o.Rules != rule.Strict:
		c.addProblem("--judge belongs to the strict rules: add --rules strict")
	case o.Level != 2:
		c.addProblem("--judge: level 1 has no semantic rows: add --level 2")
	case o.Tier == aql.Tier1:
		c.addProblem("--judge: --tier 1 leaves the semantic tests out")
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

// askJudge asks the judge, and stops the processes that it started.
func (c *call) askJudge(f *source.File, e *evidence.Evidence) int {
	return runWithProcesses(c.Streams, func(ctx context.Context, registry *proc.Registry) int {
		dir, _ := findStateDir() // without one, nothing is stored next to the bundle
		var a semantic.Asking
		var keys []string
		if !c.readJudging(&a, model.Options{}, dir, registry, &keys) {
			return verdict.ExitConfig
		}
		status := term.NewStatus(c.Err, c.Env)
		a.Progress = func(name string) { status.Set("asking the judge: " + name) }
		semantic.JudgeAnswers(ctx, e, a)
		status.Clear()
		if ctx.Err() != nil {
			return 0 // runWithProcesses returns the code of the signal
		}
		return c.writeJudged(f, e)
	})
}

// writeJudged writes the bundle with its verdicts to the file of --bundle.
func (c *call) writeJudged(f *source.File, e *evidence.Evidence) int {
	name, given := c.flags["bundle"]
	if !given {
		return 0
	}
	if !c.checkStdout() {
		return verdict.ExitConfig
	}
	bundle, err := jsonv.Parse(f.Data)
	if err == nil {
		bundle, err = semantic.AddVerdicts(bundle, e)
	}
	if err != nil {
		return c.addProblem("--bundle: %s", err)
	}
	return c.emitTo("bundle", name, append(bundle.Indent("", "  "), '\n'))
}

// reportJudged reports questions that were not asked and answers that were not judged: with
// --require-judge as a problem, whose exit code it returns, and otherwise only if the
// model or the judge that the user named was of no use at all.
func (c *call) reportJudged(e *evidence.Evidence) int {
	unjudged, unasked, why := 0, e.Live.Lookup("unasked"), ""
	for _, s := range e.Semantics {
		if s.Unjudged != "" {
			unjudged, why = unjudged+1, s.Unjudged
		}
	}
	for _, u := range unasked.Elems() {
		why = u.Lookup("reason").Text()
	}
	const tolerated = "; the exit code does not depend on it without --require-judge"
	who := c.flags["judge"]
	hasJudge := who != "" && who != judgePhrases
	n := unjudged + unasked.Len()
	switch {
	case n == 0:
	case c.flags["require-judge"] != "":
		return c.addProblem("--require-judge: %d of the semantic rows were not decided: %s", n, why)
	case c.flags["model"] != "" && len(e.Semantics) == 0:
		c.addProblem("--model: none of the %s was answered: %s"+tolerated, display.Count(n, "question"), why)
	case hasJudge && unjudged == len(e.Semantics) && unjudged > 0:
		c.addProblem("--judge: none of the %s was judged: %s"+tolerated, display.Count(unjudged, "answer"), why)
	}
	return verdict.ExitPassed
}
