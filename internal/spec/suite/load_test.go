package suite_test

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"mcptest/internal/base/source"
	"mcptest/internal/spec/suite"
)

// write puts files into a new folder and returns it.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func load(t *testing.T, o suite.Options, files map[string]string) *suite.Suite {
	t.Helper()
	dir := write(t, files)
	o.BaseDir = dir
	s, diags := suite.Load(filepath.Join(dir, "s.yml"), o)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return s
}

const oneServer = "servers: {api: {command: [x]}}\n"

func TestVariables(t *testing.T) {
	s := load(t, suite.Options{
		Env:  []string{"OUT=from outside", "BRACES=${OUT}", "BOTH=process"},
		Vars: map[string]string{"number": "7", "text": "'7'", "odd": "a: b", "given": "true"},
	}, map[string]string{
		".env": "BOTH=file\nFILE=file\n",
		"s.yml": oneServer + `variables:
  plain: a
  number: 1
  text: 1
  odd: x
  outside: {from_env: OUT}
  braces: {from_env: BRACES}
  both: {from_env: BOTH}
  file: {from_env: FILE}
  chain: ${mixed}!
  mixed: ${plain}-${number}
  dir: ${CONFIG_DIR}
`,
	})
	got := map[string]string{}
	kinds := map[string]source.Kind{}
	for _, v := range s.Variables {
		got[v.Name], kinds[v.Name] = v.Value.Text, v.Value.Kind
	}
	for name, want := range map[string]string{
		"plain": "a", "number": "7", "text": "7", "odd": "a: b", "outside": "from outside", "braces": "${OUT}",
		"both": "process", "file": "file", "chain": "a-7!", "mixed": "a-7", "dir": s.Dir, "given": "true",
	} {
		if got[name] != want {
			t.Errorf("%s: got %q, want %q", name, got[name], want)
		}
	}
	if kinds["number"] != source.KindInt || kinds["text"] != source.KindString || kinds["given"] != source.KindBool || kinds["outside"] != source.KindString {
		t.Errorf("%v", kinds)
	}
	if !slices.Equal(s.UnusedVars, []string{"given"}) {
		t.Errorf("unused: %q", s.UnusedVars)
	}
}

// Values that are credentials by declaration, by name (whether the suite
// mentions it or a program just inherits it), or because they came from .env
// are secrets; others are not.
func TestSecrets(t *testing.T) {
	s := load(t, suite.Options{Env: []string{
		"DECLARED=declared-value", "API_TOKEN=used-in-placeholder", "UNUSED_TOKEN=never-mentioned", "UNUSED_PASSWORD=postgres", "AUTHOR=somebody-known", "HEADER=header-value", "BEARER=bearer-value",
	}, Vars: map[string]string{"DB_PASSWORD": "given-by-flag"}}, map[string]string{
		".env": "ANY=from-dot-env\nSHORT=x\n",
		"s.yml": `variables:
  a: {from_env: DECLARED, secret: true}
  b: {from_env: AUTHOR}
  client_secret: written-in-suite
servers:
  api: {command: [x, "${API_TOKEN}", "${DB_PASSWORD}"], env: {MY_KEY: key-of-server, MODE: not-a-secret}}
  web:
    url: http://127.0.0.1/
    headers: {X-One: {env: HEADER}, Authorization: "Bearer inline-token", X-Mode: not-a-secret}
  bearer: {url: "http://127.0.0.1/", auth: {bearer_token_env: BEARER}}
  words: {command: [x, --api-key, argument-one, --password=argument-two, --token-file, path-of-a-file, --token, --verbose]}
  line: {command: "x --client-secret 'argument-three' --secret=<placeholder>"}
env: {SUITE_TOKEN: token-of-suite}
`,
	})
	for _, want := range []string{
		"declared-value", "used-in-placeholder", "from-dot-env", "written-in-suite", "key-of-server", "header-value", "inline-token",
		"bearer-value", "token-of-suite", "given-by-flag", "never-mentioned",
		"argument-one", "argument-two", "argument-three",
	} {
		if !slices.Contains(s.Secrets, want) {
			t.Errorf("%q is no secret", want)
		}
	}
	for _, not := range []string{"postgres", "somebody-known", "not-a-secret", "x", "", "path-of-a-file", "--verbose", "<placeholder>"} {
		if slices.Contains(s.Secrets, not) {
			t.Errorf("%q is a secret", not)
		}
	}
}

