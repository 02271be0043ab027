package suite

import (
	"reflect"
	"slices"

	"mcptest/internal/base/source"
	"mcptest/internal/spec/suite/lint"
)

// Hints for users of other tools: the AdviseKey methods return a hint for a key
// that the block does not have.

// AdviseKey returns hints for keys of client configuration files.
func (*Server) AdviseKey(key string) string {
	switch key {
	case "type":
		return "leave it out: a server with command speaks stdio, one with url speaks HTTP (transport says which)"
	case "disabled":
		return "leave it out; run --server chooses among servers, skip: leaves out tests"
	case "workingDir", "workingDirectory", "working_dir", "working_directory", "workdir":
		return "cwd"
	case "environment":
		return "env"
	case "serverUrl", "server_url", "endpoint", "address", "uri":
		return "url"
	case "envFile", "env_file":
		return "write env: {NAME: \"${NAME}\"}: the variables of a .env file in the folder of the suite can be used"
	case "cmd", "program", "executable":
		return "command"
	case "describe":
		return "it belongs to a variant: variants: {NAME: {describe: FILE}}"
	case "bearer", "token", "bearer_token", "bearer_token_env", "oauth":
		return "it belongs to auth: auth: {bearer_token_env: NAME}, or auth: {oauth: …}"
	case "":
		return "write {command: …} or {url: …}"
	}
	return ""
}

// AdviseKey returns hints for keys of other tools' server and test files.
func (d *document) AdviseKey(key string) string {
	for _, f := range source.Fields(reflect.TypeFor[RunOptions]()) {
		if f.Name == key {
			return "it belongs to run_options: run_options: {" + key + ": …}"
		}
	}
	switch key {
	case "describe", "description", "suite", "title":
		return "name"
	case "providers", "targets", "mcp_servers":
		return "servers"
	case "flows", "flow", "steps", "scenarios":
		return "a flow is a test with steps: tools: [{name: …, steps: [{tool: …}, {tool: …}]}]"
	case "environment":
		return "env: sets variables of the servers' processes, variables: values for ${NAME}"
	case "strategy", "matrix", "parametrize":
		return "cases: of a test are its rows, variants: of a server its configurations"
	case "fixture", "fixtures":
		return "setup: lists steps before all tests, setup_per_test: steps before each"
	case "mcpServers":
		return "rename it to servers: command, args, env, url and headers are the same here (leave out type and disabled)"
	case "tests", "it", "test", "testcases", "test_cases", "folders", "items", "jobs":
		for _, test := range items(d.tests) {
			for block, keys := range subject {
				if slices.ContainsFunc(keys, func(key string) bool { return test.Get(key) != nil }) {
					return "tests with " + colons(keys)[0] + " are listed in " + string(block) + ":"
				}
			}
		}
		return "tests are listed in tools:, resources:, prompts: or protocol:, by what they call"
	case "derivedMetrics", "expect", "threshold":
		return "it belongs to a test, or to defaultTest for all tests"
	case "beforeAll", "beforeEach", "afterEach", "afterAll":
		return "it belongs to the hooks: hooks: {" + key + ": …}"
	}
	for _, f := range source.Fields(reflect.TypeFor[Server]()) {
		if f.Name == key {
			return "it belongs to a server: servers: {api: {" + key + ": …}}"
		}
	}
	return ""
}

// AdviseKey returns hints for a token that is written in the suite.
func (*Auth) AdviseKey(key string) string {
	switch key {
	case "bearer_token", "bearer", "token":
		return "the token comes from the environment: bearer_token_env: NAME"
	}
	return ""
}

// AdviseKey returns hints for server keys written in run_options.
func (*RunOptions) AdviseKey(key string) string {
	switch key {
	case "connect_timeout", "protocol", "inherit_env", "tolerate":
		return "it belongs to a server: servers: {name: {" + key + ": …}}"
	}
	return ""
}

// AdviseKey returns hints for the keys that other test tools use.
func (*Common) AdviseKey(key string) string { return lint.TestKey(key) }

// AdviseKey returns hints for keys of the other blocks.
func (*toolsEntry) AdviseKey(key string) string {
	switch key {
	case "method":
		return "for requests other than tools/call, use protocol:"
	case "uri":
		return "to read a resource, use resources:"
	case "prompt":
		return "to get a prompt, use prompts:"
	}
	return lint.TestKey(key)
}

// AdviseKey returns hints for other names of a resource's address.
func (*resourcesEntry) AdviseKey(key string) string {
	switch key {
	case "resource", "read", "url", "path":
		return "uri"
	case "tool":
		return "to call a tool, use tools:"
	}
	if key = lint.TestKey(key); key == "args" {
		return "a resource has no arguments: they are part of its uri"
	}
	return key
}

// AdviseKey returns hints for other names of a request's params.
func (*protocolEntry) AdviseKey(key string) string {
	if key == "tool" {
		return "to call a tool, use tools:"
	}
	if key = lint.TestKey(key); key == "args" {
		return "params"
	}
	return key
}

// AdviseKey returns hints for the keys that other test tools use.
func (*FlowStep) AdviseKey(key string) string {
	switch key {
	case "save", "extract", "store":
		return "capture"
	case "call":
		return "write tool: NAME and args: (call: is for setup and teardown)"
	}
	return lint.TestKey(key)
}

// AdviseKey returns hints for other names of a step's action.
func (*stepFields) AdviseKey(key string) string {
	switch key {
	case "command", "cmd", "exec", "script":
		return "run"
	case "tool":
		return "a step calls a tool with call: {tool: …, args: {…}}"
	}
	return ""
}
