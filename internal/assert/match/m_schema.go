package match

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"mcptest/internal/assert/shown"
	"mcptest/internal/assert/target"
	"mcptest/internal/assert/textdiff"
	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonschema"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lists"
	"mcptest/internal/base/source"
)

var rowSchema = Row{
	Name: "schema", Doc: "the value is valid against a JSON Schema, or the one in a file: schema: item.json (2020-12 unless $schema names another draft; format is asserted, unknown keywords are errors)",
	Example: `schema: {type: object, required: [id], properties: {id: {type: integer}}}`, Passes: `{"id": 3}`, Fails: `{"id": "3"}`,
	schema: `{"type":["object","boolean","string"]}`, compile: compileSchemaMatcher,
}

var rowIsJSON = Row{
	Name: "is-json", Aliases: []string{"is_json"}, Doc: "a string is JSON; with a map as argument, JSON that is valid against this JSON Schema",
	Example: `is-json: {type: object}`, Passes: `"{\"a\": 1}"`, Fails: `"[1]"`,
	schema: `{"anyOf":[{"type":"boolean"},{"type":"object"}]}`, compile: compileIsJSON,
}

// schemaTime limits one validation.
const schemaTime = time.Second

func compileSchemaMatcher(c *Compiler, n *source.Node, path string) Matcher {
	if m := c.schema(n, path); m != nil {
		return m
	}
	return nil
}

func (c *Compiler) schema(n *source.Node, path string) *schemaMatcher {
	written := n
	switch n.Kind {
	case source.KindMap, source.KindBool:
	case source.KindString: // a file
		key := &source.Node{Kind: source.KindString, Text: "$ref", Pos: n.Pos}
		n = &source.Node{Kind: source.KindMap, Pos: n.Pos, Fields: []source.Field{{Key: key, Value: n}}}
	default:
		c.Errorf(n, path, "for example: {type: object, required: [id]}, or the path of a file", "expected a JSON Schema, got %s", shown.Node(n))
		return nil
	}
	if ref := serverRef(n); ref != nil {
		c.Errorf(ref, path, "", "the server under test would choose the schema file %s", shown.Key(ref.Text))
		return nil
	}
	o := jsonschema.Options{AssertFormat: true, DefaultDraft: "2020-12", Strict: true}
	if load := c.LoadSchema; load != nil {
		pos := n.Pos
		o.Load = func(uri string) ([]byte, error) { return load(pos, uri) }
		o.BaseURI = fileURI(pos)
	}
	doc := n.JSON()
	text := doc.String()
	s, err := c.Schemas.Compiled(o.BaseURI+" "+text, func() (*jsonschema.Schema, error) {
		return jsonschema.Compile(doc, o)
	})
	if err == nil {
		return &schemaMatcher{schema: s, lines: c.Schemas.Lines(n, text)}
	}
	var bad *jsonschema.Error
	if !errors.As(err, &bad) {
		c.Errorf(n, path, "", "bad JSON Schema: %s", shown.Line(err.Error(), shown.MaxLine))
		return nil
	}
	schemaError(c, written, path, bad)
	for _, further := range bad.Rest {
		schemaError(c, written, path, further)
	}
	return nil
}

// serverRef returns a reference to a file whose name comes from the server
// under test.
func serverRef(n *source.Node) *source.Node {
	for _, f := range n.Fields {
		if f.Key.Text == "$ref" && f.Value.Origin == source.FromServer && !strings.HasPrefix(f.Value.Text, "#") {
			return f.Value
		}
		if ref := serverRef(f.Value); ref != nil {
			return ref
		}
	}
	for _, item := range n.Items {
		if ref := serverRef(item); ref != nil {
			return ref
		}
	}
	return nil
}

// schemaError reports a mistake in a schema at its keyword.
func schemaError(c *Compiler, n *source.Node, path string, bad *jsonschema.Error) {
	where, key, at, msg := n, n, path, bad.Msg
	if uri, ptr, other := strings.Cut(bad.Pointer, "#"); other && uri != "" {
		msg = filepath.Base(uri) + "#" + ptr + ": " + msg
	} else if tokens, err := jsonv.ParsePointer(strings.TrimPrefix(bad.Pointer, "#")); err == nil {
		where, key, at = follow(n, tokens, path)
	}
	diag := c.Mistakes.Errorf(where, at, "bad JSON Schema: %s%s", shown.Line(msg, shown.MaxLine), meant(bad.Word, bad.Known))
	diag.Pos = key.Pos
	if n.Kind == source.KindString && strings.HasPrefix(msg, "cannot load") {
		diag.Hint = "text is the path of a schema file, relative to this one"
		if _, where, missing := strings.Cut(msg, ": no such file"); missing {
			diag.Msg = "no such file: " + shown.Key(n.Text) + where
			if strings.HasPrefix(where, " (did you mean ") {
				diag.Hint = ""
			}
		}
	}
}

// meant suggests a known word for an unknown one: a similar one, or the shortest of
// which it is an extension, such as min for minimum.
func meant(word string, known []string) string {
	if near := source.Parenthesis(source.DidYouMean(word, known)); near != "" || word == "" {
		return near
	}
	shortest := ""
	for _, k := range known {
		if strings.HasPrefix(k, word) && (shortest == "" || len(k) < len(shortest)) {
			shortest = k
		}
	}
	return source.Parenthesis(source.Suggest(shortest))
}

