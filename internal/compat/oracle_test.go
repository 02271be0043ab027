package compat

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"mcptest/internal/jsonv"
)

// predicted returns the lists of all examples, with what the rules say about a
// profile. Rules about other versions of the client are left out.
func predicted(t *testing.T, profile, notAbout string) (lists []List, rejected []bool) {
	t.Helper()
	all := builtinRules(t)
	rules := all.Only([]string{profile}, []string{GroupClients})
	rules.Rules = slices.DeleteFunc(rules.Rules, func(r Rule) bool { return notAbout != "" && strings.Contains(r.Versions, notAbout) })
	for _, rule := range all.Rules {
		fails, passes := example(expand(rule.Fails))[0], example(expand(rule.Passes))[0]
		for _, l := range []List{fails, passes, withSchemas(fails), withSchemas(passes)} {
			rep, err := Check(t.Context(), []List{l}, rules, today)
			if err != nil {
				t.Fatal(err)
			}
			lists = append(lists, l)
			rejected = append(rejected, rep.Failed(LevelError))
		}
	}
	for _, l := range sdkLists(t) {
		rep, err := Check(t.Context(), []List{l}, rules, today)
		if err != nil {
			t.Fatal(err)
		}
		lists = append(lists, l)
		rejected = append(rejected, rep.Failed(LevelError))
	}
	return lists, rejected
}

// withSchemas gives an inputSchema to the tools that have none, so that a
// client has no reason to reject them but the one of the rule.
func withSchemas(l List) List {
	out := List{Server: l.Server, Results: l.Results}
	for _, tool := range l.Tools {
		if tool.Lookup("inputSchema").IsAbsent() {
			tool = tool.With("inputSchema", jsonv.Object(jsonv.Member{Key: "type", Value: jsonv.String("object")}))
		}
		out.Tools = append(out.Tools, tool)
	}
	return out
}

func compareOracle(t *testing.T, lists []List, lost []bool, outcome func(i int) string) {
	t.Helper()
	rejected := 0
	for i, l := range lists {
		reason := outcome(i)
		if reason != "" {
			rejected++
		}
		if (reason != "") != lost[i] {
			t.Errorf("predicted lost %v, the client says %q to %s", lost[i], reason, jsonv.Array(l.Tools...).Short(300))
		}
	}
	if rejected == 0 || rejected == len(lists) {
		t.Errorf("the client rejected %d of %d lists: the comparison proves nothing", rejected, len(lists))
	}
	t.Logf("%d lists, %d rejected by the client", len(lists), rejected)
}

// What the rules predict for clients built with the TypeScript SDK is what its
// client does, for the examples of all rules.
func TestTypeScriptSDKAgrees(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		version, notAbout string
		modules           []string
	}{
		{"1", "", []string{"sdk/dist/esm/client/index.js", "sdk/dist/esm/inMemory.js"}},
		{"2", "2.4.0 accepts", []string{"client/dist/index.mjs"}},
	} {
		t.Run(tc.version, func(t *testing.T) {
			t.Parallel()
			for i, m := range tc.modules {
				path, err := filepath.Abs("../../testdata/servers/node_modules/@modelcontextprotocol/" + m)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := os.Stat(path); err != nil && os.Getenv("MCPTEST_REQUIRE_SERVERS") != "" {
					t.Fatalf("the TypeScript SDK is not installed: %v", err)
				} else if err != nil {
					t.Skip("the TypeScript SDK is not installed: make servers")
				}
				tc.modules[i] = path
			}
			lists, rejected := predicted(t, "ts-sdk", tc.notAbout)
			outcomes := askTypeScriptSDK(t, tc.modules, lists)
			compareOracle(t, lists, rejected, func(i int) string {
				if outcomes[i] == nil {
					return ""
				}
				return *outcomes[i]
			})
		})
	}
}

// askTypeScriptSDK returns the errors with which the client rejects lists.
func askTypeScriptSDK(t *testing.T, modules []string, lists []List) (outcomes []*string) {
	t.Helper()
	type result struct {
		Tool   string      `json:"tool"`
		Result jsonv.Value `json:"result"`
	}
	type list struct {
		Tools   []jsonv.Value `json:"tools"`
		Results []result      `json:"results"`
	}
	all := []list{}
	for _, l := range lists {
		one := list{Tools: l.Tools, Results: []result{}}
		for _, r := range l.Results {
			one.Results = append(one.Results, result{r.Tool, r.Value})
		}
		all = append(all, one)
	}
	in, err := json.Marshal(map[string]any{"modules": modules, "lists": all})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", "testdata/ts-sdk.mjs")
	cmd.Stdin = bytes.NewReader(in)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out, &outcomes); err != nil || len(outcomes) != len(lists) {
		t.Fatalf("%d outcomes for %d lists: %v", len(outcomes), len(lists), err)
	}
	return outcomes
}

// The same for the Go SDK.
func TestGoSDKAgrees(t *testing.T) {
	t.Parallel()
	lists, lost := predicted(t, "go-sdk", "")
	compareOracle(t, lists, lost, func(i int) string {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		fromServer, toClient := io.Pipe()
		fromClient, toServer := io.Pipe()
		go serveList(fromClient, toClient, lists[i])
		session, err := mcp.NewClient(&mcp.Implementation{Name: "oracle", Version: "1"}, nil).
			Connect(ctx, &mcp.IOTransport{Reader: fromServer, Writer: toServer}, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer session.Close()
		if _, err := session.ListTools(ctx, nil); err != nil {
			return err.Error()
		}
		return ""
	})
}

// serveList answers the requests of a client that wants a list of tools.
func serveList(in io.Reader, out io.WriteCloser, l List) {
	defer out.Close()
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		m, err := jsonv.Parse([]byte(line))
		if err != nil || m.Lookup("id").IsAbsent() {
			continue
		}
		reply := fmt.Sprintf(`"result":{"tools":%s}`, jsonv.Array(l.Tools...))
		switch m.Lookup("method").Text() {
		case "initialize":
			reply = `"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}`
		case "tools/list":
		default:
			reply = `"error":{"code":-32601,"message":"method not found"}`
		}
		if _, err := fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,%s}`+"\n", m.Lookup("id"), reply); err != nil {
			return
		}
	}
}
