package evidence

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lazy"
	"mcptest/internal/base/secret"
	"mcptest/internal/mcpaql/reference"
)

// IsRefused reports whether an answer is a failure.
func IsRefused(answer jsonv.Value) bool {
	s := answer.Lookup("success")
	return s.Kind() == jsonv.KindBool && !s.Bool()
}

// IsSuccess reports whether an answer is a success.
func IsSuccess(answer jsonv.Value) bool { return answer.Lookup("success").Bool() }

// Message returns the message of a failure; a missing one is an empty text.
func Message(answer jsonv.Value) jsonv.Value {
	m := answer.Lookup("error", "message")
	if m.IsAbsent() || m.Kind() == jsonv.KindNull {
		return jsonv.String("")
	}
	return m
}

// ContainsName reports whether a text contains a name as a whole word.
func ContainsName(s, name string) bool {
	for i := 0; name != ""; i++ {
		at := strings.Index(s[i:], name)
		if at < 0 {
			break
		}
		i += at
		before, _ := utf8.DecodeLastRuneInString(s[:i])
		after, _ := utf8.DecodeRuneInString(s[i+len(name):])
		if !IsWordRune(before) && !IsWordRune(after) {
			return true
		}
	}
	return false
}

// ContainsNameInWords reports whether a text contains a name when case and punctuation are
// ignored: "Book ID", "bookId" and "book-id" all name book_id. A longer word that only
// contains the name does not.
func ContainsNameInWords(s, name string) bool {
	if ContainsName(s, name) {
		return true
	}
	parts := splitName(name)
	if len(parts) == 0 {
		return false
	}
	words := strings.FieldsFunc(s, func(r rune) bool { return r != '-' && !IsWordRune(r) })
	var plain []string
	for _, w := range words {
		if letters := keepLetters(w); letters != "" {
			plain = append(plain, letters)
		}
	}
	for i := range plain {
		if beginWithName(plain[i:], parts) {
			return true
		}
	}
	return false
}

// beginWithName reports whether a list of words begins with the parts of a name; a word
// may be several parts in one.
func beginWithName(words, parts []string) bool {
	for len(parts) > 0 && len(words) > 0 {
		used, joined := 0, ""
		for used < len(parts) && len(joined) < len(words[0]) {
			joined += parts[used]
			used++
		}
		if joined != words[0] {
			return false
		}
		words, parts = words[1:], parts[used:]
	}
	return len(parts) == 0
}

// splitName divides a name into its words in lower case: bookId and book_id are book, id.
func splitName(name string) []string {
	var out strings.Builder
	before := rune(0)
	for _, r := range name {
		if unicode.IsUpper(r) && unicode.IsLower(before) {
			out.WriteByte(' ')
		}
		before = r
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			out.WriteRune(unicode.ToLower(r))
		} else {
			out.WriteByte(' ')
		}
	}
	return strings.Fields(out.String())
}

// keepLetters returns the letters and digits of a word in lower case.
func keepLetters(word string) string { return strings.Join(splitName(word), "") }

