package suite_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"mcptest/internal/spec/suite"
)

// described describes the settings of a server.
func described(sv *suite.Server) string {
	var parts []string
	add := func(key, value string) {
		if value != "" {
			parts = append(parts, key+"="+value)
		}
	}
	if sv.Command != nil {
		words := []string{sv.Command.Text}
		for _, item := range sv.Command.Items {
			words = append(words, item.Text)
		}
		add("command", strings.TrimSpace(strings.Join(append(words, sv.Args...), " ")))
	}
	add("url", sv.URL)
	for _, e := range sv.Env.Entries {
		add("env."+e.Key, string(e.Value))
	}
	for _, e := range sv.Headers.Entries {
		add("headers."+e.Key, e.Value.Value)
	}
	add("cwd", sv.Cwd)
	add("protocol", sv.Protocol)
	add("transport", sv.Transport)
	if sv.Timeout != nil {
		add("timeout", sv.Timeout.String())
	}
	return sv.Name + ": " + strings.Join(parts, " ")
}

// Each variant is a separate server: missing keys are those of its server, and keys of one
// variant do not affect another.
func TestVariants(t *testing.T) {
	s := load(t, suite.Options{Env: []string{"SETS=from outside", "ALICE=token-of-alice"}}, map[string]string{"s.yml": `servers:
  api:
    command: [prog, stdio]
    cwd: sub
    timeout: 5s
    protocol: 2025-11-25
    env: {A: base, B: base}
    variants:
      plain: {}
      args: {args: [--read-only, "--sets=${SETS}"]}
      env: {env: {B: other, C: "${SETS}"}}
      program: {command: "other ${SETS}", args: [-x], protocol: auto}
      remote: {url: "http://h/mcp", headers: {X: y}, transport: sse}
  web:
    url: http://h/mcp?sets=all&z=1
    headers: {X-Sets: all, Y: "1"}
    variants:
      query: {query: {sets: "a b", new: true}}
      headers: {headers: {x-sets: few, Authorization: {env: ALICE}}}
      moved: {url: "https://other/", query: {a: 1}}
      local: {command: [prog], env: {A: b}}
  alone:
    headers: {X: "1"}
    env: {A: "1"}
    variants: {h: {url: "http://h/"}, p: {command: [p]}}
default_server: api@plain
`})
	var got []string
	for _, sv := range s.Servers {
		got = append(got, described(sv))
	}
	const rest = " cwd=sub protocol=2025-11-25 timeout=5s"
	want := []string{
		"api: command=prog stdio env.A=base env.B=base" + rest,
		"api@plain: command=prog stdio env.A=base env.B=base" + rest,
		"api@args: command=prog stdio --read-only --sets=from outside env.A=base env.B=base" + rest,
		"api@env: command=prog stdio env.A=base env.B=other env.C=from outside" + rest,
		"api@program: command=other ${SETS} -x env.A=base env.B=base cwd=sub protocol=auto timeout=5s",
		"api@remote: url=http://h/mcp headers.X=y protocol=2025-11-25 transport=sse timeout=5s",
		"web: url=http://h/mcp?sets=all&z=1 headers.X-Sets=all headers.Y=1",
		"web@query: url=http://h/mcp?new=true&sets=a+b&z=1 headers.X-Sets=all headers.Y=1",
		"web@headers: url=http://h/mcp?sets=all&z=1 headers.Y=1 headers.x-sets=few headers.Authorization=token-of-alice",
		"web@moved: url=https://other/?a=1 headers.X-Sets=all headers.Y=1",
		"web@local: command=prog env.A=b",
		"alone@h: url=http://h/ headers.X=1",
		"alone@p: command=p env.A=1",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if !slices.Contains(s.Secrets, "token-of-alice") {
		t.Error("the header of a variant is no secret")
	}
}

// The arguments and the query of a variant may contain secrets, like those of its server.
func TestSecretsOfVariants(t *testing.T) {
	s := load(t, suite.Options{}, map[string]string{"s.yml": `servers:
  api: {command: [x, --mode, a], variants: {v: {args: [--token, in-the-arguments]}}}
  web: {url: "http://h/", variants: {v: {query: {api_key: in-the-query, mode: not-a-secret}}}}
`})
	for value, secret := range map[string]bool{"in-the-arguments": true, "in-the-query": true, "not-a-secret": false} {
		if slices.Contains(s.Secrets, value) != secret {
			t.Errorf("%s: expected secret %v", value, secret)
		}
	}
}

// The only declared server is the default, with variants or without; a server that has only
// variants cannot be.
func TestDefaultServerWithVariants(t *testing.T) {
	for text, want := range map[string]string{
		"servers: {a: {command: [x], variants: {v: {}, w: {}}}}":             "a",
		"servers: {a: {variants: {v: {command: [x]}}}}":                      "",
		"servers: {a: {command: [x], variants: {v: {}}}, b: {command: [x]}}": "",
	} {
		if s := load(t, suite.Options{}, map[string]string{"s.yml": text}); s.DefaultServer != want {
			t.Errorf("%s: got %q", text, s.DefaultServer)
		}
	}
}

func TestMatchName(t *testing.T) {
	for _, tt := range []struct {
		written, name string
		want          bool
	}{
		{"api", "api", true},
		{"api", "api@x", false},
		{"api@*", "api@x", true},
		{"api@*", "api", false},
		{"*", "anything", true},
		{"*@read-only", "api@read-only", true},
		{"api@*read*", "api@x-read-y", true},
		{"api@*read*y", "api@x-read", false},
		{"a*a", "a", false},
		{"a*bc*c", "abc", false},
		{"a*b*c", "abxc", true},
		{"b*", "ab", false},
		{"a*", "a*", true},
		{"a/b*", "a/b/c", true},
		{"", "", true},
		{"a.c", "abc", false},
	} {
		if got := suite.MatchName(tt.written, tt.name); got != tt.want {
			t.Error(fmt.Sprintf("%q, %q: ", tt.written, tt.name), got)
		}
	}
}
