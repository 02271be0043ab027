package compat

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/testkit"
)

// A fate is what happens to a list: the client rejects it, or cannot use some tools.
type fate struct {
	Lost  string            // the reason; "" for a list that is accepted
	Tools map[string]string // the unusable tools, with the reason
}

// oracleLists returns the lists that the clients are asked about: the examples of all
// rules, lists made for the SDKs, and mutations: one of 8, or all with MCPTEST_DEEP=1.
func oracleLists(t *testing.T) (lists []List) {
	t.Helper()
	for _, rule := range builtinRules(t).Rules {
		fails, passes := readExample(expand(rule.Fails))[0], readExample(expand(rule.Passes))[0]
		fails.Handshake, passes.Handshake = jsonv.Value{}, jsonv.Value{} // see TestHandshakesAsClientsReadThem
		lists = append(lists, fails, passes, withSchemas(fails), withSchemas(passes))
	}
	lists = append(lists, sdkLists(t)...)
	for i, l := range mutatedLists(t) {
		if i%8 == 0 || os.Getenv("MCPTEST_DEEP") != "" {
			lists = append(lists, l)
		}
	}
	return lists
}

// predict applies the rules about a version of a client.
func predict(t *testing.T, l List, rules Rules) fate {
	t.Helper()
	rep, err := Check(t.Context(), []List{l}, rules, today)
	if err != nil {
		t.Fatal(err)
	}
	out := fate{Tools: map[string]string{}}
	for _, f := range rep.Findings {
		switch {
		case f.Level != LevelError:
		case f.Effect == ToolLost:
			out.Tools[f.Tool] = f.Rule + ": " + f.Message
		default:
			out.Lost += f.Rule + ": " + f.Message
		}
	}
	return out
}

// about reports whether a rule describes a version of its client: all that it names
// before a semicolon.
func about(r Rule, version string) bool {
	versions, _, _ := strings.Cut(r.Versions, ";")
	return strings.Contains(versions, version)
}

// withSchemas gives an inputSchema to the tools that have none, so that a
// client has no reason to reject them but the one of the rule.
func withSchemas(l List) List {
	out := List{Server: l.Server, Results: l.Results, Pages: l.Pages}
	for _, tool := range l.Tools {
		if tool.Lookup("inputSchema").IsAbsent() {
			tool = tool.With("inputSchema", jsonv.Object(jsonv.Member{Key: "type", Value: jsonv.String("object")}))
		}
		out.Tools = append(out.Tools, tool)
	}
	return out
}

// compareOracle compares the predictions with what a client does.
func compareOracle(t *testing.T, lists []List, profile, version string, ask func([]List) []fate) {
	t.Helper()
	rules := builtinRules(t).Only([]string{profile}, []string{GroupClients})
	rules.Rules = slices.DeleteFunc(rules.Rules, func(r Rule) bool { return !about(r, version) })
	rejected, dropping := 0, 0
	for i, got := range ask(lists) {
		l, want := lists[i], predict(t, lists[i], rules)
		names := slices.Sorted(maps.Keys(want.Tools))
		switch {
		case (got.Lost == "") != (want.Lost == ""):
			t.Errorf("predicted %q, the client says %q to %s", want.Lost, got.Lost, shown(l))
		case got.Lost == "" && !slices.Equal(names, slices.Sorted(maps.Keys(got.Tools))):
			t.Errorf("predicted the loss of %v, the client loses %v of %s", want.Tools, got.Tools, shown(l))
		}
		if got.Lost != "" {
			rejected++
		} else if len(got.Tools) > 0 {
			dropping++
		}
	}
	if rejected == 0 || rejected+dropping == len(lists) {
		t.Errorf("the client rejected %d of %d lists: the comparison proves nothing", rejected, len(lists))
	}
	t.Logf("%d lists: the client rejects %d, and cannot use some tools of %d", len(lists), rejected, dropping)
}

func shown(l List) string { return strings.Join(results(l), " ") }

// results returns the results of tools/list as the server sends them.
func results(l List) (out []string) {
	if len(l.Pages) == 0 {
		return []string{jsonv.ObjectOf("tools", jsonv.Array(l.Tools...)).String()}
	}
	for i, page := range l.Pages {
		tools := jsonv.Array()
		if i == 0 {
			tools = jsonv.Array(l.Tools...)
		}
		out = append(out, page.With("tools", tools).String())
	}
	return out
}

