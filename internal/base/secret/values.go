package secret

import (
	"slices"
	"strings"
	"time"
	"unicode"
)

// isQuotedSecret judges a value in quotes.
func (test valueTest) isQuotedSecret(v, name string) bool {
	if isPlaceholder(v) || strings.EqualFold(v, name) {
		return false
	}
	switch test {
	case digits:
		return looksGenerated("pin", v)
	case noResult:
		return len(v) > 2 && !isResult(v)
	case anyValue:
		return !isProse(v)
	case longValue:
		return len(v) >= MinLength && strings.IndexByte(v, ' ') < 0
	}
	return isByChance(v)
}

// isBareSecret evaluates an unquoted value after a name and the byte that follows the name:
// in code and prose, most of that text is not a value. PWD is the working directory in
// shells, and the password in connection strings.
func (test valueTest) isBareSecret(v, name string, after byte) bool {
	isFolder := name == "PWD" && strings.HasPrefix(v, "/")
	isQuote := after == '"' || after == '\'' || after == '\\'
	isCode := strings.ContainsAny(v, "()[]<>$")
	if isFolder || isQuote || isCode || isPlaceholder(v) {
		return false
	}
	certain := after == '=' && (strings.ToUpper(name) == name || strings.HasPrefix(name, "-"))
	switch {
	case test == digits:
		return after == '=' && looksGenerated("pin", v)
	case (test == anyValue || test == noResult) && certain:
		return true
	case test == noResult:
		return after == '=' && isByChance(v) // after a colon: PASS: TestA1
	case test == anyValue:
		return strings.ContainsAny(v, "0123456789!@#%^*")
	case test == longValue:
		return len(v) >= MinLength && (certain || strings.ContainsAny(v, "0123456789"))
	}
	return certain && len(v) >= MinLength || isByChance(v)
}

// descriptions are words for a value, or for that there is none.
var descriptions = set(`
	string text number integer boolean object array null none nil true false undefined required optional password secret token
	api_key apikey credential credentials redacted hidden masked unset empty invalid valid missing wrong expired unknown yes no
	not want got nothing value inherit basic bearer env file`)

// isPlaceholder reports whether v is a placeholder or a description of a value.
func isPlaceholder(v string) bool {
	for _, p := range []string{"${", "$(", "{{", "<", "%s", "%v", "***", ellipsis, "[red"} {
		if strings.HasPrefix(v, p) {
			return true
		}
	}
	v = strings.TrimPrefix(v, "$")
	return descriptions[strings.ToLower(v)] || consistsOf(v, func(c byte) bool { return upper(c) || c == '_' || c == '-' })
}

// isReference reports whether v is a placeholder for a variable: ${NAME}. The name is
// no secret; the default of ${NAME:-default} can be one.
func isReference(v string) bool {
	name, opened := strings.CutPrefix(v, "${")
	name, closed := strings.CutSuffix(name, "}")
	return opened && closed && consistsOf(name, func(c byte) bool { return word(c) || c == '.' })
}

// results are words for what a test, a check or a step came to.
var results = set(`
	pass passed passes passing fail failed fails failing failure error errors errored warn warning skip skipped pending running
	started todo done complete completed success successful succeeded partial blocked canceled cancelled aborted timeout flaky
	all some any first second third last open closed active inactive enabled disabled default auto always never high medium low
	good bad n/a`)

// isResult reports whether v is the outcome of a test, a count, or a sentence,
// and no credential.
func isResult(v string) bool {
	_, err := time.ParseDuration(v)
	return results[strings.ToLower(v)] || err == nil || strings.IndexByte(v, ' ') >= 0 || !strings.ContainsFunc(v, unicode.IsLetter)
}

// isProse reports whether v reads like a sentence: "must have 8 characters".
func isProse(v string) bool {
	words, letters := strings.Count(strings.TrimSpace(v), " ")+1, 0
	for i := range len(v) {
		if c := v[i]; letter(c) || strings.IndexByte(" .,'", c) >= 0 {
			letters++
		}
	}
	return words > 2 && 4*letters > 3*len(v) || words == 2 && letters == len(v)
}

// isDescribing reports whether a sentence is about a credential, such as the message
// of a validation.
func isDescribing(v string) bool {
	words := strings.FieldsFunc(strings.ToLower(v), func(r rune) bool { return r < 'a' || r > 'z' })
	return slices.ContainsFunc(words, func(word string) bool { return describes[word] })
}

var describes = set(`
	must should cannot required characters minimum maximum too invalid incorrect optional password passphrase secret credential
	credentials key`)

// isByChance reports whether v looks drawn by chance rather than like a word, a
// number, a date or a sentence.
func isByChance(v string) bool {
	if len(v) < MinLength || strings.ContainsAny(v, " (){}[]<>") {
		return false
	}
	hasLetter := strings.ContainsFunc(v, func(r rune) bool { return r >= 0x80 || letter(byte(r)) })
	return hasLetter && strings.ContainsAny(v, "0123456789!@#%^&*+=$~")
}

// isRandom reports whether s looks random: it contains twelve consecutive letters and
// digits, with both among them. Names made of words and dashes do not.
func isRandom(s string) bool {
	longest := 0
	for run := range strings.FieldsFuncSeq(s, func(r rune) bool { return r >= 0x80 || !alnum(byte(r)) }) {
		longest = max(longest, len(run))
	}
	return longest >= 12 && strings.ContainsAny(s, "0123456789") && strings.ContainsFunc(s, func(r rune) bool {
		return r < 0x80 && letter(byte(r))
	})
}

// isLearnable reports whether a value is unlikely to occur with another meaning.
func isLearnable(v string) bool {
	return isByChance(v) || len(v) >= 2*MinLength && strings.IndexByte(v, ' ') < 0 && strings.ToLower(v) != v && strings.ToUpper(v) != v
}

// looksGenerated reports whether the value of a field looks like a credential and not like a
// word, a count or an address.
func looksGenerated(name, v string) bool {
	if strings.EqualFold(name, "pin") {
		return len(v) >= 4 && len(v) <= 12 && consistsOf(v, digit)
	}
	return isByChance(v) && !strings.ContainsAny(v, "/:,")
}

// hasLeadingWord reports whether the first n bytes of a secret are a short word of letters
// before a sign, as in issues-bot-9f3k. Such a word has other meanings, and reveals little.
func hasLeadingWord(s string, n int) bool {
	return n <= 12 && 2*n <= len(s) && consistsOf(s[:n], letter) && !letter(s[n]) && s[n]-'0' > 9
}
