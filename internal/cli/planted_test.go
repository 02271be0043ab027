package cli_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// planted are secrets for a suite: each place gets one of its own.
type planted struct{ values []string }

// secret returns a new value that looks like no known form of a credential.
func (p *planted) secret() string {
	const letters = "abcdefghjkmnpqrstuvwxyz23456789"
	b := make([]byte, 22)
	for i := range b {
		b[i] = letters[rand.IntN(len(letters))]
	}
	p.values = append(p.values, "q7"+string(b))
	return p.values[len(p.values)-1]
}

// fill replaces each S3CRET by a secret.
func (p *planted) fill(text string) string {
	for strings.Contains(text, "S3CRET") {
		text = strings.Replace(text, "S3CRET", p.secret(), 1)
	}
	return text
}

// plantedSuite names secrets in every place that a suite has for one. The programs print their
// environment and arguments, and every test fails, so that reports show as much as they can.
const plantedSuite = `
name: planted
variables:
  declared: {from_env: PLANTED_VARIABLE, secret: true}
  api_key: "S3CRET"
  db_password: {from_env: NOT_SET, default: "S3CRET"}
servers:
  m: {command: [mcptest, mock, --preset, echo], env: {API_TOKEN: "S3CRET", DB_PASSWORD: "S3CRET", DATABASE_URL: "postgres://bob:S3CRET@db.example/x"}}
  loud:
    command: [sh, -c, 'env; echo "$0 $@"; env >&2; echo "$0 $@" >&2; exit 3', sh, --api-key=S3CRET, --password, S3CRET, --header, "Authorization: Bearer S3CRET"]
    args: [--token, S3CRET, "https://carol:S3CRET@api.example/", "CLIENT_SECRET=S3CRET"]
    env: {GITHUB_TOKEN: "S3CRET", API_KEYS: "S3CRET,S3CRET", TOKENS_JSON: '["S3CRET", "S3CRET"]', CLIENT_SECRET: "S3CRET", DSN: "mysql://root:S3CRET@h/d", HEADER: "Authorization: Bearer S3CRET"}
  other:
    command: "sh -c 'env; exit 4' sh --access-token S3CRET"
    env: {NPM_TOKEN: "S3CRET"}
    variants: {v1: {env: {NPM_TOKEN: "S3CRET"}}, v2: {args: ["--secret-key=S3CRET"]}}
  web:
    url: "http://127.0.0.1:1/mcp?api_key=S3CRET"
    headers: {Authorization: "Bearer S3CRET", X-Api-Key: "S3CRET", Cookie: "session=S3CRET"}
  tokened:
    url: "http://127.0.0.1:1/mcp"
    auth: {bearer_token_env: PLANTED_BEARER}
default_server: m
hooks:
  beforeAll: "sh -c 'echo $0 $@' sh --token S3CRET"
  beforeEach: {command: [sh, -c, 'cat >/dev/null; echo "{}"; echo "$0 $@" >&2', sh, --password=S3CRET], mode: context}
setup:
  - {name: seed, run: [sh, -c, 'env; echo "$@"; env >&2', sh, --api-key, S3CRET], env: {SEED_TOKEN: "S3CRET", SEED_PASSWORD: "S3CRET"}}
teardown:
  - {name: bad, run: [sh, -c, 'env; echo "$@"; env >&2; exit 1', sh, --client-secret=S3CRET], env: {END_SECRET: "S3CRET"}}
upstreams:
  api: {stands_for: "https://api.example", into: {env: API_URL}, routes: [{match: {path: /x}, reply: {status: 200, headers: {Set-Cookie: "session=S3CRET"}, json: {access_token: "S3CRET"}}}]}
tools:
  - {name: env in a call, tool: echo, args: {message: "${api_key} ${db_password} ${declared}"}, expect: [{target: text, matcher: {exact: no}}]}
  - {name: arguments, tool: echo, args: {message: "password=S3CRET"}, expect: [{target: text, matcher: {exact: "token: S3CRET"}}]}
  - {name: "row of ${case.user} ${case.password}", cases: rows.csv, tool: echo, args: {message: "${case.api_token}"}, expect: [{target: text, matcher: {exact: no}}]}
  - {name: exec, tool: echo, args: {message: hi}, expect: [{target: text, matcher: {exec: [sh, -c, 'echo "$@" >&2; exit 1', sh, --token, S3CRET, --api-key=S3CRET]}}]}
  - {name: over http, server: web, tool: echo, headers: {X-Auth-Token: "S3CRET"}, expect: [{target: text, matcher: {exact: x}}]}
  - {name: bearer, server: tokened, tool: echo, expect: [{target: text, matcher: {exact: x}}]}
  - {name: other, server: other@v1, tool: echo, expect: [{target: text, matcher: {exact: x}}]}
  - {name: another, server: other@v2, tool: echo, expect: [{target: text, matcher: {exact: x}}]}
start:
  - name: start
    server: loud
    env: {START_TOKEN: "S3CRET", START_PASSWORD: "S3CRET", START_URL: "redis://u:S3CRET@h/0"}
    args: [--refresh-token=S3CRET, --passphrase, S3CRET, "PRIVATE_TOKEN=S3CRET"]
    expect: [{target: exit.code, matcher: {exact: 0}}, {target: stdout, matcher: {exact: ""}}, {target: stderr, matcher: {exact: ""}}]
  - name: start a row
    server: loud
    cases: [{token: S3CRET, word: S3CRET}]
    env: {ROW_TOKEN: "${case.token}"}
    args: [--token, "${case.word}"]
    expect: [{target: stdout, matcher: {exact: ""}}, {target: stderr, matcher: {exact: ""}}]
http:
  - {name: raw, server: web, request: {headers: {Authorization: "Bearer S3CRET", X-Api-Key: {env: PLANTED_HEADER}}, body: {client_secret: "S3CRET"}}, expect: [{target: http.status, matcher: {exact: 200}}]}
agents:
  - {name: agent, prompt: "use password=S3CRET", script: [{call: {echo: {message: "api_key: S3CRET"}}}, {say: x}], expect: [{target: final, matcher: {exact: y}}]}
`