// fileURI returns the file: URL of the file of a position, which relative references
// of a schema are resolved against.
func fileURI(pos source.Pos) string {
	if pos.File == nil || pos.File.Path == "" {
		return ""
	}
	path := filepath.ToSlash(pos.File.Path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// follow follows the tokens of a JSON Pointer through nodes as far as possible. It
// returns the last node, its key (in a map), and its path.
func follow(n *source.Node, tokens []string, path string) (value, key *source.Node, at string) {
	value, key, at = n, n, path
	for _, token := range tokens {
		switch value.Kind {
		case source.KindMap:
			i := fieldOf(value, token)
			if i < 0 {
				return value, key, at
			}
			key, value = value.Fields[i].Key, value.Fields[i].Value
			at = jsonv.JoinKey(at, token)
		case source.KindList:
			var i int
			if _, err := fmt.Sscanf(token, "%d", &i); err != nil || i < 0 || i >= len(value.Items) {
				return value, key, at
			}
			value = value.Items[i]
			key, at = value, source.PathIndex(at, i)
		default:
			return value, key, at
		}
	}
	return value, key, at
}

func fieldOf(n *source.Node, key string) int {
	for i := range n.Fields {
		if n.Fields[i].Key.Text == key {
			return i
		}
	}
	return -1
}

// schemaMatcher validates values. It knows the suite's line of each keyword.
type schemaMatcher struct {
	schema *jsonschema.Schema
	lines  map[string]int // by JSON Pointer
}

func (m *schemaMatcher) Match(ctx context.Context, s target.Subject, _ *Env) Outcome {
	return m.validate(ctx, s.Value)
}

func (m *schemaMatcher) validate(ctx context.Context, v jsonv.Value) Outcome {
	ctx, cancel := context.WithTimeout(ctx, schemaTime)
	defer cancel()
	violations, err := m.schema.Validate(ctx, v)
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			err = errors.New("validating took more than 1 s")
		}
		return Outcome{Unfit: true, Msg: "the schema could not be checked: " + shown.Line(err.Error(), shown.MaxLine)}
	}
	if len(violations) == 0 {
		return passed
	}
	lines := lists.Map(violations[:min(len(violations), shown.MaxLines)], m.line)
	o := Outcome{Expected: "fits the schema", Msg: "does not fit the schema: " + lines[0]}
	if len(violations) > 1 {
		if more := len(violations) - len(lines); more > 0 {
			lines = append(lines, fmt.Sprintf("… and %d more", more))
		}
		o.Msg = fmt.Sprintf("does not fit the schema in %d ways, the first: %s", len(violations), lines[0])
		o.Diff = lines
	}
	return o
}

// line formats one violation: items[0].id: want integer, got string (line 14).
func (m *schemaMatcher) line(v jsonschema.Violation) string {
	out := shown.Line(v.Msg, shown.MaxLine)
	if v.InstancePath != "" {
		out = display.Truncate(v.InstancePath, shown.InLine) + ": " + out
	}
	if line := m.lines[strings.TrimPrefix(v.SchemaPointer, "#")]; line > 0 {
		out += fmt.Sprintf(" (schema line %d)", line)
	}
	return out
}

func compileIsJSON(c *Compiler, n *source.Node, path string) Matcher {
	if n.Kind == source.KindBool {
		return isJSON{want: n.Text == "true"}
	}
	if n.Kind != source.KindMap {
		c.Errorf(n, path, "", "expected true or a JSON Schema, got %s", shown.Node(n))
		return nil
	}
	// {schema: …} looks like a wrapped schema: schema is not a keyword, and ignoring
	// it would accept every value.
	if inner := n.Get("schema"); inner != nil && len(n.Fields) == 1 {
		n, path = inner, source.PathKey(path, "schema")
	}
	if m := c.schema(n, path); m != nil {
		return isJSON{want: true, schema: m}
	}
	return nil
}

type isJSON struct {
	want   bool
	schema *schemaMatcher
}

func (m isJSON) Match(ctx context.Context, s target.Subject, _ *Env) Outcome {
	if s.Value.Kind() != jsonv.KindString {
		return unfit("text that is JSON", s.Value)
	}
	text := []byte(s.Value.Text())
	if m.schema == nil {
		err := jsonv.Valid(text)
		return wantedOutcome(m.want, err == nil, func(is bool) Outcome {
			if is {
				return failOutcome("is JSON: " + shown.Got(s.Value))
			}
			return failOutcome(notJSON(text, err))
		})
	}
	v, err := jsonv.Parse(text)
	if err != nil {
		return failOutcome(notJSON(text, err))
	}
	return m.schema.validate(ctx, v)
}

// notJSON describes where a text is not valid JSON.
func notJSON(text []byte, err error) string {
	var bad *jsonv.SyntaxError
	if !errors.As(err, &bad) {
		return "is not JSON: " + shown.Line(err.Error(), shown.MaxLine)
	}
	line, col := jsonv.FindPosition(text, bad.Offset)
	around := textdiff.Window(string(text), min(bad.Offset, len(text)))
	return fmt.Sprintf("is not JSON: line %d, column %d: %s, at %s", line, col, shown.Line(bad.Msg, shown.MaxLine), around)
}

// wantedOutcome evaluates a yes-or-no matcher whose argument may be false. fail gets the
// actual property of the value.
func wantedOutcome(want, is bool, fail func(is bool) Outcome) Outcome {
	if want == is {
		return passed
	}
	return fail(is)
}
