package source_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mcptest/internal/base/source"
)

func TestDecode(t *testing.T) {
	var s sample
	f := file(`name: n
servers:
  b:
    command: node server.js
    timeout: 1m30s
    sessions: 3
    port: -7
    insecure: True
  a: {command: [x, y], url: u, transport: sse}
tools:
  - name: one
    tool: t
    tags: [fast]
    timeout: 250ms
    weight: 2
    retries: 0x10
    args: {n: 9007199254740993, "m": [~, .5]}
    expect:
      - target: result
        matcher: {equals: 1, exists: true}
defaultTest: {weight: ~}
headers: {B: x, A: y}
raw: {k: v}
`)
	if ds := load(f, &s); len(ds) > 0 {
		t.Fatal(ds.Error())
	}
	at := func(line, col int) source.Pos { return source.Pos{File: f, Line: line, Col: col} }
	half := 250 * time.Millisecond
	two := 2.0
	if s.Pos != at(1, 1) || s.Name != "n" || s.Untagged != 0 || s.ignored != 0 {
		t.Errorf("top: %+v", s)
	}
	if diff := cmp.Diff([]string{"b", "a"}, s.Servers.Keys()); diff != "" {
		t.Error(diff)
	}
	b, _ := s.Servers.Get("b")
	if diff := cmp.Diff(server{
		Pos: at(4, 5), Command: words{at(4, 14), []string{"node server.js"}}, Timeout: 90 * time.Second,
		Sessions: 3, Port: -7, Insecure: true,
	}, b, byPosition()); diff != "" {
		t.Error(diff)
	}
	if e := s.Servers.Entries[1]; e.Pos != at(9, 3) || e.Value.Transport != "sse" || len(e.Value.Command.Argv) != 2 || e.Value.Pos != at(9, 6) {
		t.Errorf("a: %+v", e)
	}
	tool := s.Tools[0]
	if tool.Pos != at(11, 5) || tool.common.Pos != at(11, 5) || *tool.Timeout != half || *tool.Weight != two || tool.Retries != 16 ||
		tool.Args.String() != `{"n":9007199254740993,"m":[null,0.5]}` || tool.Expect[0].Matcher["equals"].Pos != at(20, 27) {
		t.Errorf("tool: %+v", tool)
	}
	if s.Defaults == nil || s.Defaults.Weight != nil || s.Headers["A"] != "y" || s.Raw.Get("k").Text != "v" {
		t.Errorf("rest: %+v", s)
	}
	if _, ok := s.Variables.Get("x"); ok || s.Variables.Len() != 0 {
		t.Error("variables are not empty")
	}
}

func byPosition() cmp.Option {
	return cmp.Comparer(func(a, b source.Pos) bool { return a.String() == b.String() })
}

// TestDecodeKeepsWhatIsRight: a mistake in one place loses nothing elsewhere.
func TestDecodeKeepsWhatIsRight(t *testing.T) {
	var s sample
	ds := load(file("name: [x]\nservers: {a: {port: x, url: u}}\ntools: [5, {name: n, tool: t}]\n"), &s)
	if len(ds) != 3 || s.Servers.Entries[0].Value.URL != "u" || len(s.Tools) != 2 || s.Tools[1].Tool != "t" {
		t.Errorf("%v\n%+v", ds, s)
	}
}

// TestDecodeIntoBad shows that a mistake in our own types is an error, not a panic.
func TestDecodeIntoBad(t *testing.T) {
	n, _ := parse("a: 1\n")
	for _, into := range []any{
		nil, 5,
		sample{},
		(*sample)(nil),
		new(chan int), new(map[int]string), new(func()), new(any),
		new(struct {
			A any `yaml:"a"`
		}),
		new(struct {
			A complex128 `yaml:"a"`
		}),
	} {
		ds := source.Decode(n, into)
		if len(ds) != 1 || ds[0].Code != "internal" {
			t.Errorf("%T: %v", into, ds)
		}
	}
	if ds := source.Decode(nil, &sample{}); len(ds) > 0 {
		t.Error("a nil node is nothing, which is no mistake")
	}
}

func TestDecodeRange(t *testing.T) {
	type limits struct {
		N *int           `yaml:"n" range:"1-9"`
		R float64        `yaml:"r" range:"0-1"`
		D *time.Duration `yaml:"d" range:">0"`
	}
	for text, want := range map[string]string{
		"{n: 1, r: 0, d: 1ns}": "", "{n: 9, r: 1}": "", "{n: null, d: null}": "",
		"{n: 0}": "expected a number from 1 to 9, got 0", "{n: 10}": "expected a number from 1 to 9, got 10",
		"{r: 1.5}": "expected a number from 0 to 1, got 1.5", "{r: -0.1}": "expected a number from 0 to 1, got -0.1",
		"{d: 0s}": "must be greater than zero", "{n: x}": "expected a whole number",
	} {
		ds := load(file(text), new(limits))
		if got := len(ds); got > 1 || (got == 1) != (want != "") || got == 1 && !strings.HasPrefix(ds[0].Msg, want) {
			t.Errorf("%s: %v", text, ds)
		}
	}
}

// endless is an Unmarshaler that never returns.
type endless struct{}

func (e *endless) DecodeNode(n *source.Node, path string, d *source.Decoder) { d.Decode(n, path, e) }

func TestDecodeStopsEndless(t *testing.T) {
	n, _ := parse("a: 1\n")
	source.Decode(n, &endless{})
}

