package surface_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
	"mcptest/internal/offer/surface"
)

func parse(t interface{ Fatal(...any) }, text string) jsonv.Value {
	v, err := jsonv.Parse([]byte(text))
	if err != nil {
		t.Fatal(err, text)
	}
	return v
}

// value generates a random JSON value with texts and keys that are difficult in YAML.
func value(depth int) *rapid.Generator[jsonv.Value] {
	text := rapid.OneOf(
		rapid.SampledFrom([]string{
			"", "true", "no", "~", "<<", "- a", "a: b", "#x", "a #b", "0x1f", "1_000", "1e3", ".inf", "2020-01-01", "a\nb", "a\n\nb", "\na", "a\n", " a\nb", "a \nb",
			"a\tb\nc", "\u202eabc", "\u200b", "\x1b[31m", "\ufeff", "👩\u200d👩", "\u2028", "${x}", "'", "\"", "\\n", "<<<<<<< HEAD", "a\n=======\nb", "\r\n", "&a", "*a", "!t", "%d", "@x", "`", "|", ">-", "[", "{", "key", "=", "?", "? a", "\u0085", "\ue000", "a\n# b", "a:\nb", "---", "a\n---\nb", "...\na",
		}),
		rapid.String(),
	)
	return rapid.Custom(func(t *rapid.T) jsonv.Value {
		n := 6
		if depth == 0 {
			n = 4
		}
		switch rapid.IntRange(0, n-1).Draw(t, "kind") {
		case 0:
			return jsonv.String(text.Draw(t, "text"))
		case 1:
			n, err := jsonv.Number(rapid.SampledFrom([]string{"0", "-0", "1.0", "1e400", "12345678901234567890", "0.10", "-1.5E-7"}).Draw(t, "number"))
			if err != nil {
				t.Fatal(err)
			}
			return n
		case 2:
			return jsonv.Bool(rapid.Bool().Draw(t, "bool"))
		case 3:
			return jsonv.Null()
		case 4:
			return jsonv.Array(rapid.SliceOfN(value(depth-1), 0, 3).Draw(t, "list")...)
		}
		var out []jsonv.Member
		for k, v := range rapid.MapOfN(text, value(depth-1), 0, 3).Draw(t, "map") {
			out = append(out, jsonv.Member{Key: k, Value: v})
		}
		return jsonv.Object(out...)
	})
}

// TestLockRoundTrip: what is read from a lock file is what was written,
// for any definition, and the file shows no hidden character.
func TestLockRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tool := jsonv.Object(jsonv.Member{Key: "name", Value: jsonv.String(rapid.String().Draw(t, "name"))}, jsonv.Member{Key: "x", Value: value(3).Draw(t, "x")})
		hello := jsonv.Object(jsonv.Member{Key: "instructions", Value: value(1).Draw(t, "instructions")})
		in := surface.New(rapid.String().Draw(t, "server"), hello, map[surface.Kind][]jsonv.Value{surface.Tool: {tool}}, nil, nil)
		if len(in.Warnings) > 0 {
			t.Skip("no name")
		}
		data, err := in.Lock()
		if err != nil {
			t.Fatal(err)
		}
		out, err := surface.ParseLock(&source.File{Name: "x.lock.yaml", Data: data})
		if err != nil {
			t.Fatalf("%v\n%s", err, data)
		}
		again, err := out.Lock()
		if err != nil || string(again) != string(data) {
			t.Fatalf("%v\n%s\nread as\n%s", err, data, again)
		}
		if out.Server != in.Server || out.Items[0].Name != in.Items[0].Name || out.Items[0].Def.String() != in.Items[0].Def.String() || out.Info.String() != in.Info.String() {
			t.Fatalf("%s\nread as %s", in.Items[0].Def, out.Items[0].Def)
		}
		if i := strings.IndexAny(string(data), "\u202e\u200b\x1b\u2028\ue000\r"); i >= 0 {
			t.Fatalf("hidden character in %q", data)
		}
	})
}

