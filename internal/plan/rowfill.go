package plan

import (
	"mcptest/internal/jsonv"
	"mcptest/internal/suite"
)

// rowFillings are the quick ways to the parts of a test that mention its row:
// without them each row would make nodes of what it says, only to turn them
// into JSON. A nil one has no quick way.
type rowFillings struct {
	name *filling
	// args is what is sent as arguments or params, between open and shut.
	args       *filling
	open, shut string
	// bare are the arguments alone, for a tool that may be a method.
	bare bool
}

// fillings finds the quick ways.
func (t *template) fillings() {
	n := t.entry.Node
	if t.varies.name {
		if f := newFilling(t.entry, n.Get("name")); f != nil && f.scalar() {
			t.filled.name = f
		}
	}
	if t.varies.all || t.varies.subject || !t.varies.args {
		return
	}
	f := &t.filled
	call := t.test.Call
	switch t.entry.Block {
	case suite.Tools:
		f.open, f.shut = nameAnd(call.Tool)
		f.bare = t.proto.Ops[0].MaybeMethod
		f.args = newFilling(t.entry, n.Get("args"))
	case suite.Prompts:
		f.open, f.shut = nameAnd(call.Prompt)
		f.args = newFilling(t.entry, n.Get("args"))
	case suite.Protocol:
		f.args = newFilling(t.entry, n.Get("params"))
	}
}

// nameAnd is what stands around the arguments of a tool or prompt.
func nameAnd(name string) (open, shut string) {
	open = string(jsonv.AppendString([]byte(`{"name":`), name)) + `,"arguments":`
	return open, "}"
}

// op is the first row's op with what another row sends; ok is false when there
// is no quick way.
func (f *rowFillings) op(proto *Op, row jsonv.Value) (op Op, ok bool) {
	if f.args == nil {
		return Op{}, false
	}
	op = *proto
	buf := make([]byte, 0, len(proto.Params)+32)
	buf = append(buf, f.open...)
	from := len(buf)
	if buf, ok = f.args.appendJSON(buf, row); !ok {
		return Op{}, false
	}
	if f.bare {
		op.Args = buf[from:len(buf):len(buf)]
	}
	op.Params = append(buf, f.shut...)
	return op, true
}

// nameOf is the test's name in a row; ok is false when there is no quick way,
// or the row has no such name.
func (f *rowFillings) nameOf(row jsonv.Value) (name string, ok bool) {
	if f.name == nil {
		return "", false
	}
	v, ok := f.name.value(row)
	switch v.Kind() {
	case jsonv.KindString:
		return v.Text(), ok
	case jsonv.KindNumber:
		return v.Literal(), ok
	case jsonv.KindBool:
		return v.String(), ok
	}
	return "", false
}
