package aql_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/mcpaql/aql"
	"mcptest/internal/mcpaql/live/guard"
	"mcptest/internal/mcpaql/rule"
	"mcptest/internal/mcpaql/verdict"
	"mcptest/internal/server/mcpserver"
)

// small is an MCP-AQL adapter of a few operations. It conforms as far as its
// operations do, unless a test replaces an answer.
type small struct {
	ops   []smallOp
	types string // a JSON list of types with their fields; "" for one type without
	// answer replaces an answer; "" leaves it as it is. usual gives the
	// answer that would be sent.
	answer func(op string, args jsonv.Value, usual func() string) string
	tools  []string // names, mcp_aql when there are none
	// anywhere reports whether every tool takes every operation.
	anywhere bool
	list     func(standard string) string
	detail   func(op, standard string) string
	hears    func(args jsonv.Value) // every call, before it is answered
}

type smallOp struct {
	name, category, params string // params is a JSON list
	run                    func(params jsonv.Value) string
}

const introspectParams = `[{"name":"query","type":"string","required":true,"enum":["operations","types"],"description":"What to ask for."},{"name":"name","type":"string","required":false,"description":"One of them."}]`

// data answers always the same.
func data(json string) func(jsonv.Value) string { return func(jsonv.Value) string { return json } }

func parsed(s string) jsonv.Value {
	v, err := jsonv.Parse([]byte(s))
	if err != nil {
		panic(fmt.Sprintf("%s: %s", err, s))
	}
	return v
}

func failure(code, format string, args ...any) string {
	return `{"success":false,"error":{"code":"` + code + `","message":` + jsonv.String(fmt.Sprintf(format, args...)).String() + `}}`
}

func (s small) all() []smallOp {
	return append([]smallOp{{"introspect", "READ", introspectParams, nil}}, s.ops...)
}

func (s small) toolNames() []string {
	if len(s.tools) == 0 {
		return []string{"mcp_aql"}
	}
	return s.tools
}

func (s small) toolOf(category string) string {
	for _, t := range s.toolNames() {
		if strings.HasSuffix(t, "_"+strings.ToLower(category)) {
			return t
		}
	}
	return s.toolNames()[0]
}

func (s small) dial(t testing.TB) func(context.Context, string) (*mcp.Session, error) {
	return dialer(t, func(variant string) mcpserver.Handler {
		if variant != "" {
			return nil
		}
		return mcpserver.HandlerFunc(func(_ context.Context, req *mcpserver.Request) *mcpserver.Reply { return s.handle(req) })
	})
}

func (s small) handle(req *mcpserver.Request) *mcpserver.Reply {
	switch req.Method {
	case "initialize":
		return &mcpserver.Reply{Result: []byte(`{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"small","version":"1"}}`)}
	case "tools/list":
		var list []string
		for _, name := range s.toolNames() {
			hints := `"readOnlyHint":false,"destructiveHint":` + fmt.Sprint(!strings.HasSuffix(name, "_create"))
			if strings.HasSuffix(name, "_read") {
				hints = `"readOnlyHint":true,"destructiveHint":false`
			}
			list = append(list, `{"name":"`+name+`","description":"Call introspect first.","annotations":{`+hints+`},"inputSchema":{"type":"object","properties":{"operation":{"type":"string"},"params":{"type":"object"}},"required":["operation"]}}`)
		}
		return &mcpserver.Reply{Result: []byte(`{"tools":[` + strings.Join(list, ",") + `]}`)}
	case "tools/call":
		params := parsed(string(req.Params))
		args := params.Lookup("arguments")
		if s.hears != nil {
			s.hears(args)
		}
		usual := func() string { return s.usual(params.Lookup("name").Text(), args) }
		if s.answer != nil {
			if text := s.answer(args.Lookup("operation").Text(), args, usual); text != "" {
				return textReply(text)
			}
		}
		return textReply(usual())
	}
	return &mcpserver.Reply{Error: &protocol.RPCError{Code: protocol.CodeMethodNotFound, Message: "Method not found"}}
}

