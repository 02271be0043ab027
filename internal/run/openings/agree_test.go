package openings_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"mcptest/internal/base/testkit"
	"mcptest/internal/offer/compat"
	"mcptest/internal/offer/opening"
	"mcptest/internal/run/openings"
	"mcptest/internal/spec/plan"
)

// patience is how long the clients and the replay wait for an answer.
const patience = 3 * time.Second

func TestMain(m *testing.M) {
	if name := os.Getenv("OPENING_SERVER"); name != "" {
		answer := odd[name]
		if answer == nil {
			answer = oddLines[name]
		}
		serveLines(answer)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// subject is one server of the comparison.
type subject struct {
	Name    string            `json:"-"`
	URL     string            `json:"url,omitempty"`
	Command []string          `json:"command,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	Dir     string            `json:"cwd,omitempty"`
	wait    time.Duration     // patience by default
	startup time.Duration     // 0 if unknown
}

// patience is how long the clients and the replay wait for its answers.
func (s subject) patience() time.Duration { return cmp.Or(s.wait, patience) }

// environment is that of its process.
func (s subject) environment() []string {
	all := os.Environ()
	for name, value := range s.Env {
		all = append(all, name+"="+value)
	}
	return all
}

// subjects are all odd servers, over both transports.
func subjects(t *testing.T) (all []subject) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, group := range []map[string]func(string) (reply, bool){odd, oddLines} {
		for _, name := range slices.Sorted(maps.Keys(group)) {
			env := map[string]string{"OPENING_SERVER": name}
			all = append(all, subject{Name: "stdio " + name, Command: []string{self}, Env: env, startup: time.Millisecond})
		}
	}
	for _, group := range []map[string]func(string) (reply, bool){odd, oddPosts} {
		for _, name := range slices.Sorted(maps.Keys(group)) {
			server := httptest.NewServer(&address{answer: group[name]})
			t.Cleanup(server.Close)
			all = append(all, subject{Name: "http " + name, URL: server.URL})
		}
	}
	return all
}

// replayedScripts are the scripts that are compared with clients of the SDKs, by the name of
// the client. Two are not those of an app: SDK 2 with its older handshake over HTTP, and SDK
// 2 pinned to the revision without sessions.
func replayedScripts(rules compat.Rules, transport string) map[string]opening.Script {
	out := map[string]opening.Script{}
	for _, s := range rules.Openings {
		switch {
		case s.Transport != transport:
		case s.Client == "gemini-cli":
			out["one"] = s
		case s.Client == "antigravity":
			out["go"] = s
		case s.Client == "claude-code" && s.Name == "discover":
			out["auto"] = s
			s.Name, s.Legacy = "pin", nil
			out["pin"] = s
		}
	}
	legacy := out["auto"]
	legacy.Name, legacy.Probe, legacy.Modern = "legacy", nil, nil
	out["two"] = legacy
	return out
}

// replayed returns the verdicts of the scripts that are taken from clients of the SDKs; names
// select some.
func replayed(t *testing.T, s subject, rules compat.Rules, only ...string) map[string]opening.Verdict {
	t.Helper()
	definition := &plan.Server{Name: s.Name, URL: s.URL, Dir: s.Dir, Timeout: s.patience(), ConnectTimeout: s.patience()}
	transport := opening.HTTP
	if s.Command != nil {
		definition.Argv, definition.Env = s.Command, s.environment()
		transport = opening.Stdio
	}
	var scripts []opening.Script
	kinds := map[string]string{}
	for kind, script := range replayedScripts(rules, transport) {
		if len(only) > 0 && !slices.Contains(only, kind) {
			continue
		}
		kinds[script.Client+script.Name] = kind
		scripts = append(scripts, script)
	}
	result := openings.Run(t.Context(), openings.Options{
		Server: definition, Scripts: scripts, Refuses: rules.Refuses, Startup: s.startup,
		Control: func(context.Context) error { return nil },
	})
	for _, note := range result.Notes {
		t.Logf("%s: %s", s.Name, note)
	}
	out := map[string]opening.Verdict{}
	for _, v := range result.Verdicts {
		out[kinds[v.Script.Client+v.Script.Name]] = v
	}
	return out
}

// goFate returns why a client of the Go SDK does not get in, "" if it does.
func goFate(s subject) string {
	ctx, cancel := context.WithTimeout(context.Background(), 2*s.patience())
	defer cancel()
	var transport mcp.Transport = &mcp.StreamableClientTransport{Endpoint: s.URL, MaxRetries: -1}
	if s.Command != nil {
		cmd := exec.Command(s.Command[0], s.Command[1:]...)
		cmd.Env, cmd.Dir = s.environment(), s.Dir
		transport = &mcp.CommandTransport{Command: cmd, TerminateDuration: time.Second}
	}
	who := &mcp.Implementation{Name: "antigravity-client", Version: "v1.0.0"}
	client := mcp.NewClient(who, &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}})
	session, err := client.Connect(ctx, transport, nil)
	if err != nil {
		return err.Error()
	}
	defer session.Close()
	if caps := session.InitializeResult().Capabilities; caps == nil || caps.Tools == nil {
		return ""
	}
	if _, err := session.ListTools(ctx, nil); err != nil {
		return err.Error()
	}
	return ""
}

const servers = "../../../testdata/servers"

// requireSDKs skips a test without the SDKs for TypeScript.
func requireSDKs(t *testing.T) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(servers, "node_modules", "@modelcontextprotocol", "client")); err != nil {
		if os.Getenv("MCPTEST_REQUIRE_SERVERS") != "" {
			t.Fatal(err)
		}
		t.Skip("the packages of testdata/servers are not installed: make servers")
	}
}

// typescriptFates returns why the clients of the TypeScript SDKs do not get in, by the name
// of the client, for each server; names select some.
func typescriptFates(
	t *testing.T, all []subject, wait time.Duration, parallel int, only ...string,
) ([]map[string]string, error) {
	t.Helper()
	input, err := json.Marshal(all)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(t.Context(), "node", filepath.Join(servers, "openings.mjs"))
	cmd.Env = append(os.Environ(), fmt.Sprintf("OPENING_TIMEOUT=%d", wait.Milliseconds()),
		fmt.Sprintf("OPENING_PARALLEL=%d", parallel), "OPENING_CLIENTS="+strings.Join(only, ","))
	cmd.Stdin, cmd.Stderr = bytes.NewReader(input), os.Stderr
	said, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	var fates []map[string]string
	if err := json.Unmarshal(said, &fates); err != nil || len(fates) != len(all) {
		return nil, fmt.Errorf("%w: %s", err, said)
	}
	return fates, nil
}

// The replay lets in whom the real clients of the SDKs get in, and nobody else.
func TestAgreesWithClients(t *testing.T) {
	t.Parallel()
	requireSDKs(t)
	all := subjects(t)
	if !testkit.Deep() { // a process takes a while to start
		all = slices.DeleteFunc(all, func(s subject) bool {
			n := fnv.New32()
			_, _ = n.Write([]byte(s.Name))
			return n.Sum32()%8 != 0
		})
	}
	fates, err := typescriptFates(t, all, patience, 12)
	if err != nil {
		t.Fatal(err)
	}
	rules, err := compat.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	compared := map[string]int{}
	var mu sync.Mutex
	var comparing sync.WaitGroup
	places := make(chan int)
	for range 12 {
		comparing.Go(func() {
			for i := range places {
				fates[i]["go"] = goFate(all[i])
				verdicts := replayed(t, all[i], rules)
				mu.Lock()
				for kind, v := range verdicts {
					compared[kind]++
					compareFate(t, all[i].Name+", "+kind, v, fates[i][kind])
				}
				mu.Unlock()
			}
		})
	}
	for i := range all {
		places <- i
	}
	close(places)
	comparing.Wait()
	t.Logf("compared: %v", compared)
}

// compareFate compares a verdict with what a real client did: why it does not get in, "" if
// it does.
func compareFate(t *testing.T, name string, v opening.Verdict, real string) {
	t.Helper()
	if v.Unjudged != "" && !isPinned(v) {
		t.Errorf("%s: not judged: %s", name, v.Unjudged)
	}
	if v.Connected != (real == "") {
		t.Errorf("%s: replay: connected %t (%s to %s; %s), client: %q", name, v.Connected, v.Says, v.Method, v.Does, real)
	}
}

// isPinned reports whether a client is lost because it has no other handshake.
func isPinned(v opening.Verdict) bool {
	return v.Script.Name == "pin" && strings.Contains(v.Unjudged, "does not speak 2026-07-28")
}
