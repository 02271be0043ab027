package suite

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"mcptest/internal/base/source"
	"mcptest/internal/spec/suite/lint"
)

// Hints for users of other tools: the AdviseKey methods return a hint for a key
// that the block does not have.

// AdviseKey returns hints for keys of client configuration files.
func (*Server) AdviseKey(key string) string {
	return cmp.Or(lint.ServerKey(key), explainElsewhere(key, "test", "run_options", "suite"))
}

// explainElsewhere says at which of some levels a key of the language belongs, if it is one
// of them.
func explainElsewhere(key string, levels ...string) string {
	for _, level := range levels {
		t, form := reflect.TypeFor[toolsEntry](), "the test: tools: [{name: …, KEY: …}]"
		switch level {
		case "run_options":
			t, form = reflect.TypeFor[RunOptions](), "run_options: run_options: {KEY: …}"
		case "server":
			t, form = reflect.TypeFor[Server](), "a server: servers: {api: {KEY: …}}"
		case "step":
			t, form = reflect.TypeFor[FlowStep](), "a step: steps: [{tool: …, KEY: …}]"
		case "suite":
			t, form = reflect.TypeFor[document](), "the file, at its left margin: KEY: …"
		}
		for _, f := range source.Fields(t) {
			if f.Name == key {
				return "it belongs to " + strings.ReplaceAll(form, "KEY", key)
			}
		}
	}
	return ""
}

// AdviseKey returns hints for keys of other tools' server and test files.
func (d *document) AdviseKey(key string) string {
	switch key {
	case "tests", "it", "test", "testcases", "test_cases", "folders", "items", "jobs":
		for _, test := range listItems(d.tests) {
			for _, key := range subjects {
				if test.Get(key) != nil {
					return listOf(key)
				}
			}
		}
		return "tests are listed in tools:, resources:, prompts: or protocol:, by what they call"
	}
	return cmp.Or(lint.SuiteKey(key), explainElsewhere(key, "run_options", "server", "test"))
}

// AdviseKey returns hints for a token that is written in the suite.
func (*Auth) AdviseKey(key string) string {
	switch key {
	case "username", "user", "password", "basic", "api_key", "apikey":
		return "write it as a header of the server: headers: {Authorization: {env: NAME}}"
	case "bearer_token", "bearer", "token":
		return "the token comes from the environment: bearer_token_env: NAME"
	}
	return ""
}

// AdviseKey returns hints for server keys written in run_options.
func (*RunOptions) AdviseKey(key string) string {
	switch strings.ToLower(key) {
	case "workers", "concurrency", "maxworkers", "max_workers", "jobs", "max_concurrency", "maxconcurrency":
		return "parallel"
	case "bail", "max_failures", "maxfailures":
		return "fail_fast"
	case "repeat":
		return "it belongs to a test: repeat: 20"
	}
	return explainElsewhere(key, "server", "test", "suite")
}

// AdviseKey returns hints for the keys that other test tools use.
func (*Common) AdviseKey(key string) string {
	return cmp.Or(lint.TestKey(key), listOf(key), explainElsewhere(key, "step", "server", "suite"))
}

// listOf says in which list the tests with a key are.
func listOf(key string) string {
	for block, keys := range subject {
		if slices.Contains(keys, key) {
			return "tests with " + key + ": are listed in " + string(block) + ":"
		}
	}
	return ""
}

// AdviseKey returns hints for other names of a resource's address.
func (*resourcesEntry) AdviseKey(key string) string {
	switch key {
	case "resource", "read", "url", "path":
		return "uri"
	}
	if key = new(Common).AdviseKey(key); key == "args" {
		return "a resource has no arguments: they are part of its uri"
	}
	return key
}

// AdviseKey returns hints for other names of a request's params.
func (*protocolEntry) AdviseKey(key string) string {
	if key = new(Common).AdviseKey(key); key == "args" {
		return "params"
	}
	return key
}

// AdviseKey returns hints for the keys that other test tools use.
func (*FlowStep) AdviseKey(key string) string {
	switch key {
	case "save", "extract", "store", "outputs", "set", "id":
		return "capture"
	case "call":
		return "write tool: NAME and args: (call: is for setup and teardown)"
	}
	hint := lint.TestKey(key)
	if explainElsewhere(hint, "step") == "" { // it is not a key of steps either
		hint = cmp.Or(explainElsewhere(cmp.Or(hint, key), "test", "server", "suite"), hint)
	}
	return hint
}

// AdviseKey returns hints for other names of a step's action.
func (*stepFields) AdviseKey(key string) string {
	switch key {
	case "command", "cmd", "exec", "script":
		return "run"
	case "tool":
		return "a step calls a tool with call: {tool: …, args: {…}}"
	case "":
		return "write - run: [program, arguments…], or - call: {tool: …, args: {…}}"
	}
	return ""
}
