package snapshot

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
)

// options compiles the argument of a snapshot.
func options(t testing.TB, text string) *Options {
	t.Helper()
	n, diags := source.Parse(&source.File{Name: "x.yaml", Data: []byte("snapshot: " + text + "\n")})
	var d source.Decoder
	if n == nil {
		t.Fatal(diags)
	}
	o := Compile(&d, n.Get("snapshot"), "snapshot")
	if o == nil {
		t.Fatalf("%s: %v", text, d.Diagnostics())
	}
	return o
}

const dir = "/home/me/suite"

func TestMasks(t *testing.T) {
	o := options(t, "true")
	for text, want := range map[string]string{
		"made 2026-11-22T16:52:14.123Z by hand":         "made <timestamp> by hand",
		"2026-11-22 16:52:14":                           "<timestamp>",
		"2026-11-22T16:52:14+01:00.":                    "<timestamp>.",
		"Sun, 22 Nov 2026 16:52:14 GMT":                 "<timestamp>",
		"Sun Nov 22 2026 16:52:14 GMT+0100 (CET)!":      "<timestamp>!",
		"Sun Nov 22 16:52:14 UTC 2026":                  "<timestamp>",
		"22.11.2026, 16:52:14":                          "<timestamp>",
		"11/22/2026, 4:52:14 PM":                        "<timestamp>",
		"made at 5:55:39 PM, or 17:55:39.5":             "made at <timestamp>, or <timestamp>",
		"at 5:55 PM":                                    "at <timestamp>",
		"opens at 17:55, ratio 3:2:1, ::1:22:33:44":     "opens at 17:55, ratio 3:2:1, ::1:22:33:44",
		"due 2026-11-22":                                "due 2026-11-22",
		"id 550e8400-e29b-41d4-a716-446655440000":       "id <uuid>",
		"/tmp/mcp-x1/out/a.txt and /tmp":                "<tmp>/out/a.txt and /tmp",
		"file:///private/var/folders/a1/bc/T/x.1/y":     "file://<tmp>/y",
		`C:\Users\me\AppData\Local\Temp\x1\y`:           `<tmp>\y`,
		"/home/tmp/file":                                "/home/tmp/file",
		dir + "/data.json":                              "<suite-dir>/data.json",
		dir + "-2/data.json":                            dir + "-2/data.json",
		"took 12 ms, 1.5s, 3m2.5s; Duration: 5 seconds": "took <duration>, <duration>, <duration>; Duration: <duration>",
		"timeout: 30s":                                  "timeout: 30s",
		"5 items, 3 m":                                  "5 items, 3 m",
		"01ARZ3NDEKTSV4RRFFQ69G5FAV":                    "<id>",
		"507f1f77bcf86cd799439011":                      "<id>",
		"call_a1b2c3d4e5f6":                             "<id>",
		"get_information":                               "get_information",
		"my_identifiers2":                               "my_identifiers2",
		"a <uuid> and <\\id>, <div>":                    `a <\uuid> and <\\id>, <div>`,
		"bad \xff byte":                                 `bad \xff byte`,
		"":                                              "",
	} {
		if got, _ := o.Mask("text", jsonv.String(text), dir); got.Text() != want {
			t.Errorf("%q is masked as %q, expected %q", text, got.Text(), want)
		}
	}
}

