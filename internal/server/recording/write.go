package recording

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source/stored"
)

func sortKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// encode returns the content of the file. Exchanges are sorted by path, method and the
// other keys of the request; those with equal requests keep their order.
func (f *File) encode() []byte {
	w := &stored.Writer{Compact: true}
	of, again := "upstream ", Again(f.Upstream)
	if f.Trials.areOfModel() {
		of, again = "model ", ModelAgain
	}
	w.Raw("# Recording of the " + of + jsonv.String(f.Upstream).String() + ". Review changes like code; " + again + " writes it.\n" +
		"# Credentials are replaced by [redacted], which matches the credentials of a replayed request.\n")
	w.Line(0, keyVersion+": "+strconv.Itoa(version))
	w.Member(0, "upstream", jsonv.String(f.Upstream))
	if f.standsFor != "" {
		w.Member(0, "stands_for", jsonv.String(f.standsFor))
	}
	w.Member(0, "masks", jsonv.From(append([]string{}, f.masks...)))
	if len(f.Random) > 0 {
		w.Member(0, "random", jsonv.From(f.Random))
	}
	if f.Trials.areOfModel() {
		w.Member(0, "trials", jsonv.From(f.Trials))
	}
	tools, list := map[string]jsonv.Value{}, make([]jsonv.Value, len(f.list))
	for i, e := range f.list {
		t := e.request.json.Lookup("tools")
		if f.Trials.areOfModel() && !t.IsAbsent() { // every request to a model has all of them
			name := fmt.Sprintf("%x", sha256.Sum256(t.Append(nil)))[:12]
			tools[name], e.request.json = t, e.request.json.With("tools", jsonv.String(name))
		}
		list[i] = e.value()
	}
	if len(tools) > 0 {
		w.Member(0, "tools", jsonv.From(tools))
	}
	w.Member(0, "exchanges", jsonv.Array(list...))
	w.Line(0, keyEnd+": true")
	return w.Bytes()
}

// value returns an exchange in the form of the file.
func (e *exchange) value() jsonv.Value {
	request := jsonv.ObjectOf(
		"method", e.method,
		"path", e.path,
		"query", encodeTexts(e.query, false),
		"headers", encodeTexts(e.reqHeader, true),
	)
	response := jsonv.ObjectOf("status", e.status, "headers", encodeTexts(e.resHeader, true))
	var test jsonv.Value // absent: the exchange belongs to no test
	if e.test != "" {
		test = jsonv.String(e.test)
	}
	return jsonv.ObjectOf("test", test, "request", e.request.addTo(request), "response", e.response.addTo(response))
}

// encodeTexts returns named texts as an object with sorted members, absent if there are none.
func encodeTexts(values map[string][]string, lower bool) (out jsonv.Value) {
	for _, name := range sortKeys(values) {
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
	key := formKeys[b.form]
	switch b.form {
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
		o = o.With(key, encodeTexts(b.values, false))
	case multipartBody:
		o = o.With(key, jsonv.List(b.parts, func(p part) jsonv.Value {
			return jsonv.ObjectOf("name", p.name, "filename", p.filename, "type", p.mediaType, "body", p.body.addTo(jsonv.Object()))
		}))
	}
	if b.gzip {
		o = o.With("gzip", jsonv.Bool(true))
	}
	return o
}

// testOf returns the test of the label of a trial.
func testOf(label string) string {
	if at := strings.LastIndex(label, " (trial "); at >= 0 {
		return label[:at]
	}
	return ""
}

// merge adds the exchanges of an earlier recording whose requests were not made, in that of
// a model those of tests that were not run, and returns their number.
func (f *File) merge(old *File) int {
	seen := map[string]bool{}
	for i := range f.list {
		seen[f.list[i].joinKeys()] = true
	}
	n := 0
	for _, e := range old.list {
		again := f.Trials[testOf(e.test)] > 0
		switch {
		case !again && (!seen[e.joinKeys()] || testOf(e.test) != ""):
			f.list = append(f.list, e)
			n++
		case e.test == "": // of any test: now only of those that were not run
			for _, test := range sortKeys(old.Trials) {
				for i := 1; f.Trials[test] == 0 && i <= old.Trials[test]; i++ {
					e.test = fmt.Sprintf("%s (trial %d)", test, i)
					f.list = append(f.list, e)
					n++
				}
			}
		}
	}
	f.Random, f.Trials = mergeMaps(old.Random, f.Random), mergeMaps(old.Trials, f.Trials)
	f.masks = slices.Compact(slices.Sorted(slices.Values(append(f.masks, old.masks...))))
	sortExchanges(f.list)
	return n
}

// mergeMaps returns both maps as one; the second counts where both have a key.
func mergeMaps[V any](old, now map[string]V) map[string]V {
	out := maps.Clone(old)
	maps.Copy(out, now)
	return out
}

// arrange sorts exchanges so that the order in which tests ran has no influence, and
// removes repetitions, unless each counts. Equal requests of one test keep their order.
func arrange(list []exchange, each bool) []exchange {
	byKey := map[string]map[string][]exchange{}
	for _, e := range list {
		k := e.joinKeys()
		if byKey[k] == nil {
			byKey[k] = map[string][]exchange{}
		}
		byKey[k][e.test] = append(byKey[k][e.test], e)
	}
	var out []exchange
	for _, tests := range byKey {
		names := sortKeys(tests)
		common := true
		for _, name := range names {
			if !each {
				tests[name] = dropRepeats(tests[name])
			}
			common = common && slices.EqualFunc(tests[name], tests[names[0]], func(a, b exchange) bool {
				return isSameResponse(&a, &b)
			})
		}
		for _, name := range names {
			for _, e := range tests[name] {
				if common {
					e.test = ""
				}
				out = append(out, e)
			}
			if common {
				break
			}
		}
	}
	sortExchanges(out)
	return out
}

// dropRepeats removes equal responses from the end, since the last one is
// repeated.
func dropRepeats(list []exchange) []exchange {
	for len(list) > 1 && isSameResponse(&list[len(list)-1], &list[len(list)-2]) {
		list = list[:len(list)-1]
	}
	return list
}

func sortExchanges(list []exchange) {
	slices.SortStableFunc(list, func(a, b exchange) int {
		return cmp.Or(
			cmp.Compare(a.path, b.path),
			cmp.Compare(a.method, b.method),
			cmp.Compare(a.joinKeys(), b.joinKeys()),
			cmp.Compare(a.test, b.test),
		)
	})
}
