package compat

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/handshake"
)

// changedHandshake is the result of a handshake that was changed in one place.
type changedHandshake struct {
	Stateless bool        `json:"stateless"`
	Result    jsonv.Value `json:"result"`
	change    string
}

// A complete result of initialize, and one of server/discover.
const (
	initializeResult = `{"protocolVersion": "2025-11-25", "capabilities": CAPS, "serverInfo": INFO, "instructions": "i", "_meta": {}}`
	discoverResult   = `{"resultType": "complete", "supportedVersions": ["2026-07-28"], "ttlMs": 0, "cacheScope": "private", "capabilities": CAPS,
		"instructions": "i", "_meta": {"io.modelcontextprotocol/serverInfo": INFO}}`
	allCapabilities = `{"experimental": {"x": {}}, "logging": {}, "completions": {}, "prompts": {"listChanged": true},
		"resources": {"subscribe": true, "listChanged": true}, "tools": {"listChanged": true},
		"tasks": {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}, "extensions": {"a/b": {}}}`
	allInfo = `{"name": "n", "version": "1", "title": "t", "description": "d", "websiteUrl": "https://a.example",
		"icons": [{"src": "https://a.example/i.png", "mimeType": "image/png", "sizes": ["48x48"], "theme": "light"}]}`
)

// replacements are put in place of each member.
var replacements = []string{
	`null`, `""`, `"text"`, `7`, `1.5`, `true`, `false`, `[]`, `["x"]`, `[{}]`, `{}`, `{"x": 1}`, `{"x": {}}`,
}

// changedHandshakes are handshakes in which each member is absent, of each other type, empty,
// or has an unknown member. Those that decide about the version are left out.
func changedHandshakes(t *testing.T) (out []changedHandshake) {
	t.Helper()
	fill := strings.NewReplacer("CAPS", allCapabilities, "INFO", allInfo)
	for _, base := range []struct {
		text      string
		stateless bool
	}{{initializeResult, false}, {strings.Replace(initializeResult, "2025-11-25", "2025-06-18", 1), false}, {discoverResult, true}} {
		whole := parse(t, fill.Replace(base.text))
		if base.stateless {
			whole = whole.With("capabilities", whole.Lookup("capabilities").Without("tasks"))
		}
		out = append(out, changedHandshake{base.stateless, whole, "nothing"})
		for key, value := range whole.Members() {
			if key == "protocolVersion" || key == "supportedVersions" {
				continue
			}
			out = append(out, changedHandshake{base.stateless, whole.Without(key), key + " is absent"})
			for change, changed := range changesOf(t, key, value) {
				out = append(out, changedHandshake{base.stateless, whole.With(key, changed), change})
			}
		}
	}
	return out
}

// changesOf are the forms of a value that is changed in one place, by what was changed.
func changesOf(t *testing.T, at string, value jsonv.Value) map[string]jsonv.Value {
	t.Helper()
	out := map[string]jsonv.Value{}
	for _, text := range replacements {
		out[at+" is "+text] = parse(t, text)
	}
	if value.Kind() == jsonv.KindObject {
		out[at+" has an unknown member"] = value.With("mcptestUnknown", jsonv.Int(7))
	}
	for key, inner := range value.Members() {
		out[at+"."+key+" is absent"] = value.Without(key)
		for change, changed := range changesOf(t, at+"."+key, inner) {
			out[change] = value.With(key, changed)
		}
	}
	for i, inner := range value.Elems() {
		for change, changed := range changesOf(t, fmt.Sprintf("%s[%d]", at, i), inner) {
			elems := slices.Clone(value.List())
			elems[i] = changed
			out[change] = jsonv.Array(elems...)
		}
	}
	return out
}

