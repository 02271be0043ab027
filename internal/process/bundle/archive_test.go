package bundle

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// entry is one entry of an archive of a test.
type entry struct {
	name, text string
	mode       fs.FileMode
	change     func(*zip.FileHeader)
}

const minimal = `{"manifest_version": "0.3", "name": "n", "version": "1.0.0", "description": "d", "author": {"name": "a"},
 "server": {"type": "node", "entry_point": "server.js", "mcp_config": {"command": "node", "args": ["${__dirname}/server.js"]}}}`

// pack returns the bytes of an archive.
func pack(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
		if e.mode != 0 {
			h.SetMode(e.mode)
		}
		if e.change != nil {
			e.change(h)
		}
		out, err := w.CreateHeader(h)
		if err == nil && !strings.HasSuffix(e.name, "/") {
			_, err = out.Write([]byte(e.text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// openBytes opens an archive of a test, and returns the text of the diagnostics.
func openBytes(t testing.TB, data []byte) (*Bundle, string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "x.mcpb")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	b, ds := Open(file, "x.mcpb")
	var lines []string
	for _, d := range ds {
		lines = append(lines, d.String()+" | "+d.Hint)
	}
	return b, strings.Join(lines, "\n")
}

func manifestEntry(text string) entry { return entry{name: "manifest.json", text: text} }

var serverEntry = entry{name: "server.js", text: "1"}

// Each archive that can't be read, or not everywhere, is refused as a whole with one
// diagnostic.
func TestRefusedArchives(t *testing.T) {
	t.Parallel()
	good := pack(t, manifestEntry(minimal), serverEntry)
	with := func(e ...entry) []byte { return pack(t, append([]entry{manifestEntry(minimal), serverEntry}, e...)...) }
	many := make([]entry, MaxEntries)
	for i := range many {
		many[i] = entry{name: fmt.Sprintf("f%d", i), change: func(h *zip.FileHeader) { h.Method = zip.Store }}
	}
	encrypted := bytes.Clone(good)
	for _, signature := range []string{"PK\x03\x04", "PK\x01\x02"} {
		at := bytes.Index(encrypted, []byte(signature)) + map[string]int{"PK\x03\x04": 6, "PK\x01\x02": 8}[signature]
		encrypted[at] |= 1
	}
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"empty":           {nil, "x.mcpb: error: the file is empty"},
		"text":            {[]byte("hello"), "not a ZIP archive"},
		"a page":          {[]byte("<!doctype html><html>"), "a page of HTML"},
		"a manifest":      {[]byte(minimal), "it is JSON"},
		"gzip":            {[]byte("\x1f\x8b\x08rest"), "compressed with gzip"},
		"a pointer":       {[]byte("version https://git-lfs.github.com/spec/v1\n"), "Git LFS"},
		"cut off":         {good[:len(good)-30], "cut off or damaged"},
		"encrypted":       {encrypted, "the archive is encrypted"},
		"many":            {with(many...), "entries; at most 65536 are unpacked"},
		"no manifest":     {pack(t, serverEntry), "the archive has no manifest.json | mcpb init writes one"},
		"nested":          {pack(t, entry{name: "my/manifest.json", text: minimal}), `there is one in the folder "my" | pack the content`},
		"other case":      {pack(t, entry{name: "Manifest.json", text: minimal}), `there is "Manifest.json"`},
		"two manifests":   {with(manifestEntry("{}")), "two manifests"},
		"dot manifests":   {with(entry{name: "./manifest.json", text: "{}"}), "two manifests"},
		"twice":           {with(serverEntry), `two entries called "server.js"`},
		"case":            {with(entry{name: "SERVER.js"}), "differ in case only"},
		"case of letters": {with(entry{name: "Ä.js"}, entry{name: "ä.js"}), "differ in case only"},
		"link":            {with(entry{name: "l", text: "/etc", mode: fs.ModeSymlink | 0o777}), "is a symbolic link"},
		"device":          {with(entry{name: "d", mode: fs.ModeDevice | fs.ModeCharDevice | 0o600}), "neither a file nor a folder"},
		"dots":            {with(entry{name: "../../etc/passwd"}), "has .. in its path"},
		"dots below":      {with(entry{name: "a/../../b"}), "has .. in its path"},
		"dots of Windows": {with(entry{name: `..\b`}), "has .. in its path"},
		"absolute":        {with(entry{name: "/etc/passwd"}), "is absolute"},
		"share":           {with(entry{name: `\\host\share\f`}), "is absolute"},
		"drive":           {with(entry{name: "C:/Windows/f"}), "drive letter"},
		"drive relative":  {with(entry{name: "c:f"}), "drive letter"},
		"backslash":       {with(entry{name: `a\b.js`}), "has a backslash"},
		"control":         {with(entry{name: "a\nb"}), "control characters"},
		"file and folder": {with(entry{name: "a", text: "1"}, entry{name: "a/b", text: "1"}), `"a" is a file, and the folder of "a/b"`},
		"method":          {changeMethod(with(entry{name: "a", text: "1"})), "compressed with method 12"},
		"large":           {changeSize(good), "unpacks to more than 4 GiB"},
		"large manifest":  {pack(t, manifestEntry(strings.Repeat(" ", 100<<20)+minimal)), "the manifest has 100 MB; at most 4"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, got := openBytes(t, c.data)
			if b != nil || !strings.Contains(got, c.want) || strings.Count(got, "\n") > 0 {
				t.Errorf("got %q, want one diagnostic with %q", got, c.want)
			}
		})
	}
}

// changeMethod makes the last entry one of another compression.
func changeMethod(data []byte) []byte {
	binary.LittleEndian.PutUint16(data[bytes.LastIndex(data, []byte("PK\x01\x02"))+10:], 12)
	return data
}

// changeSize makes the last entry claim that it is very large.
func changeSize(data []byte) []byte {
	data = bytes.Clone(data)
	at := bytes.LastIndex(data, []byte("PK\x01\x02"))
	binary.LittleEndian.PutUint32(data[at+24:], 0xfffffff0)
	at = bytes.Index(data, []byte("PK\x01\x02"))
	binary.LittleEndian.PutUint32(data[at+24:], 0xfffffff0)
	return data
}

// Mistakes in the manifest have a line and a column.
func TestManifestMistakes(t *testing.T) {
	t.Parallel()
	change := func(old, text string) string { return strings.Replace(minimal, old, text, 1) }
	options := func(text string) string { return change(`"server":`, `"user_config": {"a": `+text+`}, "server":`) }
	for name, c := range map[string]struct{ manifest, want string }{
		"a comment":        {"{ // x\n}", "x.mcpb/manifest.json:1:3: error: not JSON"},
		"a comma":          {change(`"name": "n",`, `"name": "n",,`), "x.mcpb/manifest.json:1:41: error: not JSON"},
		"a mark":           {"\ufeff" + minimal, "byte order mark"},
		"a list":           {"[]", "1:1: error: the manifest must be an object, got a list"},
		"no server":        {`{"manifest_version": "0.3"}`, `1:1: error: missing key "server"`},
		"type":             {change(`"node"`, `"ruby"`), `2:21: error: server.type`},
		"command":          {change(`"command": "node"`, `"command": 5`), "2:83: error: server.mcp_config.command: expected text, got number 5"},
		"args":             {change(`["${__dirname}/server.js"]`, `"x"`), "server.mcp_config.args"},
		"env":              {change(`"command":`, `"env": {"A": 1}, "command":`), "server.mcp_config.env.A: expected text"},
		"empty command":    {change(`"command": "node"`, `"command": " "`), "2:83: error: server.mcp_config.command: the text is empty"},
		"empty entry":      {change(`"server.js"`, `""`), "server.entry_point: the text is empty"},
		"NUL":              {change(`"command": "node"`, `"command": "node", "env": {"A": "\u0000"}`), "server.mcp_config.env.A: the text has a NUL byte"},
		"NUL in override":  {change(`"command": "node"`, `"command": "node", "platform_overrides": {"linux": {"args": ["\u0000"]}}`), "platform_overrides.linux.args[0]: the text has a NUL byte"},
		"name of variable": {change(`"command": "node"`, `"command": "node", "env": {"A=B": "x"}`), `"A=B" can't be the name of a variable`},
		"empty":            {" ", "1:2: error: not JSON: the text is empty"},
		"no entry point":   {change(`"entry_point": "server.js",`, ``), `missing key "entry_point"`},
		"type of option":   {options(`{"type": "color"}`), `2:32: error: user_config.a.type`},
		"no type":          {options(`{}`), `user_config.a: missing key "type"`},
		"option is text":   {options(`"x"`), `user_config.a: expected a map, got text "x"`},
		"text for boolean": {options(`{"type": "string", "required": "yes"}`), "user_config.a.required"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, got := openBytes(t, pack(t, manifestEntry(c.manifest), serverEntry))
			if !strings.Contains(got, c.want) || strings.Count(got, "\n") > 0 {
				t.Errorf("got %q, want one diagnostic with %q", got, c.want)
			}
		})
	}
}

