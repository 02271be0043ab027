package apps

import (
	"strconv"
	"strings"

	"mcptest/internal/base/jsonv"
)

// The keys of _meta that link a tool to a view, besides ui.
const (
	flatKey   = "ui/resourceUri"
	openaiKey = "openai/outputTemplate"
)

// A view is what a tool says about the resource that shows its result.
type view struct {
	exists  bool
	isText  bool
	uri     string
	pointer string
}

// readView returns the view of a tool. The nested key wins; the flat one counts only without it.
func readView(tool jsonv.Value) view {
	meta := tool.Lookup("_meta")
	value, pointer := meta.Lookup("ui", "resourceUri"), "/_meta/ui/resourceUri"
	if isNone(value) {
		value, pointer = meta.Lookup(flatKey), jsonv.AppendPointer("/_meta", flatKey)
	}
	if isNone(value) {
		return view{}
	}
	return view{
		exists:  true,
		isText:  value.Kind() == jsonv.KindString,
		uri:     value.Text(),
		pointer: pointer,
	}
}

// isNone reports whether a member is left out; null says the same.
func isNone(v jsonv.Value) bool { return v.IsAbsent() || v.Kind() == jsonv.KindNull }

// isForModel reports whether the model may call a tool. What is no list says nothing.
func isForModel(tool jsonv.Value) bool {
	visibility := tool.Lookup("_meta", "ui", "visibility")
	if visibility.Kind() != jsonv.KindArray || visibility.Len() == 0 {
		return true
	}
	for _, who := range visibility.Texts() {
		if who == "model" {
			return true
		}
	}
	return false
}

// isForAppOnly reports whether only views may call a tool.
func isForAppOnly(tool jsonv.Value) bool {
	who := tool.Lookup("_meta", "ui", "visibility").Texts()
	return len(who) > 0 && !isForModel(tool)
}

// hasViewScheme reports whether a URI is that of a view. Schemes have no case.
func hasViewScheme(uri string) bool {
	const scheme = "ui://"
	return len(uri) >= len(scheme) && strings.EqualFold(uri[:len(scheme)], scheme)
}

// HasView reports whether a tool has a view.
func HasView(tool jsonv.Value) bool { return readView(tool).exists }

// URIOf is the URI of the view of a tool, "" without one.
func URIOf(tool jsonv.Value) string { return readView(tool).uri }

// dropRepeats keeps the first of equal texts.
func dropRepeats(texts []string) (out []string) {
	known := map[string]bool{}
	for _, text := range texts {
		if !known[text] {
			known[text] = true
			out = append(out, text)
		}
	}
	return out
}

const (
	// shownLength bounds a text of the server in a message.
	shownLength = 160
	// nameLength bounds the name of a tool or the URI of a resource, by which findings are accepted.
	nameLength = 1000
)

// quote shows a text of the server in a message.
func quote(text string) string { return strconv.Quote(shorten(text)) }

// shorten bounds a text of the server.
func shorten(text string) string { return shortenTo(shownLength, text) }

func shortenTo(limit int, text string) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}