func TestMasksOfValues(t *testing.T) {
	for _, c := range []struct{ options, in, want string }{
		{
			"true", `{"id":7,"orderId":1234567890123,"durationMs":3.5,"createdAt":1764000000000,"year":2026,"timeout":30}`,
			`{"createdAt":"<timestamp number>","durationMs":"<duration number>","id":7,"orderId":"<id number>","timeout":30,"year":2026}`,
		},
		{"true", `{"sessionId":"V1StGXR8_Z5jdHi6BmyT","ids":["a1b2c3d4e5","one"],"valid":"a1b2c3d4e5"}`, `{"ids":["<id>","one"],"sessionId":"<id>","valid":"a1b2c3d4e5"}`},
		{"true", `{"550e8400-e29b-41d4-a716-446655440000":2,"550e8400-e29b-41d4-a716-446655440001":1}`, `{"<uuid>":1,"<uuid><#2>":2}`},
		{"{ignore: [a.b, 'c[*].d', 'c[-1].e', nope]}", `{"a":{"b":1},"c":[{"d":1,"e":2},{"d":2,"e":3}]}`, `{"a":{"b":"<ignored>"},"c":[{"d":"<ignored>","e":2},{"d":"<ignored>","e":"<ignored>"}]}`},
		{"{ignore: ['[*].x', '[\"a b\"]', '[0:1]']}", `[{"x":1},{"x":2}]`, `["<ignored>",{"x":"<ignored>"}]`},
		{"{mask: []}", `"550e8400-e29b-41d4-a716-446655440000 1.5s"`, `"550e8400-e29b-41d4-a716-446655440000 1.5s"`},
		{"{mask: [uuid]}", `{"durationMs":3,"x":"550e8400-e29b-41d4-a716-446655440000 1.5s"}`, `{"durationMs":3,"x":"<uuid> 1.5s"}`},
		{`{mask: [default, {build: 'build (\d+)'}]}`, `"build 17 in 1.5s, <build>"`, `"build <build> in <duration>, <\\build>"`},
		{"true", `{"b":1,"a":2,"b":3}`, `{"a":2,"b":3}`},
		{"true", `"` + strings.Repeat("x ", 20000) + `"`, `"<sha256 `},
		{"true", `"` + strings.Repeat("QUJD", 300) + `"`, `"<sha256 `},
		{"true", `"` + strings.Repeat("{a:b}", 300) + `"`, `"` + strings.Repeat("{a:b}", 300) + `"`},
		{"true", `"` + strings.Repeat("1ms ", 100000) + `"`, `"<sha256 `},
		{"true", strings.Repeat("[", 80) + strings.Repeat("]", 80), strings.Repeat("[", 61) + `"<sha256 `},
	} {
		v, err := jsonv.Parse([]byte(c.in))
		if err != nil {
			t.Fatal(err)
		}
		got, unused := options(t, c.options).Mask("structured", v, dir)
		if text := got.String(); text != c.want && (!strings.Contains(c.want, "sha256") || !strings.HasPrefix(text, c.want)) {
			t.Errorf("%s of %.100s is\n%.200s, expected\n%s", c.options, c.in, text, c.want)
		}
		if wanted := strings.Contains(c.options, "nope") || strings.Contains(c.options, "a b"); (len(unused) == 1) != wanted {
			t.Errorf("%s of %.100s: unused paths %v", c.options, c.in, unused)
		}
	}
}

// Masking what is stored changes nothing, the file keeps it, and two texts that
// differ in anything but what is masked stay different.
func FuzzMask(f *testing.F) {
	for _, text := range []string{
		"plain", "<uuid>", `<\uuid>`, "<id number>", "550e8400-e29b-41d4-a716-446655440000", "1.5s/tmp/x", "/tmp//tmp/x", "1ms2ms3ms", "took 5s took 6s", "a\nb\r\n",
		"build 1 build 2 <build>", dir + dir, dir + "," + dir + "/", "2026-11-22T16:52:14Z2026-11-22T16:52:14Z", "01ARZ3NDEKTSV4RRFFQ69G5FAV-call_a1b2c3d4e5f6", "\x1b[31m\u202e\xff\xed\xa0\x80",
		"<sha256 " + strings.Repeat("a", 64) + " of 7 bytes>", "<ignored>", "<#2>", "\x1b 00a\u202e\xff\xed\xa0\x80", "1.5 s\n 2.5 s ", "/tmp/<uuid>/x", "x_<id>_1a2b3c4d5e6f", "file:///tmp/a,/tmp/b;/tmp/c", "yes", "- a: b # c",
	} {
		f.Add(text, "id")
	}
	all := []*Options{options(f, "true"), options(f, `{mask: [default, {build: 'build (\d+)'}, {word: '[a-z]+'}]}`), options(f, `{mask: [{x: '[a-z<>.]'}]}`), options(f, "{mask: []}")}
	f.Fuzz(func(t *testing.T, text, key string) {
		for _, o := range all {
			v := jsonv.Object(jsonv.Member{Key: key, Value: jsonv.String(text)}, jsonv.Member{Key: text, Value: jsonv.Array(jsonv.String(text))})
			once, _ := o.mask("", v, dir, false)
			if twice, _ := o.mask("", once, dir, true); !jsonv.Equal(once, twice) {
				t.Errorf("masking %q once gives %s, twice %s", text, once, twice)
			}
			checkStored(t, once)
		}
		// Without masks nothing may be lost.
		none := all[3]
		a, _ := none.Mask("text", jsonv.String(text), dir)
		b, _ := none.Mask("text", jsonv.String(key), dir)
		if text != key && jsonv.Equal(a, b) && display.ShowInvalid(text) == text && display.ShowInvalid(key) == key {
			t.Errorf("%q and %q are stored as the same %s", text, key, a)
		}
	})
}

