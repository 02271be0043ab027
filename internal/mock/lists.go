package mock

import (
	"encoding/base64"
	"slices"
	"strconv"
	"strings"

	"mcptest/internal/jsonv"
	"mcptest/internal/mcp/protocol"
	"mcptest/internal/mcpserver"
)

// list answers a list request, in pages if the manifest has a page size. A cursor
// encodes the index of the next entry in a form that cannot be mistaken for a number.
func list[T any](m *Manifest, sc *scope, key string, all []T, listed func(T) jsonv.Value) *mcpserver.Reply {
	start, end := 0, len(all)
	if c := sc.params.Lookup("cursor"); !c.IsAbsent() && c.Kind() != jsonv.KindNull {
		at, ok := place(c.Text(), key)
		if !ok || at >= len(all) {
			return failure(protocol.CodeInvalidParams, "Invalid cursor: %s", c)
		}
		start = at
	}
	next := jsonv.Value{}
	if m.pageSize > 0 && start+m.pageSize < end {
		end = start + m.pageSize
		next = jsonv.String(cursor(end, key))
	}
	entries := make([]jsonv.Value, 0, end-start)
	for _, e := range all[start:end] {
		entries = append(entries, listed(e))
	}
	return answer(jsonv.ObjectOf(key, jsonv.Array(entries...), "nextCursor", next))
}

func cursor(at int, key string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(key + ":" + strconv.Itoa(at)))
}

func place(cursor, key string) (int, bool) {
	data, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		return 0, false
	}
	rest, ok := strings.CutPrefix(string(data), key+":")
	at, err := strconv.Atoi(rest)
	return at, ok && err == nil && at >= 0
}

// maxCompletions is MCP's limit for one answer.
const maxCompletions = 100

// complete answers completion/complete with the values that start with the typed
// text, ignoring case.
func (m *Manifest) complete(sc *scope) *mcpserver.Reply {
	ref, name := sc.params.Lookup("ref"), sc.params.Lookup("argument", "name").Text()
	var values map[string][]string
	switch kind := ref.Lookup("type").Text(); kind {
	case "ref/prompt":
		i := slices.IndexFunc(m.prompts, func(p *prompt) bool { return p.name == ref.Lookup("name").Text() })
		if i < 0 {
			return failure(protocol.CodeInvalidParams, "Unknown prompt: %s", ref.Lookup("name").Text())
		}
		values = m.prompts[i].complete
	case "ref/resource":
		uri := ref.Lookup("uri").Text()
		if i := slices.IndexFunc(m.templates, func(t *resourceTemplate) bool { return t.uri == uri }); i >= 0 {
			values = m.templates[i].complete
		} else if _, ok := m.find(uri); !ok {
			return failure(protocol.CodeInvalidParams, "Unknown resource: %s", uri)
		}
	default:
		return failure(protocol.CodeInvalidParams, "unknown type of reference %q", kind)
	}
	typed := strings.ToLower(sc.params.Lookup("argument", "value").Text())
	var fit []jsonv.Value
	for _, v := range values[name] {
		if strings.HasPrefix(strings.ToLower(v), typed) {
			fit = append(fit, jsonv.String(v))
		}
	}
	total := len(fit)
	fit = fit[:min(total, maxCompletions)]
	return answer(jsonv.ObjectOf("completion", jsonv.ObjectOf("values", jsonv.Array(fit...), "total", int64(total), "hasMore", total > len(fit))))
}
