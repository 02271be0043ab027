package draft

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lazy"
	"mcptest/internal/base/lists"
)

// assertion is one line below expect.
type assertion struct {
	target  string
	matcher string      // its name
	value   jsonv.Value // its argument
	note    string      // why it is loose; "": it is the value of the answer
}

// Limits of the expectations.
const (
	maxExact      = 400 // bytes of a value that is expected as a whole
	maxAssertions = 12  // of one test
)

// expect returns the assertions of a test. They hold for every answer.
func (s *Suite) expect(t *Test) []assertion {
	l := loosener{suite: s, own: textsIn(t.Args, []string{t.Subject})}
	switch {
	case t.Without != nil:
		l.without(t)
	case len(t.Answers) == 0:
	case t.List != "" && !t.Refused():
		l.list(t)
	case t.Mixed(), t.Loose && !t.Answers[0].Refused():
		l.add("refusal", "type", jsonv.Array(jsonv.String("object"), jsonv.String("null")), "it was refused only some of the time")
	case t.Answers[0].Refused():
		l.refusal(t)
	case t.Block == "tools":
		l.tool(t)
	case t.Block == "resources":
		l.value("result.contents", t.values(func(a Answer) jsonv.Value { return a.Result.Lookup("contents") }))
	case t.Block == "prompts":
		l.value("result.messages", t.values(func(a Answer) jsonv.Value { return a.Result.Lookup("messages") }))
	}
	if s.Recorded && t.List == "" && !t.Refused() {
		l.notRefused()
	}
	for _, p := range t.Chosen {
		l.choose(t, p)
	}
	l.expectRequests(t)
	return l.out
}

// notRefused drops assertions about the text that almost every text passes. If nothing
// else is expected, the server at least must not refuse the request.
func (l *loosener) notRefused() {
	l.out = slices.DeleteFunc(l.out, func(a assertion) bool {
		return a.target == "text" && (a.matcher == "length" || a.matcher == "type")
	})
	if len(l.out) == 0 {
		l.add("refusal", "exists", jsonv.Bool(false), "the response varies, or is not stored")
	}
}

// expectRequests adds the expected requests of the server to upstreams.
func (l *loosener) expectRequests(t *Test) {
	sent := map[string]int{}
	for _, r := range t.Requested {
		path := fmt.Sprintf("upstream.%s.requests[%d]", r.Upstream, sent[r.Upstream])
		l.add(path, "subset", jsonv.ObjectOf("method", r.Method, "path", r.Path), "")
		sent[r.Upstream]++
	}
	for _, name := range slices.Sorted(maps.Keys(sent)) {
		l.add("upstream."+name+".requests", "length", jsonv.Int(int64(sent[name])), "")
	}
}

// loosener collects the assertions of one test.
type loosener struct {
	suite *Suite
	own   []string // texts of the request: what repeats them does not change by itself
	out   []assertion
}

func (l *loosener) add(target, matcher string, v jsonv.Value, note string) {
	if len(l.out) < maxAssertions {
		l.out = append(l.out, assertion{target, matcher, v, note})
	}
}

// list expects the names of a list, in any order. A list of several pages may be
// split differently the next time.
func (l *loosener) list(t *Test) {
	var names [][]jsonv.Value
	paged := false
	for _, a := range t.Answers {
		var one []jsonv.Value
		for _, e := range a.Result.Lookup(t.List).Elems() {
			if n := e.Lookup("name"); n.Kind() == jsonv.KindString && l.writable(n) {
				one = append(one, n)
			}
		}
		paged = paged || !a.Result.Lookup("nextCursor").IsAbsent() || len(one) != a.Result.Lookup(t.List).Len()
		names = append(names, one)
	}
	target := "result." + t.List
	for _, other := range names[1:] {
		if !jsonv.Equal(jsonv.Array(names[0]...), jsonv.Array(other...)) {
			l.add(target, "type", jsonv.String("array"), "it changes")
			return
		}
	}
	if paged || len(names[0]) == 0 {
		l.add(target, "type", jsonv.String("array"), "")
		return
	}
	l.add(target+"[*].name", "unordered", jsonv.Array(names[0]...), "")
}

