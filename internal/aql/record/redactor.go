package record

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"strings"
	"unicode"

	"mcptest/internal/aql/evidence"
	"mcptest/internal/jsonv"
	"mcptest/internal/secret"
)

// redactor keeps secrets out of a recording, and keeps the run the same when it
// is played back. What a bundle would leave out because of its key becomes
// another text of the same form, everywhere it is sent or answered, so that
// what was equal stays equal. What the user declared as secret, and what its
// form gives away, becomes the mask. What the run made up is no secret.
type redactor struct {
	mask      *secret.Redactor
	sensitive map[string]bool
	given     map[string]bool   // texts of the user's values
	made      map[string]bool   // texts that the run made up
	known     map[string]string // secret → its replacement
	key       []byte            // of this recording, kept nowhere
}

// minKnown is the length from which a secret is replaced under other keys
// too: shorter ones are words of their own.
const minKnown = 6

func newRedactor(o Options) *redactor {
	v := &redactor{mask: secret.NewRedactor(), given: map[string]bool{}, made: map[string]bool{}, known: map[string]string{}, key: make([]byte, sha256.Size)}
	v.mask.Add(o.Secrets...)
	_, _ = rand.Read(v.key)
	v.give(o.Values)
	return v
}

// give notes the texts and numbers of the user's values.
func (v *redactor) give(value jsonv.Value) {
	switch value.Kind() {
	case jsonv.KindString:
		v.given[value.Text()] = true
	case jsonv.KindNumber:
		v.given[value.String()] = true
	}
	for _, e := range value.Elems() {
		v.give(e)
	}
	for _, e := range value.Members() {
		v.give(e)
	}
}

// request is what is sent, as it may be written down.
func (v *redactor) request(raw []byte) json.RawMessage { return v.raw(raw, true) }

// result is what was answered, as it may be written down: byte for byte when
// there is nothing secret in it.
func (v *redactor) result(raw []byte) json.RawMessage { return v.raw(raw, false) }

// answer is a value that the run did not make up, as it may be written down.
func (v *redactor) answer(value jsonv.Value) jsonv.Value {
	w := redaction{redactor: v}
	return w.value(value, false)
}

func (v *redactor) raw(raw []byte, ours bool) json.RawMessage {
	value, err := jsonv.Parse(raw)
	if err != nil {
		if masked := v.mask.String(string(raw)); masked != string(raw) {
			return json.RawMessage(masked)
		}
		return raw
	}
	w := redaction{redactor: v, ours: ours}
	if value = w.value(value, false); w.changed {
		return value.Append(nil)
	}
	return raw
}

// redaction is one walk through a value.
type redaction struct {
	*redactor
	ours    bool // the run made it
	changed bool
}

// value walks through a value; covered says that it is under the key of a
// secret.
func (w *redaction) value(v jsonv.Value, covered bool) jsonv.Value {
	switch v.Kind() {
	case jsonv.KindArray:
		out := make([]jsonv.Value, 0, v.Len())
		for _, e := range v.Elems() {
			out = append(out, w.value(e, covered))
		}
		return jsonv.Array(out...)
	case jsonv.KindObject:
		var out evidence.Object
		for k, e := range v.Members() {
			out = append(out, jsonv.Member{Key: w.text(k), Value: w.value(e, covered || w.sensitive[k] || e.Kind() == jsonv.KindString && evidence.SecretKey(k))})
		}
		return out.Value()
	case jsonv.KindString:
		return jsonv.String(w.scalar(v.Text(), covered))
	case jsonv.KindNumber:
		if n := v.String(); covered && w.isSecret(n) {
			if other, err := jsonv.Parse([]byte(w.disguise(n))); err == nil {
				w.changed = true
				return other
			}
		}
	}
	return v
}

// text masks what was declared and what its form gives away.
func (w *redaction) text(s string) string {
	masked := w.mask.String(s)
	w.changed = w.changed || masked != s
	return masked
}

func (w *redaction) scalar(s string, covered bool) string {
	if other, known := w.known[s]; known && (covered || len(s) >= minKnown) {
		w.changed = true
		return other
	}
	if covered && s != "" && w.isSecret(s) {
		other := w.disguise(s)
		w.known[s] = other
		w.changed = true
		return other
	}
	// An answer is mostly JSON in a text.
	if inner := strings.TrimSpace(s); strings.HasPrefix(inner, "{") || strings.HasPrefix(inner, "[") {
		if v, err := jsonv.Parse([]byte(inner)); err == nil {
			in := redaction{redactor: w.redactor, ours: w.ours}
			if v = in.value(v, covered); in.changed {
				w.changed = true
				return v.String()
			}
			return s
		}
	}
	return w.text(s)
}

// isSecret says that the value under the key of a secret is one.
func (w *redaction) isSecret(s string) bool {
	if w.ours && !w.given[s] {
		w.made[s] = true
	}
	return !w.made[s]
}

// disguise is another text of the same form: letters for letters, digits for
// digits. The prefix that identifies a confirmation token stays.
func (v *redactor) disguise(s string) string {
	prefix := ""
	for _, p := range []string{"conf_", "quota_continue_"} {
		if strings.HasPrefix(s, p) {
			prefix, s = p, s[len(p):]
		}
	}
	seed := []byte(s)
	var pool []byte
	next := func(n byte) rune {
		if len(pool) == 0 {
			mac := hmac.New(sha256.New, v.key)
			mac.Write(seed)
			seed = mac.Sum(nil)
			pool = append(pool, seed...)
		}
		b := pool[0]
		pool = pool[1:]
		return rune(b % n)
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case unicode.IsDigit(r):
			r = '1' + next(9)
		case unicode.IsUpper(r):
			r = 'A' + next(26)
		case unicode.IsLetter(r):
			r = 'a' + next(26)
		}
		b.WriteRune(r)
	}
	return prefix + b.String()
}
