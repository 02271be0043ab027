package secret

import (
	"iter"
	"strings"
)

// certainty is how certain it is that a name is that of a credential. It is a set, because
// the answer depends on where the name is: a variable called KEY may be one if its value
// is long, a member of JSON called "key" is none, and a parameter of a query is one if its
// value looks generated. In the table, it is what one word, or a whole name, tells.
type certainty uint32

// What a value must look like that follows the name in JSON, XML, a command line or an
// assignment; the last one is the most certain.
const (
	ifPIN    certainty = 1 << iota // digits
	ifText                         // a text that is no result: "pass" is also what a test did
	ifRandom                       // the value looks random: "token" has many other meanings
	ifLong                         // the value is long enough: access_token, session_token
	ifValue                        // any value except a word of a description: password
	anyValue = ifPIN | ifText | ifRandom | ifLong | ifValue
)

// The rest of the set: the names of variables, headers and parameters, those of HTTP, and
// what a word does in a longer name.
const (
	perhaps       certainty = 1 << (iota + 5) // "key": a credential if the value is long enough
	sure                                      // the name of a credential
	counted                                   // perhaps at the end of a name, else a unit: TOKENS_PER_SECOND
	isKey                                     // one after a word of keyOf
	keyOf                                     // an API key, but not a primary key
	storeOf                                   // the same for variables only: an account key
	issued                                    // a token after this word gives access
	about                                     // tells something about a credential, or is another token
	detail                                    // the same within the value of a credential
	located                                   // at the end of a name, where a credential is or whose it is
	isMember                                  // a whole name: any value of JSON and XML
	isField                                   // a whole name: a generated value of a query or a form
	isHeader                                  // a word of a header
	noHeader                                  // its header contains no credential
	isWhole                                   // a whole name: any value, as of a header
	isDescription                             // a whole name: a property of a credential
)

// words is the table of all words and whole names.
var words = buildTable(map[certainty]string{
	sure | ifValue:         "secret secrets password passwords passwd passphrase pwd credential credentials apikey accesskey secretkey privatekey",
	sure | ifLong:          "authtoken accesstoken refreshtoken",
	sure | ifRandom:        "token jwt",
	sure | ifText | issued: "bearer",
	sure | isWhole:         "authorization cookie",
	sure:                   "apikeys pgpassword signature sig cookies",
	perhaps | ifRandom:     "pat",
	perhaps | isKey:        "key",
	perhaps | keyOf:        "auth",
	counted | ifRandom:     "tokens",
	counted | isKey:        "keys",
	ifText:                 "pass",
	ifPIN | isMember:       "pin",
	ifValue | isMember:     "otp",
	isMember:               "sig signature assertion client_assertion code_verifier sessionid session_id hmac",
	isField:                "key auth code samlresponse session sid phpsessid jsessionid csrf xsrf x-amz-signature x-amz-credential x-goog-signature x-goog-credential",
	isHeader:               "session key auth csrf xsrf",
	isWhole:                "set-cookie",
	keyOf:                  "api access private secret signing encryption master",
	storeOf:                "account storage",
	issued:                 "access refresh id auth session private api bot github gitlab slack npm",
	located:                "id ids at in",
	isDescription:          "name type kind status scope scopes created_at updated_at expires_at url",
	noHeader:               "remaining reset cache surrogate idempotency age",
	about | noHeader:       "page next prev continuation limit type expires expiry count url",
	detail:                 "message code title label placeholder reason detail created updated",
	about: `previous cursor sync progress counts total max min usage kind format length size expiration expired ttl uri endpoint
		file path dir name names hint required enabled supported methods method algorithm alg policy status scope scopes issuer
		version env field help description valid invalid error present provided strength`,
})

// buildTable splits the lists of words; a word may be in several.
func buildTable(lists map[certainty]string) map[string]certainty {
	all := map[string]certainty{}
	for c, list := range lists {
		for word := range strings.FieldsSeq(list) {
			all[word] |= c
		}
	}
	return all
}

// find looks the words of a name up. A name is split into words at characters other than
// letters and digits and at changes of case: AUTH is in PROXY_AUTH and in proxyAuth, not in
// AUTHOR.
func find(name string) certainty {
	var all, last certainty
	for word := range splitWords(name) {
		last = words[strings.ToLower(word)]
		all |= last
	}
	whole := words[strings.ToLower(name)]
	c := all&(about|detail) | whole&(isWhole|isMember|isField|isDescription)
	switch {
	case all&sure != 0, (all&perhaps|last&counted) != 0 && all&(keyOf|storeOf) != 0 && !strings.EqualFold(name, "auth"):
		c |= sure
	case (all&perhaps | last&counted) != 0:
		c |= perhaps
	}
	if all&isHeader != 0 && all&noHeader == 0 {
		c |= isHeader
	}
	switch {
	case whole&ifPIN != 0:
		return c | ifPIN
	case (all&about | last&located) != 0: // token_type, next_page_token, access_key_id
		return c
	case all&ifValue != 0, all&isKey != 0 && all&keyOf != 0:
		return c | ifValue
	case all&isKey != 0: // token_key, key
		return c
	case all&ifLong != 0, all&ifRandom != 0 && all&issued != 0:
		return c | ifLong
	case all&ifRandom != 0:
		return c | ifRandom
	}
	return c | last&ifText
}

// Name reports whether a variable, header or parameter is a credential according to its
// name.
func Name(name string) bool { return find(name)&(sure|perhaps) != 0 }

// CertainName is like Name, but only for unambiguous names: PASSWORD and not KEY.
func CertainName(name string) bool { return find(name)&sure != 0 }

// Holds reports whether a member, argument or variable of this name holds a credential. It
// is stricter than [Name]: next_page_token and token_type hold none.
func Holds(name string) bool { return find(name)&(ifRandom|ifLong|ifValue|isWhole) != 0 }

// HoldsMember is Holds for a member of JSON, an element of XML and their kind in HTTP: a
// recording of an upstream masks all values under such names. In other text, which shows
// ordinary values under the same names, a value must look generated.
func HoldsMember(name string) bool { return find(name)&isMember != 0 || Holds(name) }

// HoldsField is HoldsMember for a query parameter or a field of a form, where short names
// such as "key" and "code" have fewer other meanings.
func HoldsField(name string) bool { return find(name)&isField != 0 || HoldsMember(name) }

// HoldsHeader is HoldsField for a header: a word of its name suffices.
func HoldsHeader(name string) bool { return find(name)&(sure|isHeader) != 0 || HoldsField(name) }

// Describes reports whether a member of an object that is a credential only describes it.
func Describes(name string) bool { return find(name)&isDescription != 0 }

// HoldsText is Holds for the last key of a path with a text, such as
// http.headers["set-cookie"]; the text makes a credential of structured.pass too.
func HoldsText(path, v string) bool {
	name := getLastKey(path)
	return Holds(name) || find(name)&ifText != 0 && ifText.isQuotedSecret(v, "")
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
			if i > start && (end || upper(name[i]) && (!upper(name[i-1]) || i+1 < len(name) && name[i+1]-'a' < 26)) {
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