// usual is what a conformant adapter answers.
func (s small) usual(tool string, args jsonv.Value) string {
	name := args.Lookup("operation")
	if name.Kind() != jsonv.KindString {
		return failure("VALIDATION_MISSING_PARAM", "Missing the name of the operation. Expected: operation, a string.")
	}
	var op smallOp
	for _, known := range s.all() {
		if known.name == name.Text() {
			op = known
		}
	}
	params := args.Lookup("params")
	switch {
	case op.name == "":
		return failure("NOT_FOUND_OPERATION", "There is no operation '%s'.", name.Text())
	case op.name != "introspect" && tool != s.toolOf(op.category) && !s.anywhere:
		return failure("VALIDATION_ENDPOINT_MISMATCH", "%s belongs to %s.", op.name, s.toolOf(op.category))
	}
	for k := range args.Members() {
		if k != "operation" && k != "params" && !strings.HasPrefix(k, "_") {
			return failure("VALIDATION_UNKNOWN_PARAM", "Unknown parameter '%s'.", k)
		}
	}
	if refusal := checkParams(parsed(op.params), params); refusal != "" {
		return refusal
	}
	if op.name == "introspect" {
		return `{"success":true,"data":` + s.introspect(params) + `}`
	}
	out := op.run(params)
	if strings.HasPrefix(out, `{"success":`) {
		return out
	}
	return `{"success":true,"data":` + out + `}`
}

func checkParams(known, params jsonv.Value) string {
	documented := map[string]bool{}
	for _, p := range known.Elems() {
		name := p.Lookup("name").Text()
		documented[name] = true
		v, given := params.Get(name)
		if !given {
			if p.Lookup("required").Bool() {
				return failure("VALIDATION_MISSING_PARAM", "Missing required parameter '%s'. Expected: %s.", name, p.Lookup("type").Text())
			}
			continue
		}
		want := p.Lookup("type").Text()
		_, whole := v.Int64()
		if want == "unknown" {
			continue
		}
		if want == "integer" && (v.Kind() != jsonv.KindNumber || !whole) || want != "integer" && v.Kind().String() != want {
			return failure("VALIDATION_INVALID_TYPE", "Parameter '%s' wants %s.", name, want)
		}
		if list := p.Lookup("enum"); list.Len() > 0 && !strings.Contains(list.String(), v.String()) {
			return failure("VALIDATION_INVALID_VALUE", "Parameter '%s' wants one of %s (query: operations or types).", name, list)
		}
	}
	for _, p := range known.Elems() {
		v, given := params.Get(p.Lookup("name").Text())
		low, high := p.Lookup("minimum"), p.Lookup("maximum")
		if given && (!low.IsAbsent() && v.Float64() < low.Float64() || !high.IsAbsent() && v.Float64() > high.Float64()) {
			return failure("VALIDATION_INVALID_VALUE", "Parameter '%s' wants a number of at least %s and at most %s.", p.Lookup("name").Text(), low, high)
		}
	}
	for k := range params.Members() {
		if !documented[k] {
			return failure("VALIDATION_UNKNOWN_PARAM", "Unknown parameter '%s'.", k)
		}
	}
	return ""
}

func (s small) introspect(params jsonv.Value) string {
	types := s.types
	if types == "" {
		types = `[{"name":"Answer","kind":"object","fields":[]}]`
	}
	name := params.Lookup("name").Text()
	if params.Lookup("query").Text() == "types" {
		var list []string
		for _, v := range parsed(types).Elems() {
			if v.Lookup("name").Text() == name {
				return `{"type":` + v.String() + `}`
			}
			list = append(list, v.Without("fields").Without("values").String())
		}
		if name != "" {
			return `{"type":null}`
		}
		return `{"types":[` + strings.Join(list, ",") + `]}`
	}
	var list []string
	for _, op := range s.all() {
		if op.name == name {
			out := fmt.Sprintf(`{"name":%q,"semantic_category":%q,"endpoint":%q,"mcpTool":%q,"description":"Does it.","permissions":{"readOnly":%v,"destructive":%v},"parameters":%s,"returns":{"name":"Answer","kind":"object"}}`,
				op.name, op.category, op.category, s.toolOf(op.category), op.category == "READ", op.category == "UPDATE" || op.category == "DELETE", op.params)
			if s.detail != nil {
				out = s.detail(op.name, out)
			}
			return `{"operation":` + out + `}`
		}
		list = append(list, fmt.Sprintf(`{"name":%q,"semantic_category":%q,"endpoint":%q,"description":"Does it."}`, op.name, op.category, op.category))
	}
	if name != "" {
		return `{"operation":null}`
	}
	out := `[` + strings.Join(list, ",") + `]`
	if s.list != nil {
		out = s.list(out)
	}
	return `{"operations":` + out + `,"_protocol":{"version":"1.0.0-draft"}}`
}

