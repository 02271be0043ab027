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
	l := loosener{suite: s, own: listTexts(t.Args, []string{t.Subject})}
	switch {
	case t.Without != nil:
		l.expectNone(t)
	case len(t.Answers) == 0:
	case t.List != "" && !t.Refused():
		l.list(t)
	case t.Mixed(), t.Loose && !t.Answers[0].Refused():
		l.add("refusal", "type", jsonv.Array(jsonv.String("object"), jsonv.String("null")), "it was refused only some of the time")
	case t.Answers[0].Refused():
		l.expectRefusal(t)
	case t.Block == "tools":
		l.expectTool(t)
	case t.Block == "resources":
		l.expectMember(t, "result.contents", "contents")
	case t.Block == "prompts":
		l.expectMember(t, "result.messages", "messages")
	}
	if s.Recorded && t.List == "" && !t.Refused() {
		l.expectNoRefusal()
	}
	for _, p := range t.Chosen {
		l.choose(t, p)
	}
	l.expectRequests(t)
	return l.out
}

// expectNoRefusal drops assertions about the text that almost every text passes. If nothing
// else is expected, the server at least must not refuse the request.
func (l *loosener) expectNoRefusal() {
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
			if n := e.Lookup("name"); n.Kind() == jsonv.KindString && l.isWritable(n) {
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

// expectNone expects that a call is refused, and that the message names an argument that is
// missing, if all messages did.
func (l *loosener) expectNone(t *Test) {
	for _, name := range t.Without {
		word := regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\b`)
		mentionsIt := func(a Answer) bool {
			return word.MatchString(a.Reason)
		}
		isWord := len(name) > 2 && l.isWritable(jsonv.String(name))
		if isWord && len(t.Answers) > 0 && !t.Loose && t.holdsForAll(mentionsIt) {
			l.add("refusal.text", "contains", jsonv.String(name), "")
			return
		}
	}
	l.add("refusal", "exists", jsonv.Bool(true), "")
}

func (l *loosener) expectRefusal(t *Test) {
	if !t.Loose && t.holdsForAll(func(a Answer) bool { return !a.Result.IsAbsent() }) {
		l.add("result.isError", "exact", jsonv.Bool(true), "")
		return
	}
	codes := t.listValues(func(a Answer) jsonv.Value { return a.Code })
	if !t.Loose && isSame(codes) && codes[0].Kind() == jsonv.KindNumber {
		l.add("error.code", "exact", codes[0], "")
		return
	}
	l.add("refusal", "exists", jsonv.Bool(true), "it is refused in several ways")
}

// expectTool examines the most useful part of a result: the structured content, otherwise
// the text, otherwise each block of the content.
func (l *loosener) expectTool(t *Test) {
	if t.holdsForAll(func(a Answer) bool { return !a.Result.Lookup("structuredContent").IsAbsent() }) {
		l.expectMember(t, "structured", "structuredContent")
		if len(l.out) > 0 {
			return
		}
	}
	contents := t.listValues(func(a Answer) jsonv.Value { return a.Result.Lookup("content") })
	texts := make([]string, len(contents))
	for i, c := range contents {
		var ok bool
		if texts[i], ok = findOnlyText(c); !ok {
			l.expectValue("result.content", contents)
			return
		}
	}
	l.expectText("text", texts)
}

// findOnlyText joins the text blocks of a content that has no other blocks.
func findOnlyText(content jsonv.Value) (string, bool) {
	var parts []string
	for _, block := range content.Elems() {
		if block.Lookup("type").Text() != "text" {
			return "", false
		}
		parts = append(parts, block.Lookup("text").Text())
	}
	return strings.Join(parts, "\n"), len(parts) > 0
}

// expectMember expects what the answers have in a member of their results.
func (l *loosener) expectMember(t *Test, target, member string) {
	l.expectValue(target, t.listValues(func(a Answer) jsonv.Value { return a.Result.Lookup(member) }))
}

// expectValue expects parts that are the same in all values exactly, and of parts that
// differ only the kind. Large values are split.
func (l *loosener) expectValue(target string, values []jsonv.Value) {
	v := values[0]
	if alike, there := compareKinds(values); !alike {
		if there {
			l.add(target, "exists", jsonv.Bool(true), "its type varies")
		}
		return
	}
	switch v.Kind() {
	case jsonv.KindAbsent:
		return
	case jsonv.KindString:
		l.expectText(target, lists.Map(values, jsonv.Value.Text))
		return
	case jsonv.KindObject, jsonv.KindArray:
		if slices.ContainsFunc(values, isEnvironment) {
			l.add(target, "type", jsonv.String(v.Kind().String()), "it lists environment variables")
			return
		}
		if isSame(values) && len(v.String()) <= maxExact && l.isSteady(v, "") {
			l.add(target, "exact", v, "")
			return
		}
		l.expectParts(target, values)
		return
	}
	if isSame(values) && l.isSteady(v, target[strings.LastIndexByte(target, '.')+1:]) {
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
	values := t.listValues(func(a Answer) jsonv.Value { _, v := locate(a.Result, p.At); return v })
	own := loosener{suite: l.suite, own: l.own}
	alike, _ := compareKinds(values)
	v := values[0]
	switch {
	case p.Text != "":
		lacksIt := func(v jsonv.Value) bool { return !strings.Contains(v.Text(), p.Text) }
		if !slices.ContainsFunc(values, lacksIt) && l.isWritable(jsonv.String(p.Text)) {
			own.add(target, "contains", jsonv.String(p.Text), "")
		}
	case alike && v.Kind() == jsonv.KindArray && isSame(lists.Map(values, lengthOf)):
		own.add(target, "length", lengthOf(v), "")
	case alike && v.Kind() == jsonv.KindObject:
		own.add(target, "schema", l.makeShape(v), "")
	default:
		own.expectValue(target, values)
	}
	l.out = append(l.out, own.out...)
}

func lengthOf(v jsonv.Value) jsonv.Value { return jsonv.Int(int64(v.Len())) }

// makeShape returns the schema of an object with these members, each of its kind.
func (l *loosener) makeShape(v jsonv.Value) jsonv.Value {
	properties := jsonv.Object()
	var required []jsonv.Value
	for key, member := range v.Members() {
		if name := jsonv.String(key); l.isWritable(name) {
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

// compareKinds reports whether all values are of one kind, and whether each is present and
// not null.
func compareKinds(values []jsonv.Value) (alike, there bool) {
	alike, there = true, true
	for _, v := range values {
		alike = alike && v.Kind() == values[0].Kind()
		there = there && v.Kind() != jsonv.KindAbsent && v.Kind() != jsonv.KindNull
	}
	return alike, there
}

// expectParts splits objects and lists.
func (l *loosener) expectParts(target string, values []jsonv.Value) {
	v := values[0]
	at := func(of func(jsonv.Value) jsonv.Value) []jsonv.Value {
		return lists.Map(values, of)
	}
	if v.Kind() == jsonv.KindObject {
		if v.Len() == 0 {
			l.add(target, "type", jsonv.String("object"), "it changes")
		}
		for key := range v.Members() {
			if l.isWritable(jsonv.String(key)) {
				l.expectValue(makeMember(target, key), at(func(o jsonv.Value) jsonv.Value { return o.Lookup(key) }))
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
		l.expectValue(target+"["+strconv.Itoa(i)+"]", at(func(a jsonv.Value) jsonv.Value {
			return a.At(i)
		}))
	}
}

func isSame(values []jsonv.Value) bool {
	return !slices.ContainsFunc(values[1:], func(v jsonv.Value) bool { return !jsonv.Equal(values[0], v) })
}

// changing matches the names of members whose numbers will differ the next time.
var changing = lazy.Regexp(`(?i)(^|_|-)(id|pid|port|time|timestamp|date|duration|elapsed|uptime|latency|ms|age|seed|nonce|random|ppid|uid|gid|cpus?|cores|memory|rss|loadavg|(free|total)mem)$|(At|Time|Timestamp|Date|Ms|Id|ID)$`)

// isSteady reports whether a value may be expected exactly: it contains no secret and
// no text of this machine, and does not look like a time or an id.
func (l *loosener) isSteady(v jsonv.Value, key string) bool {
	if isEnvironment(v) {
		return false
	}
	switch v.Kind() {
	case jsonv.KindString:
		return l.isWritable(v) && len(l.findVolatile(v.Text())) == 0
	case jsonv.KindNumber:
		return l.isWritable(v) && !changing().MatchString(key) && !epoch().MatchString(v.Literal())
	case jsonv.KindArray:
		for _, e := range v.Elems() {
			if !l.isSteady(e, key) {
				return false
			}
		}
	case jsonv.KindObject:
		seen := map[string]bool{}
		for k, e := range v.Members() {
			if seen[k] || !l.isWritable(jsonv.String(k)) || !l.isSteady(e, k) {
				return false
			}
			seen[k] = true
		}
	}
	return true
}
