package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"

	"mcptest/internal/aql"
	"mcptest/internal/judge"
)

// localModels is where a model on this machine usually answers.
const localModels = "http://localhost:11434/v1"

// modelFlags are the options of the semantic evaluation.
func modelFlags() []aqlFlag {
	return []aqlFlag{
		{"model", "", "a model's name", "ask this model whether it understands the adapter (level 2); without it the semantic rows are SKIP", anyValue, false},
		{"model-url", "", "an address", "where the model answers (default " + localModels + ", or Anthropic's with --model-api anthropic)", anyValue, false},
		{"model-api", "", "openai or anthropic", "the wire form, openai for every compatible endpoint (default openai)", oneOf(judge.OpenAI, judge.Anthropic), false},
		{"model-key-env", "", "a name", "send the value of this variable as the key", anyValue, false},
		{"judge", "", "phrases or model", "who judges the answers: the phrase rules, or the model too (default phrases)", oneOf("phrases", "model"), false},
		{"judge-model", "", "a model's name", "the model that judges (default that of --model)", anyValue, false},
		{"judge-votes", "", "a number up to 9", "how often the judge is asked; the majority decides (default 1)", number(1, 9), false},
		{"max-model-calls", "", "a number", "requests to each model at most (default 200)", number(1, 100_000), false},
		{"max-tokens", "", "a number", "tokens of each model at most, as the endpoint counts them (default 200000)", number(1, 100_000_000), false},
	}
}

// asking reads the options; false after a mistake.
func (c *aqlCall) asking(cacheDir string) (aql.Asking, bool) {
	var a aql.Asking
	name, given := c.flags["model"]
	if !given {
		for _, f := range modelFlags()[1:] {
			if _, set := c.flags[f.long]; set {
				c.problem("--%s needs --model", f.long)
				return a, false
			}
		}
		return a, true
	}
	o := judge.Options{API: c.flags["model-api"], URL: c.flags["model-url"], Model: name}
	if o.URL == "" {
		o.URL = localModels
		if o.API == judge.Anthropic {
			o.URL = "https://api.anthropic.com"
		}
	}
	if key, given := c.flags["model-key-env"]; given {
		if o.Key = lookupEnv(c.Env, key); o.Key == "" {
			c.problem("--model-key-env: the variable %s is not set", key)
			return a, false
		}
	}
	o.MaxCalls, _ = strconv.Atoi(c.flags["max-model-calls"])
	o.MaxTokens, _ = strconv.Atoi(c.flags["max-tokens"])
	a.Model = judge.New(o)
	if c.flags["judge"] == "model" {
		if name, given := c.flags["judge-model"]; given {
			o.Model = name
		}
		a.Judge = judge.New(o)
		a.Votes, _ = strconv.Atoi(c.flags["judge-votes"])
		a.Cache = verdictCache(filepath.Join(cacheDir, "verdicts"))
	}
	return a, true
}

// verdictCache is a folder with one file a verdict. What cannot be read or
// written is judged again.
type verdictCache string

func (d verdictCache) file(key string) string { return filepath.Join(string(d), key+".json") }

// Get reads a verdict.
func (d verdictCache) Get(key string) (judge.Verdict, bool) {
	var v judge.Verdict
	data, err := os.ReadFile(d.file(key))
	return v, err == nil && json.Unmarshal(data, &v) == nil && v.Verdict != ""
}

// Put writes a verdict.
func (d verdictCache) Put(key string, v judge.Verdict) {
	data, err := json.Marshal(v)
	if err == nil && os.MkdirAll(string(d), 0o700) == nil {
		_ = writeWhole(d.file(key), data)
	}
}