// IsWordRune reports whether r belongs to a word: a letter, a digit or an underscore.
func IsWordRune(r rune) bool {
	return r == '_' || r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// HasName reports whether a text or key inside a value contains a name.
func HasName(v jsonv.Value, name string) bool {
	found := false
	VisitTexts(v, func(s string) { found = found || ContainsName(s, name) })
	return found
}

// HasNameInWords reports whether a text or key inside a value contains a name when case
// and punctuation are ignored.
func HasNameInWords(v jsonv.Value, name string) bool {
	found := false
	VisitTexts(v, func(s string) { found = found || ContainsNameInWords(s, name) })
	return found
}

// VisitTexts calls use with every text inside a value, keys included.
func VisitTexts(v jsonv.Value, use func(string)) {
	if v.Kind() == jsonv.KindString {
		use(v.Text())
	}
	for k, e := range v.Children() {
		if v.Kind() == jsonv.KindObject {
			use(k)
		}
		VisitTexts(e, use)
	}
}

// Some adapters answer success: true around a failure of the system behind them. Such
// an answer is neither a success nor a refusal: it is not compared with anything and
// is not evidence.

// failureText matches the beginning of a text that describes a failure.
var failureText = Pattern(`(?i)^\s*(❌|✖|✗|⛔|🚫|\[?(error|failure|exception|fatal)\]?\s*[:(!-]|(error|failed|failure|unable|cannot|could not)\s+(to|in|at|while|during|when)\s|traceback \(most recent|[a-z]*(error|exception):\s)`)

// besideError lists the members that data may have next to error when it is only a
// failure.
var besideError = []string{
	"error", "code", "message", "details", "success", "ok", "status", "statusCode", "status_code", "isError", "is_error", "type", "hint", "reason",
	"operation", "timestamp", "request_id", "requestId",
}

// FindWrappedFailure returns the reason why a success is in fact a failure, "" if it is
// none.
func FindWrappedFailure(answer jsonv.Value) string {
	if !IsSuccess(answer) {
		return ""
	}
	data := answer.Lookup("data")
	for _, key := range []string{"isError", "is_error"} {
		if data.Lookup(key).Bool() {
			return "data." + key + " is true"
		}
	}
	if no := data.Lookup("success"); no.Kind() == jsonv.KindBool && !no.Bool() {
		return "data.success is false"
	}
	if data.Kind() == jsonv.KindObject && reference.IsTruthy(data.Lookup("error")) && hasOnlyMembers(data, besideError) {
		return "data contains only an error: " + FormatBrief(data.Lookup("error"))
	}
	for _, s := range listOnlyTexts(data) {
		if failureText().MatchString(s) {
			return "the text begins " + QuoteStart(s, 80)
		}
	}
	return ""
}

func hasOnlyMembers(v jsonv.Value, names []string) bool {
	return !slices.ContainsFunc(v.Keys(), func(k string) bool { return !slices.Contains(names, k) })
}

// listOnlyTexts returns the texts that an answer consists of: data itself, its single
// member, or the first block of an MCP result inside it.
func listOnlyTexts(data jsonv.Value) (out []string) {
	block := data.Lookup("content").At(0)
	for _, v := range []jsonv.Value{data, data.At(0), block} {
		switch {
		case v.Kind() == jsonv.KindString && (data.Kind() == jsonv.KindString || data.Len() == 1):
			out = append(out, v.Text())
		case v.Lookup("type").Text() == "text":
			out = append(out, v.Lookup("text").Text())
		}
	}
	for _, key := range []string{"text", "message", "result", "output"} {
		v := data.Lookup(key)
		if data.Len() == 1 && v.Kind() == jsonv.KindString {
			out = append(out, v.Text())
		}
	}
	return out
}

// Pattern compiles a regular expression on first use: most starts of the programs
// need none of them.
var Pattern = lazy.Regexp

// maxNamed is the maximum number of names in one sentence.
const maxNamed = 6

// JoinFirst lists the first names and counts the others.
func JoinFirst(names []string) string {
	if n := len(names) - maxNamed; n > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxNamed], ", "), n)
	}
	return strings.Join(names, ", ")
}

// FormatBrief formats a value for a message.
func FormatBrief(v jsonv.Value) string {
	if v.IsAbsent() {
		return "nothing"
	}
	return display.Truncate(v.String(), 80)
}

// Describe describes a value for messages: `a number (42)`.
func Describe(v jsonv.Value) string {
	switch v.Kind() {
	case jsonv.KindAbsent:
		return "nothing"
	case jsonv.KindNull:
		return "null"
	case jsonv.KindBool:
		return strconv.FormatBool(v.Bool())
	case jsonv.KindNumber:
		return "a number (" + display.Truncate(v.Literal(), 24) + ")"
	case jsonv.KindString:
		return "a string (" + QuoteStart(v.Text(), 40) + ")"
	case jsonv.KindArray:
		return fmt.Sprintf("a list of %d", v.Len())
	}
	return fmt.Sprintf("an object of %d", v.Len())
}

// Quote returns s as a JSON string.
func Quote(s string) string { return string(jsonv.AppendString(nil, s)) }

// QuoteStart returns the first columns of s as a JSON string.
func QuoteStart(s string, columns int) string { return Quote(display.Truncate(s, columns)) }

// SnakeCase is the form of names that the specification prescribes.
var SnakeCase = Pattern(`^[a-z][a-z0-9_]*$`)

// Merge returns an object with the members of another one, which take precedence.
func Merge(o, other jsonv.Value) jsonv.Value {
	for k, v := range other.Members() {
		o = o.With(k, v)
	}
	return o
}

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
