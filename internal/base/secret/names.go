package secret

import (
	"iter"
	"strings"
	"sync"
)

// meaning is what a name says about its value. The answer depends on where the name is: a
// variable called KEY may be a credential if its value is long, a member of JSON called "key"
// is none, and a parameter of a query is one if its value looks generated.
type meaning struct {
	// certainty is for variables, headers and parameters.
	certainty certainty
	// value is for JSON, XML, command lines and assignments.
	value valueTest

	member      bool // any value of JSON and XML is a credential
	field       bool // a generated value of a query or a form is one
	header      bool // the value of a header is one
	anywhere    bool // any value is one
	about       bool // the value tells something about a credential, or is another token
	detail      bool // the same within the value of a credential
	description bool // the value is a property of a credential
}

// certainty is how certain it is that a variable holds a credential.
type certainty int

const (
	unlikely certainty = iota
	perhaps            // if the value is long enough: "key"
	sure
)

// valueTest is what a value must look like to be a credential.
type valueTest int

const (
	noValue     valueTest = iota // none is one
	digits                       // "pin"
	noResult                     // a text that is no result: "pass" is also what a test did
	randomValue                  // "token" has many other meanings
	longValue                    // access_token, session_token
	anyValue                     // except a word of a description: password
)

// trait is a set of what one word, or a whole name, tells in the table.
type trait uint32

// What a word tells about the value that follows; the last one is the most certain.
const (
	ifPIN trait = 1 << iota
	ifText
	ifRandom
	ifLong
	ifValue
)

// The rest of the set: the names of variables, headers and parameters, those of HTTP, and
// what a word does in a longer name.
const (
	mayBe         trait = 1 << (iota + 5) // a credential if the value is long enough
	mustBe                                // a credential
	counted                               // mayBe at the end of a name, else a unit: TOKENS_PER_SECOND
	isKey                                 // one after a word of keyOf
	keyOf                                 // an API key, but not a primary key
	storeOf                               // the same for variables only: an account key
	issued                                // a token after this word gives access
	about                                 // tells something about a credential, or is another token
	detail                                // the same within the value of a credential
	located                               // at the end of a name, where a credential is or whose it is
	isMember                              // a whole name: any value of JSON and XML
	isField                               // a whole name: a generated value of a query or a form
	isHeader                              // a word of a header
	noHeader                              // its header contains no credential
	isWhole                               // a whole name: any value, as of a header
	isDescription                         // a whole name: a property of a credential
)

// has reports whether the set contains one of some traits.
func (t trait) has(some trait) bool { return t&some != 0 }

// words returns the table of all words and whole names. It is built on first use, because
// every start of the program would pay for it.
var words = sync.OnceValue(func() map[string]trait { return buildTable(wordLists()) })

// wordLists returns the words and whole names that have the same traits.
func wordLists() map[trait]string {
	return map[trait]string{
		mustBe | ifValue:         "secret secrets password passwords passwd passphrase pwd credential credentials apikey accesskey secretkey privatekey",
		mustBe | ifLong:          "authtoken accesstoken refreshtoken",
		mustBe | ifRandom:        "token jwt",
		mustBe | ifText | issued: "bearer",
		mustBe | isWhole:         "authorization cookie",
		mustBe:                   "apikeys pgpassword signature sig cookies",
		mayBe | ifRandom:         "pat",
		mayBe | isKey:            "key",
		mayBe | keyOf:            "auth",
		counted | ifRandom:       "tokens",
		counted | isKey:          "keys",
		ifText:                   "pass",
		ifPIN | isMember:         "pin",
		ifValue | isMember:       "otp",
		isMember:                 "sig signature assertion client_assertion code_verifier sessionid session_id hmac",
		isField:                  "key auth code samlresponse session sid phpsessid jsessionid csrf xsrf x-amz-signature x-amz-credential x-goog-signature x-goog-credential",
		isHeader:                 "session key auth csrf xsrf",
		isWhole:                  "set-cookie",
		keyOf:                    "api access private secret signing encryption master",
		storeOf:                  "account storage",
		issued:                   "access refresh id auth session private api bot github gitlab slack npm",
		located:                  "id ids at in",
		isDescription:            "name type kind status scope scopes created_at updated_at expires_at url",
		noHeader:                 "remaining reset cache surrogate idempotency age",
		about | noHeader:         "page next prev continuation limit type expires expiry count url",
		detail:                   "message code title label placeholder reason detail created updated",
		about: `previous cursor sync progress counts total max min usage kind format length size expiration expired ttl uri endpoint
			file path dir name names hint required enabled supported methods method algorithm alg policy status scope scopes issuer
			version env field help description valid invalid error present provided strength`,
	}
}

// buildTable splits the lists of words; a word may be in several.
func buildTable(lists map[trait]string) map[string]trait {
	all := map[string]trait{}
	for traits, list := range lists {
		for word := range strings.FieldsSeq(list) {
			all[word] |= traits
		}
	}
	return all
}

// nameWords are the traits of the words of a name: of all of them together, of the last one,
// and of the name as a whole.
type nameWords struct {
	name             string
	all, last, whole trait
}

