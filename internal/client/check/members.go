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

func (c *checker) addViolation(format string, args ...any) {
	if len(c.Violations) < maxOfEach {
		c.Violations = append(c.Violations, protocol.Violation{
			Kind:    protocol.BadResult,
			Msg:     fmt.Sprintf(format, args...),
			Excerpt: c.res.Short(200),
		})
	}
}

// addWarning adds a problem that a client can ignore.
func (c *checker) addWarning(format string, args ...any) {
	if len(c.Warnings) < maxOfEach {
		c.Warnings = append(c.Warnings, fmt.Sprintf(format, args...))
	}
}

// checkEach checks the items of a required list.
func (c *checker) checkEach(at string, v jsonv.Value, key string, item func(at string, v jsonv.Value)) {
	list, ok := v.Get(key)
	at = jsonv.JoinKey(at, key)
	switch {
	case !ok:
		c.addViolation("the result has no %s", at)
	case list.Kind() != jsonv.KindArray:
		c.addViolation("%s is %s, not an array", at, list.Kind().WithArticle())
	default:
		for i, v := range list.Elems() {
			at := jsonv.JoinIndex(at, i)
			if v.Kind() != jsonv.KindObject {
				c.addViolation("%s is %s, not an object", at, v.Kind().WithArticle())
				continue
			}
			item(at, v)
		}
	}
}

func (c *checker) checkRequired(at string, v jsonv.Value, key string, kind jsonv.Kind) {
	if m := v.Lookup(key); m.Kind() != kind {
		c.addViolation("%s is %s, not %s", jsonv.JoinKey(at, key), m.Kind().WithArticle(), kind.WithArticle())
	}
}

func (c *checker) checkOptional(at string, v jsonv.Value, key string, kind jsonv.Kind) {
	if _, ok := v.Get(key); ok {
		c.checkRequired(at, v, key, kind)
	}
}

// checkStrings checks an optional list of strings.
func (c *checker) checkStrings(at string, v jsonv.Value, key string) {
	c.checkOptional(at, v, key, jsonv.KindArray)
	for i, s := range v.Lookup(key).Elems() {
		if s.Kind() != jsonv.KindString {
			c.addViolation("%s is %s, not a string", jsonv.JoinIndex(jsonv.JoinKey(at, key), i), s.Kind().WithArticle())
		}
	}
}

// checkObjects checks an optional list of objects.
func (c *checker) checkObjects(at string, v jsonv.Value, key string, item func(at string, v jsonv.Value)) {
	if _, ok := v.Get(key); ok {
		c.checkEach(at, v, key, item)
	}
}

// checkOneOf checks an optional member with a fixed set of values.
func (c *checker) checkOneOf(at string, v jsonv.Value, key string, values ...string) {
	if m, ok := v.Get(key); ok && !slices.Contains(values, m.Text()) {
		c.addViolation("%s is %s, not %s", jsonv.JoinKey(at, key), m.Short(40), strings.Join(values, " or "))
	}
}

// checkMeta checks the _meta of a part of a result.
func (c *checker) checkMeta(at string, v jsonv.Value) {
	if c.version.PartMeta {
		c.checkOptional(at, v, "_meta", jsonv.KindObject)
	}
}

// checkAnnotations checks the annotations of a content block or resource.
func (c *checker) checkAnnotations(at string, v jsonv.Value) {
	c.checkOptional(at, v, "annotations", jsonv.KindObject)
	at, v = jsonv.JoinKey(at, "annotations"), v.Lookup("annotations")
	p, ok := v.Get("priority")
	if ok && (p.Kind() != jsonv.KindNumber || p.Float64() < 0 || p.Float64() > 1) {
		c.addViolation("%s.priority is %s, not a number from 0 to 1", at, p.Short(40))
	}
	if c.version.PartMeta {
		c.checkOptional(at, v, "lastModified", jsonv.KindString)
	}
	c.checkOptional(at, v, "audience", jsonv.KindArray)
	for i, who := range v.Lookup("audience").Elems() {
		if t := who.Text(); t != "user" && t != "assistant" {
			c.addViolation("%s is %s, not user or assistant", jsonv.JoinIndex(at+".audience", i), who.Short(40))
		}
	}
}