// checkStored fails if a value does not read as it was written.
func checkStored(t *testing.T, v jsonv.Value) {
	t.Helper()
	f := &File{Name: "x.snap.yaml", suite: "x.yaml", tests: map[string]map[string]entry{"a test": {"text": {value: v}, "b": {value: jsonv.Null()}}}}
	data := f.bytes()
	root, diags := source.Parse(&source.File{Name: "x", Data: data})
	var d source.Decoder
	back := &File{tests: map[string]map[string]entry{}}
	if root != nil {
		back.decode(&d, root)
	}
	if diags.HasErrors() || d.Diagnostics().HasErrors() || !jsonv.Equal(back.tests["a test"]["text"].value, v) {
		t.Errorf("%s is stored as\n%s\n%v %v", v, data, diags, d.Diagnostics())
	}
	if again := back.bytes(); root != nil && string(again) != strings.Replace(string(data), `"x.yaml"`, `""`, 1) {
		t.Errorf("written again it is\n%s\nnot\n%s", again, data)
	}
}

// TestMaskProperty is the property of FuzzMask on texts made of parts that
// masks look for.
func TestMaskProperty(t *testing.T) {
	parts := []string{
		"1", "23", "ms", "s", " ", ".", "/tmp/", "/", "tmp", "-", ":", "T", "Z", "2026-11-22", "16:52:14", "<", ">", "id", "uuid", `\`, "_", "call_", "a1b2c3d4e5f6", dir, "\n", "took ",
		"550e8400-e29b-41d4-a716-446655440000", "01ARZ3NDEKTSV4RRFFQ69G5FAV", " #2", " number", "é", "Sun Nov 22 16:52:14 UTC 2026", "file://", "C:\\Windows\\Temp\\", "\r", "ignored",
	}
	o := options(t, `{mask: [default, {part: '\d+|\w-'}]}`)
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	for range 3000 {
		var b strings.Builder
		for range r.IntN(14) {
			b.WriteString(parts[r.IntN(len(parts))])
		}
		v := jsonv.Object(jsonv.Member{Key: b.String(), Value: jsonv.String(b.String())}, jsonv.Member{Key: "orderId", Value: jsonv.String(b.String())})
		once, _ := o.mask("", v, dir, false)
		if twice, _ := o.mask("", once, dir, true); !jsonv.Equal(once, twice) {
			t.Fatalf("seed %d: masking %q once gives %s, twice %s", seed, b.String(), once, twice)
		}
		checkStored(t, once)
	}
}

func TestCompile(t *testing.T) {
	for text, want := range map[string]string{
		"false":                    "got",
		"7":                        "got",
		"''":                       "the name of the snapshot",
		"{nam: x}":                 "unknown key",
		"{ignore: x}":              "a list of paths",
		"{ignore: ['a..b']}":       "two dots",
		"{mask: [uid]}":            "did you mean",
		"{mask: [{Build: x}]}":     "lower-case",
		"{mask: [{uuid: x}]}":      "built-in",
		"{mask: [{build: '('}]}":   "missing closing )",
		"{mask: [{build: 'x*'}]}":  "matches the empty text",
		"{mask: [{build: '.+'}]}":  "matches any text",
		"{mask: [{b: '\\w|\\W'}]}": "matches any text",
		"{mask: [3]}":              "the name of a mask",
	} {
		n, _ := source.Parse(&source.File{Name: "x.yaml", Data: []byte("snapshot: " + text + "\n")})
		var d source.Decoder
		if o := Compile(&d, n.Get("snapshot"), "snapshot"); o != nil || !strings.Contains(fmt.Sprint(d.Diagnostics()), want) {
			t.Errorf("%s: %v, expected %q", text, d.Diagnostics(), want)
		}
	}
}

// A value alone is masked as it is inside of an object.
func TestTargetNamesTheValue(t *testing.T) {
	o := options(t, "true")
	for target, want := range map[string]string{"duration_ms": `"<duration number>"`, "result.took[0]": `"<duration number>"`, `result["took"]`: "7", "result.count": "7"} {
		if got, _ := o.Mask(target, jsonv.Int(7), dir); got.String() != want {
			t.Errorf("%s is %s, expected %s", target, got, want)
		}
	}
}
