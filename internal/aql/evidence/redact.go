package evidence

import (
	"strings"

	"mcptest/internal/jsonv"
	"mcptest/internal/secret"
)

// redacted replaces what is secret.
const redacted = secret.Mask

// RedactKeys replaces the texts under keys that hold secrets, and everything
// under the keys of a set.
func RedactKeys(v jsonv.Value, sensitive map[string]bool) jsonv.Value {
	switch v.Kind() {
	case jsonv.KindArray:
		out := make([]jsonv.Value, 0, v.Len())
		for _, e := range v.Elems() {
			out = append(out, RedactKeys(e, sensitive))
		}
		return jsonv.Array(out...)
	case jsonv.KindObject:
		var out Object
		for k, e := range v.Members() {
			if e.Kind() == jsonv.KindString && SecretKey(k) || sensitive[k] && e.Kind() != jsonv.KindNull {
				e = jsonv.String(redacted)
			}
			out = append(out, jsonv.Member{Key: k, Value: RedactKeys(e, sensitive)})
		}
		return out.Value()
	}
	return v
}

// SecretKey reports whether the value of a key is never written down.
func SecretKey(key string) bool {
	return strings.EqualFold(key, "_confirmation") || secret.Holds(key)
}

// MaskTexts replaces secrets in every text and key of a value.
func MaskTexts(v jsonv.Value, r *secret.Redactor) jsonv.Value {
	switch v.Kind() {
	case jsonv.KindString:
		return jsonv.String(r.String(v.Text()))
	case jsonv.KindArray:
		out := make([]jsonv.Value, 0, v.Len())
		for _, e := range v.Elems() {
			out = append(out, MaskTexts(e, r))
		}
		return jsonv.Array(out...)
	case jsonv.KindObject:
		var out Object
		for k, e := range v.Members() {
			out = append(out, jsonv.Member{Key: r.String(k), Value: MaskTexts(e, r)})
		}
		return out.Value()
	}
	return v
}

// Mask returns a bundle without the secrets of a run, see
// [Options.Secrets], and without what their form gives away.
func Mask(bundle jsonv.Value, secrets []string) jsonv.Value {
	r := secret.NewRedactor()
	r.Add(secrets...)
	return MaskTexts(bundle, r)
}
