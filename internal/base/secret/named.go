package secret

import "strings"

// The value after the name of a credential is one: {"password":"…"}, API_KEY=…,
// --token …. How certain that is depends on the name, and on how name and value
// are written. A member of JSON whose whole name is that of a password or a key is
// certain: its value is masked even if it is a number or has spaces, and so are the texts
// and numbers in an object or a list.

// place is the position of a secret in a text.
type place struct {
	start, end int
	value      string // the decoded text; empty for a declared value
	quote      string // quotes around the mask of a number, to keep the JSON valid
	declared   bool   // not to be learned again
	named      bool   // recognized by a name, which may be absent elsewhere
	nested     bool   // the start of an object or a list under the name of a credential
	coded      bool   // base64 of a text that may contain secrets
}

func (p place) empty() bool { return p.end <= p.start }

// findNamed finds the value after the name around s[i:j].
func findNamed(s string, i, j int) place {
	a := i
	for a > 0 && i-a < maxName && wordDash(s[a-1]) {
		a--
	}
	if a > 0 && s[a-1] == '\\' && a < i && strings.IndexByte("nrtbf", s[a]) >= 0 {
		a++ // the letter of an escaped line end
	}
	b := scanSpan(s[:min(len(s), j+maxName)], j, wordDash)
	test := find(s[a:b]).value
	if test == noValue {
		return place{}
	}
	p := place{named: true}
	if b < len(s) && i-a < maxName && b-j < maxName && strings.IndexByte("\"'\\`:= ,", s[b]) >= 0 {
		if test == anyValue {
			if p := findMember(s, a, b); !p.empty() {
				return p
			}
		}
		p.start, p.end = findAssigned(s, a, b, test)
		if !p.empty() {
			return p
		}
	}
	p.start, p.end = findField(s, a, b, test)
	return p
}

// findAssigned finds the value after the name s[a:b] and a sign, or after a flag.
func findAssigned(s string, a, b int, test valueTest) (start, end int) {
	name := s[a:b]
	start, end, quote := findValue(s, b, valueChar)
	isArgument := end == 0 && strings.HasPrefix(name, "--")
	if isArgument {
		start, end = findArgument(s, b)
	}
	if end-start < 3 {
		return 0, 0
	}
	ok, v := false, s[start:end]
	switch {
	case test == digits && !looksGenerated("pin", v):
	case test == noResult && (isResult(v) || strings.Contains(s[b:start], "[")): // "pass": ["TestA"] is a list of tests
	case isArgument:
		ok = v[0] != '-' && !isPlaceholder(v)
	case quote > 0:
		ok = test.isQuotedSecret(v, name)
	default:
		ok = test.isBareSecret(v, name, s[b])
	}
	if !ok {
		return 0, 0
	}
	return start, end
}

// findMember finds the value of the member with the name s[a:b].
func findMember(s string, a, b int) place {
	quote := quoteAt(s, b)
	if quote == "" || !strings.HasSuffix(s[:a], quote) {
		return place{}
	}
	name := s[a:b]
	k := scanSpan(s, b+len(quote), whiteSpace)
	if k < len(s) && s[k] == ',' {
		key := strings.TrimRight(s[max(0, a-len(quote)-maxName):a-len(quote)], ": ")
		if strings.HasSuffix(key, quote+"name"+quote) || strings.HasSuffix(key, quote+"key"+quote) {
			k = scanSpan(s, k+1, whiteSpace) // {"name":"password","value":…}
			if value := quote + "value" + quote; strings.HasPrefix(s[k:], value) {
				k = scanSpan(s, k+len(value), whiteSpace)
			}
		}
	}
	if k >= len(s) || s[k] != ':' {
		return place{}
	}
	k = scanSpan(s, k+1, whiteSpace)
	switch {
	case k >= len(s):
	case s[k] == '{' || s[k] == '[':
		return place{start: k, end: k + 1, quote: quote, nested: true}
	case strings.HasPrefix(s[k:], quote):
		return findLeaf(s, k+len(quote), quote, name)
	case s[k] == '-' || digit(s[k]):
		if end := scanSpan(s, k, numberChar); end-k > 2 && !strings.HasSuffix(name, "s") { // "secrets": 120 is a count
			return place{start: k, end: end, named: true, quote: quote}
		}
	}
	return place{}
}

// findLeaf finds the text that begins at start, unless it describes a value.
func findLeaf(s string, start int, quote, name string) place {
	end := findClosing(s[:min(len(s), start+maxValue)], start, quote)
	v := s[start:end]
	if len(v) < 3 || strings.HasPrefix(v, Mask) || isPlaceholder(v) {
		return place{}
	}
	if strings.EqualFold(v, name) || isProse(v) && isDescribing(v) {
		return place{}
	}
	return place{start: start, end: end, named: true}
}

// leaves finds the texts and numbers in the object or list at k, and where it ends.
// It finds none in a JSON Schema, which only describes a credential.
func leaves(s string, k int, quote string) (out []place, end int) {
	s = s[:min(len(s), k+maxValue)]
	depth, name := 0, ""
	for i := k; i < len(s); {
		c := s[i]
		switch {
		case c == '{' || c == '[':
			depth++
			i++
		case c == '}' || c == ']':
			i++
			depth--
			if depth == 0 {
				return out, i
			}
		case strings.HasPrefix(s[i:], quote):
			start := i + len(quote)
			end := findClosing(s, start, quote)
			i = min(end+len(quote), len(s))
			if next := scanSpan(s, i, whiteSpace); next < len(s) && s[next] == ':' {
				name, i = s[start:end], next+1
				if isSchemaMember(name, s[scanSpan(s, i, whiteSpace):], quote) {
					return nil, k + 1
				}
			} else if p := findLeaf(s, start, quote, name); !p.empty() && !property(name) {
				out = append(out, p)
			}
		case c == '-' || digit(c):
			end := scanSpan(s, i, numberChar)
			if end-i > 2 && !property(name) {
				out = append(out, place{start: i, end: end, named: true, quote: quote})
			}
			i = end
		default:
			i++
		}
	}
	return out, len(s)
}

// isSchemaMember reports whether a member is one of a JSON Schema.
func isSchemaMember(name, value, quote string) bool {
	switch name {
	case "$ref", "anyOf", "oneOf", "allOf", "enum", "const", "properties":
		return true
	case "type":
		typ, _, _ := strings.Cut(strings.TrimPrefix(value, quote), quote)
		return strings.HasPrefix(value, "[") || strings.HasPrefix(value, quote) && jsonTypes[typ]
	}
	return false
}

var jsonTypes = set("string number integer boolean object array null")

// property reports whether a member describes a credential.
func property(name string) bool {
	m := find(name)
	return m.about || m.detail
}
