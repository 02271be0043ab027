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
	request := jsonv.ObjectOf("method", e.method, "path", e.path, "query", textsOf(e.query, false), "headers", textsOf(e.reqHeader, true))
	response := jsonv.ObjectOf("status", e.status, "headers", textsOf(e.resHeader, true))
	out := jsonv.Object()
	if e.test != "" {
		out = jsonv.ObjectOf("test", e.test)
	}
	return out.With("request", e.request.addTo(request)).With("response", e.response.addTo(response))
}

// textsOf returns named texts as an object with sorted members, absent if there are none.
func textsOf(values map[string][]string, lower bool) (out jsonv.Value) {
	for _, name := range sortedKeys(values) {
		v := jsonv.From(values[name])
		if len(values[name]) == 1 {
			v = v.At(0)
		}
		if lower {
			name = strings.ToLower(name)
		}
		out = out.With(name, v)
	}
	return out
}

// addTo adds the members of a body to an object.
func (b *body) addTo(o jsonv.Value) jsonv.Value {
	switch key := formKeys[b.form]; b.form {
	case empty:
		return o
	case jsonBody:
		o = o.With(key, b.json)
		if b.layout != "" {
			o = o.With("layout", jsonv.String(b.layout))
		}
		if b.layout == layoutOther {
			o = o.With("raw", jsonv.String(b.text))
		}
	case textBody:
		o = o.With(key, jsonv.String(b.text))
	case base64Body:
		o = o.With(key, jsonv.String(base64.StdEncoding.EncodeToString([]byte(b.text))))
	case formBody:
		o = o.With(key, textsOf(b.values, false))
	case multipartBody:
		parts := make([]jsonv.Value, len(b.parts))
		for i, p := range b.parts {
			parts[i] = jsonv.ObjectOf("name", p.name, "filename", p.filename, "type", p.mediaType, "body", p.body.addTo(jsonv.Object()))
		}
		o = o.With(key, jsonv.Array(parts...))
	}
	if b.gzip {
		o = o.With("gzip", jsonv.Bool(true))
	}
	return o
}
