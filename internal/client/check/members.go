package check

import (
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/protocol"
)

// Report lists the problems of a response.
type Report struct {
	Violations []protocol.Violation
	Warnings   []string
}

func (r *Report) add(more Report) {
	r.Violations = append(r.Violations, more.Violations...)
	r.Warnings = append(r.Warnings, more.Warnings...)
}

// checker collects the problems of a result.
type checker struct {
	version protocol.Version
	res     jsonv.Value
	Report
}

// maxOfEach limits the violations of a result, and its warnings.
const maxOfEach = 5

func (c *checker) violation(format string, args ...any) {
	if len(c.Violations) < maxOfEach {
		c.Violations = append(c.Violations, protocol.Violation{
			Kind:    protocol.BadResult,
			Msg:     fmt.Sprintf(format, args...),
			Excerpt: c.res.Short(200),
		})
	}
}

// warning adds a problem that a client can ignore.
func (c *checker) warning(format string, args ...any) {
	if len(c.Warnings) < maxOfEach {
		c.Warnings = append(c.Warnings, fmt.Sprintf(format, args...))
	}
}

// each checks the items of a required list.
func (c *checker) each(at string, v jsonv.Value, key string, item func(at string, v jsonv.Value)) {
	list, ok := v.Get(key)
	at = jsonv.JoinKey(at, key)
	switch {
	case !ok:
		c.violation("the result has no %s", at)
	case list.Kind() != jsonv.KindArray:
		c.violation("%s is %s, not an array", at, list.Kind().WithArticle())
	default:
		for i, v := range list.Elems() {
			at := jsonv.JoinIndex(at, i)
			if v.Kind() != jsonv.KindObject {
				c.violation("%s is %s, not an object", at, v.Kind().WithArticle())
				continue
			}
			item(at, v)
		}
	}
}

func (c *checker) checkRequired(at string, v jsonv.Value, key string, kind jsonv.Kind) {
	if m := v.Lookup(key); m.Kind() != kind {
		c.violation("%s is %s, not %s", jsonv.JoinKey(at, key), m.Kind().WithArticle(), kind.WithArticle())
	}
}

func (c *checker) optional(at string, v jsonv.Value, key string, kind jsonv.Kind) {
	if _, ok := v.Get(key); ok {
		c.checkRequired(at, v, key, kind)
	}
}

// strings checks an optional list of strings.
func (c *checker) strings(at string, v jsonv.Value, key string) {
	c.optional(at, v, key, jsonv.KindArray)
	for i, s := range v.Lookup(key).Elems() {
		if s.Kind() != jsonv.KindString {
			c.violation("%s is %s, not a string", jsonv.JoinIndex(jsonv.JoinKey(at, key), i), s.Kind().WithArticle())
		}
	}
}

// objects checks an optional list of objects.
func (c *checker) objects(at string, v jsonv.Value, key string, item func(at string, v jsonv.Value)) {
	if _, ok := v.Get(key); ok {
		c.each(at, v, key, item)
	}
}

// oneOf checks an optional member with a fixed set of values.
func (c *checker) oneOf(at string, v jsonv.Value, key string, values ...string) {
	if m, ok := v.Get(key); ok && !slices.Contains(values, m.Text()) {
		c.violation("%s is %s, not %s", jsonv.JoinKey(at, key), m.Short(40), strings.Join(values, " or "))
	}
}

// meta checks the _meta of a part of a result.
func (c *checker) meta(at string, v jsonv.Value) {
	if c.version.PartMeta {
		c.optional(at, v, "_meta", jsonv.KindObject)
	}
}

// annotations checks the annotations of a content block or resource.
func (c *checker) annotations(at string, v jsonv.Value) {
	c.optional(at, v, "annotations", jsonv.KindObject)
	at, v = jsonv.JoinKey(at, "annotations"), v.Lookup("annotations")
	p, ok := v.Get("priority")
	if ok && (p.Kind() != jsonv.KindNumber || p.Float64() < 0 || p.Float64() > 1) {
		c.violation("%s.priority is %s, not a number from 0 to 1", at, p.Short(40))
	}
	if c.version.PartMeta {
		c.optional(at, v, "lastModified", jsonv.KindString)
	}
	c.optional(at, v, "audience", jsonv.KindArray)
	for i, who := range v.Lookup("audience").Elems() {
		if t := who.Text(); t != "user" && t != "assistant" {
			c.violation("%s is %s, not user or assistant", jsonv.JoinIndex(at+".audience", i), who.Short(40))
		}
	}
}
