package bundle

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mcptest/internal/base/source"
)

// bundleOf returns a bundle with a command and options.
func bundleOf(t testing.TB, config, options string) *Bundle {
	t.Helper()
	text := `{"manifest_version": "0.3", "name": "n", "version": "1", "description": "d", "author": {"name": "a"},
 "server": {"type": "node", "entry_point": "server.js", "mcp_config": ` + config + `}, "user_config": {` + options + `}}`
	b, got := openBytes(t, pack(t, manifestEntry(text), serverEntry, entry{name: "bin/tool", mode: 0o755}))
	if got != "" {
		t.Fatal(got)
	}
	return b
}

// values are the values of a suite.
func values(t testing.TB, text string) Config {
	t.Helper()
	f := &source.File{Name: "suite.yaml", Data: []byte(text)}
	c := Config{Path: "config", Pos: source.Pos{File: f, Line: 1, Col: 1}, Dir: filepath.FromSlash("/suite")}
	if text == "" {
		return c
	}
	n, ds := source.Parse(f)
	if !ds.HasErrors() {
		ds = source.Decode(n, &c.Values)
	}
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	return c
}

const options = `"key": {"type": "string"}, "dirs": {"type": "directory", "multiple": true}, "one": {"type": "file"},
 "level": {"type": "number", "min": 1, "max": 10}, "on": {"type": "boolean"}, "empty": {"type": "string", "default": ""},
 "preset": {"type": "directory", "multiple": true, "default": ["${HOME}/a", "${DOWNLOADS}${/}b"]}, "deep": {"type": "number", "default": 5.0}`

func TestVariables(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ args, given, want string }{
		{`["${__dirname}/server.js", "${HOME}", "${DESKTOP}", "${DOCUMENTS}", "${DOWNLOADS}", "a${/}b${pathSeparator}c"]`, ``, "DIR/server.js|/home/u|/home/u/Desktop|/home/u/Documents|/home/u/Downloads|a/b/c"},
		{`["${user_config.key}", "k=${user_config.key}"]`, `key: v w`, "v w|k=v w"},
		{`["${user_config.dirs}", "end"]`, `dirs: [/a, b]`, "/a|/suite/b|end"},
		{`["${user_config.dirs}", "end"]`, `dirs: []`, "end"},
		{`["${user_config.dirs}"]`, `dirs: /a`, "/a"},
		{`["x${user_config.dirs}"]`, `dirs: [/a, /b]`, "x${user_config.dirs}"},
		{`["${user_config.one}"]`, `one: f.txt`, "/suite/f.txt"},
		{`["${user_config.level}", "${user_config.on}", "${user_config.deep}"]`, `{level: 2.50, on: false}`, "2.5|false|5"},
		{`["${user_config.preset}"]`, ``, "/home/u/a|/home/u/Downloads/b"},
		{`["${user_config.key}", "k=${user_config.key}", "${user_config.empty}", "e=${user_config.empty}"]`, ``, "${user_config.key}|k=${user_config.key}|${user_config.empty}|e="},
		{`["${user_config.key}"]`, `key: ""`, "${user_config.key}"},
		{`["${user_config.none}", "${NONE}", "${", "${x${HOME}}", "$HOME", "a}b"]`, ``, "${user_config.none}|${NONE}|${|${x/home/u}|$HOME|a}b"},
		{`["${user_config.key}${user_config.key}"]`, `key: v`, "vv"},
		{`["${user_config.key}"]`, `key: "${HOME}"`, "${HOME}"},
	} {
		b := bundleOf(t, `{"command": "node", "args": `+c.args+`}`, options)
		p, ds := b.Program(values(t, c.given), System{Platform: "linux", Home: "/home/u"}, nil)
		got := strings.ReplaceAll(strings.Join(p.Argv[1:], "|"), p.folder.content(), "DIR")
		if got != c.want || len(ds) > 0 {
			t.Errorf("%s with %q:\ngot  %s %v\nwant %s", c.args, c.given, got, ds, c.want)
		}
	}
}