// without expects that a call is refused, and that the message names an argument that is
// missing, if all messages did.
func (l *loosener) without(t *Test) {
	for _, name := range t.Without {
		word := regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\b`)
		mentionsIt := func(a Answer) bool {
			return word.MatchString(a.Reason)
		}
		isWord := len(name) > 2 && l.writable(jsonv.String(name))
		if isWord && len(t.Answers) > 0 && !t.Loose && t.all(mentionsIt) {
			l.add("refusal.text", "contains", jsonv.String(name), "")
			return
		}
	}
	l.add("refusal", "exists", jsonv.Bool(true), "")
}

func (l *loosener) refusal(t *Test) {
	if !t.Loose && t.all(func(a Answer) bool { return !a.Result.IsAbsent() }) {
		l.add("result.isError", "exact", jsonv.Bool(true), "")
		return
	}
	codes := t.values(func(a Answer) jsonv.Value { return a.Code })
	if !t.Loose && same(codes) && codes[0].Kind() == jsonv.KindNumber {
		l.add("error.code", "exact", codes[0], "")
		return
	}
	l.add("refusal", "exists", jsonv.Bool(true), "it is refused in several ways")
}

// tool examines the most useful part of a result: the structured content, otherwise
// the text, otherwise each block of the content.
func (l *loosener) tool(t *Test) {
	if t.all(func(a Answer) bool { return !a.Result.Lookup("structuredContent").IsAbsent() }) {
		l.value("structured", t.values(func(a Answer) jsonv.Value { return a.Result.Lookup("structuredContent") }))
		if len(l.out) > 0 {
			return
		}
	}
	contents := t.values(func(a Answer) jsonv.Value { return a.Result.Lookup("content") })
	texts := make([]string, len(contents))
	for i, c := range contents {
		var ok bool
		if texts[i], ok = onlyText(c); !ok {
			l.value("result.content", contents)
			return
		}
	}
	l.text("text", texts)
}

// onlyText joins the text blocks of a content that has no other blocks.
func onlyText(content jsonv.Value) (string, bool) {
	var parts []string
	for _, block := range content.Elems() {
		if block.Lookup("type").Text() != "text" {
			return "", false
		}
		parts = append(parts, block.Lookup("text").Text())
	}
	return strings.Join(parts, "\n"), len(parts) > 0
}

// value expects parts that are the same in all values exactly, and of parts that
// differ only the kind. Large values are split.
func (l *loosener) value(target string, values []jsonv.Value) {
	v := values[0]
	if alike, there := kinds(values); !alike {
		if there {
			l.add(target, "exists", jsonv.Bool(true), "its type varies")
		}
		return
	}
	switch v.Kind() {
	case jsonv.KindAbsent:
		return
	case jsonv.KindString:
		l.text(target, lists.Map(values, jsonv.Value.Text))
		return
	case jsonv.KindObject, jsonv.KindArray:
		if slices.ContainsFunc(values, isEnvironment) {
			l.add(target, "type", jsonv.String(v.Kind().String()), "it lists environment variables")
			return
		}
		if same(values) && len(v.String()) <= maxExact && l.steady(v, "") {
			l.add(target, "exact", v, "")
			return
		}
		l.parts(target, values)
		return
	}
	if same(values) && l.steady(v, target[strings.LastIndexByte(target, '.')+1:]) {
		l.add(target, "exact", v, "")
		return
	}
	l.add(target, "type", jsonv.String(v.Kind().String()), "it changes")
}

// choose adds what is expected of a part, unless it is expected already. Parts that the
// results lack, and secrets, are left out. The limit of assertions is for those that
// nobody chose.
func (l *loosener) choose(t *Test, p Part) {
	target := t.TargetOf(p)
	if target == "" || p.expectedIn(l.out, target) {
		return
	}
	values := t.values(func(a Answer) jsonv.Value { _, v := locate(a.Result, p.At); return v })
	own := loosener{suite: l.suite, own: l.own}
	alike, _ := kinds(values)
	v := values[0]
	switch {
	case p.Text != "":
		lacksIt := func(v jsonv.Value) bool { return !strings.Contains(v.Text(), p.Text) }
		if !slices.ContainsFunc(values, lacksIt) && l.writable(jsonv.String(p.Text)) {
			own.add(target, "contains", jsonv.String(p.Text), "")
		}
	case alike && v.Kind() == jsonv.KindArray && same(lists.Map(values, lengthOf)):
		own.add(target, "length", lengthOf(v), "")
	case alike && v.Kind() == jsonv.KindObject:
		own.add(target, "schema", l.shapeOf(v), "")
	default:
		own.value(target, values)
	}
	l.out = append(l.out, own.out...)
}

func lengthOf(v jsonv.Value) jsonv.Value { return jsonv.Int(int64(v.Len())) }

// shapeOf returns the schema of an object with these members, each of its kind.
func (l *loosener) shapeOf(v jsonv.Value) jsonv.Value {
	properties := jsonv.Object()
	var required []jsonv.Value
	for key, member := range v.Members() {
		if name := jsonv.String(key); l.writable(name) {
			required = append(required, name)
			properties = properties.With(key, jsonv.ObjectOf("type", member.Kind().String()))
		}
	}
	return jsonv.ObjectOf("type", "object", "required", jsonv.Array(required...), "properties", properties)
}

func (p Part) expectedIn(out []assertion, target string) bool {
	return slices.ContainsFunc(out, func(a assertion) bool {
		return p.isExpectedBy(target, a.target, a.matcher, a.value)
	})
}

// kinds reports whether all values are of one kind, and whether each is present and
// not null.
func kinds(values []jsonv.Value) (alike, there bool) {
	alike, there = true, true
	for _, v := range values {
		alike = alike && v.Kind() == values[0].Kind()
		there = there && v.Kind() != jsonv.KindAbsent && v.Kind() != jsonv.KindNull
	}
	return alike, there
}

// parts splits objects and lists.
func (l *loosener) parts(target string, values []jsonv.Value) {
	v := values[0]
	at := func(of func(jsonv.Value) jsonv.Value) []jsonv.Value {
		return lists.Map(values, of)
	}
	if v.Kind() == jsonv.KindObject {
		if v.Len() == 0 {
			l.add(target, "type", jsonv.String("object"), "it changes")
		}
		for key := range v.Members() {
			if l.writable(jsonv.String(key)) {
				l.value(member(target, key), at(func(o jsonv.Value) jsonv.Value { return o.Lookup(key) }))
			}
		}
		return
	}
	n := v.Len()
	for _, other := range values {
		if other.Len() != n {
			l.add(target, "type", jsonv.String("array"), "its length changes")
			return
		}
	}
	l.add(target, "length", jsonv.Int(int64(n)), "")
	for i := range min(n, 3) {
		l.value(target+"["+strconv.Itoa(i)+"]", at(func(a jsonv.Value) jsonv.Value {
			return a.At(i)
		}))
	}
}

func same(values []jsonv.Value) bool {
	return !slices.ContainsFunc(values[1:], func(v jsonv.Value) bool { return !jsonv.Equal(values[0], v) })
}

// changing matches the names of members whose numbers will differ the next time.
var changing = lazy.Regexp(`(?i)(^|_|-)(id|pid|port|time|timestamp|date|duration|elapsed|uptime|latency|ms|age|seed|nonce|random|ppid|uid|gid|cpus?|cores|memory|rss|loadavg|(free|total)mem)$|(At|Time|Timestamp|Date|Ms|Id|ID)$`)

// steady reports whether a value may be expected exactly: it contains no secret and
// no text of this machine, and does not look like a time or an id.
func (l *loosener) steady(v jsonv.Value, key string) bool {
	if isEnvironment(v) {
		return false
	}
	switch v.Kind() {
	case jsonv.KindString:
		return l.writable(v) && len(l.volatile(v.Text())) == 0
	case jsonv.KindNumber:
		return l.writable(v) && !changing().MatchString(key) && !epoch().MatchString(v.Literal())
	case jsonv.KindArray:
		for _, e := range v.Elems() {
			if !l.steady(e, key) {
				return false
			}
		}
	case jsonv.KindObject:
		seen := map[string]bool{}
		for k, e := range v.Members() {
			if seen[k] || !l.writable(jsonv.String(k)) || !l.steady(e, k) {
				return false
			}
			seen[k] = true
		}
	}
	return true
}