type wide struct {
	K00, K01, K02, K03, K04, K05, K06, K07, K08, K09 int  `yaml:"-"`
	Inner                                            many `yaml:",inline"`
}

// many has more keys than fit in a machine word.
type many struct {
	A0 int `yaml:"a0"`
	A1 int `yaml:"a1"`
	A2 int `yaml:"a2"`
	A3 int `yaml:"a3"`
	A4 int `yaml:"a4"`
	A5 int `yaml:"a5"`
	A6 int `yaml:"a6"`
	A7 int `yaml:"a7"`
	B0 int `yaml:"b0"`
	B1 int `yaml:"b1"`
	B2 int `yaml:"b2"`
	B3 int `yaml:"b3"`
	B4 int `yaml:"b4"`
	B5 int `yaml:"b5"`
	B6 int `yaml:"b6"`
	B7 int `yaml:"b7"`
	C0 int `yaml:"c0"`
	C1 int `yaml:"c1"`
	C2 int `yaml:"c2"`
	C3 int `yaml:"c3"`
	C4 int `yaml:"c4"`
	C5 int `yaml:"c5"`
	C6 int `yaml:"c6"`
	C7 int `yaml:"c7"`
	D0 int `yaml:"d0"`
	D1 int `yaml:"d1"`
	D2 int `yaml:"d2"`
	D3 int `yaml:"d3"`
	D4 int `yaml:"d4"`
	D5 int `yaml:"d5"`
	D6 int `yaml:"d6"`
	D7 int `yaml:"d7"`
	E0 int `yaml:"e0"`
	E1 int `yaml:"e1"`
	E2 int `yaml:"e2"`
	E3 int `yaml:"e3"`
	E4 int `yaml:"e4"`
	E5 int `yaml:"e5"`
	E6 int `yaml:"e6"`
	E7 int `yaml:"e7"`
	F0 int `yaml:"f0"`
	F1 int `yaml:"f1"`
	F2 int `yaml:"f2"`
	F3 int `yaml:"f3"`
	F4 int `yaml:"f4"`
	F5 int `yaml:"f5"`
	F6 int `yaml:"f6"`
	F7 int `yaml:"f7"`
	G0 int `yaml:"g0"`
	G1 int `yaml:"g1"`
	G2 int `yaml:"g2"`
	G3 int `yaml:"g3"`
	G4 int `yaml:"g4"`
	G5 int `yaml:"g5"`
	G6 int `yaml:"g6"`
	G7 int `yaml:"g7"`
	H0 int `yaml:"h0"`
	H1 int `yaml:"h1"`
	H2 int `yaml:"h2"`
	H3 int `yaml:"h3"`
	H4 int `yaml:"h4"`
	H5 int `yaml:"h5"`
	H6 int `yaml:"h6"`
	H7 int `yaml:"h7"`
	I0 int `yaml:"i0,required"`
	I1 int `yaml:"i1,required"`
}

func TestDecodeManyKeys(t *testing.T) {
	n, _ := parse("i0: 1\na0: 2\n")
	var w wide
	ds := source.Decode(n, &w)
	if len(ds) != 1 || ds[0].Msg != `missing key "i1"` || w.Inner.I0 != 1 || w.Inner.A0 != 2 {
		t.Errorf("%v", ds)
	}
}

func TestFields(t *testing.T) {
	type row struct {
		Name, GoName, Type, Doc, Enum string
		Required                      bool
	}
	show := func(typ any) []row {
		var rows []row
		for _, f := range source.Fields(typeOf(typ)) {
			rows = append(rows, row{f.Name, f.GoName, f.Type.String(), f.Tag.Get("doc"), strings.Join(f.Enum, " "), f.Required})
		}
		return rows
	}
	want := []row{
		{Name: "timeout", GoName: "Timeout", Type: "*time.Duration"},
		{Name: "tags", GoName: "Tags", Type: "[]string", Enum: "fast slow"},
		{Name: "weight", GoName: "Weight", Type: "*float64"},
		{Name: "retries", GoName: "Retries", Type: "int"},
		{Name: "name", GoName: "Name", Type: "string", Required: true},
		{Name: "tool", GoName: "Tool", Type: "string", Required: true},
		{Name: "args", GoName: "Args", Type: "jsonv.Value"},
		{Name: "expect", GoName: "Expect", Type: "[]source_test.assertion"},
	}
	if diff := cmp.Diff(want, show(&toolTest{})); diff != "" {
		t.Error(diff)
	}
	if got := show(sample{}); got[1].Doc != "what is tested" || !got[1].Required || len(got) != 7 {
		t.Errorf("%+v", got)
	}
	if show(5) != nil || source.Fields(nil) != nil {
		t.Error("only structs have keys")
	}
}

func TestParseDuration(t *testing.T) {
	for in, want := range map[string]time.Duration{"30s": 30 * time.Second, "1m30s": 90 * time.Second, "1.5h": 90 * time.Minute, "0s": 0, " 5ms ": 5 * time.Millisecond, "1m 30s": 90 * time.Second} {
		if got, err := source.ParseDuration(in); err != nil || got != want {
			t.Errorf("%q: %v %v", in, got, err)
		}
	}
	for in, want := range map[string]string{"": "it is empty", "5": "it has no unit", "-5s": "it is negative", "5d": "unknown unit", "x": "it is not a number with a unit", "9999999999h": "it is not a number with a unit"} {
		if _, err := source.ParseDuration(in); err == nil || err.Error() != want {
			t.Errorf("%q: %v", in, err)
		}
	}
}
