package aql

import (
	"strings"

	"mcptest/internal/jsonv"
	"mcptest/internal/secret"
)

// What is secret is left out of everything that a run writes down: values of
// keys that sound like secrets, parameters that introspection calls
// sensitive, and the words that the user gave as secrets.

const redacted = secret.Mask

// redactKeys replaces the texts under keys that hold secrets, and whatever
// stands under the keys of a set.
func redactKeys(v jsonv.Value, sensitive map[string]bool) jsonv.Value {
	switch v.Kind() {
	case jsonv.KindArray:
		out := make([]jsonv.Value, 0, v.Len())
		for _, e := range v.Elems() {
			out = append(out, redactKeys(e, sensitive))
		}
		return jsonv.Array(out...)
	case jsonv.KindObject:
		var out object
		for k, e := range v.Members() {
			if e.Kind() == jsonv.KindString && secretKey(k) || sensitive[k] && e.Kind() != jsonv.KindNull {
				e = jsonv.String(redacted)
			}
			out = append(out, jsonv.Member{Key: k, Value: redactKeys(e, sensitive)})
		}
		return out.value()
	}
	return v
}

// secretKey reports whether what stands under a key is never written down.
func secretKey(key string) bool {
	return strings.EqualFold(key, "_confirmation") || secret.Holds(key)
}

// redact is a value as it may be written down.
func (c *collector) redact(v jsonv.Value) jsonv.Value { return redactKeys(v, c.sensitive) }

// noted is an answer as it may be written down.
func (c *collector) noted(r reply) jsonv.Value { return c.redact(r.response()) }

// maskTexts replaces secrets in every text and key of a value.
func maskTexts(v jsonv.Value, r *secret.Redactor) jsonv.Value {
	switch v.Kind() {
	case jsonv.KindString:
		return jsonv.String(r.String(v.Text()))
	case jsonv.KindArray:
		out := make([]jsonv.Value, 0, v.Len())
		for _, e := range v.Elems() {
			out = append(out, maskTexts(e, r))
		}
		return jsonv.Array(out...)
	case jsonv.KindObject:
		var out object
		for k, e := range v.Members() {
			out = append(out, jsonv.Member{Key: r.String(k), Value: maskTexts(e, r)})
		}
		return out.value()
	}
	return v
}

// Mask returns a bundle without the secrets of a run, see
// [LiveOptions.Secrets], and without what their form gives away.
func Mask(bundle jsonv.Value, secrets []string) jsonv.Value {
	r := secret.NewRedactor()
	r.Add(secrets...)
	return maskTexts(bundle, r)
}
