package apps

import (
	"encoding/base64"
	"strings"

	"mcptest/internal/base/jsonv"
)

// findContent returns the item with the URI that was read, else the first one.
func findContent(r Read) (item jsonv.Value, fault string) {
	contents := r.Result.Lookup("contents")
	switch {
	case contents.Kind() != jsonv.KindArray:
		return item, "the result has no list contents"
	case contents.Len() == 0:
		return item, "contents is an empty list"
	}
	item = contents.At(0)
	var own []jsonv.Value // with the URI that was read
	for _, one := range contents.Elems() {
		if one.Lookup("uri").Text() == r.URI {
			own = append(own, one)
		}
	}
	if len(own) > 0 {
		item = own[0]
	}
	for _, one := range own { // a server may offer a view in forms for several hosts
		if normalizeMIME(one.Lookup("mimeType").Text()) == MediaType {
			item = one
			break
		}
	}
	if item.Kind() != jsonv.KindObject {
		return item, "contents has no object"
	}
	return item, ""
}

// readPage returns the text of a view.
func readPage(item jsonv.Value) (page, fault string) {
	text, blob := item.Lookup("text"), item.Lookup("blob")
	isZero := text.Text() == "" && blob.Kind() == jsonv.KindString // of a writer that omits nothing
	if text.Kind() == jsonv.KindString && !isZero {
		return text.Text(), ""
	}
	if blob.Kind() != jsonv.KindString {
		return "", "the content has neither text nor blob"
	}
	raw := strings.Join(strings.Fields(blob.Text()), "")
	raw = strings.TrimRight(raw, "=")
	for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		if decoded, err := encoding.DecodeString(raw); err == nil {
			return string(decoded), ""
		}
	}
	return "", "blob is not base64"
}

// normalizeMIME is a media type without blanks, quotes and case.
func normalizeMIME(mime string) string {
	return strings.ToLower(strings.NewReplacer(" ", "", "\t", "", `"`, "").Replace(mime))
}

// isHTML reports whether a content is a page, as far as its type says.
func isHTML(mime jsonv.Value) bool {
	name, _, _ := strings.Cut(normalizeMIME(mime.Text()), ";")
	return isNone(mime) || strings.HasPrefix(name, "text/html")
}
