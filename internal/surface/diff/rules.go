package diff

import (
	"fmt"

	"mcptest/internal/jsonv"
	"mcptest/internal/surface"
)

// hint is an annotation of tools and its default.
type hint struct {
	key     string
	missing bool
	promise bool // the value that promises more
	relaxed Class
}

var hints = []hint{
	{"readOnlyHint", false, true, Trust},
	{"destructiveHint", true, false, Trust},
	{"openWorldHint", true, false, Trust},
	{"idempotentHint", false, true, Review},
}

func (c *comparer) annotations(ptr string, a, b jsonv.Value, flagged map[string]bool) {
	known := map[string]bool{}
	for _, h := range hints {
		known[h.key] = true
		value := func(v jsonv.Value) bool {
			if m := v.Lookup(h.key); m.Kind() == jsonv.KindBool {
				return m.Bool()
			}
			return h.missing
		}
		was, is, at := value(a), value(b), jsonv.AppendPointer(ptr, h.key)
		switch {
		case was != is && was == h.promise:
			c.add(h.relaxed, at, "", "%s changed from %t to %t: the tool promises less than before", h.key, was, is)
		case was != is:
			c.add(Review, at, "", "%s changed from %t to %t: the tool promises more than before", h.key, was, is)
		case !jsonv.Equal(a.Lookup(h.key), b.Lookup(h.key)):
			c.add(Safe, at, "", "%s %s; the default is %t", h.key, change(a.Lookup(h.key), b.Lookup(h.key)), h.missing)
		}
	}
	for _, k := range keysOf(a, b) {
		if !known[k] {
			c.member(jsonv.AppendPointer(ptr, k), a.Lookup(k), b.Lookup(k), flagged)
		}
	}
}

// promptArguments compares the arguments of a prompt, which are texts.
func (c *comparer) promptArguments(it surface.Item, a, b jsonv.Value) {
	find := func(list jsonv.Value, name string) jsonv.Value {
		for _, e := range list.Elems() {
			if e.Lookup("name").Text() == name {
				return e
			}
		}
		return jsonv.Value{}
	}
	for i, e := range b.Elems() {
		ptr := jsonv.AppendPointer("/arguments", fmt.Sprint(i))
		name := e.Lookup("name").Text()
		was := find(a, name)
		switch required := e.Lookup("required").Bool(); {
		case required && was.IsAbsent():
			c.add(Breaking, ptr, c.use(it), "new required argument %q", name)
		case was.IsAbsent():
			c.add(Safe, ptr, "", "new optional argument %q", name)
		case required && !was.Lookup("required").Bool():
			c.add(Breaking, ptr, c.use(it), "argument %q is now required", name)
		case !required && was.Lookup("required").Bool():
			c.add(Safe, ptr, "", "argument %q is no longer required", name)
		}
		if !was.IsAbsent() && !jsonv.Equal(was.Without("required"), e.Without("required")) {
			c.members(ptr, was.Without("required"), e.Without("required"), nil)
		}
	}
	for i, e := range a.Elems() {
		if name := e.Lookup("name").Text(); find(b, name).IsAbsent() {
			c.add(Review, jsonv.AppendPointer("/arguments", fmt.Sprint(i)), "", "argument %q was removed: clients that pass it are not served as before", name)
		}
	}
}