// look tests a small adapter at level 1.
func (s small) look(t *testing.T, o guard.Options) *verdict.Report {
	t.Helper()
	o.Dial = s.dial(t)
	return aql.Evaluate(collect(t, o), aql.Options{Rules: rule.Strict})
}

const bookID = `[{"name":"book_id","type":"string","required":true,"description":"Which book."}]`

// shelf is an adapter that only reads.
func shelf() small {
	return small{ops: []smallOp{
		{"list_books", "READ", `[]`, data(`{"items":[{"id":"b1","title":"Rain"},{"id":"b2","title":"Snow"}]}`)},
		{"get_book", "READ", bookID, func(params jsonv.Value) string {
			id := params.Lookup("book_id").Text()
			if id != "b1" && id != "b2" {
				return failure("NOT_FOUND_RESOURCE", "No book has the book_id '%s'.", id)
			}
			return `{"id":"` + id + `","title":"Rain"}`
		}},
	}}
}

// notes is an adapter that stores notes. shown changes what is answered of one.
func notes(shown func(note jsonv.Value) jsonv.Value) small {
	const id = `{"name":"note_id","type":"string","required":true,"description":"Which note."}`
	if shown == nil {
		shown = func(note jsonv.Value) jsonv.Value { return note }
	}
	stored, made := map[string]jsonv.Value{}, 0
	find := func(params jsonv.Value, use func(id string, note jsonv.Value) string) string {
		name := params.Lookup("note_id").Text()
		if note, there := stored[name]; there {
			return use(name, note)
		}
		return failure("NOT_FOUND_RESOURCE", "No note has the note_id '%s'.", name)
	}
	return small{
		ops: []smallOp{
			{"list_notes", "READ", `[]`, func(jsonv.Value) string {
				var list []jsonv.Value
				for i := range made {
					if note, there := stored[fmt.Sprintf("n%d", i+1)]; there {
						list = append(list, shown(note))
					}
				}
				return jsonv.ObjectOf("items", jsonv.Array(list...)).String()
			}},
			{"get_note", "READ", `[` + id + `]`, func(params jsonv.Value) string {
				return find(params, func(_ string, note jsonv.Value) string { return shown(note).String() })
			}},
			{"create_note", "CREATE", `[{"name":"title","type":"string","required":true,"description":"Its title."},{"name":"body","type":"string","required":false,"description":"Its text."}]`, func(params jsonv.Value) string {
				made++
				name := fmt.Sprintf("n%d", made)
				stored[name] = jsonv.ObjectOf("id", jsonv.String(name), "title", params.Lookup("title"), "body", params.Lookup("body"))
				return shown(stored[name]).String()
			}},
			{"update_note", "UPDATE", `[` + id + `,{"name":"input","type":"object","required":true,"description":"What changes."}]`, func(params jsonv.Value) string {
				return find(params, func(name string, note jsonv.Value) string {
					for k, v := range params.Lookup("input").Members() {
						if k != "title" && k != "body" {
							return failure("VALIDATION_UNKNOWN_FIELD", "Unknown field '%s'.", k)
						}
						note = note.With(k, v)
					}
					stored[name] = note
					return shown(note).String()
				})
			}},
			{"delete_note", "DELETE", `[` + id + `]`, func(params jsonv.Value) string {
				return find(params, func(name string, _ jsonv.Value) string {
					delete(stored, name)
					return `{"id":"` + name + `","deleted":true}`
				})
			}},
		},
	}
}