func TestMistakesInValues(t *testing.T) {
	t.Parallel()
	b := bundleOf(t, `{"command": "node"}`, options+`, "must": {"type": "string", "required": true, "sensitive": true}`)
	for given, want := range map[string]string{
		`{must: x, kee: 1}`:                     `suite.yaml:1:11: error: config.kee: the bundle has no option "kee"`,
		`{must: x, level: 11}`:                  "11 is more than the maximum of the option, 10",
		`{must: x, level: 0}`:                   "0 is less than the minimum",
		`{must: x, level: high}`:                "config.level: expected a number",
		`{must: x, on: 1}`:                      "config.on: expected true or false",
		`{must: x, key: 5}`:                     `config.key: expected text, got number 5`,
		`{must: x, key: [a]}`:                   "config.key: expected one value, got a list",
		`{must: x, dirs: [1]}`:                  "config.dirs[0]: expected text",
		`{}`:                                    `suite.yaml:1:1: error: config: the option "must" of the bundle is required and has no value`,
		`{must: x, level: null}`:                "config.level: expected a number",
		`{must: x, level: {}}`:                  "config.level: expected a number",
		`{must: x, aaaaaaaaaaaaaaaaaaaaaa: ""}`: "the bundle has no option",
	} {
		_, ds := b.Program(values(t, given), System{Platform: "linux"}, nil)
		if len(ds) != 1 || !strings.Contains(ds[0].String(), want) {
			t.Errorf("%s: got %v, want one diagnostic with %q", given, ds, want)
		}
	}
	_, ds := b.Program(Config{}, System{Platform: "linux"}, nil)
	if len(ds) != 1 || !strings.Contains(ds[0].String(), "manifest.json:4:144:") {
		t.Errorf("on a command line: %v", ds)
	}
	p, _ := b.Program(values(t, "must: hidden"), System{Platform: "linux"}, nil)
	if !slices.Equal(p.Secrets, []string{"hidden"}) {
		t.Errorf("secrets %q", p.Secrets)
	}
}

func TestPlatforms(t *testing.T) {
	t.Parallel()
	b := bundleOf(t, `{"command": "${__dirname}/bin/tool", "args": ["a"], "env": {"A": "1", "B": "2"}, "platform_overrides": {
  "win32": {"command": "${__dirname}/bin/tool.exe"}, "darwin": {"args": [], "env": {"C": "${/}"}}}}`, "")
	for platform, want := range map[string]string{
		"linux":  "DIR/bin/tool a A=1 B=2",
		"darwin": "DIR/bin/tool C=/",
	} {
		p, ds := b.Program(Config{}, System{Platform: platform}, nil)
		got := strings.Join(slices.Concat(p.Argv, p.Env), " ")
		got = strings.ReplaceAll(got, p.folder.content(), "DIR")
		if got != want || len(ds) > 0 {
			t.Errorf("%s: got %s %v, want %s", platform, got, ds, want)
		}
	}
	_, ds := b.Program(Config{}, System{Platform: "win32"}, nil)
	if len(ds) != 1 || !strings.Contains(ds[0].String(), `server.mcp_config.platform_overrides.win32.command: "bin/tool.exe" is not in the bundle`) {
		t.Errorf("win32: %v", ds)
	}
}

// What a command names by a relative path is found, because the server is started in the
// bundle; otherwise it is started in an empty folder.
func TestRelativePaths(t *testing.T) {
	t.Parallel()
	for config, relative := range map[string]bool{
		`{"command": "bin/tool"}`:                                 true,
		`{"command": "node", "args": ["server.js"]}`:              true,
		`{"command": "node", "args": ["${__dirname}/server.js"]}`: false,
		`{"command": "node", "args": ["other.js"]}`:               false,
	} {
		p, ds := bundleOf(t, config, "").Program(Config{}, System{Platform: "linux"}, nil)
		if len(ds) > 0 || (p.Dir == p.folder.content()) != relative {
			t.Errorf("%s: folder %s %v", config, p.Dir, ds)
		}
		if strings.Contains(config, "bin/tool") && p.Argv[0] != filepath.Join(p.folder.content(), "bin", "tool") {
			t.Errorf("%s starts %s", config, p.Argv[0])
		}
	}
}

func TestUnknownVersions(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]string{
		`"manifest_version": "0.1"`: "", `"manifest_version": "0.4"`: "", `"dxt_version": "0.1"`: "",
		`"manifest_version": "1.0"`: "1:22: error: manifest_version: manifest_version 1.0 is not known",
		`"x": 1`:                    `missing key "manifest_version"`,
	} {
		text := strings.Replace(minimal, `"manifest_version": "0.3"`, version, 1)
		b, got := openBytes(t, pack(t, manifestEntry(text), serverEntry))
		if got != "" {
			t.Fatal(got)
		}
		_, ds := b.Program(Config{}, System{Platform: "linux"}, nil)
		if (want == "") != (len(ds) == 0) || want != "" && !strings.Contains(ds[0].String(), want) {
			t.Errorf("%s: %v", version, ds)
		}
	}
}

