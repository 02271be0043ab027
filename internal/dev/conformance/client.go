package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// object is a JSON object of a suite; every JSON text is YAML.
type object = map[string]any

// The conformance suite configures its client through these variables.
const (
	scenarioEnv = "MCP_CONFORMANCE_SCENARIO"
	revisionEnv = "MCP_CONFORMANCE_PROTOCOL_VERSION"
	contextEnv  = "MCP_CONFORMANCE_CONTEXT"
	mcptestEnv  = "CONFORMANCE_MCPTEST" // the program under test, from the judge
	detectEnv   = "CONFORMANCE_DETECT"  // set by the judge: the revision is not pinned
)

// client writes the suite of the scenario and runs mcptest on it.
func client(url string) error {
	scenario := os.Getenv(scenarioEnv)
	tests := suiteOf(scenario, url)
	if tests == nil {
		return fmt.Errorf("no suite for the scenario %q", scenario)
	}
	server := object{"url": url, "protocol": os.Getenv(revisionEnv)}
	if os.Getenv(detectEnv) != "" {
		server["protocol"] = "auto"
	}
	maps.Copy(server, tests.server)
	suite := object{"servers": object{"judge": server}}
	for block, list := range tests.blocks {
		suite[block] = list
	}
	data, err := json.MarshalIndent(suite, "", "  ")
	if err != nil {
		return fmt.Errorf("write the suite: %w", err)
	}
	dir, err := os.MkdirTemp("", "conformance-client-")
	if err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "mcptest.yaml")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		return fmt.Errorf("write the suite: %w", err)
	}
	cmd := exec.Command(os.Getenv(mcptestEnv), "run", path, "--verbose")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return cmd.Run()
}

// scenario contains the keys of the server and the blocks of tests for one scenario.
type scenario struct {
	server object
	blocks map[string][]object
}

func suiteOf(name, url string) *scenario {
	list := []object{{"name": "list", "method": "tools/list"}}
	if strings.HasPrefix(name, "auth/") {
		return login(name, url)
	}
	switch name {
	case "initialize", "request-metadata", "json-schema-ref-no-deref":
		return &scenario{blocks: map[string][]object{"protocol": list}}
	case "tools_call":
		return &scenario{blocks: map[string][]object{"protocol": list, "tools": {call("add_numbers", object{"a": 5, "b": 3})}}}
	case "json-schema-2020-12-preservation":
		return &scenario{blocks: map[string][]object{"tools": {{"name": "round trip", "steps": []object{
			{"method": "tools/list", "capture": object{"schema": "result.tools[0].inputSchema"}},
			{"tool": "json_schema_echo", "args": object{"schema": "${steps.schema}"}},
		}}}}}
	case "sse-retry":
		return &scenario{blocks: map[string][]object{"tools": {call("test_reconnection", nil)}}}
	case "http-invalid-tool-headers":
		return &scenario{blocks: map[string][]object{"protocol": list, "tools": {call("valid_tool", nil)}}}
	case "elicitation-sep1034-client-defaults":
		return &scenario{
			server: object{"respond": object{"elicitation": object{"action": "accept", "content": "defaults"}}},
			blocks: map[string][]object{"tools": {call("test_client_elicitation_defaults", nil)}},
		}
	case "sep-2322-client-request-state":
		return &scenario{
			server: object{"respond": object{"elicitation": object{"action": "accept", "content": object{"confirmed": true}}}},
			blocks: map[string][]object{"tools": {
				call("test_mrtr_echo_state", nil), call("test_mrtr_unrelated", nil), call("test_mrtr_no_state", nil), call("test_mrtr_no_result_type", nil),
			}},
		}
	case "http-standard-headers":
		return headers(list)
	case "http-custom-headers":
		return custom(list)
	}
	return nil
}

func call(tool string, args any) object {
	t := object{"name": tool, "tool": tool}
	if args != nil {
		t["args"] = args
	}
	return t
}

// headers calls one method of every kind whose name is repeated in HTTP headers.
func headers(list []object) *scenario {
	return &scenario{blocks: map[string][]object{
		"protocol": append(list, object{"name": "resources", "method": "resources/list"}, object{"name": "prompts", "method": "prompts/list"}),
		"tools":    {call("test_headers", nil), call("my-hyphenated-tool", nil)},
		"resources": {
			{"name": "spaces", "uri": "file:///path/to/file%20name.txt"}, {"name": "query", "uri": "https://example.com/resource?id=123"},
		},
		"prompts": {{"name": "prompt", "prompt": "test_prompt"}},
	}}
}

// custom makes the calls that the conformance suite requests.
func custom(list []object) *scenario {
	var given struct {
		ToolCalls []struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		} `json:"toolCalls"`
	}
	if err := json.Unmarshal([]byte(os.Getenv(contextEnv)), &given); err != nil || len(given.ToolCalls) == 0 {
		return nil
	}
	s := &scenario{blocks: map[string][]object{"protocol": list}}
	for i, c := range given.ToolCalls {
		t := call(c.Name, c.Arguments)
		t["name"] = fmt.Sprintf("%s %d", c.Name, i+1)
		s.blocks["tools"] = append(s.blocks["tools"], t)
	}
	return s
}
