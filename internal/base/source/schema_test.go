package source_test

import (
	"reflect"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
)

// sample is a document type with one of everything Decode knows, shaped like
// a small test suite.
type sample struct {
	source.Pos
	Name      string                  `yaml:"name"`
	Servers   source.Map[server]      `yaml:"servers,required" doc:"what is tested"`
	Tools     []toolTest              `yaml:"tools"`
	Defaults  *common                 `yaml:"defaultTest"`
	Variables source.Map[jsonv.Value] `yaml:"variables"`
	Headers   map[string]string       `yaml:"headers"`
	Raw       *source.Node            `yaml:"raw"`
	ignored   int
	Untagged  int
}

type server struct {
	Pos       source.Pos
	Command   words         `yaml:"command"`
	URL       string        `yaml:"url"`
	Timeout   time.Duration `yaml:"timeout"`
	Transport string        `yaml:"transport" enum:"auto|streamable-http|sse"`
	Sessions  uint          `yaml:"sessions"`
	Port      int16         `yaml:"port"`
	Insecure  bool          `yaml:"insecure"`
}

type common struct {
	Pos     source.Pos
	Timeout *time.Duration `yaml:"timeout"`
	Tags    []string       `yaml:"tags" enum:"fast|slow"`
	Weight  *float64       `yaml:"weight"`
	Retries int            `yaml:"retries"`
}

type toolTest struct {
	common `yaml:",inline"`
	Pos    source.Pos
	Name   string      `yaml:"name,required"`
	Tool   string      `yaml:"tool,required"`
	Args   jsonv.Value `yaml:"args"`
	Expect []assertion `yaml:"expect"`
}

type assertion struct {
	Target  string              `yaml:"target,required"`
	Matcher map[string]anyValue `yaml:"matcher"`
}

// words is a union: a string, or a list of strings.
type words struct {
	Pos  source.Pos
	Argv []string
}

func (w *words) DecodeNode(n *source.Node, path string, d *source.Decoder) {
	w.Pos = n.Pos
	switch n.Kind {
	case source.KindString:
		w.Argv = []string{n.Text}
	case source.KindList:
		d.Decode(n, path, &w.Argv)
	default:
		d.ReportWrongType(n, path, "text or a list")
	}
}

type anyValue struct{ *source.Node }

func (a *anyValue) DecodeNode(n *source.Node, _ string, _ *source.Decoder) { a.Node = n }

func parse(text string) (*source.Node, source.Diagnostics) {
	return source.Parse(file(text))
}

func file(text string) *source.File {
	return &source.File{Name: "suite.yaml", Path: "/suite.yaml", Data: []byte(text)}
}

// load is what a program does with a file: parse, decode, sort.
func load(f *source.File, into any) source.Diagnostics {
	n, ds := source.Parse(f)
	if n != nil {
		ds.Add(source.Decode(n, into)...)
	}
	ds.Sort()
	return ds
}

func typeOf(v any) reflect.Type { return reflect.TypeOf(v) }
