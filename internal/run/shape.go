package run

import (
	"encoding/base64"
	"fmt"

	"mcptest/internal/jsonv"
)

// shapeOf says what a result lacks or has wrong of what MCP requires of the
// method's answer (server/tools, server/resources, server/prompts of every
// revision). What a revision may add (further block types, further members)
// is no fault. A task is an answer only to a request that knows tasks.
func shapeOf(method, protocol string, res jsonv.Value, task bool) *shape {
	s := &shape{protocol: protocol}
	s.meta("_meta", res)
	if t := res.Lookup("resultType"); !t.IsAbsent() && t.Text() != "complete" {
		return s // another kind of answer
	}
	s.caching(method, res)
	switch method {
	case "tools/call":
		s.toolResult(res, task)
	case "resources/read":
		s.each(res, "contents", func(at string, v jsonv.Value) { s.contents(at, v) })
	case "prompts/get":
		s.each(res, "messages", func(at string, v jsonv.Value) {
			if role := v.Lookup("role").Text(); role != "user" && role != "assistant" {
				s.fault("%s.role is %s, not user or assistant", at, v.Lookup("role").Short(40))
			}
			s.block(at+".content", v.Lookup("content"))
		})
	}
	return s
}

// shape collects what is wrong with a result, a few of each at most.
type shape struct {
	protocol string
	faults   []string // an answer that is not well-formed
	odd      []string // what a client can go on without
}

const maxFaults = 5

func (s *shape) fault(format string, args ...any) {
	if len(s.faults) < maxFaults {
		s.faults = append(s.faults, fmt.Sprintf(format, args...))
	}
}

func (s *shape) toolResult(res jsonv.Value, task bool) {
	if e := res.Lookup("isError"); !e.IsAbsent() && e.Kind() != jsonv.KindBool {
		s.fault("isError is %s, not a boolean", e.Short(40))
	}
	structured, has := res.Get("structuredContent")
	if has && structured.Kind() != jsonv.KindObject && s.protocol < caches {
		s.fault("structuredContent is %s, not an object", article(structured.Kind()))
	}
	if _, ok := res.Get("content"); !ok && task && res.Lookup("task", "taskId").Kind() == jsonv.KindString {
		return // a call that was asked for as a task is answered with the task
	}
	s.each(res, "content", s.block)
}

// each looks at the items of a list that must be there.
func (s *shape) each(res jsonv.Value, key string, item func(at string, v jsonv.Value)) {
	list, ok := res.Get(key)
	switch {
	case !ok:
		s.fault("the result has no %s", key)
	case list.Kind() != jsonv.KindArray:
		s.fault("%s is %s, not an array", key, article(list.Kind()))
	default:
		for i, v := range list.Elems() {
			at := jsonv.JoinIndex(key, i)
			if v.Kind() != jsonv.KindObject {
				s.fault("%s is %s, not an object", at, article(v.Kind()))
				continue
			}
			item(at, v)
		}
	}
}

// block checks a content block.
func (s *shape) block(at string, v jsonv.Value) {
	if v.Kind() != jsonv.KindObject {
		s.fault("%s is %s, not an object", at, article(v.Kind()))
		return
	}
	typ := v.Lookup("type")
	if typ.Kind() != jsonv.KindString {
		s.fault("%s.type is %s, not a string", at, article(typ.Kind()))
		return
	}
	s.meta(at+"._meta", v)
	s.annotations(at, v)
	switch typ.Text() {
	case "text":
		s.text(at, v, "text")
	case "image", "audio":
		s.text(at, v, "mimeType")
		s.base64(at, v, "data")
	case "resource":
		s.contents(at+".resource", v.Lookup("resource"))
	case "resource_link":
		s.text(at, v, "uri")
	default:
		s.oddity("%s.type is %s, which no revision of the protocol defines", at, typ.Short(40))
	}
}

// contents checks what a resource holds.
func (s *shape) contents(at string, v jsonv.Value) {
	if v.Kind() != jsonv.KindObject {
		s.fault("%s is %s, not an object", at, article(v.Kind()))
		return
	}
	s.meta(at+"._meta", v)
	s.text(at, v, "uri")
	if _, ok := v.Get("blob"); ok {
		s.base64(at, v, "blob")
		return
	}
	s.text(at, v, "text")
}

func (s *shape) text(at string, v jsonv.Value, key string) {
	if m := v.Lookup(key); m.Kind() != jsonv.KindString {
		s.fault("%s.%s is %s, not a string", at, key, article(m.Kind()))
	}
}

func (s *shape) base64(at string, v jsonv.Value, key string) {
	m := v.Lookup(key)
	if m.Kind() != jsonv.KindString {
		s.fault("%s.%s is %s, not a string", at, key, article(m.Kind()))
		return
	}
	if _, err := base64.StdEncoding.DecodeString(m.Text()); err != nil {
		s.fault("%s.%s is not base64", at, key)
	}
}
