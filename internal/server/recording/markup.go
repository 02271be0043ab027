package recording

import (
	"strings"

	"mcptest/internal/base/lazy"
	"mcptest/internal/base/secret"
)

// In XML and HTML, a value is a credential if its element or attribute is named like
// one, or a name in the same tag: <input name="csrf_token" value="…">.

var (
	tagPattern       = lazy.Regexp(`<([A-Za-z_][\w.:-]*)((?:\s+[\w.:-]+(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'<>]+))?)*\s*/?)>((?:<!\[CDATA\[[^\]]*\]\]>|[^<]*))`)
	attributePattern = lazy.Regexp(`([\w.:-]+)(\s*=\s*)("[^"]*"|'[^']*'|[^\s"'<>]+)`)
)

// sanitizeMarkup sanitizes the attributes and the texts of XML and HTML.
func (s *sanitizer) sanitizeMarkup(v string) string {
	var b strings.Builder
	end := 0
	for _, m := range tagPattern().FindAllStringSubmatchIndex(v, -1) {
		element, attributes, text := v[m[2]:m[3]], v[m[4]:m[5]], v[m[6]:m[7]]
		b.WriteString(v[end:m[4]])
		b.WriteString(s.sanitizeAttributes(element, attributes))
		b.WriteString(v[m[5]:m[6]])
		closes := strings.HasPrefix(v[m[7]:], "</")
		if secret.HoldsMember(cutPrefix(element)) && strings.TrimSpace(text) != "" && closes {
			text = s.sanitizeWhole(maskMember, text)
		}
		b.WriteString(text)
		end = m[7]
	}
	return b.String() + v[end:]
}

// sanitizeAttributes sanitizes the attributes of a tag.
func (s *sanitizer) sanitizeAttributes(element, text string) string {
	list := attributePattern().FindAllStringSubmatchIndex(text, -1)
	named := secret.HoldsMember(cutPrefix(element))
	for _, m := range list {
		switch name := strings.ToLower(text[m[2]:m[3]]); name {
		case "name", "id", "key":
			named = named || secret.HoldsMember(strings.Trim(text[m[6]:m[7]], `"'`))
		}
	}
	var b strings.Builder
	end := 0
	for _, m := range list {
		name, value := strings.ToLower(text[m[2]:m[3]]), text[m[6]:m[7]]
		b.WriteString(text[end:m[6]])
		bare := strings.Trim(value, `"'`)
		isNamedValue := named && (name == "value" || name == "content")
		if bare != "" && (isNamedValue || secret.HoldsMember(cutPrefix(name))) {
			value = strings.Replace(value, bare, s.sanitizeWhole(maskMember, bare), 1)
		}
		b.WriteString(value)
		end = m[7]
	}
	return b.String() + text[end:]
}

// cutPrefix returns a name without its namespace.
func cutPrefix(name string) string { return name[strings.LastIndexByte(name, ':')+1:] }

// sanitizePath sanitizes a path: texts recognized as secrets, and the segment after one with
// the name of a credential, if it has letters and digits like a generated value.
func (s *sanitizer) sanitizePath(path string) string {
	segments := strings.Split(path, "/")
	for i := 1; i < len(segments); i++ {
		v := segments[i]
		hasDigits := strings.ContainsAny(v, "0123456789")
		isNumber := strings.Trim(v, "0123456789") == ""
		if secret.HoldsMember(segments[i-1]) && len(v) >= 10 && hasDigits && !isNumber {
			segments[i] = s.sanitizeWhole(maskText, v)
		}
	}
	return s.sanitizePlain(strings.Join(segments, "/"))
}
