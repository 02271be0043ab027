package secret

import (
	"strings"
	"time"
	"unicode"
)

// The value after the name of a credential is one: {"password":"…"}, API_KEY=…,
// --token …. How certain that is depends on the name, and on how name and value
// are written.

// confidence is how certain it is that a name is followed by a credential: what
// the value must look like to be masked.
type confidence uint8

const (
	notCredential confidence = iota
	ifPIN                    // digits
	ifText                   // a text that is no result: "pass" is also what a test did
	ifRandom                 // the value looks random: "token" has many other meanings
	ifLong                   // the value is long enough: access_token, session_token
	ifValue                  // any value except a word of a description: password
)

// about are words in the names of properties of a credential, and of tokens that
// are not credentials.
var about = set(`
	page next prev previous cursor continuation sync progress count counts total limit max min usage type kind format length
	size expires expiry expiration expired ttl url uri endpoint file path dir name names hint required enabled supported
	methods method algorithm alg policy status scope scopes issuer version env field help description valid invalid error
	present provided strength`)

// confidences are the words that make a name the name of a credential here.
// Those of headers with a form of their own are patterns.
var confidences = map[string]confidence{
	"token": ifRandom, "tokens": ifRandom, "jwt": ifRandom, "pat": ifRandom,
	"password": ifValue, "passwords": ifValue, "otp": ifValue, "passwd": ifValue, "passphrase": ifValue, "pwd": ifValue,
	"secret": ifValue, "secrets": ifValue, "credential": ifValue, "credentials": ifValue,
	"apikey": ifValue, "secretkey": ifValue, "privatekey": ifValue, "accesskey": ifValue,
	"authtoken": ifLong, "accesstoken": ifLong, "refreshtoken": ifLong,
}

// issued are the words before "token" that say that it gives access.
var issued = set("access refresh id auth session private api bearer bot github gitlab slack npm")

// ending are the words that only make the name of a credential at its end.
var ending = set("pass bearer")

// confidenceIn weighs a name as [Name] does, but leaves out names that only tell
// something about a credential: token_type, next_page_token, password_file.
func confidenceIn(name string) confidence {
	if strings.EqualFold(name, "pin") {
		return ifPIN
	}
	w, key, qualified, given := notCredential, false, false, false
	last := ""
	for word := range splitWords(name) {
		word = strings.ToLower(word)
		if about[word] {
			return notCredential
		}
		w = max(w, confidences[word])
		key = key || word == "key" || word == "keys"
		qualified = qualified || keyWords[word]
		given = given || issued[word]
		last = word
	}
	switch {
	case last == "id" || last == "ids" || last == "at" || last == "in":
		return notCredential // access_key_id, token_expires_in
	case key && w < ifValue:
		if qualified {
			return ifValue
		}
		return notCredential // token_key, key
	case w == ifRandom && given:
		return ifLong
	case w == notCredential && ending[last]:
		return ifText
	}
	return w
}

// keyWords make a secret of a key.
var keyWords = set("api access private secret signing encryption auth master")

// Holds reports whether a member, argument or variable of this name holds a
// credential. It is stricter than [Name]: next_page_token and token_type hold
// none.
func Holds(name string) bool {
	return confidenceIn(name) > ifText || strings.EqualFold(name, "authorization") ||
		strings.EqualFold(name, "cookie") || strings.EqualFold(name, "set-cookie")
}

// HoldsAt is Holds for the last key of a path: structured.access_token,
// http.headers["set-cookie"].
func HoldsAt(path string) bool { return Holds(lastKey(path)) }

// HoldsText is HoldsAt for a path with a text, which makes a credential of the
// value of structured.pass too.
func HoldsText(path, v string) bool {
	return HoldsAt(path) || confidenceIn(lastKey(path)) == ifText && ifText.quoted(v, "")
}

func lastKey(path string) string {
	path = strings.TrimRight(path, "]'\"")
	return path[strings.LastIndexAny(path, ".['\"")+1:]
}

// Arguments returns the values of the flags of a command line that are named
// like credentials: of --password=a and of --api-key b.
func Arguments(words []string) []string {
	var out []string
	for i, word := range words {
		name, v, ok := strings.Cut(word, "=")
		c := confidenceIn(strings.TrimLeft(name, "-"))
		if !strings.HasPrefix(name, "-") || c == notCredential {
			continue
		}
		if !ok && i+1 < len(words) && !strings.HasPrefix(words[i+1], "-") {
			v = words[i+1]
		}
		if v != "" && !placeholder(v) && (c != ifText || !result(v)) && (c != ifPIN || generated("pin", v)) {
			out = append(out, v)
		}
	}
	return out
}