// TestCanonical: the order of lists and members does not matter, digits do.
func TestCanonical(t *testing.T) {
	t.Parallel()
	lock := func(list string) string {
		s := surface.New("api", jsonv.Value{}, map[surface.Kind][]jsonv.Value{surface.Tool: elems(parse(t, list))}, nil, nil)
		data, err := s.Lock()
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	a := lock(`[{"name":"b","x":{"p":1,"o":2}},{"name":"a"}]`)
	if b := lock(`[{"name":"a"},{"x":{"o":2,"p":1},"name":"b"}]`); a != b {
		t.Errorf("%s\n%s", a, b)
	}
	if b := lock(`[{"name":"a"},{"x":{"o":2,"p":1.0},"name":"b"}]`); a == b {
		t.Error("1 and 1.0 have the same lock")
	}
}

func elems(v jsonv.Value) []jsonv.Value {
	var out []jsonv.Value
	for _, e := range v.Elems() {
		out = append(out, e)
	}
	return out
}

func TestSecretsAreHashed(t *testing.T) {
	t.Parallel()
	mask := func(s string) string { return strings.ReplaceAll(s, "hunter2hunter2", "[redacted]") }
	def := func(text string) string {
		s := surface.New("api", jsonv.Value{}, map[surface.Kind][]jsonv.Value{surface.Tool: {parse(t, `{"name":"a","description":"`+text+`"}`)}}, mask, nil)
		return s.Items[0].Def.Lookup("description").Text()
	}
	a, b := def("token hunter2hunter2 of x"), def("token hunter2hunter2 of y")
	if !strings.HasPrefix(a, "token [redacted sha256:") || strings.Contains(a, "hunter2") || a[:40] == b[:40] {
		t.Errorf("%s\n%s", a, b)
	}
	if mask(a) != a {
		t.Errorf("masking is not idempotent: %s", mask(a))
	}
}

func goodLock(t *testing.T) string {
	s := surface.New("api", jsonv.Value{}, map[surface.Kind][]jsonv.Value{surface.Tool: elems(parse(t, `[{"name":"add","description":"Add two numbers."},{"name":"sub"}]`))}, nil, nil)
	data, err := s.Lock()
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestBadLocks: what happened to a lock file is reported with its line.
func TestBadLocks(t *testing.T) {
	t.Parallel()
	good := goodLock(t)
	replace := func(old, with string) string {
		if !strings.Contains(good, old) {
			t.Fatalf("no %q in\n%s", old, good)
		}
		return strings.Replace(good, old, with, 1)
	}
	for name, test := range map[string]struct{ text, want string }{
		"edited":         {replace("Add two", "Add three"), "x.lock.yaml:7:15: error: tools.add: the block was edited by hand"},
		"server edited":  {replace("server: api", "server: other"), "x.lock.yaml:4:11: error: the block was edited by hand"},
		"newer":          {replace("mcptest_lock: 1", "mcptest_lock: 2"), "x.lock.yaml:2:15: error: mcptest_lock: the lock file has format 2, this version of mcptest reads 1"},
		"odd version":    {replace("mcptest_lock: 1", "mcptest_lock: one"), `unknown format "one", expected 1`},
		"cut":            {good[:len(good)/2], "the lock file is cut off"},
		"cut at a block": {replace("end: true\n", ""), "the lock file is cut off"},
		"conflict":       {replace("  add:", "<<<<<<< HEAD\n  add:\n=======\n  add:\n>>>>>>> b\n"), "x.lock.yaml:6:1: error: the file has an unresolved merge conflict"},
		"twice":          {replace("  sub:", "  add:"), "add"},
		"no checksum":    {replace("    checksum: ", "    sum: "), "the block has no checksum"},
		"other file":     {"servers: {}\nend: true\n", "not a lock file of mcptest"},
		"empty":          {"", "cut off"},
		"list":           {"- 1\nend: true\n", "error"},
		"unknown key":    {replace("tools:", "tols:"), "tols"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := surface.ParseLock(&source.File{Name: "x.lock.yaml", Data: []byte(test.text)})
			var ds source.Diagnostics
			if !errors.As(err, &ds) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %s in\n%s", err, test.want, test.text)
			}
		})
	}
	if _, err := surface.ParseLock(&source.File{Name: "x", Data: []byte(strings.ReplaceAll(good, "\n", "\r\n"))}); err != nil {
		t.Errorf("with Windows line ends: %v", err)
	}
}

func TestAmbiguousListsAreNotLocked(t *testing.T) {
	t.Parallel()
	s := surface.New("api", jsonv.Value{}, map[surface.Kind][]jsonv.Value{surface.Tool: elems(parse(t, `[{"name":"a"},{"name":"a"},{"x":1}]`))}, nil, nil)
	if _, err := s.Lock(); !errors.Is(err, surface.ErrDuplicate) || !strings.Contains(err.Error(), `"a" is listed 2 times; tools/list: element 2 has no name`) {
		t.Error(err)
	}
}

func TestReadForms(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	record := `{"schema":"mcptest.run/v1","tests":[{"server":"api","exchanges":[{"method":"tools/list","request":"{\"params\":{}}","response":"{\"result\":{\"tools\":[{\"name\":\"a\"}]}}"}]},` +
		`{"server":"api","exchanges":[{"method":"tools/list","request":"{\"params\":{}}","response":"{\"result\":{\"tools\":[{\"name\":\"a\"}]}}"}]}]}`
	for name, test := range map[string]struct{ path, names, err string }{
		"result":   {write("a.json", `{"tools":[{"name":"a"},{"name":"b"}],"resources":[{"uri":"x://y"}]}`), "tool a tool b resource x://y", ""},
		"response": {write("b.json", `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a"}]}}`), "tool a", ""},
		"list":     {write("c.json", "\ufeff"+`[{"name":"a"}]`), "tool a", ""},
		"record":   {write("d.json", record), "tool a", ""},
		"lock":     {write("e.lock.yaml", goodLock(t)), "tool add tool sub", ""},
		"snaps":    {filepath.Dir(write("snaps/b.snap", `{"name":"b"}`)), "tool b", ""},
		"error":    {write("f.json", `{"jsonrpc":"2.0","id":1,"error":{"message":"no"}}`), "", `the response is an error: "no"`},
		"syntax":   {write("g.json", "{\n  tools: []}"), "", "g.json:2:3: not JSON"},
		"other":    {write("h.json", `{"a":1}`), "", "expected the result of tools/list"},
		"page":     {write("i.json", `{"tools":[],"nextCursor":"x"}`), "", "one page of several"},
		"short":    {write("j.json", strings.ReplaceAll(record, `]}}"`, `]…"`)), "", "not kept in full"},
		"missing":  {filepath.Join(dir, "none.json"), "", "no such file"},
		"no snaps": {t.TempDir(), "", "found none"},
		"strings":  {write("k.json", `["a"]`), "", "element 0 of the list is not a tool"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := surface.Read(test.path, nil)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("got %v, want %s", err, test.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, it := range got[0].Items {
				names = append(names, string(it.Kind)+" "+it.Name)
			}
			if strings.Join(names, " ") != test.names {
				t.Errorf("got %v, want %s", names, test.names)
			}
		})
	}
}
