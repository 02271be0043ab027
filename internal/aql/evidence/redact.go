package evidence

import (
	"strings"

	"mcptest/internal/jsonv"
	"mcptest/internal/secret"
)

// redacted replaces secret values.
const redacted = secret.Mask

// RedactKeys replaces the texts under keys that hold secrets, and everything
// under the keys of a set.
func RedactKeys(v jsonv.Value, sensitive map[string]bool) jsonv.Value {
	return v.Map(func(k string, e jsonv.Value) (string, jsonv.Value) {
		if e.Kind() == jsonv.KindString && SecretKey(k) || sensitive[k] && e.Kind() != jsonv.KindNull {
			e = jsonv.String(redacted)
		}
		return k, RedactKeys(e, sensitive)
	})
}

// SecretKey reports whether the value of a key must never be stored.
func SecretKey(key string) bool {
	return strings.EqualFold(key, "_confirmation") || secret.Holds(key)
}

// MaskTexts replaces secrets in every text and key of a value.
func MaskTexts(v jsonv.Value, r *secret.Redactor) jsonv.Value {
	if v.Kind() == jsonv.KindString {
		return jsonv.String(r.String(v.Text()))
	}
	return v.Map(func(k string, e jsonv.Value) (string, jsonv.Value) { return r.String(k), MaskTexts(e, r) })
}

// Mask returns a bundle without the secrets of a run, see [Options.Secrets], and
// without texts whose form identifies them as secrets.
func Mask(bundle jsonv.Value, secrets []string) jsonv.Value {
	r := secret.NewRedactor()
	r.Add(secrets...)
	return MaskTexts(bundle, r)
}