// Positions are right with tabs, escapes, empty values and values of the same text.
func TestPositions(t *testing.T) {
	t.Parallel()
	text := "\t{ \"a\\\"b\" : [ ],\n\t\"x\": {\"y\": [1, 1,\n 1], \"ö\": \"ö\", \"z\": null}}\n"
	b := strings.NewReplacer(`"server":`, `"extra": `+text+`, "server":`).Replace(minimal)
	bundle, got := openBytes(t, pack(t, manifestEntry(b), serverEntry))
	if got != "" {
		t.Fatal(got)
	}
	m := bundle.Manifest
	for _, c := range []struct {
		keys []string
		want string
	}{
		{[]string{"extra", `a"b`}, "2:23"},
		{[]string{"extra", "x", "ö"}, "4:11"},
		{[]string{"extra", "x", "z"}, "4:21"},
		{[]string{"server", "type"}, "5:22"},
	} {
		n := m.find(c.keys...)
		if n == nil || !strings.HasSuffix(n.Pos.String(), ":"+c.want) {
			t.Errorf("%v is at %v, want %s", c.keys, n, c.want)
		}
	}
	if last := m.find("extra", "x", "y").Items[2]; last.Pos.Line != 4 || last.Pos.Col != 2 {
		t.Errorf("the last item is at %v", last.Pos)
	}
}

