package protocol

import (
	"encoding/base64"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"

	"mcptest/internal/base/jsonv"
)

// HeaderValue encodes text as a header value: unchanged if it is plain ASCII that a
// header preserves, otherwise in base64 between =?base64? and ?=.
func HeaderValue(s string) string {
	if isPlainHeader(s) {
		return s
	}
	return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(s)) + "?="
}

func isPlainHeader(s string) bool {
	if s == "" {
		return true
	}
	for i := range len(s) {
		if c := s[i]; c < 0x20 && c != '\t' || c > 0x7e {
			return false
		}
	}
	if s[0] == ' ' || s[0] == '\t' || s[len(s)-1] == ' ' || s[len(s)-1] == '\t' {
		return false
	}
	const pre, post = "=?base64?", "?="
	isEncoded := len(s) >= len(pre)+len(post) && strings.HasPrefix(s, pre) && strings.HasSuffix(s, post)
	return !isEncoded
}

// ParamHeader is an argument that is repeated as a header Mcp-Param-Name.
type ParamHeader struct {
	Path []string
	Name string
}

// ParamHeaders returns the x-mcp-header annotations of a schema, and the first
// mistake in them.
func ParamHeaders(schema jsonv.Value) ([]ParamHeader, string) {
	w := headerWalk{seen: map[string]bool{}}
	w.walkProperties(schema, nil)
	if w.fault == "" {
		w.checkElsewhere(schema, true, 0)
	}
	return w.out, w.fault
}

type headerWalk struct {
	out   []ParamHeader
	seen  map[string]bool
	fault string
	found int // annotations that were reached through properties
	all   int
}

// maxSchemaDepth limits the depth of the search in a schema.
const maxSchemaDepth = 100

func (w *headerWalk) walkProperties(schema jsonv.Value, path []string) {
	if len(path) > maxSchemaDepth {
		return
	}
	for name, p := range schema.Lookup("properties").Members() {
		if p.Kind() != jsonv.KindObject {
			continue
		}
		at := append(path[:len(path):len(path)], name)
		if h, ok := p.Get("x-mcp-header"); ok {
			w.found++
			w.checkAnnotation(h, p.Lookup("type"), at)
		}
		w.walkProperties(p, at)
	}
}

func (w *headerWalk) checkAnnotation(h, typ jsonv.Value, path []string) {
	fail := func(format string, args ...any) {
		if w.fault == "" {
			w.fault = fmt.Sprintf("the x-mcp-header of %s ", strings.Join(path, ".")) + fmt.Sprintf(format, args...)
		}
	}
	name := h.Text()
	switch {
	case h.Kind() != jsonv.KindString:
		fail("is %s, not text", h.Kind())
	case name == "":
		fail("is empty")
	case !isToken(name):
		fail("is %q, which is not a header name", Excerpt([]byte(name)))
	case w.seen[strings.ToLower(name)]:
		fail("is %q, which another parameter also has", name)
	case !isHeaderType(typ):
		fail("is set on a parameter of type %s, expected string, integer or boolean", typ.Short(40))
	default:
		w.seen[strings.ToLower(name)] = true
		w.out = append(w.out, ParamHeader{path, name})
	}
}

// isHeaderType reports whether an argument of a type can be a header.
func isHeaderType(typ jsonv.Value) bool {
	if typ.Kind() != jsonv.KindString {
		return false
	}
	switch typ.Text() {
	case "string", "integer", "boolean":
		return true
	}
	return false
}

// checkElsewhere finds annotations that do not belong to an argument: below items, a
// composition or a condition.
func (w *headerWalk) checkElsewhere(v jsonv.Value, schema bool, depth int) {
	if depth > maxSchemaDepth || w.fault != "" {
		return
	}
	schema = schema && v.Kind() == jsonv.KindObject
	for k, m := range v.Children() {
		switch {
		case !schema:
			w.checkElsewhere(m, true, depth+1)
		case k == "x-mcp-header":
			w.all++
			if w.all > w.found {
				w.fault = "an x-mcp-header is set where it does not name one argument (below items, a composition or a condition)"
			}
		case k != "const" && k != "enum" && k != "default" && k != "examples":
			named := k == "properties" || k == "patternProperties" || k == "$defs" || k == "definitions" || k == "dependentSchemas"
			w.checkElsewhere(m, !named, depth+1)
		}
	}
}

// isToken reports whether s is a token of HTTP (RFC 9110, section 5.6.2).
func isToken(s string) bool {
	for i := range len(s) {
		if !isTokenByte(s[i]) {
			return false
		}
	}
	return s != ""
}

func isTokenByte(c byte) bool {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		return true
	}
	return strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0
}

// HeaderText writes an argument as text: a string as it is, an integer in
// decimal, a boolean as true or false; null and other values have no header.
func HeaderText(val []byte) (string, bool) {
	switch KindOf(val) {
	case jsonv.KindString:
		return TextOf(val), true
	case jsonv.KindBool:
		return string(val), true
	case jsonv.KindNumber:
		if _, err := strconv.ParseInt(string(val), 10, 64); err == nil {
			return string(val), true
		}
		f, err := strconv.ParseFloat(string(val), 64)
		if err == nil && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
			return strconv.FormatInt(int64(f), 10), true
		}
	}
	return "", false
}

// ParamValues are the headers of one call.
func ParamValues(headers []ParamHeader, params []byte) http.Header {
	args := MemberOf(params, "arguments")
	if len(headers) == 0 || args == nil {
		return nil
	}
	out := http.Header{}
	for _, h := range headers {
		val := args
		for _, key := range h.Path {
			val = MemberOf(val, key)
		}
		if s, ok := HeaderText(val); ok {
			out[http.CanonicalHeaderKey("Mcp-Param-"+h.Name)] = []string{HeaderValue(s)}
		}
	}
	return out
}

// NameOf returns what an Mcp-Name header says of a message: params.name of
// tools/call and prompts/get, params.uri of resources/read, params.taskId of
// what is asked about a task.
func NameOf(method string, params []byte) string {
	key := "name"
	switch method {
	case "tools/call", "prompts/get":
	case "resources/read":
		key = "uri"
	case "tasks/get", "tasks/update", "tasks/cancel":
		key = "taskId"
	default:
		return ""
	}
	var name string
	_ = jsonv.VisitMembers(params, func(k string, val []byte) error {
		if k == key {
			name = TextOf(val)
		}
		return nil
	})
	return name
}
