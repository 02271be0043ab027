package tape

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"strings"
	"unicode"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/secret"
	"mcptest/internal/mcpaql/evidence"
)

// disguise keeps secrets out of a recording without changing the run when it is
// replayed. A value that a bundle would leave out because of its key is replaced by
// another text of the same form, in every request and answer, so that equal values
// stay equal. A value that the user declared as secret, or whose form identifies it
// as one, is replaced by the mask. Values that the run generated are not secrets.
type disguise struct {
	mask      *secret.Redactor
	sensitive map[string]bool
	given     map[string]bool   // texts of the user's values
	made      map[string]bool   // texts that the run generated
	known     map[string]string // secret → its replacement
	key       []byte            // of this recording, never stored
}

// minKnown is the minimum length of a secret that is replaced under other keys too:
// shorter ones may be ordinary words.
const minKnown = 6

func newDisguise(secrets []string, values jsonv.Value) *disguise {
	d := &disguise{
		mask:  secret.NewRedactor(),
		given: map[string]bool{},
		made:  map[string]bool{},
		known: map[string]string{},
		key:   make([]byte, sha256.Size),
	}
	d.mask.Add(secrets...)
	_, _ = rand.Read(d.key)
	d.give(values)
	return d
}

// give records the texts and numbers of the user's values.
func (d *disguise) give(v jsonv.Value) {
	switch v.Kind() {
	case jsonv.KindString:
		d.given[v.Text()] = true
	case jsonv.KindNumber:
		d.given[v.String()] = true
	}
	for _, e := range v.Children() {
		d.give(e)
	}
}

// disguiseMessage returns a message, or a part of one, in the form in which it may be stored:
// unchanged if it contains no secret. ours reports whether the run created it.
func (d *disguise) disguiseMessage(raw []byte, ours bool) []byte {
	v, err := jsonv.Parse(raw)
	if err != nil {
		return d.mask.Bytes(raw)
	}
	if out := d.disguiseValue(v, ours, false); out.String() != v.String() {
		return out.Append(nil)
	}
	return raw
}

// disguiseValue replaces the secrets in a value; covered reports whether it is under the key of
// one.
func (d *disguise) disguiseValue(v jsonv.Value, ours, covered bool) jsonv.Value {
	switch v.Kind() {
	case jsonv.KindString:
		return jsonv.String(d.disguiseText(v.Text(), ours, covered))
	case jsonv.KindNumber:
		n := v.String()
		if covered && d.isSecret(n, ours) {
			if other, err := jsonv.Parse([]byte(d.makeSimilar(n))); err == nil {
				return other
			}
		}
	}
	return v.Map(func(k string, e jsonv.Value) (string, jsonv.Value) {
		secret := v.Kind() == jsonv.KindObject && (d.sensitive[k] || evidence.IsSecretMember(k, e))
		return d.mask.String(k), d.disguiseValue(e, ours, covered || secret)
	})
}

func (d *disguise) disguiseText(s string, ours, covered bool) string {
	if other, known := d.known[s]; known && (covered || len(s) >= minKnown) {
		return other
	}
	if covered && s != "" && d.isSecret(s, ours) {
		d.known[s] = d.makeSimilar(s)
		return d.known[s]
	}
	// An answer is usually JSON in a text.
	if inner := strings.TrimSpace(s); strings.HasPrefix(inner, "{") || strings.HasPrefix(inner, "[") {
		if v, err := jsonv.Parse([]byte(inner)); err == nil {
			if other := d.disguiseValue(v, ours, covered).String(); other != v.String() {
				return other
			}
			return s
		}
	}
	return d.mask.String(s)
}

// isSecret reports whether the value under the key of a secret is a secret.
func (d *disguise) isSecret(s string, ours bool) bool {
	if ours && !d.given[s] {
		d.made[s] = true
	}
	return !d.made[s]
}

// makeSimilar returns another text of the same form: letters for letters, digits for digits.
// The prefix that identifies a confirmation token stays.
func (d *disguise) makeSimilar(s string) string {
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
			mac := hmac.New(sha256.New, d.key)
			mac.Write(seed)
			seed = mac.Sum(nil)
			pool = append(pool, seed...)
		}
		b := pool[0]
		pool = pool[1:]
		return rune(b % n)
	}
	return prefix + strings.Map(func(r rune) rune {
		switch {
		case unicode.IsDigit(r):
			return '1' + next(9)
		case unicode.IsUpper(r):
			return 'A' + next(26)
		case unicode.IsLetter(r):
			return 'a' + next(26)
		}
		return r
	}, s)
}