// maxName bounds how far a name is read around the word that was found, and
// maxValue how far a value in quotes is.
const (
	maxName  = 64
	maxValue = 16 << 10
)

// nameAround returns the bounds of the name around s[i:j]. It is not ok if the name
// is too long, or if nothing follows that a value could follow.
func nameAround(s string, i, j int) (a, b int, ok bool) {
	a = i
	for a > 0 && i-a < maxName && wordDash(s[a-1]) {
		a--
	}
	if a > 0 && s[a-1] == '\\' && a < i && strings.IndexByte("nrtbf", s[a]) >= 0 {
		a++ // the letter of an escaped line end
	}
	b = span(s[:min(len(s), j+maxName)], j, wordDash)
	return a, b, b < len(s) && i-a < maxName && b-j < maxName && strings.IndexByte("\"'\\`:= ,", s[b]) >= 0
}

// named finds the value after the name around s[i:j].
func named(s string, i, j int) place {
	a, b, ok := nameAround(s, i, j)
	if !ok {
		return place{}
	}
	name := s[a:b]
	c := confidenceIn(name)
	if c == notCredential {
		return place{}
	}
	if c == ifValue {
		if p := member(s, a, b); p.end > p.start {
			return p
		}
	}
	start, end, quote := value(s, b, valueChar)
	isArgument := end == 0 && strings.HasPrefix(name, "--")
	if isArgument {
		start, end = argument(s, b)
	}
	switch {
	case end-start < 3, c == ifPIN && !generated("pin", s[start:end]):
		return place{}
	case c == ifText && (result(s[start:end]) || strings.Contains(s[b:start], "[")):
		return place{} // "pass": ["TestA"] is a list of tests
	case isArgument && (s[start] == '-' || placeholder(s[start:end])):
		return place{}
	case !isArgument && quote > 0 && !c.quoted(s[start:end], name):
		return place{}
	case !isArgument && quote == 0 && !c.bare(s[start:end], name, s[b]):
		return place{}
	}
	return place{start: start, end: end, value: s[start:end], named: true}
}

