package secret

import "strings"

// Documents in text: XML and HTML, and the parts of multipart bodies.

// maxTag is how far the end of a tag, or of the headers of a part, is searched.
const maxTag = 400

// findField finds the value of the XML element, of the HTML field, or of the multipart part, with
// the name s[a:b].
func findField(s string, a, b int, test valueTest) (start, end int) {
	if a == 0 {
		return 0, 0
	}
	if s[a-1] == '<' || s[a-1] == ':' && strings.LastIndexByte(s[max(0, a-maxName):a], '<') >= 0 {
		start, end = findElement(s, b)
	} else if quote := quoteAt(s, b); quote != "" && strings.HasSuffix(s[:a], quote) && hasNameBefore(s[:a-len(quote)]) {
		if start, end = findPart(s, b+len(quote)); end == 0 {
			start, end = findAttribute(s, b+len(quote))
		}
	}
	if end-start < 3 || strings.HasPrefix(s[start:end], Mask) || !test.isQuotedSecret(s[start:end], s[a:b]) {
		return 0, 0
	}
	return start, end
}

// hasNameBefore reports whether an attribute that names a field ends s.
func hasNameBefore(s string) bool {
	return strings.HasSuffix(s, "name=") || strings.HasSuffix(s, " id=") || strings.HasSuffix(s, " key=")
}

// findElement finds the text of an element whose name ends at k.
func findElement(s string, k int) (start, end int) {
	tag := s[k:min(len(s), k+maxTag)]
	close := strings.IndexByte(tag, '>')
	if close < 0 || strings.IndexByte(tag[:close], '<') >= 0 || close > 0 && strings.IndexByte(" \t\r\n\\", tag[0]) < 0 {
		return 0, 0
	}
	const data = "<![CDATA["
	start = k + close + 1
	text, ends := s[start:min(len(s), start+maxValue)], "<"
	if strings.HasPrefix(text, data) {
		start, text, ends = start+len(data), text[len(data):], "]]>"
	}
	n := strings.Index(text, ends)
	if n < 0 || ends == "<" && !strings.HasPrefix(text[n:], "</") && !strings.HasPrefix(text[n:], `<\`) {
		return 0, 0
	}
	return start, start + n
}

// findAttribute finds the value of the attribute value or content in the rest of a tag.
func findAttribute(s string, k int) (start, end int) {
	tag, _, _ := strings.Cut(s[k:min(len(s), k+maxTag)], ">")
	for _, name := range []string{" value=", " content="} {
		if at := strings.Index(tag, name); at >= 0 {
			start, end, _ = findContent(s, k+at+len(name), valueChar)
			return start, end
		}
	}
	return 0, 0
}

// findPart finds the content of a part of a multipart body, after the name in its headers. A file
// has none: it is searched like any text.
func findPart(s string, k int) (start, end int) {
	for limit := min(len(s), k+maxTag); k < limit; k++ {
		if strings.HasPrefix(s[k:], "; filename") {
			return 0, 0
		}
		n := findLineEnd(s, k)
		if n == 0 {
			continue
		}
		if m := findLineEnd(s, k+n); m > 0 { // the empty line after the headers
			start = k + n + m
			for end = start; end < min(len(s), start+maxValue); end++ {
				if m := findLineEnd(s, end); m > 0 && strings.HasPrefix(s[end+m:], "--") {
					return start, end
				}
			}
			return start, end
		}
		k += n - 1
	}
	return 0, 0
}

// findLineEnd returns the length of the line end at k, which may be escaped; 0 if there is none.
func findLineEnd(s string, k int) int {
	if k >= len(s) {
		return 0
	}
	slashes := scanSpan(s[:min(len(s), k+8)], k, func(c byte) bool { return c == '\\' }) - k
	escape := s[k : k+slashes]
	if slashes == 0 {
		escape = ""
	}
	for _, end := range []string{"\r\n", "\n", escape + "r" + escape + "n", escape + "n", escape + "r\n"} {
		if (end[0] < ' ') == (slashes == 0) && strings.HasPrefix(s[k:], end) {
			return len(end)
		}
	}
	return 0
}