// readWords looks the words of a name up. A name is split into words at characters other than
// letters and digits and at changes of case: AUTH is in PROXY_AUTH and in proxyAuth, not in
// AUTHOR.
func readWords(name string) nameWords {
	w := nameWords{name: name, whole: words()[strings.ToLower(name)]}
	for word := range splitWords(name) {
		w.last = words()[strings.ToLower(word)]
		w.all |= w.last
	}
	return w
}

// find returns the meaning of a name.
func find(name string) meaning {
	w := readWords(name)
	return meaning{
		certainty:   w.judge(),
		value:       w.chooseTest(),
		member:      w.whole.has(isMember),
		field:       w.whole.has(isField),
		header:      w.all.has(isHeader) && !w.all.has(noHeader),
		anywhere:    w.whole.has(isWhole),
		about:       w.all.has(about),
		detail:      w.all.has(detail),
		description: w.whole.has(isDescription),
	}
}

// judge returns whether a variable of the name is a credential.
func (w nameWords) judge() certainty {
	if w.all.has(mustBe) {
		return sure
	}
	if !w.all.has(mayBe) && !w.last.has(counted) {
		return unlikely
	}
	if w.all.has(keyOf|storeOf) && !strings.EqualFold(w.name, "auth") {
		return sure
	}
	return perhaps
}

// chooseTest returns what a value of the name must look like.
func (w nameWords) chooseTest() valueTest {
	if w.whole.has(ifPIN) {
		return digits
	}
	if w.all.has(about) || w.last.has(located) { // token_type, next_page_token, access_key_id
		return noValue
	}
	if w.all.has(ifValue) {
		return anyValue
	}
	if w.all.has(isKey) && w.all.has(keyOf) {
		return anyValue
	}
	if w.all.has(isKey) { // token_key, key
		return noValue
	}
	if w.all.has(ifLong) {
		return longValue
	}
	if w.all.has(ifRandom) && w.all.has(issued) {
		return longValue
	}
	if w.all.has(ifRandom) {
		return randomValue
	}
	if w.last.has(ifText) {
		return noResult
	}
	return noValue
}

// Name reports whether a variable, header or parameter is a credential according to its
// name.
func Name(name string) bool { return find(name).certainty != unlikely }

// CertainName is like Name, but only for unambiguous names: PASSWORD and not KEY.
func CertainName(name string) bool { return find(name).certainty == sure }

// Holds reports whether a member, argument or variable of this name holds a credential. It
// is stricter than [Name]: next_page_token and token_type hold none.
func Holds(name string) bool { return find(name).holds() }

func (m meaning) holds() bool {
	return m.anywhere || m.value == randomValue || m.value == longValue || m.value == anyValue
}

// HoldsMember is Holds for a member of JSON, an element of XML and their kind in HTTP: a
// recording of an upstream masks all values under such names. In other text, which shows
// ordinary values under the same names, a value must look generated.
func HoldsMember(name string) bool {
	m := find(name)
	return m.member || m.holds()
}

// HoldsField is HoldsMember for a query parameter or a field of a form, where short names
// such as "key" and "code" have fewer other meanings.
func HoldsField(name string) bool { return find(name).field || HoldsMember(name) }

// HoldsHeader is HoldsField for a header: a word of its name suffices.
func HoldsHeader(name string) bool {
	m := find(name)
	return m.certainty == sure || m.header || HoldsField(name)
}

// Describes reports whether a member of an object that is a credential only describes it.
func Describes(name string) bool { return find(name).description }

// HoldsText is Holds for the last key of a path with a text, such as
// http.headers["set-cookie"]; the text makes a credential of structured.pass too.
func HoldsText(path, v string) bool {
	m := find(getLastKey(path))
	return m.holds() || m.value == noResult && noResult.isQuotedSecret(v, "")
}

func getLastKey(path string) string {
	path = strings.TrimRight(path, "]'\"")
	return path[strings.LastIndexAny(path, ".['\"")+1:]
}

// set returns the words of a list.
func set(list string) map[string]bool {
	all := map[string]bool{}
	for word := range strings.FieldsSeq(list) {
		all[word] = true
	}
	return all
}

// splitWords yields the words of an identifier: API_KEY, api-key, apiKey and APIKey all give
// two.
func splitWords(name string) iter.Seq[string] {
	return func(yield func(string) bool) {
		start := 0
		for i := range len(name) + 1 {
			end := i == len(name) || !alnum(name[i])
			if i > start && (end || startsWord(name, i)) {
				if !yield(name[start:i]) {
					return
				}
				start = i
			}
			if end {
				start = i + 1
			}
		}
	}
}

// startsWord reports whether the letter at i > 0 begins a word: Key in apiKey and in APIKey.
func startsWord(name string, i int) bool {
	if !upper(name[i]) {
		return false
	}
	isNextLower := i+1 < len(name) && 'a' <= name[i+1] && name[i+1] <= 'z'
	return !upper(name[i-1]) || isNextLower
}
