package recording

import (
	"encoding/base64"
	"maps"
	"slices"
	"strconv"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source/stored"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// recorded is the content of a file that is written.
type recorded struct {
	upstream, standsFor string
	masks               []string
	random              map[string]string
	list                []exchange
}

// bytes returns the content of the file. Exchanges are sorted by path, method and the
// other keys of the request; those with equal requests keep their order.
func (r *recorded) bytes() []byte {
	w := &stored.Writer{Compact: true}
	w.Raw("# Recording of the upstream " + jsonv.String(r.upstream).String() + ". Review changes like code; " + Again(r.upstream) + " writes it.\n" +
		"# Credentials are replaced by [redacted], which matches the credentials of a replayed request.\n")
	w.Line(0, keyVersion+": "+strconv.Itoa(version))
	w.Member(0, "upstream", jsonv.String(r.upstream))
	if r.standsFor != "" {
		w.Member(0, "stands_for", jsonv.String(r.standsFor))
	}
	w.Member(0, "masks", jsonv.From(append([]string{}, r.masks...)))
	if len(r.random) > 0 {
		w.Member(0, "random", jsonv.From(r.random))
	}
	list := make([]jsonv.Value, len(r.list))
	for i := range r.list {
		list[i] = r.list[i].value()
	}
	w.Member(0, "exchanges", jsonv.Array(list...))
	w.Line(0, keyEnd+": true")
	return w.Bytes()
}

// value returns an exchange in the form of the file.
func (e *exchange) value() jsonv.Value {
	request := []jsonv.Member{{Key: "method", Value: jsonv.String(e.method)}, {Key: "path", Value: jsonv.String(e.path)}}
	request = appendTexts(request, "query", e.query, false)
	request = appendTexts(request, "headers", e.reqHeader, true)
	response := []jsonv.Member{{Key: "status", Value: jsonv.Int(int64(e.status))}}
	response = appendTexts(response, "headers", e.resHeader, true)
	var out []jsonv.Member
	if e.test != "" {
		out = append(out, jsonv.Member{Key: "test", Value: jsonv.String(e.test)})
	}
	return jsonv.Object(append(out,
		jsonv.Member{Key: "request", Value: jsonv.Object(append(request, e.request.members()...)...)},
		jsonv.Member{Key: "response", Value: jsonv.Object(append(response, e.response.members()...)...)})...)
}

// appendTexts adds named texts, sorted.
func appendTexts(members []jsonv.Member, key string, values map[string][]string, lower bool) []jsonv.Member {
	if len(values) == 0 {
		return members
	}
	var list []jsonv.Member
	for _, name := range sortedKeys(values) {
		v := jsonv.From(values[name])
		if len(values[name]) == 1 {
			v = v.At(0)
		}
		if lower {
			name = strings.ToLower(name)
		}
		list = append(list, jsonv.Member{Key: name, Value: v})
	}
	return append(members, jsonv.Member{Key: key, Value: jsonv.Object(list...)})
}

// members returns the keys of a body.
func (b *body) members() []jsonv.Member {
	var out []jsonv.Member
	key := formKeys[b.form]
	switch b.form {
	case empty:
		return nil
	case jsonBody:
		out = append(out, jsonv.Member{Key: key, Value: b.json})
		if b.layout != "" {
			out = append(out, jsonv.Member{Key: "layout", Value: jsonv.String(b.layout)})
		}
		if b.layout == layoutOther {
			out = append(out, jsonv.Member{Key: "raw", Value: jsonv.String(b.text)})
		}
	case textBody:
		out = append(out, jsonv.Member{Key: key, Value: jsonv.String(b.text)})
	case base64Body:
		out = append(out, jsonv.Member{Key: key, Value: jsonv.String(base64.StdEncoding.EncodeToString([]byte(b.text)))})
	case formBody:
		out = appendTexts(out, key, b.values, false)
	case multipartBody:
		parts := make([]jsonv.Value, len(b.parts))
		for i, p := range b.parts {
			parts[i] = jsonv.ObjectOf("name", p.name, "filename", p.filename, "type", p.mediaType).With("body", jsonv.Object(p.body.members()...))
		}
		out = append(out, jsonv.Member{Key: key, Value: jsonv.Array(parts...)})
	}
	if b.gzip {
		out = append(out, jsonv.Member{Key: "gzip", Value: jsonv.Bool(true)})
	}
	return out
}
