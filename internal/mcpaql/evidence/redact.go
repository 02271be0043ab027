package evidence

import (
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/secret"
)

// redacted replaces secret values.
const redacted = secret.Mask

// RedactKeys replaces the texts and numbers under keys that hold secrets, and
// everything under the keys of a set.
func RedactKeys(v jsonv.Value, sensitive map[string]bool) jsonv.Value {
	return v.Map(func(k string, e jsonv.Value) (string, jsonv.Value) {
		switch {
		case sensitive[k] && e.Kind() != jsonv.KindNull:
			return k, jsonv.String(redacted)
		case IsSecretMember(k, e):
			return k, concealValues(e)
		}
		return k, RedactKeys(e, sensitive)
	})
}

// IsSecretMember reports whether the value of a key contains what must never be stored.
// An object or a list does not if it only describes a credential, as a schema does.
func IsSecretMember(key string, v jsonv.Value) bool {
	switch v.Kind() {
	case jsonv.KindString:
		return IsSecretKey(key) || secret.HoldsText(key, v.Text())
	case jsonv.KindNumber, jsonv.KindObject, jsonv.KindArray:
		if !IsSecretKey(key) {
			return false
		}
		text := jsonv.ObjectOf(key, v).String()
		return secret.NewRedactor().String(text) != text
	}
	return false
}

// concealValues replaces the texts and numbers in a value.
func concealValues(v jsonv.Value) jsonv.Value {
	if v.Kind() == jsonv.KindString || v.Kind() == jsonv.KindNumber {
		return jsonv.String(redacted)
	}
	return v.Map(func(k string, e jsonv.Value) (string, jsonv.Value) { return k, concealValues(e) })
}

// IsSecretKey reports whether the value of a key must never be stored.
func IsSecretKey(key string) bool {
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
