package snapshot

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"mcptest/internal/assert/jsonpath"
	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lazy"
)

// Limits of values that are stored unchanged. Larger values are stored as a checksum.
const (
	maxText   = 16 << 10  // a text
	maxWord   = 1 << 10   // a text in base64, such as an image
	maxMasked = 256 << 10 // a text in which masks are looked for
	maxKey    = 256       // a key
	maxValue  = 256 << 10 // one snapshot
	maxDepth  = 60        // levels of nesting
)

// maxPasses limits how often the masks are applied to a text: what one of them leaves
// may be found by another.
const maxPasses = 4

var base64 = lazy.Regexp(`^[\w+/=-]*$`)

// masking is the work on one value.
type masking struct {
	masks  []mask
	marks  *regexp.Regexp // finds the marks that masks leave
	taken  *regexp.Regexp // finds text of the server that looks like one
	stored bool           // the value was masked before
	names  map[string]bool
	hit    []bool // which paths of ignore selected something
}

// pending is the rest of a path to ignore.
type pending struct {
	steps []jsonpath.Step
	of    int
}

// lastName finds the name at the end of a path.
var lastName = lazy.Regexp(`([\w-]+)(?:\[[^\]"']*\])*$`)

// Mask returns the value of a target as it is compared and stored; dir is the
// suite's folder. unused are the paths of ignore that selected nothing.
func (o *Options) Mask(target string, v jsonv.Value, dir string) (masked jsonv.Value, unused []string) {
	key := ""
	if name := lastName().FindStringSubmatch(target); name != nil {
		key = name[1]
	}
	return o.mask(key, v, dir, false)
}

func (o *Options) mask(key string, v jsonv.Value, dir string, stored bool) (masked jsonv.Value, unused []string) {
	k := &masking{
		masks:  slices.Clone(o.masks),
		marks:  o.marks,
		taken:  o.taken,
		stored: stored,
		names:  map[string]bool{},
		hit:    make([]bool, len(o.ignore)),
	}
	for i, m := range k.masks {
		k.names[m.name] = true
		if m.name == suiteDir {
			k.masks[i] = dirMask(dir)
		}
	}
	var paths []pending
	for i := range o.ignore {
		paths = append(paths, pending{o.ignore[i].steps, i})
	}
	masked = k.value(key, v, 0, paths)
	if text := masked.Append(nil); len(text) > maxValue {
		masked = jsonv.String(digest(string(text)))
	}
	for i, hit := range k.hit {
		if !hit {
			unused = append(unused, o.ignore[i].text)
		}
	}
	return masked, unused
}

// digest is the mark of a text that is too large to be stored.
func digest(s string) string {
	return fmt.Sprintf("<sha256 %x of %d bytes>", sha256.Sum256([]byte(s)), len(s))
}

func (k *masking) value(key string, v jsonv.Value, depth int, paths []pending) jsonv.Value {
	if depth > maxDepth {
		return jsonv.String(digest(v.String()))
	}
	switch v.Kind() {
	case jsonv.KindString:
		return jsonv.String(limitText(k.text(key, v.Text()), maxText))
	case jsonv.KindNumber:
		if name := k.number(key, v); name != "" {
			return jsonv.String("<" + name + " number>")
		}
	case jsonv.KindArray:
		elems := make([]jsonv.Value, 0, v.Len())
		for i, e := range v.Elems() {
			elems = append(elems, k.child(key, e, depth, paths, func(s *jsonpath.Step) bool {
				return s.SelectsAt(i, v.Len())
			}))
		}
		return jsonv.Array(elems...)
	case jsonv.KindObject:
		return k.object(v, depth, paths)
	}
	return v
}

// child masks an element or member, unless one of the paths ends at it.
func (k *masking) child(key string, v jsonv.Value, depth int, paths []pending, selects func(*jsonpath.Step) bool) jsonv.Value {
	var rest []pending
	ends := false
	for _, p := range paths {
		switch {
		case !selects(&p.steps[0]):
		case len(p.steps) == 1:
			ends, k.hit[p.of] = true, true
		default:
			rest = append(rest, pending{p.steps[1:], p.of})
		}
	}
	if ends {
		return jsonv.String("<" + ignored + ">")
	}
	return k.value(key, v, depth+1, rest)
}

// object masks keys, too. Members whose keys become equal are put in the order
// of their values, which does not depend on what was masked.
func (k *masking) object(v jsonv.Value, depth int, paths []pending) jsonv.Value {
	members := make([]jsonv.Member, 0, v.Len())
	for key, e := range v.Effective {
		masked := k.child(key, e, depth, paths, func(s *jsonpath.Step) bool {
			return s.Kind == jsonpath.All || s.Kind == jsonpath.Name && s.Name == key
		})
		members = append(members, jsonv.Member{Key: limitText(k.text("", key), maxKey), Value: masked})
	}
	slices.SortFunc(members, func(a, b jsonv.Member) int {
		if c := cmp.Compare(a.Key, b.Key); c != 0 {
			return c
		}
		return cmp.Compare(a.Value.String(), b.Value.String())
	})
	used := map[string]bool{}
	for i := range members {
		key := members[i].Key
		for n := 2; used[members[i].Key]; n++ {
			members[i].Key = key + "<#" + strconv.Itoa(n) + ">"
		}
		used[members[i].Key] = true
	}
	slices.SortFunc(members, func(a, b jsonv.Member) int { return cmp.Compare(a.Key, b.Key) })
	return jsonv.Object(members...)
}

// text masks a text until nothing changes any more: what a mask leaves may be
// found by another one.
func (k *masking) text(key, s string) string {
	if !k.stored {
		s = k.taken.ReplaceAllString(display.ShowInvalid(s), `<\$1`)
	}
	if len(s) > maxMasked || len(s) > maxWord && base64().MatchString(s) {
		return digest(s)
	}
	if k.names["id"] && idKey().MatchString(key) && random(s) {
		return "<id>"
	}
	for range maxPasses {
		next := s
		for i := range k.masks {
			next = k.masks[i].replace(next, k.marks)
		}
		if next == s {
			return s
		}
		s = next
	}
	return digest(s)
}

func limitText(s string, most int) string {
	if len(s) > most {
		return digest(s)
	}
	return s
}

// number returns the name of the mask for a number, which its key decides.
func (k *masking) number(key string, v jsonv.Value) string {
	f := v.Float64()
	switch {
	case k.names["duration"] && durationKey().MatchString(key):
		return "duration"
	case k.names["timestamp"] && timeKey().MatchString(key) && isTime(f):
		return "timestamp"
	case k.names["id"] && idKey().MatchString(key) && f >= 1e9:
		return "id"
	}
	return ""
}

// isTime reports whether a number may be a time from 2001 to 2103, in seconds,
// milliseconds, microseconds or nanoseconds.
func isTime(f float64) bool {
	const first, last = 1e9, 4.2e9 // seconds
	for _, unit := range []float64{1, 1e3, 1e6, 1e9} {
		if f > unit*first && f < unit*last {
			return true
		}
	}
	return false
}