func TestDotEnvMayBeAFolder(t *testing.T) {
	load(t, suite.Options{}, map[string]string{"s.yml": oneServer, ".env/bin/activate": "x"})
}

// A cycle through symbolic links is a cycle, and a file reached under two names
// is one file.
func TestImportsThroughLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("symbolic links need a privilege")
	}
	dir := write(t, map[string]string{
		"s.yml":     "imports: [a/one.yml, link/one.yml, a/self/self/round.yml]\n" + oneServer,
		"a/one.yml": "variables: {v: 1}\n", "a/round.yml": "imports: [self/round.yml]\n",
		"out/o.yml": "variables: {o: 1}\n",
	})
	for link, to := range map[string]string{"link": "a", "a/self": "."} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	_, diags := suite.Load(filepath.Join(dir, "s.yml"), suite.Options{BaseDir: dir})
	if len(diags) != 1 || !strings.Contains(diags[0].Msg, "import cycle: a/round.yml → a/round.yml") {
		t.Errorf("%v", diags)
	}
	// A link that leads outside is outside.
	outside := write(t, map[string]string{"x.yml": "variables: {x: 1}\n"})
	if err := os.Symlink(outside, filepath.Join(dir, "away")); err != nil {
		t.Fatal(err)
	}
	for path, inside := range map[string]bool{
		dir: true, filepath.Join(dir, "link", "one.yml"): true, filepath.Join(dir, "not", "there", "yet.yml"): true,
		filepath.Join(dir, "away", "x.yml"): false, filepath.Join(dir, "away", "not-there.yml"): false, filepath.Dir(dir): false, outside: false,
		dir + "-sibling": false, filepath.Join(dir, "..", filepath.Base(dir), "a"): true,
	} {
		if suite.IsInside(dir, path) != inside {
			t.Errorf("%s: want inside %v", path, inside)
		}
	}
}

// Hooks of an import keep that file's limit and scope.
func TestImportedHooks(t *testing.T) {
	s := load(t, suite.Options{}, map[string]string{
		"s.yml":        "imports: [sub/more.yml]\n" + oneServer + "hooks: {beforeAll: root, timeout: 5s}\n",
		"sub/more.yml": "hooks: {beforeAll: [more, {command: own, mode: context, timeout: 7s}], timeout: 6s}\n",
	})
	var got []string
	for _, h := range s.Hooks.BeforeAll {
		got = append(got, h.Command.Text+" "+h.Timeout.String())
	}
	if want := []string{"root 5s", "more 6s", "own 7s"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestNameOfASuite(t *testing.T) {
	for file, want := range map[string]string{"shop.mcptest.yaml": "shop", "a.b.yml": "a.b", "mcptest.yaml": "mcptest", "x": "x"} {
		dir := write(t, map[string]string{file: oneServer})
		s, diags := suite.Load(filepath.Join(dir, file), suite.Options{})
		if diags.HasErrors() || s.Name != want {
			t.Errorf("%s: %q, %v", file, s.Name, diags)
		}
	}
}

// An unreadable file is one diagnostic and no suite.
func TestUnreadable(t *testing.T) {
	dir := write(t, map[string]string{"list.yml": "- a\n", "empty.yml": ""})
	for name, want := range map[string]string{
		"missing.yml": "no such file", ".": "directory", "list.yml": "expected a suite: a map of keys", "empty.yml": "the file is empty",
	} {
		s, diags := suite.Load(filepath.Join(dir, name), suite.Options{})
		if s != nil || len(diags) != 1 || !strings.Contains(diags.Error(), want) {
			t.Errorf("%s: %v", name, diags)
		}
	}
}