// A signature follows the archive, and may be longer than what a reader of archives looks at.
func TestSignedBundles(t *testing.T) {
	t.Parallel()
	for _, length := range []int{0, 2_000, 100_000} {
		data := pack(t, manifestEntry(minimal), serverEntry)
		data = append(data, signatureHeader...)
		data = binary.LittleEndian.AppendUint32(data, uint32(length))
		data = append(data, bytes.Repeat([]byte{'s'}, length)...)
		data = append(data, signatureFooter...)
		b, got := openBytes(t, data)
		if got != "" || b == nil || !b.Signed {
			t.Errorf("a signature of %d bytes: %q", length, got)
		}
	}
	b, got := openBytes(t, pack(t, manifestEntry(minimal), serverEntry))
	if got != "" || b.Signed {
		t.Errorf("without a signature: %q", got)
	}
}

func FuzzManifest(f *testing.F) {
	f.Add([]byte(minimal))
	f.Add([]byte(`{"user_config": [], "server": {"mcp_config": {"platform_overrides": {"win32": null}}}}`))
	f.Add([]byte("{\"a\":\"\\\\\\\"\",\"b\":[{},[],\"]\"]}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 1<<16 {
			return
		}
		b, _ := openBytes(t, pack(t, manifestEntry(string(text))))
		if b != nil {
			b.Program(Config{}, System{Platform: "linux"}, nil)
		}
	})
}