// No secret that a suite names for a program, a request or a test reaches a report, standard
// output or standard error.
func TestPlantedSecrets(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("the programs are shell scripts")
	}
	var p planted
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "mcptest.yaml"), []byte(p.fill(plantedSuite)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "rows.csv"), []byte(p.fill("user,password,api_token\nada,S3CRET,S3CRET\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"run", "mcptest.yaml", "-v", "--log-level", "debug"}
	for _, format := range []string{"pretty", "json", "ndjson", "junit", "tap", "md", "html", "sarif", "gitlab", "github", "matrix", "agent", "otlp", "minimal"} {
		args = append(args, "-r", format+"=report."+format)
	}
	for _, command := range [][]string{args, {"run", "mcptest.yaml", "--dry-run"}, {"run", "mcptest.yaml", "--list"}, {"validate", "mcptest.yaml"}} {
		cmd := exec.Command("mcptest", command...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "CI=", "NO_COLOR=1", "PLANTED_VARIABLE="+p.secret(), "PLANTED_BEARER="+p.secret(), "PLANTED_HEADER="+p.secret())
		out, _ := cmd.CombinedOutput() // most tests fail
		if len(out) == 0 || strings.Contains(string(out), "nothing was run") {
			t.Fatalf("mcptest %v: %s", command, out)
		}
		p.hidden(t, fmt.Sprint("output of ", command[:2], command[len(command)-1]), out)
	}
	reports, err := filepath.Glob(filepath.Join(dir, "report.*"))
	if err != nil || len(reports) != 14 {
		t.Fatal(reports, err)
	}
	for _, file := range reports {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		p.hidden(t, filepath.Base(file), data)
	}
	if len(p.values) < 50 {
		t.Errorf("only %d secrets", len(p.values))
	}
}

// hidden fails the test if an output shows a secret.
func (p *planted) hidden(t *testing.T, where string, data []byte) {
	t.Helper()
	for i, v := range p.values {
		if at := strings.Index(string(data), v); at >= 0 {
			t.Errorf("%s shows secret %d: …%s…", where, i, data[max(0, at-60):min(len(data), at+len(v)+5)])
		}
	}
}
