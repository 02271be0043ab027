package aql

import (
	"strings"

	"mcptest/internal/jsonv"
)

// What is secret is left out of everything that a run writes down: values of
// keys that sound like secrets, parameters that introspection calls
// sensitive, and the words that the user gave as secrets.

// secretWords are parts of keys whose values are never written down.
var secretWords = []string{"password", "secret", "token", "authorization", "api_key", "apikey", "credential"}

const redacted = "[redacted]"

// redactJSON replaces the texts under keys that hold secrets.
func redactJSON(v jsonv.Value) jsonv.Value { return redactKeys(v, nil) }

// redactKeys also replaces whatever stands under the keys of a set.
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

func secretKey(key string) bool {
	low := strings.ToLower(key)
	if low == "_confirmation" {
		return true
	}
	for _, w := range secretWords {
		if strings.Contains(low, w) {
			return true
		}
	}
	return false
}

// SecretName says that a name sounds like that of a secret.
func SecretName(name string) bool { return secretKey(name) }

// redact is a value as it may be written down.
func (c *collector) redact(v jsonv.Value) jsonv.Value { return redactKeys(v, c.sensitive) }

// noted is an answer as it may be written down.
func (c *collector) noted(r reply) jsonv.Value { return c.redact(r.response()) }

// minSecret is the length from which a secret is looked for inside texts;
// shorter ones only where they are the whole text.
const minSecret = 8

// maskTexts replaces secrets in every text and key of a value.
func maskTexts(v jsonv.Value, secrets []string) jsonv.Value {
	switch v.Kind() {
	case jsonv.KindString:
		return jsonv.String(maskText(v.Text(), secrets))
	case jsonv.KindArray:
		out := make([]jsonv.Value, 0, v.Len())
		for _, e := range v.Elems() {
			out = append(out, maskTexts(e, secrets))
		}
		return jsonv.Array(out...)
	case jsonv.KindObject:
		var out object
		for k, e := range v.Members() {
			out = append(out, jsonv.Member{Key: maskText(k, secrets), Value: maskTexts(e, secrets)})
		}
		return out.value()
	}
	return v
}

func maskText(s string, secrets []string) string {
	for _, secret := range secrets {
		switch {
		case secret == "":
		case s == secret:
			return redacted
		case len(secret) >= minSecret:
			s = strings.ReplaceAll(s, secret, redacted)
		}
	}
	return s
}

// Mask returns a bundle without the secrets of a run, see
// [LiveOptions.Secrets].
func Mask(bundle jsonv.Value, secrets []string) jsonv.Value {
	if len(secrets) == 0 {
		return bundle
	}
	return maskTexts(bundle, secrets)
}