// owner removes folders when the test says so.
type owner struct{ remove []func() }

func (o *owner) OwnDir(path string, release func()) {
	o.remove = append(o.remove, func() {
		release()
		_ = os.RemoveAll(path)
	})
}

func TestUnpack(t *testing.T) {
	t.Parallel()
	b, got := openBytes(t, pack(t, manifestEntry(minimal), serverEntry, entry{name: "e/"}, entry{name: "./d/run", text: "x", mode: 0o755}, entry{name: "d/dot.."}))
	if got != "" {
		t.Fatal(got)
	}
	var folders Folders
	p, ds := b.Program(Config{}, System{Platform: "linux"}, &folders)
	again, _ := b.Program(Config{}, System{Platform: "linux"}, &folders)
	if len(ds) > 0 || again.folder != p.folder {
		t.Fatal(ds, again.folder, p.folder)
	}
	o := &owner{}
	for range 2 {
		if err := p.Prepare(o); err != nil {
			t.Fatal(err)
		}
	}
	root := p.folder.content()
	text, err := os.ReadFile(filepath.Join(root, "server.js"))
	info, _ := os.Stat(filepath.Join(root, "d", "run"))
	if err != nil || string(text) != "1" || info == nil || info.Mode().Perm()&0o100 == 0 {
		t.Errorf("%q %v %v", text, err, info)
	}
	if len(o.remove) != 1 {
		t.Fatalf("%d owners", len(o.remove))
	}
	o.remove[0]()
	if _, err := os.Stat(p.folder.path); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the folder is left")
	}
	if err := again.Prepare(o); err != nil { // a further command of the same process
		t.Fatal(err)
	}
	o.remove[1]()
}

// A damaged file is no reason for a panic, and nothing but the folder is written.
func TestDamagedFile(t *testing.T) {
	t.Parallel()
	data := pack(t, manifestEntry(minimal), entry{name: "server.js", text: strings.Repeat("abc", 1000)})
	at := strings.LastIndex(string(data), "server.js\x00")
	b, got := openBytes(t, data)
	if got != "" || at > 0 {
		t.Fatal(got, at)
	}
	data[strings.Index(string(data), "server.js")+len("server.js")+3] ^= 0xff
	if err := os.WriteFile(b.Path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := b.Verify(); err == nil || !strings.Contains(err.Error(), `"server.js" is damaged`) {
		t.Errorf("verify: %v", err)
	}
	p, _ := b.Program(Config{}, System{Platform: "linux"}, nil)
	o := &owner{}
	if err := p.Prepare(o); err == nil || !strings.Contains(err.Error(), "unpack x.mcpb") {
		t.Errorf("prepare: %v", err)
	}
	for _, remove := range o.remove {
		remove()
	}
}

// A folder whose lock no process holds is left over, once it is old enough; others are not.
func TestStaleFolders(t *testing.T) {
	t.Parallel()
	old := time.Now().Add(-2 * staleAge)
	leftOver := func() *Folder {
		f := newFolder()
		o := &owner{}
		if err := f.create(o); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(o.remove[0])
		if err := os.Chtimes(filepath.Join(f.path, lockName), old, old); err != nil {
			t.Fatal(err)
		}
		return f
	}
	used := leftOver()
	removeUnlocked(used.path)
	if _, err := os.Stat(used.content()); err != nil {
		t.Error("a folder that is used was removed")
	}
	dead, o := newFolder(), &owner{}
	if err := dead.create(o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dead.path) })
	lock := filepath.Join(dead.path, lockName)
	if err := os.Remove(lock); err != nil { // as if its owner had died: no process has locked this file
		t.Fatal(err)
	}
	if err := os.WriteFile(lock, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	removeUnlocked(dead.path)
	if _, err := os.Stat(dead.path); err != nil {
		t.Error("a folder that was just made was removed")
	}
	_ = os.Chtimes(lock, old, old)
	removeUnlocked(dead.path)
	if _, err := os.Stat(dead.path); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a folder that is left over was not removed")
	}
	o.remove[0]()
}