func parse(t *testing.T, text string) jsonv.Value {
	t.Helper()
	v, err := jsonv.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// The clients of the SDKs refuse the handshakes that handshake.Faults says they do.
func TestHandshakesAsClientsReadThem(t *testing.T) {
	t.Parallel()
	all := changedHandshakes(t)
	one, two := askTypeScriptHandshakes(t, all)
	counts := map[handshake.Reader]int{}
	for i, h := range all {
		refused := map[handshake.Reader]string{handshake.ReaderTS1: one[i], handshake.ReaderTS2: two[i], handshake.ReaderGo: askGoHandshake(t, h)}
		predicted := map[handshake.Reader]bool{}
		for _, fault := range handshake.Faults(h.Result, h.Stateless) {
			for _, r := range fault.Refused {
				predicted[r] = true
			}
		}
		for _, r := range slices.Sorted(maps.Keys(refused)) {
			if refused[r] != "" {
				counts[r]++
			}
			if predicted[r] != (refused[r] != "") {
				t.Errorf("%s (stateless: %v): the %s says %q, predicted: refused %v", h.change, h.Stateless, r, refused[r], predicted[r])
			}
		}
	}
	if len(all) < 1200 || len(counts) != 3 {
		t.Errorf("only %d handshakes were tried: %v", len(all), counts)
	}
	t.Logf("%d handshakes; refused: %v", len(all), counts)
}

// askTypeScriptHandshakes returns why the clients of both TypeScript SDKs do not connect.
func askTypeScriptHandshakes(t *testing.T, all []changedHandshake) (one, two []string) {
	t.Helper()
	const script = "../../../testdata/servers/handshakes.mjs"
	if _, err := os.Stat("../../../testdata/servers/node_modules"); err != nil {
		if os.Getenv("MCPTEST_REQUIRE_SERVERS") != "" {
			t.Fatal(err)
		}
		t.Skip("the TypeScript SDKs are not installed: make servers")
	}
	in, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", script)
	cmd.Stdin = bytes.NewReader(in)
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var fates []struct{ One, Two string }
	if err := json.Unmarshal(text, &fates); err != nil || len(fates) != len(all) {
		t.Fatalf("%d answers for %d handshakes: %v", len(fates), len(all), err)
	}
	for _, f := range fates {
		one, two = append(one, f.One), append(two, f.Two)
	}
	return one, two
}

// helloServer answers the requests of one client of the Go SDK.
type helloServer struct {
	of   changedHandshake
	out  chan jsonrpc.Message
	done chan struct{}
}

func (s *helloServer) Connect(context.Context) (mcp.Connection, error) { return s, nil }
func (s *helloServer) SessionID() string                               { return "" }

func (s *helloServer) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m := <-s.out:
		return m, nil
	case <-s.done:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (s *helloServer) Write(_ context.Context, m jsonrpc.Message) error {
	request, ok := m.(*jsonrpc.Request)
	if !ok || !request.ID.IsValid() {
		return nil
	}
	hello := "initialize"
	if s.of.Stateless {
		hello = "server/discover"
	}
	answer := `"error":{"code":-32601,"message":"method not found"}`
	switch request.Method {
	case hello:
		answer = `"result":` + s.of.Result.String()
	case "tools/list":
		answer = `"result":{"tools":[],"resultType":"complete","ttlMs":0,"cacheScope":"private"}`
	}
	message, err := jsonrpc.DecodeMessage(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%v,%s}`, request.ID.Raw(), answer))
	if err == nil {
		s.out <- message
	}
	return err
}

func (s *helloServer) Close() error {
	select {
	case <-s.done:
	default:
		close(s.done)
	}
	return nil
}

// askGoHandshake returns why the client of the Go SDK does not connect.
func askGoHandshake(t *testing.T, h changedHandshake) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	server := &helloServer{h, make(chan jsonrpc.Message, 10), make(chan struct{})}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "oracle", Version: "1"}, nil).Connect(ctx, server, nil)
	if err != nil {
		return err.Error()
	}
	defer session.Close()
	if _, err = session.ListTools(ctx, nil); err != nil {
		return err.Error()
	}
	return ""
}
