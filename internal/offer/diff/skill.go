package diff

import (
	"fmt"
	"strconv"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
)

// compareSkill compares a member of the entry of a skill. All of it is text that a model obeys, or
// that hosts bind an approval to.
func (c *comparer) compareSkill(ptr, member string, a, b jsonv.Value, flagged map[string]bool) {
	switch member {
	case "frontmatter":
		if a.Kind() != jsonv.KindObject || b.Kind() != jsonv.KindObject {
			c.add(Trust, ptr, "", "frontmatter %s", describeChange(a, b))
			return
		}
		for _, k := range listKeys(a, b) {
			at := jsonv.AppendPointer(ptr, k)
			if before, now := a.Lookup(k), b.Lookup(k); !jsonv.Equal(before, now) && !flagged[at] {
				c.add(Trust, at, "", "%s %s", label(at), describeChange(before, now))
			}
		}
	case "resources":
		c.compareSkillFiles(ptr, a, b)
	default:
		c.compareMember(ptr, a, b, flagged)
	}
}

// compareSkillFiles compares the files of a skill.
func (c *comparer) compareSkillFiles(ptr string, a, b jsonv.Value) {
	switch {
	case a.Kind() == jsonv.KindArray && b.Kind() != jsonv.KindArray:
		c.add(Trust, ptr, "", "resources is %s now: the files have no digests any more", b.Short(40))
		return
	case a.Kind() != jsonv.KindArray && b.Kind() == jsonv.KindArray:
		c.add(Review, ptr, "", "resources was %s: the files have digests now", a.Short(40))
		return
	case a.Kind() != jsonv.KindArray:
		c.add(Trust, ptr, "", "resources %s", describeChange(a, b))
		return
	}
	before, now := indexByURI(a), indexByURI(b)
	for i, f := range b.Elems() {
		uri := f.Lookup("uri").Text()
		old, known := before[uri]
		at := jsonv.AppendPointer(ptr, strconv.Itoa(i))
		switch {
		case !known:
			c.add(Trust, at, "", "new file %s", shownURI(uri))
		case !jsonv.Equal(old, f):
			c.add(Trust, at, "", "%s", describeFileChange(uri, old, f))
		}
	}
	for i, f := range a.Elems() {
		if uri := f.Lookup("uri").Text(); now[uri].IsAbsent() {
			at := jsonv.AppendPointer(ptr, strconv.Itoa(i))
			c.add(Trust, at, "", "the file %s was removed: approvals are bound to all files of a skill", shownURI(uri))
		}
	}
}

func indexByURI(files jsonv.Value) map[string]jsonv.Value {
	out := map[string]jsonv.Value{}
	for _, f := range files.Elems() {
		out[f.Lookup("uri").Text()] = f
	}
	return out
}

func shownURI(uri string) string { return display.Truncate(uri, 200) }

// describeFileChange describes a file that is another one now.
func describeFileChange(uri string, old, now jsonv.Value) string {
	what := "the file " + shownURI(uri)
	if strings.HasSuffix(uri, "/SKILL.md") {
		what += ", whose text a model obeys,"
	}
	before, after := old.Lookup("size").Short(20), now.Lookup("size").Short(20)
	if jsonv.Equal(old.Lookup("digest"), now.Lookup("digest")) {
		return fmt.Sprintf("%s changed: size %s → %s with an equal digest", what, before, after)
	}
	const form = "%s changed: %s, %s bytes → %s, %s bytes"
	digest := func(f jsonv.Value) string { return display.Truncate(f.Lookup("digest").Text(), 20) }
	return fmt.Sprintf(form, what, digest(old), before, digest(now), after)
}