// What the rules predict for clients built with the TypeScript SDK is what its
// client does.
func TestTypeScriptSDKAgrees(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		version string
		modules []string
	}{
		{"1.32.2", []string{"sdk/dist/esm/client/index.js", "sdk/dist/esm/shared/stdio.js"}},
		{"2.4.0", []string{"client/dist/index.mjs"}},
	} {
		t.Run(tc.version, func(t *testing.T) {
			t.Parallel()
			if tc.version == "1.32.2" && !testkit.Deep() {
				t.Skip("slow: make deep")
			}
			for i, m := range tc.modules {
				path, err := filepath.Abs("../../../testdata/servers/node_modules/@modelcontextprotocol/" + m)
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
			compareOracle(t, oracleLists(t), "ts-sdk", tc.version, func(lists []List) []fate {
				return askTypeScriptSDK(t, tc.modules, lists)
			})
		})
	}
}

// askTypeScriptSDK returns what the client does with lists.
func askTypeScriptSDK(t *testing.T, modules []string, lists []List) (out []fate) {
	t.Helper()
	type result struct {
		Tool   string      `json:"tool"`
		Result jsonv.Value `json:"result"`
	}
	type list struct {
		Pages   []string `json:"pages"`
		Results []result `json:"results"`
	}
	all := []list{}
	for _, l := range lists {
		one := list{Pages: results(l), Results: []result{}}
		for _, r := range l.Results {
			one.Results = append(one.Results, result{r.Tool, r.Value})
		}
		all = append(all, one)
	}
	in, err := json.Marshal(map[string]any{"modules": modules, "lists": all})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", "testdata/ts-sdk.mjs")
	cmd.Stdin = bytes.NewReader(in)
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var outcomes []struct {
		List  *string
		Tools map[string]string
	}
	if err := json.Unmarshal(text, &outcomes); err != nil || len(outcomes) != len(lists) {
		t.Fatalf("%d outcomes for %d lists: %v", len(outcomes), len(lists), err)
	}
	for _, o := range outcomes {
		f := fate{Tools: o.Tools}
		if o.List != nil {
			f.Lost = *o.List
		}
		out = append(out, f)
	}
	return out
}

// The same for the Go SDK.
func TestGoSDKAgrees(t *testing.T) {
	t.Parallel()
	compareOracle(t, oracleLists(t), "go-sdk", "1.8.0", func(lists []List) (out []fate) {
		for _, l := range lists {
			out = append(out, askGoSDK(t, l))
		}
		return out
	})
}

func askGoSDK(t *testing.T, l List) fate {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	fromServer, toClient := io.Pipe()
	fromClient, toServer := io.Pipe()
	go serveList(fromClient, toClient, results(l))
	session, err := mcp.NewClient(&mcp.Implementation{Name: "oracle", Version: "1"}, nil).
		Connect(ctx, &mcp.IOTransport{Reader: fromServer, Writer: toServer}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	out := fate{Tools: map[string]string{}}
	for i := range l.Tools {
		out.Tools[l.findToolName(i)] = "dropped"
	}
	cursor := ""
	for range max(1, len(l.Pages)) {
		res, err := session.ListTools(ctx, &mcp.ListToolsParams{Cursor: cursor})
		if err != nil {
			return fate{Lost: err.Error()}
		}
		for i, tool := range res.Tools {
			name := tool.Name
			if name == "" {
				name = fmt.Sprintf("(tool %d)", i+1)
			}
			delete(out.Tools, name)
		}
		if cursor = res.NextCursor; cursor == "" {
			break
		}
	}
	return out
}

// serveList answers the requests of a client that wants a list of tools.
func serveList(in io.Reader, out io.WriteCloser, pages []string) {
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
		reply := `"error":{"code":-32601,"message":"method not found"}`
		switch {
		case m.Lookup("method").Text() == "initialize":
			reply = `"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}`
		case m.Lookup("method").Text() == "tools/list" && len(pages) > 0:
			reply, pages = `"result":`+pages[0], pages[1:]
		}
		if _, err := fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,%s}`+"\n", m.Lookup("id"), reply); err != nil {
			return
		}
	}
}
