package secret

import "strings"

// certainty is how likely a name is that of a credential.
type certainty uint8

const (
	no      certainty = iota
	perhaps           // "key", "tokens": a credential if the value is long enough
	sure
)

// words make a name the name of a credential.
var words = map[string]certainty{
	"token": sure, "secret": sure, "secrets": sure, "password": sure, "passwords": sure,
	"passwd": sure, "passphrase": sure, "pwd": sure, "credential": sure, "credentials": sure,
	"apikey": sure, "apikeys": sure, "accesskey": sure, "secretkey": sure, "privatekey": sure,
	"pgpassword": sure, "authtoken": sure, "accesstoken": sure, "refreshtoken": sure, "authorization": sure,
	"signature": sure, "sig": sure, "jwt": sure, "bearer": sure, "cookie": sure, "cookies": sure,
	"auth": perhaps, "key": perhaps, "pat": perhaps,
}

// counted are words that name credentials at the end of a name; elsewhere they are a
// unit (TOKENS_PER_SECOND).
var counted = map[string]certainty{"keys": perhaps, "tokens": perhaps}

// qualifiers turn "key" into a credential: an API key, but not a primary key.
var qualifiers = set("api access private secret signing encryption auth master account storage")

// Name reports whether a variable, header or parameter is a credential according to
// its name. A name is split into words at characters other than letters and digits
// and at changes of case: AUTH is in PROXY_AUTH and in proxyAuth, not in AUTHOR.
func Name(name string) bool { return credential(name) != no }

// CertainName is like Name, but only for unambiguous names: PASSWORD and not KEY.
func CertainName(name string) bool { return credential(name) == sure }

func credential(name string) certainty {
	found, last, qualified := no, no, false
	for w := range splitWords(name) {
		w = strings.ToLower(w)
		found = max(found, words[w])
		last = counted[w]
		qualified = qualified || qualifiers[w]
	}
	found = max(found, last)
	if found == perhaps && qualified && name != "" && !strings.EqualFold(name, "auth") {
		return sure
	}
	return found
}

// set returns the words of a list.
func set(list string) map[string]bool {
	all := map[string]bool{}
	for word := range strings.FieldsSeq(list) {
		all[word] = true
	}
	return all
}

// splitWords yields the words of an identifier: API_KEY, api-key, apiKey and
// APIKey all give two.
func splitWords(name string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		start := 0
		emit := func(end int) bool {
			ok := end <= start || yield(name[start:end])
			start = end
			return ok
		}
		for i := range len(name) {
			c := name[i]
			if !alnum(c) {
				if !emit(i) {
					return
				}
				start = i + 1
				continue
			}
			if i == start {
				continue
			}
			upper := c-'A' < 26
			wasUpper := name[i-1]-'A' < 26
			nextLower := i+1 < len(name) && name[i+1]-'a' < 26
			if upper && (!wasUpper || nextLower) && !emit(i) {
				return
			}
		}
		emit(len(name))
	}
}