// value finds the text after a name that ends at k: after quotes, a colon
// or an equals sign and blanks, within quotes or as long as the class holds.
// quote is the length of the quote, 0 when there is none. All is 0 when there
// is no value, or when it is masked already.
func value(s string, k int, class func(byte) bool) (start, end, quote int) {
	k = skip(s, k, `"'\`, 4)
	k = skip(s, k, " ", 2)
	if k >= len(s) || s[k] != ':' && s[k] != '=' {
		return 0, 0, 0
	}
	k = skip(s, k+1, " ", 4)
	if strings.HasPrefix(s[k:], Mask) {
		return 0, 0, 0
	}
	k = skip(s, k, "[", 1)
	return content(s, k, class)
}

// argument finds the word after a flag that ends at k, in a command line or a
// list of words.
func argument(s string, k int) (start, end int) {
	j := skip(s, k, `"'\`, 4)
	next := skip(s, skip(s, j, ",", 1), " ", 4)
	if next == j || strings.HasPrefix(s[next:], Mask) {
		return 0, 0
	}
	start, end, _ = content(s, next, valueChar)
	return start, end
}

// content finds what is quoted at k, or the run of a class.
func content(s string, k int, class func(byte) bool) (start, end, quote int) {
	open := span(s, k, func(c byte) bool { return c == '\\' })
	if open < len(s) && open-k < 8 && (s[open] == '"' || s[open] == '\'' || s[open] == '`') {
		start = open + 1
		end = closing(s[:min(len(s), start+maxValue)], start, s[open], open-k)
		if strings.HasPrefix(s[start:], Mask) {
			return 0, 0, 0
		}
		return start, end, start - k
	}
	end = span(s, k, class)
	for end > k && s[end-1] == ' ' {
		end--
	}
	if end == k || s[k] == '{' {
		return 0, 0, 0
	}
	return k, end, 0
}

// closing returns where the content of a quote ends that was opened after n
// backslashes: at the next one of its kind that is not escaped itself.
func closing(s string, i int, quote byte, n int) int {
	slashes := 0
	for ; i < len(s); i++ {
		switch s[i] {
		case '\\':
			slashes++
			continue
		case quote:
			if slashes%(2*(n+1)) == n {
				return i - n
			}
		}
		slashes = 0
	}
	return len(s)
}

// quoted judges a value in quotes.
func (c confidence) quoted(v, name string) bool {
	if placeholder(v) || strings.EqualFold(v, name) {
		return false
	}
	switch c {
	case ifPIN:
		return generated("pin", v)
	case ifText:
		return len(v) > 2 && !result(v)
	case ifValue:
		return !prose(v)
	case ifLong:
		return len(v) >= MinLength && strings.IndexByte(v, ' ') < 0
	}
	return chance(v)
}

// bare evaluates an unquoted value after a name and the byte that follows the name:
// in code and prose, most of that text is not a value.
func (c confidence) bare(v, name string, after byte) bool {
	if placeholder(v) || after == '"' || after == '\'' || after == '\\' || strings.ContainsAny(v, "()[]<>$") {
		return false
	}
	shouted := after == '=' && strings.ToUpper(name) == name
	flag := after == '=' && strings.HasPrefix(name, "-")
	switch {
	case c == ifPIN:
		return after == '=' && generated("pin", v)
	case (c == ifValue || c == ifText) && (shouted || flag):
		return true
	case c == ifText:
		return after == '=' && chance(v) // after a colon: PASS: TestA1
	case c == ifValue:
		return strings.ContainsAny(v, "0123456789") || strings.ContainsAny(v, "!@#%^*")
	case c == ifLong:
		return len(v) >= MinLength && (shouted || flag || strings.ContainsAny(v, "0123456789"))
	}
	return (shouted || flag) && len(v) >= MinLength || chance(v)
}

// descriptions are words for a value, or for that there is none.
var descriptions = set(`
	string text number integer boolean object array null none nil true false undefined required optional password secret token
	api_key apikey credential credentials redacted hidden masked unset empty invalid valid missing wrong expired unknown yes no
	not want got nothing value inherit basic bearer env file`)

// placeholder reports whether v is a placeholder or a description of a value.
func placeholder(v string) bool {
	for _, p := range []string{"${", "$(", "{{", "<", "%s", "%v", "***", "…", "[red"} {
		if strings.HasPrefix(v, p) {
			return true
		}
	}
	v = strings.TrimPrefix(v, "$")
	return descriptions[strings.ToLower(v)] || v == strings.ToUpper(v) && span(v, 0, func(c byte) bool { return c-'A' < 26 || c == '_' || c == '-' }) == len(v)
}

// reference reports whether v is a placeholder for a variable: ${NAME}. The name is
// no secret; the default of ${NAME:-default} can be one.
func reference(v string) bool {
	name, opened := strings.CutPrefix(v, "${")
	name, closed := strings.CutSuffix(name, "}")
	return opened && closed && span(name, 0, func(c byte) bool { return word(c) || c == '.' }) == len(name)
}

// results are words for what a test, a check or a step came to.
var results = set(`
	pass passed passes passing fail failed fails failing failure error errors errored warn warning skip skipped pending running
	started todo done complete completed success successful succeeded partial blocked canceled cancelled aborted timeout flaky
	all some any first second third last open closed active inactive enabled disabled default auto always never high medium low
	good bad n/a`)

// result reports whether v is what a test, a check or a count came to, or a sentence,
// and no credential.
func result(v string) bool {
	_, err := time.ParseDuration(v)
	return results[strings.ToLower(v)] || err == nil || strings.IndexByte(v, ' ') >= 0 || !strings.ContainsFunc(v, unicode.IsLetter)
}

// prose reports whether v reads like a sentence: "must have 8 characters".
func prose(v string) bool {
	words, letters := strings.Count(strings.TrimSpace(v), " ")+1, 0
	for i := range len(v) {
		if c := v[i]; c|0x20 >= 'a' && c|0x20 <= 'z' || strings.IndexByte(" .,'", c) >= 0 {
			letters++
		}
	}
	return words > 2 && 4*letters > 3*len(v) || words == 2 && letters == len(v)
}

// chance reports whether v looks drawn by chance rather than like a word, a
// number, a date or a sentence.
func chance(v string) bool {
	if len(v) < MinLength || strings.IndexByte(v, ' ') >= 0 {
		return false
	}
	letters, digits, marks := 0, 0, 0
	for i := range len(v) {
		switch c := v[i]; {
		case c-'0' < 10:
			digits++
		case alnum(c) || c >= 0x80:
			letters++
		case strings.IndexByte("!@#%^&*+=$~", c) >= 0:
			marks++
		case strings.IndexByte("(){}[]<>", c) >= 0:
			return false
		}
	}
	return letters > 0 && (digits > 0 || marks > 0)
}
